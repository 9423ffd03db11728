"""What other programs have kept of conversations, read into records; one file a source.

A parser is a pure generator from rows to records: it opens no file, asks no log and no clock. `reading` turns bytes
into rows, `finding` knows where hosts keep their files, `taking` puts records on the log.
"""
