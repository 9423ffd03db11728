"""What agents said is data on a page: it shows as itself and makes nothing else."""

from __future__ import annotations

import re
from pathlib import Path

from builders import captured, configured, slots
from hypothesis import given
from hypothesis import strategies as st
from test_shown import HOSTILE

from memtape.schemas.rows import DayPage
from memtape.schemas.visible import one_line, visible
from memtape.sinks.home.folders import Home
from memtape.sinks.markdown import escape
from memtape.sinks.vault import Vault
from memtape.state.core.partition import Partition, fold
from memtape.state.views.pages import pages_of
from memtape.state.views.rows import all_changes


def test_no_mark_of_markdown_survives_unescaped() -> None:
    for said in (said for text in HOSTILE for said in text.split("\n")):
        line = re.sub(r"^&#(9|32);", "", escape(said))
        assert not re.search(r"(?<!\\)(\\\\)*[`*_\[\]<>#|~$&@^%!{}]", re.sub(r"\\[^\w\s]", "", line)), said
        assert not re.match(r"\s*([-+]\s|\d+[.)]\s|[-=]{3})", line), said
        assert not re.search(r"(?<!\\)://|www\.", line), said
        assert all(char.isprintable() or char == "\t" for char in line), said


@given(st.text())
def test_what_is_escaped_can_be_read_back(text: str) -> None:
    """Without backslashes and the entity of an indentation it is the text, its hidden characters written out."""
    for line in visible(text).split("\n"):
        indented = re.sub(r"^&#(9|32);", lambda found: chr(int(found[1])), escape(line))
        assert re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", indented) == line


@given(st.text())
def test_visible_text_hides_nothing(text: str) -> None:
    shown = visible(text)
    assert all(char in "\n\t" or ord(char) >= 32 for char in shown)
    assert not set(shown) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200b\ufeff\x7f")
    assert "\n" not in one_line(text)


def test_joiners_of_emoji_and_other_scripts_are_left_alone() -> None:
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467 \u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"
    assert visible(family) == family
    assert visible("pass\u200dword") == "pass<U+200D>word"


def test_a_page_is_written_only_when_it_changed_and_never_half(tmp_path: Path) -> None:
    vault = Vault(Home(tmp_path))
    partition = Partition(0)
    fold(partition, slots([configured(), captured("Hello.", 1, "turn")]))
    pages = pages_of(partition, all_changes(partition.scopes["project:test"]))
    vault.write(pages, [])
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.md")}
    assert before
    vault.write(pages, [])
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.md")} == before
    empty = next(found for found in pages if isinstance(found, DayPage))
    vault.write([DayPage(scope=empty.scope, path=empty.path, day=empty.day, entries=())], [])
    assert empty.path not in vault.read("project:test")
    assert not [path for path in tmp_path.rglob(".*") if path.is_file()]
