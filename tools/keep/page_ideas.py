"""Page ideas of a model: the prompt, and the refusal of answers.

A model groups memories and names each group in words from them, and adds nothing else. An answer with an
unknown memory or an invalid page name is refused whole. `flows/workers/propose.py` uses the rest.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import TYPE_CHECKING

import msgspec

from memtape.flows.workers.propose import Idea, Ideas
from memtape.schemas.errors import BadAnswer, MemtapeError, ModelTimeout
from memtape.schemas.events import MAX_INPUTS
from memtape.schemas.slugs import is_slug
from memtape.schemas.times import format_day
from memtape.schemas.visible import one_line
from memtape.sinks.home.folders import Home
from memtape.state.tree.proposing import LEAST, TITLE_CHARS
from memtape.state.tree.unplaced import Unplaced
from memtape.tools.capture.injected import said
from memtape.tools.keep.model_words import LIMIT_S, check_words
from memtape.tools.keep.models import about, author, listed_in, model_for

if TYPE_CHECKING:
    from memtape.tools.capture.secrets.redaction import Redactor

MOST_PAGES = 8
TEXT_CHARS, SHOWN_SLUGS = 300, 60
SLUG_CHARS, SEGMENTS = 80, 3
MARKUP = "<>[]`|\\"
_WHAT = "the names of the pages that there are, and then memories that stand in no page, each with its number and day"
_TASK = """\
Say which of the memories belong on a page of their own because they are about one thing, as a JSON list:
[{{"slug": "deploy/staging", "title": "…", "ids": [1, 4, 7]}}]. At most {pages} pages, each of {least} to {most}
memories. `slug` is segments of a-z, 0-9 and - joined by /, and begins with the name of a page where the new one belongs
below that. `title` has at most {chars} characters. Slug and title use words that the memories of the page have and no
others. A page that is there is not named again. If nothing belongs together, and where you are in doubt, write []."""


class Answer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A page as a model states it, of memories by numbers from 1."""

    slug: str
    title: str
    ids: tuple[int, ...]


class PageIdeas:
    """Asks the model of a home; a `Think` of `flows/workers/propose.py`."""

    def __init__(self, home: Home, redactor: Redactor) -> None:
        self._home = home
        self._redactor = redactor

    def __call__(self, memories: Sequence[Unplaced], slugs: dict[str, None]) -> Ideas:
        """Return the model's proposals. A late, silent or wrong model proposes nothing, with the reason.

        Raises `BudgetSpent`, and `MemtapeError` without a usable model.
        """
        model = model_for(self._home, "tree")
        if model is None:
            raise MemtapeError("No model is named.", "Name one in settings.toml under [model]; see docs/settings.md.")
        actor = author(model, self._redactor)
        try:
            ideas = ideas_of(model.answer(prompt_for(memories, slugs), LIMIT_S), memories, slugs)
            return Ideas([self._without_secrets(idea) for idea in ideas], actor)
        except (ModelTimeout, BadAnswer) as error:
            return Ideas((), actor, str(error))

    def _without_secrets(self, idea: Idea) -> Idea:
        if self._redactor.text(idea.slug) != idea.slug:
            raise BadAnswer("The model's answer has what may be a secret in the name of a page.", "Try another model.")
        return idea._replace(title=self._redactor.text(idea.title))


def prompt_for(memories: Sequence[Unplaced], slugs: dict[str, None]) -> str:
    """Return the prompt about memories."""
    task = _TASK.format(pages=MOST_PAGES, least=LEAST, most=MAX_INPUTS, chars=TITLE_CHARS)
    pages = ", ".join(list(slugs)[-SHOWN_SLUGS:]) or "none"
    lines = [f"[{n}] {format_day(it.at)} {one_line(it.text, TEXT_CHARS)}" for n, it in enumerate(memories, 1)]
    return about(_WHAT, task, "\n".join((f"Pages: {pages}", *lines)), "Now write the JSON list, and nothing else.")


def ideas_of(answer: str, memories: Sequence[Unplaced], slugs: dict[str, None]) -> list[Idea]:
    """Return the pages of an answer about memories. Raises `BadAnswer`: then nothing of it is kept."""
    found = listed_in(answer, Answer, "pages")
    if len(found) > MOST_PAGES or len({it.slug for it in found}) < len(found):
        raise BadAnswer(f"The model's answer has one page twice, or more than {MOST_PAGES}.", "Try another model.")
    return [_idea(it, memories, slugs | dict.fromkeys(it.slug for it in found)) for it in found]


def _idea(answer: Answer, memories: Sequence[Unplaced], slugs: dict[str, None]) -> Idea:
    if not all(1 <= number <= len(memories) for number in answer.ids):
        raise BadAnswer("The model's answer names a memory that it was not given.", "Try another model.")
    of = tuple(memories[number - 1] for number in sorted(dict.fromkeys(answer.ids)))
    if not LEAST <= len(of) <= MAX_INPUTS:
        raise BadAnswer(f"The model's answer has a page of fewer than {LEAST} memories or more than {MAX_INPUTS}.")
    slug, title = answer.slug, " ".join(said(answer.title).split())
    if not is_slug(slug) or len(slug) > SLUG_CHARS or slug.count("/") >= SEGMENTS:
        raise BadAnswer("The model's answer gives a page a name that is no slug.", "Try another model.")
    if not 0 < len(title) <= TITLE_CHARS or any(char in title for char in MARKUP):
        raise BadAnswer("The model's answer gives a page a title that is empty, too long or has markup.")
    known = " ".join(it.text for it in of)
    check_words(title, known)
    check_words(_own_words(slug, slugs), f"{known} {title}")
    return Idea(slug, title, of)


def _own_words(slug: str, slugs: Container[str]) -> str:
    """Return the words of a slug without the words of its parent page."""
    above = slug.rpartition("/")[0]
    while above and above not in slugs:
        above = above.rpartition("/")[0]
    return slug[len(above) :].replace("/", " ").replace("-", " ").replace("_", " ")
