"""The naive model of use: how often each capture was recalled and used, and when, told from the first event on.

The rules are those of `docs/mechanisms.md`, "Use". Whether an answer carries a text (`carries`) is taken from the code,
as the model takes all that two texts say of each other.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from memtape.schemas.lanes import unasked_by
from memtape.state.text.carrying import carries, words_of
from memtape.state.text.normal import words


class Uses:
    """By captured id: how often it was recalled, and the times at which it was used."""

    def __init__(self, scope: Any) -> None:
        self.scope = scope
        self.recalled: Counter[str] = Counter()
        self.used: dict[str, list[int]] = {}
        self.shown: dict[str, list[dict[str, Any]]] = {}
        self.asked: dict[str, str] = {}
        self.counted = 0
        self.texts = 0
        self.words: Counter[str] = Counter()

    def take(self, event: dict[str, Any]) -> list[str]:
        """Take in an event that counts, and return the ids that it uses."""
        body, type = event["body"], event["type"]
        if body is None:
            return []
        if type == "recalled":
            self._recall(event)
        found: list[str] = []
        if type == "used":
            told = [id for id in dict.fromkeys(body["ids"]) if self.scope.capture(id)]
            found = self._not_yet(body.get("recall"), told)
        elif type == "captured" and body["kind"] == "turn" and event["session"] is not None:
            found = list(dict.fromkeys(self._answered(event)))
        for id in found:
            self.used.setdefault(id, []).append(event["at"])
        return found

    def _recall(self, event: dict[str, Any]) -> None:
        start = unasked_by(tuple(event["body"].get("lanes", ()))) == "start"
        own = [id for id in dict.fromkeys(event["body"]["results"]) if self.scope.capture(id)]
        if not start:
            self.recalled.update(own)
        if event["session"] is None:
            return
        query = event["body"].get("query", "")
        one = {"id": event["id"], "query": query, "ids": own[:50], "used": [], "start": start}
        before = self.shown.get(event["session"], [])
        alike = [*(it for it in before if it["start"] is start), one][-1 if start else -3 :]
        self.shown[event["session"]] = [it for it in before if it["start"] is not start] + alike

    def _not_yet(self, recall: str | None, told: list[str]) -> list[str]:
        """Return what did not count as used of a recall before, which now does."""
        for one in (it for shown in self.shown.values() for it in shown if it["id"] == recall):
            found = [id for id in told if id not in one["used"]]
            one["used"] += found
            return found
        return told

    def _answered(self, turn: dict[str, Any]) -> list[str]:
        """Return what the session was shown and its turn carries."""
        session = turn["session"]
        if turn["origin"] not in ("agent", "model"):
            if turn["origin"] in ("user", "operator"):
                self.asked[session] = turn["id"]
            return []
        if not any(one["ids"] for one in self.shown.get(session, [])):
            return []
        self._count_words(turn["seq"])
        asked = self.scope.capture(self.asked.get(session, ""))
        found = []
        for one in self.shown[session]:
            common = [*(words(asked["body"]["text"]) if asked else []), *words(one["query"])]
            for id in one["ids"]:
                text, answer = self.text_of(id), words_of(turn["body"]["text"])
                if id not in one["used"] and carries(answer, text, common, self.words.__getitem__, self.texts):
                    one["used"].append(id)
                    found.append(id)
            one["ids"], one["query"] = [], ""
        return found

    def _count_words(self, end: int) -> None:
        """Count the words of the texts before an answer; of what says the same only the first."""
        for capture in self.scope.captures:
            memory = self.scope.memory_of(capture["id"])
            is_first = memory is None or memory["members"][0][0] is capture
            if self.counted <= capture["seq"] < end and is_first:
                self.texts += 1
                self.words.update(dict.fromkeys(words(capture["body"]["text"]), 1))
        self.counted = end

    def text_of(self, id: str) -> str:
        """Return the text that speaks for a capture."""
        memory = self.scope.memory_of(id)
        living = self.scope.living(memory) if memory else []
        said = self.scope.spoken(living) if living else self.scope.capture(id)
        return str(said["body"]["text"])
