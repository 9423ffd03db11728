"""Reading: search, context, edges, past views and listings."""
