"""Orders about memory, as "never mention X again" and "forget that I …": the sentences and their subjects.

English first; of other languages the commonest forms are read. When in doubt a sentence is no order: "never
mention prices in the newsletter" is a rule for work, and "forget it" is not about memory. The right to give
orders is decided elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from memtape.schemas.patterns import lazy
from memtape.state.text.lexicon import SEARCH_STOP, word_set
from memtape.state.text.own_words import MOST_CHARS, asks, sentences, unquoted
from memtape.state.text.terms import ENGLISH, is_common, language_of, worded_terms

_I = re.IGNORECASE
_OPENS = (
    r"(?:^|[,;:–—]\s*)(?:(?:please|pls|ok(?:ay)?|and|so|but|also|just|now|hey|oh|can you|could you|would you"
    r"|i want you to)[,\s]+)*"
)
"""Words before an imperative; with a subject before the verb a sentence only states."""
_NOT = r"(?:(?:never|don't|do not|stop)\s+(?:ever\s+)?)"
_SPEAK = (
    r"(?:mention(?:ing)?|bring(?:ing)?\s+up|(?:talk|speak)(?:ing)?\s+(?:of|about)|refer(?:ring)?\s+to"
    r"|remind(?:ing)?\s+(?:me|us)\s+(?:of|about))"
)
_KEEP = r"(?:remember(?:ing)?|memori[sz](?:e|ing)|sav(?:e|ing)|stor(?:e|ing)|record(?:ing)?|keep(?:ing)?)"
_PLACED = (
    r"(?!.*\b(?:in|on|at|when|whenever|unless|without|until|till|if|while|during|before|after|with|inside|as"
    r"|for|yet|now|today|tonight|tomorrow|to (?!me\b|us\b))\b)"
)
"""An order with a place or an end is a rule for work, unless it is said to be for good."""
_TOLD = (
    r"(?:that\s+(?:i|we|my|our|he|she|they|the|this|it)|(?:everything|anything|all|what)\s+(?:i|we|you|that"
    r"|about))\b"
)
_FORMS = [
    lazy(form, _I)
    for form in (
        rf"{_OPENS}{_NOT}{_SPEAK}\s+(?P<again>\S.*?)[,\s]+(?:again|any ?more|ever again)\b",
        rf"{_OPENS}{_NOT}{_SPEAK}\s+{_PLACED}(?!(?:it|that|this)\b\W*\Z)(?-i:(?P<spoken>(?:(?:my|our|his|her"
        r"|their|the|that|this|how|what)\b|[A-Z]).*))",
        rf"{_OPENS}{_NOT}{_KEEP}\s+(?P<kept>{_TOLD}.*|(?:any of )?(?:this|that)(?: \w+)?(?=\s*"
        rf"(?:,?\s*please)?[.!]*\Z))",
        rf"{_OPENS}(?:{_NOT}(?:keep|save|store|put|write|add)|remove|delete|erase|drop|wipe"
        r"|clear)\s+(?P<held>\S.*?)\s+(?:from|out of|in|into|to)\s+your\s+memory\b",
        rf"{_OPENS}forget\s+(?!.*\b(?:for now|for (?:a|the) \w+|today|tonight)\b)(?:(?P<forgotten>{_TOLD}.*"
        r"|(?:about\s+)?(?:my|our|his|her|their)\s+[^,;:]+\Z)|any of (?:this|that)[.!]*\Z|(?:this"
        r"|that)\s+(?:conversation|chat|session|message)\b.*)|\bplease,?\s+forget\s+(?:this|that)[.!]*\Z",
        rf"\bi (?:don't|do not) want you to\s+(?:ever\s+)?(?:remember|{_SPEAK})\s+(?P<unwanted>\S.*)",
    )
]
_LATIN = (
    r"\b(?:erwähne?|speichere?|merke?\s+dir|notiere?|erinnere?\s+(?:mich|uns)|sprich|rede|menciones|mencionar"
    r"|guardes|guardar|recuerdes|anotes|hables de|hablar de)\b"
)
_HAN = r"(?:提起|提到|提及|提|记住|记录|记下|保存|言及|触れ|覚え|記憶|記録)"
_ABROAD = lazy(
    rf"^(?:bitte\s+)?{_LATIN}.*\b(?:nie|niemals|nicht)\b|(?:^|\bbitte\s+)vergiss\b(?!\s+(?:bitte\s+)?ni)"
    rf"|\b(?:no|nunca|jamás)\s+(?:vuelvas? a\s+)?{_LATIN}|(?:^|\bfavor\s+)(?:olvida(?:te)?|olvídate)\b|(?:不要"
    rf"|别|不许|勿)再?{_HAN}|忘(?:掉|记)(?:这|那|我|它|刚)|{_HAN}.{{0,6}}(?:しないで|ないで|するな|禁止)"
    r"|忘れて(?:ください|下さい|ね)?[。！]?\Z",
    _I,
)
_WORDS_ABROAD = lazy(
    rf"{_LATIN}|{_HAN}|\b(?:bitte|vergiss|vuelvas?|olvida(?:te)?|olvídate|lo que|dije|favor)\b|のこと[はを]?"
    r"|不要|别|不许|勿|再|忘[掉记れ]て?|しないで|ないで|するな|禁止|ください|下さい",
    _I,
)
"""The words of an order abroad, besides common words, that name nothing."""
_STEMS = tuple(
    """
    mention bring talk speak refer remind remember memor save saving stor record keep forget speicher merk notier
    erinner sprich rede vergiss mencion guard recuerd anot hable olvida
    """.split()
)
"""The beginnings of the words of every form in plain letters; most sentences have none, and are read no further."""
_ABOUT = lazy(r"\b(?:about|regarding|concerning)\s+(?P<of>.+)\Z", _I)
_TOLD_OF = lazy(r"\A(?:everything|anything|all|what)\b", _I)
_GENERIC = word_set(
    """
    again all anyone anything ask asked chat conversation ever everyone everything it know known matter memory
    mentioned message part please said say session story stuff subject tell that these thing things this those told
    """
)
"""Words that alone name nothing."""


def orders_of(own: str) -> tuple[str, ...]:
    """Return the orders about memory among the sentences of a sender's own words."""
    if not may_order(own):
        return ()
    found = ((sentence, unquoted(sentence)) for sentence in sentences(own) if len(sentence) <= MOST_CHARS)
    return tuple(sentence for sentence, said in found if is_order(said) and not asks(said))


