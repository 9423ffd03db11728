"""A local model as an embedder: MiniLM in numpy (`minilm`), any other by sentence-transformers and torch.

Nothing of a model runs as code: weights are safetensors, modules are the library's own. Nothing is downloaded
unless the settings say so.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memtape.flows.embed import target
from memtape.flows.embed.embedder import (
    HARMLESS,
    Embedder,
    Embedding,
    EmbeddingFailure,
    checked,
    sound_of,
    the_vector,
)
from memtape.flows.embed.minilm import DIMENSIONS, SHA256, SIZE_BYTES, MiniLm
from memtape.schemas.embedding import MINILM, EmbedderOptions
from memtape.schemas.errors import EmbedderUnavailable, MemtapeError

BATCH = 32
REVISION_CHARS = 12
_FILES = ["*.json", "*.txt", "*.model", "*.safetensors"]
_MEANING = "Install it in the checkout of Memtape with: pip install '.[meaning]'; or name its folder."
_DENSE = "Install it in the checkout of Memtape with: pip install '.[dense]'."

_OFFER = (
    "Give `memtape admin embedder set local` at a terminal, which offers to download it; or set download = "
    "true under [embedder] in settings.toml; or name a folder that holds the model."
)

Encode = Callable[[list[str]], Any]

LoadedModel = tuple[Encode, Encode, int]
"""Functions from questions and from documents to arrays, a row for each, and the number of dimensions."""


class LocalEmbedder(Embedder):
    """Vectors of a local model on the CPU, in float32. Text beyond the model's maximum length is ignored.

    `name` is the model's name without `sentence-transformers/`, or a folder's name; `revision` is 12 hex of
    the SHA-256 of its model.safetensors. Unless `checks`, the weights of an installed package are taken for
    MiniLM's by their size: reading them takes as long as a search. `folder` is that of `model_folder`, if
    found already. Raises the errors of `model_folder`, and `MemtapeError` if loading fails.
    """

    def __init__(self, options: EmbedderOptions, folder: Path | None = None, *, checks: bool = True) -> None:
        folder = folder or model_folder(options)
        is_packaged = folder == target.packaged_minilm()
        digest = _digest(folder) if checks or not (is_packaged and is_minilm_size(folder)) else SHA256
        if is_packaged and digest != SHA256:
            own, official = digest[:REVISION_CHARS], SHA256[:REVISION_CHARS]
            raise MemtapeError(
                f"The weights in {folder} have the digest {own}…, and those of {MINILM} have {official}….",
                "Install the extra meaning again, or name a folder that holds the model.",
            )
        self.revision = digest[:REVISION_CHARS]
        place, name = Path(options.model).expanduser(), options.model.removeprefix("sentence-transformers/")
        self.name = MINILM if digest == SHA256 else place.resolve().name if place.is_dir() else name
        try:
            loaded = _load(folder, digest)
        except Exception as error:
            told = f"The model in {folder} cannot be loaded ({type(error).__name__})."
            raise MemtapeError(told, "Get it again, or name another one.") from error
        self._encode_query, self._encode_document, self.dimensions = loaded

    def embed_each(self, texts: Sequence[str]) -> Iterator[Embedding]:
        """See `Embedder.embed_each`. The last bits of a vector may depend on the batch."""
        return sound_of(texts, lambda asked: self._sound(asked, self._encode_document))

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a question, with the model's query prompt if any. Raises `NotEmbedded`."""
        return the_vector(*sound_of([text], lambda asked: self._sound(asked, self._encode_query)))

    def _sound(self, texts: list[str], encode: Encode) -> list[Embedding]:
        """Return the vectors or failures of texts; raise if no text has a vector, not even a harmless one."""
        made = self._encode(texts, encode)
        if all(isinstance(one, EmbeddingFailure) for one in made):
            (harmless,) = self._encode([HARMLESS], encode)
            if isinstance(harmless, EmbeddingFailure):
                raise EmbedderUnavailable(
                    f"The model {self.name} gives no vectors: {harmless.reason}.",
                    "See whether memory is free; then start again.",
                )
        return made

    def _encode(self, texts: list[str], encode: Encode) -> list[Embedding]:
        try:
            vectors = np.asarray(encode(texts))
        except Exception as error:
            # A text that the model does not take must not fail the texts beside it.
            if len(texts) == 1:
                return [EmbeddingFailure(f"the model does not take it ({type(error).__name__})")]
            return [made for text in texts for made in self._encode([text], encode)]
        if vectors.shape[:1] != (len(texts),):
            return [EmbeddingFailure("the model gave another number of vectors")] * len(texts)
        return [checked(np.asarray(vector, dtype=np.float32), self.dimensions) for vector in vectors]


