"""Bytes that make no sense, at every door: each says so, stores nothing of them, and serves what is next."""

from __future__ import annotations

import json
import socket
import subprocess
from pathlib import Path
from typing import Any, cast

import anyio
import httpx
import pytest
from commanding import call
from forking import memtape
from page_served import served
from starlette.requests import Request
from starlette.responses import Response
from test_mcp import environment, http_server
from test_one_server import HANDSHAKE

from memtape.tools.agents import hooks
from memtape.tools.agents.forwarding import HostSession
from memtape.tools.agents.hosts import HOSTS
from memtape.tools.page.app import Serving

A = "project:a"
NESTED = 100_000
BAD: dict[str, bytes] = {
    "arrays": b"[" * 2_000,
    "many arrays": b"[" * NESTED + b"]" * NESTED,
    "objects": b'{"a":' * 2_000 + b"1" + b"}" * 2_000,
    "nested in a field": b'{"text":' + b"[" * 2_000 + b"]" * 2_000 + b"}",
    "nested in a message": b'{"jsonrpc":"2.0","id":7,"method":"a","params":' + b"[" * 900 + b"]" * 900 + b"}",
    "long": b'{"text":"' + b"x" * 3_000_000 + b'"}',
    "no UTF-8": b'{"text":"\xff\xfe\xc3"}',
    "NUL": b"\0\0\0",
    "NUL in a name": b'{"\0text":"x"}',
    "half a surrogate": b'{"text":"\\ud800"}',
    "a number as id": b'{"jsonrpc":"2.0","id":' + b"9" * 5_000 + b',"method":"ping"}',
    "no end": b'{"text":"',
}
PING = {"jsonrpc": "2.0", "id": "still there", "method": "ping"}


def test_a_forwarder_hands_on_whatever_comes(home: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """From either side; the server answers a line that is no message."""
    ours, theirs = socket.socketpair()
    session = HostSession(str(home), b"", ours)
    with ours, theirs:
        for name, data in BAD.items():
            line = data[:50_000] + b"\n"  # What a socket holds while nobody reads.
            session._heard(line)
            got = b""
            while not got.endswith(b"\n"):
                got += theirs.recv(1_000_000)
            assert got == line, name
            session._answered(line)
            assert capfdbinary.readouterr().out == line, name


def test_a_session_over_stdio_goes_on(home: Path, project: Path) -> None:
    lines = [json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HANDSHAKE}).encode()]
    lines += [json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}).encode(), *BAD.values()]
    lines.append(json.dumps(PING).encode())
    with subprocess.Popen(
        [*memtape(), "agents", "mcp", "--scope", A], env=environment(home), cwd=project,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as serving:  # fmt: skip
        assert serving.stdin and serving.stdout and serving.stderr
        serving.stdin.write(b"\n".join(lines) + b"\n")
        serving.stdin.flush()
        while (line := serving.stdout.readline()) and json.loads(line).get("id") != PING["id"]:
            pass
        serving.stdin.close()
        assert line and "result" in json.loads(line), serving.stderr.read()
        assert b"Traceback" not in serving.stderr.read()


def test_a_server_over_http_goes_on(home: Path, project: Path) -> None:
    with http_server(home, project, "--scope", A) as (url, token):
        headers = {"Authorization": f"Bearer {token}", "Accept": "application/json, text/event-stream"}
        headers |= {"Content-Type": "application/json"}
        for name, data in BAD.items():
            assert 400 <= httpx.post(url, content=data, headers=headers, timeout=60).status_code < 500, name
        assert httpx.post(url, json=PING, headers=headers, timeout=60).status_code < 500


def test_the_page_goes_on(home: Path) -> None:
    form = {"content-type": "application/x-www-form-urlencoded"}
    with served(home, A) as page:
        for name, data in BAD.items():
            answer = page.http.post("/act", content=data, headers=form | {"origin": page.base})
            assert 400 <= answer.status_code < 500, name
            text = data[:2_000].decode("utf-8", "replace")
            for path in ("/search", "/log"):
                assert page.get(path, query=text, at=text, limit=text).status_code < 500, name
        assert page.get("/search").status_code == 200


def test_a_form_that_is_cut_off_is_no_error_of_the_page() -> None:
    """The browser goes before it has sent all that it has announced."""
    headers = [(b"content-type", b"application/x-www-form-urlencoded"), (b"content-length", b"100")]
    begun = {"type": "http.request", "body": b"do=forget&", "more_body": True}
    messages = iter([begun, {"type": "http.disconnect"}])

    async def receive() -> Any:
        return next(messages)

    async def read() -> Response:
        request = Request({"type": "http", "method": "POST", "headers": headers}, receive)
        return await Serving._act(cast(Serving, None), request)

    answer = anyio.run(read)
    assert answer.status_code == 400 and b"nothing was done" in answer.body


@pytest.mark.parametrize("host", HOSTS)
def test_a_hook_says_nothing_and_never_raises(home: Path, host: str) -> None:
    home.mkdir(exist_ok=True)
    for name, data in BAD.items():
        assert hooks.run(host, home, data) == b"", name


@pytest.mark.parametrize("way", ["file", "stdin"])
def test_a_line_is_refused_and_those_beside_it_are_kept(home: Path, tmp_path: Path, way: str) -> None:
    bad = {name: data for name, data in BAD.items() if name not in ("long", "half a surrogate")}
    data = b"\n".join([b'{"text":"First."}', *bad.values(), b'{"text":"Last."}', b""])
    path = tmp_path / "lines.jsonl"
    path.write_bytes(data)
    words, given = {"file": (["--file", str(path)], {}), "stdin": (["-"], {"input": data})}[way]
    done = json.loads(call("capture", *words, "--json", home=home, scope=A, code=1, **given).stdout)
    assert (done["count"], len(done["refused"])) == (2, len(bad)), done


@pytest.mark.parametrize("ending", ["jsonl", "json"])
def test_an_import_ends_with_a_sentence(home: Path, tmp_path: Path, ending: str) -> None:
    for data in BAD.values():
        path = tmp_path / f"export.{ending}"
        path.write_bytes(data + b"\n" if ending == "jsonl" else b"[" + data)
        call("import", path, home=home, scope=A, code=None)
