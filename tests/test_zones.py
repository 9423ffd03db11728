"""Zones of people in pages: found in any bytes, kept to the byte, lost in no life of a page; and what leads.

What becomes of their texts on the log is in `test_zones_taken.py`.
"""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import builders
import pytest
from builders import START, captured, configured, decided, histories, make_id, recalled, slots, used
from hypothesis import example, given
from hypothesis import strategies as st
from soaked import examples
from test_vault_people import Killed, killed_at

from memtape.schemas.events import Event, Operation, make_tick
from memtape.schemas.places import NOTE, NOTE_OF_GLOBAL, ZONE_END, ZONE_START, zone_source
from memtape.schemas.settings import Settings
from memtape.schemas.times import DAY_US
from memtape.sinks import page_files
from memtape.sinks.home.folders import Home
from memtape.sinks.page_files import kept
from memtape.sinks.vault import Vault
from memtape.sinks.zones import inner, is_untouched, joined, parts
from memtape.state.core.erasures import erasures_of
from memtape.state.core.partition import Partition, fold, restore, snapshot
from memtape.state.core.scope import Scope
from memtape.state.subjects.leading import key_of
from memtape.state.text.markdown import new_zone, points, written
from memtape.state.views.page_texts import INDEX_LINES_BESIDE_FACTS, leading_facts
from memtape.state.views.pages import page, pages_of
from memtape.state.views.rows import all_changes

SCOPE = "project:test"
RENAME = os.replace
"""Somebody's own, which no kill of ours ends."""
START_LINE, END_LINE = ZONE_START.encode(), ZONE_END.encode()
PAGES = st.sampled_from((b"", b"# A page\n", b"# A page\n\n- one\n- two\n\nlinks\n", b"\xc3\xa9\n"))
ZONES = st.binary(max_size=60).filter(lambda data: b"<!--" not in data)
LINES = st.sampled_from(
    ("- a", "  - b c", "* x", "1. one", "12) two", "para", "  cont", "", "# head", "---", "***", "<!-- c -->",
     "```", "    code", "~~~", "> q", "- [ ] task", "-", "- - z", "- # no head", "- ```", "+ + +", "\t- t",
     "- 1. x", "- ---", "- <!-- a -->", "## ", "- 2) ", "-x", "1.x", "1. ---", "- - -", "1. -", "\x0b", "é",
     "- \u2028")
)  # fmt: skip


@given(PAGES, ZONES, st.integers(0, 3))
def test_a_zone_is_found_wherever_it_stands(ours: bytes, said: bytes, at: int) -> None:
    zone = START_LINE + b"\n" + said + b"\n" + END_LINE
    assert parts(joined(ours, zone)) == (ours, zone) and inner(zone) == said + b"\n"
    blocks = [block for block in ours.strip(b"\n").split(b"\n\n") if block]
    place = min(at, len(blocks))
    moved = b"\n\n".join([*blocks[:place], zone, *blocks[place:]]) + b"\n"
    assert parts(moved) == (ours, zone)
    saved = parts(b"\xef\xbb\xbf" + joined(ours, zone).replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))
    assert saved is not None and saved.ours == ours
    assert (saved.zone or b"").replace(b"\r", b"") == zone.replace(b"\r", b"")


DAMAGED = {
    "no start": lambda text: text.replace(ZONE_START + "\n", ""),
    "no end": lambda text: text.replace(ZONE_END + "\n", ""),
    "two starts": lambda text: text.replace(ZONE_START, f"{ZONE_START}\n{ZONE_START}"),
    "two ends": lambda text: text.replace(ZONE_END, f"{ZONE_END}\n{ZONE_END}"),
    "two zones": lambda text: text + text[text.index(ZONE_START) :],
    "the wrong order": lambda text: text.replace(ZONE_END, ZONE_START).replace(ZONE_START, ZONE_END, 1),
    "words beside a mark": lambda text: text.replace(ZONE_START, f"{ZONE_START} mine"),
    "words before a mark": lambda text: text.replace(ZONE_END, f"and {ZONE_END}"),
    "a mark with a slip": lambda text: text.replace("from here", "from hre"),
    "a mark in a line": lambda text: text.replace(f"{ZONE_START}\n", ZONE_START),
    "both marks in one line": lambda text: text[: text.index(ZONE_START)] + f"{ZONE_START} mine {ZONE_END}\n",
    "cut short": lambda text: text[: text.index(ZONE_END) + 9],
    "another encoding": lambda text: text.encode("utf-16"),
    "nothing but words": lambda text: "Something else.",
}


