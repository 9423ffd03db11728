"""A real browser for tests: Chromium of this machine, driven by Playwright, which reaches the page alone."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
OFF = "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup"
WORDS = ("--no-sandbox", "--disable-dev-shm-usage", OFF)
"""How it is started: without what it draws below its own address bar, which costs as much as a view does."""


class Tab(NamedTuple):
    """A tab of a browser that was let in; `heard` has what went wrong in it: dialogs, errors, other hosts."""

    page: Any
    base: str
    heard: list[str]

    def go(self, path: str) -> None:
        """Open a view."""
        self.page.goto(self.base + path)
        self.page.wait_for_load_state("load")
        self.page.wait_for_function("() => !document.querySelector('[data-making]')")


@contextmanager
def browser() -> Iterator[Any]:
    """Start the browser, or skip the test with a word on what is missing."""
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed.")
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip("Chromium is not installed: apt-get install chromium")
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=found, args=list(WORDS))
        yield started
        started.close()


@contextmanager
def tab(started: Any, address: str, **options: Any) -> Iterator[Tab]:
    """Open a tab at a page's first address."""
    base = address.partition("/?")[0]
    context = started.new_context(**options)
    heard: list[str] = []
    page = context.new_page()
    page.set_default_timeout(60_000)

    def met(route: Any) -> None:
        if route.request.url.startswith((f"{base}/", "data:")):
            route.continue_()
        else:
            heard.append(f"asked for {route.request.url}")
            route.abort()

    page.route("**/*", met)
    page.on("dialog", lambda dialog: (heard.append(f"dialog {dialog.message}"), dialog.dismiss()))
    page.on("pageerror", lambda error: heard.append(f"error {error}"))
    bad = ("error", "warning")
    page.on("console", lambda said: heard.append(f"console {said.text}") if said.type in bad else None)
    page.goto(address)
    try:
        yield Tab(page, base, heard)
    finally:
        context.close()
