"""A rule is tried only where one of its keywords stands, and that passes over nothing the rule would find."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from secret_cases import INNOCENT, true_cases
from soaked import examples, soaked

from memtape.tools.capture.secrets import values
from memtape.tools.capture.secrets.rules import Rule, matches, regex_of, rules

OUTSIDE = Path(__file__).parent / "data" / "outside_cases.jsonl.zst"
RULES, FORM_COUNT, *_ = rules()


def name_of(rule: Rule) -> str:
    return f"{rule.id} {' '.join(rule.keywords[:2])}"


def test_each_rule_is_well_formed() -> None:
    for rule in RULES:
        assert re.fullmatch("[a-z0-9-]+", rule.id) and rule.like in values.LIKES, rule
        assert all(keyword == keyword.lower() for keyword in rule.keywords), rule
        assert rule.keywords or rule.where == "anywhere", rule
        groups = regex_of(rule.regex).groupindex
        assert rule.where != "line" or "value" in groups, rule
    assert {rule.like for rule in RULES} == {*values.LIKES}


@pytest.mark.parametrize("step", soaked((1, 5), 5))
def test_a_keyword_stands_wherever_a_rule_matches(step: int) -> None:
    texts = [json.loads(line)["text"] for line in zstandard.decompress(OUTSIDE.read_bytes()).splitlines()]
    texts += [*INNOCENT, *(case.text for case in true_cases("keywords"))]
    met = set[str]()
    for text in texts[::step]:
        found = {(rule, match.start()) for rule, match in matches(text)}
        for rule in RULES:
            if rule.where == "at" and (match := regex_of(rule.regex).search(text)):
                met.add(rule.regex)
                assert any(one is rule and start <= match.start() for one, start in found), (rule, text)
    assert len(met) > 40


FORMS = [it for it in RULES[:FORM_COUNT] if not it.regex.lower().startswith(tuple(map(re.escape, it.keywords)))]
"""The others begin with their keyword as it is."""


@pytest.mark.parametrize("rule", FORMS, ids=name_of)
@examples(4)
@given(data=st.data())
def test_the_keyword_of_a_form_is_in_whatever_it_matches(rule: Rule, data: st.DataObject) -> None:
    text = data.draw(st.from_regex(regex_of(rule.regex)))
    assert any(one is rule for one, _ in matches(text)), text
