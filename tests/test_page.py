"""The page of one's own machine: what each view answers, what an action does; looks append nothing."""

# ruff: noqa: F811  (fixtures are handed in by their names)

from __future__ import annotations

import logging
import re
import shlex
import shutil
from collections.abc import Callable, Iterator
from html import unescape
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
from bench.living import SCOPE
from commanding import call
from hypothesis import given
from hypothesis import strategies as st
from page_served import EMPTY, Page, living, own, page, served  # noqa: F401
from soaked import examples, soaked

from memtape.schemas.events import Embedded, make_embedded, make_tick
from memtape.schemas.scopes import partition_of
from memtape.schemas.times import DAY_US
from memtape.sinks.home.counts import HomeCounts
from memtape.tools.capture.writing import now_us
from memtape.tools.client import Client
from memtape.tools.page import acting
from memtape.tools.page.drawing import VIEWS

NOWHERE = "00000000-0000-8000-8000-000000000000"
PATHS = [view.path for view in VIEWS]
LISTED = [view.path for view in VIEWS if view.is_listed]


def shown(answer: httpx.Response) -> str:
    """Return the text of a view as people read it, on one line."""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", answer.text)).split())


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """The page of a home in which nothing is, for looking alone."""
    with served(tmp_path_factory.mktemp("empty") / "new", EMPTY) as page:
        yield page


@pytest.mark.parametrize("path", LISTED)
def test_each_view_of_an_empty_home_answers(page: Page, empty: Page, path: str) -> None:
    assert page.get(path, scope=EMPTY).status_code == 200
    answer = empty.get(path)
    assert answer.status_code == 200 and answer.text.count("<h1") == 1


THEN = ("2026-08-20T12:00:00Z", "20d", "0/30")
LOOKS = [(path, THEN[n % 3 :: 3]) for n, path in enumerate(LISTED)] + [(path, THEN) for path in LISTED]
"""Each view at one of the times, or at all of them."""


@pytest.mark.parametrize(("path", "then"), soaked(LOOKS, *LOOKS[: len(LISTED)]))
def test_each_view_answers_now_and_as_of_then(page: Page, path: str, then: tuple[str, ...]) -> None:
    for given_ in ({}, *({"at": at} for at in then)):
        answer = page.get(path, **given_)
        assert answer.status_code == 200, shown(answer)[:400]
        assert answer.text.count("<h1") == 1 and "server-timing" in answer.headers
        assert page.get(path, scope="global", **given_).status_code == 200


def test_a_view_says_what_it_does_not_have(page: Page) -> None:
    assert "There is no such view" in page.get("/nothing").text
    for path, asked, status in (
        ("/memory", {"id": NOWHERE}, 404), ("/memory", {"id": "zz"}, 404), ("/memory", {}, 400),
        ("/nothing", {}, 404), ("/", {"scope": "project: no/ne"}, 400), ("/search", {"q": "x" * 5_000}, 400),
    ):  # fmt: skip
        assert page.get(path, **asked).status_code == status, path


NAMES = st.sampled_from(
    """scope at id q limit kind origin tier tag without archived budget form by words session since other diff
least after type settled every do token""".split()
)
VALUES = st.one_of(
    st.sampled_from(["", "0", "-1", "1", "9" * 14, "1e3", "global", SCOPE, NOWHERE, "turn", "0/5", "99/1"]),
    st.sampled_from(["3d", "2026-09-01T00:00:00Z", "9999-12-31", "0001-01-01", "\x00", "..", "<b>", "{{7}}"]),
    st.text(max_size=40),
)


@examples(20)
@given(st.sampled_from(PATHS), st.lists(st.tuples(NAMES, VALUES), max_size=6))
def test_no_parameter_breaks_a_view(page: Page, path: str, pairs: list[tuple[str, str]]) -> None:
    before = page.ends()
    told = [(name, value.encode("utf-8", "replace").decode()) for name, value in pairs]
    answer = page.http.get(path, params=told)
    assert answer.status_code in (200, 303, 400, 404), (path, told, answer.text[-300:])
    assert page.ends() == before


def test_a_project_that_sleeps_is_looked_at_and_sleeps_on(tmp_path: Path) -> None:
    with Client(tmp_path, scope=SCOPE, origin="user") as client:
        id = client.capture("The gateway of the lighthouse listens on port 7001.").id
        number = partition_of(SCOPE, client.log.partitions)
        for step in range(1, 5):
            client.log.append([make_tick(number, now_us() + step * 60 * DAY_US)])
            client.project()
        assert client.reader.life(SCOPE).is_purged
        with served(tmp_path) as page:
            before = page.ends()
            assert "have left the views" in shown(page.get("/home"))
            for path in LISTED:
                assert page.get(path, q="gateway", words="the").status_code == 200
            assert "No view holds this capture" in page.get("/memory", id=id).text
            assert page.ends() == before
        assert client.reader.life(SCOPE).is_purged


