"""The page in a real browser: everybody can read and use it, at every size, and nothing in a memory acts."""

# ruff: noqa: F811  (fixtures are handed in by their names)

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from bench.living import SCOPE
from browsing import Tab, browser, tab
from page_served import EMPTY, Page, living, opened, own, page, served  # noqa: F401
from soaked import soaked
from tables import table

from memtape.schemas.ids import short_id
from memtape.schemas.times import DAY_US
from memtape.tools.capture.writing import Line, now_us
from memtape.tools.client import Client
from memtape.tools.page.drawing import VIEWS

pytestmark = pytest.mark.slow
LOOKS = (Path(__file__).parent / "page_looks.js").read_text()
SCHEMES = [("light", 0, 8), ("dark", 4, 8), ("light", 0, 1), ("dark", 0, 1)]
WIDTHS = (360, 390, 768, 1280, 3840)
ASKED = {"/search": "?q=staging+database+port", "/timeline": "?diff=1&at=20d", "/yours": "?settled=1"}
MORE = ("/?standing=forgotten", "/?kind=turn&sort=uses", "/timeline?day=2026-09-10")
"""Views with other things to see."""
KETTLE = "The kettle of the harbour office is blue."


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as started:
        yield started


@pytest.fixture(scope="module")
def paths(page: Page) -> list[str]:
    """Every view, with something to see."""
    with page.client() as client:
        recalled = max(
            client.recent(20).results, key=lambda result: result.uses if hasattr(result, "uses") else 0
        )
        hidden = client.hidden()[0]
    listed = [view.path + ASKED.get(view.path, "") for view in VIEWS if view.is_listed]
    return [
        *listed,
        *MORE,
        *(f"/memory?id={id}" for id in (recalled.id, hidden.id, "none")),
        f"/?scope={EMPTY}",
    ]


@pytest.mark.parametrize(("scheme", "first", "each"), soaked(SCHEMES, *SCHEMES[:2]))
def test_all_can_read(chromium: Any, page: Page, paths: Any, scheme: str, first: int, each: int) -> None:
    with tab(chromium, page.address, color_scheme=scheme) as its:
        assert page.token not in its.page.url
        for path in paths[first::each]:
            its.go(path)
            its.page.evaluate("() => document.querySelectorAll('details').forEach((it) => (it.open = true))")
            assert its.page.evaluate(LOOKS) == [], path
            for width in WIDTHS:
                its.page.set_viewport_size({"width": width, "height": 800})
                wide = its.page.evaluate("() => document.documentElement.scrollWidth - innerWidth")
                assert wide <= 0, (path, width, its.page.evaluate(WIDEST))
            its.page.set_viewport_size({"width": 1280, "height": 800})
        told = [line for line in its.heard if "404" not in line]
        assert told == []


WIDEST = """() => [...document.querySelectorAll('body *')]
    .filter((it) => it.getBoundingClientRect().right > innerWidth)
    .map((it) => it.outerHTML.slice(0, 100)).slice(-3)"""


@pytest.mark.parametrize("each", soaked([4, 1], 4))
def test_every_view_is_read_without_script(chromium: Any, page: Page, paths: list[str], each: int) -> None:
    with tab(chromium, page.address, java_script_enabled=False) as its:
        for path in paths[each - 1 :: each]:
            its.go(path)
            assert its.page.locator("h1").inner_text() and its.page.locator("main").inner_text().strip()
            assert its.page.locator("button[data-all]:visible, #slide:visible").count() == 0


def click(its: Tab, name: str) -> None:
    """Press the one button of that name."""
    its.page.locator("main").get_by_role("button", name=name, exact=True).click()


ACTS = (("Forget", "forgotten"), ("Archive", "archived"), ("Pin", "pinned"))