@pytest.mark.parametrize("how", [*DAMAGED])
def test_a_page_whose_marks_are_damaged_is_kept_whole_beside(tmp_path: Path, how: str) -> None:
    vault = Vault(Home(tmp_path))
    (index,) = [one for one in pages_with("It holds.") if one.path == "MEMORY.md"]
    vault.write([index], [])
    path = vault.home.scope_folder(SCOPE) / "MEMORY.md"
    path.write_text(path.read_text().replace(NOTE, f"{NOTE}\n- My line.\n"))
    damaged: Any = DAMAGED[how](path.read_text())
    data = damaged if isinstance(damaged, bytes) else damaged.encode()
    path.write_bytes(data)
    for _ in range(2):
        vault.write([index], [])
    assert path.read_bytes() == joined(index.text.encode(), new_zone(()).encode())
    (name,) = kept(vault.home)
    assert (vault.home.path / name).read_bytes() == data


@pytest.mark.parametrize("how", ["a link", "a folder", "read only", "unreadable"])
def test_what_is_no_file_to_be_written_is_kept_or_carried(tmp_path: Path, how: str) -> None:
    vault = Vault(Home(tmp_path / "home"))
    (index,) = [one for one in pages_with("It holds.") if one.path == "MEMORY.md"]
    vault.write([index], [])
    path = vault.home.scope_folder(SCOPE) / "MEMORY.md"
    mine = path.read_bytes().replace(NOTE.encode(), b"- My line.")
    path.write_bytes(mine)
    if how == "a link":
        path.rename(tmp_path / "mine.md")
        path.symlink_to(tmp_path / "mine.md")
    elif how == "a folder":
        path.rename(tmp_path / "mine.md")
        path.mkdir()
        (tmp_path / "mine.md").rename(path / "mine.md")
    else:
        path.chmod(0o400 if how == "read only" else 0)
    (later,) = [one for one in pages_with("It holds.", "So does this.") if one.path == "MEMORY.md"]
    vault.write([later], [])
    found = parts(path.read_bytes())
    assert found is not None and found.ours == later.text.encode()
    if how in ("a link", "a folder"):
        assert kept(vault.home) and is_untouched(found.zone or b"")
        held = tmp_path / "mine.md" if how == "a link" else vault.home.path / kept(vault.home)[0] / "mine.md"
        assert held.read_bytes() == mine
    elif os.getuid() == 0 or how == "read only":
        assert b"- My line." in (found.zone or b"") and not kept(vault.home)


@examples(100)
@given(st.lists(LINES, max_size=14))
@example(["1. ---", "para"])
def test_what_is_written_anew_says_the_same(lines: list[str]) -> None:
    texts = [point.text for point in points("\n".join(lines))]
    assert [point.text for point in points(written(texts))] == texts
    zone = new_zone(texts).encode()
    assert [point.text for point in points(inner(zone).decode())] == texts


