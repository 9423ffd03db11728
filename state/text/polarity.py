"""The polarity of a text, by its words alone: a fact, a rule, a text about memory, or a correction.

The caller decides who may set a rule. `instructions` and `orders` find rules and texts about memory; the forms
of a correction are here.
"""

from __future__ import annotations

import re

from memtape.schemas.patterns import lazy
from memtape.schemas.rows import Polarity
from memtape.state.text.instructions import heard_in, sets_standing
from memtape.state.text.orders import is_order
from memtape.state.text.own_words import MOST_CHARS, asks, own_words, sentences, unquoted

_CUE = lazy(
    r"\b(?:no|nope|nah|wrong|actually|correction|not|sorry|incorrect|outdated|meant|nein|falsch|korrektur"
    r"|stimmt|meinte|incorrecto|corrección|quise|refería)\b|不对|错了|更正|不是|意思|いや|いいえ|違|訂正|意味",
    re.IGNORECASE,
)
"""A text without any of these words is no correction."""
_VALUE = r"(?=.*(?:\d|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|`|[\"“]|(?-i:(?<=[a-z,'] )[A-Z][\w-]+)))"
_IS_CORRECTION = lazy(
    # A value of a thing named before, behind words that call another value wrong.
    r"^(?:(?:oh|ah|hm+|oops|wait|hey|ok(?:ay)?|well|my (?:bad|mistake)|apologies)[,\s]+)*(?:(?:no|nope|nah"
    r"|wrong|actually|correction|not quite|sorry|wait)\b[\s,:!.;—–-]*\s)*(?:no|nope|nah|wrong|actually"
    r"|correction|not quite|sorry)\b"
    rf"[\s,:!.;—–-]*\s(?:actually,?\s+)?{_VALUE}(?:(?:it|this|that|they|he|she|the|my|our|his|her|their)\b"
    r"|(?-i:[A-Z][\w-]+ (?:is|are|has)\b)|[\w.:/-]*\d)|^(?:sorry,?\s+|no,?\s+|oh,?\s+)*(?:that(?:'s| is"
    r"| was) (?:wrong|not (?:right|true|correct)|incorrect|outdated)\b|i meant\s+(?!to\b|it\b|well\b"
    r"|that i\b)\S)|^(?:nein|falsch|korrektur)\s*[,:!.;—–-](?=.*\d)|\bdas stimmt (?:so )?nicht\b"
    r"|^(?:nein,?\s+)?ich meinte\b|^(?:no|incorrecto|corrección)\s*[,:!.;—–-](?=.*\d)|\beso no es (?:cierto"
    r"|correcto|así)\b|\bquise decir\b|\bme refería a\b"
    r"|^(?:不对|错了|更正|不是)[，。,！!：:]|我的意思是|^(?:いや|いいえ|違います|違う|訂正)[、。,！!：:]|という意味でした",
    re.IGNORECASE,
)


def polarity(text: str) -> Polarity:
    """Return the polarity of a text: the first of meta, rule and correction in its sentences, else fact.

    Words of another author are no rule, order or correction.
    """
    heard = heard_in(text)
    if heard.instructs:
        return "meta" if heard.orders else "rule"
    return "correction" if corrections_in(text) else "fact"


def corrections_in(text: str) -> tuple[str, ...]:
    """Return the sentences of a text, in the sender's words, that correct an earlier text."""
    return tuple(filter(_corrects, sentences(own_words(text)))) if _CUE.search(text) else ()


def _corrects(sentence: str) -> bool:
    said = unquoted(sentence)
    is_form = len(said) <= MOST_CHARS and not asks(said) and _IS_CORRECTION.search(said) is not None
    return is_form and not is_order(said) and not sets_standing(sentence)
