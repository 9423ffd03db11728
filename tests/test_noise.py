"""Noise does not become turns that are found, and what says anything does."""

from __future__ import annotations

import base64
import random
from pathlib import Path

import pytest
from tables import table
from test_hooks import events_of, hook, told
from test_pausing import taken, texts, transcript

from memtape.schemas.events import MAX_TEXT_BYTES
from memtape.sinks.home.counts import LEFT_OUT, HomeCounts
from memtape.sinks.home.folders import Home
from memtape.state.text.questions import is_nod
from memtape.state.text.reading import read
from memtape.tools.capture.noise import HEAD_CHARS, TAIL_CHARS, noise_in, without_bulk
from memtape.tools.client import Client

RNG = random.Random(20)
BYTES = RNG.randbytes(3_000)
LINES, URL_SAFE = base64.encodebytes(BYTES).decode().strip(), base64.urlsafe_b64encode(BYTES).decode()
SCOPE = "project:a"
CASES = table("noise")


@pytest.fixture(autouse=True)
def connected(home: Path) -> None:
    Home(home)


@pytest.mark.parametrize("text", [*CASES["saying"], *CASES["about_host"], *CASES["tool_answers"]])
def test_what_says_anything_is_no_noise(text: str) -> None:
    assert (
        not is_nod(read(text)) and noise_in(text, "tool" if text in CASES["tool_answers"] else "user") is None
    )


@pytest.mark.parametrize("text", [*CASES["nods"], *CASES["of_host"]])
def test_what_says_nothing_is_noise(text: str) -> None:
    assert is_nod(read(text)) or noise_in(text, "agent") is not None


@pytest.mark.parametrize("blob", [LINES.replace("\n", ""), LINES, URL_SAFE, BYTES.hex(), repr(LINES)[1:-1]],
                         ids=["one line", "lines", "for a URL", "hexadecimal", "escaped"])  # fmt: skip
def test_of_a_blob_its_length_is_kept(blob: str) -> None:
    assert without_bulk(f"the logo is data:image/png;base64,{blob} and blue") == (
        f"the logo is data:image/png;base64,[{len(blob):,} characters of data] and blue"
    )


@pytest.mark.parametrize(
    "text",
    [
        "-" * 3_000, "a" * 3_000, "the commit 3f9a2c1d" * 200, "A sentence with 12 words. " * 2_000, "",
        "src/state/views/indexed/state/text/courtesies/tools/capture/noise/memory\n" * 50,
        "ABCDEFGH_IJKLMNOP_QRSTUVWX_YZABCDEF_GHIJKLMN_OPQRSTUV_WXYZABCD_EFGH" * 20,
        "sha384-IMqVj9dNAdCwD9lqO9yH+Y7H5HRC3b+QH6QaU1ExdTRzVXp77lXdMjX8QeEz+x",
    ],
)  # fmt: skip
def test_what_is_long_and_no_blob_is_kept(text: str) -> None:
    assert without_bulk(text) == text


def test_of_a_paste_the_beginning_the_end_a_digest_and_the_length_are_kept() -> None:
    pasted = "".join(f"2026-11-20T10:00:{n % 60:02} request {n} took {n % 97} ms\n" for n in range(5_000))
    text = f"Look at this log:\n{pasted}Why is request 4711 slow?"
    kept = without_bulk(text)
    assert kept.startswith(text[:HEAD_CHARS]) and kept.endswith(text[-TAIL_CHARS:])
    assert f"[… {len(text) - HEAD_CHARS - TAIL_CHARS:,} more characters, blake2b " in kept
    assert len(kept) < 2_700 and without_bulk(kept) == kept
    other = text.replace("request 2500 ", "request 25OO ")
    assert without_bulk(other) != kept  # The digest tells them apart.
    assert without_bulk("ä" * (MAX_TEXT_BYTES // 2)) == "ä" * (MAX_TEXT_BYTES // 2)
    assert without_bulk("ä" * (MAX_TEXT_BYTES // 2 + 1)).startswith("ä" * HEAD_CHARS + "\n[…")


def test_a_paste_is_one_turn_by_hook_and_import_and_never_says_a_secret(home: Path, project: Path) -> None:
    secret = "ghp_" + "".join(RNG.choice("abcdefghijkABCDEFGHIJK0123456789") for _ in range(36))
    pasted = f"Read this. <private>heliotrope</private> {secret}\n"
    pasted += "a line of the log\n" * 4_000 + "What is wrong?"
    hook(home, "claude", told(project, "UserPromptSubmit", prompt=pasted))
    path = transcript(project, ("s-1", 1, pasted))
    assert taken(home, path, project).known == 1
    (text,) = texts(home, project)
    assert text.startswith("Read this. [private] [redacted:github-token:") and text.endswith("What is wrong?")
    assert len(text) < 2_700


def test_nods_stand_in_their_session_and_no_search_finds_them(home: Path) -> None:
    with Client(home, scope=SCOPE, session="s", origin="user") as client:
        asked = "Shall I continue and drop the table users, yes or no? Please go ahead?"
        client.capture(asked, "turn", origin="agent")
        nods = [client.capture(nod, "turn").id for nod in ("yes", "Go ahead.", "ok", "Continue!", "no")]
        told = client.capture("ok, continue without the table users", "turn").id
        fact = client.capture("yes", "fact").id  # What somebody captured on purpose is found.
        for pending in (True, False):
            for query in ("yes", "go ahead", "ok continue", "no"):
                found = {result.id for result in client.search(query, 50).results}
                assert not found & set(nods), (pending, query)
            assert told in {result.id for result in client.search("continue", 50).results}
            assert fact in {result.id for result in client.search("yes", 50).results}
            client.project()
        assert [client.show(id).turn is not None for id in nods] == [True] * 5
        status = client.status()
        assert status.turns == 7 and status.hidden == 0


def test_imports_and_hooks_count_what_they_leave_out_by_reason(home: Path, project: Path) -> None:
    said = ("[Request interrupted by the user]", BYTES.decode("latin1"), "kept")
    path = transcript(project, *(("s-1", number, text) for number, text in enumerate(said, start=1)))
    summary = taken(home, path, project)
    assert summary.skipped == {"metadata of a host": 1, "binary": 1} and texts(home, project) == ["kept"]
    assert not summary.problem_count
    for said in ("No response requested.", "<private>x", "[Request interrupted by user]", "kept too"):
        hook(home, "claude", told(project, "Stop", last_assistant_message=said))
    assert HomeCounts(home).tally(LEFT_OUT) == {"metadata of a host": 2, "private as a whole": 1}
    assert texts(home, project) == ["kept", "kept too"]
    with Client(home) as client:
        assert client.status().left_out == HomeCounts(home).tally(LEFT_OUT)
    assert len(events_of(home, project, "captured")) == 2
