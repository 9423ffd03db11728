"""The choice of the embedder: the one in effect on a machine, and the settings of a log that takes another.

The choice never goes down by itself. Finding the available embedders is an effect, and lives in
`flows/embed/choice.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import msgspec

from memtape.schemas.embedding import FLOOR, EmbedderOptions, Kind, Resolved
from memtape.schemas.errors import MemtapeError
from memtape.schemas.settings import Settings


def resolve(
    options: EmbedderOptions, http_reason: str | None, local_reason: str, dense_on_log: bool
) -> Resolved:  # fmt: skip
    """Return the embedder in effect. Raises `MemtapeError` if the log has dense vectors without an embedder.

    A reason is a clause that says why the endpoint, or the local model, is unusable; empty if it answers. The
    endpoint's is None without a URL.

    | wanted and set up | answers | dense vectors on the log | in effect |
    | --- | --- | --- | --- |
    | yes | yes | either | the dense one |
    | yes | no | yes | the dense one, degraded: loud, and it resumes |
    | yes | no | no | `auto` tries the next; at last the floor |
    | no | - | yes | refused, with what to do |
    | no | - | no | the floor |

    `floor` by name is a person's decision, and is always followed, with a warning of idle dense vectors.
    """
    if options.choice == "floor":
        idle = "The log has dense vectors, which the chosen embedder floor does not use."
        return Resolved(kind="floor", warning=idle if dense_on_log else "")
    wanted: list[tuple[Kind, str]] = []
    if options.choice in ("auto", "http") and http_reason is not None:
        wanted.append(("http", http_reason))
    # Nobody has asked for a local model by name under `auto`, so that a missing model is simply not set up.
    if options.choice == "local" or (options.choice == "auto" and not local_reason):
        wanted.append(("local", local_reason))
    if not wanted and dense_on_log:
        raise MemtapeError(
            "The log has dense vectors or is to have them, and no embedder is set up here to go on.",
            "Set MEMTAPE_EMBED_URL and MEMTAPE_EMBED_MODEL and start again what runs already, or install "
            "memtape[meaning] or the model that was used; or choose the embedder floor, for words alone.",
        )
    if not wanted and options.choice == "http":
        told = "The embedder http is chosen and MEMTAPE_EMBED_URL is not set, so the lexical floor is used."
        return Resolved(kind="floor", warning=told)
    for kind, reason in wanted:
        if not reason:
            return Resolved(kind=kind, warning=_passed_over(wanted, kind))
        if dense_on_log:
            # The next one's vectors could not be compared with those that are there.
            told = "the vectors on the log stay in use, new texts are found by words until"
            return Resolved(kind=kind, degraded=True, warning=f"DEGRADED: {reason}; {told} {kind} is back.")
    return Resolved(kind="floor", warning=_passed_over(wanted, "floor"))


def _passed_over(wanted: list[tuple[Kind, str]], taken: Kind) -> str:
    """Return the reasons why the more wanted embedders were not taken, empty for none."""
    reasons = [reason for _, reason in wanted if reason]
    if not reasons:
        return ""
    name = "the lexical floor" if taken == "floor" else f"the embedder {taken}"
    return f"{'; '.join(reasons)}; so {name} is used."


Drift = Literal["", "next", "other"]
"""How a machine's embedder differs from a log's: another is to come `next`, or the log has an `other`."""


class EmbedderPlan(NamedTuple):
    """A machine's plan for a log: make vectors under `key`, and `then` let it take over, or nothing."""

    key: str | None
    then: bool = False
    begin: bool = False
    """Whether the log first needs a `configured` event with this embedder as the next."""
    drift: Drift = ""  # Why not all is embedded though there is an embedder.


def plan(settings: Settings, history: Sequence[Settings], own: str) -> EmbedderPlan:
    """Return the plan of a machine with the embedder `own` for a log with these settings.

    A log that never had a dense embedder goes up by itself. Every other change is a person's decision.
    """
    if own == settings.embedder_next:
        return EmbedderPlan(own, then=True)
    if own == FLOOR:
        return EmbedderPlan(None)
    if own == settings.embedder:
        return EmbedderPlan(own, drift="next" if settings.embedder_next else "")
    if not any(map(wants_dense, history)):
        return EmbedderPlan(own, then=True, begin=True)
    return EmbedderPlan(None, drift="other")


def wants_dense(settings: Settings) -> bool:
    """Return whether a log with these settings has dense vectors or is to have them."""
    return settings.embedder != FLOOR or settings.embedder_next is not None


def with_next(settings: Settings, key: str, fold_cosine_hundredths: int | None = None) -> Settings:
    """Return settings with a key's embedder as the next; the floor takes over at once, having no vectors."""
    if fold_cosine_hundredths is not None:
        cosines = {**settings.fold_cosines_hundredths, key: fold_cosine_hundredths}
        settings = msgspec.structs.replace(settings, fold_cosines_hundredths=cosines)
    if key == FLOOR:
        return decided(settings, FLOOR)
    return msgspec.structs.replace(settings, embedder_next=None if settings.embedder == key else key)


def taken_over(settings: Settings, key: str) -> Settings:
    """Return settings with `key` as the deciding embedder if `key` still comes next, else unchanged."""
    return decided(settings, key) if settings.embedder_next == key else settings


def decided(settings: Settings, key: str) -> Settings:
    """Return settings with a deciding embedder and no next one."""
    return msgspec.structs.replace(settings, embedder=key, embedder_next=None)


def before_that(history: Sequence[Settings]) -> str | None:
    """Return the embedder that decides after a coming one is cancelled, else the previous one, if any."""
    now = history[-1]
    if now.embedder_next is not None:
        return now.embedder
    return next((known.embedder for known in reversed(history) if known.embedder != now.embedder), None)
