"""Readers of secrets are asked only where a text has what they need, and no text with a secret is passed over.

All readers are tried in full, as if every text had whatever they need, and find no more than the gates let through.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from secret_cases import drawn, false_cases, true_cases
from soaked import examples, soaked

from memtape.tools.capture.secrets import assigned, commands, known, urls
from memtape.tools.capture.secrets.known import FoundSecret
from memtape.tools.capture.secrets.places import SPACES, Places, Stems
from memtape.tools.capture.secrets.redaction import READERS, SecretReader, found_in

EVERYTHING = Stems(-1)
COUNT = 1_000
OUTSIDE = Path(__file__).parent / "data" / "outside_cases.jsonl.zst"
ODD = ["ſ", "ı", "İ", "\u212a", "\ud800", "é", "ß", "🔑", "\x00", "\xa0", "\u2003", "，", "：", "ς", "\r\n", "\x85"]
BETWEEN = ["", "\n", " ", "\n\n", " | ", "\t", ", ", ": ", "=", '"', "'", "`", "/", "@", "```\n", "> "]
CASES = (str.upper, str.lower, str.title, str.swapcase)


def sources(rng: random.Random, step: int) -> list[str]:
    """Return each of so many texts with secrets of all kinds and look-alikes, and what these hardly have."""
    outside = [json.loads(line)["text"] for line in zstandard.decompress(OUTSIDE.read_bytes()).splitlines()]
    word = drawn(rng, "abcdefgh", 4) + drawn(rng, "JKLMN", 3) + drawn(rng, "234567", 3)
    return [
        *outside[::step],
        *(case.text for seed in ("true cases", "gates") for case in true_cases(seed)[::step]),
        *(case.text for case in false_cases("gates")[::step]),
        f"db.example.org:5432:app:ada:{word}",
        f"ada:{word}@tcp(db:3306)/app and ada/{word}@//db.example.org:1521/app",
        f"echo {word} | sudo -S true",
        f"sudo -S true <<< {word}",
        f"GET /things?api_key={word}&page=2",
        f"apiVersion: v1\nkind: Secret\ndata:\n  password: {word}A1\n",
        f"| user | password |\n|---|---|\n| ada | {word} |",
        f"Private-Lines: 2\n{drawn(rng, 'abcdefgh', 64)}\n{drawn(rng, 'abcdefgh', 60)}\n",
        f"MIIEpAIBA{drawn(rng, 'Aabcdefgh', 80)} MIIEpAIBAA{drawn(rng, 'ABCabcdefgh', 80)}",
        "mot\u2003de passe : " + word,
    ]


def texts(rng: random.Random, count: int, step: int) -> Iterator[str]:
    """Yield each source as it is, and then so many that are cut and put together, in other cases, with odd letters."""
    given = sources(rng, step)
    yield from given
    for _ in range(count):
        text = rng.choice(BETWEEN).join(rng.choice(given)[:1_500] for _ in range(rng.choice((1, 1, 2, 3))))
        for _ in range(rng.randrange(3)):
            place = rng.randrange(len(text) + 1)
            text = rng.choice(
                (
                    rng.choice(CASES)(text),
                    text[place:],
                    text[:place] + rng.choice(ODD + BETWEEN) + text[place:],
                    json.dumps(text),
                    "".join({"s": "ſ", "i": "ı", "k": "\u212a"}.get(char, char) for char in text),
                    text.replace(" ", "\n"),
                )
            )
        yield text


class Asked(Places):
    """Places that note for which gates readers ask; `able` is by default what the text has."""

    def __init__(self, text: str, able: Stems | None = None) -> None:
        super().__init__(text)
        self.gates: set[Stems] = set()
        self.able = self.able if able is None else able

    def may(self, sought: Stems) -> bool:
        self.gates.add(sought)
        return super().may(sought)

    def found(self, *readers: SecretReader) -> list[FoundSecret]:
        return list(found_in(self, readers or READERS))


@pytest.mark.parametrize(
    ("seed", "count", "step"), soaked([(1, 300, 3), (1, COUNT, 1), (2, 50 * COUNT, 1)], (1, 300, 3))
)
def test_a_gate_never_passes_over_what_a_reader_finds(seed: int, count: int, step: int) -> None:
    """In each source, or in each of so many, and in texts that are made of them."""
    rng = random.Random(seed)
    gates: set[Stems] = {reader.needs for reader in READERS}
    met: set[Stems] = set()
    finding, passed = set[SecretReader](), set[SecretReader]()
    for number, text in enumerate(texts(rng, count, step)):
        whole, places = Asked(text, EVERYTHING).found(), Asked(text)
        assert places.found() == whole, (seed, number, text)
        passed |= {reader for reader in READERS if not places.able & reader.needs}
        if whole:
            gates |= places.gates
            finding |= {reader for reader in READERS if reader not in finding and places.found(reader)}
            # A gate was met where the text, without what the gate asks for, would lose a secret.
            tried = (gate for gate in gates - met if places.able & gate)
            met |= {gate for gate in tried if Asked(text, Stems(~gate)).found() != whole}
    assert met == gates and len(gates) > len(READERS) + 5, "No text reached what stands behind some gates."
    assert finding == passed == set(READERS)


TOLD_ELSEWHERE = {"WIFI:", "otpauth"}
"""These are said somewhere before the secret, so that a text without them has no such secret by definition."""


@pytest.mark.parametrize("begins, pattern", sorted({(begins, pattern) for _, begins, pattern in known._FORMATS}))
@examples(4)
@given(data=st.data())
def test_what_a_format_begins_with_is_in_whatever_it_matches(begins: str, pattern: str, data: st.DataObject) -> None:
    text = data.draw(st.from_regex(re.compile(pattern)))
    assert begins in TOLD_ELSEWHERE or any(anchor in text for anchor in begins.split()), text
    assert begins in TOLD_ELSEWHERE or set(Places(text).among(known._ANCHORS)) & set(begins.lower().split())


EXPRESSIONS: list[tuple[str | re.Pattern[str], Stems]] = [
    *((pattern, known._OF_LIBRARY) for _, pattern in known._of_library()),
    (known._ENCODED_KEY, known._ENCODED_MARKS),
    (known._KEY_MARK, known._KEY_MARKS),
    (known._PUTTY, known._KEY_MARKS),
    (assigned._PGPASS, assigned._COLONS),
    (assigned._NAMES, assigned._NAMES_STEMS),
    (urls._DRIVER, urls._DRIVERS),
    (urls._QUERY, urls._PARAMETERS),
    (urls._URL_USER, urls._ADDRESSES),
    (commands._PIPED, commands._PIPES),
    (commands._HERE, commands._HERES),
]
"""Expressions that are tried anywhere in a text, each with the gate before it."""


@pytest.mark.parametrize("pattern, gate", EXPRESSIONS, ids=range(len(EXPRESSIONS)))
@examples(4)
@given(data=st.data())
def test_a_gate_is_open_for_whatever_its_expression_matches(
    pattern: str | re.Pattern[str], gate: Stems, data: st.DataObject
) -> None:
    text = data.draw(st.from_regex(re.compile(pattern)))
    assert Places(text).may(gate), text


def test_spaces_are_those_of_expressions() -> None:
    assert "".join(char for char in map(chr, range(0x110000)) if re.match(r"\s", char)) == "".join(sorted(SPACES))
