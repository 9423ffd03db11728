"""The naive model of use: how often each capture was recalled and used, and when, from the first event on.

The rules of `state/subjects/usage.py`, written a second time. Whether an answer carries a text (`carries`) is
taken from the code, as the model takes all that two texts say of each other.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from memtape.schemas.lanes import unasked_by
from memtape.state.text.carried_words import answer_of, carries
from memtape.state.text.normal import words
from memtape.state.text.reading import read

SECOND = 1_000_000
HOUR = 3_600 * SECOND
RECALLS = 16
"""So many recalls of a session can be answered, beside its latest start."""
RESULTS = 50
PROMPTS = 3

Recall = dict[str, Any]
"""A recall of a session: its `id`, when (`at`), the `query`, the `ids` that it returned, the `used` ones.

`heard` has in the order of the log (when, whether it was an answer) of the session's turns behind the recall.
"""


class Uses:
    """By captured id: how often it was recalled, and the times at which it was used."""

    def __init__(self, scope: Any) -> None:
        self.scope = scope
        self.recalled: Counter[str] = Counter()
        self.used: dict[str, list[int]] = {}
        self.shown: dict[str, list[Recall]] = {}
        self.prompts: dict[str, list[str]] = {}
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
            found = self._heard(event)
        for id in found:
            self.used.setdefault(id, []).append(event["at"])
        return found

    def _recall(self, event: dict[str, Any]) -> None:
        start, session = unasked_by(tuple(event["body"].get("lanes", ()))) == "start", event["session"]
        own = [id for id in dict.fromkeys(event["body"]["results"]) if self.scope.capture(id)]
        if not start:
            self.recalled.update(own)
        if session is None:
            return
        others = [id for id in own if self.scope.capture(id)["session"] != session][:RESULTS]
        one = {"id": event["id"], "at": event["at"], "query": event["body"].get("query", ""), "ids": others}
        self.shown.setdefault(session, []).append(one | {"start": start, "used": [], "heard": []})

    def _open(self, session: str) -> list[Recall]:
        """Return the recalls of a session that can still be answered or told, starts first."""
        starts = [one for one in self.shown.get(session, []) if one["start"]]
        return starts[-1:] + [one for one in self.shown.get(session, []) if not one["start"]][-RECALLS:]

    def _not_yet(self, recall: str | None, told: list[str]) -> list[str]:
        """Return what did not count as used of a recall before, which now does."""
        for one in (it for session in self.shown for it in self._open(session) if it["id"] == recall):
            found = [id for id in told if id not in one["used"]]
            one["used"] += found
            return found
        return told

    def _heard(self, turn: dict[str, Any]) -> list[str]:
        """Return what the session was shown and its turn carries."""
        session, at = turn["session"], turn["at"]
        waiting = [one for one in self._open(session) if one["at"] <= at < end_of(one)]
        found: list[str] = []
        if turn["origin"] in ("user", "operator"):
            self.prompts.setdefault(session, []).append(turn["id"])
            for one in waiting:
                one["heard"].append((at, False))
        elif turn["origin"] in ("agent", "model") and any(one["ids"] for one in waiting):
            self._count_words(turn["seq"])
            found = self._carried(turn, waiting)
            for one in waiting:
                one["heard"].append((at, True))
        return found

    def _carried(self, turn: dict[str, Any], waiting: list[Recall]) -> list[str]:
        """Return what an answer carries and no recall of its turn has counted, and count it."""
        prompts = self.prompts.get(turn["session"], [])[-PROMPTS:]
        said = [self.scope.capture(id)["body"]["text"] for id in prompts]
        common = [word for text in (*said, *(one["query"] for one in waiting)) for word in words(text)]
        answer, found = answer_of(read(turn["body"]["text"])), []
        counted = [id for one in waiting for id in one["used"]]
        for id in dict.fromkeys(id for one in waiting for id in one["ids"]):
            if id not in counted:
                if not carries(answer, self.text_of(id), common, self.words, self.texts):
                    continue
                found.append(id)
            for one in waiting:
                one["used"] += [id] if id in one["ids"] and id not in one["used"] else []
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

    def of(self, ids: list[str]) -> dict[str, Any]:
        """Return what a row says of the use of these captures."""
        times = [at for id in ids for at in self.used.get(id, [])]
        return {"uses": len(times), "used_at": max(times, default=None)}

    def text_of(self, id: str) -> str:
        """Return the text that speaks for a capture."""
        memory = self.scope.memory_of(id)
        living = self.scope.living(memory) if memory else []
        said = self.scope.spoken(living) if living else self.scope.capture(id)
        return str(said["body"]["text"])


def end_of(recall: Recall) -> int:
    """Return when the turn that a recall is for ends: with the next prompt, after an hour at most.

    A prompt within ten seconds, before which nothing was answered, is the one that the recall is for.
    """
    end, answers = recall["at"] + HOUR, []
    for at, is_answer in recall["heard"]:
        if is_answer:
            answers.append(at)
        elif at > recall["at"] + 10 * SECOND or any(answer <= at for answer in answers):
            end = min(end, at)
    return int(end)
