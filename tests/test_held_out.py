"""What no rule was written with: cases of a writer who knew none. A rule that cannot tell does not tell.

Nobody reads these files while a rule is made or changed. How much is found is printed, and only what is wrong fails.
"""

from __future__ import annotations

from tables import rows

from memtape.state.fold.near_verbatim import key_of, read
from memtape.state.text.opposing import oppose
from memtape.state.text.replacing import replaces
from memtape.state.text.statements import statements

AT = 1_790_000_000_000_000


def form_of(text: str) -> tuple[str, ...]:
    tokens, english = read(text)
    return key_of(tokens, english=english)


def test_wishes_that_are_not_opposed_are_no_conflict() -> None:
    found = [it for it in rows("held-out/wishes") if oppose(it["a"], it["b"])]
    print(f"{len(found)} of 15 opposed wishes are told")
    assert [it for it in found if not it["opposed"]] == []


def test_texts_that_differ_in_more_than_form_are_apart() -> None:
    found = [it for it in rows("held-out/form") if form_of(it["a"]) == form_of(it["b"])]
    print(f"{len(found)} of 25 texts that are the same in form fold")
    assert [it for it in found if not it["same"]] == []


def test_what_is_made_up_or_in_passing_is_no_statement() -> None:
    found = [it for it in rows("held-out/statements") if statements(it["text"], AT, of_agent=False)]
    print(f"{len(found)} of 30 facts are told")
    assert [it for it in found if it["label"] == "none"] == []


def test_changes_of_a_value_are_found() -> None:
    found = [it for it in rows("held-out/replaces") if replaces(it["a"], it["b"])]
    print(f"{len(found)} of 40 replacements are told")
    assert len(found) >= 8
