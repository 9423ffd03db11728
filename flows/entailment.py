"""A local model of entailment: whether one text follows from another, or denies it. Calls nobody.

A cross-encoder in a folder: `model.onnx`, run by onnxruntime, its `tokenizer.json`, and `config.json`, which
names the labels. Memtape brings no weights. The extra `entailment` has the libraries.
"""

from __future__ import annotations

import importlib.util
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from memtape.schemas.errors import MemtapeError

MODEL_FILE = "model.onnx"
MOST_PIECES = 512  # Word pieces of both texts.
MOST_WRONG = 4  # Of the known pairs. An 8-bit export that lost its precision has more.
_LABELS = {"follows": "entail", "denies": "contra"}  # The beginning of a label's name.
_KNOWN_PAIRS = (
    ("The baker sold all the bread before noon.", "The bread was sold in the morning.", "follows"),
    ("Three children are playing in the park.", "Children are playing outside.", "follows"),
    ("The server was restarted after the power failed.", "The server was restarted.", "follows"),
    ("Nobody has opened the letter.", "The letter is still closed.", "follows"),
    ("A woman is repairing her bicycle.", "A person is fixing a bike.", "follows"),
    ("All trains to the coast are cancelled.", "No train goes to the coast.", "follows"),
    ("The house has a red roof and a garden.", "The house has a garden.", "follows"),
    ("The baker sold all the bread before noon.", "The baker sold no bread.", "denies"),
    ("Three children are playing in the park.", "The park is empty.", "denies"),
    ("The server was restarted after the power failed.", "The server never stopped.", "denies"),
    ("Nobody has opened the letter.", "Somebody has read the letter.", "denies"),
    ("A woman is repairing her bicycle.", "Nobody is repairing anything.", "denies"),
    ("The shop is open every day.", "The shop is closed on Sundays.", "denies"),
    ("The house has a red roof and a garden.", "The roof of the house is blue.", "denies"),
    ("The baker sold all the bread before noon.", "The baker has two daughters.", ""),
    ("Three children are playing in the park.", "The children are brothers.", ""),
    ("The server was restarted after the power failed.", "The server runs a mail program.", ""),
    ("Nobody has opened the letter.", "The letter came from Spain.", ""),
    ("A woman is repairing her bicycle.", "The woman is a doctor.", ""),
    ("The shop is open every day.", "The shop sells shoes.", ""),
)
"""Pairs with the relation of the second text to the first; empty for none."""


class Relation(NamedTuple):
    """How likely a text follows from another, and denies it, each from 0 to 1."""

    follows: float
    denies: float

    @property
    def name(self) -> str:
        """The likelier field, empty where neither is likelier than no relation."""
        neither = 1 - self.follows - self.denies
        return max(("", neither), ("follows", self.follows), ("denies", self.denies), key=lambda it: it[1])[0]


class _Config(msgspec.Struct):
    id2label: dict[str, str]


class CrossEncoder:
    """The model of a folder; `version` names its weights. Raises `MemtapeError` if the model is no good."""

    def __init__(self, folder: Path) -> None:
        if any(importlib.util.find_spec(name) is None for name in ("onnxruntime", "tokenizers")):
            told = "The entailment model needs onnxruntime and tokenizers."
            raise MemtapeError(told, "Install memtape with the extra `entailment`.")
        try:
            self._load(folder)
            wrong = sum(self.relation(one, two).name != name for one, two, name in _KNOWN_PAIRS)
        except Exception as error:  # The libraries raise errors of many kinds.
            told = f"{folder} holds no entailment model that can be used: {error}."
            raise MemtapeError(told, f"It needs {MODEL_FILE}, tokenizer.json and config.json.") from None
        if wrong > MOST_WRONG:
            told = (
                f"The entailment model in {folder} judges {wrong} of {len(_KNOWN_PAIRS)} plain pairs wrongly."
            )
            raise MemtapeError(told, "Take another export of it: one of 8 bits may have lost too much.")

    def _load(self, folder: Path) -> None:
        import onnxruntime
        from tokenizers import Tokenizer

        weights = (folder / MODEL_FILE).read_bytes()
        self.version = blake2b(weights, digest_size=4).hexdigest()
        labels = msgspec.json.decode((folder / "config.json").read_bytes(), type=_Config).id2label
        named = [(int(place), name.lower()) for place, name in labels.items()]
        self._places = {
            key: place for key, begin in _LABELS.items() for place, name in named if name.startswith(begin)
        }
        if self._places.keys() != _LABELS.keys():
            raise ValueError("no label is entailment, or none is contradiction")
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(MOST_PIECES)
        # By its path a model finds the weights that it keeps beside itself.
        self._session: Any = onnxruntime.InferenceSession(
            str(folder / MODEL_FILE), providers=["CPUExecutionProvider"]
        )

    def relation(self, text: str, other: str) -> Relation:
        """Return how likely another text follows from a text, and denies it."""
        import numpy as np

        pieces = self._tokenizer.encode(text, other)
        known = {
            "input_ids": pieces.ids,
            "attention_mask": pieces.attention_mask,
            "token_type_ids": pieces.type_ids,
        }
        wanted = {it.name: np.array([known[it.name]], np.int64) for it in self._session.get_inputs()}
        logits = np.asarray(self._session.run(None, wanted)[0][0], np.float64)
        shares = np.exp(logits - logits.max())
        shares /= shares.sum()
        return Relation(**{key: float(shares[place]) for key, place in self._places.items()})