@pytest.mark.parametrize(
    ("with_script", "count"), soaked([(False, 3), (True, 3), (False, 1), (True, 1)], (False, 1), (True, 1))
)
def test_deeds_are_undone_by_clicks(chromium: Any, own: Page, with_script: bool, count: int) -> None:
    with own.client() as client, tab(chromium, own.address, java_script_enabled=with_script) as its:
        id = client.capture(KETTLE).id
        for act, told in ACTS[:count]:
            its.go(f"/memory?id={id}")
            click(its, act)
            its.page.locator(".bar").wait_for()
            assert told in its.page.locator(".bar").inner_text().lower()
            assert KETTLE in its.page.locator(".bar").inner_text()
            click(its, "Undo")
            its.page.get_by_role("button", name=act, exact=True).wait_for()
            assert id in its.page.url and not client.show(id).hidden
        its.go("/yours")
        click(its, "Keep B")
        its.page.get_by_text("is marked as replaced.").wait_for()
        assert client.conflicts().conflicts == ()
        click(its, "Undo")
        its.page.locator(".bar", has_text="It waits again.").wait_for()
        assert client.conflicts().pending == 1
        its.go("/yours")
        its.page.get_by_role("button", name="Decline").first.click()
        its.page.locator(".bar", has_text="Declined").wait_for()
        waits = len(client.proposals())
        click(its, "Undo")
        its.page.locator(".bar button").wait_for(state="detached")
        assert waits == len([how for _, how in client.proposals() if how != "declined"])
        assert its.heard == []


@pytest.mark.parametrize("with_script", [False, True])
def test_the_list_adds_corrects_forgets_and_erases(chromium: Any, own: Page, with_script: bool) -> None:
    with own.client() as client, tab(chromium, own.address, java_script_enabled=with_script) as its:
        its.go("/")
        its.page.get_by_text("Add a memory").click()
        its.page.get_by_label("Text", exact=True).fill(KETTLE)
        click(its, "Add")
        row = its.page.locator("tr", has_text=KETTLE).first
        row.wait_for()
        assert client.recent(1).results[0].text == KETTLE
        row.locator(".rest > summary").click()
        row.get_by_label("What is so now").fill(KETTLE.replace("blue", "red"))
        row.get_by_role("button", name="Correct").click()
        its.page.locator(".bar", has_text="Corrected").wait_for()
        new = its.page.locator("tr", has_text="is red").first
        assert "replaced" in its.page.locator("tr", has_text="is blue").first.inner_text()
        new.get_by_role("button", name="Forget").click()
        its.page.locator(".bar", has_text="Forgotten").wait_for()
        assert its.page.locator("tr", has_text="is red").count() == 0
        its.page.get_by_role("button", name="Undo").click()
        new.wait_for()
        new.locator(".rest > summary").click()
        new.get_by_role("button", name="Erase…").click()
        its.page.get_by_role("heading", name="Erase for good?").wait_for()
        click(its, "Erase for good")
        its.page.locator(".bar", has_text="Erased").wait_for()
        assert its.page.locator("tr", has_text="is red").count() == 0
        assert its.page.locator(".bar button").count() == 0 and its.heard == []


@pytest.mark.parametrize("width", [1280, 390])
def test_the_undo_of_a_lower_row_is_seen_where_one_is(chromium: Any, own: Page, width: int) -> None:
    with tab(chromium, own.address, viewport={"width": width, "height": 700}) as its:
        its.go("/")
        its.page.locator("tr[data-id]").nth(30).get_by_role("button", name="Pin").click()
        its.page.locator(".bar").wait_for()
        y = its.page.evaluate("() => scrollY")
        bar = its.page.locator(".bar").bounding_box()
        assert bar is not None and y > 700 and bar["y"] >= 0 and bar["y"] + bar["height"] < 350
        its.page.evaluate("() => scrollTo({ top: 0, behavior: 'instant' })")
        bar, below = its.page.locator(".bar").bounding_box(), its.page.locator("h1").bounding_box()
        assert bar is not None and below is not None and bar["y"] + bar["height"] <= below["y"]
        click(its, "Undo")
        its.page.locator(".bar", has_text="No longer pinned").wait_for()


