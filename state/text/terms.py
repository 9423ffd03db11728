"""The terms by which texts are searched: words without the commonest, in one form for all their inflections.

A text is stemmed as the language that its script, its commonest words or its letters tell. Marks on Latin letters fall
away, since people leave them out. Ideographs, kana and hangul go by overlapping pairs (`text.words`), which no stemmer
touches.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from snowballstemmer import stemmer

from memtape.state.text.lexicon import SEARCH_STOP
from memtape.state.text.normal import words

ENGLISH = "english"

_COMMON_WORDS = {
    ENGLISH: "the and is are was were of to in that it i you for on with have has not be this my your",
    "german": """
        der die das und ist sind war nicht ich du er sie es wir ihr ein eine einen dem den des im am mit auf für von
        zu auch aber noch wie wenn dass mein dein kein haben hat habe wird werden bei nach aus in an""",
    "spanish": """
        el la los las un una unos y es son era no yo que en por para con su sus mi tu se lo al del más como pero muy
        está están fue ha han este esta hay cuando donde""",
    "french": """
        le la les un une des et est sont était ne pas je tu il elle nous vous ils que qui dans pour avec sur son sa
        ses mon ma du au aux mais ce cette plus comme""",
    "italian": """
        il lo la gli le un una e è sono era non io che di da in con per su mio tuo si ma come più anche questo della
        del nel alla sul sulla dei degli delle nei alle""",
    "portuguese": """
        o os as um uma e é são era não eu que de da do em no na por para com seu sua meu se mas como mais muito está
        foi""",
    "dutch": """
        de het een en is zijn was niet ik jij hij zij wij van in op met voor aan dat die te er maar ook als naar
        heeft hebben""",
    "swedish": "och är var inte jag du han hon det en ett den som på av för med till att har vi de om",
    "russian": "и в не на я что он она они мы вы это с по как к у из за но для был была было есть",
}
COMMON = {language: frozenset(said.split()) for language, said in _COMMON_WORDS.items()}
"""The commonest words of the languages that are told apart."""

_IRREGULAR_FORMS = """
be=been began=begin begun=begin bit=bite bitten=bite blew=blow blown=blow bought=buy broke=break broken=break
brought=bring built=build came=come caught=catch chose=choose chosen=choose did=do done=do drank=drink drunk=drink
drew=draw drawn=draw drove=drive driven=drive ate=eat eaten=eat fell=fall fallen=fall fed=feed felt=feel fought=fight
found=find flew=fly flown=fly forgot=forget forgotten=forget gave=give given=give went=go gone=go got=get gotten=get
grew=grow grown=grow heard=hear held=hold hid=hide hidden=hide kept=keep knew=know known=know laid=lay led=lead
left=leave lent=lend lost=lose made=make meant=mean met=meet paid=pay ran=run rang=ring ridden=ride rode=ride
rose=rise risen=rise said=say sang=sing sung=sing sat=sit saw=see seen=see sent=send shot=shoot showed=show shown=show
slept=sleep sold=sell spoke=speak spoken=speak spent=spend stole=steal stolen=steal stood=stand struck=strike
swam=swim swum=swim taught=teach thought=think threw=throw thrown=throw told=tell took=take taken=take tore=tear
torn=tear understood=understand woke=wake woken=wake won=win wore=wear worn=wear written=write wrote=write
children=child men=man women=woman people=person feet=foot teeth=tooth mice=mouse geese=goose wives=wife lives=life
better=good best=good worse=bad worst=bad
"""
IRREGULAR = dict(pair.split("=") for pair in _IRREGULAR_FORMS.split())
"""English forms that no rule of stemming brings together, each with its plain one."""

_CLITIC = re.compile(r"(?:['’](?:s|re|ve|ll|d|m)|n['’]t)\Z")
_LETTERS = re.compile(r"[^\W\d_]+")
_SCRIPTS = {
    "russian": re.compile(r"[а-яё]"),
    "greek": re.compile(r"[α-ω]"),
    "arabic": re.compile(r"[ء-ي]"),
    "armenian": re.compile(r"[ա-և]"),
}
"""Languages that their script tells, in lower case."""
_MARKS = {
    "german": re.compile(r"[äöüß]"),
    "spanish": re.compile(r"[ñ¿¡]"),
    "french": re.compile(r"[çœêèù]"),
    "portuguese": re.compile(r"[ãõ]"),
    "swedish": re.compile(r"å"),
}
"""Letters by which a language is told where words do not tell it."""
_STEMMERS = {language: stemmer(language) for language in (*COMMON, *_SCRIPTS)}
_LATIN = re.compile(r"[a-zà-žß]+")


def languages_told(text: str) -> list[str]:
    """Return the languages that a text may be in by its script, commonest words and letters; none if none tells."""
    lower = text.lower()
    for language, letter in _SCRIPTS.items():
        if letter.search(lower):
            return [language]
    held = dict.fromkeys(_LETTERS.findall(lower))
    counts = {language: sum(word in common for word in held) for language, common in COMMON.items()}
    most = max(counts.values())
    likely = [language for language, count in counts.items() if count == most]
    marked = [language for language in likely if language in _MARKS and _MARKS[language].search(lower)]
    return marked or (likely if most else [])


def language_of(text: str) -> str:
    """Return the language of a text by itself, English where that may be."""
    likely = languages_told(text)
    return ENGLISH if ENGLISH in likely or not likely else likely[0]


def terms(text: str, language: str | None = None) -> list[str]:
    """Return the terms of a text in order; of one that says nothing but common words, these."""
    language = language or language_of(text)
    return [_stem(word, language) for word in words(text) if word not in SEARCH_STOP] or words(text)


@lru_cache(maxsize=65_536)
def _stem(word: str, language: str) -> str:
    bare = _CLITIC.sub("", word) or word
    if language == ENGLISH:
        bare = IRREGULAR.get(bare, bare)
    stem = str(_STEMMERS[language].stemWord(bare)) if bare.isalpha() else bare
    if stem.isascii() or not _LATIN.fullmatch(stem):
        return stem
    return "".join(char for char in unicodedata.normalize("NFD", stem) if not unicodedata.combining(char))
