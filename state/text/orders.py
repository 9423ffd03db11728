"""Orders about memory, as "never mention X again" and "forget that I …": the sentences and their subjects.

English first; of other languages the commonest forms are read. When in doubt a sentence is no order: "never
mention prices in the newsletter" is a rule for work, and "forget it" is not about memory. The right to give
orders is decided elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from memtape.schemas.patterns import lazy
from memtape.state.text.lexicon import SEARCH_STOP
from memtape.state.text.terms import ENGLISH, is_common, language_of, worded_terms

_I = re.IGNORECASE
_OPENS = (
    r"(?:^|[,;:–—]\s*)(?:(?:please|pls|ok(?:ay)?|and|so|but|also|just|now|hey|oh|can you|could you|would you|i want you"
    r" to|i'd like you to)[,\s]+)*"
)
"""Words before an imperative; with a subject before the verb a sentence only states."""
_NOT = r"(?:(?:never|don't|do not|stop)\s+(?:ever\s+)?)"
_SPEAK = (
    r"(?:mention(?:ing)?|bring(?:ing)?\s+up|talk(?:ing)?\s+about|speak(?:ing)?\s+(?:of|about)|refer(?:ring)?\s+to"
    r"|remind(?:ing)?\s+(?:me|us)\s+(?:of|about))"
)
_KEEP = r"(?:remember(?:ing)?|memori[sz](?:e|ing)|sav(?:e|ing)|stor(?:e|ing)|record(?:ing)?|keep(?:ing)?)"
_EVER = r"(?:again|any ?more|ever again)"
_PLACED = (
    r"(?!.*\b(?:in|on|at|when|whenever|unless|without|until|till|if|while|during|before|after|with|inside|within|as|for"
    r"|yet|now|today|tonight|tomorrow|to (?!me\b|us\b))\b)"
)
"""An order with a place or an end is a rule for work, unless it is said to be for good."""
_OWN = r"(?:(?:my|our|his|her|their|the|that|this|how|what)\b|[A-Z])"
_TOLD = (
    r"(?:that\s+(?:i|we|my|our|he|she|they|the|this|it)\b|(?:everything|anything|all|what)\s+(?:i|we|you|that|about)\b)"
)
_THIS = r"(?:this|that|any of (?:this|that))(?:\s+(?:conversation|chat|session|message|part|one))?"
_FORMS = (
    rf"{_OPENS}{_NOT}{_SPEAK}\s+(?P<again>\S.*?)[,\s]+{_EVER}\b",
    rf"{_OPENS}{_NOT}{_SPEAK}\s+{_PLACED}(?!(?:it|that|this)\b\W*\Z)(?-i:(?P<spoken>{_OWN}.*))",
    rf"{_OPENS}stop\s+(?:ever\s+)?{_SPEAK}\s+{_PLACED}(?!(?:it|that|this)\b\W*\Z)(?P<stopped>\S.*)",
    rf"{_OPENS}(?:{_NOT}|you (?:don't|do not) (?:need|have) to\s+){_KEEP}\s+"
    rf"(?P<kept>{_TOLD}.*|{_THIS}(?=\s*(?:,?\s*please)?[.!]*\Z))",
    rf"{_OPENS}(?:{_NOT}(?:keep|save|store|put|write|add)|(?:remove|delete|erase|drop|wipe|clear|leave|keep))\s+"
    r"(?P<held>\S.*?)\s+(?:from|out of|in|into|to)\s+your\s+memory\b",
    rf"{_OPENS}forget\s+(?!.*\b(?:for now|for (?:a|the) (?:moment|second|while|time being)|today|tonight)\b)"
    r"(?:(?P<forgotten>(?:that\s+(?:i|we|my|our|he|she|they|the|this|it)|(?:everything|anything|all|what)"
    r"\s+(?:i|we|you|that|about))\b.*|(?:about\s+)?(?:my|our|his|her|their)\s+[^,;:]+\Z)|any of (?:this|that)[.!]*\Z"
    r"|(?:this|that)\s+(?:conversation|chat|session|message)\b.*)",
    r"\bplease,?\s+forget\s+(?:this|that)[.!]*\Z",
    rf"\bi (?:don't|do not) want you to\s+(?:ever\s+)?(?:remember|{_SPEAK})\s+(?P<unwanted>\S.*)",
)
_ABROAD = (
    r"^(?:bitte\s+)?(?:erwähne?|speichere?|merke?\s+dir|notiere?|erinnere?\s+(?:mich|uns)|sprich|rede|rede)\b"
    r".*\b(?:nie|niemals|nicht)\b(?:\s+(?:mehr|wieder))?",
    r"(?:^|[,;:]\s*|\bbitte\s+)vergiss\b(?!\s+(?:bitte\s+)?(?:nicht|nie)\b)",
    r"\b(?:no|nunca|jamás)\s+(?:vuelvas? a\s+)?(?:menciones|mencionar|guardes|guardar|recuerdes|anotes|anotar"
    r"|hables de|hablar de)\b|(?:^|[,;:]\s*|\bfavor\s+)olvida(?:te)?\b|(?:^|[,;:]\s*)olvídate\b",
    r"(?:不要|别|不许|勿).{0,4}(?:提起|提到|提及|提|记住|记录|记下|保存)|忘(?:掉|记)(?:这|那|我|它|刚)",
    r"(?:言及|触れ|覚え|記憶|保存|記録).{0,6}(?:ないで|しないで|するな|禁止)|忘れて(?:ください|下さい|ね)?[。！]?\Z",
)
_FORM = [lazy(form, _I) for form in _FORMS]
_FOREIGN = lazy("|".join(f"(?:{form})" for form in _ABROAD), _I)
_FOREIGN_WORDS = lazy(
    r"\b(?:bitte|erwähne?|speichere?|merke?|dir|notiere?|erinnere?|mich|uns|sprich|rede|nie|niemals|nicht|mehr|wieder"
    r"|über|davon|vergiss|no|nunca|jamás|vuelvas?|a|menciones|mencionar|guardes|guardar|recuerdes|anotes|anotar|hables"
    r"|hablar|de|olvida|olvídate|olvidate|favor|lo que|dije)\b|不要|别|不许|勿|再|提起|提到|提及|提|记住|记录|记下|保存"
    r"|忘掉|忘记|のこと[はを]?|言及|触れ|覚え|記憶|保存|記録|しないで|ないで|するな|禁止|忘れて|ください|下さい",
    _I,
)
_MAY = lazy(
    r"\b(?:never|don['’]t|do not|stop|not (?:need|have) to)\s+(?:ever\s+)?(?:want|need|have|mention|bring|talk|speak"
    r"|refer|remind|remember|memori|sav|stor|record|keep|put|writ|add)"
    r"|\bforget\b|\byour\s+memory\b|\b(?:erwähne?|speichere?|merke?|notiere?|erinnere?|sprich|rede|vergiss)\b"
    r"|\b(?:no|nunca|jamás)\s+(?:vuelv|mencion|guard|recuerd|anot|habl)|\bolv[ií]da|不要|别|不许|勿|忘|言及|触れ|覚え|記",
    _I,
)
"""A text without this has no order."""
_MAY_WORDS = (
    "never don't don’t stop forget memory erwähn speicher merk notier erinner sprich rede vergiss vuelv mencion guard "
    "recuerd anot habl olv 不要 别 不许 勿 忘 言及 触れ 覚え 記"
).split()
_MAY_WORDS += ["do not", "not need", "not have"]
"""A text in small letters without one of these has nothing that the expression finds, which takes ten times as long."""
_ABOUT = lazy(r"\b(?:about|regarding|concerning)\s+(?P<of>.+)\Z", _I)
_TOLD_OF = lazy(r"\A(?:everything|anything|all|what)\b", _I)
_GENERIC = frozenset(
    """
    again all anybody anymore anyone anything ask asked chat conversation ever everybody everyone everything it
    know known matter memory mentioned message part please said say session story stuff subject tell that these
    thing things this those told topic
    """.split()
)
"""Words that alone name nothing."""


def has_word_of_order(text: str) -> bool:
    """Return whether a text has one of the words found in any order; most texts are skipped by this test."""
    return any(map(text.lower().__contains__, _MAY_WORDS))


def may_order(text: str) -> bool:
    """Return whether a text has all words needed for an order."""
    return has_word_of_order(text) and _MAY.search(text) is not None


def is_order(sentence: str) -> bool:
    """Return whether a sentence is an order about memory."""
    return any(form.search(sentence) for form in _FORM) or _FOREIGN.search(sentence) is not None


def named_by(sentence: str) -> frozenset[str]:
    """Return the terms of an order's subject; none if it names nothing, as "forget what I said"."""
    return frozenset(term for _, term in _named(sentence))


