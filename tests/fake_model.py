"""A model on loopback that hosts take for theirs: it calls a tool if a prompt says so, and tells the answer.

`REMEMBER: text` calls `add_memory`, `RECALL: words` calls `search_memories`; all else is answered with one
sentence. It speaks the streams of Anthropic's Messages, OpenAI's Chat Completions and Responses, and Gemini's
generateContent.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

_ORDER = re.compile(r"^\"?(REMEMBER|RECALL): ([^\n<\"\\]+)", re.MULTILINE)
SEARCHING = "tool_search"
NOTED = "Noted by the model."
NO_TOOL = "There is no such tool among"
_TOOLS = {"REMEMBER": ("add_memory", "text"), "RECALL": ("search_memories", "query")}


class Seen(NamedTuple):
    """A request, as text, and the names of the tools that it offered."""

    path: str
    body: str
    tools: tuple[str, ...]


Decide = Callable[[list[tuple[str, str]], list[str]], tuple[str, str, dict[str, str]]]
"""From a conversation as (role, text) and names of tools to (words, tool, arguments): words come first."""


class Loopback:
    """A server on loopback that has `reply` answer what is posted; it is open in a `with`."""

    def __init__(self) -> None:
        served = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                data = self.rfile.read(int(self.headers.get("content-length", 0)))
                try:
                    asked = json.loads(data)
                except ValueError:
                    asked = {}
                served.reply(self, asked)

            def do_GET(self) -> None:
                send(self, "application/json", b'{"data": [], "models": []}')

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Any:
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def reply(self, to: BaseHTTPRequestHandler, asked: Any) -> None:
        raise NotImplementedError


class FakeModel(Loopback):
    """The server of hosts; `seen` is what it was asked, and `decide` says what it answers."""

    def __init__(self, decide: Decide | None = None) -> None:
        super().__init__()
        self.seen: list[Seen] = []
        self.decide = decide or _decided

    def reply(self, to: BaseHTTPRequestHandler, asked: dict[str, Any]) -> None:
        """Answer in the form of whoever asks."""
        self.seen.append(Seen(to.path, json.dumps(asked), tuple(_tool_names(asked))))
        streams, data = _answer(to.path, asked, self.decide)
        send(to, "text/event-stream" if streams else "application/json", data)


def _answer(path: str, asked: dict[str, Any], decide: Decide) -> tuple[bool, bytes]:
    """Return whether an answer is a stream, and its bytes."""
    streams = bool(asked.get("stream"))
    if "count_tokens" in path or "countTokens" in path:
        return False, b'{"input_tokens": 10, "totalTokens": 10}'
    if "/messages" in path:
        message = json.dumps(_message(asked, [{"type": "text", "text": NOTED}], "end_turn")).encode()
        return streams, b"".join(map(_sse, _messages(asked, decide))) if streams else message
    if "/chat/completions" in path:
        chunks = _chunks(asked, decide)
        whole = json.dumps(_whole_completion(chunks)).encode()
        return streams, b"".join(map(_data, chunks)) + b"data: [DONE]\n\n" if streams else whole
    if "/responses" in path:
        return True, b"".join(map(_sse, _responses(asked, decide)))
    if "enerateContent" in path:
        made, streams = _generated(asked, decide), "treamGenerateContent" in path
        return streams, _data(made).replace(b"\n", b"\r\n") if streams else json.dumps(made).encode()
    return False, b"{}"


def send(to: BaseHTTPRequestHandler, kind: str, data: bytes, status: int = 200, **headers: str) -> None:
    try:
        to.send_response(status)
        for name, value in {"content-type": kind, "content-length": str(len(data)), **headers}.items():
            to.send_header(name.replace("_", "-"), value)
        to.end_headers()
        to.wfile.write(data)
    except OSError:  # The host has gone.
        pass


def _sse(event: Any) -> bytes:
    return f"event: {event['type']}\n".encode() + _data(event)


def _data(event: Any) -> bytes:
    return f"data: {json.dumps(event)}\n\n".encode()


def _decided(turns: list[tuple[str, str]], tools: list[str]) -> tuple[str, str, dict[str, str]]:
    """Return (words, tool, arguments) for a conversation as (role, text): a tool, or else words."""
    order, answers = None, 0
    for role, text in turns:
        found = _ORDER.findall(text) if role == "user" else []
        if found:
            order, answered, answers = found[-1], "", 0
        elif role == "tool" and order is not None:
            answered, answers = text, answers + 1
    if order is None:
        return NOTED, "", {}
    suffix, argument = _TOOLS[order[0]]
    name = next((tool for tool in tools if tool.endswith(suffix)), "")
    # One host keeps the tools of servers back until they are searched for.
    if SEARCHING in tools and not answers:
        return "", SEARCHING, {"query": suffix}
    if answers > (SEARCHING in tools) or (answers and not name):
        return f"The tool said: {answered}", "", {}
    return (f"{NO_TOOL} {tools}.", "", {}) if not name else ("", name, {argument: order[1].strip()})


def _tool_names(asked: dict[str, Any]) -> Iterator[str]:
    for tool in asked.get("tools") or []:
        if not isinstance(tool, dict):
            continue
        if tool.get("type") == "namespace":
            yield from (f"{tool['name']}/{inner['name']}" for inner in tool.get("tools", []))
        elif "functionDeclarations" in tool:
            yield from (inner["name"] for inner in tool["functionDeclarations"])
        elif "name" in tool:
            yield tool["name"]
        elif "name" in (tool.get("function") or {}):
            yield tool["function"]["name"]


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(map(_text, content))
    if isinstance(content, dict):
        return _text(content.get("text") or content.get("content") or content.get("output") or "")
    return ""


def _of_messages(asked: dict[str, Any]) -> list[tuple[str, str]]:
    turns = []
    for message in asked.get("messages", []):
        content = message["content"]
        for block in content if isinstance(content, list) else [{"type": "text", "text": content}]:
            role = "tool" if block.get("type") == "tool_result" else message["role"]
            turns.append((role, _text(block)))
    return turns


def _messages(asked: dict[str, Any], decide: Decide) -> list[dict[str, Any]]:
    words, tool, arguments = decide(_of_messages(asked), list(_tool_names(asked)))
    message = _message(asked, [], None)
    events: list[dict[str, Any]] = [{"type": "message_start", "message": message}]
    blocks: list[tuple[dict[str, Any], dict[str, str]]] = []
    if words or not tool:
        blocks.append(({"type": "text", "text": ""}, {"type": "text_delta", "text": words}))
    if tool:
        called = {"type": "tool_use", "id": f"toolu_{len(str(asked))}", "name": tool, "input": {}}
        blocks.append((called, {"type": "input_json_delta", "partial_json": json.dumps(arguments)}))
    for index, (block, delta) in enumerate(blocks):
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        events.append({"type": "content_block_delta", "index": index, "delta": delta})
        events.append({"type": "content_block_stop", "index": index})
    reason = {"stop_reason": "tool_use" if tool else "end_turn", "stop_sequence": None}
    events.append({"type": "message_delta", "delta": reason, "usage": {"output_tokens": 5}})
    events.append({"type": "message_stop"})
    return events


def _message(asked: dict[str, Any], content: list[Any], reason: str | None) -> dict[str, Any]:
    return {"id": "msg_1", "type": "message", "role": "assistant", "model": asked.get("model", "m"),
            "content": content, "stop_reason": reason, "stop_sequence": None,
            "usage": {"input_tokens": 5, "output_tokens": 5}}  # fmt: skip


def _responses(asked: dict[str, Any], decide: Decide) -> list[dict[str, Any]]:
    turns = []
    for item in asked.get("input", []):
        if item.get("type") == "message":
            turns.append((item["role"], _text(item.get("content"))))
        elif "output" in item:
            turns.append(("tool", _text(item["output"])))
    words, tool, arguments = decide(turns, list(_tool_names(asked)))
    done: list[dict[str, Any]] = []
    if words or not tool:
        content = [{"type": "output_text", "text": words, "annotations": []}]
        done.append({"type": "message", "role": "assistant", "id": f"msg_{len(turns)}", "content": content})
    if tool:
        namespace, _, name = tool.rpartition("/")
        called = {"type": "function_call", "name": name, "arguments": json.dumps(arguments)}
        called |= {"call_id": f"call_{len(turns)}", "id": f"fc_{len(turns)}"}
        done.append(called | ({"namespace": namespace} if namespace else {}))
    usage = {"input_tokens": 5, "output_tokens": 5, "total_tokens": 10}
    return [
        {"type": "response.created", "response": {"id": "resp_1"}},
        *({"type": "response.output_item.done", "output_index": n, "item": it} for n, it in enumerate(done)),
        {"type": "response.completed", "response": {"id": "resp_1", "usage": usage, "output": []}},
    ]


def _chunks(asked: dict[str, Any], decide: Decide) -> list[dict[str, Any]]:
    """Return the stream of a chat completion: what is said or called, why it ended, and what it took."""
    turns = [(message["role"], _text(message.get("content"))) for message in asked.get("messages", [])]
    words, tool, arguments = decide(turns, list(_tool_names(asked)))
    delta: dict[str, Any] = {"role": "assistant", "content": words}
    if tool:
        called = {"name": tool, "arguments": json.dumps(arguments)}
        delta = {
            "role": "assistant", "content": words or None,
            "tool_calls": [{"index": 0, "id": f"call_{len(turns)}", "type": "function", "function": called}],
        }  # fmt: skip
    reason = "tool_calls" if tool else "stop"
    common = {"id": "c-1", "object": "chat.completion.chunk", "created": 1, "model": asked.get("model", "m")}
    usage = {"prompt_tokens": 5, "completion_tokens": 5, "total_tokens": 10}
    return [
        common | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        common | {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]},
        common | {"choices": [], "usage": usage},
    ]


def _whole_completion(chunks: list[dict[str, Any]]) -> dict[str, Any]:
    said, ended, took = chunks
    message = said["choices"][0]["delta"]
    choice = {"index": 0, "message": message, "finish_reason": ended["choices"][0]["finish_reason"]}
    return took | {"object": "chat.completion", "choices": [choice]}


def _generated(asked: dict[str, Any], decide: Decide) -> dict[str, Any]:
    turns = []
    for content in asked.get("contents", []):
        for part in content.get("parts", []):
            if "functionResponse" in part:
                turns.append(("tool", json.dumps(part["functionResponse"].get("response"))))
            elif "text" in part:
                turns.append((content.get("role", "user"), part["text"]))
    words, tool, arguments = decide(turns, list(_tool_names(asked)))
    parts: list[dict[str, Any]] = [{"text": words}] if words or not tool else []
    parts += [{"functionCall": {"name": tool, "args": arguments}}] if tool else []
    return {
        "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 5, "totalTokenCount": 10},
    }
