"""all-MiniLM-L6-v2 in numpy: word pieces, six layers of a BERT encoder, mean, unit length. No torch, no log.

Weights are mapped, not read, so that processes share them and a load costs next to nothing. Texts of one
number of word pieces make a batch, which therefore needs no padding and no mask.
"""

from __future__ import annotations

import json
import mmap
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Weights = dict[str, Floats]

SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
SIZE_BYTES = 90_868_376
"""The digest and the size of the official model.safetensors of sentence-transformers/all-MiniLM-L6-v2."""
DIMENSIONS, LAYERS, HEADS = 384, 6, 12
MAX_PIECES = 256  # Word pieces read of a text, as in sentence-transformers for this model.
BATCH_PIECES = 2_048  # Maximum word pieces of one batch; their widest array then takes 13 MB.
_EMBEDDED = ("word", "position", "token_type")
_EPSILON = np.float32(1e-12)
_ERF = tuple(map(np.float32, (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592)))
"""Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.26: erf to within 1.5e-7."""


class MiniLm:
    """The model in a folder that has `model.safetensors` and `tokenizer.json`.

    Raises `OSError`, `ValueError` or `KeyError` for files that are not the model's.
    """

    def __init__(self, folder: Path) -> None:
        from tokenizers import Tokenizer

        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(MAX_PIECES)
        weights = self._weights = map_weights(folder / "model.safetensors")
        self._words, places, types = (weights[f"embeddings.{name}_embeddings.weight"] for name in _EMBEDDED)
        self._places = places + types[0]

    def encode(self, texts: Sequence[str]) -> Floats:
        """Return unit vectors of shape (texts, 384)."""
        pieces = [encoding.ids for encoding in self._tokenizer.encode_batch([text.strip() for text in texts])]
        by_length: dict[int, list[int]] = defaultdict(list)
        for place, ids in enumerate(pieces):
            by_length[len(ids)].append(place)
        vectors = np.empty((len(texts), DIMENSIONS), np.float32)
        for length, places in by_length.items():
            step = max(1, BATCH_PIECES // length)
            for start in range(0, len(places), step):
                batch = places[start : start + step]
                vectors[batch] = self._forward(np.array([pieces[place] for place in batch]))
        return vectors

    def _forward(self, ids: NDArray[np.int64]) -> Floats:
        texts, length = ids.shape
        x = (self._words[ids] + self._places[:length]).reshape(texts * length, DIMENSIONS)
        weights = self._weights
        x = _norm(weights, "embeddings.LayerNorm", x)
        for layer in (f"encoder.layer.{number}" for number in range(LAYERS)):
            attended = _attend(weights, f"{layer}.attention.self", x, texts)
            attended = _linear(weights, f"{layer}.attention.output.dense", attended)
            x = _norm(weights, f"{layer}.attention.output.LayerNorm", attended + x)
            wide = _gelu(_linear(weights, f"{layer}.intermediate.dense", x))
            narrow = _linear(weights, f"{layer}.output.dense", wide)
            x = _norm(weights, f"{layer}.output.LayerNorm", narrow + x)
        mean: Floats = x.reshape(texts, length, DIMENSIONS).mean(axis=1)
        mean /= np.linalg.norm(mean, axis=1, keepdims=True)
        return mean


def map_weights(path: Path) -> Weights:
    """Return the arrays of float32 in a file of safetensors by name, mapped. Raises as `MiniLm` does."""
    with path.open("rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    begin = 8 + int.from_bytes(mapped[:8], "little")
    weights: Weights = {}
    for name, tensor in json.loads(mapped[8:begin]).items():
        if tensor.get("dtype") == "F32":
            start, end = tensor["data_offsets"]
            array = np.frombuffer(mapped, np.float32, (end - start) // 4, begin + start)
            weights[name] = array.reshape(tensor["shape"])
    return weights


def _attend(weights: Weights, name: str, x: Floats, texts: int) -> Floats:
    width = DIMENSIONS // HEADS
    query, key, value = (
        _linear(weights, f"{name}.{part}", x).reshape(texts, -1, HEADS, width).transpose(0, 2, 1, 3)
        for part in ("query", "key", "value")
    )
    scores: Floats = np.matmul(query, key.transpose(0, 1, 3, 2), dtype=np.float32)
    scores *= np.float32(width**-0.5)
    scores -= scores.max(axis=-1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=-1, keepdims=True)
    attended: Floats = np.matmul(scores, value, dtype=np.float32)
    return attended.transpose(0, 2, 1, 3).reshape(x.shape)


def _linear(weights: Weights, name: str, x: Floats) -> Floats:
    """Return a linear layer's output; its weight has the shape (out, in)."""
    product: Floats = x @ weights[f"{name}.weight"].T
    product += weights[f"{name}.bias"]
    return product


def _norm(weights: Weights, name: str, x: Floats) -> Floats:
    """Return x with mean 0 and variance 1 in each row, scaled and shifted."""
    x = x - x.mean(axis=-1, keepdims=True)
    variance = np.einsum("ij,ij->i", x, x)[:, None] / np.float32(x.shape[-1])
    x /= np.sqrt(variance + _EPSILON)
    x *= weights[f"{name}.weight"]
    x += weights[f"{name}.bias"]
    return x


def _gelu(x: Floats) -> Floats:
    """Return x * (1 + erf(x / sqrt 2)) / 2."""
    z = np.abs(x)
    z *= np.float32(0.5**0.5)
    t = np.float32(1) / (np.float32(1) + np.float32(0.3275911) * z)
    rest = _ERF[0] * t
    for factor in _ERF[1:]:
        rest += factor
        rest *= t
    np.multiply(z, z, out=z)
    np.negative(z, out=z)
    np.exp(z, out=z)
    rest *= z  # 1 - erf of the absolute value
    erf: Floats = np.copysign(np.float32(1) - rest, x)
    erf += np.float32(1)
    erf *= x
    erf *= np.float32(0.5)
    return erf
