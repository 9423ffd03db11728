"""Conversations and texts kept by other programs, read into records and put on the log.

A parser is a pure generator from a row, an item or a text to records: it opens no file, asks no log and no
clock. `reading` turns bytes into rows, `finding` finds files, `taking` reads them, `batches` puts records on
the log.
"""
