"""What a person can do on the page: verbs that change what ids name, and that capture, each with its undo.

A deed is done by one click, and its bar offers the undo. Erasing alone asks first: it cannot be undone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from types import MappingProxyType
from typing import Any, NamedTuple

from msgspec.structs import replace

from memtape.schemas.errors import MemtapeError, NotFound
from memtape.schemas.visible import many, one_line
from memtape.tools.client import Client
from memtape.tools.keep.erasing import ErasurePlan, plan
from memtape.tools.page.asked import PageMemory, PageQuery
from memtape.tools.page.views import listed
from memtape.tools.table import METHODS, VERBS
from memtape.tools.verb import Verb, VerbField, fields_of

MOST_IDS = 500
TOLD_CHARS = 120


class Action(NamedTuple):
    """A verb on the page: the client's name of it, and its field with the ids that it changes (`about`).

    A capture is about no ids.
    """

    name: str
    verb: Verb
    about: VerbField | None

    @property
    def label(self) -> str:
        """The words of its button."""
        return LABELS.get(self.name) or self.verb.label or self.name.replace("_", " ").capitalize()

    @property
    def undo(self) -> str:
        """The action that undoes it for the same ids, empty for none."""
        return next((name for name, verb in METHODS.items() if verb == self.verb.undo), "")

    @property
    def fields(self) -> list[VerbField]:
        """The further fields that a form may fill in."""
        fields = fields_of(self.verb.asks)
        if self.about is None:  # No form names a file of the machine.
            return [it for it in fields if it.name in ("text", "kind", "tags")]
        return [it for it in fields if it.name != self.about.name]


LABELS = {"capture": "Add", "update": "Correct"}
"""Buttons with other words than the client's names."""


@cache
def actions() -> dict[str, Action]:
    """Return the actions by name: a capture, and each verb with a field `of` something that changes it."""
    found = {"capture": Action("capture", VERBS["capture"], None)}
    for name, verb in ((name, VERBS[verb]) for name, verb in METHODS.items()):
        about = next((field for field in fields_of(verb.asks) if "of" in field.extra), None)
        if about is not None and verb.effect in ("adds", "hides", "shows"):
            found[name] = Action(name, verb, about)
    return found


def action_of(name: str) -> Action:
    """Return the action of a name. Raises `MemtapeError` for none."""
    if (action := actions().get(name)) is None:
        raise MemtapeError(f"There is no action {name[:40]!r}.", f"There are {', '.join(actions())}.")
    return action


NO_FIELDS: Mapping[str, list[str]] = MappingProxyType({})


class Deed(NamedTuple):
    """An action to be done in a scope: its ids, and other fields by the names of one value."""

    do: str
    scope: str
    ids: tuple[str, ...]
    fields: Mapping[str, list[str]] = NO_FIELDS


class Done(NamedTuple):
    """What was done: a sentence, the texts named, lines of the answers, and the deeds that undo it.

    `undone` is the sentence of the undo, empty for that of its first deed.
    """

    told: str
    about: tuple[str, ...]
    lines: tuple[str, ...]
    undo: tuple[Deed, ...]
    undone: str = ""


def named_ids(client: Client, action: Action, asked: PageQuery) -> tuple[str, ...]:
    """Return the ids of a form: the named ids, or with `every` the first of the list matched by its words.

    Raises `MemtapeError` for no ids or too many.
    """
    every = asked.is_on("every")
    ids = (
        tuple(row.id for row in listed(client, action.name, asked.text("words")))[:MOST_IDS]
        if every
        else asked.many("id")
    )
    if not ids:
        raise MemtapeError("Nothing is chosen.", "Tick what it is about, and press the button again.")
    if len(ids) > MOST_IDS:
        raise MemtapeError(f"{len(ids):,} are too many at once.", f"Choose at most {MOST_IDS}.")
    return ids


def texts_of(client: Client, kind: str, ids: Sequence[str]) -> tuple[str, ...]:
    """Return the texts of ids of a kind. Raises `NotFound` for an unknown id: nothing is done in part."""
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


def do_deed(client: Client, deed: Deed) -> Done:
    """Do a deed, and return what was done. Raises `MemtapeError`, `NotFound` before anything is done."""
    action, verb = action_of(deed.do), action_of(deed.do).verb
    about = action.about
    texts = () if about is None else texts_of(client, about.extra["of"], deed.ids)
    asked = PageQuery("/act", deed.scope, dict(deed.fields))
    first: dict[str, Any] = {}
    if about is not None:
        first = {about.name: deed.ids[:1] if about.has_many else deed.ids[0]}
    one = asked.ask(verb, action.fields, **first)
    before, answers, lines = _before(client, deed), list[Any](), list[str]()
    for part in [None] if about is None else [deed.ids] if about.has_many else deed.ids:
        its = one if about is None else replace(one, **{about.name: part})
        answers.append(verb.answer(client, its))
        lines += map(str, verb.lines(client, its, answers[-1]) if verb.lines else ())
    undo = UNDOING.get(deed.do, _reverse)(deed, answers, before)
    tell = TOLD.get(deed.do)
    told = f"{action.label}: done." if tell is None else tell(answers)
    if len(texts) > 1:
        told = f"{told} ({many(len(texts), 'text')})"
    return Done(told, texts, tuple(lines), undo, UNDONE.get(deed.do, ""))


