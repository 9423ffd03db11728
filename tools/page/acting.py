"""What a person can do on the page: the verbs that change what ids name, with a form made from each.

Nothing is done without a second click, beside what happens and how it is undone. Erasing is not here; the
page has the command for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from msgspec.structs import replace

from memtape.schemas.errors import MemtapeError, NotFound
from memtape.tools.client import Client
from memtape.tools.page.asked import PageQuery
from memtape.tools.page.views import listed
from memtape.tools.table import METHODS, VERBS
from memtape.tools.verb import Verb, VerbField, fields_of

MOST_IDS = 500


class Action(NamedTuple):
    """A verb on the page: the client's name of it, and its field with the ids that it changes (`about`)."""

    name: str
    verb: Verb
    about: VerbField

    @property
    def label(self) -> str:
        """The words of its button."""
        return self.verb.label or self.name.replace("_", " ").capitalize()

    @property
    def undo(self) -> str:
        """The action that undoes it for the same ids, empty for none."""
        return next((name for name, verb in METHODS.items() if verb == self.verb.undo), "")

    @property
    def fields(self) -> list[VerbField]:
        """The further fields of its form: those without a default, and words."""
        others = (field for field in fields_of(self.verb.asks) if field.name != self.about.name)
        return [
            it for it in others if it.required or not (it.has_many or it.is_flag or "choices" in it.extra)
        ]


@cache
def actions() -> dict[str, Action]:
    """Return the actions by name: each verb with a field `of` something, except readers and erasers."""
    found = dict[str, Action]()
    for name, verb in ((name, VERBS[verb]) for name, verb in METHODS.items()):
        about = next((field for field in fields_of(verb.asks) if "of" in field.extra), None)
        if about is not None and verb.effect in ("adds", "hides", "shows"):
            found[name] = Action(name, verb, about)
    return found


class Meant(NamedTuple):
    """The ids of an action, the text of each, and the number of ids beyond the limit."""

    ids: tuple[str, ...]
    told: tuple[str, ...]
    more: int


def meant(client: Client, action: Action, asked: PageQuery) -> Meant:
    """Return the ids of a form: the named ids, or with `every` the whole list matched by its words.

    Raises `NotFound` for an unknown id, so that nothing is done in part, and `MemtapeError` for no ids or too
    many.
    """
    every = asked.is_on("every")
    ids = (
        tuple(row.id for row in listed(client, action.name, asked.text("words")))
        if every
        else asked.many("id")
    )
    if not ids:
        raise MemtapeError("Nothing is chosen.", "Tick what it is about, and press the button again.")
    if len(ids) > MOST_IDS and not every:
        raise MemtapeError(f"{len(ids):,} are too many at once.", f"Choose at most {MOST_IDS}.")
    taken = ids[:MOST_IDS]
    return Meant(taken, _texts(client, action.about.extra["of"], taken), len(ids) - len(taken))


def _texts(client: Client, kind: str, ids: Sequence[str]) -> tuple[str, ...]:
    """Return the texts of ids of a kind. Raises `NotFound`."""
    match kind:
        case "capture":
            opened = {id: client.show(id) for id in ids}
            told = {id: getattr(it.memory or it.turn, "text", id) for id, it in opened.items()}
        case "conflict":
            every, gone = client.conflicts(settled=True).conflicts, "(no longer shown)"
            told = {it.id: f"A: “{it.a.text or gone}” against B: “{it.b.text or gone}”" for it in every}
        case _:
            told = {rule.id: rule.text for rule, _ in client.proposals()}
    if unknown := next((id for id in ids if id not in told), None):
        raise NotFound(
            f"There is no {kind} {unknown[:60]}.", "It may have been settled or forgotten meanwhile."
        )
    return tuple(told[id] for id in ids)


def do_action(client: Client, action: Action, ids: Sequence[str], asked: PageQuery) -> list[str]:
    """Do an action, and return the lines of its answers. Raises `MemtapeError`."""
    verb, about = action.verb, action.about
    one = asked.ask(verb, action.fields, **{about.name: ids[:1] if about.has_many else ids[0]})
    lines = list[str]()
    for part in [tuple(ids)] if about.has_many else ids:
        its = replace(one, **{about.name: part})
        lines += map(str, verb.lines(client, its, verb.answer(client, its)) if verb.lines else ())
    return lines
