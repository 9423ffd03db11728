"""The entry of a page's port: its folder, its token, and a file with a one-time code for the browser."""

from __future__ import annotations

import hmac
import secrets
import tempfile
from pathlib import Path

LOOPBACK = "127.0.0.1"
TOKEN_KEY = "token"
TOKEN_BYTES = 32
FOLDER_BYTES = 16


class PageEntry:
    """The means of entry: the token while the page is served, the code once. The folder alone does not do."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.folder = f"/{secrets.token_urlsafe(FOLDER_BYTES)}"
        self.token = secrets.token_urlsafe(TOKEN_BYTES)
        self._code = ""
        self._opening: Path | None = None

    @property
    def address(self) -> str:
        """The first address, with the token."""
        return self._by(self.token)

    def make_opening(self) -> Path:
        """Write a file (0600) that leads to the page by a code for one use, and return its path.

        The arguments of a browser's process are readable by every user of a machine: they name the file alone.
        """
        self._code = secrets.token_urlsafe(TOKEN_BYTES)
        number, path = tempfile.mkstemp(prefix="memtape-page-", suffix=".html")
        self._opening = Path(path)
        with open(number, "w", encoding="ascii") as file:
            file.write(f'<!doctype html><meta http-equiv="refresh" content="0;url={self._by(self._code)}">\n')
        return self._opening

    def end_opening(self) -> None:
        """Remove the code and its file."""
        self._code = ""
        if self._opening is not None:
            self._opening.unlink(missing_ok=True)

    def is_token(self, given: str) -> bool:
        """Whether the token was given."""
        return _are_equal(given, self.token)

    def takes_code(self, given: str) -> bool:
        """Whether `given` is the code; a correct code is used up."""
        is_code = bool(self._code) and _are_equal(given, self._code)
        if is_code:
            self.end_opening()
        return is_code

    def _by(self, secret: str) -> str:
        return f"http://{LOOPBACK}:{self.port}{self.folder}/?{TOKEN_KEY}={secret}"


def _are_equal(given: str, secret: str) -> bool:
    """Whether two words are equal, in a time that does not tell up to where."""
    return hmac.compare_digest(given.encode("utf-8", "replace"), secret.encode())