def _before(client: Client, deed: Deed) -> Any:
    """Return what the undo of a deed has to know of the time before it."""
    if deed.do == "settle":
        every = client.conflicts(settled=True).conflicts
        answers = {"accepted": None, "dismissed": "both", "pending": "none", "expired": "none"}
        return {it.id: answers[it.status] or it.kept for it in every}
    return None


def _reverse(deed: Deed, answers: list[Any], before: Any) -> tuple[Deed, ...]:
    """Return the undoing verb for the same ids, nothing without one."""
    undo = action_of(deed.do).undo
    return (Deed(undo, deed.scope, deed.ids),) if undo else ()


def _uncapture(deed: Deed, answers: list[Any], before: Any) -> tuple[Deed, ...]:
    ids = tuple(id for it in answers for id in it.ids or (it.id,))
    return (Deed("forget", deed.scope, ids),)


def _uncorrect(deed: Deed, answers: list[Any], before: Any) -> tuple[Deed, ...]:
    """Return the deeds that forget the new text, and take back that the text replaced the memory."""
    (done,) = answers
    back = (Deed("say_holds", done.scope, (done.replaced,), {"undo": ["1"]}),) if done.replaced else ()
    return (*back, Deed("forget", done.scope, (done.id,), {"only": ["1"]}))


def _unsettle(deed: Deed, answers: list[Any], before: Any) -> tuple[Deed, ...]:
    """Return the earlier answers; what had none waits again."""
    return tuple(Deed("settle", deed.scope, (id,), {"keep": [before[id]]}) for id in deed.ids)


def _unanswer(deed: Deed, answers: list[Any], before: Any) -> tuple[Deed, ...]:
    is_undone = bool(deed.fields.get("undo"))
    return () if is_undone else (Deed("decline", deed.scope, deed.ids, {"undo": ["1"]}),)


UNDOING: dict[str, Callable[[Deed, list[Any], Any], tuple[Deed, ...]]] = {
    "capture": _uncapture,
    "update": _uncorrect,
    "settle": _unsettle,
    "accept": _unanswer,
    "decline": _unanswer,
}
"""How the deeds are undone whose verbs name no verb that undoes them."""


UNDONE = {"accept": "It waits again.", "decline": "It waits again."}
"""What is said of an undo, where its deeds do not say it."""


def _told_of_update(answers: list[Any]) -> str:
    return (
        "Corrected. The earlier text is marked as replaced." if answers[0].replaced else "It says the same."
    )


def _told_of_settling(answers: list[Any]) -> str:
    parts = list[str]()
    for it in answers:
        kept = [f"“{one_line(text, TOLD_CHARS)}”" for text in it.kept]
        if not kept:
            parts.append("It waits again.")
            continue
        parts.append(f"{' and '.join(kept)} {'holds' if len(kept) == 1 else 'both hold'}.")
        parts += (
            [] if it.replaced is None else [f"“{one_line(it.replaced, TOLD_CHARS)}” is marked as replaced."]
        )
    return " ".join(parts)


TOLD: dict[str, Callable[[list[Any]], str]] = {
    "capture": lambda _: "Remembered.",
    "update": _told_of_update,
    "settle": _told_of_settling,
    "forget": lambda _: "Forgotten. Agents no longer find it.",
    "restore": lambda _: "Back again.",
    "pin": lambda _: "Pinned. It stays at hand.",
    "unpin": lambda _: "No longer pinned.",
    "archive": lambda _: "Archived. A search leaves it out.",
    "unarchive": lambda _: "Back from the archive.",
    "accept": lambda _: "Accepted. The rule holds.",
    "decline": lambda _: "Declined.",
    "say_holds": lambda _: "The earlier text holds again.",
}
"""What is said of a deed, from its answers."""


def do_all(held: PageMemory, deeds: Sequence[Deed]) -> Done:
    """Do deeds one after another, each in its scope; return the first with the lines of all."""
    done = [held.do(deed.scope, partial(do_deed, deed=deed)) for deed in deeds]
    lines = tuple(line for one in done for line in one.lines)
    return done[0]._replace(undo=done[0].undo if len(done) == 1 else (), lines=lines)


class Erasable(NamedTuple):
    """What an erasure would take: texts of captures, people's corrections, and who else has the text."""

    plan: ErasurePlan
    texts: tuple[str, ...]
    corrections: tuple[str, ...]
    carriers: tuple[str, ...]


def erasable(client: Client, ids: Sequence[str]) -> Erasable:
    """Return what erasing these ids of the client's scope would take. Raises `NotFound`."""
    made = plan(client.home, client.log, client.scope, list(ids), only=False)
    told = ("the vector of this text" if item.type == "embedded" else item.text for item in made.items)
    texts = tuple(dict.fromkeys(text for text in told if text))
    carriers = tuple(item.text for item in made.carriers)
    return Erasable(made, texts, tuple(made.corrections.values()), carriers)


def erase(client: Client, made: Erasable) -> Done:
    """Erase for good. Raises `MemtapeError`."""
    done = client.erase(made.plan)
    told = (
        "Erased for good: nothing of it was found in any file."
        if done.after.proves
        else "Erased for every reader."
    )
    own = tuple(f"Your own file {place.path} holds it still." for place in done.after.found if place.own)
    return Done(told, (), own, ())