@pytest.mark.parametrize("note", [NOTE, NOTE_OF_GLOBAL, NOTE.replace(" what ", "\n  what "), f"{NOTE}\r"])
@pytest.mark.parametrize("where", range(4))
def test_a_line_anywhere_in_a_zone_is_a_text_without_the_note(note: str, where: int) -> None:
    lines = [note, "- A point.", "A paragraph."]
    lines.insert(where, "Typed by hand.")
    zone = new_zone((), "\n".join(lines)).encode()
    said = {point.line: point.text for point in points(inner(zone).decode())}
    assert "Typed by hand." in "\n".join(said.values()) and "Yours" not in "".join(said.values())
    written = inner(zone).decode().split("\n")
    assert all(written[line - 1].removeprefix("- ") == text.split("\n")[0] for line, text in said.items())
    if where < 2:
        assert "Typed by hand." in said.values()


def test_points_and_paragraphs_are_texts_and_headings_are_none() -> None:
    said = "# Mine\n- one\n  goes on\n* two\n  - three\n\na paragraph\nof two lines\n1. four\n"
    said += "---\n```\n- code\n\nmore\n```\n-"
    assert [(point.line, point.text) for point in points(said)] == [
        (2, "one\ngoes on"), (4, "two"), (5, "three"), (7, "a paragraph\nof two lines"), (9, "four"),
        (11, "```\n- code\n\nmore\n```"),
    ]  # fmt: skip


def pages_with(*texts: str) -> list[Any]:
    """The pages of a scope of which these texts were captured."""
    partition = Partition(0)
    fold(partition, slots([configured(), *(captured(text, number) for number, text in enumerate(texts))]))
    return pages_of(partition, all_changes(partition.scopes[SCOPE]))


class Writer:
    """Somebody who edits the zone of a page, and knows which bytes of it they have saved last."""

    def __init__(self, path: Path, rng: random.Random) -> None:
        self.path, self.rng = path, rng
        self.zone: bytes | None = None
        self.whole: list[bytes] = []
        """What was saved with damaged marks, or with changes beside the zone."""

    def save(self) -> None:
        """Save the page: with another zone, moved, with damaged marks, or with words beside the zone."""
        try:
            before = self.path.read_bytes()
        except FileNotFoundError:
            return
        found = parts(before)
        if found is None or (found.zone is None and self.path.name == "MEMORY.md"):
            return
        if before in self.whole:
            self.whole.remove(before)  # They change what they had saved themselves.
        how = self.rng.choice(("zone", "zone", "zone", "moved", "crlf", "damaged", "beside"))
        one, other = (self.rng.randrange(10**9) for _ in "ab")
        mine = b"%s\n- mine %d\n\xff%d\n%s" % (START_LINE, one, other, END_LINE)
        data = joined(found.ours, mine)
        if how == "moved":
            data = mine + b"\n\n" + found.ours
        elif how == "crlf":
            data = data.replace(b"\n", b"\r\n")
        elif how == "damaged":
            data = data.replace(self.rng.choice((START_LINE, END_LINE)), b"")
            mine = b""
        elif how == "beside":
            data = b"Mine beside.\n" + data
        in_place = self.rng.random() < 0.5
        target = self.path if in_place else self.path.with_name("saving.tmp")
        target.write_bytes(data)
        if not in_place:
            RENAME(target, self.path)
        again = parts(data)
        self.zone = again.zone if again is not None else None
        if how == "damaged" or b"Mine beside." in data:
            self.whole.append(data)


@contextmanager
def saving_between(person: Writer, chance: float) -> Iterator[None]:
    """Let somebody save while a page is being written: after it was read, and before it takes its name."""
    patch, write = pytest.MonkeyPatch(), page_files.write_whole

    def slow(path: Path, *args: Any, **kwargs: Any) -> bool:
        if path == person.path and person.rng.random() < chance:
            person.save()
        return write(path, *args, **kwargs)

    patch.setattr(page_files, "write_whole", slow)
    try:
        yield
    finally:
        patch.undo()


