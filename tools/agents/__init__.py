"""Agents and their hosts: hooks, plugins, contexts for agents, and the doctor."""
