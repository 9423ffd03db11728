"""The page and the chart of what things cost at which size; the figures themselves are for `make bench-scale`."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

from bench import scale, scale_page
from bench.chart import curves

ROOT = Path(__file__).parent.parent
SVG = "{http://www.w3.org/2000/svg}"


class Anything(dict[str, float]):
    """Figures that have every name."""

    def __missing__(self, name: str) -> float:
        assert re.search(r"_(s|mb)\Z", name), name
        return 0.25


def test_a_page_has_every_size_and_says_what_was_aimed_at() -> None:
    page = scale_page.page({2_000: Anything(), 100_000: Anything()})
    for name, _, aim in scale_page.ROWS:
        assert re.search(rf"^\| {re.escape(name)} \| [^|]+ \| [^|]+ \| {re.escape(aim)} \|$", page, re.M), name
    drawn = ElementTree.fromstring(scale_page.drawn({2_000: Anything(), 100_000: Anything()}))
    assert len(list(drawn.iter(f"{SVG}polyline"))) == len(scale_page.DRAWN)


def test_the_page_that_stands_there_is_what_would_be_written() -> None:
    """All but the figures, so that nobody writes by hand what the next run takes away."""
    stands = (ROOT / "docs" / "scale.md").read_text()
    head = re.search(r"^\| texts \|([\d, |]+)\| aim", stands, re.M)
    assert head is not None
    sizes = [int(size.replace(",", "")) for size in head[1].split("|") if size.strip()]
    made = scale_page.page({size: Anything() for size in sizes})
    assert _without_figures(stands) == _without_figures(made)


def _without_figures(page: str) -> str:
    return re.sub(r"\d[\d,.]*( ms| s| MB|%)( \([\d,.]+\))?( of [\d,.]+ s)?(?= \|)", "#", page)


def test_a_chart_of_one_size_and_of_equal_values_is_drawn() -> None:
    for series in ({"a<b": {10: 1.0}}, {"a": {10: 0.5, 1_000: 0.5}}):
        assert ElementTree.fromstring(curves("a & b", series)).iter(f"{SVG}circle")


def test_the_texts_are_the_same_every_time() -> None:
    assert list(scale.texts(50)) == list(scale.texts(60))[:50]
    assert len(scale.questions()) == scale.QUESTIONS
