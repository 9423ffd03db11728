"""What a text does, told from its words: rules, facts, what is said about memory, corrections."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tables import table

from memtape.state.text.instructions import heard_in, same_instruction
from memtape.state.text.orders import is_about, named_by
from memtape.state.text.own_words import remembered
from memtape.state.text.polarity import polarity

SAID = table("polarity")


def test_a_text_is_what_its_words_do() -> None:
    kinds = {f"{kind}s": kind for kind in ("rule", "fact", "meta", "correction")} | {"no_corrections": "fact"}
    assert [(it, kind) for name, kind in kinds.items() for it in SAID[name] if polarity(it) != kind] == []
    assert [text for text in SAID["rules"] if heard_in(text).standing != (text.removeprefix("- "),)] == []
    assert [text for text in SAID["metas"] if heard_in(text).orders != (text,)] == []
    others = (*SAID["facts"], *SAID["metas"], *SAID["corrections"])
    assert [text for text in others if heard_in(text).standing] == []
    assert [text for text in SAID["no_orders"] if heard_in(text).orders] == []


def test_an_order_is_about_what_holds_all_that_it_names() -> None:
    for order, about, other in SAID["ordered"]:
        named = [named_by(order)]
        assert is_about(about, named) and not is_about(other, named)
    for order in ("Please don't remember this.", "Vergiss das bitte.", "Forget what I said."):
        assert polarity(order) == "meta" and not named_by(order)
        assert not is_about("I said this, please remember.", [named_by(order)])


def test_of_a_turn_only_the_sentences_that_instruct_stand() -> None:
    turn = "Thanks, that was great!\n- Always run `make test`.\nIt took a while. Never push to main! What next?"
    assert heard_in(turn).standing == ("Always run `make test`.", "Never push to main!")
    assert heard_in("```\nAlways in code.\n```\n> Always in a quote.").standing == ()


pieces = st.sampled_from(("always", "never ", "immer", "nunca", "\n", "。", "必ず", "不要提", *'"`- ?', "no"))


@given(st.one_of(st.text(max_size=60), st.lists(pieces, max_size=30).map("".join)))
def test_any_text_is_read(text: str) -> None:
    assert all(sentence in text for sentence in heard_in(text).standing)
    assert (polarity(text) in ("rule", "meta")) >= bool(heard_in(text).standing)


def test_an_instruction_is_told_behind_what_leads_to_it_and_once_however_it_is_written() -> None:
    assert same_instruction("Always  test.") == same_instruction("always test")
    assert [text for text in SAID["led"] if not heard_in(text).standing] == []
    assert [text for text in SAID["bare"] if heard_in(text).standing] == []


@given(st.lists(st.sampled_from(["a", "b", "c", "d", "\ud800", ""]), max_size=40), st.integers(1, 4))
def test_what_is_remembered_is_what_is_worked_out(asked: list[str], most: int) -> None:
    """However few are kept; what was asked of last is worked out once."""
    worked: list[str] = []

    @remembered(most)
    def doubled(text: str) -> str:
        worked.append(text)
        return text * 2

    assert [doubled(text) for text in asked] == [text * 2 for text in asked]
    before = len(worked)
    assert not asked or (doubled(asked[-1]) == asked[-1] * 2 and len(worked) == before)
