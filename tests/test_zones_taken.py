"""What people write in zones becomes events, each text once, taken back with its line; their notes stay."""

from __future__ import annotations

import random
import shutil
import threading
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from commanding import call as run
from commanding import document
from hypothesis import example, given
from hypothesis import strategies as st
from met import events_of
from soaked import examples
from test_vault_people import Killed, files_of, killed_at

from memtape.schemas.events import Captured, Event, Withdrawn
from memtape.schemas.placeholders import PLACEHOLDER
from memtape.schemas.places import NOTE, NOTE_OF_GLOBAL, ZONE_END, ZONE_START, zone_source
from memtape.sinks.home.folders import Home
from memtape.sinks.page_files import kept, zone_problems
from memtape.sinks.zones import inner, parts
from memtape.state.text.markdown import points
from memtape.tools.capture.native_ids import CLAUDE_CODE
from memtape.tools.client import Client
from memtape.tools.importing.watching import QUIET_S, Watcher
from memtape.tools.keep.owner import Owner
from memtape.tools.keep.zones import Zones

SCOPE = "project:a"
SOURCE = zone_source("MEMORY.md")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.setenv("MEMTAPE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("MEMTAPE_SESSION", "a shell's")
    return Home(tmp_path / "home")


@pytest.fixture
def page(home: Home) -> Path:
    """`MEMORY.md` of a scope of which one fact was captured."""
    capture("The staging port is 5433.")
    project()
    return home.scope_folder(SCOPE) / "MEMORY.md"


def project() -> Any:
    return run("run", "--once", "--no-embed")


def capture(text: str, scope: str = SCOPE, origin: str = "user", **more: str) -> str:
    options = [word for name, value in more.items() for word in (f"--{name}", value)]
    return str(document("capture", text, "--scope", scope, "--origin", origin, *options)["id"])


def save(page: Path, *lines: str | bytes) -> Any:
    """Save a page with these lines between its marks, and bring the views up to date."""
    put(page, *lines)
    return project()


def put(page: Path, *lines: str | bytes) -> None:
    """Save a page with these lines between its marks."""
    found = parts(page.read_bytes())
    assert found is not None
    said = b"".join((line if isinstance(line, bytes) else line.encode()) + b"\n" for line in lines)
    page.write_bytes(found.ours + b"\n" + ZONE_START.encode() + b"\n" + said + ZONE_END.encode() + b"\n")


def shown(home: Home, source: str = SOURCE) -> list[str]:
    """The texts of a zone that hold, as the log says."""
    return sorted(body_of(event).text for event in living(events(home), source).values())


def events(home: Home) -> list[Event]:
    with Client(home.path, scope=SCOPE) as client:
        return events_of(client.log)


def living(found: list[Event], source: str = SOURCE) -> dict[str, Event]:
    """The captures of a zone that are not withdrawn, by their ids."""
    on = {id: event.body.on for event in found if isinstance(event.body, Withdrawn) for id in event.body.ids}
    held = {it.id: it for it in found if isinstance(it.body, Captured) and it.body.source == source}
    return {id: event for id, event in held.items() if not on.get(id)}


def body_of(event: Event) -> Captured:
    assert isinstance(event.body, Captured)
    return event.body


def sourced(home: Home) -> list[Event]:
    """The captures that come of a file."""
    return [it for it in events(home) if isinstance(it.body, Captured) and it.body.source]


def once_each(found: list[Event]) -> bool:
    """Whether no capture stands on the log twice."""
    counts = Counter(event.id for event in found if isinstance(event.body, Captured))
    return all(count == 1 for count in counts.values())


def listed(page: Path) -> list[str]:
    """The lines under *What holds*, without their links."""
    found = parts(page.read_bytes())
    assert found is not None
    lines = found.ours.decode().partition("## What holds")[2].split("\n")
    return [line[2:].partition(" [")[0] for line in lines if line.startswith("- ")]


def test_a_line_is_captured_by_whoever_owns_the_home_and_taken_back_with_it(home: Home, page: Path) -> None:
    put(page, NOTE, "# Mine", "- Backups run at three.", "", "A paragraph", "of two lines.")
    written = page.read_bytes()
    project()
    first, second = sourced(home)
    texts = [body_of(first).text, body_of(second).text]
    assert texts == ["Backups run at three.", "A paragraph\nof two lines."]
    assert (first.actor.origin, body_of(first).kind, first.session) == ("user", "fact", None)
    assert abs(first.at - page.stat().st_mtime_ns // 1_000) < 60_000_000
    assert page.read_bytes().endswith(parts(written).zone + b"\n")  # type: ignore[union-attr, operator]
    assert listed(page) == ["The staging port is 5433."]
    assert "Backups" in run("search", "backups", "--scope", SCOPE).stdout
    save(page, "- Backups run at four.")
    assert shown(home) == ["Backups run at four."]
    save(page, "- Backups run at three.")
    project()
    assert shown(home) == ["Backups run at three."] and once_each(events(home))
    assert run("verify").exit_code == 0 and kept(home) == []


def test_the_zone_of_another_page_is_taken_too_and_no_note_of_somebodys(home: Home, page: Path) -> None:
    other = page.parent / "memories" / "001.md"
    marked = f"{ZONE_START}\n- In a page.\n{ZONE_END}\n"
    other.write_text(other.read_text() + marked)
    (page.parent / "memories" / "mine.md").write_text(marked.replace("page", "note"))
    (page.parent / "idea.md").write_text(marked.replace("page", "idea"))
    (page.parent / "MEMORY (yours).md").write_text(marked.replace("page", "copy"))
    project()
    assert shown(home, zone_source("memories/001.md")) == ["In a page."]
    assert [body_of(event).text for event in sourced(home)] == ["In a page."]
    other.unlink()
    project()
    run("rebuild")
    assert b"- In a page." in other.read_bytes() and run("verify").exit_code == 0


def test_secrets_are_taken_out_and_what_is_too_long_or_no_utf8_stays(home: Home, page: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    save(page, f"- The token is {secret}.")
    (text,) = shown(home)
    assert secret not in text and PLACEHOLDER.search(text)
    assert secret in page.read_text()
    shutil.rmtree(home.vault)
    project()
    project()
    assert text in page.read_text()
    assert shown(home) == [text] and once_each(events(home))
    said = save(page, "- short", "- " + "long " * 20_000)
    assert "MEMORY.md, line 2 of your zone" in said.stderr and "long" in page.read_text()
    assert shown(home) == ["short"]
    assert "line 2 of your zone" in run("status").stdout
    assert "not UTF-8" in save(page, b"- short", b"- \xff\xfe").stderr
    assert b"\xff\xfe" in page.read_bytes()
    assert shown(home) == ["short"]
    assert len(document("status")["zones"]) == 1
    assert "MEMORY.md" not in save(page, "- short").stderr
    assert zone_problems(home) == [] and run("verify").exit_code == 0


def test_damaged_marks_take_nothing_back_and_are_told(home: Home, page: Path) -> None:
    save(page, "- One.", "- Two.")
    page.write_text(page.read_text().replace(ZONE_END, "").replace("- Two.", "- Three."))
    capture("Something else.")
    said = project()
    assert "its marks are not one pair" in said.stderr and "kept as" in said.stderr
    assert shown(home) == ["One.", "Two."]
    assert "- One.\n- Two.\n" in page.read_text()
    (name,) = kept(home)
    assert "- Three." in (home.path / name).read_text()
    project()
    assert shown(home) == ["One.", "Two."] and run("verify").exit_code == 0


def test_what_is_forgotten_stays_in_the_file_and_is_not_captured_anew(home: Home, page: Path) -> None:
    save(page, "- The codename is Zebrafish.", "- Other.")
    (id,) = (id for id, event in living(events(home)).items() if "Zebrafish" in body_of(event).text)
    run("forget", id, "--scope", SCOPE)
    project()
    for lines in (["- Other."], ["- Other.", *["- The codename is Zebrafish."] * 2]):
        save(page, *lines)
    assert page.read_text().count("Zebrafish") == 2
    assert "Zebrafish" not in run("search", "zebrafish", "--scope", SCOPE).stdout
    assert run("verify").exit_code == 0


def test_what_is_erased_is_named_by_file_and_line_and_is_not_captured_again(home: Home, page: Path) -> None:
    text = "The codename is Zebrafish-Quokka and the vault opens at dawn."
    save(page, "# Mine", "- Other.", f"- {text}")
    (id,) = (id for id, event in living(events(home)).items() if "Zebrafish" in body_of(event).text)
    result = run("erase", id, "--scope", SCOPE, code=1)
    line = page.read_text().split("\n").index(f"- {text}") + 1
    assert '"vault/projects/a/MEMORY.md (your zone)" holds it' in result.stdout
    assert f"first at line {line})" in result.stdout
    assert "stands in files of your own" in result.output
    said = document("erase", id, "--scope", SCOPE, code=1)
    assert not [place for place in said["after"]["files"] if place["found"] and not place["own"]]
    for lines in ([f"- {text}", "- Other."], [f"- {text}", f"- {text}"], ["- Other."], [f"- {text}"]):
        save(page, *lines)
        assert not [it for it in sourced(home) if "Zebrafish" in body_of(it).text]
        assert text in page.read_text() or f"- {text}" not in lines
    save(page, "- Other.")
    assert run("verify").exit_code == 0
    assert "holds it" not in run("erase", id, "--scope", SCOPE, code=None).stdout


def test_nothing_of_the_zone_of_global_is_captured_and_the_zone_stays(home: Home) -> None:
    capture("Everybody signs commits.", "global", "operator")
    project()
    page = home.scope_folder("global") / "MEMORY.md"
    assert NOTE_OF_GLOBAL in page.read_text()
    assert "not taken" not in run("status").stdout
    assert "only operators write to global" in save(page, "- Mine for all.").stderr
    assert "- Mine for all." in page.read_text()
    assert "only operators write to global" in run("status").stdout
    assert sourced(home) == []
    assert run("verify").exit_code == 0


def test_watch_takes_what_is_saved(home: Home, page: Path, tmp_path: Path) -> None:
    now = [0.0]
    with Client(home.path, scope=SCOPE) as client:
        taken: list[object] = []
        folders = {CLAUDE_CODE: [tmp_path / "claude"]}
        watcher = Watcher(client, SCOPE, folders, taken.append, lambda: now[0])
        for number, text in enumerate(("One.", "Two.")):
            put(page, f"- {text}")
            watcher.changed([page, page.with_name("idea.txt")])
            watcher.index_due()
            assert len(taken) == number
            now[0] += QUIET_S
            watcher.index_due()
            watcher.index_due()
            assert shown(home) == [text]
        assert taken == [(None, 1, 0), (None, 2, 0)]


def test_a_run_that_stays_takes_what_is_saved_meanwhile_and_writes_the_page(home: Home, page: Path) -> None:
    with Client(home.path, scope=SCOPE) as client, Owner(home, client.log) as owner:
        thread = threading.Thread(target=owner.serve)
        thread.start()
        try:
            time.sleep(1.0)
            put(page, "- The staging port is 5433.")
            until = time.monotonic() + 30
            while listed(page) and time.monotonic() < until:
                time.sleep(0.2)
        finally:
            owner.stop()
            thread.join(30)
    assert listed(page) == [] and shown(home) == ["The staging port is 5433."]
    assert run("verify").exit_code == 0


def test_two_that_read_one_zone_at_once_capture_it_once(home: Home, page: Path) -> None:
    put(page, *(f"- line {number}" for number in range(200)))
    with Client(home.path, scope=SCOPE) as one, Client(home.path, scope=SCOPE) as other:
        both = [Zones(home, client.log) for client in (one, other)]
        threads = [threading.Thread(target=zones.once) for zones in both]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(zones.done for zones in both) == [0, 200]
    assert len(shown(home)) == 200 and once_each(events(home))


def test_a_log_that_went_back_is_told_the_zone_again(home: Home, page: Path, tmp_path: Path) -> None:
    backup = tmp_path / "backup.db"
    run("admin", "copy", "--to", str(backup))
    save(page, "- One.")
    for path in home.path.glob("log.db*"):
        path.unlink()
    shutil.copy(backup, home.log_path)
    project()
    project()
    assert shown(home) == ["One."] and once_each(events(home))
    assert run("verify").exit_code == 0


HAPPENINGS = ("run", "rebuild", "killed", "killed", "two readers", "lost page", "lost notes", "capture")
LINES = ("- One.", "- Two.", "- Three, at 5433.", "A paragraph.", "# A heading", "", "- One.", "- two.")


@examples(8)
@given(st.integers(0, 2**32))
@example(1)
@example(4989)
@example(631973105)
@example(3279921165)
def test_the_log_says_what_the_zone_says(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    """Edits, captures, runs, rebuilds, kills and losses at random; then log, zone and page agree."""
    rng = random.Random(seed)
    home = Home(tmp_path_factory.mktemp("life"))
    page = home.scope_folder(SCOPE) / "MEMORY.md"
    with Client(home.path, scope=SCOPE, origin="user") as client:
        client.capture("It is so.")
        client.project()
        for _ in range(6):
            lines = [rng.choice(LINES) for _ in range(rng.randrange(5))]
            if page.exists() and parts(page.read_bytes()) is not None:
                put(page, *lines)
            do(rng.choice(HAPPENINGS), home, client, page, rng)
        client.project()
        client.project()
        if not page.exists():
            do("rebuild", home, client, page, rng)  # Nothing has changed that stands there.
        found = events_of(client.log)
        zone = parts(page.read_bytes())
        assert zone is not None and zone.zone is not None
        said = [point.text for point in points(inner(zone.zone).decode())]
        texts = sorted(body_of(event).text for event in living(found).values())
        assert texts == sorted(dict.fromkeys(said)), f"seed {seed}"
        assert once_each(found), f"seed {seed}: captured twice"
        assert page.read_bytes().count(ZONE_START.encode()) == 1
        assert client.verify().ok and kept(home) == [], f"seed {seed}"


def do(what: str, home: Home, client: Client, page: Path, rng: random.Random) -> None:
    """Let one thing of a life happen."""
    match what:
        case "capture":
            client.capture(f"It is so {rng.randrange(9)} times.")
        case "rebuild":
            with Owner(home, client.log) as owner:
                owner.rebuild()
        case "killed":
            read_and_die(Zones(home, client.log), rng.randint(1, 6))
        case "two readers":
            for zones in (Zones(home, client.log), Zones(home, client.log)):
                zones.catch_up()
        case "lost page":
            client.project()
            page.unlink(missing_ok=True)
        case "lost notes":
            shutil.rmtree(home.zones, ignore_errors=True)
        case _:
            client.project()


def read_and_die(zones: Zones, nth: int) -> None:
    """Read the zones until their nth change of a folder or append, and end there, before or after it."""
    log, calls = zones.log, iter(range(1, 10_000))
    patch, append = pytest.MonkeyPatch(), log.append

    def dying(found: Any) -> Any:
        if next(calls) == nth:
            raise Killed
        result = append(found)
        if next(calls) == nth:
            raise Killed
        return result

    patch.setattr(log, "append", dying)
    try:
        with killed_at(nth), suppress(Killed):
            zones.catch_up()
    finally:
        patch.undo()
    zones._home.remove_unfinished()


TEXT = "The codename is Zebrafish-Quokka and the vault opens at dawn."


@pytest.fixture
def folder(home: Home) -> Path:
    """Where somebody works: the vault of a scope with two pages."""
    capture("The staging port is 5433.", kind="fact")
    capture(TEXT, kind="turn", at="2026-01-02")
    project()
    return home.scope_folder(SCOPE)


def notes(folder: Path) -> dict[str, bytes]:
    """Put what people keep beside pages, and return it."""
    made = {
        "idea.md": b"# mine\n", ".obsidian/a.json": b"{}", "memories/mine.md": b"me", "logs/a.canvas": b"{}",
        "memory.txt": b"a file without .md", "images/a.png": b"\x89PNG\0\0",
    }  # fmt: skip
    for name, data in made.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    (folder / "out.md").symlink_to(folder.parent.parent.parent / "log.db")
    return made


def mine(folder: Path, made: dict[str, bytes]) -> bool:
    return (folder / "out.md").is_symlink() and made.items() <= files_of(folder).items()


def test_a_line_in_a_page_is_kept_beside_and_said(home: Home, folder: Path) -> None:
    page = folder / "MEMORY.md"
    page.write_text(page.read_text() + "A line of mine.\n")
    assert "changed: vault project:a MEMORY.md" in run("verify", code=1).stdout
    capture("Anna deploys on Tuesdays.")
    said = project()
    name = "vault/projects/a/MEMORY (yours).md"
    assert f'kept as "{name}"' in said.stderr
    assert "A line of mine." in (home.path / name).read_text()
    assert "Tuesdays" in page.read_text() and "A line of mine." not in page.read_text()
    for command in ("status", "verify"):
        assert name in run(command).stdout
        assert document(command)["kept"] == [name]
    page.write_text("Another line of mine.\n")
    assert "(yours 2)" in run("rebuild").stderr
    run("verify")
    (home.path / name).unlink()
    assert document("status")["kept"] == ["vault/projects/a/MEMORY (yours 2).md"]


def test_a_scope_that_the_log_has_no_longer_takes_our_pages_and_no_notes(home: Home, folder: Path) -> None:
    made = notes(folder)
    page = folder / "logs" / "2026-01-02.md"
    page.write_text("mine now\n")
    for path in home.path.glob("log.db*"):
        path.unlink()
    run("capture", "Something else.", "--scope", "project:b")
    run("rebuild")
    assert mine(folder, made)
    left = {name for name in files_of(folder) if name not in made}
    assert left == {"out.md", "logs/2026-01-02 (yours).md"}
    run("verify")


def test_erasing_says_which_notes_hold_it_and_takes_it_out_of_the_rest(home: Home, folder: Path) -> None:
    id = capture(TEXT, kind="turn", at="2026-01-03")
    first = document("search", "codename", "--scope", SCOPE)["results"][0]["id"]
    project()
    made = notes(folder)
    (folder / "idea.md").write_text(f"# Mine\n{TEXT}\n")
    (folder / "data.idx").write_bytes(b"LANCE, as somebody else understands it")
    page = folder / "logs" / "2026-01-03.md"
    page.write_text(page.read_text() + "A line of mine.\n")
    run("erase", first, "--scope", SCOPE, code=None)
    said = document("erase", id, "--scope", SCOPE, code=1)
    own = {place["path"] for place in said["after"]["files"] if place["own"] and place["found"]}
    assert own == {"vault/projects/a/idea.md", "vault/projects/a/logs/2026-01-03 (yours).md"}
    assert not [place for place in said["after"]["files"] if place["found"] and not place["own"]]
    assert not said["ok"]
    assert TEXT in (folder / "idea.md").read_text()
    made.pop("idea.md")
    assert mine(folder, made)
    for name in ("idea.md", "logs/2026-01-03 (yours).md"):
        (folder / name).unlink()
    assert "Not proven" in run("erase", id, "--scope", SCOPE, code=None).output
    run("verify")


@pytest.mark.parametrize("lists", ["there", "lost"])
@pytest.mark.parametrize("command", ["rebuild", "run", "erase", "verify"])
def test_notes_stay_where_lists_of_pages_are_lost(home: Home, folder: Path, command: str, lists: str) -> None:
    """Whatever comes first, also with events behind the views: no page of ours is taken for a note."""
    if lists == "lost":
        shutil.rmtree(home.vault_notes)
    made = notes(folder)
    run("verify")
    first = document("search", "codename", "--scope", SCOPE)["results"][0]["id"]
    if command != "erase":
        capture("Anna deploys on Tuesdays.")
    words = {"erase": ("erase", first, "--scope", SCOPE), "run": ("run", "--once", "--no-embed")}
    run(*words.get(command, (command,)))
    project()
    assert kept(home) == []
    assert mine(folder, made)
    run("verify")
