"""Standing instructions: sentences of a person for all later sessions, found by explicit cues.

An English sentence is read at each start of a clause. A general order, a convention of "we" or "this repo", or
a statement about kinds of things ("commit messages must …") instructs. Other languages are read by their words
for always, never and from now on. A sentence that points at the work at hand, reports, supposes, asks, or
specifies the program being written instructs nothing, whatever else is in it. `own_words` decides whose words
a text has.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

import msgspec

from memtape.schemas.patterns import lazy
from memtape.state.text.lexicon import word_list, word_pattern
from memtape.state.text.normal import normal_text
from memtape.state.text.orders import is_order, may_order, orders_of
from memtape.state.text.own_words import (
    MOST_CHARS,
    asks,
    own_words,
    remembered,
    sentences,
    set_off_left_out,
    unquoted,
    words_in,
)
from memtape.state.text.statement_cues import LEANS_ON

_I = re.IGNORECASE
MOST_REMEMBERED = 16_384
"""Texts in the cache: each start reads those of a project again, a long one for some milliseconds."""
MOST_WORDS = 32_768
"""Words in the cache of whether they may instruct."""
MOST_DOUBTED = 12
"""A text with more is a document; its first sentences are asked about."""

# --- Pieces ---

_VERBS, _THINGS, _STYLES = map(word_pattern, ("verbs of orders", "things of code", "styles of code"))
_TASKS, _PRODUCT = map(word_pattern, ("verbs of tasks", "parts of a product"))
_DOING = word_pattern("deeds to stop")
_LANGUAGES = (
    r"(?:(?:british|american|plain|simple|us|uk) )?(?:english|german|french|spanish|italian|portuguese|dutch|polish"
    r"|russian|chinese|japanese|korean)"
)

_WORD = r"[\w`'/.@+#*~%-]+"
_ONE = (
    r"(?:the|this|that|these|those|it|its|them|him|her|his|their|my|your|me|us|one|both|either|here|there|a"
    r"|an|another|some|more|much|anything|nothing|option|variant|version|number|step|port|plan|code|\d+)\b"
)
"""Words that begin the name of a single thing, at hand or to be made."""
_NOT = r"(?:don't|do not|dont)"
_ALWAYS = rf"(?:always|never(?: ever)?|{_NOT} ever|only ever)"
_KIND = rf"(?:(?!{_ONE}|and\b|or\b|not\b|is\b|are\b){_WORD}\s+){{0,3}}?{_THINGS}\b"
_PLACE = r"(?:repo(?:s|sitory|sitories)?|projects?|code ?base|code|monorepo|workspace|machine|team|docs)"
_SCOPE = rf"(?:in|across|throughout|for|on)\s+(?:this|our|all|any|every|the whole)\s+(?:\w+ )?{_PLACE}\b"
_EVERYWHERE = (
    r"(?:\b(?:in|for|across|on|with)\s+(?:all|any|each|every)\s+(?:of\s+)?(?:(?:my|our)\s+)?(?:other\s+)?"
    r"(?:projects?|repos?|repositor(?:y|ies)|code ?bases?)\b(?: (?:of mine|i work on))?|^everywhere"
    r"(?=\s*[,:])|\bwherever (?:i|we|you) (?:work|code)\b|\b(?:no matter which|regardless of the"
    r"|whatever the) (?:project|repo)\b|\bin (?:allen|jedem) (?:meiner |meinen )?(?:projekte?n?|repos?)\b"
    r"|\bdans tous mes (?:projets|dépôts)\b)(?!\s+(?:(?:i|we) (?:have|had|know|saw)\b|(?:in|of|from) (?:the"
    r"|this)\b))"
)
"""Words for a rule in all projects. "In all projects I have seen" reports experience."""
_IS_EVERYWHERE = lazy(_EVERYWHERE, _I)
_ALL_OVER = rf"(?:{_SCOPE}|{_EVERYWHERE}|\b(?:everywhere|anywhere|here)\b)"
_ORDER = rf"(?:(?:please|always|never|also|only|just|you (?:must|should)|{_NOT}(?: ever)?)\s+)*{_VERBS}\b"
_FROM_NOW = (
    r"(?:from (?:now|here) on(?:wards?)?|going forward|(?:in|for) (?:the )?future|next time|as a (?:general"
    r" )?rule|in general|generally|by default)"
)
_SHOULD = r"(?:must|should|shall|has to|have to|needs?(?: to)?|may only|may not|can only|cannot|requires?)"
_INSTEAD = r"(?:,?\s+(?:and |but )?(?:not|never|no)\s+|,?\s+(?:instead of|rather than|over)\s+)"
_MY_OK = r"(?:without (?:asking|telling|my)|unless i\b|needs? my (?:ok|approval)\b|ask me (?:first|before)\b)"
_ENDS = r"(?:\W*\Z|\s*[,;.(:–—]|\s+(?:please|pls|and|or|in|on|for|when|to|without|ever|that)\b)"

# --- Forms ---

_ANYWHERE = (
    # "Always run …", "we never mock …", "don't ever push".
    rf"(?:(?:you|we)\s+(?:(?:should|must|need to|have to|may|do)\s+)?|let's )?{_ALWAYS}\s+(?:just "
    rf"|again )?{_VERBS}\b(?!-)",
    # "Commit messages must …", "tests go next to …", "dates are always …".
    rf"(?:{_KIND}|{_KIND} {_SCOPE})\s+(?:{_SHOULD}\s+(?:not\s+|only\s+|never\s+|always\s+)?(?!pass\b"
    rf"|be (?:fine|ok|good|enough|fixed|there|able|ready|green)\b|have (?:been|gone|failed)\b|{_ONE}|now\b"
    rf"|work\b)\w+|{_ALWAYS} \w+|(?:(?:are|is|gets?) )?(?:always|never|forbidden|banned|mandatory|required"
    rf"|off[- ]limits|not allowed|(?:in )?(?:{_STYLES}|{_LANGUAGES}))\b|(?:always |only |never )?(?:go|goes"
    rf"|belongs?|lives?) (?:in|into|under|next to|beside)\s)",
    rf"(?:every|each|all|any|new|public)\s+{_KIND}\s+(?:[^,;?]{{0,40}}\s)?{_SHOULD}\s+(?!pass\b|be (?:fine"
    rf"|fixed)\b)\w+",
    # Conventions of "we".
    rf"we\s+(?:{_NOT}|never|only)\s+{_VERBS}\s+(?!{_ONE})\S",
    rf"we\s+(?:always |only )?(?:use|write|name|format|put|follow|keep)\s+(?:(?!{_ONE})[^,;?]*?{_ALL_OVER}"
    rf"|{_KIND}|{_STYLES})",
    rf"(?:this|our)\s+(?:\w+ )?{_PLACE}\s+(?:only |always )?(?:uses|follows|requires|never)\b",
    # What needs the person's word.
    rf"(?:{_ORDER}|no)\s[^?]*?{_MY_OK}",
    r"(?:always )?(?:ask|check with|tell) (?:me|us) (?:first )?before (?:you )?\w+",
    # How answers are to be.
    rf"(?:answer|reply|respond|speak|talk|write)(?: to)?(?: me)?\s+(?:only\s+)?in\s+{_LANGUAGES}\b",
    rf"keep\s+(?:(?:all|your|our)\s+)*{_KIND}\s+(?:\w+ )?(?:to|concise|terse|short|brief|small|simple|under"
    rf"|below|at|out of)\b",
    # Conditions of a repeated event.
    rf"(?:whenever|every time|(?:before|after) (?:every|each|any))\s(?!you (?:need|want"
    rf"|like))[^,;]*,\s*{_ORDER}",
    rf"(?:when|before|after)\s+(?:you\s+)?(?:{_VERBS}|{_DOING}|opening)\s+(?:an?|any|new)\s[^,;]*,\s*{_ORDER}",
    rf"in (?:any|all|every) (?:\w+ )?\w+[^,;?]*?,? (?:please )?{_ORDER}",
    # What is unwanted, or wanted in place of another.
    rf"(?:no(?: more)?|avoid)\s+(?!new\b|errors?\b|changes?\b|tests?\b)(?:(?!{_ONE}){_WORD} )?(?:{_THINGS}"
    rf"|QUOTED){_ENDS}",
    rf"(?:(?:{_NOT}|never) {_VERBS}|stop {_DOING})\s+(?:(?!{_ONE}){_WORD} )?(?:{_THINGS}|\w{{3,}}s"
    rf"|QUOTED){_ENDS}",
    rf"(?!{_ONE}){_WORD}(?: please)?{_INSTEAD}(?!{_ONE}){_WORD}\W+{_ALL_OVER}",
)
_AT_START = (
    rf"(?:for (?!{_ONE})[^,;:]+?,?\s+)?(?:only )?(?:use|run {_THINGS} with) (?!{_ONE})(?:{_WORD}"
    rf" ){{0,3}}?{_WORD}{_INSTEAD}(?!{_ONE})\S",
    rf"(?:only\s+)?use\s+{_STYLES}{_ENDS}",
    rf"{_ALL_OVER}\s*[,:]?\s+(?:bitte\s+)?(?:(?:i|we) (?:want|prefer|use|write|always|never)\b|{_ORDER}"
    rf"|{_KIND} \w+|no\s|\w+ verwenden\b)",
    rf"{_ORDER}\s+(?!{_ONE})[^?]*?(?:{_SCOPE}|{_EVERYWHERE})",
    rf"{_FROM_NOW}\b[,:]?\s+(?:please\s+)?(?:{_ORDER}|(?:you|we|i)\b|no\s|every\s|{_KIND}|{_STYLES}\b)",
    rf"{_ORDER}\s[^?]*?\b{_FROM_NOW}\W*\Z",
    rf"(?:we|i)\s+(?:always|never)\s+want\s+(?!{_ONE})\S",
    rf"(?:i|we)(?:'d| would)?\s+(?:\w+ly\s+|much\s+|rather\s+)?prefer\s+(?!{_ONE})(?:[^,;?]*?(?:{_THINGS}"
    rf"|{_STYLES})\b|{_WORD} over\s)",
    rf"(?:i|we)(?:'d| would) (?:rather|prefer)\s+(?:have )?(?!{_ONE})(?:{_WORD} ){{0,3}}?(?:{_THINGS}"
    rf"|{_STYLES})\W*\Z",
    rf"(?:prefer|avoid)\s+(?!{_ONE}|breaking\b)\S",
    rf"(?:you (?:must not|may not|should not|can't)|{_NOT}) {_VERBS}\s+[^,]*?(?:by hand|in (?:unit )?{_THINGS}"
    rf"|to (?:main|master)|on this machine|unless i ask[^,]*)(?:\W*\Z|,)",
    r"(?:house rule|(?:team |coding )?(?:rule|convention|policy)|style)\s*:\s*\S",
    r"stop (?:apologi[sz]ing|(?:always )?\w+ing\b[^,;]* (?:all the time|every time|everywhere))\b",
)

# --- Exceptions ---

_NONE = (
    # The work at hand, and the moment.
    rf"\b(?:this|these|those)\s+(?!(?:{_PLACE}|is|means)\b)\w+|\b(?:use|touch|run|change|in|for|on"
    rf"|with) that\s",
    r"\bthe\s+(?:first|second|third|last|other|latter|former|next|previous|new|old|one|above|following"
    r"|current)\b",
    r"\b(?:for now|for the moment|for the time being|right now|at the moment|atm|this time|this once"
    r"|just once|today|tonight|tomorrow|until|till|while i(?:'m| am)|temporarily|throwaway|prototype|yet"
    r"|for the demo)\b|(?<!from )\bnow\b(?! on)",
    r"\b(?:diesmal|heute|vorerst|aujourd'hui|pour l'instant|cette fois|esta vez|por ahora|hoy|erste|zweite"
    r"|première|deuxième|primera|segunda|prima|seconda)\b",
    # Words of others, the past, questions, suppositions and mockery.
    r"\b(?:he|she|they|someone|people|docs?|article|readme|error|message|guide|colleague|collegue|boss"
    r"|linter|compiler|lead|team|teammate|eslint|claude|legal|customer|(?-i:[A-Z][a-z]+))\s+(?:of \S+ )?"
    r"(?:keeps? |always |once |just )?(?:says?|said|told|telling|claims?|thinks?|wrote|wants?|insists?"
    r"|recommends?|suggests?|asked|commented)\b|\baccording to\b|(?<!\bi )\b(?:says|said|told|claims"
    r"|insists)\b",
    r"\b(?:had|was|were) (?:a|the) rule\b|\bused to\b|\bwas when\b|\b(?:last|old|previous) (?:company|job"
    r"|team)\b|\bany ?more\b|\bscratch\b|\bi said\b.*\bbut\b|^(?:but |and )?i(?:'ll| will)\b",
    r"\b(?:maybe|perhaps|probably|possibly|i guess|not sure|wonder(?:ing)?|might|what if|how about|i think"
    r"|should (?:i|we)|shall (?:i|we)|if (?:i|we|it) (?:were|was|had)|i(?:'d| would) (?:say|never)|i wish"
    r"|suppose)\b",
    r"^(?:do|does|did|is|are|was|were|has|have|why|what|how|which|who|where|should)\s+(?!not\b)\w+",
    r"^(?:oh|wow|sure|haha|(?:yeah,? right))\b|\b(?:great|good|nice|brilliant) (?:idea|job|plan)\b|🙄|😂"
    r"|\bwhile you're at it\b",
    # The program being written.
    r"^(?:(?:please|pls|ok|then|and|now|also|can you|could you|i want you to|next|yes|no"
    rf"|first)[\s,]+)*{_TASKS}\b.*(?:\b(?:that|which|who|so|where|how|why|whether|saying|says|called|rule"
    r"|must|should|it (?:always|never))\b|[\"“`]|QUOTED)",
    rf"\b(?:the|a|an|when|if|whenever|once)\s+(?:\w+\s+){{0,2}}?{_PRODUCT}\s+(?:we're \w+ )?(?:must|should"
    rf"|can|may|is|are|has to|needs?|always|never|says?|shows?|returns?|gets?|deletes?|drops?)\b"
    rf"|^{_PRODUCT}\s+(?:must|should|shall|can|may|always|never)\b",
    r"\b(?:in|on|below|above|under|of|for) the (?:\w+ )?(?:invoice|form|page|screen|dialog|e?mail|field"
    r"|button|csv|export|app)s?\b",
    r"\b(?:in|for|of|on) (?-i:[a-z]+[A-Z]\w*|[\w-]+\.(?:py|tsx?|jsx?|go|rs|java|rb|css|html|sql|c|cpp)\b)"
    r"|\w\(\)",
    r"^(?:they|he|she|it|i|you)\s+(?!always want|never want|want|prefer|would|must|should|may"
    r"|can)[^.]*\b(?:always|never)\b|\b(?:you|it|he|she|they|tests?|build|ci)\s+(?:always|never)\s+\w+(?:s"
    r"|ed)\b|\b(?:always|never) (?:been|had|was|were)\b|\bnever ?mind\b|\b(?:as|like) always\b"
    r"|\balways (?:good|nice)\b|\bkeep (?:on )?going\b|\bgive up\b|\bfor (?:this|that|it)\W*\Z",
)
_LEAD = lazy(
    r"(?:(?:please|pls|also|and|but|so|plus|ok(?:ay)?|oh|hey|hi|btw|fyi|note(?: that)?|reminder|important"
    r"|yes|yeah|exactly|great|thanks|no(?=,)|well|actually|though|just|then|(?:as|like) i said|listen|look"
    r"|sorry|(?:can|could|would) you|i(?: want| need|'d like) you to|remember(?: that| to|(?=[,:]))"
    r"|make sure(?: that| to| you)?|be sure to|ensure(?: that)?|try to|because|since|you should"
    r"|that)\b[\s,:;.!–—-]*)*",
    _I,
)
"""Words without content before a clause."""
_BREAK = lazy(r"[,;:–—(]\s+|\.{2,}\s*|\s-+\s|\s(?=(?:and|but|so|because|since|then)\s)", _I)
_SINGLE_QUOTED = lazy(r"(?<!\w)'[^']{3,}'(?!\w)")
_AT_A_CLAUSE, _AT_THE_START, _IS_NONE = (
    lazy("|".join(f"(?:{form})" for form in forms), _I) for forms in (_ANYWHERE, (*_ANYWHERE, *_AT_START), _NONE)
)
_MARKED = lazy(
    r"\b(?:house rule|team (?:rule|convention)|our (?:convention|style|rule)|(?:is|are) off[- ]limits)\b", _I
)

# --- Other languages ---

_ORDERS_ABROAD = (
    ("bitte|und", "immer|nie|niemals|stets", r"(?:antwort|schreib|verwend|nutz|prüf|push|test)(?:e|en|t)?|committe"),
    ("por favor|y", "siempre|nunca|jamás", r"(?:us|respond|escrib|ejecut|evit|habl)(?:a|as|e|es|en)?|pon|haz"),
    ("s'il te plaît|ne", "toujours|jamais", r"(?:n')?(?:utilis|répond|écri|pouss|test|parl)(?:e|es|ez|s|re|er)?"),
    ("per favore|non", "sempre|mai", r"(?:us|rispond|scriv|esegu|parl|controll)(?:a|i|are|ere|ire|ate)"),
    ("por favor|não", "sempre|nunca|jamais", r"(?:us|respond|escrev|execut|rod|verifiqu|fal)(?:e|a|em)"),
    ("graag", "altijd|nooit", r"(?:gebruik|antwoord|schrijf|schrijv|test|push)(?:en)?"),
    ("пожалуйста|и", "всегда|никогда(?: не)?", r"(?:отвечай|пиши|проверяй|используй|пушь|делай)(?:те)?"),
)
"""By language the words before an order, those for always and never, and the verbs of an order with them."""
_ABROAD = [
    lazy(
        rf"(?:^|[,;:]\s*)(?:(?:{lead})[\s,]+)*(?:(?:{verbs})(?:[\s-]\w+){{0,3}}? (?:{always})\b"
        rf"|(?:{always})(?:\s\S+){{0,5}}? (?:{verbs})\b)",
        _I,
    )
    for lead, always, verbs in _ORDERS_ABROAD
] + [
    lazy(
        r"^(?:ab jetzt|ab sofort|von nun an|(?:a partir de|de) ahora|desde ahora|à partir de maintenant|dorénavant"
        r"|désormais|впредь|отныне|d'ora in poi|(?:de|a partir de) agora|vanaf nu|voortaan)\b"
        r"(?! (?:soll|muss|ist|sind|wird|geht|est)\b)",
        _I,
    ),
    lazy(
        r"\b(?:ich|wir) bevorzugen?\b|\bmir ist\b.*\blieber\b|\bprefi(?:ero|ro)\b|\bje préfère\b|\bя предпочитаю\b"
        r"|\bpreferisco\b|\bik heb liever\b|我们?(?:更|比较)?(?:喜欢|偏好)|(?:方|ほう)が(?:好き|いい|良い)",
        _I,
    ),
    lazy(
        r"(?:^|[，。；、：]|请)(?:始终|总是|永远|务必|一定要|绝不|千万别|千万不要|以后请|今后请)"
        r"|(?:必ず|常に|いつも|決して|絶対に?|今後は|これからは).*(?:ください|下さい|こと|ないで|しろ)[。！]?\Z"
    ),
]

# --- Words of any form; most texts have none, and are read no further ---

_ALONE = word_list("words of an instruction")
_NEXT_TO = frozenset(tuple(pair.split("+")) for pair in word_list("pairs of an instruction"))
_WHEN, _ANY = frozenset({"when", "before", "after"}), frozenset({"a", "an", "any", "new"})
_WORDS_ABROAD = word_list("words of an instruction abroad")
_NAMES_KIND = lazy(rf"{_THINGS}|{_STYLES}|{_LANGUAGES}|{_PLACE}")


def may_instruct(text: str) -> bool:
    """Return whether a text has the words of a standing instruction, whatever else it has."""
    words = words_in(text)
    return (
        not text.replace("’", "'").isascii()
        or any(map(_is_cue, words))
        or not _NEXT_TO.isdisjoint(pairwise(words))
        or not (_WHEN.isdisjoint(words) or _ANY.isdisjoint(words))
    )


@lru_cache(MOST_WORDS)
def _is_cue(word: str) -> bool:
    return word in _ALONE or word in _WORDS_ABROAD or _NAMES_KIND.fullmatch(word) is not None


class Heard(msgspec.Struct, frozen=True, array_like=True):
    """The instructions in a text: standing sentences, orders about memory, and doubtful sentences.

    `doubted` are in force only if a person says so, since they may be pasted.
    """

    standing: tuple[str, ...] = ()
    orders: tuple[str, ...] = ()
    doubted: tuple[str, ...] = ()

    @property
    def instructs(self) -> bool:
        """Whether any of the text certainly instructs."""
        return bool(self.standing or self.orders)


NOTHING_HEARD = Heard()


@remembered(MOST_REMEMBERED)
def heard_in(text: str) -> Heard:
    """Return the instructions in a text; only words of the sender's own instruct for certain.

    A rule about "it" or "that" includes the sentence before, or is none without such a sentence, unless the
    text behind a colon explains them.
    """
    if not (may_order(text) or may_instruct(text)):
        return NOTHING_HEARD
    own = own_words(text)
    if not own:
        return Heard(doubted=_standing_in(set_off_left_out(text))[:MOST_DOUBTED])
    return Heard(_standing_in(own), orders_of(own))


def is_for_all_projects(sentence: str) -> bool:
    """Return whether an instructing sentence says that it holds in all projects."""
    return _IS_EVERYWHERE.search(sentence.replace("’", "'")) is not None


def same_instruction(text: str) -> str:
    """Return a form of an instruction, equal for its repetitions."""
    return normal_text(text).strip(" .!。！").casefold()


def _standing_in(text: str) -> tuple[str, ...]:
    found, before, place = list[str](), -1, 0
    for sentence in sentences(text):
        start = text.find(sentence, place)
        place = max(place, start + len(sentence))
        if sets_standing(sentence):
            leans = LEANS_ON.search(sentence)
            if leans is None or ":" in sentence[leans.end() :]:
                found.append(sentence)
            elif before >= 0 and start >= 0 and not orders_of(leant_on := text[before:start].strip()):
                found = [*(it for it in found if it != leant_on), text[before:place]]
        before = start
    return tuple(found)


def sets_standing(sentence: str) -> bool:
    """Return whether a sentence alone sets a standing instruction."""
    said = _SINGLE_QUOTED.sub("QUOTED", unquoted(sentence))
    if len(said) > MOST_CHARS or not may_instruct(said) or not (_has_form(said) or _has_form_abroad(said)):
        return False
    return not (asks(said) or is_order(said) or _IS_NONE.search(said))


def _has_form_abroad(said: str) -> bool:
    is_plain = said.isascii() and _WORDS_ABROAD.isdisjoint(words_in(said))
    return not is_plain and any(form.search(said) for form in _ABROAD)


def _has_form(said: str) -> bool:
    """Return whether a clause of a sentence has the form of an instruction; the first may have more forms."""
    for is_start, place in ((True, 0), *((False, found.end()) for found in _BREAK.finditer(said))):
        forms = _AT_THE_START if is_start else _AT_A_CLAUSE
        lead = _LEAD.match(said, place)
        if any(forms.match(said, at) for at in dict.fromkeys((place, lead.end() if lead else place))):
            return True
    return _MARKED.search(said) is not None
