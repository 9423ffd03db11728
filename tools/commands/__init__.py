"""The command line: a thin shell over the client, a file for each group of verbs."""
