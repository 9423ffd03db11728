"""Benchmarks of embedding: `python -m memtape.tools.measure.bench_embedding --model NAME`, with the extra `dense`.

Texts a second against the library called directly, replay and folds under recorded vectors, the fold's precision and
recall on labelled pairs, and the time in which an embedder takes over.
"""

from __future__ import annotations

import functools
import os
import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import numpy as np
import orjson

from memtape.flows.embed.embedder import Embedder, EmbeddingFailure
from memtape.flows.embed.local import LocalEmbedder, model_folder
from memtape.schemas.codec import decode, encode
from memtape.schemas.embedding import EmbedderOptions
from memtape.schemas.events import Captured, Event, make_configured
from memtape.schemas.log import Slot
from memtape.schemas.scopes import partition_of
from memtape.schemas.settings import Settings
from memtape.sinks.home.settings import CHOICE_VARIABLE, prefer_embedder
from memtape.sinks.logs.opening import LOG_VARIABLE
from memtape.state.core.replay import replay
from memtape.state.fold.rule import Candidates
from memtape.state.vectors.recorded import quantised
from memtape.tools.client import Client
from memtape.tools.keep.embedding import change_over, key_of
from memtape.tools.keep.owner import Owner
from memtape.tools.measure.bench import row, synthetic, timed

BATCHES = (1, 8, 32, 128)


@click.command()
@click.option("--model", default="all-MiniLM-L6-v2", show_default=True, help="A name of the hub, or a folder.")
@click.option("--texts", default=10_000, show_default=True, help="How many memories there are to embed and switch.")
@click.option("--pairs", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Labelled pairs of texts.")
def main(model: str, texts: int, pairs: Path | None) -> None:
    """Measure embedding in a throw-away home."""
    os.environ.pop(LOG_VARIABLE, None)
    os.environ[CHOICE_VARIABLE] = "local"
    options = EmbedderOptions(choice="local", model=model)
    embedder = LocalEmbedder(options)
    _speed(embedder, options, [line.text for line in synthetic(128, ("fact",))])
    if pairs is not None:
        _pairs(embedder, pairs)
    events = _switch(options, texts)
    _replay(key_of(embedder), events)


def _speed(embedder: Embedder, options: EmbedderOptions, texts: list[str]) -> None:
    from sentence_transformers import SentenceTransformer

    direct = SentenceTransformer(str(model_folder(options)), device="cpu")
    plain = functools.partial(direct.encode, show_progress_bar=False)
    for size in BATCHES:
        some = texts[: 64 if size == 1 else len(texts)]
        batches = [some[at : at + size] for at in range(0, len(some), size)]
        ours, theirs = [], []
        for _ in range(3):
            theirs.append(timed(functools.partial(_all, plain, batches)))
            ours.append(timed(functools.partial(_all, embedder.embed_documents, batches)))
        own, other = (len(some) / statistics.median(times) for times in (ours, theirs))
        row(f"embed in batches of {size}, and the library directly", f"{own:,.0f}, {other:,.0f} texts/s")


def _all(embed: Callable[[list[str]], object], batches: list[list[str]]) -> None:
    for batch in batches:
        embed(batch)


def _embedded(embedder: Embedder, texts: list[str]) -> list[bytes]:
    made: list[bytes] = []
    for at in range(0, len(texts), 128):
        for embedding in embedder.embed_documents(texts[at : at + 128]):
            assert not isinstance(embedding, EmbeddingFailure)
            made.append(quantised(embedding))
    return made


def _replay(key: str, events: list[Event]) -> None:
    """Fold a scope of so many facts under recorded vectors, all captured before the first vector comes."""
    captured = [event for event in events if isinstance(event.body, Captured)]
    first = make_configured(captured[0].id, 1, Settings(embedder=key), 0, captured[0].sent, captured[0].id)
    slots = [Slot(0, offset, encode(event)) for offset, event in enumerate([first, *events])]
    vectors = len(events) - len(captured)
    seconds = timed(lambda: replay(slots))
    row(f"replay, {len(captured):,} facts of one scope, {vectors:,} vectors", f"{len(slots) / seconds:,.0f} events/s")
    floor = [Slot(0, offset, encode(event)) for offset, event in enumerate(captured)]
    row("replay, the same facts on the floor", f"{len(floor) / timed(lambda: replay(floor)):,.0f} events/s")


def _pairs(embedder: Embedder, path: Path) -> None:
    """Print precision and recall of the fold on pairs, each compared alone, for the floor and for the embedder."""
    from memtape.state.fold.dense import DenseCandidates

    pairs: list[dict[str, Any]] = [orjson.loads(line) for line in path.read_bytes().splitlines()]
    vectors = dict(zip(texts := sorted({p[s] for p in pairs for s in "ab"}), _embedded(embedder, texts), strict=True))
    settings = Settings()
    cosines = (60, 70, 80, settings.fold_cosine_hundredths, 90)

    def floor(pair: dict[str, Any]) -> bool:
        candidates = Candidates()
        candidates.put(1, pair["a"], 1)
        return candidates.judge(pair["b"], settings, lambda birth: birth).how == "similar"

    def dense(cosine_hundredths: int, pair: dict[str, Any]) -> bool:
        candidates = DenseCandidates()
        candidates.put(1, pair["a"], vectors[pair["a"]], 1)
        return candidates.judge(pair["b"], vectors[pair["b"]], cosine_hundredths).how == "similar"

    ways: dict[str, Callable[[dict[str, Any]], bool]] = {"floor": floor}
    ways |= {f"{embedder.name} from {cosine / 100}": functools.partial(dense, cosine) for cosine in cosines}
    for name, folds in ways.items():
        same = [folds(pair) for pair in pairs if pair["label"] == "same"]
        apart = [folds(pair) for pair in pairs if pair["label"] != "same"]
        precision = sum(same) / max(1, sum(same) + sum(apart))
        row(
            f"fold of {len(same)} + {len(apart)} pairs, {name}",
            f"precision {precision:.2f}, recall {np.mean(same):.2f}",
        )


def _switch(options: EmbedderOptions, texts: int) -> list[Event]:
    """Let an embedder take over a home of facts, and return what was captured and recorded."""
    with tempfile.TemporaryDirectory() as folder, Client(Path(folder), scope="project:bench", origin="user") as client:
        prefer_embedder(client.home, options)
        client.capture_many(list(synthetic(texts, ("fact",))))
        with Owner(client.home, client.log) as owner:
            owner.project()
            change_over(client.home, client.log, options)
            seconds = timed(owner.work)
        row(f"an embedder takes over {texts:,} memories", f"{seconds:.1f} s")
        number = partition_of(client.scope, client.log.partitions)
        slots = client.read_log(number, 0, 10 * texts, ("captured", "embedded"))
        return [decode(slot.payload) for slot in slots]


if __name__ == "__main__":
    main()
