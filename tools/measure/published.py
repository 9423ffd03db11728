"""Benchmarks in their published forms, put into the plain form that `corpus` reads.

LoCoMo (Maharana et al., ACL 2024) and LongMemEval (Wu et al., ICLR 2025) are a file each, BEAM (Tavakoli et
al.) is a folder of chats. Users bring their own copies.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

_SESSION = re.compile(r"^session_(\d+)\Z")
_PLACE = re.compile(r"\s*->->\s*[\d,]+\s*\Z")
"""The place in BEAM's plan, which stands behind a user's message and was not said."""
ABSTAINS = "_abs"  # The end of the id of a question that LongMemEval's history does not answer.
CHAT, QUESTIONS = "chat.json", "probing_questions/probing_questions.json"

Plain = dict[str, Any]


def plain_form(path: Path) -> Any:
    """Return what a file, or BEAM's folder of chats, has in the plain form; a plain file as it is.

    Raises `OSError` for what cannot be read, and `ValueError`, `KeyError`, `TypeError` or `AttributeError`
    for another form.
    """
    if path.is_dir():
        return {"conversations": list(_chats_in(path))}
    made = orjson.loads(path.read_bytes())
    if not isinstance(made, list):
        return made
    by = (_of_longmemeval if "haystack_sessions" in sample else _of_locomo for sample in made)
    return {"conversations": [read(sample) for read, sample in zip(by, made, strict=True)]}


def _chats_in(folder: Path) -> Iterator[Plain]:
    """Yield the chats of BEAM below a folder, by the numbers of their folders."""
    for file in sorted(folder.rglob(CHAT), key=lambda it: (len(it.parent.name), str(it))):
        turns, questions = list[Plain](), list[Plain]()
        for batch in orjson.loads(file.read_bytes()):
            said = [turn for turns_of in batch["turns"] for turn in turns_of]
            at = next((turn["time_anchor"] for turn in said if turn.get("time_anchor")), None)
            for turn in said:
                own = {"id": turn["id"], "role": turn["role"], "text": _PLACE.sub("", turn["content"])}
                turns.append({**own, "session": batch["batch_number"], "at": at})
        for category, items in orjson.loads((file.parent / QUESTIONS).read_bytes()).items():
            for item in items:
                evidence = list(_ids(item.get("source_chat_ids")))
                questions.append({**item, "category": category, "evidence": evidence})
        yield {"id": file.parent.name, "turns": turns, "questions": questions}


def _ids(value: Any) -> Iterator[str]:
    """Yield the ids in BEAM's evidence: a list, or a list for each part of the answer."""
    if isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _ids(part)
    elif value is not None:
        yield str(value)


def _of_longmemeval(sample: Plain) -> Plain:
    """Return a question of LongMemEval with its history, a conversation of its own."""
    turns, evidence = list[Plain](), list[str]()
    dated = zip(sample["haystack_session_ids"], sample["haystack_dates"], strict=True)
    for number, (of, at) in enumerate(dated):
        for place, turn in enumerate(sample["haystack_sessions"][number]):
            own = {"id": f"{number}:{place}", "role": turn["role"], "text": turn["content"]}
            turns.append({**own, "session": of, "at": at})
            evidence += [own["id"]] * bool(turn.get("has_answer"))
    id = sample["question_id"]
    asked = {"question": sample["question"], "category": sample["question_type"]}
    asked["evidence"] = [] if id.endswith(ABSTAINS) else evidence
    return {"id": id, "turns": turns, "questions": [asked]}


def _of_locomo(sample: Plain) -> Plain:
    """Return a sample of LoCoMo. The file dates sessions, not turns."""
    said = sample["conversation"]
    numbers = sorted(int(found[1]) for key in said if (found := _SESSION.match(key)))
    turns, questions = list[Plain](), list[Plain]()
    for number in numbers:
        of_session = {"session": f"session {number}", "at": said[f"session_{number}_date_time"]}
        for turn in said[f"session_{number}"]:
            own = {"id": turn["dia_id"], "text": turn["text"], "speaker": turn["speaker"]}
            turns.append({**of_session, **own, "caption": turn.get("blip_caption")})
    for item in sample["qa"]:  # The file sometimes holds several ids in one text.
        ids = [id.strip() for text in item.get("evidence") or () for id in text.split(";")]
        questions.append({**item, "evidence": ids})
    return {"id": sample["sample_id"], "turns": turns, "questions": questions}