def test_the_bar_is_closed_and_lets_nothing_pass_above_it(chromium: Any, own: Page) -> None:
    with tab(chromium, own.address, viewport={"width": 390, "height": 700}) as its:
        its.go("/")
        its.page.locator("tr[data-id]").nth(30).get_by_role("button", name="Pin").click()
        bar = its.page.locator(".bar")
        bar.wait_for()
        box = bar.bounding_box()
        assert box is not None and (box["x"], box["y"], box["width"]) == (0, 0, 390) and box["height"] < 120
        y = its.page.evaluate("() => scrollY")
        close = its.page.get_by_label("Close what was done").bounding_box()
        assert close is not None
        its.page.mouse.click(close["x"] + close["width"] / 2, close["y"] + close["height"] / 2)
        assert bar.count() == 0 and "done=" not in its.page.url
        assert abs(its.page.evaluate("() => scrollY") - y) < 120 and its.heard == []


def test_search_finds_while_typing_and_slash_leads_to_it(chromium: Any, own: Page) -> None:
    with own.client() as client, tab(chromium, own.address) as its:
        client.capture(f"{KETTLE} {'It stands on the shelf beside the stove. ' * 20}")
        for path in ("/home", "/timeline", "/memory?id=none", "/system"):
            its.go(path)
            its.page.keyboard.press("/")
            its.page.keyboard.type("mrs")
            assert its.page.locator("#find").input_value() == "mrs" and "404" not in its.page.url
        its.go("/home")
        its.page.keyboard.press("/")
        its.page.keyboard.type("kettle office", delay=20)
        its.page.locator("article mark", has_text="kettle").first.wait_for()
        assert its.page.evaluate("() => document.activeElement.id") == "find"
        first = its.page.locator("article").first
        assert {"kettle", "office"} <= set(first.locator(".text").first.locator("mark").all_inner_texts())
        assert first.get_by_text("more", exact=True).is_visible()
        its.page.keyboard.press("Escape")
        assert its.page.locator("#find").input_value() == "kettle office"
        assert its.page.evaluate("() => document.activeElement.tagName") == "BODY"
        assert "/search?" in its.page.url
        its.page.keyboard.press("t")
        its.page.wait_for_url("**/timeline?*")
        assert [it for it in its.heard if "404" not in it] == []


def test_new_texts_come_into_open_views_by_themselves(chromium: Any, own: Page) -> None:
    with own.client() as client, tab(chromium, own.address) as its:
        for path in ("/", "/home"):
            its.go(path)
            text = f"The harbour office has painted the bollards at {path}."
            client.capture(text)
            its.page.get_by_text(text).first.wait_for(timeout=30_000)
            assert not its.page.locator("[data-late]").is_visible()
        its.go("/?scope=project:blank")
        with own.client("project:blank") as blank:
            blank.capture("The first bell of the buoy rings.")
        its.page.get_by_text("The first bell of the buoy rings.").first.wait_for(timeout=30_000)
        its.go("/?sort=oldest&limit=5")
        client.capture("The last lamp of the mole is out.")
        its.page.get_by_text("1 new text is not in the list yet").wait_for(timeout=30_000)
        assert its.heard == []


def test_what_is_ticked_comes_back_and_recalls_are_filtered(chromium: Any, own: Page) -> None:
    with own.client() as client, tab(chromium, own.address) as its:
        count = len(client.archived(100).archived)
        its.go("/yours")
        section = its.page.locator("#unarchive")
        section.get_by_role("button", name="Tick all that are shown").click()
        section.get_by_role("button", name="Bring back what is ticked").click()
        its.page.locator(".bar", has_text=f"{count} texts").wait_for()
        assert count > 1
        assert client.archived(100).archived == () and its.heard == []
    with tab(chromium, own.address) as its:
        its.go("/recalls")
        assert {"used", "not used"} & set(its.page.locator(".use").all_inner_texts())
        its.page.get_by_label("Occasion").select_option("start")
        click(its, "Filter")
        cards = its.page.locator("article.card").all_inner_texts()
        assert cards and all("Unasked, at a start" in card for card in cards)
        its.page.get_by_label("Occasion").select_option("search")
        click(its, "Filter")
        question = its.page.locator("article.card .text").first.inner_text().strip("“”")
        for link in ("ask again now", "as it was then"):
            its.go("/recalls?by=search")
            its.page.get_by_role("link", name=link).first.click()
            its.page.wait_for_function("() => !document.querySelector('[data-making]')")
            assert its.page.locator("#find").input_value() == question
        assert its.page.locator(".past").count() == 1 and its.heard == []


