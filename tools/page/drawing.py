"""Drawing of the page's views as HTML: the table of views, and the drawing of one for an address.

The templates escape every text and have no other way to write one. The page's own process and the process of
past views draw with this module.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from memtape import __version__
from memtape.schemas.errors import Locked, LogGone, MemtapeError, NotFound
from memtape.tools.client import Client
from memtape.tools.page.acting import ACTIONS
from memtape.tools.page.asked import PageMemory, PageQuery, asked_of
from memtape.tools.page.next_start import start
from memtape.tools.page.telling import FILTERS
from memtape.tools.page.views import graph, log, memory, now, recalls, search, timeline, tree, waiting

HERE = Path(__file__).parent


class View(NamedTuple):
    """A view: path, menu name, key, and the function that reads the data.

    `is_past` says that the view exists as of a time, `is_listed` that the menu has the view.
    """

    path: str
    name: str
    key: str
    of: Callable[[Client, PageQuery], dict[str, Any]]
    is_past: bool = True
    is_listed: bool = True


VIEWS: tuple[View, ...] = (
    View("/", "Now", "n", now),
    View("/search", "Search", "/", search),
    View("/start", "Next start", "s", start),
    View("/recalls", "Recalls", "r", recalls, is_past=False),
    View("/timeline", "Timeline", "t", timeline),
    View("/graph", "Graph", "g", graph),
    View("/tree", "Tree", "e", tree),
    View("/yours", "Yours", "y", waiting, is_past=False),
    View("/log", "Log", "l", log, is_past=False),
    View("/memory", "Memory", "", memory, is_listed=False),
)
"""One more view is one more row, a function of `views` and a template under its function's name."""


class DrawnPage(NamedTuple):
    """A page as HTML, with its HTTP status, and the kind of its error, empty without an error."""

    html: str
    status: int = 200
    error: str = ""


class Drawing:
    """Draws the views of one home."""

    def __init__(self, held: PageMemory) -> None:
        self.held = held
        self._templates = Environment(
            loader=FileSystemLoader(HERE / "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.filters |= FILTERS
        self._templates.globals |= {"views": VIEWS, "actions": ACTIONS, "version": __version__, "scopes": held.scopes}

    def view(self, view: View, pairs: list[tuple[str, str]]) -> DrawnPage:
        """Return the view of an address, or a page about the error."""
        try:
            asked = asked_of(view.path, pairs, self.held.scope)
            found = self.held.do(asked.scope, lambda client: view.of(client, asked))
            return DrawnPage(self.written(f"{view.of.__name__}.html", {"asked": asked, "view": view} | found))
        except MemtapeError as error:
            return self.told(view.path, error)

    def written(self, template: str, shown: dict[str, Any]) -> str:
        """Render a template with variables."""
        return self._templates.get_template(template).render(shown)

    def told(self, path: str, error: MemtapeError) -> DrawnPage:
        """Return a page about an error and the next step."""
        asked = PageQuery(path, self.held.scope, {})
        status = 404 if isinstance(error, NotFound) else 503 if isinstance(error, (Locked, LogGone)) else 400
        page = self.written("error.html", {"asked": asked, "view": None, "error": error})
        return DrawnPage(page, status, type(error).__name__)
