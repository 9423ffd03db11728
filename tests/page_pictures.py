"""`make screenshots`: pictures of each view of the page, light and dark, on a home with life in it.

`make screenshots EVERY=FOLDER` takes those of each view at two widths, without memories, with few and many.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from itertools import product
from pathlib import Path
from random import Random

from bench.living import SCOPE, make_living, notes
from browsing import browser, tab
from page_served import served

from memtape.tools.capture.writing import Line, now_us
from memtape.tools.client import Client

WIDTH, HEIGHT, TEXTS = 1100, 820, 500
COLOURS = 32
PAGES = (
    ("gauges", "Gauges", "Three gauges measure the tide, one at each quay."),
    ("gauges/quay-2", "The gauge of quay 2", "It listens on port 7001. Its cache is read once an hour."),
    ("gauges/quay-3", "The gauge of quay 3", "It was moved to Ostend."),
    ("releases", "Releases", "A release is built on Tuesdays, and tagged by a person."),
)
SHOWN = {"memories": "/", "home": "/home", "search": "/search?q=staging+database+port&limit=3",
         "start": "/start", "recalls": "/recalls?limit=6", "timeline": "/timeline?diff=1&at=12d",
         "tree": "/tree", "yours": "/yours", "system": "/system"}  # fmt: skip


def main(folder: Path) -> None:
    """Write a picture of each view in either scheme into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place, browser() as started:
        make_living(Path(place), TEXTS, now_us())
        with served(Path(place)) as page:
            with page.client() as client:
                for slug, title, text in PAGES:
                    client.new_page(slug, text, title=title)
                client.project()
                (conflict,) = client.conflicts().conflicts
            shown = SHOWN | {"memory": f"/memory?id={conflict.a.id}"}
            for scheme in ("light", "dark"):
                size = {"width": WIDTH, "height": HEIGHT}
                with tab(started, page.address, color_scheme=scheme, viewport=size) as its:
                    for name, path in shown.items():
                        its.go(f"{path}{'&' if '?' in path else '?'}scope={SCOPE}")
                        if name == "search":
                            its.page.locator("article details summary").first.click()
                        picture(its.page, folder / f"{name}-{scheme}.png")
                    its.page.get_by_role("button", name="Pin", exact=True).click()
                    its.page.locator(".bar").wait_for()
                    picture(its.page, folder / f"undo-{scheme}.png")
                    its.page.get_by_role("button", name="Undo", exact=True).click()
                    its.page.get_by_role("button", name="Pin", exact=True).wait_for()
                    its.page.get_by_role("button", name="Erase…", exact=True).click()
                    its.page.get_by_role("heading", name="Erase for good?").wait_for()
                    picture(its.page, folder / f"erase-{scheme}.png")


def take_every(folder: Path) -> None:
    """Write each view of homes of different sizes, in each width and scheme, into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    shown = SHOWN | {"timeline": "/timeline"}  # Many memories are folded up to a time for minutes.
    for name, make in HOMES.items():
        with tempfile.TemporaryDirectory() as place, browser() as started:
            make(Path(place))
            with served(Path(place)) as page:
                for scheme, width in product(("light", "dark"), WIDTHS):
                    size = {"width": width, "height": 2 * HEIGHT}
                    with tab(started, page.address, color_scheme=scheme, viewport=size) as its:
                        for view, path in shown.items():
                            its.go(f"{path}{'&' if '?' in path else '?'}scope={SCOPE}")
                            its.page.screenshot(path=folder / f"{name}-{view}-{width}-{scheme}.png")


def _make_few(home: Path) -> None:
    with Client(home, scope=SCOPE, actor="Ada", origin="user") as client:
        client.capture_many([Line(text=text, kind="fact") for text in notes(Random(3), FEW)])
        client.project()


FEW, MANY, WIDTHS = 20, 20_000, (1280, 390)
HOMES: dict[str, Callable[[Path], object]] = {
    "empty": lambda home: None,
    "few": _make_few,
    "many": lambda home: make_living(home, TEXTS, now_us(), memories=MANY),
}


def picture(page: object, path: Path) -> None:
    """Write what a tab shows, in few colours."""
    from PIL import Image

    page.screenshot(path=path)  # type: ignore[attr-defined]
    Image.open(path).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)


if __name__ == "__main__":
    (main if len(sys.argv) == 2 else take_every)(Path(sys.argv[-1]))
