"""The word lists behind `specifics`: what may differ between two texts that say the same, in English.

A word is in a list only if what the list does is right for every reading of it that one can think of, and leaves no
fact out: words of two readings stay out. No code that reads a text lives here.
"""

from __future__ import annotations

from memtape.state.text import lexicon


def _words(lines: str) -> frozenset[str]:
    return frozenset(lines.split())


def _readings(lines: str) -> dict[str, str]:
    """Return {word: reading} of items like `begins=starts`."""
    return dict(item.split("=") for item in lines.split())


def _phrases(lines: str) -> dict[str, tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]]:
    """Return {first word: ((phrase, reading), ...)} of lines like `in the event that = if`, longest first."""
    found: dict[str, list[tuple[tuple[str, ...], tuple[str, ...]]]] = {}
    for line in filter(None, map(str.strip, lines.splitlines())):
        phrase, _, reading = line.partition(" =")
        words = tuple(phrase.split())
        found.setdefault(words[0], []).append((words, tuple(reading.split())))
    return {first: tuple(sorted(items, key=lambda item: -len(item[0]))) for first, items in found.items()}


# With none of these a text is not taken for English, and nothing in it stands for anything else.
ENGLISH = lexicon.ENGLISH | _words("at by")


# --- Numbers, dates, times ---

_ENGLISH_NUMBERS = (
    "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
)
_ENGLISH_NUMBERS += " eighteen nineteen twenty"


def _counted(names: str, first: int) -> dict[str, int]:
    return {name: number for number, name in enumerate(names.split(), first)}


_TENS = {"thirty": "30", "forty": "40", "fifty": "50", "sixty": "60", "ninety": "90"}
NUMBERS = {word: str(number) for word, number in _counted(_ENGLISH_NUMBERS, 2).items()} | _TENS
MONTHS = _counted("january february march april may june july august september october november december", 1)
MONTHS |= _counted("jan feb mar apr may jun jul aug sep oct nov dec", 1)
WEEKDAYS = _counted("monday tuesday wednesday thursday friday saturday sunday", 1)
# Left out: pounds, which weigh too, and one `dollar`, as in five dollar bills.
CURRENCIES = _readings("dollars=$ euros=€ eur=€")
UNITS_OF_TIME = _words("second minute hour day night week month quarter year morning evening afternoon")
"""What `a` or `per` may stand before: `5 km a week`."""
# A date is read between these only, since `we gave June 5 apples` has none.
BEFORE_DATE = _words("on is was by before after until since to from due ends starts")
AFTER_DATE = _words("at by to and until for from with . , because")
# Where a comma or point in a number can but part its thousands.
BEFORE_AMOUNT = _words("has have had costs cost")
# What takes an amount after `about`, so that `about` is `approximately`, and not what a talk is about.
BEFORE_ABOUT = _words("takes take took costs cost lasts runs")


# --- English ---

PHRASES = _phrases(
    """
    at the moment = currently
    right now = currently
    at present = currently
    prior to = before
    wants to = would-like to
    want to = would-like to
    would like to = would-like to
    is located in = is in
    are located in = are in
    is kept in = is stored in
    are kept in = are stored in
    on a daily basis = every day
    on a weekly basis = every week
    in the event that = if
    rather than = instead of
    all of the = all the
    both of the = both the
    no one = nobody
    no-one = nobody
    very much = a lot
    """
)
READINGS = _readings(
    """
    begins=starts began=started begun=started commences=starts commenced=started
    reside=live resides=lives resided=lived purchased=bought require=need requires=needs required=needed
    roughly=approximately circa=approximately ca=approximately departs=leaves frequently=often typically=usually
    everybody=everyone somebody=someone anybody=anyone favourite=favorite permits=allows permitted=allowed
    """
)
# What Tom is in charge of and what he is responsible for are one, unless it is an outage.
CHARGES = _words("module service team project department office billing payments backups accounting payroll hiring")

# Said for good manners, or to lead in to what is said; right at the start.
OPENERS = _phrases(
    """
    actually , =
    by the way , =
    btw , =
    just so you know , =
    reminder : =
    note that =
    please note that =
    note : =
    also , =
    """
)
# Before an order and before a clause that says something.
OPENERS_OF_ORDERS = _phrases("be sure to =\nmake sure to =")
OPENERS_OF_CLAUSES = _phrases("remember that =\ndo not forget that =")

BE = _words("is are am was were be been being")
# The progressive of these says no more than the present, unless a time is said.
PROGRESSIVES = _readings(
    "using=use listening=listen relying=rely depending=depend containing=contain belonging=belong owning=own"
)
# Verbs of which the passive with `by` has one active: the past is said where no rule makes it.
PASSIVES = _words(
    """
    maintain own host manage use review create fix update design deploy test control support approve handle monitor
    start require contain clean call check deliver develop implement install answer open collect process reject
    """
)
IRREGULAR_PASSIVES = {
    "written": ("write", "wrote"), "built": ("build", "built"), "rebuilt": ("rebuild", "rebuilt"),
    "made": ("make", "made"), "sent": ("send", "sent"), "chosen": ("choose", "chose"), "taught": ("teach", "taught"),
    "driven": ("drive", "drove"), "taken": ("take", "took"), "bought": ("buy", "bought"), "sold": ("sell", "sold"),
}  # fmt: skip
# What a passive may not be turned over between, nor a time moved over: every server has an admin, an admin has every
# server.
QUANTIFIERS = _words(
    """
    every all each some an one many most few several any both no half none everyone someone anyone everything
    something anything less more exactly
    """
)
# With one of these a sentence holds more than one clause or a negation, and where a phrase stands says what it is of.
BINDERS = _words(
    """
    that which who whom whose and or but if when while because although unless whether than then so as before after
    not no never only even just without cannot nobody no-one nothing neither nor none hardly rarely seldom barely
    """
)
MARKERS = _words(
    """
    on in at during after before since until from to for with without within if when while because although unless
    once whenever every last next today tomorrow yesterday tonight now normally through per
    """
)
KIN = _words("wife husband son daughter brother sister mother father partner")
ROLES = KIN | _words("manager boss favorite")
# The verb of a sentence whose time is the time of what is done, so that it may stand at either end.
TIMED = _words(
    """
    uses fails runs lives works flies travels travel fly plays swims drinks eats does deploy deploys shops goes drives
    sleeps
    """
)
DETERMINERS = _words("the my our your his her their its this that")
"""What a subject of more than one word must begin with, so that no other verb stands between its words."""
OPEN_OBJECTS = _words("the in at to from on for near with a")
"""What more than one word after the verb must begin with: `test runs postpone the call` has another verb."""
PREDICATES = _words("lives speaks reads started starts bought also currently often")
"""What tells, beyond the verbs that the content key knows, that `the` before `user` says nothing."""
# Orders that ask for nothing to be found out, so that a condition is one of doing, wherever it stands.
ORDERS = _words("call run restart retry use drop delete deploy stop start close open rebuild reset purge skip")
ADVERBS = _words("currently often")
TIMES = (
    r"(?:every|each) (?:=W\d|day|night|week|month|morning|evening|year)|on (?:=W\d|[a-z]+days)|tomorrow|today|tonight|"
    r"yesterday|in the (?:morning|evening|afternoon)|in (?:summer|winter|spring|autumn)"
)
"""Phrases of time that may stand at either end of a simple sentence; what was read has `=` before it here."""