def test_projects_do_not_mix(tmp_path: Path) -> None:
    words = {"project:a": "xylophone", "project:b": "kazoo"}
    ids: dict[str, str] = {}
    for scope, word in words.items():
        with Client(tmp_path, scope=scope, origin="user", session=f"{word}-session") as client:
            ids[scope] = client.capture(f"The {word} stands in the hall.").id
            client.search(f"where is the {word}")
            client.archive([client.capture(f"A {word} was sold.").id])
            client.forget(client.capture(f"The {word} is loud.").id)
            client.capture(f"In all my projects, say {word}.", kind="turn")
    with served(tmp_path, "project:a") as page:
        for path in LISTED:
            answer = page.get(path, q="hall", diff="1", settled="1")
            assert answer.status_code == 200 and "kazoo" not in answer.text, path
        assert page.get("/memory", id=ids["project:b"]).status_code == 404
        assert page.act("forget", [ids["project:b"]], scope="project:a").status_code == 404
        assert "xylophone" not in page.get("/search", q="hall", scope="project:b").text


def test_the_tree_is_drawn_and_a_deep_search_tells_its_steps(tmp_path: Path) -> None:
    with Client(tmp_path, scope=SCOPE, origin="user") as client:
        client.capture("The winch of the slipway takes 4 tonnes.")
        client.new_page("slipway", "# The slipway\n\n<b>Where boats are drawn up.</b>")
        client.new_page("slipway/winch", "The winch takes 4 tonnes.", under="slipway")
        client.new_page("alone", "Nobody leads here.")
        client.link_pages("_root", "alone", "child", undo=True)
        client.project()
    with served(tmp_path) as page:
        drawn = page.get("/tree").text
        assert drawn.index("The slipway") < drawn.index("slipway/winch") < drawn.index("Below no page")
        assert drawn.index("Below no page") < drawn.index("<code>alone</code>") and "<b>Where" not in drawn
        before = page.ends()
        deep = page.get("/search", q="winch of the slipway", deep="1").text
        assert "look 1 scouts" in deep and "look 1 gate" in deep and page.ends() == before
        assert "look 1" not in page.get("/search", q="winch of the slipway").text


def test_the_hint_of_an_empty_tree_writes_a_page(own: Page) -> None:
    empty = own.get("/tree", scope=EMPTY).text
    (command,) = re.findall(r"No page yet. <code>memtape (.*?)</code>", empty, re.S)
    call(*shlex.split(unescape(command)), home=own.home, code=0)
    drawn = shown(own.get("/tree", scope=EMPTY))
    assert "1 page." in drawn and "No page yet" not in drawn


def done(page: Page, do: str, ids: list[str], **given_: str) -> httpx.Response:
    """Do a deed by one form, and return the view with its bar."""
    before = page.ends()
    answer = page.act(do, ids, **given_)
    assert answer.status_code == 200 and page.ends() != before, shown(answer)
    assert 'class="bar"' in answer.text and answer.text.count("<h1") == 1
    return answer


STANDS = {"forget": "hidden", "archive": "archived_at", "pin": "pinned"}


@pytest.mark.parametrize(("do", "stands"), STANDS.items())
def test_a_deed_is_one_click_and_is_undone_by_its_bar(own: Page, do: str, stands: str) -> None:
    with own.client() as client:
        id = client.capture("The kettle of the harbour office is blue.").id

        def is_so() -> bool:
            memory = client.show(id).memory
            assert memory is not None
            return bool(getattr(memory, stands))

        assert not is_so()
        bar = done(own, do, [id], reason="it is gone")
        assert "The kettle of the harbour office is blue." in shown(bar) and is_so()
        undo = acting.actions()[acting.actions()[do].undo]
        assert undo.label in own.get("/memory", id=id).text
        assert own.undo(bar).status_code == 200 and not is_so()
        assert own.act("undo", done=str(bar.url.params["done"])).status_code == 400, "It was undone before."
        reasons = [raw for raw in own.get("/memory", id=id).text.splitlines() if "it is gone" in raw]
        assert bool(reasons) == (do == "forget")


