"""The doors by which verbs are asked. They are made from the table of verbs, and know no verb."""
