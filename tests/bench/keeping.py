"""Train the weights that tell which sentences are worth keeping: `python tests/bench/keeping.py`.

It learns from all messages and turns that nobody holds back, and writes `state/text/worth.json`; that needs
scikit-learn, which is in no lock. `tests/bench/typed.py` says what it is worth on messages held back.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import click
import msgspec
import orjson

from memtape.state.text.reading import read, words_in
from memtape.state.text.statements import has_identifier, tidied
from memtape.state.text.worth import BIAS, cues_of

DATA = Path(__file__).parents[1] / "data"
WEIGHTS = Path(__file__).parents[2] / "state" / "text" / "worth.json"
LEAST_SEEN, LEAST_WEIGHT = 2, 200
"""A cue of fewer sentences, or of a smaller weight in ten-thousandths, is left out."""
LEAST_WORDS, SAME_CHARS = 3, 25
BESIDE = 0.3  # The weight of a sentence beside the one worth keeping.
MADE_UP = 0.5  # The weight of a sentence that was written with a rule in mind.


class Case(NamedTuple):
    """The cues of a sentence, whether it is worth keeping, and how much it counts."""

    cues: list[str]
    is_worth: bool
    weight: float


def cases() -> Iterator[Case]:
    """Yield the sentences to learn from."""
    for row in _rows("typed-talk"):
        if row["half"] == "dev":
            yield from _cases_of(row["text"], row["remember"], row.get("says", ""), 1.0)
    for row in _rows("statements"):
        if row["half"] == "dev" and row.get("text") and row["role"] == "person":
            said = " / ".join(row["text"][it["start"] : it["end"]] for it in row["expected"])
            yield from _cases_of(row["text"], bool(said), said, 1.0)
    for row in _rows("statements-of-others"):
        yield from _cases_of(row["text"], row["label"] == "fact", "", 1.0)
    for name in ("standing-instructions", "standing-instructions-seen-since"):
        for row in _rows(name):
            yield from _cases_of(row["text"], True, "", MADE_UP) if row["standing"] else ()
    told = msgspec.toml.decode((DATA / "told-statements.toml").read_bytes())
    worth = [*(text for text, _ in told["stated"]), *told["told_of_a_project"]]
    for text in worth:
        yield from _cases_of(text, True, "", MADE_UP)
    for text in (*told["told_of_nothing"], *told["sounds_stated"], *told["talk"]):
        yield from _cases_of(text, False, "", MADE_UP)


def _rows(name: str) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in (DATA / f"{name}.jsonl").read_bytes().splitlines()]


def _cases_of(text: str, is_worth: bool, says: str, weight: float) -> Iterator[Case]:
    """Yield the sentences of a message; `says` is the part worth keeping, by default all."""
    says = " ".join(says.split())
    for place, sentence in enumerate(it for it in read(text).sentences if not it.is_output):
        said = sentence.said
        if len(words_in(said)) < LEAST_WORDS:
            continue
        found = cues_of(tidied(said), is_first=not place, is_of_thing=has_identifier(said))
        is_part = is_worth and (not says or _is_part(said, says))
        yield Case(
            list(dict.fromkeys(found)), is_part, weight if is_part or not is_worth else weight * BESIDE
        )


def _is_part(said: str, says: str) -> bool:
    parts = [says[:SAME_CHARS], *(part for part in re.split(r"[.;,/] ", says) if len(part) > SAME_CHARS // 2)]
    return said[:SAME_CHARS] in says or any(part in said for part in parts)


def weights_of(learned: list[Case]) -> dict[str, int]:
    """Return the weight of each cue, in ten-thousandths."""
    from sklearn.feature_extraction import DictVectorizer
    from sklearn.linear_model import LogisticRegression

    seen = Counter(cue for case in learned for cue in case.cues)
    rows = [{cue: 1 for cue in case.cues if seen[cue] >= LEAST_SEEN} for case in learned]
    vectorizer = DictVectorizer()
    model = LogisticRegression(C=0.3, max_iter=3_000, class_weight="balanced")
    counts = [case.weight for case in learned]
    model.fit(vectorizer.fit_transform(rows), [case.is_worth for case in learned], sample_weight=counts)
    learned_weights = zip(vectorizer.get_feature_names_out(), model.coef_[0], strict=True)
    weights = {str(cue): round(10_000 * float(weight)) for cue, weight in learned_weights}
    bias = round(10_000 * float(model.intercept_[0]))
    return {BIAS: bias} | {cue: it for cue, it in sorted(weights.items()) if abs(it) >= LEAST_WEIGHT}


@click.command()
def main() -> None:
    """Train the weights, and write them."""
    WEIGHTS.write_bytes(orjson.dumps(weights_of(list(cases()))) + b"\n")


if __name__ == "__main__":
    main()
