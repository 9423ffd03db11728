"""What replaces what without a model: in slots of one value, where something changed, and never in doubt."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path
from typing import Any

import msgspec
import pytest
from bench.replacing import main
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from tables import table

from memtape.state.text import replacements
from memtape.state.text.reading import read
from memtape.state.text.replacements import Replacement, replaces
from memtape.tools.capture.writing import Line
from memtape.tools.client import Client

DATA = Path(__file__).parent / "data"


def rows_of(name: str) -> list[dict[str, Any]]:
    return [msgspec.json.decode(row) for row in (DATA / name).read_bytes().splitlines()]


def pairs_of(name: str, label: str | None = None) -> list[tuple[str, str]]:
    """Return the pairs of a file of `tests/data`, of one label."""
    return [(row["a"], row["b"]) for row in rows_of(name) if label in (None, row.get("label"))]


REPLACED, HOLD, DIFFER = (pairs_of("replacing-own.jsonl", it) for it in ("replaced", "holds", "differs"))
"""Pairs of which the newer replaces the older, of which both hold, and of two attributes of one subject."""
OF_OTHERS = pairs_of("replacing-differ.jsonl")
"""Written by somebody who did not know the rule."""
ATTRIBUTES = {row["subject"]: row["said"] for row in rows_of("attributes.jsonl")}
"""What may be said of a subject: no two of these are values of one attribute."""


TEXTS = st.one_of(st.text(max_size=80), st.sampled_from([text for pair in REPLACED for text in pair]))


def replaced(older: str, newer: str) -> Replacement | None:
    return replaces(read(older), read(newer))


def test_values_are_replaced_and_attributes_and_what_is_in_doubt_hold() -> None:
    found = {pair: replaced(*pair) for pair in REPLACED}
    assert [pair for pair, it in found.items() if it is None or not it.whole] == []
    assert [pair for pair in HOLD if replaced(*pair) is not None] == []
    assert len(OF_OTHERS) == 200
    assert [pair for pair in (*DIFFER, *OF_OTHERS) if replaced(*pair) or replaced(*pair[::-1])] == []
    for subject, said in ATTRIBUTES.items():
        told = [f"{subject} {attribute}." for attribute in said]
        assert [pair for pair in permutations(told, 2) if replaced(*pair) is not None] == []
    pairs = pairs_of("replacing-replaces.jsonl")
    assert sum(replaced(*pair) is not None for pair in pairs) >= 0.8 * len(pairs)
    november = "Release captain for November is Ingrid."
    assert replaced(november, november.replace("November", "December")) is None
    assert replaced(november, "The release captain for November is Olaf.") == Replacement("Ingrid", True)
    found = replaced("The gate binds to port 8443, and it needs a token.", "The gate now binds to port 9443.")
    assert found is not None and not found.whole


def test_a_pair_that_is_not_compared_replaces_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the first words of a text are its number in a row."""
    texts = [text for pair in REPLACED + HOLD for text in pair]
    texts += [f"{number}. {text}" for number, text in enumerate(texts)]
    pairs = [(older, newer) for place, older in enumerate(texts) for newer in texts[place : place + 40]]
    found = [replaced(*pair) for pair in pairs]
    monkeypatch.setattr(replacements, "can_replace", lambda older, newer: True)
    assert [replaced(*pair) for pair in pairs] == found and sum(it is not None for it in found) > 50


@given(TEXTS, TEXTS)
def test_no_text_replaces_itself_and_any_text_is_read(older: str, newer: str) -> None:
    assert replaced(older, older) is None
    assert replaced(older, newer) == replaced(older, newer)


@given(st.sampled_from(REPLACED + HOLD + DIFFER), st.sampled_from(("  ", " \t")), st.booleans())
def test_how_a_text_is_written_replaces_nothing(case: tuple[str, str], space: str, ends: bool) -> None:
    for text in case:
        other = text.rstrip(".") if ends else text.replace(" ", space)
        assert replaced(text, other) is None
        assert replaced(text, text.upper()) is None


@given(st.sampled_from([pair for pair in HOLD if not pair[0][0].isdigit()]))
def test_what_adds_replaces_nothing_in_either_order(pair: tuple[str, str]) -> None:
    for word in ("also", "in addition"):
        added = f"{pair[1].rstrip('.')} {word}."
        assert replaced(pair[0], added) is None and replaced(added, pair[0]) is None


@given(st.sampled_from(REPLACED[:13]), st.sampled_from(["Ada", "Borealis", "Kiel"]))
def test_another_subject_is_another_thing(case: tuple[str, str], name: str) -> None:
    older, newer = (text[0].lower() + text[1:] for text in case)
    assert replaced(f"For {name}, {older}", f"For Zeta, {newer}") is None


def test_a_weaker_source_closes_nothing_and_an_older_text_that_arrives_late_is_closed(tmp_path: Path) -> None:
    def said(text: str, day: int, origin: str = "user") -> dict[str, str]:
        return {"text": text, "at": f"2026-03-{day:02}T09:00:00Z", "origin": origin, "kind": "fact"}

    older, newer = said(REPLACED[2][0], 1), said(REPLACED[2][1], 9)
    weak = newer | {"origin": "model"}
    cases = [
        {"id": "late", "kind": "late", "texts": [newer, older], "current": [0], "replaced": [1]},
        {"id": "weak", "kind": "weak", "texts": [older, weak], "current": [0], "replaced": []},
    ]
    path = tmp_path / "cases.jsonl"
    path.write_bytes(b"\n".join(map(msgspec.json.encode, cases)))
    shown = CliRunner().invoke(main, [str(path)])
    assert shown.exit_code == 0
    (whole,) = [line for line in shown.output.splitlines() if line.startswith("all")]
    assert "1 of   1 replaced found    0 of   2 that hold closed" in whole


@pytest.mark.parametrize(("older", "newer"), table("sentences")["goals"])
def test_the_goal_in_force_stands_above_its_former(older: str, newer: str, tmp_path: Path) -> None:
    with Client(tmp_path, scope="project:p", actor="Ada", origin="user") as client:
        dated = [(older, "2026-01-03T09:00:00Z"), (newer, "2026-02-03T09:00:00Z")]
        client.capture_many([Line(text=text, kind="goal", origin="user", at=at) for text, at in dated])
        client.project()
        for question in (older, newer):
            assert [it.text for it in client.search(question).results][:2] == [newer, older]
        assert [it.text for it in client.context().items if it.section == "goal"] == [newer]
