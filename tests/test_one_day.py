"""The page of one day says what the stored transcripts give now, and they hold what the scripts say."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "examples" / "one_day"))
import replay  # noqa: E402

AS_MANY_AS_PAGES_HAVE = re.compile(r"\d[\d,]*(?= parts|(?: more)? memories in all)")
"""How many parts the pages of `docs/` make changes with each of their edits, so that these numbers are not compared."""


@pytest.mark.slow
def test_the_page_says_what_is_measured() -> None:
    page = replay.PAGE.read_text()
    anew = replay.with_measured(page, replay.measured())
    assert AS_MANY_AS_PAGES_HAVE.sub("some", anew) == AS_MANY_AS_PAGES_HAVE.sub("some", page), "Run `make one-day`."


def test_every_prompt_and_answer_of_the_scripts_is_in_a_transcript_and_no_path_of_a_machine() -> None:
    for host in replay.HOSTS:
        stored = (replay.DAY / f"{host}.jsonl").read_text()
        said = [json.dumps(turn[side], ensure_ascii=False)[1:-1] for turn in replay.read(f"{host}.toml")["turn"]
                for side in ("prompt", "reply")]  # fmt: skip
        assert [text for text in said if text not in stored] == []
        assert re.findall(r"/(?:home|tmp|root|Users)/(?!dev/memtape)\S*", stored) == []