def model_folder(options: EmbedderOptions) -> Path:
    """Return the folder of a model: the one named, that of a package, or that of the hub's cache.

    The model is downloaded if the options allow. Raises `EmbedderUnavailable` if the model is missing,
    `MemtapeError` if its library is missing or the model is not allowed.
    """
    folder = Path(options.model).expanduser()
    if not folder.is_dir():
        named = target.is_named_minilm(options.model)
        folder = (target.packaged_minilm() if named else None) or _from_hub(options)
    _check_no_code(folder)
    if not is_minilm_size(folder) and importlib.util.find_spec("sentence_transformers") is None:
        raise MemtapeError("The library sentence-transformers is not installed.", _DENSE)
    return folder


def _from_hub(options: EmbedderOptions) -> Path:
    missing = f"The model {options.model} is not on this machine."
    if importlib.util.find_spec("huggingface_hub") is None:
        raise EmbedderUnavailable(missing, _MEANING)
    from huggingface_hub import snapshot_download

    repository = options.model if "/" in options.model else f"sentence-transformers/{options.model}"
    try:
        return Path(snapshot_download(repository, local_files_only=True, allow_patterns=_FILES))
    except Exception:
        # Names that no repository can have raise other errors than those that are not in the cache.
        if not options.download:
            hint = _MEANING if target.is_named_minilm(options.model) else _OFFER
            raise EmbedderUnavailable(missing, hint) from None
    try:
        return Path(snapshot_download(repository, allow_patterns=_FILES))
    except Exception as error:
        raise EmbedderUnavailable(
            f"The model {options.model} could not be downloaded ({type(error).__name__}).",
            "Check its name and the network, or name a folder that holds it.",
        ) from None


def _check_no_code(folder: Path) -> None:
    """Raise `MemtapeError` for a model with own code, or with weights in a format that can hold code."""
    try:
        modules = json.loads((folder / "modules.json").read_bytes())
        kinds = [str(module["type"]) for module in modules]
    except (OSError, ValueError, TypeError, KeyError):
        raise MemtapeError(
            f"{folder} is no model of sentence-transformers: its modules.json is missing or damaged.",
            "Name another model, or get this one again.",
        ) from None
    own = [kind for kind in kinds if not kind.startswith("sentence_transformers.")]
    if own:
        raise MemtapeError(f"The model in {folder} brings its own code ({own[0][:60]}).", "Name another.")
    pickled = {path.parent for path in folder.rglob("pytorch_model*.bin")}
    safe = {path.parent for path in folder.rglob("*.safetensors")}
    if not safe or pickled - safe:
        told = f"The model in {folder} has weights that are not safetensors."
        raise MemtapeError(told, "Name one that has model.safetensors.")


def is_minilm_size(folder: Path) -> bool:
    """Return whether weights have the size of MiniLM's, which loads in a fraction of a second."""
    weights = folder / "model.safetensors"
    return weights.is_file() and weights.stat().st_size == SIZE_BYTES


def _digest(folder: Path) -> str:
    """Return the SHA-256 of the weights; of several files, of their digests in the order of their paths."""
    digests = []
    for path in sorted(folder.rglob("*.safetensors")):
        digest = sha256()
        with path.open("rb") as file:
            while chunk := file.read(1 << 20):
                digest.update(chunk)
        digests.append(digest.hexdigest())
    return digests[0] if len(digests) == 1 else sha256("".join(digests).encode()).hexdigest()


def _load(folder: Path, digest: str) -> LoadedModel:
    if digest == SHA256:
        model = MiniLm(folder)
        return model.encode, model.encode, DIMENSIONS
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging

    logging.disable_progress_bar()
    loaded = SentenceTransformer(
        str(folder),
        device="cpu",
        local_files_only=True,
        trust_remote_code=False,
        model_kwargs={"use_safetensors": True},
    )
    loaded = loaded.float().eval()
    how: dict[str, Any] = {"batch_size": BATCH, "convert_to_numpy": True, "show_progress_bar": False}
    dimensions = int(loaded.encode("hello", show_progress_bar=False).size)
    return partial(loaded.encode_query, **how), partial(loaded.encode_document, **how), dimensions
