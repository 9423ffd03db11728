"""Conversations kept by other programs, read into records; one parser a source.

A parser is a pure generator from rows to records: it opens no file, asks no log and no clock. `reading` turns bytes
into rows, `finding` finds the files of hosts, `parsing` chooses the parser, `taking` puts records on the log.
"""
