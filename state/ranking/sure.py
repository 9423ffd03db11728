"""What is sure enough for a prompt to be put before an agent that did not ask."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from memtape.schemas.events import Kind, Origin
from memtape.schemas.rows import Provenance
from memtape.state.text.terms import terms

LEAST_SHARED = 2
"""One word in common says nothing."""


class SureCandidate(Protocol):
    """What a result must tell to be called sure."""

    @property
    def kind(self) -> Kind: ...

    @property
    def origin(self) -> Origin: ...

    @property
    def text(self) -> str: ...

    @property
    def provenance(self) -> tuple[Provenance, ...]: ...


def sure_for(prompt: str, session: str) -> Callable[[SureCandidate], bool]:
    """Return the rule by which a result is sure for a prompt.

    Prompt and memory share at least two terms, and these are at least half of the one or of the other. What the same
    session said, or an agent captured in it, the agent has before it already. What a user said before tells nothing
    where all its terms are in the prompt: it is the same question.
    """
    asked = frozenset(terms(prompt))

    def sure(result: SureCandidate) -> bool:
        if session and any(known.session == session for known in result.provenance):
            return False
        held = frozenset(terms(result.text))
        if result.kind == "turn" and result.origin == "user" and held <= asked:
            return False
        shared = len(asked & held)
        return shared >= LEAST_SHARED and 2 * shared >= min(len(asked), len(held))

    return sure
