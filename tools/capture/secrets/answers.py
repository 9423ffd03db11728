"""Secrets in answers: a line asks for a password, the next line gives it without a label."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memtape.tools.capture.secrets.assigned import PASSWORD, PASSWORD_STEMS, is_drawn, password_like
from memtape.tools.capture.secrets.known import FoundSecret
from memtape.tools.capture.secrets.places import Places, compiled, either, stems
from memtape.tools.capture.secrets.plain_words import plain_words
from memtape.tools.capture.secrets.said import ended, is_no_name

_ASKED = (
    rf"(?i)(?<![^\W_])(?:(?:{PASSWORD})s?|pws?|pass|creds|credentials|login|zugangsdaten|identifiants|api[\s-]?(?:key|token))"
    r"(?![a-z_])(?P<rest>[^\n]{0,80})\n{1,2}"
)
_STEMS = either(PASSWORD_STEMS, stems("pass cred login zugang identifiants api".split()))
MAY_ASK = _STEMS
"""Every question for a password has one of these."""
_ASKS = (
    r"(?i)"
    r"[?？]|(?<![^\W_])(?:need|what|which|send|give|tell|remind|forgot|got|share|anyone|who|where|can|could|want|looking"
    r"|brauche|wie|was|welches|kennt|hast|weiß|besoin|quel|quelle|donne|necesito|cuál|cual|qual|preciso|dame"
    r"|serve|welk|jaki|vad)(?![^\W_])|\bask(?:s|ed)?\b"
)
_ANSWER = (
    r"(?i)(?:[>*_\s-]*(?:\[[^\]\n]{1,24}\]\s*)?(?:<[^>\n]{1,32}>\s*|\(?\d{1,2}:\d\d(?::\d\d)?\)?\s*)?"
    r"(?:[*_]{0,2}[\w. '-]{1,32}?[*_]{0,2}[:>]\s+)?)"
    r"(?P<said>(?:(?:yes|yeah|yep|sure|ok|okay|hi|hey|here|there|again|ja|klar|oui|sí|sim|np|ah|oh|hm+|so)[,.!:]?\s+(?:you\sgo[,:.!]?\s+)?){0,2}"
    r"(?:(?:it|that|this|you|i|we|she|he|should|still|now|set|to|is|was|be|try|use|think|believe|changed|s|das|es|ist|lautet|c|est|es|é|è|het|to"
    r"|jest|the|one|same|as|before|just)['’:]?\s?(?:s\s|re\s|ve\s|d\s)?(?:\s|(?<=['’\s]))){0,7})"
    r"[\"'`“„«]?(?<!\w)(?P<value>[!-~]{6,128})"
    r"(?P<end>[ \t]*(?:\n|\Z)|\s[(—–-]|\s(?:on|since|from|for|but|and|i|with|as|till|until|now|everywhere)\b)"
)

_DRAWN_WORDS = re.compile(r"[a-z]{3,12}(?:-[a-z]{3,12}){2,}-?\d{0,4}")


def answers(places: Places) -> Iterator[FoundSecret]:
    """Yield the answers to questions for a password. Takes linear time."""
    text = places.text
    if "\n" not in text:
        return
    for asked in places.matches(_ASKED, _STEMS):
        line = text[
            max(text.rfind("\n", max(0, asked.start() - 120), asked.start()) + 1, asked.start() - 120, 0) : asked.end()
        ]
        if not compiled(_ASKS).search(line):
            continue
        answer = compiled(_ANSWER).match(text, asked.end(), min(len(text), asked.end() + 300))
        if answer is None:
            continue
        value = ended(answer["value"])
        told = bool(answer["said"].strip())
        if _is_answer(value) or (told and plain_words(value, 0, quoted=True)):
            yield FoundSecret(answer.start("value"), answer.start("value") + len(value), "password")


def _is_answer(value: str) -> bool:
    return is_no_name(value) or (
        (is_drawn(value) or _DRAWN_WORDS.fullmatch(value) is not None)
        and password_like(value, quoted=True, shouted=False)
    )
