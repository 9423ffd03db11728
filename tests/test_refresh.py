"""Under a changed rule only what it feeds is made anew. The rest stays, file by file, and all is as after a rebuild."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import Stemmer
from builders import captured
from soaked import soaked
from test_feeds import otherwise, with_one
from test_golden_log import copy_into, golden_slots
from test_time import sound

from memtape.schemas.rows import TABLES
from memtape.sinks.home.folders import Home
from memtape.sinks.logs.embedded import EmbeddedLog
from memtape.sinks.tables import Shard
from memtape.state.core import digests
from memtape.state.core import scope as scopes
from memtape.state.core.digests import changed_rules
from memtape.state.core.scope import SUBJECTS
from memtape.state.core.subject import Subject
from memtape.state.text import lexicon, terms
from memtape.tools.keep import rebuild as rebuilding
from memtape.tools.keep import refresh as refreshing
from memtape.tools.keep.owner import Owner

Held = tuple[str, dict[str, bytes]]
"""The state hash of a home, and its pages."""
SUBJECT_OF = {subject.name: subject for subject in SUBJECTS}
PARTIAL = [subject.name for subject in SUBJECTS if not set(TABLES) <= set(subject.feeds)]
"""The subjects beside whose tables others can be kept."""


@pytest.fixture(scope="module")
def projected(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home that holds the golden log of every type of event, and its views."""
    home = Home(tmp_path_factory.mktemp("projected") / "home")
    log = copy_into(home, golden_slots())
    log.append_raw(0, [b"nobody can read this"])
    project(home, log)
    log.close()
    return home.path


@pytest.fixture
def home(projected: Path, tmp_path: Path) -> Home:
    return Home(Path(shutil.copytree(projected, tmp_path / "home")))


@pytest.fixture
def log(home: Home) -> Iterator[EmbeddedLog]:
    log = EmbeddedLog(home.log_path)
    yield log
    log.close()


def project(home: Home, log: EmbeddedLog) -> list[str]:
    notes: list[str] = []
    with Owner(home, log, notes.append) as owner:
        owner.project()
    return notes


def change(monkeypatch: pytest.MonkeyPatch, subject: Subject) -> None:
    """Let this stand in the place of a subject, under another version."""
    monkeypatch.setattr(scopes, "SUBJECTS", with_one(subject))
    monkeypatch.setattr(digests, "SUBJECTS", with_one(subject))
    monkeypatch.setitem(digests.RULES, subject.name, subject.version + 1)


def files(home: Home) -> dict[str, dict[str, int]]:
    """The files of each table by their paths, with what names their bytes on the disk."""
    found: dict[str, dict[str, int]] = {name: {} for name in (*TABLES, "dead_letters", "watermark", "index")}
    lance = home.current().path / "lance"
    for path in lance.rglob("*"):
        if path.is_file():
            place = path.relative_to(lance)
            name = place.parts[1].removesuffix(".lance").removesuffix(".json").partition("-")[0]
            found[name][str(place)] = path.stat().st_ino
    return found


def pages(home: Home) -> dict[str, tuple[int, bytes]]:
    """The files of the vault that people see, each with what names it on the disk."""
    paths = (path for path in home.vault.rglob("*.md") if path.is_file())
    return {str(path.relative_to(home.vault)): (path.stat().st_ino, path.read_bytes()) for path in paths}


def held(home: Home, log: EmbeddedLog) -> Held:
    """The state hash and the pages of views that are sound."""
    return sound(home, log).state_hash, {path: data for path, (_, data) in pages(home).items()}


def rebuilt(home: Home, log: EmbeddedLog) -> Held:
    """The same of views that are made anew from the log."""
    with Owner(home, log) as owner:
        owner.rebuild(None, lambda *_: None)
    return held(home, log)


