"""Restatements under an embedder: which words may differ, what must agree, and that nobody takes another's part.

The pairs of `data/fold_pairs.jsonl` that differ were written against rules of the fold. Those that pass are named.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_specifics import ADDED, ANY_TEXT, APART, COUNTED, EXCHANGED, NAMES, SAME, SENTENCES

from memtape.state.fold.restating import restates
from memtape.state.fold.sayings import MOST_TOKENS, key, saying

PASSING = {"Stop the job Ada starts when the tests fail."}
"""A condition may belong to either of two verbs."""


def test_what_differs_does_not_pass_but_for_what_is_named() -> None:
    assert {pair["a"] for pair in APART if restates(pair["a"], pair["b"])} == PASSING


def test_the_verdict_is_symmetric_on_the_pairs() -> None:
    pairs = [(pair["a"], pair["b"]) for pair in (*APART, *SAME)]
    assert [pair for pair in pairs if restates(*pair) != restates(*pair[::-1])] == []


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("The nightly job copies the orders table to the archive in Bern.",
         "The orders table is copied to the archive in Bern by the nightly job."),
        ("Every invoice must be approved by two accountants before it is sent.",
         "Two accountants have to approve every invoice before sending it."),
        ("We postponed the launch of the mobile app because the certificate had expired.",
         "Because of an expired certificate the mobile app's launch was delayed."),
        ("Use integer cents rather than floats for prices in the ledger tables.",
         "For prices in the ledger tables use integer cents instead of floats."),
        ("The warmup of the price cache takes two minutes after each restart of the shop.",
         "After a restart of the shop the warm-up of the price cache takes 2 minutes."),
        ("Ines wrote to the landlord on Monday that the heating in the flat is broken.",
         "On Monday Ines wrote to the landlord that the heating in the apartment is faulty."),
    ],
)  # fmt: skip
def test_the_same_in_other_words_and_another_order(a: str, b: str) -> None:
    assert restates(a, b) and restates(b, a)


BASE = "The nightly job of Ada copies 40 rows from the orders table to the archive in Bern"


@pytest.mark.parametrize(
    "other",
    [
        "The nightly job of Ada copies 50 rows from the orders table to the archive in Bern",
        "The nightly job of Ada copies 40 rows from the archive to the orders table in Bern",
        "The nightly job of Ada does not copy 40 rows from the orders table to the archive in Bern",
        "The nightly job of Ada copied 40 rows from the orders table to the archive in Bern",
        "The nightly job of Ada must copy 40 rows from the orders table to the archive in Bern",
        "The nightly job of Ada only copies 40 rows from the orders table to the archive in Bern",
        "The nightly job of Ada copies at least 40 rows from the orders table to the archive in Bern",
        "The nightly job of Eva copies 40 rows from the orders table to the archive in Bern",
        "The nightly job of Ada copies 40 rows from the orders table to the backup in Bern",
        "If it is idle, the nightly job of Ada copies 40 rows from the orders table to the archive in Bern",
        "The nightly job of Ada copies 40 rows from the orders table to the archive in Bern and mails Tom",
        "Does the nightly job of Ada copy 40 rows from the orders table to the archive in Bern?",
    ],
)
def test_one_thing_that_differs_parts_two_texts(other: str) -> None:
    assert restates(BASE, BASE) and not restates(BASE, other) and not restates(other, BASE)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("The shop service pushes stock levels to the warehouse service each hour.",
         "The warehouse service pushes stock levels to the shop service each hour."),
        ("Run the schema check of the shop before generating the API client.",
         "Before running the schema check of the shop, generate the API client."),
        ("The import of the orders fails because the disk of the server is full.",
         "The import of the orders fails, so the disk of the server is full."),
        ("The product database of the shop is on the second server.",
         "The production database of the shop is on the second server."),
        ("The replica in Oslo copies its data from the primary in Bergen.",
         "The replica in Bergen copies its data from the primary in Oslo."),
        ("My team owns the billing service and its pages.", "Their team owns the billing service and its pages."),
        ("Anna beats Ben in the final of the chess club.", "In the final of the chess club Anna is beaten by Ben."),
    ],
)  # fmt: skip
def test_parts_that_are_exchanged_are_another_fact(a: str, b: str) -> None:
    assert not restates(a, b) and not restates(b, a)


@pytest.mark.parametrize(("one", "other"), [("customer", "customs"), ("internal", "international"), ("up", "down")])
def test_words_that_only_look_alike_are_two(one: str, other: str) -> None:
    assert key(one) != key(other)


def test_a_short_text_a_long_one_and_one_in_another_language_restate_nothing() -> None:
    assert not restates("Ben often runs.", "Often Ben runs.")
    assert saying(" ".join(["The build runs at night"] * MOST_TOKENS)) is None
    assert not restates("Am Montag trifft Anna den Leiter im Keller.", "Anna trifft den Leiter am Montag im Keller.")


@given(ANY_TEXT, ANY_TEXT)
def test_it_is_symmetric_and_never_raises(a: str, b: str) -> None:
    assert restates(a, b) == restates(b, a)


@given(st.sampled_from(SENTENCES), st.sampled_from([it for it in ADDED.split() if it != "all"]), st.integers(0, 30))
def test_a_number_a_negation_or_a_name_more_is_another_fact(text: str, added: str, at: int) -> None:
    """But not `all`: a plural says as much."""
    words = text.split()
    words.insert(at % (len(words) + 1), added)
    assert not restates(text, " ".join(words))


@given(st.sampled_from(EXCHANGED), st.permutations(NAMES))
def test_exchanged_names_are_another_fact(frame: str, names: list[str]) -> None:
    x, y = names[:2]
    frame = f"{frame} in the old office of the shipping company"
    assert not restates(frame.format(x=x, y=y), frame.format(x=y, y=x))


@given(st.sampled_from(COUNTED), st.integers(1, 12), st.integers(1, 12))
def test_exchanged_numbers_are_another_fact(frame: str, x: int, y: int) -> None:
    frame = f"{frame} in the old office of the shipping company"
    assert x == y or not restates(frame.format(x=x, y=y), frame.format(x=y, y=x))