def words_named_by(sentence: str) -> tuple[str, ...]:
    """Return the words of an order's subject, each term once, in order, for display."""
    return tuple({term: word for word, term in reversed(_named(sentence))}.values())[::-1]


def _named(sentence: str) -> list[tuple[str, str]]:
    sentence = sentence.replace("’", "'")
    found = next((match for form in _FORM if (match := form.search(sentence))), None)
    if found is not None:
        named = next((group for group in found.groupdict().values() if group), "")
        if _TOLD_OF.match(named):
            about = _ABOUT.search(named)
            named = "" if about is None else about["of"]
    else:
        named = _FOREIGN_WORDS.sub(" ", sentence)
    language = ENGLISH if found is not None else language_of(sentence)
    told = (pair for pair in worded_terms(named, language) if pair[0] not in SEARCH_STOP and pair[0] not in _GENERIC)
    # Of English no more is left out, since "my old address" is not every address.
    return [(word, term) for word, term in told if language == ENGLISH or not is_common(word)]


def is_about(text: str, named: Sequence[Collection[str]]) -> bool:
    """Return whether a text holds all terms of the subject of any of these orders."""
    if not any(named):
        return False
    held = frozenset(term for _, term in worded_terms(text, language_of(text)))
    return any(terms and held.issuperset(terms) for terms in named)
