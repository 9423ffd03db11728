"""Drawing of the page's views as HTML: the table of views, values in templates, and an address as a page.

The templates escape every text and have no other way to write one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.responses import HTMLResponse

from memtape import __version__
from memtape.schemas.errors import Locked, LogGone, MemtapeError, NotFound
from memtape.schemas.ids import short_id
from memtape.schemas.lanes import Lane
from memtape.schemas.rows import TOLD_WHY
from memtape.schemas.times import DAY_US, HOUR_US, US_PER_S, format_time, parse_iso, parse_time
from memtape.schemas.visible import many, one_line, visible
from memtape.state.text.reading import read
from memtape.tools.capture.writing import now_us
from memtape.tools.client import Client
from memtape.tools.page.acting import Done, actions
from memtape.tools.page.asked import PageMemory, PageQuery, asked_of
from memtape.tools.page.views import (
    home,
    live_of,
    memories,
    memory,
    recalls,
    search,
    start,
    system,
    timeline,
    tree,
    waiting,
)
from memtape.tools.query.telling import size_told
from memtape.tools.verb import encoded

HERE = Path(__file__).parent
_STEPS = ((DAY_US, "day"), (HOUR_US, "hour"), (60 * US_PER_S, "minute"))
_WORD = re.compile(r"\w+")
_ID_OR_DAY = re.compile(
    r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b(?P<day>[0-9]{4}-[0-9]{2}-[0-9]{2})\b"
)


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
    View("/", "Memories", "m", memories),
    View("/home", "Home", "h", home),
    View("/search", "Search", "", search),
    View("/start", "Next start", "s", start),
    View("/recalls", "Recalls", "r", recalls, is_past=False),
    View("/timeline", "Timeline", "t", timeline),
    View("/tree", "Tree", "e", tree),
    View("/yours", "Yours", "y", waiting, is_past=False),
    View("/system", "System", "x", system),
    View("/memory", "Memory", "", memory, is_listed=False),
)
"""One more view is one more row, a function of `views` and a template under its function's name."""


def when(at: int | None) -> Markup:
    """Return how long ago a time is, or how far ahead, with the full time as a tooltip.

    As `3 hours ago`, `in 2 days`, `just now`; `never` for None.
    """
    if at is None:
        return Markup("never")
    whole = format_time(at)
    return Markup('<time datetime="{}" title="{}">{}</time>').format(whole, whole, ago(at))


