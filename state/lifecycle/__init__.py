"""The aging of texts: their retention, and summaries of groups."""
