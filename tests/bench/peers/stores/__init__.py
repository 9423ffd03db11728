"""One file for each product or library: its `Store`, by the ordinary calls of its own documents."""