def test_a_memory_is_added_and_corrected_on_the_page_and_each_is_undone(own: Page) -> None:
    added = done(own, "capture", [], text="The tug listens on channel 7001.", kind="fact", tags="radio, #tug")
    with own.client() as client:
        (old,) = [it for it in client.recent().results if "channel 7001" in it.text]
        assert old.tags == ("radio", "tug") and old.origin == "user"
        for tag in ("tug", "#tug"):
            assert f'data-id="{old.id}"' in own.get("/", tag=tag).text
        assert f'data-id="{old.id}"' not in own.get("/", tag="#tu").text
        corrected = done(own, "update", [old.id], text="The tug listens on channel 7002.")
        assert "marked as replaced" in shown(corrected)
        by = {it.text: it.standing for it in client.recent().results}
        assert by["The tug listens on channel 7001."] == "replaced"
        assert by["The tug listens on channel 7002."] == "valid"
        (new,) = [it.id for it in client.recent().results if "channel 7002" in it.text]
        badges = re.findall(r'<span class="mark">(.*?)</span>', own.get("/memory", id=new).text, re.S)
        assert any(re.match(r'since <time datetime="([-\d]*)" title="[\w ]+">\1</time>', it) for it in badges)
        undone = own.undo(corrected)
        bar = shown(undone).partition("The earlier text holds again.")[2]
        assert bar.startswith(" The tug listens on channel 7001.")
        row = undone.text.partition(f'<tr data-id="{old.id}"')[2].partition("</tr>")[0]
        assert "state-valid" in row, row
        by = {it.text: it.standing for it in client.recent().results}
        assert by["The tug listens on channel 7001."] == "valid"
        assert "The tug listens on channel 7002." not in by
        own.undo(added)
        assert all("channel 7001" not in it.text for it in client.recent().results)
    assert own.act("capture", text="", kind="fact").status_code == 400
    secret = own.home / "settings.toml"
    assert own.act("capture", file=str(secret)).status_code == 400, "A form names no file."


def test_what_is_contradicted_leads_to_the_other_side_and_ends_by_a_deed(own: Page) -> None:
    with own.client() as client, Client(own.home, scope=SCOPE, actor="bot", origin="agent") as agent:
        right = client.capture("The harbour radio listens on channel 12.").id
        wrong = agent.capture("The harbour radio listens on channel 14.").id
        row = own.get("/", standing="contradicted").text.partition(f'<tr data-id="{wrong}"')[2]
        assert re.search(rf'href="[^"]*id={right}">by what\?</a>', row.partition("</tr>")[0])
        for gone, left in ((right, wrong), (wrong, right)):
            opened = own.get("/memory", id=wrong)
            assert "A memory that is trusted more says otherwise" in shown(opened)
            assert any(f"id={right}" in href for href in hrefs(opened))
            bar = done(own, "forget", [gone])
            assert {it.id: it.standing for it in client.recent().results}[left] == "valid"
            own.undo(bar)


def test_many_are_done_at_once_or_none_and_all_with_some_words_come_back(own: Page) -> None:
    with own.client() as client:
        names = enumerate(("red", "tin"))
        ids = [client.capture(f"The locker {number} has a {name} key.").id for number, name in names]
        other = client.capture("The kettle is blue.").id
        before = own.ends()
        assert own.act("forget", [*ids, NOWHERE]).status_code == 404 and own.ends() == before
        assert own.act("forget", []).status_code == 400
        assert own.act("forget", [str(number) for number in range(acting.MOST_IDS + 1)]).status_code == 400
        assert "2 texts" in shown(own.act("forget", ids))
        assert own.ends() != before and all(client.show(id).hidden for id in ids)
        client.forget(other)
        assert "Restore all 2 with these words" in shown(own.get("/yours", words="LOCKER"))
        back = own.act("restore", [], every="1", words="locker")
        assert [client.show(id).hidden for id in (*ids, other)] == [False, False, True]
        own.undo(back)
        assert all(client.show(id).hidden for id in ids)


