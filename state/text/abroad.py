"""What a text in German, Spanish, French or Chinese states of a subject: where, what, or with whom it is now.

A few frames that most sentences about a state have; what is in none of them tells nothing. English is read by
`telling`. Whether one text replaces another is for `replacing`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from memtape.schemas.patterns import lazy
from memtape.state.text.terms import ENGLISH, language_of, terms

MOST_CHARS = 160
MOST_VALUE_WORDS = 5
_I = re.IGNORECASE


class Abroad(NamedTuple):
    """What one clause states: of what, by its terms, how (`is`, `in` or `by`), and the value, by its terms."""

    subject: frozenset[str]
    how: str
    value: frozenset[str]
    is_time: bool = False


class _Frames(NamedTuple):
    """The frames of a language: `how` by the name of the group that stands before a value, and words of no weight."""

    value: re.Pattern[str]
    uses: re.Pattern[str]
    ended: re.Pattern[str]
    adds: re.Pattern[str]
    light: frozenset[str]


_GERMAN = _Frames(
    lazy(
        r"(?:(?P<is>\b(?:ist|sind|heißt|lautet|beträgt|läuft auf|steht auf|kostet|bleibt)(?: jetzt| nun| ab sofort"
        r"| wieder| seit \w+)*\s+"
        r"(?=(?:der|die|das|ein|eine|Herr|Frau|Dr)\b|(?-i:[A-ZÄÖÜ\d])))|(?P<in>\b(?:ist|sind|liegt|liegen|steht"
        r"|stehen|läuft|laufen|wohnt?|wohne|arbeitet?|arbeite|sitzt|hängt|befindet sich)"
        r"(?: jetzt| nun| inzwischen| wieder| seit \w+)*\s+(?:in|im|am|an|auf|bei|beim|unter)\s+)"
        r"|(?P<by>\b(?:bei|von|mit|über|durch|auf|nach|zu)\s+)|(?P<note>:\s+))(?:(?:der|die|das|den|dem|einem|einer"
        r"|einen)\s+)?(?P<value>\S.*)",
        _I,
    ),
    lazy(r"\b(?:nehmen|nutzen|verwenden|benutzen|haben)\s+wir\s+(?:jetzt\s+|nun\s+)?(?P<value>\S.*)", _I),
    lazy(r"\b(?:nicht mehr|kein\w* \w+ mehr|statt|anstatt|anstelle von|ersetzt|abgeschafft|gekündigt|verlassen"
         r"|aufgehört)\b", _I),
    lazy(r"\b(?:auch|außerdem|zusätzlich|ebenfalls|zweite[rsn]?|weitere[rsn]?|noch ein\w*)\b|\?", _I),
    frozenset("wir uns ich fur mein unser zurzeit buch nehm komm mach lauf geh wohn arbeit nutz verwend benutz jetzt"
         " nun seit ab sofort mein unser lieg steh bleib".split()),
)  # fmt: skip
_SPANISH = _Frames(
    lazy(
        r"(?:(?P<is>\b(?:es|son|se llama|cuesta|será)(?: ahora| otra vez| de nuevo| ya)*\s+(?=(?:el|la|los|las|un|una"
        r"|don|doña)\b|(?-i:[A-ZÁÉÍÓÚ\d])))"
        r"|(?P<in>\b(?:es|son) a las?\s+|\b(?:se mudó|se ha mudado|se trasladó)\s+a\s+|\b(?:está|están|queda|vive"
        r"|vivo|trabaja|trabajo|estamos|estoy)(?: ahora| ya)*\s+(?:en|a|con|sobre|bajo)\s+)"
        r"|(?P<by>\b(?:con|por|a través de|en)\s+)|(?P<note>:\s+))(?:(?:el|la|los|las|un|una)\s+)?(?P<value>\S.*)",
        _I,
    ),
    lazy(r"\b(?:usamos|utilizamos|uso|utilizo)\s+(?:ahora\s+)?(?P<value>\S.*)", _I),
    lazy(r"\bya no\b|\ben (?:vez|lugar) de\b|\bdej(?:é|amos|ó) de\b|\bsustitu\w+|\breemplaz\w+|\bcancel\w+", _I),
    lazy(r"\b(?:también|además|segund[oa]|otr[oa] (?!vez))\b|\?", _I),
    frozenset("vez nuev mi nuestr vien hac us utiliz ahor ya ten compr desd ser est".split()),
)  # fmt: skip
_FRENCH = _Frames(
    lazy(
        r"(?:(?P<is>\b(?:est|sont|s'appelle|coûte|sera)(?: maintenant| désormais| de nouveau)*\s+(?=(?:le|la|les|un"
        r"|une|M\.|Mme)\b|l'|(?-i:[A-ZÉ\d])))"
        r"|(?P<in>\b(?:est|sont|se trouve|habite|travaille|reste|tourne|répond)(?: maintenant| désormais)*\s+(?:à|au"
        r"|aux|en|dans|sur|chez|sous)\s+)"
        r"|(?P<by>\b(?:avec|par|chez|via|de chez)\s+)|(?P<note>\s?:\s+))(?:(?:le|la|les|un|une)\s+|l')?(?P<value>\S.*)",
        _I,
    ),
    lazy(r"\b(?:utilisons|utilise|on prend|nous prenons)\s+(?:maintenant\s+)?(?P<value>\S.*)", _I),
    lazy(r"\bplus\b(?<=\bplus)|\bau lieu de\b|\bremplac\w+|\ba quitté\b|\barrêté\b|\bannul\w+|\babandonn\w+", _I),
    lazy(r"\b(?:aussi|également|en plus|deuxième|second|autre)\b|\?", _I),
    frozenset("nouveau nouvel mon notr fair util pren vien achet mainten désorm desorm êtr etr".split()),
)  # fmt: skip
LANGUAGES = {"german": _GERMAN, "spanish": _SPANISH, "french": _FRENCH}
_CLAUSE = lazy(
    r"(?<!\bDr)(?<!\bSr)(?<!\bSra)(?<!\bM)(?<!\bNr)[.;!]\s|[.;!]\Z|(?<=\w{3}):\s(?=(?:das|der|die|el|la|le)\s)|,\s", _I
)
_TIME = lazy(
    r"\b(?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag|uhr|januar|februar|märz|april|mai|juni|juli"
    r"|august"
    r"|september|oktober|november|dezember|lunes|martes|miércoles|jueves|viernes|sábado|domingo|enero|febrero|marzo"
    r"|abril"
    r"|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre|lundi|mardi|mercredi|jeudi|vendredi|samedi"
    r"|dimanche|janvier|février|mars|avril|juin|juillet|août|septembre|octobre|novembre|décembre)s?\b|\d[:.h]\d\d"
    r"|\d\s?h\b"
    r"|[\d一二三四五六七八九十两][点月日号]|周[一二三四五六日天]|星期|\A\d{1,2}\Z",
    _I,
)
_IDIOMS = frozenset(
    "urlaub betrieb wartung ordnung arbeit krank panne vacances vacaciones mantenimiento marcha obras".split()
)
_KIN = frozenset(
    "herman hij prim ti amig frer sœur soeur fil cousin bruder schwest sohn tocht freund kolleg nachbar".split()
)
"""Of these somebody may have several."""
_NOUN = lazy(r"\b(?!(?:Ich|Wir|Er|Sie|Es|Du|Ihr|Man|Das|Die|Der|Mein|Unser|Seit|Ab|Am|Im)\b)[A-ZÄÖÜ]\w+")
_SINCE = lazy(r"\b(?:desde|seit|depuis|ab|a partir de|à partir de)\s+\w+", _I)
_VALUE_ENDS = lazy(r",|\s(?:seit|ab|desde|depuis|für|para|pour|weil|porque|parce)\s.*", _I)
_HAN = lazy(r"[\u4e00-\u9fff]")
_HAN_STATES = lazy(
    r"\A(?:我们的?|我的?|咱们|这个|从.{1,8}起)?(?P<of>.{2,12}?)的?(?:现在|目前|已经|已|改|就)*"
    r"(?P<how>在|是|为|叫|由|放在|部署在|运行在|住在|设在|位于|搬到|迁到|迁移到|换成|改成|改为|改到|搬去|转到)了?(?P<value>[^，。,;；了]{1,16})了?"
)
_HAN_OWNS = lazy(r"\A(?P<value>[^，。的]{2,4})(?:现在)?(?P<how>负责|担任)(?:这个|我们的?)?(?P<of>[^，。]{2,12})")
_HAN_LIVES = lazy(r"\A我(?:们|家)?(?:现在|已经|目前)*(?:住在|搬到|搬去)了?(?P<value>[^，。,;；了]{1,12})")
_HAN_ADDS = lazy(r"也|还|另外|第二|？|吗|以前|曾经")
_HAN_CHANGES = ("搬到", "迁到", "迁移到", "换成", "改成", "改为", "改到", "搬去", "转到")
_HAN_OWNER = lazy(r"\A(?P<of>.+?)的?(?:负责人|管理员|经理)\Z")


@lru_cache(maxsize=2_048)
def told_abroad(text: str) -> tuple[str, tuple[Abroad, ...]]:
    """Return the language of a text, and what it states; nothing in another language, or where it adds or asks."""
    if len(text) > MOST_CHARS or (text.isascii() and language_of(text) == ENGLISH):
        return "", ()
    if _HAN.search(text):
        return "chinese", () if _HAN_ADDS.search(text) else tuple(_in_chinese(text))
    language = language_of(text)
    frames = LANGUAGES.get(language)
    if frames is None or frames.adds.search(text):
        return language, ()
    pieces = [piece.strip() for piece in _CLAUSE.split(text) if piece.strip()]
    return language, tuple(found for piece in pieces for found in _in_frames(piece, language, frames))


def ended_abroad(text: str, language: str) -> frozenset[str]:
    """Return the terms of those clauses of a text that say that something ended."""
    frames = LANGUAGES.get(language)
    pieces = () if frames is None else _CLAUSE.split(text)
    return frozenset(
        term for piece in pieces if frames is not None and frames.ended.search(piece) for term in terms(piece, language)
    )


def _in_frames(piece: str, language: str, frames: _Frames) -> Iterator[Abroad]:
    found, how = frames.uses.search(piece), "by"
    if found is None:
        found = frames.value.search(piece)
        while found is not None and not piece[: found.start()].strip():
            found = frames.value.search(piece, found.start("value"))
        how = "" if found is None else next(name for name in ("is", "in", "by", "note") if found[name])
    if found is None:
        return
    value = _VALUE_ENDS.sub("", found["value"]).strip(" .!")
    said = _SINCE.sub(" ", f"{piece[: found.start()]} {found['value'][len(value) :]}")
    subject = frozenset(terms(said, language) if said.strip() else ()) - frames.light
    if subject & _KIN or (value.split()[:1] and value.split()[0].lower() in _IDIOMS):
        return
    is_told = subject and (language != "german" or _NOUN.search(said)) and (how != "by" or value[:1].isupper())
    if is_told and 0 < len(value.split()) <= MOST_VALUE_WORDS:
        yield Abroad(subject, how, frozenset(terms(value, language)), _TIME.search(value) is not None)


def _in_chinese(text: str) -> Iterator[Abroad]:
    found, owns = _HAN_STATES.match(text), _HAN_OWNS.match(text)
    lives = _HAN_LIVES.match(text)
    if lives:
        yield Abroad(frozenset(["我住"]), "in", frozenset([lives["value"]]))
    elif owns:
        yield Abroad(frozenset([owns["of"]]), "owner", frozenset([owns["value"]]))
    elif found:
        owner = _HAN_OWNER.match(found["of"])
        how = (
            "owner"
            if owner
            else "is"
            if found["how"] in ("是", "为", "叫")
            else "any"
            if found["how"] in _HAN_CHANGES
            else "in"
        )
        yield Abroad(
            frozenset([owner["of"] if owner else found["of"]]),
            how,
            frozenset([found["value"]]),
            _TIME.search(found["value"]) is not None,
        )
