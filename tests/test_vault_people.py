"""The vault is people's too: what somebody saved there stays, whatever Memtape writes, or is killed at."""

from __future__ import annotations

import os
import random
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from builders import captured, configured, slots
from hypothesis import example, given
from hypothesis import strategies as st
from soaked import examples
from test_shown import HOSTILE

from memtape.schemas.rows import ScopeMark, VaultPage
from memtape.schemas.visible import one_line, visible
from memtape.sinks.home.folders import Home
from memtape.sinks.page_files import ScopeFiles, kept
from memtape.sinks.vault import Vault
from memtape.state.core.partition import Partition, fold
from memtape.state.views.markdown import escape, quote
from memtape.state.views.pages import pages_of
from memtape.state.views.rows import all_changes

SCOPE = "project:a"
DAYS = ("2026-01-01", "2026-01-02", "2026-01-03")
FOLDER_CALLS = ((os, "fsync"), (os, "replace"), (os, "rename"), (os, "unlink"), (os, "mkdir"), (os, "link"))


class Killed(BaseException):
    """What nothing catches."""


def page_of(day: str, text: str) -> VaultPage:
    """Return a page of one entry, or an empty one where there is no text."""
    said = "\n".join((f"# {day}", "", *quote(text), "")) if text else ""
    return VaultPage(SCOPE, f"logs/{day}.md", said)