def is_order(said: str) -> bool:
    """Return whether a sentence, with `QUOTED` for quotations, is an order about memory."""
    return may_order(said) and any(form.search(said) for form in (*_FORMS, _ABROAD))


def may_order(text: str) -> bool:
    """Return whether a text has a word of an order about memory."""
    lowered = text.lower()
    return not lowered.isascii() or any(map(lowered.__contains__, _STEMS))


def named_by(sentence: str) -> frozenset[str]:
    """Return the terms of an order's subject; none if it names nothing, as "forget what I said"."""
    return frozenset(term for _, term in _named(sentence))


def words_named_by(sentence: str) -> tuple[str, ...]:
    """Return the words of an order's subject, each term once, in order, for display."""
    return tuple({term: word for word, term in reversed(_named(sentence))}.values())[::-1]


def _named(sentence: str) -> list[tuple[str, str]]:
    sentence = sentence.replace("’", "'")
    found = next((match for form in _FORMS if (match := form.search(sentence))), None)
    if found is None:
        named, language = _WORDS_ABROAD.sub(" ", sentence), language_of(sentence)
    else:
        named, language = next(filter(None, found.groupdict().values()), ""), ENGLISH
        if _TOLD_OF.match(named):
            about = _ABOUT.search(named)
            named = "" if about is None else about["of"]
    told = (pair for pair in worded_terms(named, language) if pair[0] not in SEARCH_STOP and pair[0] not in _GENERIC)
    # Of English no more is left out, since "my old address" is not every address.
    return [(word, term) for word, term in told if language == ENGLISH or not is_common(word)]


def is_about(text: str, named: Sequence[Collection[str]]) -> bool:
    """Return whether a text holds all terms of the subject of any of these orders."""
    if not any(named):
        return False
    held = frozenset(term for _, term in worded_terms(text, language_of(text)))
    return any(terms and held.issuperset(terms) for terms in named)