@examples(40)
@given(st.integers(0, 2**32), st.booleans())
@example(1481, True)
@example(1669810, True)
def test_no_zone_is_lost(tmp_path_factory: pytest.TempPathFactory, seed: int, killing: bool) -> None:
    rng = random.Random(seed)
    folder = tmp_path_factory.mktemp("zone")
    vault = Vault(Home(folder))
    path = vault.home.scope_folder(SCOPE) / rng.choice(("MEMORY.md", "memories/001.md"))
    person = Writer(path, rng)
    for step in range(rng.randint(1, 8)):
        if rng.random() < 0.6:
            person.save()
        written_pages = pages_with(*(f"text {step} {number}" for number in range(rng.randint(1, 3))))
        nth = rng.randint(1, 30) if killing and rng.random() < 0.4 else 0
        try:
            with killed_at(nth), saving_between(person, 0.3):
                if rng.random() < 0.15:
                    vault.prune(SCOPE, ())
                else:
                    vault.write(written_pages, [])
        except Killed:
            vault.home.remove_unfinished()
        files = [other.read_bytes() for other in folder.rglob("*") if other.is_file()]
        assert [whole for whole in person.whole if whole not in files] == [], f"seed {seed}"
        if person.zone is not None:
            held = [data for data in files if person.zone in data]
            assert held, f"seed {seed}: a zone is lost"
            assert all(data.count(person.zone) == 1 for data in held), f"seed {seed}: a zone stands twice"
            if path.exists() and not nth:
                now = parts(path.read_bytes())
                assert now is not None and now.zone == person.zone, f"seed {seed}"
    vault.write(pages_with("the end"), [])
    last = next(one for one in pages_with("the end") if path.as_posix().endswith(one.path))
    found = parts(path.read_bytes())
    assert found is not None and found.ours == last.text.encode(), f"seed {seed}"
    shutil.rmtree(folder)


