"""Every setting that changes meaning, with its default and the unit in its name.

A log carries its settings in `configured` events, whole. In logs older than a setting, the setting has its
default here for ever: so a default is never changed, only a new revision is appended.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from memtape.schemas.lanes import MAX_NAME_CHARS, State
from memtape.schemas.scopes import SCOPE_PATTERN

EmbedderKey = Annotated[str, Meta(max_length=200)]
UserName = Annotated[str, Meta(min_length=1, max_length=200)]


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The constants in force. All are integers, since numbers that decide are integers."""

    embedder: str = "floor"
    """Key of the embedder whose vectors decide folds; `floor` is the lexical embedder without a model."""

    embedder_next: str | None = None
    """The embedder that takes over when no living text lacks its vector; null for none."""

    fold_cosine_hundredths: Annotated[int, Meta(ge=-1, le=100)] = 85
    """Cosine from which texts without new specifics fold, under dense embedders; below 0 nothing folds."""

    fold_cosines_hundredths: dict[EmbedderKey, Annotated[int, Meta(ge=1, le=100)]] = {}
    """The same for single embedders, by key, since cosines of different models do not compare."""

    echo_recalls: Annotated[int, Meta(ge=0, le=100)] = 3
    """How many of a session's latest recalls can make a capture an echo; 0 switches echoes off."""

    echo_window_s: Annotated[int, Meta(ge=0, le=86_400)] = 1_800
    """Time after a recall in which a capture of its results is an echo (event time); after a start always."""

    at_lead_s: Annotated[int, Meta(ge=0, le=86_400)] = 3_600
    """Maximum lead of an event's `at` over its partition's clock; a later time is clamped."""

    tick_jump_days: Annotated[int, Meta(ge=1, le=36_500)] = 400
    """A tick further than this past the clock is ignored unless an operator accepted it."""

    memory_page_lines: Annotated[int, Meta(ge=20, le=10_000)] = 200
    """The most lines that a scope's `MEMORY.md` may have."""

    refolded: Annotated[int, Meta(ge=0)] = 0
    """Number of refolds: when it grows, every text is judged again under the settings beside it."""

    lifecycle: bool = True
    """Texts age. Archiving by hand always works."""

    mid_after_days: Annotated[int, Meta(ge=0, le=36_500)] = 7
    """Days after the end of its day until a text may move from `short` to `mid`."""

    long_after_days: Annotated[int, Meta(ge=0, le=36_500)] = 90
    """Days after the end of its week until a text may move from `mid` to `long`."""

    mid_retention_hundredths: Annotated[int, Meta(ge=0, le=100)] = 65
    """The retention up to which a text in `short` moves."""

    long_retention_hundredths: Annotated[int, Meta(ge=0, le=100)] = 45
    """The retention up to which a text in `mid` moves."""

    archive_after_days: Annotated[int, Meta(ge=-1, le=36_500)] = 365
    """Days until an unused text in `long` is archived; -1 for never."""

    dormant_after_days: Annotated[int, Meta(ge=-1, le=36_500)] = 90
    """Days without events until a project is dormant; -1 for never."""

    purge_after_days: Annotated[int, Meta(ge=-1, le=36_500)] = 30
    """Days until the rows of what is archived or dormant leave the views; -1 for never."""

    retrievers: dict[Annotated[str, Meta(max_length=MAX_NAME_CHARS)], State] = {}
    """The states of retrievers by name; the ordinary search is active, and unnamed ones are off."""

    shadow_percent: Annotated[int, Meta(ge=0, le=100)] = 10
    """The share of real searches that shadow retrievers are asked too."""

    trusted_origins: dict[UserName, Literal["operator", "user"]] = {}
    """By user of a topic as whom the user speaks; once there is any, nobody else's word is a person's."""

    readers: dict[Annotated[str, Meta(pattern=SCOPE_PATTERN)], tuple[UserName, ...]] = {}
    """By scope the users to whom Memtape shows it, beside operators; all other scopes are open."""

    def shadows(self) -> list[str]:
        """Return the names of the retrievers that answer as shadows, sorted."""
        return sorted(name for name, state in self.retrievers.items() if state == "shadow")

    def fold_cosine(self) -> int:
        """Return the cosine, in hundredths, from which texts fold under the deciding embedder."""
        return self.fold_cosines_hundredths.get(self.embedder, self.fold_cosine_hundredths)
