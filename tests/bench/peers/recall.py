"""Recall by turn: each conversation in a store of its own, all its texts given at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bench.peers.store import Store, Text

LIMIT = 10


def measure(opened: Callable[[str], Store], asked: Any) -> dict[str, float]:
    """Return the number of questions, and the mean share of the evidence whose text is among ten results.

    Texts are compared, since products keep ids of their own; two turns that say the same count as one.
    """
    shares = []
    for number, conversation in enumerate(asked["conversations"]):
        texts = [Text(*row) for row in conversation["texts"]]
        said = {text.key: text.text.strip() for text in texts}
        store = opened(f"recall{number}")
        store.add(texts)
        store.settle()
        for question, evidence in conversation["questions"]:
            found = {one.text.strip() for one in store.search(question, LIMIT)}
            shares.append(sum(said[key] in found for key in evidence) / len(evidence))
        store.close()
    return {"questions": len(shares), "recall": round(sum(shares) / len(shares), 4)}