def test_the_timeline_begins_at_its_end_and_its_field_holds_a_time(chromium: Any, tmp_path: Path) -> None:
    with Client(tmp_path, scope=SCOPE, actor="Ada", origin="user") as client:
        days = (now_us() - day * DAY_US for day in range(40))
        client.capture_many([Line(text=f"The tide of {at} was low.", kind="fact", at=at) for at in days])
        client.project()
    narrow = {"width": 390, "height": 900}
    with served(tmp_path) as page, tab(chromium, page.address, viewport=narrow) as its:
        its.go("/timeline")
        chart, field = its.page.locator("[data-latest]"), its.page.locator("#at")
        assert chart.evaluate("(it) => it.scrollWidth - it.clientWidth") > 100
        assert chart.evaluate("(it) => it.scrollWidth - it.clientWidth - it.scrollLeft") < 2
        field.fill("2026-11-28T13:26:34Z")
        assert field.evaluate("(it) => it.scrollWidth - it.clientWidth") <= 0


GAP = """(pair) => {
    const [above, below] = pair.map((it) => document.querySelector(it).getBoundingClientRect());
    return below.top - above.bottom; }"""


def test_what_stands_below_one_another_does_not_touch(chromium: Any, page: Page) -> None:
    with tab(chromium, page.address) as its:
        its.go("/")
        assert its.page.evaluate(GAP, [".add", ".filter"]) >= 8
        its.page.get_by_text("Add a memory").click()
        row = its.page.locator("tr[data-id]", has=its.page.locator(".correct")).first
        top = row.get_by_role("button", name="Forget").bounding_box()
        more = row.locator(".rest > summary").bounding_box()
        assert top is not None and more is not None
        assert abs(top["y"] + top["height"] / 2 - more["y"] - more["height"] / 2) < 3
        row.locator(".rest > summary").click()
        assert its.page.evaluate(GAP, [".add summary", ".add form"]) >= 8
        assert its.page.evaluate(GAP, [".add form", ".filter"]) >= 8
        assert its.page.evaluate(GAP, [".rest[open] .correct button", ".rest[open] .act button"]) >= 8


def reach(its: Tab, name: str) -> None:
    """Go by the tabulator to what has a name, and enter it."""
    for _ in range(80):
        its.page.keyboard.press("Tab")
        if its.page.evaluate("() => document.activeElement.textContent.trim()") == name:
            assert its.page.evaluate("() => getComputedStyle(document.activeElement).outlineStyle") != "none"
            return its.page.keyboard.press("Enter")
    raise AssertionError(f"{name} is not reached by the tabulator")


@pytest.mark.parametrize("each", soaked([4, 1], 4))
def test_keys_alone_do_everything(chromium: Any, own: Page, each: int) -> None:
    with own.client() as client, tab(chromium, own.address) as its:
        for view in VIEWS[1::each]:
            if view.key:
                its.page.keyboard.press(view.key)
                its.page.wait_for_url(f"**{view.path}?*")
        its.page.keyboard.press("/")
        id = client.capture(KETTLE).id
        its.page.keyboard.type("kettle of the office n s r")
        its.page.keyboard.press("Enter")
        its.page.wait_for_url("**q=kettle*")
        reach(its, short_id(id))
        its.page.wait_for_url("**/memory?*")
        reach(its, "Forget")
        its.page.locator(".bar").wait_for()
        assert client.show(id).hidden
        reach(its, "Undo")
        its.page.get_by_role("button", name="Forget", exact=True).wait_for()
        assert not client.show(id).hidden
        its.page.keyboard.press("h")
        its.page.wait_for_url(f"{its.base}/home?*")
        its.page.keyboard.press("Tab")
        its.page.keyboard.press("Enter")
        assert its.page.evaluate("() => document.activeElement.id") == "main" and its.heard == []


