"""Reading: search, context, edges, the past, and what there is."""