def test_what_is_saved_at_the_last_moment_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An editor has the page open when the page gets its new bytes, and writes to what it has opened."""
    vault = Vault(Home(tmp_path))
    vault.write(pages_with("It holds."), [])
    path = vault.home.scope_folder(SCOPE) / "MEMORY.md"
    replace = Path.replace
    with path.open("r+b") as editor:

        def late(self: Path, target: Path) -> Path:
            result = replace(self, target)
            if target == path:
                editor.truncate(0)
                editor.write(b"what was typed")
                editor.flush()
            return result

        monkeypatch.setattr(Path, "replace", late)
        vault.write(pages_with("It holds.", "So does this."), [])
    (name,) = kept(vault.home)
    assert (vault.home.path / name).read_bytes() == b"what was typed"


def scope_of(events: list[Event]) -> tuple[Partition, Scope]:
    partition = Partition(0, erasures_of(slots(events)))
    fold(partition, slots([configured(), *events]))
    return partition, partition.scopes[SCOPE]


@given(histories(), st.data())
def test_what_leads_is_the_same_however_it_is_folded(events: list[Event], data: st.DataObject) -> None:
    rest = slots([configured(), *events])
    partition = Partition(0, erasures_of(rest))
    looked = data.draw(st.lists(st.booleans(), min_size=len(rest), max_size=len(rest)))
    for slot, look in zip(rest, looked, strict=True):
        fold(partition, [slot])
        for scope in partition.scopes.values() if look else ():
            assert list(scope.leading.births(scope)) == in_order(scope)
    for scope in (*partition.scopes.values(), *restore(snapshot(partition)).scopes.values()):
        assert list(scope.leading.births(scope)) == in_order(scope)


def in_order(scope: Scope) -> list[int]:
    """The births of what may stand in `MEMORY.md`, all of them looked at and sorted."""
    facts = [it for it in scope.memories.living() if scope.captures.by_seq[it.birth].family == "fact"]
    return [it.birth for it in sorted(facts, key=lambda it: key_of(it, scope))]


def test_pins_come_first_then_use_then_recalls_then_confirmations_then_the_latest_and_models_last() -> None:
    texts = ("latest", "older", "confirmed", "recalled", "recalled more", "used", "pinned", "of a model")
    by: Any = dict.fromkeys(texts, "user") | {"of a model": "model"}
    events = [captured(f"The {it} thing.", it, origin=by[it], sent=START - n) for n, it in enumerate(texts)]
    events.append(captured("The confirmed thing.", "again", sent=START - 100))
    events += [recalled(["recalled"], f"a {number}") for number in range(1)]
    events += [recalled(["recalled more"], f"b {number}") for number in range(2)]
    events += [recalled(["of a model"], f"c {number}") for number in range(9)]
    events += [used(["used"], "use"), used(["of a model"], "use of it"), builders.pinned(["pinned"], "pin")]
    _, scope = scope_of(events)
    facts = leading_facts(scope, Settings(), [])
    assert [row.text.removeprefix("The ").removesuffix(" thing.") for row in facts] == [
        "pinned", "used", "recalled more", "recalled", "confirmed", "latest", "older", "of a model",
    ]  # fmt: skip


# Ada speaks like a person before an agent speaks under her name on the same day.
ONE_NAME = [captured(f"Ada says {text}", text, sent=START) for text in ("one", "two", "three")]
ONE_NAME += [captured("The build is green.", "four", "turn", origin="agent", sent=START)]
# The scope holds no text, but was dormant until somebody asked something there.
ASLEEP_AND_AWAKE = [
    configured(Settings(dormant_after_days=1), 1), used([], "first"),
    make_tick(0, START + 2 * DAY_US, accepted=True), used([], "last", sent=START + 2 * DAY_US),
]  # fmt: skip
# The only text of the scope was to stand for a text that there is not.
MAKING = Operation(by=make_id("made"), ids=(make_id("none"),), op="replace")
FOR_NOTHING = [decided(["none"], [MAKING], "pass"), captured("In short, 1.", "made", kind="journal")]


@example(FOR_NOTHING)
@example(ONE_NAME)
@example(ASLEEP_AND_AWAKE)
@given(histories())
def test_the_pages_as_they_are_kept_are_the_pages_as_they_are_made(events: list[Event]) -> None:
    """Whatever moves a line of a page is a change that has the page written, recalls included."""
    rest = slots([configured(), *events])
    partition = Partition(0, erasures_of(rest))
    shown: dict[tuple[str, str], str] = {}
    for slot in rest:
        for one in pages_of(partition, fold(partition, [slot])):
            shown[one.scope, one.path] = one.text
    changes = [change for scope in partition.scopes.values() for change in all_changes(scope)]
    made = {(one.scope, one.path): text for one in pages_of(partition, changes) if (text := one.text)}
    assert {key: text for key, text in shown.items() if text} == made


@given(st.integers(0, 110), st.integers(0, 90), st.integers(60, 100))
def test_the_lines_of_the_zone_are_those_of_people(facts: int, own: int, lines: int) -> None:
    source = zone_source("MEMORY.md")
    events = [captured(f"fact {n} of {n * 7}\nwith a second line", n) for n in range(facts)]
    events += [captured(f"my line {number}", f"own {number}", source=source) for number in range(own)]
    events += [captured("taken out", "out", source=source), builders.withdrawn(["out"], "gone")]
    events += [captured("A claim.", "claim", source=source, origin="agent")]
    events += [captured("a goal", "g", "goal"), captured("a plan\n" * 50, "p", "plan")]
    events += [captured("said", f"t{day}", "turn", sent=START + day * DAY_US) for day in range(3)]
    _, scope = scope_of(events)
    settings = Settings(memory_page_lines=lines)
    index, shown = page(scope, "MEMORY.md", settings), leading_facts(scope, settings, [])
    assert index.zone == new_zone(f"my line {number}" for number in range(own))
    assert not [row for row in shown if "my line" in row.text]
    assert (
        len(shown)
        == index.text.count("\n- ")
        == max(0, min(facts + 1, lines - INDEX_LINES_BESIDE_FACTS - own))
    )
    whole = joined(index.text.encode(), index.zone.encode())
    assert whole.count(b"\n") <= max(lines, own + INDEX_LINES_BESIDE_FACTS)