def test_sliders_answer_and_keep_the_keys(chromium: Any, page: Page) -> None:
    with tab(chromium, page.address) as its:
        its.go("/start")
        its.page.locator("#budget").focus()
        for tokens in (900, 1_000):
            its.page.keyboard.press("ArrowRight")
            its.page.wait_for_url(f"**budget={tokens}*")
            its.page.wait_for_function("() => document.activeElement.id === 'budget'")
        its.go("/timeline")
        its.page.locator("#slide").focus()
        its.page.keyboard.press("Home")
        its.page.wait_for_url("**at=*")
        assert "the memory as of" in its.page.locator(".past").inner_text()
        its.page.get_by_role("link", name="Back to now").click()
        assert its.page.locator(".past").count() == 0 and its.heard == []


INJECTED = table("page-injections")["texts"]


def decide_on(home: Path, kept: list[list[str]]) -> None:
    """Use all that was kept; forget, archive, pin and look up some, with a text as reason or question."""
    with Client(home, scope=SCOPE, session=INJECTED[0], actor=INJECTED[1], origin="user") as person:
        person.use([id for ids in kept for id in ids[:2]])
        for number, (text, ids) in enumerate(zip(INJECTED, kept, strict=True)):
            if number % 2:
                person.forget(ids[2], reason=text[:200])
            else:
                person.archive([ids[3]], reason=text[:200])
            if number % 5 == 0:
                person.pin(ids[4])
                person.search(f"odd {text}")