@contextmanager
def killed_at(nth: int) -> Iterator[None]:
    """End whatever writes before or after its nth call that changes a folder; half a file may be left.

    Nothing waits for a disk in here: these kills take no machine down.
    """
    calls = iter(range(1, 10_000))
    patch = pytest.MonkeyPatch()

    def dying(call: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            if next(calls) == nth:
                raise Killed
            result = call(*args, **kwargs)
            if next(calls) == nth:
                raise Killed
            return result

        return wrapped

    for module, name in FOLDER_CALLS:
        patch.setattr(module, name, dying((lambda _: None) if name == "fsync" else getattr(module, name)))
    try:
        yield
    finally:
        patch.undo()


def files_of(folder: Path) -> dict[str, bytes]:
    """Return the bytes of all files of a vault but our notes, and where links lead."""
    found = {}
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            found[name] = os.readlink(path).encode()
        elif path.is_file() and not name.startswith(".memtape/"):
            found[name] = path.read_bytes()
    return found


class Person:
    """Somebody who works in a vault, and knows which bytes they have saved and not taken away again."""

    def __init__(self, folder: Path, rng: random.Random) -> None:
        self.folder, self.rng, self.saved = folder, rng, list[bytes]()

    def act(self) -> None:
        """Do one thing at random."""
        twice = (self.add, self.edit)
        self.rng.choice((*twice, *twice, self.add_in_the_way, self.delete, self.rename))()

    def add(self) -> None:
        names = "idea.md memories/mine.md logs/a.png x/.obsidian/app.json logs/.b.md.new".split()
        self._save(self.folder / "projects" / "a" / self.rng.choice(names))

    def add_in_the_way(self) -> None:
        """Put something where a page has its place, also a folder, or a link that leads out of the vault."""
        folder = self.folder / "projects" / "a"
        file = folder / self.rng.choice(("MEMORY.md", "watermark.json", *(f"logs/{day}.md" for day in DAYS)))
        what = self.rng.choice(("file", "file", "link", "folder", "folder link"))
        outside = self.folder.parent / "outside"
        if what == "folder link" and not os.path.lexists(folder / "logs"):
            self._link(folder / "logs", outside)
        elif what == "link" and not os.path.lexists(file) and not self._linked(file):
            self._link(file, outside / "a.md")
        elif what == "folder" and not os.path.lexists(file) and not self._linked(file):
            self._save(file / "within.md")
        elif what == "file" and not os.path.lexists(file):
            self._save(file)

    def _link(self, path: Path, to: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(to)
        self.saved.append(str(to).encode())

    def edit(self) -> None:
        if path := self._any():
            before = path.read_bytes()
            self._forget(before)
            data = before + self._words() if self.rng.random() < 0.5 else self._words()
            path.write_bytes(data)
            self.saved.append(data)

    def delete(self) -> None:
        if path := self._any():
            self._forget(path.read_bytes())
            path.unlink()

    def _forget(self, data: bytes) -> None:
        if data in self.saved:
            self.saved.remove(data)

    def rename(self) -> None:
        if path := self._any():
            target = path.with_name(f"renamed {self.rng.randrange(10**9)}{path.suffix}")
            path.rename(target)
            if target.read_bytes() not in self.saved:
                self.saved.append(target.read_bytes())

    def lost(self) -> list[bytes]:
        """Return what was saved, and is nowhere."""
        left = list(files_of(self.folder).values())
        return [data for data in self.saved if data not in left]

    def _any(self) -> Path | None:
        names = [name for name in sorted(files_of(self.folder)) if not (self.folder / name).is_symlink()]
        return self.folder / self.rng.choice(names) if names else None

    def _save(self, path: Path) -> None:
        if self._linked(path) or path.is_dir():
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            self._forget(path.read_bytes())
        path.write_bytes(data := self._words())
        self.saved.append(data)

    def _linked(self, path: Path) -> bool:
        return any(above.is_symlink() for above in (path, *path.parents))

    def _words(self) -> bytes:
        return f"mine {self.rng.randrange(10**12)}\n".encode()


@examples(40)
@given(st.integers(0, 2**32), st.booleans())
@example(0, True)
def test_what_one_saves_stays(tmp_path_factory: pytest.TempPathFactory, seed: int, killing: bool) -> None:
    """In any life of a vault nothing that was saved is lost, the pages are right, and ours are not copied."""
    rng = random.Random(seed)
    folder = tmp_path_factory.mktemp("life")
    vault = Vault(Home(folder / "home"))
    (folder / "outside").mkdir()
    (folder / "outside" / "a.md").write_text("outside\n")
    person = Person(vault.home.vault, rng)
    person.folder.mkdir()
    texts = dict.fromkeys(DAYS, "")
    for step in range(rng.randint(1, 12)):
        for _ in range(rng.randrange(3)):
            person.act()
        changed = rng.sample(DAYS, rng.randint(1, 3))
        texts |= {day: rng.choice(("", f"said {rng.randrange(4)}")) for day in changed}
        nth = rng.randint(1, 40) if killing and rng.random() < 0.5 else 0
        try:
            with killed_at(nth):
                if rng.random() < 0.3:
                    vault.write([page_of(*it) for it in texts.items()], [ScopeMark(SCOPE, 0, step)])
                    kept_pages = {f"logs/{day}.md" for day, text in texts.items() if text}
                    vault.prune(SCOPE, kept_pages | {"watermark.json"})
                elif rng.random() < 0.1:
                    texts = dict.fromkeys(DAYS, "")
                    vault.prune(SCOPE, ())
                else:
                    vault.write([page_of(day, texts[day]) for day in changed], [ScopeMark(SCOPE, 0, step)])
        except Killed:
            person.act()
            vault.home.remove_unfinished()
        assert not person.lost(), f"seed {seed}"
    vault.write([page_of(day, text) for day, text in texts.items()], [ScopeMark(SCOPE, 0, 99)])
    found = files_of(person.folder)
    for day, text in texts.items():
        name = f"projects/a/logs/{day}.md"
        if text:
            assert found[name] == page_of(day, text).text.encode()
        else:
            assert name not in found or found[name] in person.saved
    assert not person.lost(), f"seed {seed}"
    for name in kept(vault.home):
        path = vault.home.path / name
        is_theirs = path.is_symlink() or path.is_dir() or path.read_bytes() in person.saved
        assert is_theirs, f"seed {seed}: {name} is ours"
    assert files_of(folder / "outside") == {"a.md": b"outside\n"}
    shutil.rmtree(folder)


def test_pages_whose_list_is_lost_are_told_from_notes_by_their_bytes(tmp_path: Path) -> None:
    vault = Vault(Home(tmp_path))
    pages = [page_of(day, f"said on {day}") for day in DAYS]
    vault.write(pages, [ScopeMark(SCOPE, 0, 1)])
    folder = vault.home.scope_folder(SCOPE)
    shutil.rmtree(vault.home.vault_notes)
    (folder / "logs" / f"{DAYS[0]}.md").write_text("mine")
    (folder / "logs" / ".mine.md.new").write_text("mine too")
    vault.adopt(pages, [ScopeMark(SCOPE, 0, 1)])
    listed = {*ScopeFiles(vault.home, SCOPE).listed()}
    assert listed == {f"logs/{day}.md" for day in DAYS[1:]} | {"watermark.json"}
    vault.write([page_of(day, "new") for day in DAYS], [ScopeMark(SCOPE, 0, 2)])
    assert kept(vault.home) == [f"vault/projects/a/logs/{DAYS[0]} (yours).md"]
    found = files_of(folder)
    assert (found[f"logs/{DAYS[0]} (yours).md"], found["logs/.mine.md.new"]) == (b"mine", b"mine too")


@pytest.mark.parametrize("left", [b"", b"\0" * 300])
def test_a_page_that_a_lost_machine_left_empty_is_damage_and_nobodys(tmp_path: Path, left: bytes) -> None:
    vault = Vault(Home(tmp_path))
    vault.write([page_of(DAYS[0], "one")], [])
    path = vault.home.scope_folder(SCOPE) / "logs" / f"{DAYS[0]}.md"
    path.write_bytes(left)
    vault.write([page_of(DAYS[0], "one")], [])
    assert path.read_text() == page_of(DAYS[0], "one").text
    assert kept(vault.home) == []


def test_pages_behind_a_link_out_of_the_vault_are_somebodys(tmp_path: Path) -> None:
    vault = Vault(Home(tmp_path / "home"))
    pages = [page_of(day, "said") for day in DAYS]
    vault.write(pages, [])
    logs, outside = vault.home.scope_folder(SCOPE) / "logs", tmp_path / "outside"
    logs.rename(outside)
    logs.symlink_to(outside)
    before = files_of(outside)
    vault.prune(SCOPE, {f"logs/{day}.md" for day in DAYS[1:]})
    vault.write(pages[:2], [])
    assert files_of(outside) == before
    assert not logs.is_symlink()
    assert sorted(files_of(logs)) == [f"{day}.md" for day in DAYS[:2]]
    assert kept(vault.home) == ["vault/projects/a/logs (yours)"]


# --- What agents said is data on a page ---


def test_no_mark_of_markdown_survives_unescaped() -> None:
    for said in (said for text in HOSTILE for said in text.split("\n")):
        line = re.sub(r"^&#(9|32);", "", escape(said))
        assert not re.search(r"(?<!\\)(\\\\)*[`*_\[\]<>#|~$&@^%!{}]", re.sub(r"\\[^\w\s]", "", line)), said
        assert not re.match(r"\s*([-+]\s|\d+[.)]\s|[-=]{3})", line), said
        assert not re.search(r"(?<!\\)://|www\.", line), said
        assert all(char.isprintable() or char == "\t" for char in line), said


@given(st.text())
def test_what_is_escaped_can_be_read_back_and_what_is_visible_hides_nothing(text: str) -> None:
    """Without backslashes and the entity of an indentation it is the text, its hidden characters shown."""
    shown = visible(text)
    assert all(char in "\n\t" or ord(char) >= 32 for char in shown)
    assert not set(shown) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200b\ufeff\x7f")
    assert "\n" not in one_line(text)
    for line in shown.split("\n"):
        indented = re.sub(r"^&#(9|32);", lambda found: chr(int(found[1])), escape(line))
        assert re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", indented) == line


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
    day = next(found for found in pages if found.path.startswith("logs/"))
    vault.write([VaultPage(day.scope, day.path, "")], [])
    assert day.path not in vault.read("project:test")
    assert not [path for path in tmp_path.rglob(".*") if path.is_file()]
