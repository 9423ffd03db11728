"""The part of a text in the sender's own voice, which may set standing instructions.

A prompt often carries text by other authors: a mail, a log, a page. Own words are only a short text of one
paragraph without any sign of another voice, and such a text around a block that is set off. In doubt nothing
is. `polarity` decides whether own words are an instruction.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from hashlib import blake2b
from typing import TypeVar

from memtape.schemas.patterns import lazy

ResultT = TypeVar("ResultT")

MOST_READ_CHARS = 20_000
"""A longer text is pasted as a whole, and is not looked at."""
MOST_REMEMBERED = 1_024
"""A text is asked about by each rule on instructions, and once for each of its statements."""
MOST_CHARS, MOST_LINES, MOST_SENTENCES = 400, 4, 6
"""The size of the longest text of a person's own, without the blocks that are set off."""

_I = re.IGNORECASE
_BLOCK = lazy(
    r"(?P<fence>```|~~~|\"\"\"|''')(?:(?!(?P=fence)).)*(?:(?P=fence)|\Z)|^[ \t]*>[^\n]*(?:\n|\Z)"
    r"|<(?P<tag>[a-z][\w-]{0,30})\b[^>\n]{0,200}>.*?(?:</(?P=tag)>|\Z)",
    _I | re.DOTALL | re.MULTILINE,
)
"""A block set off from the text around it: a fence, quoted lines, an element."""
_QUOTED = lazy(
    r"\"[^\"\n]{0,400}\"|“[^“”\n]{0,400}”|„[^„“”\n]{0,400}[“”]|«[^«»\n]{0,400}»|「[^「」\n]{0,400}」"
    r"|`[^`\n]{0,400}`"
)
_OF_SENTENCES = re.compile(r"[.!?…。！？]\s")
_RUN = re.compile(r"[^\W_]+")
_LONG_QUOTE_CHARS = 60
_SENTENCE = lazy(r"(?<=[.!?…])[\"')\]]*\s+|(?<=[。！？])|\n+")
_BULLET = lazy(r"^\s*(?:[-*+•]|\d+[.)])\s+")
_QUESTION = lazy(r"[?？][\"'”)\]]*\Z|(?:か|吗|呢)[。！]?\Z")
_POLITE = lazy(
    r"^(?:(?:please|hey|hi|ok),?\s+)*(?:can|could|would|will) you\s+(?:please\s+)?(?:always|never|stop|from now)\b", _I
)
_PARAGRAPHS = lazy(r"\S[ \t]*\n[ \t]*\n\s*\S")
_SENTENCE_END = lazy(r"[.!?…][\"')\]]*\s|[。！？]|\n")
_OF_A_RECORD = lazy(
    r"^[ \t]*(?:[+#/|$%<>=@~^{}\[\]]|[-*](?!\s\w)|\d+[.)]\s|\d{1,4}[-:/.]\d{1,2}\b|[A-Z]{2,}[ \t]*[\d:])"
    r"|^\w+ ?= ?\S|[;{}][ \t]*$|^(?:import|from|def|class|const|let|var|function) \w|\w(?:Error|Exception)\b"
    r"|::|->|=>|^(?:FAILED|PASSED|ok|not ok|at)\s\S+[/.:]|^(?!(?:note|rule|remember|reminder|important"
    r"|please|fyi|btw|new rule|also|so|ps|(?i:no|nope|nah|wrong|actually|correction|sorry|falsch"
    r"|korrektur))\b)[ \t]*[^\W\d_][^.!?:\n]{0,60}?[ \t]?:[ \t]+(?=[A-ZÄÖÜÉ¿¡\"“'\d])|\b(?:ERROR|FEHLER"
    r"|WARN(?:ING)?|INFO|DEBUG|FATAL|TRACE)\b|\bexit (?:code )?\d|https?://\S+ ?\||@@ ",
    re.MULTILINE,
)
"""Beginnings of a line of a log, a list, a comment, a diff, a dialogue or a form."""
_SALUTATION = lazy(
    r"^\s*(?:hi|hello|hey|dear|good (?:morning|afternoon|evening)|hallo|liebe\w*|guten (?:tag|morgen)|hola"
    r"|buen\w* \w+|bonjour|salut|chers?|chères?)\s+(?!(?:claude|codex|gemini|copilot|qwen|assistant|there"
    r"|again)\b)\w[^.!?\n]{0,40}[,!:]|^\s*(?:thanks?(?: you)?|cheers|(?:best|kind|warm) \w+|regards"
    r"|sincerely|yours|(?:viele|beste|liebe) grüße|gruß|saludos|cordialement|merci)[,.!]?\s*(?:\n|\Z)",
    _I | re.MULTILINE,
)
_ATTRIBUTED = lazy(
    r"(?<!\bi )(?<!\bi've )(?<!\bwe )\b(?:says?|said|told|tells|wrote|writes|written by|claims?|claimed"
    r"|suggests?|suggested|recommends?|recommended|announced|states|stated|advises|advised|replied|answered"
    r"|posted|according to|sagte?|schr(?:eib|ieb)t?|meinte?|laut|dit|écrit|selon|dice|dijo|escribe|escribió"
    r"|según|you (?:hereby )?(?:agree|accept|acknowledge|consent|undertake)|hereby)\b",
    _I,
)
"""Signs of another author's words, or of terms to agree to."""
_OF_ITS_OWN = lazy(
    r"\b(?:unless|until|when|if|once|like|as) (?:i|we|you) (?:say|said|told)\b|\byou (?:said|told)\b", _I
)
_ABOUT = lazy(
    r"\b(?:this|that|it|these|those|above|below|following|there|diese[rsmn]?|das|dies|daraus|davon|hier|oben"
    r"|unten|esto|eso|est[ae]s?|aquí|ceci|cela|ça|ce|cet|cette|ces)\b",
    _I,
)
_WORKS_ON_TEXT = lazy(
    r"\b(?:summari[sz]e|translate|rephrase|reword|rewrite|explain|shorten|proofread|paraphrase|reply|respond"
    r"|draft|quote|review|convert|format|extract|classify|analy[sz]e|opinions?|thoughts|tl;?dr|meaning"
    r"|means?|true|legit|legal|safe|übersetz\w*|erklär\w*|fass\w*|zusammen\w*|antwort\w* auf|traduc\w*"
    r"|tradui\w*|resum\w*|résum\w*|expliqu\w*|explic\w*)\b|\b(?:poster|e-?mail|mail|letter|text|message"
    r"|notes?|minutes|ticket|page|policy|rules?|terms|clause) (?:text )?(?:from|of|for|to|out)\b",
    _I,
)


