"""The order of texts for a question, and the measures of rankings."""