@pytest.fixture
def another_use(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another rule of what counts as used."""
    change(monkeypatch, otherwise(SUBJECT_OF["usage"]))


@pytest.fixture(scope="module")
def expected(projected: Path, tmp_path_factory: pytest.TempPathFactory) -> Held:
    """What views hold that are made anew under that rule."""
    home = Home(Path(shutil.copytree(projected, tmp_path_factory.mktemp("expected") / "home")))
    log = EmbeddedLog(home.log_path)
    with pytest.MonkeyPatch.context() as patch:
        change(patch, otherwise(SUBJECT_OF["usage"]))
        found = rebuilt(home, log)
    log.close()
    return found


@pytest.mark.parametrize("name", soaked(PARTIAL, "usage", "memories", "pins"))
def test_a_changed_rule_makes_anew_what_it_feeds_and_nothing_else(
    home: Home, log: EmbeddedLog, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, hash_before, served = files(home), sound(home, log).state_hash, home.current().number
    # By these seeds every partition keeps a row: one without any has no views after a rebuild, and no leaf. What
    # validity has skipped under another rule its restore finds again, which by this seed shows on no page.
    seed = {"memories": 1, "validity": 0}.get(name, 3)
    change(monkeypatch, otherwise(SUBJECT_OF[name], seed))
    assert project(home, log) == [f"The views are made anew: the rules have changed ({name})."]
    after = files(home)
    assert home.current().number == served + 1
    for table, found in after.items():
        if table in SUBJECT_OF[name].feeds or table in ("watermark", "index"):
            assert set(found.values()).isdisjoint(before[table].values()), table
        else:
            assert found == before[table] != {}, table
    found = held(home, log)
    # A sparse subject has a leaf where it holds something, and this log may give it nothing.
    assert found[0] != hash_before or SUBJECT_OF[name].sparse
    assert rebuilt(home, log) == found


@pytest.mark.parametrize("name", ["captures", "tombstones", "duplicates"])
def test_a_rule_that_feeds_everything_makes_everything_anew(
    home: Home, log: EmbeddedLog, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = files(home)
    monkeypatch.setitem(digests.RULES, name, 99)
    project(home, log)
    assert all(set(found.values()).isdisjoint(before[table].values()) for table, found in files(home).items())
    sound(home, log)


@pytest.fixture
def other_tables(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """An environment with another stemmer, or another list of words; its name in the version of the rules."""
    caches = (lexicon.data_of, lexicon.common_words, lexicon.words_digest, terms._common, terms._terms_of_run)
    if request.param == "stemmer":
        monkeypatch.setattr(Stemmer, "version", lambda: "9.9.9")
        monkeypatch.setattr(terms, "_stem", lambda word, language: word[:3])
    else:
        data_of = lexicon.data_of
        monkeypatch.setattr(lexicon, "data_of", lambda name: data_of(name).replace(b" the ", b" "))
    for cached in caches:
        cached.cache_clear()
    yield request.param
    monkeypatch.undo()
    for cached in caches:
        cached.cache_clear()


@pytest.mark.parametrize("other_tables", ["stemmer", "words"], indirect=True)
def test_an_environment_with_other_tables_knows_that_it_differs_and_makes_views_anew(
    home: Home, log: EmbeddedLog, other_tables: str
) -> None:
    watermark = Shard(home.current().shard(0), 0).watermark()
    assert watermark is not None and changed_rules(watermark.rules) == [other_tables]
    assert project(home, log) == [f"The views are made anew: the rules have changed ({other_tables})."]
    assert rebuilt(home, log) == held(home, log)
    sound(home, log)
    assert project(home, log) == []


def test_pages_that_say_the_same_under_a_changed_rule_stay_where_they_are(
    home: Home, log: EmbeddedLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = pages(home)
    change(monkeypatch, SUBJECT_OF["usage"])
    project(home, log)
    assert pages(home) == before != {}


def test_views_that_were_kept_go_on(home: Home, log: EmbeddedLog, another_use: None) -> None:
    """What came onto the log since the views were last written is taken in by all tables afterwards."""
    scope = next(row.scope for row in Shard(home.current().shard(0), 0).all_rows("turns"))
    log.append([captured("The pump is green.", "pump", scope=scope), captured("Is it?", "asked", "turn", scope=scope)])
    project(home, log)
    log.append([captured("The pump is blue.", "blue", scope=scope)])
    project(home, log)
    found = held(home, log)
    assert rebuilt(home, log) == found


def cut(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def after(call: Callable[..., Any], times: int = 1) -> Callable[..., Any]:
    """A function that is interrupted when it has done so often what it does."""
    left = iter(range(times - 1, -1, -1))

    def interrupted(*args: Any, **kwargs: Any) -> Any:
        result = call(*args, **kwargs)
        if not next(left):
            raise KeyboardInterrupt
        return result

    return interrupted


CUTS: list[tuple[Any, str, Callable[[Any], Any]]] = [
    (Shard, "keep_from", after),
    (os, "link", lambda call: after(call, 7)),
    (Shard, "write_watermark", lambda call: after(call, 2)),
    (refreshing, "_make", lambda call: after(call, 2)),
    (refreshing, "verify", lambda _: cut),
    (Home, "serve", after),
    (rebuilding, "mend_vault", lambda call: after(call, 2)),
    (refreshing, "discard_old_builds", lambda _: cut),
]


@pytest.mark.parametrize("owner, step, how", soaked(CUTS, *CUTS[::2]))
def test_one_that_was_cut_short_comes_right(
    home: Home,
    log: EmbeddedLog,
    another_use: None,
    expected: Held,
    owner: Any,
    step: str,
    how: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before, served = files(home), home.current().number
    with monkeypatch.context() as patch:
        patch.setattr(owner, step, how(getattr(owner, step)))
        with pytest.raises(KeyboardInterrupt):
            project(home, log)
    project(home, log)
    assert [build.number for build in home.builds()] == [served + 1]
    assert files(home)["tombstones"] == before["tombstones"] != {}
    assert held(home, log) == expected


def test_one_that_was_cut_short_goes_on_where_it_was(
    home: Home, log: EmbeddedLog, another_use: None, expected: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(refreshing, "verify", cut)
        with pytest.raises(KeyboardInterrupt):
            project(home, log)
    monkeypatch.setattr(refreshing, "_make", cut)  # Nothing is left to be made.
    project(home, log)
    assert held(home, log) == expected


def test_what_was_kept_by_mistake_is_found_and_made_anew(
    home: Home, log: EmbeddedLog, expected: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    change(monkeypatch, otherwise(SUBJECT_OF["usage"])._replace(feeds=("edges", "vault")))
    (_, found) = project(home, log)
    assert found.startswith("What was kept differs from the log (") and "memories" in found
    assert held(home, log) == expected


def damage(home: Home) -> None:
    path = next((home.current().shard(0) / "turns.lance" / "data").iterdir())
    path.write_bytes(path.read_bytes()[:-9])


def note_damage(home: Home) -> None:
    home.current().note_damage(0)


@pytest.mark.parametrize("how", [damage, note_damage])
def test_damaged_views_are_all_made_anew(
    home: Home, log: EmbeddedLog, another_use: None, expected: Held, how: Callable[[Home], None]
) -> None:
    before = files(home)
    how(home)
    project(home, log)
    assert set(files(home)["memories"].values()).isdisjoint(before["memories"].values())
    assert held(home, log) == expected
