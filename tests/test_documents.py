"""A document is cut at headings and sentences, each part knows its place, the whole reads back as it was."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from builders import captured
from commanding import call, document
from hypothesis import example, given
from hypothesis import strategies as st
from met import events_of

from memtape.schemas.errors import InvalidEvent, MemtapeError, NotFound
from memtape.schemas.events import Captured, Erased, Event
from memtape.schemas.ids import derived_id
from memtape.schemas.places import Place, place_in
from memtape.tools.capture.documents import MAX_OVERLAP_CHARS, MAX_PART_CHARS, cuts, parts_of, text_of
from memtape.tools.capture.writing import Line
from memtape.tools.client import Client
from memtape.tools.query.inspection import joined

SCOPE = "project:test"
DOCUMENT = derived_id("captured", SCOPE, None, "a document")
GUIDE = "".join(
    f"## Chapter {chapter}\n\n"
    + "".join(f"The tide gauge number {chapter}-{n} is read at noon. " for n in range(60))
    + "\n\n"
    for chapter in range(4)
)

PIECES = [
    *("\r\n", "\n\n", "\n", " ", "\t", ". ", "! ", "。", "\r", "# A title\n", "## B\r\n", "Under\n===\n"),
    *("```\n# no\n```\n", "海", "\U0001f469\u200d\U0001f467", "e\u0301", "\0", "\u2028", "\x85", "x" * 1_200),
    *("word", " " * 1_500, "\n" * 1_100),
]
TEXTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=30), max_size=120).map("".join) | st.builds(
    lambda piece, count: (piece * count)[:100_000], st.sampled_from(PIECES), st.integers(1, 2_000)
)


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    with Client(tmp_path / "home", scope=SCOPE, actor="Ada", origin="user") as client:
        yield client


def events(client: Client) -> list[Event]:
    """Return the captures of the scope as they stand on the log."""
    return [event for event in events_of(client.log) if event.type == "captured"]


def bodies(client: Client) -> list[Captured]:
    return [event.body for event in events(client) if isinstance(event.body, Captured)]


@given(TEXTS)
@example("x" * 100_000)
@example("word " * 20_000)
@example("\r\n" * 3_000 + "x")
@example(GUIDE)
def test_any_text_reads_back_from_its_parts_which_overlap_no_more_than_they_may(text: str) -> None:
    for one, next in pairwise(cuts(text)):
        assert one.start < next.start <= one.end < next.end
        assert one.end - next.start <= MAX_OVERLAP_CHARS
    body = captured(text, kind="document", path="guide.md").body
    assert isinstance(body, Captured)
    made = parts_of(body, SCOPE, DOCUMENT)
    if len(text) <= MAX_PART_CHARS or not text.strip():
        assert made == []
        return
    assert made == parts_of(body, SCOPE, DOCUMENT)
    placed = [(said.text, place_in(said.path)) for _, said in made]
    assert joined((said, place) for said, place in placed if place) == text
    ids = [id for _, place in placed if place for id in place.ids(SCOPE)]
    assert [id for id, _ in made] == ids[: len(made)]
    for number, (_, said) in enumerate(made):
        assert len(said.text) <= MAX_PART_CHARS and said.text.strip()
        assert said.part is not None and (said.part.index, said.part.count) == (number, len(made))


def test_cuts_are_at_sentences_and_parts_say_their_titles() -> None:
    found = cuts(GUIDE)
    assert len(found) > 8
    for one, next in pairwise(found):
        assert GUIDE[one.start : one.end].rstrip().endswith("noon.")
        assert GUIDE[next.start :].startswith(("The tide gauge", "## Chapter"))
        assert (one.end > next.start) is not GUIDE[next.start :].startswith("##")
    long = "A sentence that fills. " * 60
    text = f"# Guide\n\n{long}\n\n## Install\n\n{long}\n\n```sh\n# no title\n```\n\nLinux\n-----\n\n{long}\n"
    said = [text_of(text, cut) for cut in cuts(text)]
    assert said[0].startswith("# Guide") and said[1].startswith("Guide\n\nA sentence")
    assert any(part.startswith("Guide\n\n## Install") for part in said)
    assert any(part.startswith("Guide › Install\n\nA sentence") for part in said)
    assert any(part.startswith("Guide\n\nLinux\n-----") for part in said)
    assert any(part.startswith("Guide › Linux\n\nA sentence") for part in said)
    assert not any("no title\n\n" in part.partition("\n\n")[0] for part in said)


@given(st.none() | st.text(min_size=1, max_size=50),
       st.integers(1, 9_999).flatmap(lambda count: st.tuples(st.integers(1, count), st.just(count))),
       st.integers(0, 10**9), st.integers(1, 1_000))  # fmt: skip
def test_a_place_reads_back(path: str | None, numbers: tuple[int, int], start: int, length: int) -> None:
    place = Place(path, *numbers, start, start + length, DOCUMENT)
    assert place_in(str(place)) == place
    assert place_in(path) is None or "&document=" in str(path)


def test_a_document_is_captured_in_parts_and_reads_back(client: Client) -> None:
    receipt = client.capture(GUIDE, "document", path="guide.md", tags=("tides",))
    said = bodies(client)
    assert len(said) == len(cuts(GUIDE)) and all(body.tags == ("tides",) for body in said)
    for event in events(client):
        whole = client.whole(event.id)
        assert (whole.text, whole.id, whole.path, whole.parts) == (GUIDE, receipt.id, "guide.md", len(said))
    client.project()
    assert client.whole(receipt.id[:13]).text == GUIDE
    (result,) = client.search("tide gauge 2-41", limit=1).results
    place = place_in(result.path)
    assert place is not None and place.path == "guide.md" and "2-41" in result.text
    assert result.text.startswith("Chapter 2\n\n")


def test_a_short_document_is_whole_a_blank_one_refused_and_a_secret_redacted(client: Client) -> None:
    id = client.capture("Short.", "document").id
    assert [body.part for body in bodies(client)] == [None]
    assert client.whole(id).text == "Short."
    for wrong in (" \n" * 2_000, "half \ud800 " * 500):
        with pytest.raises(InvalidEvent):
            client.capture(wrong, "document")
    secret = "ghp_" + "a1B2c3D4e5F6" * 3
    text = GUIDE[:3_000] + f" The token is {secret}. " + GUIDE[3_000:]
    whole = client.whole(client.capture(text, "document").id)
    before, _, after = text.partition(secret)
    assert whole.text.startswith(before) and whole.text.endswith(after)
    assert secret not in whole.text and "[redacted:" in whole.text


def test_a_part_that_is_forgotten_or_erased_is_named(client: Client) -> None:
    client.capture(GUIDE, "document", path="guide.md")
    ids = [event.id for event in events(client)]
    client.project()
    client.forget(ids[2])
    with pytest.raises(MemtapeError, match=r"part 3 \(forgotten or") as told:
        client.whole(ids[0])
    assert f"restore({ids[2]})" in told.value.hint
    client.restore(ids[2])
    assert client.whole(ids[0]).text == GUIDE
    client.append("erased", Erased(ids=(ids[4],)), SCOPE)
    with pytest.raises(MemtapeError, match=r"part 5 \(erased\)"):
        client.whole(ids[0])
    with pytest.raises(NotFound):
        client.whole(ids[4])


def test_a_document_is_captured_once_and_never_again_after_a_part_was_erased(client: Client) -> None:
    line = Line(text=GUIDE, kind="document", source="files", native_id="guide")
    made = client.events_of(line, {})
    client.capture_many([line])
    assert [event.id for event in client.events_of(line, {})] == [event.id for event in made]
    client.capture_many([line])
    client.project()
    status = client.status()
    assert (status.memories, status.duplicates) == (len(made), len(made))
    client.append("erased", Erased(ids=(made[3].id,)), SCOPE)
    with pytest.raises(InvalidEvent, match="erased"):
        client.events_of(line, {})


def test_show_whole_writes_the_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMTAPE_HOME", str(tmp_path / "home"))
    text = GUIDE.replace("\n", "\r\n") + "\x1b[31mred"
    with Client(tmp_path / "home", scope=SCOPE, origin="user") as client:
        id = client.capture(text, "document", path="guide.md").id
    assert call("show", id, "--whole", scope=SCOPE).stdout_bytes == text.encode()
    found = document("show", id, "--whole", scope=SCOPE)
    assert (found["text"], found["path"]) == (text, "guide.md")
    shown = call("show", id, scope=SCOPE).stdout
    assert f"guide.md, part 1 of {found['parts']}, characters 1 to " in shown
    searched = call("search", "tide gauge 3-17", "--limit", "1", scope=SCOPE).stdout
    assert "guide.md, part " in searched and "3-17 is read at noon" in searched