def ago(at: int) -> str:
    """Return how long ago a time is, or how far ahead."""
    now = now_us()
    for step, name in _STEPS:
        if abs(now - at) >= step:
            told = many(abs(now - at) // step, name)
            return f"{told} ago" if at <= now else f"in {told}"
    return "just now"


def day(at: int) -> Markup:
    """Return the day of a time, with how long ago it began as a tooltip."""
    return dated(format_time(at)[:10])


def moment(at: str) -> Markup:
    """Return a time that was asked for, to the minute; a position of the log as it is."""
    try:
        whole = format_time(parse_time(at, now_us()))
    except MemtapeError:
        return Markup.escape(one_line(at, 60))
    return Markup('<time datetime="{}" title="{}">{} UTC</time>').format(
        whole, one_line(at, 60), whole[:16].replace("T", " ")
    )


def dated(day: str) -> Markup:
    """Return a day with how long ago it began as a tooltip; a text that is no day as it is."""
    try:
        told = ago(parse_iso(day))
    except MemtapeError:
        return Markup.escape(day)
    return Markup('<time datetime="{}" title="{}">{}</time>').format(day, told, day)


def marked(text: str, terms: Collection[str]) -> Markup:
    """Return a text in which the words of some terms are marked."""
    reading, wanted = read(text), frozenset(terms)
    words = {
        word.casefold()
        for language in dict.fromkeys((reading.language, *reading.languages))
        for word, term in reading.worded_terms(language)
        if term in wanted
    }
    told, at = Markup(), 0
    for found in _WORD.finditer(text) if words else ():
        if found[0].casefold() in words:
            told += visible(text[at : found.start()]) + Markup("<mark>{}</mark>").format(found[0])
            at = found.end()
    return told + visible(text[at:])


def linked(text: str, asked: PageQuery) -> Markup:
    """Return a text with a link on each id, and with each day as `dated`."""
    told, at = Markup(), 0
    for found in _ID_OR_DAY.finditer(text):
        told += text[at : found.start()]
        if found["day"]:
            told += dated(found["day"])
        else:
            link = asked.link("/memory", id=found[0])
            told += Markup('<a class="id" href="{}">{}</a>').format(link, short_id(found[0]))
        at = found.end()
    return told + text[at:]


def coded(text: str) -> Markup:
    """Return a sentence with the words between backticks as code."""
    parts = text.split("`")
    told = (Markup("<code>{}</code>" if place % 2 else "{}").format(part) for place, part in enumerate(parts))
    return Markup("").join(told)


BY_LANE: dict[Lane, str] = {
    "sparse": "its words", "dense": "its meaning", "hot": "its use", "fresh": "its youth",
    "edges": "what it was used with",
}  # fmt: skip
"""The lanes of a search in words for people."""

FILTERS: dict[str, Callable[..., Any]] = {
    "when": when,
    "day": day,
    "moment": moment,
    "iso": format_time,
    "size": size_told,
    "share": "{:.2f}".format,
    "many": many,
    "visible": visible,
    "line": one_line,
    "coded": coded,
    "marked": marked,
    "linked": linked,
    "short": short_id,
}
"""The functions of templates by name. Texts of memories go through `visible` or `line`, and are escaped."""


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
        self._templates.globals |= {"views": VIEWS, "actions": actions}
        self._templates.globals |= {
            "version": __version__,
            "by_lane": BY_LANE,
            "told_why": TOLD_WHY,
            "scopes": held.scopes,
        }

    def view(self, view: View, pairs: list[tuple[str, str]], done: Done | None = None) -> str:
        """Return the view of an address as HTML, with a bar of what was `done`. Raises `MemtapeError`."""
        asked = asked_of(view.path, pairs, self.held.scope)
        found = self.held.do(asked.scope, lambda client: self._shown(view, client, asked))
        return self.written(f"{view.of.__name__}.html", {"asked": asked, "view": view, "done": done} | found)

    @staticmethod
    def _shown(view: View, client: Client, asked: PageQuery) -> dict[str, Any]:
        since = {} if asked.at else {"live": live_of(client)}
        return view.of(client, asked) | since

    def document(self, view: View, pairs: list[tuple[str, str]]) -> bytes:
        """Return the answer of a view's verb as JSON. Raises `NotFound` for a view without one."""
        asked = asked_of(view.path, pairs, self.held.scope)
        found = self.held.do(asked.scope, lambda client: view.of(client, asked))
        if "document" not in found:
            raise NotFound(f"{view.name} has no JSON.", "The list of memories and a search have.")
        return encoded(found["document"], indent=True)

    def written(self, template: str, shown: dict[str, Any]) -> str:
        """Render a template with variables."""
        return self._templates.get_template(template).render({"live": None, "done": None} | shown)

    def told(
        self, path: str, pairs: list[tuple[str, str]], error: MemtapeError, back: str = ""
    ) -> HTMLResponse:
        """Return the answer about an error: the next step, and the way back to the view in its project.

        `back` is the address of the view with a refused form.
        """
        asked = PageQuery(path, self.held.scope, {})
        with suppress(MemtapeError):  # The scope itself may be refused.
            asked = asked._replace(scope=asked_of(path, pairs, self.held.scope).scope)
        path = back[1:].partition("?")[0] if back else path
        view = next((it for it in VIEWS if it.path == path and (back or it.is_listed)), None)
        back = back or asked.link(view.path if view else "/")
        status = 404 if isinstance(error, NotFound) else 503 if isinstance(error, (Locked, LogGone)) else 400
        shown = {"asked": asked, "view": view, "error": error, "back": back}
        return HTMLResponse(self.written("error.html", shown), status)
