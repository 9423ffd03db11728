"""The verbs over HTTP: what each takes and gives, who may ask, and that no project is shown another."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
import uvicorn

from memtape import Client
from memtape.tools.agents.mcp.handlers import ServedMemory
from memtape.tools.agents.mcp.server import http_app, listen
from memtape.tools.doors.http import openapi, verbs
from memtape.tools.verb import encoded

TOKEN = "a-token-of-the-test"
HERE, ELSEWHERE = "project:here", "project:elsewhere"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[ServedMemory]:
    memory = ServedMemory(tmp_path, actor="script")
    yield memory
    memory.close()


@pytest.fixture
def http(memory: ServedMemory) -> Iterator[httpx.Client]:
    listening = listen(0)
    port = listening.getsockname()[1]
    server = uvicorn.Server(uvicorn.Config(http_app(memory, port, TOKEN), log_level="warning"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    address = f"http://127.0.0.1:{port}/v1"
    with httpx.Client(base_url=address, headers={"Authorization": f"Bearer {TOKEN}"}, timeout=30) as client:
        yield client
    server.should_exit = True
    thread.join()


def asked(http: httpx.Client, method: str, scope: str = HERE, status: int = 200, **given: Any) -> Any:
    done = http.post(f"/{method}", params={"scope": scope}, json=given)
    assert done.status_code == status, done.text
    return done.json()


def test_a_program_remembers_asks_and_decides(http: httpx.Client, tmp_path: Path) -> None:
    id = asked(http, "capture", text="The staging database listens on port 5433.", tags=["infra"])["id"]
    found = asked(http, "search", query="staging port", kinds=["fact"])
    assert [it["id"] for it in found["results"]] == [id] and found["recall_id"]
    assert asked(http, "show", id=id[:13])["memory"]["actor"] == "script"
    assert asked(http, "forget", id=id)["ids"] == [id]
    assert asked(http, "search", query="staging")["results"] == []
    assert asked(http, "restore", id=id) == {"ids": [id]}
    with Client(tmp_path, scope=HERE) as client:
        assert client.show(id).memory.origin == "agent"  # type: ignore[union-attr]


def test_what_is_wrong_is_told_with_a_code_and_the_next_step(http: httpx.Client) -> None:
    assert asked(http, "erase", status=404)["code"] and asked(http, "search", status=422)["hint"]
    assert "quiet" in asked(http, "search", status=422, query="x", quiet=True)["error"]
    assert asked(http, "show", status=404, id="0" * 8)["error"].startswith(f"{HERE} has no memory")
    assert asked(http, "settle", status=422, conflict="0" * 8, keep="A")["error"].startswith("Only people")
    assert asked(http, "unarchive", status=422)["code"] == "invalid_use"
    assert http.post("/search", json={"query": "x"}).status_code == 422, "no project is named"
    assert http.post("/search", params={"scope": HERE}, content=b"[]").status_code == 400
    for body in (b'{"text": "\xff"}', b'{"text": ' + b"[" * 100_000):
        assert http.post("/capture", params={"scope": HERE}, content=body).status_code == 400
    for method, path, status in (("GET", "/search", 405), ("POST", "/search/x", 404)):
        refused = http.request(method, path)
        assert refused.status_code == status and "POST /v1/METHOD" in refused.json()["hint"]
    assert http.get("/openapi.json", headers={"Authorization": "Bearer no"}).status_code == 401
    for scope in ("global", "project:../x"):
        assert "not served" in asked(http, "search", scope=scope, status=422, query="x")["error"]


def test_a_body_that_is_too_large_is_not_read(http: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memtape.tools.doors.http.MAX_BODY_BYTES", 1_000)
    done = http.post("/capture", params={"scope": HERE}, json={"text": "x" * 2_000})
    assert done.status_code == 413 and "1,000 bytes" in done.json()["error"]


def test_no_project_is_shown_another(http: httpx.Client, tmp_path: Path) -> None:
    id = asked(http, "capture", scope=ELSEWHERE, text="The xylophone of Brunhilde is in the attic.")["id"]
    asked(http, "capture", text="The harbour is open.")
    needed = {"query": "xylophone", "id": id, "ids": [id], "text": "x", "around": "1d", "before": "1d",
              "after": "0s", "conflict": id, "keep": "A", "by": id, "name": "x"}  # fmt: skip
    for method, verb in verbs().items():
        given = {name: needed[name] for name in verb.asks.__struct_fields__ if name in needed}
        if method not in ("capture", "rename", "finish"):
            told = http.post(f"/{method}", params={"scope": HERE}, json=given).text
            assert "Brunhilde" not in told and ELSEWHERE not in told, method


def test_a_server_of_one_project_serves_no_other(http: httpx.Client, memory: ServedMemory) -> None:
    memory.scope = HERE
    assert asked(http, "capture", text="The harbour is open.")["scope"] == HERE
    told = asked(http, "capture", scope=ELSEWHERE, status=422, text="The harbour is closed.")
    assert told["hint"] == f"This server serves {HERE} alone."


def test_the_document_describes_each_verb() -> None:
    told = openapi()
    assert {path.rpartition("/")[2] for path in told["paths"]} == verbs().keys()
    assert msgspec.json.decode(encoded(told))["openapi"] == "3.1.0"
    assert "quiet" not in told["components"]["schemas"]["SearchAsks"]["properties"]
