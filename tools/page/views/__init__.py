"""The views of the page, one a file: each reads from the client and returns its template's variables."""