def remembered(most: int) -> Callable[[Callable[[str], ResultT]], Callable[[str], ResultT]]:
    """Return a decorator that caches a pure function's results for the last `most` new texts.

    The keys are digests, so that a long text takes no more memory than a short one.
    """

    def of(make: Callable[[str], ResultT]) -> Callable[[str], ResultT]:
        made: dict[bytes, ResultT] = {}

        @wraps(make)
        def again(text: str) -> ResultT:
            key = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
            try:
                return made[key]
            except KeyError:
                result = make(text)
            if len(made) >= most:
                made.pop(next(iter(made), key), None)
            made[key] = result
            return result

        return again

    return of


@remembered(MOST_REMEMBERED)
def own_words(text: str) -> str:
    """Return the part of a text in its sender's voice; empty in doubt."""
    if len(text) > MOST_READ_CHARS:
        return ""
    said = _BLOCK.sub("\n", text)
    is_set_off = said != text
    if any(len(quote) > _LONG_QUOTE_CHARS or _OF_SENTENCES.search(quote) for quote in _QUOTED.findall(said)):
        return ""
    bare = _QUOTED.sub(" QUOTED ", said).replace("’", "'").strip()
    if not _is_short(bare) or _OF_A_RECORD.search(bare) or _SALUTATION.search(bare):
        return ""
    if not is_set_off and (_PARAGRAPHS.search(bare) or _is_about_a_text(bare)):
        return ""
    return "" if _is_attributed(bare, is_set_off) else said


def set_off_left_out(text: str) -> str:
    """Return a text without the blocks that are set off: possible own words; empty for a very long text."""
    return "" if len(text) > MOST_READ_CHARS else _BLOCK.sub("\n", text)


def sentences(text: str) -> list[str]:
    """Return the sentences of a text without its quoted lines, fences and bullets."""
    found = (_BULLET.sub("", piece or "").strip() for piece in _SENTENCE.split(_BLOCK.sub("\n", text)))
    return [sentence for sentence in found if sentence]


def words_in(text: str) -> list[str]:
    """Return the runs of letters and digits of a text, in small letters."""
    return _RUN.findall(text.lower())


def unquoted(sentence: str) -> str:
    """Return a sentence with straight apostrophes, and with `QUOTED` in the place of each quotation."""
    return _QUOTED.sub("QUOTED", sentence.replace("’", "'")).strip()


def asks(said: str) -> bool:
    """Return whether a sentence is a question, other than a polite request: "Could you always test?"."""
    return _QUESTION.search(said) is not None and _POLITE.search(said) is None


def _is_short(bare: str) -> bool:
    if len(bare) > MOST_CHARS or len([line for line in bare.split("\n") if line.strip()]) > MOST_LINES:
        return False
    return len(_pieces(bare)) <= MOST_SENTENCES


def _is_about_a_text(bare: str) -> bool:
    """Return whether a sentence asks for work on a text that must be the text beside it."""
    return any(
        _WORKS_ON_TEXT.search(it) or (it.rstrip("\"') ").endswith(("?", "？")) and _ABOUT.search(it))
        for it in _pieces(bare)
    )


def _is_attributed(bare: str, is_set_off: bool) -> bool:
    """Return whether a sentence reports the words of another person, unless it introduces a block."""
    pieces = [piece for piece in _pieces(bare) if not (is_set_off and piece.rstrip().endswith(":"))]
    return any(_ATTRIBUTED.search(_OF_ITS_OWN.sub(" ", piece)) for piece in pieces)


def _pieces(bare: str) -> list[str]:
    found, start = [], 0
    for end in _SENTENCE_END.finditer(bare):
        found.append(bare[start : end.end()])
        start = end.end()
    return [piece for piece in (*found, bare[start:]) if piece.strip()]
