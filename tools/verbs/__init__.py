"""The verbs, a file a subject: what each asks and answers, what it does, and how its answer is shown.

A file imports nothing at its top that loads LanceDB or the views: a capture must not wait for them.
"""