def test_conflicts_and_rules_are_settled_and_settled_anew(own: Page) -> None:
    with own.client() as client:
        (conflict,) = client.conflicts().conflicts
        assert conflict.id in own.get("/yours").text
        assert own.act("settle", [conflict.id]).status_code == 400
        bar = done(own, "settle", [conflict.id], keep="A", note="measured")
        assert f"“{conflict.a.text}” holds. “{conflict.b.text}” is marked as replaced." in shown(bar)
        assert client.conflicts().conflicts == ()
        assert conflict.id in own.get("/yours", settled="1").text
        assert "It waits again." in shown(own.undo(bar))
        assert client.conflicts().pending == 1
        bar = done(own, "settle", [conflict.id], keep="both")
        done(own, "settle", [conflict.id], keep="A")
        assert "It waits again." in shown(own.undo(bar))
        assert {it.id: it.standing for it in client.recent().results}[conflict.b.id] != "replaced"
        done(own, "settle", [conflict.id], keep="both")
    with own.client() as client:
        (rule,) = [rule for rule, answer in client.proposals() if answer == "waits" and not rule.is_doubted]
        bar = done(own, "decline", [rule.id])
        assert rule.text in shown(bar)
        assert "It waits again." in shown(own.undo(bar))
        assert {it.id: how for it, how in client.proposals()}[rule.id] == "waits"
        done(own, "decline", [rule.id])
        assert rule.text not in shown(own.get("/start", scope=EMPTY))
        accepted = done(own, "accept", [rule.id])
        assert rule.text in shown(own.get("/start", scope=EMPTY))
        undone = shown(own.undo(accepted))
        assert "It waits again." in undone
        for _ in range(2):  # Past the views, and in them.
            assert {it.id: how for it, how in client.proposals()}[rule.id] == "waits"
            client.project()
        assert rule.text not in shown(own.get("/start", scope=EMPTY))
        done(own, "accept", [rule.id])
        assert rule.text in shown(own.get("/start", scope=EMPTY))
    with own.client("global") as everywhere:
        (told,) = [result.id for result in everywhere.recent().results if result.text == rule.text]
    done(own, "forget", [told], scope="global")
    assert rule.text not in shown(own.get("/start", scope=EMPTY))


def test_an_erasure_asks_first_and_is_for_good(own: Page) -> None:
    with own.client() as client:
        id = client.capture("The brass bell of the pilot boat hangs in the mess.").id
        unit = (2_000).to_bytes(2, "little")
        body = Embedded(attempt=1, dimensions=1, embedder="a-model@1/1", reason=None, vector=unit)
        client.log.append([make_embedded(SCOPE, id, body, now_us())])
        before = own.ends()
        asks = own.act("erase", [id])
        assert asks.status_code == 200 and own.ends() == before
        assert "cannot be undone" in shown(asks) and "The brass bell of the pilot boat" in shown(asks)
        assert "the vector of this text" in shown(asks) and "a-model" not in shown(asks)
        gone = own.act("erase", [id], meant="yes")
        assert "Erased" in shown(gone) and 'value="undo"' not in gone.text
        assert own.get("/memory", id=id).status_code == 404
        assert own.act("erase", [NOWHERE]).status_code == 404 and own.act("erase", []).status_code == 400


def test_who_goes_back_stays_on_the_page(own: Page) -> None:
    with own.client() as client:
        id = client.recent(1).results[0].id
    hosts = ("//evil.example/", "/\\evil.example", "https://evil.example", "/\n/evil.example")
    for back in (*hosts, "javascript:alert(1)", ".//evil.example"):
        form = {"do": "pin", "id": id, "scope": SCOPE, "back": back}
        answer = own.http.post("/act", data=form, headers={"origin": own.origin})
        assert answer.status_code == 303 and answer.headers["location"].startswith("./")
        assert str(answer.url.join(answer.headers["location"])).startswith(own.origin)


def test_the_list_is_narrowed_sorted_paged_and_given_as_json(page: Page) -> None:
    with page.client() as client:
        whole = client.recent(1_000)
        for asked in (
            {"kind": "turn"}, {"standing": "forgotten"}, {"standing": "archived"}, {"standing": "pinned"},
            {"actor": "Ada"}, {"sort": "uses"}, {"sort": "oldest", "limit": "5", "after": "5"},
        ):  # fmt: skip
            named = {
                f"{name}s" if name in ("kind", "standing", "actor") else name: it
                for name, it in asked.items()
            }
            named = {name: int(it) if it.isdecimal() else it for name, it in named.items()}
            found = client.recent(**({"limit": 50} | named))
            answer = page.get("/", **asked)
            assert re.findall(r'<tr data-id="([^"]*)"', answer.text) == [it.id for it in found.results], asked
            assert f"{found.count:,} memor" in shown(answer)
            told = page.get("/", format="json", **asked).json()
            assert (told["count"], [it["id"] for it in told["results"]]) == (
                found.count, [it.id for it in found.results]
            )  # fmt: skip
        assert page.get("/", limit="10").text.count("<tr data-id") == min(10, whole.count)
    assert page.get("/home", format="json").status_code == 404


