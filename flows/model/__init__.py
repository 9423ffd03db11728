"""Models: a prompt goes in, a text comes out, within a time limit."""