@pytest.fixture(scope="module")
def injected(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """A page on a home whose every field holds what would act if it could."""
    home = tmp_path_factory.mktemp("injected") / "home"
    home.mkdir()
    (home / "settings.toml").write_text("catch_up = false\n")  # Else others project it meanwhile.
    kept: list[list[str]] = []
    for number, text in enumerate(INJECTED):
        fields: dict[str, Any] = {"actor": text[:60], "origin": "user"}
        with Client(home, scope=SCOPE, session=text[:60], **fields) as client:
            at = now_us() - (len(INJECTED) - number) * DAY_US
            told = {"tags": (f"tag{number}",), "source": text[:60], "session": text[:60], "at": at}
            lines = [Line(text=f"Odd number {number}: {text}", kind=it, **told) for it in ("fact", "turn")]
            lines += [Line(text=f"{text} {name}", kind="fact", **told) for name in ("lost", "kept", "pinned")]
            kept.append([receipt.id for receipt in client.capture_many(lines)])
            client.capture(f"In all my projects, say {text}", kind="turn")
        name = f"project:x{number}{''.join(filter(str.isalnum, text.lower()))}"[:60]
        with Client(home, scope=name, **fields) as other:
            other.capture(text)
    decide_on(home, kept)
    with served(home) as page:
        yield page


@pytest.mark.parametrize(("shown", "each"), soaked([(2, 3), (10, 1)], (2, 3)))
def test_nothing_in_a_memory_acts(chromium: Any, injected: Page, shown: int, each: int) -> None:
    with injected.client() as client, tab(chromium, injected.address) as its:
        ids = [result.id for result in client.recent(200).results] + [one.id for one in client.hidden()]
        paths = "/search?q=odd+number&limit=200 /yours?limit=1000 /recalls?limit=100 /?limit=200".split()
        whole = {path.partition("?")[0] for path in paths}
        rest = [it.path for it in VIEWS if it.is_listed and it.path not in whole]
        paths += [path + ASKED.get(path, "") for path in rest[::each]]
        paths += [f"/memory?id={id}" for id in ids[:: max(1, len(ids) // shown)]]
        before = injected.ends()
        for path in paths:
            its.go(path)
            its.page.evaluate("() => document.querySelectorAll('details').forEach((it) => (it.open = true))")
            assert its.page.url.startswith(its.base)
            assert its.page.locator(BUILT).count() == 0, path
            assert its.page.evaluate(ACTING) == [], path
        assert its.heard == [] and injected.ends() == before


BUILT = "script:not([src='./static/page.js']),iframe,object,embed,base,style,meta[http-equiv],img,math"
"""What no template of ours writes."""
ACTING = """() => [...document.querySelectorAll('*')].flatMap((it) => [...it.attributes]
    .filter((a) => a.name.startsWith('on') || a.name === 'style' || (/^(href|src|action)$/.test(a.name)
        && !/^([.][/]|#)/.test(a.value)))
    .map((a) => it.tagName + ' ' + a.name + '=' + a.value.slice(0, 80)))"""


ADDRESSES = "/search?q={} /recalls?words={}&session={} /yours?words={} /start?form={} /?scope={}".split()


@pytest.mark.parametrize(("spread", "each"), soaked([(5, 5), (1, 1)], (5, 5)))
def test_nothing_in_an_address_acts(chromium: Any, page: Page, spread: int, each: int) -> None:
    with tab(chromium, page.address) as its:
        for number, text in enumerate(INJECTED[::spread]):
            for path in ADDRESSES[number % each :: each]:
                its.go(path.replace("{}", quote(text)))
                assert its.page.locator(BUILT).count() == 0
                assert its.page.evaluate(ACTING) == []
        assert [line for line in its.heard if "status of 40" not in line] == []


def test_a_file_lets_a_browser_in(chromium: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(tmp_path / "home", monkeypatch) as (first, address):
        path = Path(address.removeprefix("file://"))
        code = path.read_text().partition("token=")[2].partition('"')[0]
        tab = chromium.new_context().new_page()
        tab.goto(address)
        tab.wait_for_selector("h1")
        assert tab.url.startswith("http://127.0.0.1:")
        assert code not in tab.url and first.partition("=")[2] not in tab.url
        tab.get_by_role("link", name="Search", exact=True).click()
        tab.wait_for_url("**/search?*")
        assert tab.locator("h1").inner_text().startswith("Search") and not path.exists()


@pytest.mark.parametrize("count", soaked([0, 20, 20_000], 0, 20))
def test_every_view_is_whole_at_any_size(chromium: Any, tmp_path: Path, count: int) -> None:
    """With nothing, a few memories and many, wide and narrow, light and dark."""
    with Client(tmp_path, scope=SCOPE, actor="Ada", origin="user") as client:
        texts = (f"Crate {number} stands in hall {number % 7}, row {number}." for number in range(count))
        client.capture_many([Line(text=text, kind="fact", tags=("crates",)) for text in texts])
        client.project()
        held = client.recent(1).count
    with served(tmp_path) as page:
        for scheme, width in (("light", 1280), ("dark", 390)):
            options: dict[str, Any] = {"color_scheme": scheme, "viewport": {"width": width, "height": 900}}
            with tab(chromium, page.address, **options) as its:
                for path in (view.path for view in VIEWS if view.is_listed):
                    its.go(path)
                    assert its.page.evaluate(LOOKS) == [], path
                    wide = its.page.evaluate("() => document.documentElement.scrollWidth - innerWidth")
                    assert wide <= 0, (path, width, its.page.evaluate(WIDEST))
                its.go("/")
                told = its.page.locator(".count").inner_text()
                assert f"{held:,} memor" in told and (held > 0) == (count > 0)
                assert its.page.locator("tr[data-id]").count() == min(held, 50)
                if not count:
                    assert "memtape agents connect claude" in its.page.locator("main").inner_text()
                assert its.heard == []


AXE = os.environ.get("MEMTAPE_TEST_AXE", "")
"""The path of axe.min.js of the npm package axe-core, where it is installed."""


@pytest.mark.skipif(not Path(AXE).is_file(), reason="MEMTAPE_TEST_AXE does not name axe.min.js of axe-core.")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_axe_finds_nothing_serious(
    chromium: Any, page: Page, paths: list[str], scheme: str, width: int
) -> None:
    found: dict[str, list[str]] = {}
    viewport = {"width": width, "height": 900}
    # The policy of the page lets in no script of others, and so none of a test.
    options: dict[str, Any] = {"color_scheme": scheme, "viewport": viewport, "bypass_csp": True}
    with tab(chromium, page.address, **options) as its:
        for path in paths:
            its.go(path)
            its.page.add_script_tag(path=AXE)
            wrong = its.page.evaluate("async () => (await axe.run()).violations")
            for one in wrong:
                if one["impact"] in ("serious", "critical"):
                    found[f"{path} {one['id']}"] = [node["html"][:160] for node in one["nodes"][:3]]
    assert found == {}
