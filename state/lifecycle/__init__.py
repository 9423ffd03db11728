"""The aging of texts: their retention, the times of their checks, and summaries of groups."""