def test_what_is_new_is_told_to_an_open_page(own: Page) -> None:
    first = own.get("/live", scope=SCOPE, since="0").json()
    assert own.get("/live", scope=SCOPE, since=str(first["end"])).json() == first | {"texts": 0}
    with own.client() as client, own.client(EMPTY) as other:
        other.capture("The other project says something.")
        assert own.get("/live", scope=SCOPE, since=str(first["end"])).json()["texts"] == 0
        client.capture("A new buoy lies off the mole.")
        after = own.get("/live", scope=SCOPE, since=str(first["end"])).json()
        assert after["texts"] == 1 and after["end"] > first["end"]


WORDS = ("floor", "lane", "dead letter", "partition", "lacks", "has waited")


@pytest.mark.parametrize("path", [path for path in LISTED if path != "/system"])
def test_views_for_people_use_no_word_of_the_machine(page: Page, path: str) -> None:
    for asked in ({}, {"q": "staging port"}, {"diff": "1", "at": "20d"}):
        told = shown(page.get(path, **asked)).casefold()
        assert [word for word in WORDS if re.search(rf"\b{word}s?\b", told)] == []


def hrefs(answer: httpx.Response) -> list[str]:
    return [unescape(href) for href in re.findall(r'(?:href|src|action)="([^"]*)"', answer.text)]


def form_of(href: str) -> tuple[str, ...]:
    """Return what links of one kind share: their path, and the names of what they ask for."""
    url = httpx.URL(href)
    return url.path, *sorted(url.params.keys())


@pytest.fixture(scope="module")
def followed() -> set[object]:
    """The links, or the kinds of links, that were followed from an earlier view."""
    return set()


@pytest.mark.parametrize("kind", soaked([form_of, str], form_of))
@pytest.mark.parametrize("path", LISTED)
def test_links_lead_on(page: Page, followed: set[object], path: str, kind: Callable[[str], object]) -> None:
    """One link of each kind is followed, or all of them."""
    past = {"diff": "1", "at": "10d"} if path == "/timeline" else {}
    for href in dict.fromkeys(hrefs(page.get(path, q="what is the port", **past))):
        if href.startswith("#") or "/act" in href or kind(href) in followed:
            continue
        followed.add(kind(href))
        assert page.get(href.removeprefix(".")).status_code == 200, href


def test_errors_are_counted_and_told_without_a_text(own: Page, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "memtape")
    before = HomeCounts(own.home).sums("error", "page").total
    assert own.get("/search", q="the xylophone of Brunhilde").status_code == 200
    for asked in ({}, {"at": "3d"}):
        assert own.get("/memory", id="no-such-id", **asked).status_code == 404
    for at in ("the day after", "99/1"):
        answer = own.get("/search", q="port", at=at)
        assert answer.status_code == 400 and "This cannot be shown" in answer.text
    assert own.act("nothing", []).status_code == 400
    assert HomeCounts(own.home).sums("error", "page").total == before + 5
    told = [(it.message, it.__dict__["facts"]) for it in caplog.records if it.name == "memtape"]
    assert ("answered", "Search") in {(name, facts.get("what")) for name, facts in told}
    assert sum(name == "refused" for name, _ in told) == 5
    assert "xylophone" not in str(told) and "day after" not in str(told)


@pytest.mark.parametrize("asked", [{"since": "gestern"}, {"since": "28.11.2026"}, {"at": "the day after"}])
def test_an_error_keeps_the_project_and_leads_back_to_the_view(page: Page, asked: dict[str, str]) -> None:
    named, chosen = f"scope={quote(EMPTY, '')}", f"<option selected>{EMPTY}"
    answer = page.get("/", scope=EMPTY, **asked)
    assert answer.status_code == 400 and "Back to Memories" in shown(answer) and chosen in answer.text
    assert all(named in href for href in hrefs(answer) if "scope=" in href)
    back = f"./yours?{named}&words=mast"
    answer = page.act("unarchive", [], scope=EMPTY, back=back)
    assert answer.status_code == 400 and "Nothing is chosen" in answer.text and back in hrefs(answer)
    assert "Back to Yours" in shown(answer) and chosen in answer.text


def test_a_home_that_was_removed_is_not_made_again(living: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    shutil.copytree(living, home)
    with served(home) as page:
        assert page.get("/").status_code == 200
        shutil.rmtree(home)
        for _ in range(2):
            assert page.get("/").status_code == 503 and not home.exists()
            assert page.get("/search", q="port", scope=EMPTY).status_code == 503 and not home.exists()
