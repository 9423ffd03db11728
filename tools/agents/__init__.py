"""Agents and their hosts: hooks, plugins, what is put before an agent, and the doctor."""
