"""Sessions of the Gemini CLI: `tmp/<project>/chats/session-<time>-<id>.jsonl`, and the older single `.json`.

A row comes again under its id when it has changed, and the last one counts; `$rewindTo` takes back a row and all after
it (`rewindTo` of the CLI's chatRecordingService). So a session is read twice: `last_rows` first tells which rows count,
then each of them is taken. `$set` can hold what the model was given instead, and is only read where there are no rows.
The older file is one row with all messages.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from memtape.tools.capture.native_ids import GEMINI, Role, gemini_message, tool_answer
from memtape.tools.importing import records
from memtape.tools.importing.actions import actions_of, call_of
from memtape.tools.importing.records import Found, Skipped, State, blocks_text, text_of, time_of, turn

_AGAIN = Skipped("an earlier version of a row")
_REWOUND = Skipped("taken back by the user")
_ROLES: dict[str, Role] = {"user": "user", "gemini": "assistant"}
_NOTICES = frozenset({"info", "warning", "error"})


def last_rows(rows: Iterable[tuple[int, dict[str, Any]]]) -> dict[str, int | None]:
    """Return by row id the place of the row's last version, None for a row taken back."""
    last: dict[str, int | None] = {}
    for place, row in rows:
        rewind, id = row.get("$rewindTo"), row.get("id")
        if isinstance(rewind, str):
            ids = list(last)
            for gone in ids[ids.index(rewind) if rewind in last else 0 :]:
                last[gone] = None
        elif isinstance(id, str):
            if last.get(id, 0) is None:
                del last[id]
            last[id] = place
    return last


def take(row: dict[str, Any], state: State) -> Iterator[Found]:
    """Yield the records of a row. `state` has session and folder; read twice, also `last` and `place`."""
    is_head = "sessionId" in row and "type" not in row
    if is_head:
        state["session"] = text_of(row, "sessionId") or state.get("session")
        state["kind"] = text_of(row, "kind")
    if is_head or "$set" in row or "$rewindTo" in row:
        yield records.BOOKKEEPING
        holder = row if is_head else row.get("$set") if state.get("last") == {} else None
        held = holder.get("messages") if isinstance(holder, dict) else None
        for message in held if isinstance(held, list) else ():
            if isinstance(message, dict) and "$set" not in message and "sessionId" not in message:
                yield from take(message, {key: value for key, value in state.items() if key != "last"})
        return
    id, type = text_of(row, "id"), text_of(row, "type")
    if type in _NOTICES:
        yield records.BOOKKEEPING
    elif type not in _ROLES:
        yield records.unknown(type)
    elif id is None or not isinstance(state.get("session"), str):
        yield records.NO_ID
    elif "last" in state and state["last"].get(id) != state.get("place"):
        yield _REWOUND if state["last"].get(id) is None else _AGAIN
    else:
        yield from _turn(row, id, _ROLES[type], state)


def _turn(row: dict[str, Any], id: str, role: Role, state: State) -> Iterator[Found]:
    if row.get("thoughts"):
        yield records.THINKING
    # What was typed, where files that it names were put into the content.
    text = _parts_text(row.get("displayContent")) or _parts_text(row.get("content"))
    if state.get("kind") == "subagent":
        role = "assistant"  # What a subagent is told, the agent wrote.
    if text.strip() or not row.get("toolCalls"):
        yield turn(role=role, text=text, native_id=gemini_message(state["session"], id), **_fields(row, state))
    calls = row.get("toolCalls")
    for index, call in enumerate(calls if isinstance(calls, list) else []):
        if isinstance(call, dict):
            yield from _answer(row, id, index, call, state)


def _answer(row: dict[str, Any], id: str, index: int, call: dict[str, Any], state: State) -> Iterator[Found]:
    native = tool_answer(state["session"], text_of(call, "id") or f"{id}:{index}")
    done, failed = call_of(text_of(call, "name") or "tool", call.get("args")), text_of(call, "status") == "error"
    yield from actions_of(done, _result_text(call.get("result")), native, _fields(row, state), failed=failed)


def _parts_text(content: Any) -> str:
    """Return the text of a list of parts; function calls and their answers are no text."""
    if isinstance(content, list):
        content = [
            part for part in content if isinstance(part, str) or (text_of(part, "text") and not part.get("thought"))
        ]
    return blocks_text(content, "text")


def _result_text(result: Any) -> str:
    """Return the text of a tool's result: a text, or parts with `functionResponse.response.output`."""
    if not isinstance(result, list):
        return blocks_text(result, "text")
    texts = []
    for part in result:
        response = part.get("functionResponse") if isinstance(part, dict) else None
        inner = response.get("response") if isinstance(response, dict) else None
        texts.append(text_of(inner, "output", "error") or blocks_text([part], "text"))
    return "\n\n".join(text for text in texts if text)


def _fields(row: dict[str, Any], state: State) -> dict[str, Any]:
    return {
        "source": GEMINI,
        "at": time_of(row.get("timestamp")),
        "session": state["session"],
        "cwd": state.get("cwd"),
    }
