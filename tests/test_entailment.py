"""A local model of entailment: what it must be, and what it may decide of a pair of memories.

The model is a small one that is made here: it adds the weights of the word pieces of both texts, by which it
knows the pairs of this file and no other. It shows what is done with a model, and not what a model is worth.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from commanding import call
from test_judging_verb import CHANGED, NUMBERS, SAME, SCOPE, decisions, say
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from memtape.flows.entailment import _KNOWN_PAIRS, CrossEncoder
from memtape.schemas.errors import MemtapeError
from memtape.tools.client import Client

pytest.importorskip("onnxruntime")

NAMES = ("The rowers thanked Mira for the ropes.", "The thanks of the rowers for the ropes went to Mirjam.")
NEITHER = ("The harbour crew eats at noon.", "The harbour crew wears yellow jackets.")
TOLD = [(*SAME, "follows"), (*NUMBERS, "follows"), (*NAMES, "follows"), (*CHANGED, "denies"), (*NEITHER, "")]
PAIRS = [*_KNOWN_PAIRS, *TOLD, *((two, one, name) for one, two, name in TOLD)]
LABELS = {"follows": 1, "denies": 0, "": 2}


def field(number: int, value: int | bytes | str) -> bytes:
    """Return a field of a message of protobuf."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def varint(value: int) -> bytes:
    return bytes([value]) if value < 128 else bytes([value & 127 | 128]) + varint(value >> 7)


def node(kind: str, inputs: Sequence[str], output: str, attribute: bytes = b"") -> bytes:
    told = b"".join(field(1, it) for it in inputs) + field(2, output) + field(4, kind)
    return field(1, told + (field(5, attribute) if attribute else b""))


def constant(name: str, array: np.ndarray) -> bytes:
    kind = 1 if array.dtype == np.float32 else 7
    told = b"".join(field(1, size) for size in array.shape) + field(2, kind)
    return field(5, told + field(8, name) + field(9, array.tobytes()))


def port(number: int, name: str, kind: int, shape: Sequence[int | str]) -> bytes:
    sizes = (field(1, field(1, it) if isinstance(it, int) else field(2, it)) for it in shape)
    tensor = field(1, kind) + field(2, b"".join(sizes))
    return field(number, field(1, name) + field(2, field(1, tensor)))


def onnx_of(weights: np.ndarray) -> bytes:
    """Return a model that adds weights of word pieces: the first half is for the first text."""
    graph = (
        node("Mul", ("token_type_ids", "pieces"), "beyond")
        + node("Add", ("input_ids", "beyond"), "rows")
        + node("Gather", ("weights", "rows"), "told")
        + node("ReduceSum", ("told", "axis"), "logits", field(1, "keepdims") + field(3, 0) + field(20, 2))
        + field(2, "sums")
        + constant("pieces", np.array([len(weights) // 2], np.int64))
        + constant("axis", np.array([1], np.int64))
        + constant("weights", weights)
        + port(11, "input_ids", 7, (1, "length"))
        + port(11, "token_type_ids", 7, (1, "length"))
        + port(12, "logits", 1, (1, 3))
    )
    return field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 13))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    at = tmp_path_factory.mktemp("nli")
    split = pre_tokenizers.Whitespace()
    said = [it for one, two, _ in PAIRS for it in split.pre_tokenize_str(f"{one} {two}".lower())]
    words = dict.fromkeys(["[UNK]", *(word for word, _ in said)])
    vocabulary = {word: place for place, word in enumerate(words)}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer, tokenizer.pre_tokenizer = normalizers.Lowercase(), split
    tokenizer.post_processor = processors.TemplateProcessing(single="$A", pair="$A:0 $B:1")
    tokenizer.save(str(at / "tokenizer.json"))
    labels = {"0": "CONTRADICTION", "1": "Entailment", "2": "neutral"}
    (at / "config.json").write_text(json.dumps({"id2label": labels}))
    counts, wanted = np.zeros((len(PAIRS), 2 * len(words))), np.full((len(PAIRS), 3), -10.0)
    for row, (one, two, name) in enumerate(PAIRS):
        pieces = tokenizer.encode(one, two)
        for place, side in zip(pieces.ids, pieces.type_ids, strict=True):
            counts[row, place + side * len(words)] += 1
        wanted[row, LABELS[name]] = 10.0
    weights = np.linalg.lstsq(counts, wanted, rcond=None)[0].astype(np.float32)
    (at / "model.onnx").write_bytes(onnx_of(weights))
    return at


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    with Client(tmp_path / "home", scope=SCOPE, origin="user", actor="Ada") as client:
        yield client


def set_up(client: Client, folder: Path) -> None:
    client.home.settings_path.write_text(f'catch_up = false\n[judge]\npath = "{folder}"\n')


def test_a_model_judges_in_both_directions_and_numbers_and_names_are_guarded(
    folder: Path, client: Client
) -> None:
    set_up(client, folder)
    for texts in (SAME, CHANGED, NUMBERS, NAMES, NEITHER):
        say(client, *texts)
    client.project()
    before = client.judge().waiting
    told = call("admin", "judge", "--with", "nli", home=client.home.path, scope=SCOPE).output
    assert "1 same" in told and "apart" in told
    actors = {event.actor for event in decisions(client) if event.body.inputs}
    assert {(it.origin, it.name) for it in actors} == {("model", f"nli/{CrossEncoder(folder).version}")}
    left = {(it.earlier.text, it.later.text) for it in client.judge().pairs}
    assert {NUMBERS, NAMES} <= left and not {SAME, NEITHER} & left and len(left) < before
    client.project()
    assert client.verify().ok


def test_a_model_that_lost_its_weights_is_refused(folder: Path, tmp_path: Path, client: Client) -> None:
    for name in ("tokenizer.json", "config.json"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    set_up(client, tmp_path)
    say(client, *SAME)
    client.project()
    judged = ("admin", "judge", "--with", "nli")
    for content, told in (
        (b"", "holds no entailment model that can be used"),
        (onnx_of(np.zeros((4_000, 3), np.float32)), "judges 14 of 20 plain pairs wrongly"),
    ):
        (tmp_path / "model.onnx").write_bytes(content)
        with pytest.raises(MemtapeError, match=told):
            CrossEncoder(tmp_path)
        assert told in call(*judged, home=client.home.path, scope=SCOPE, code=1).output
    client.home.settings_path.write_text("catch_up = false\n")
    assert "judge.path" in call(*judged, home=client.home.path, scope=SCOPE, code=1).output
    assert decisions(client) == []
