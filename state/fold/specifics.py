"""The guard of dense folding: whether two texts whose vectors are similar say the same, with the same specifics.

As in `text`, nothing is dropped by default. Two texts that are not English say the same only where their content keys
are equal. An English text becomes a row of tokens, and what may differ between paraphrases is brought to one form, in
its place, by rules and lists: numbers, dates, times, synonyms, words of politeness. All else
counts as it stands, whatever class it is of: so names, versions, paths, code, negations, antonyms and quantities need
no list that could have a gap. What moves is brought to one place: an agent with `by`, a time in a sentence of one
verb, a condition of an order; nothing else may, which keeps who does what to whom. Two texts say the same if their rows
are equal. When in doubt the answer is no: a wrong fold loses a fact.

Whether vectors are similar is decided elsewhere, and word lists live in `specifics_lexicon`.
"""

from __future__ import annotations

from typing import NamedTuple

from memtape.schemas.patterns import lazy
from memtape.state.fold import specifics_lexicon as words
from memtape.state.text import lexicon
from memtape.state.text.normal import content_key
from memtape.state.text.terms import IRREGULAR

Tokens = tuple[str, ...]


class Specifics(NamedTuple):
    """What a text says, ready to be compared: its content key, and its tokens in one form (of English, else none)."""

    key: Tokens
    order: Tokens = ()
    capitals: frozenset[str] = frozenset()
    smalls: frozenset[str] = frozenset()


def same_specifics(a: str, b: str) -> bool:
    """Tell whether neither text has specifics that the other lacks; their similarity is for vectors to say."""
    return agree(specifics(a), specifics(b))


def agree(a: Specifics, b: Specifics) -> bool:
    """Tell whether two texts have the same specifics, in about a microsecond."""
    if a.key == b.key:
        return True
    if a.order != b.order or not a.order:
        return False
    return a.capitals.isdisjoint(b.smalls) and b.capitals.isdisjoint(a.smalls)


def specifics(text: str) -> Specifics:
    """Return what a text says in the form that `agree` compares; to be computed once a text."""
    key = content_key(text)
    found = frozenset(key)
    if found.isdisjoint(words.ENGLISH) or not found.isdisjoint(_ABOUT_WORDS) or _is_quoting(key):
        return Specifics(key)
    smalls, capitals = _cases(key)
    tokens = list(key)
    if tokens[-1:] == ["."] and tokens[-2:-1] in (["€"], ["$"], ["£"]):
        tokens.pop()
    if found.isdisjoint(lexicon.ABOUT_NAMES):
        tokens = _with_synonyms(tokens)
    if found.isdisjoint(_LITERAL):
        tokens = _english(_dated(tokens))
    order = tuple(_settled([_lowered(token) for token in tokens]))
    return Specifics(key, order, capitals, smalls)


_ABOUT_WORDS = lexicon.ABOUT_WORDS - frozenset(["write", "writes", "means", "stands", "american", "british"])
# What is named or typed to the letter: in a text with one of these no word stands for another, and with one of those
# that remain here, nothing is read at all.
_LITERAL = lexicon.ABOUT_NAMES - frozenset(
    """
    name called named option options level mean number numbers text role account key keys password secret secrets
    function functions folder folders file files column columns branch branches module modules
    """.split()
)


def _is_quoting(key: Tokens) -> bool:
    """Tell whether the text quotes: what stands in quotes was said or is shown to the letter."""
    return any(token in ('"', "'", "«", "»", "[", "]", "「", "『") or "`" in token for token in key)


def _with_synonyms(tokens: list[str]) -> list[str]:
    """Return tokens with synonyms in one form; `requires Tom to stay` is not `needs Tom to stay`."""
    bound = "to" in tokens
    return [token if bound and token.startswith("requir") else words.READINGS.get(token, token) for token in tokens]


def _cases(key: Tokens) -> tuple[frozenset[str], frozenset[str]]:
    """Return the words in lower case and those with a capital; of one that opens the text, a small letter says nothing.

    Unless the word is a name as well: there the normal text keeps the capital, so that its lack tells something.
    """
    smalls, capitals = [], []
    for index, token in enumerate(key):
        if token.isalpha():
            if token[:1] != token[:1].lower():
                capitals.append(token.lower())
            elif index or token in lexicon.NAMES:
                smalls.append(token)
    return frozenset(smalls), frozenset(capitals)


def _lowered(token: str) -> str:
    """Return a word in lower case that has its first letter alone in capitals."""
    return token.lower() if token[1:].islower() and token.isalpha() else token


# --- Numbers, dates, times ---

# What was read begins with this, which is white space and so in no token as written: a room W5 is no Friday.
_READ = "\x1f"
_INTEGER = lazy(r"\d{1,4}")
_DAY = lazy(r"([1-9]|[12]\d|3[01])(?:st|nd|rd|th)?")
_ISO_DATE = lazy(r"(\d{4})-(\d\d)-(\d\d)")
_THOUSANDS = lazy(r"\d{1,3}(?:,\d{3})+")
_CLOCK = lazy(r"(\d\d?):(\d\d)")
_MONEY = lazy(r"([$€£])(\d[\d.,]*)|(\d[\d.,]*)([$€£])")


def _dated(tokens: list[str]) -> list[str]:
    """Return tokens with numbers, sums, dates and times each in one form."""
    read: list[str] = []
    index = 0
    while index < len(tokens):
        found = _date_at(tokens, index) or _time_at(tokens, index)
        if found:
            read.append(found[0])
            index = found[1]
        else:
            read += _number(tokens, index)
            index += 1
    return read


def _number(tokens: list[str], index: int) -> Tokens:
    token = tokens[index]
    lower = token.lower()
    before = tokens[index - 1] if index else ""
    if token in words.NUMBERS and before and before not in ("called", "named"):
        return (words.NUMBERS[token],)
    if token == "twice" and before:
        return ("2", "times")
    if token == "noon":
        return (_READ + "T12:00",)
    if lower in words.WEEKDAYS:
        return (f"{_READ}W{words.WEEKDAYS[lower]}",)
    if before and before[-1].isdigit() and (lower in words.CURRENCIES or token.strip() in ("$", "€", "£")):
        return (words.CURRENCIES.get(lower, token.strip()),)
    money = _MONEY.fullmatch(token)
    if money:
        return _without_thousands(money[2] or money[3]), money[1] or money[4]
    after = tokens[index + 1].lower() if index + 1 < len(tokens) else ""
    if after in words.CURRENCIES or (before in words.BEFORE_AMOUNT and after.isalpha()):
        return (_without_thousands(token),)
    return (token,)


def _without_thousands(token: str) -> str:
    return token.replace(",", "") if _THOUSANDS.fullmatch(token) else token


def _date_at(tokens: list[str], index: int) -> tuple[str, int] | None:
    """Return the date that starts at a token and where it ends: a day and a month, with or without a year."""
    iso = _ISO_DATE.fullmatch(tokens[index])
    if iso:
        return f"{_READ}D{int(iso[1])}-{int(iso[2])}-{int(iso[3])}", index + 1
    before = tokens[index - 1] if index else ""
    found = _day_and_month(tokens, index)
    if not found:
        return None
    day, month, at = found
    if tokens[at : at + 1] == [","] and _is_year(tokens[at + 1 : at + 2]):
        at += 1
    year = tokens[at] if _is_year(tokens[at : at + 1]) else ""
    at += bool(year)
    closed = at == len(tokens) or tokens[at] in words.AFTER_DATE
    if not (closed and before in words.BEFORE_DATE):
        return None
    return f"{_READ}D{year}-{month}-{day}", at


def _day_and_month(tokens: list[str], index: int) -> tuple[int, int, int] | None:
    """Return the day and the month at a token, in either order, and where they end."""
    month = words.MONTHS.get(tokens[index].lower(), 0)
    if month:
        day = _DAY.fullmatch(tokens[index + 1]) if index + 1 < len(tokens) else None
        return (int(day[1]), month, index + 2) if day else None
    day = _DAY.fullmatch(tokens[index])
    if not day:
        return None
    at = index + 1
    while tokens[at : at + 1] and tokens[at] in (".", "of"):
        at += 1
    month = words.MONTHS.get(tokens[at].lower(), 0) if at < len(tokens) else 0
    return (int(day[1]), month, at + 1) if month else None


def _is_year(tokens: list[str]) -> bool:
    return len(tokens) == 1 and len(tokens[0]) == 4 and tokens[0].isdigit() and tokens[0][:2] in ("19", "20")


def _time_at(tokens: list[str], index: int) -> tuple[str, int] | None:
    """Return the time of day at a token and where it ends; `9:00` alone is no time, since it may be of the evening."""
    token = tokens[index]
    if not token[0].isdigit():
        return None
    clock = _CLOCK.fullmatch(token)
    if not clock and not (_INTEGER.fullmatch(token) and index + 1 < len(tokens)):
        return None
    hour, minute = (int(clock[1]), int(clock[2])) if clock else (int(token), 0)
    after = tokens[index + 1].lower() if index + 1 < len(tokens) else ""
    if after in ("am", "pm") and 1 <= hour <= 12:
        return f"{_READ}T{hour % 12 + 12 * (after == 'pm'):02}:{minute:02}", index + 2
    if clock and (hour > 12 or clock[1][0] == "0") and hour < 24:
        return f"{_READ}T{hour:02}:{minute:02}", index + 1
    return None


# --- English ---


def _phrased(tokens: list[str]) -> list[str]:
    """Return tokens with phrases in their readings."""
    read: list[str] = []
    index = 0
    while index < len(tokens):
        for phrase, reading in words.PHRASES.get(tokens[index], ()):
            if tuple(tokens[index : index + len(phrase)]) == phrase:
                read += reading
                index += len(phrase)
                break
        else:
            read.append(tokens[index])
            index += 1
    return read


def _english(tokens: list[str]) -> list[str]:
    tokens = _phrased(_without_opener(tokens))
    if tokens[:3] in (["you", "need", "to"], ["we", "need", "to"], ["i", "need", "to"]):
        tokens = [tokens[0], "have", *tokens[2:]]
    tokens = _with_light_left_out(_possessive(_in_charge(tokens)))
    tokens = _there_is(_active(_present(tokens)))
    return _bare(tokens) if len(tokens) > 2 and tokens[2] in words.PREDICATES else tokens


def _without_opener(tokens: list[str]) -> list[str]:
    if not tokens:
        return tokens
    rest = _after(tokens, words.OPENERS) or _after(tokens, words.OPENERS_OF_ORDERS)
    clause = _after(tokens, words.OPENERS_OF_CLAUSES)
    if clause and not (words.BE | lexicon.FINITE).isdisjoint(clause):
        rest = clause
    return rest or tokens


def _after(tokens: list[str], openers: dict[str, tuple[tuple[Tokens, Tokens], ...]]) -> list[str]:
    for phrase, _ in openers.get(tokens[0], ()):
        if tuple(tokens[: len(phrase)]) == phrase and len(tokens) > len(phrase) + 1:
            return tokens[len(phrase) :]
    return []


def _in_charge(tokens: list[str]) -> list[str]:
    at = tokens.index("charge") if "charge" in tokens and tokens[-1] in words.CHARGES else 0
    if at > 1 and tokens[at - 2] in ("is", "are") and tokens[at - 1 : at + 2] == ["in", "charge", "of"]:
        return [*tokens[: at - 1], "responsible", "for", *tokens[at + 2 :]]
    return tokens


def _with_light_left_out(tokens: list[str]) -> list[str]:
    """Leave out `please`, and `also`, `too` and `already` of the one verb; an `about` of amounts goes by one name."""
    if tokens[-2:] == [",", "please"]:
        tokens = tokens[:-2]
    read: list[str] = []
    single = words.BINDERS.isdisjoint(tokens)
    last = len(tokens) - 1
    for index, token in enumerate(tokens):
        before, after = tokens[index - 1] if index else "", tokens[index + 1] if index < last else ""
        if single and _is_light(tokens, index):
            continue
        if token in ("about", "around") and before in words.BEFORE_ABOUT and _is_amount(tokens[index + 1 :]):
            token = "approximately"
        elif token == "a" and after in words.UNITS_OF_TIME and _follows_amount(tokens, index):
            token = "per"
        elif token == "each" and after not in ("other", "of", ""):
            token = "every"
        elif token == "on" and before in words.BE and after[:1] == _READ:
            continue
        read.append(token)
    return read


def _is_light(tokens: list[str], index: int) -> bool:
    token, before, after = tokens[index], tokens[max(0, index - 1)], tokens[index + 1 : index + 2]
    if token == "also":
        return 0 < index <= 3 and after != [] and after[0] in _SPOKEN
    if token == "too":
        return not after and before.isalpha() and before not in words.BE and not _SPOKEN.isdisjoint(tokens[:4])
    if token == "already":
        return before in ("has", "have") or (not after and index <= 7 and not {"has", "have"}.isdisjoint(tokens[:4]))
    return False


_SPOKEN = frozenset("speaks likes uses owns prefers needs plays knows lives works".split())


def _is_amount(after: list[str]) -> bool:
    if len(after) < 2 or not after[0].isdigit():
        return False
    return after[1].removesuffix("s") in words.UNITS_OF_TIME or after[1] in ("km", "$", "€")


def _follows_amount(tokens: list[str], index: int) -> bool:
    return any(token[-1].isdigit() for token in tokens[max(0, index - 2) : index])


def _possessive(tokens: list[str]) -> list[str]:
    """Bring `the wife of the user is` to `user's wife is`, and `X's name is Y` to `X is called Y`."""
    framed = len(tokens) > 5 and tokens[0] == "the" and tokens[2:4] == ["of", "the"] and tokens[5] in words.BE
    if framed and tokens[1] in words.KIN and tokens[4].isalpha():
        return [tokens[4] + "'s", tokens[1], *tokens[5:]]
    for index in range(len(tokens) - 2):
        if tokens[index].endswith("'s") and tokens[index + 1 : index + 3] == ["name", "is"]:
            return [*tokens[:index], tokens[index].removesuffix("'s"), "is", "called", *tokens[index + 3 :]]
    return tokens


def _present(tokens: list[str]) -> list[str]:
    """Bring `is using` to `uses`, where no time is said that it would be of."""
    if any(_TIME.match(token) or token in _LIMITS for token in tokens):
        return tokens
    read: list[str] = []
    for token in tokens:
        if token in words.PROGRESSIVES and read and read[-1] in ("is", "are", "am"):
            verb = words.PROGRESSIVES[token]
            read[-1] = _in_s(verb) if read[-1] == "is" else verb
        else:
            read.append(token)
    return read


_TIME = lazy(rf"{_READ}|(?:19|20)\d\d$")
_LIMITS = frozenset("today tomorrow tonight now currently until since during while when if this next last week".split())


def _in_s(verb: str) -> str:
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return verb[:-1] + "ies"
    return verb + ("es" if verb.endswith(("s", "x", "z", "ch", "sh")) else "s")


def _regular_past(verb: str) -> str:
    return verb + ("d" if verb.endswith("e") else "ed")


_ACTIVE = {_regular_past(verb): (verb, _regular_past(verb)) for verb in sorted(words.PASSIVES)}
_ACTIVE |= words.IRREGULAR_PASSIVES


def _active(tokens: list[str]) -> list[str]:
    """Bring `S is maintained by A` to `A maintains S`, where the sentence has one clause and nothing else moves."""
    at = tokens.index("by") if tokens.count("by") == 1 else 0
    if at < 3 or tokens[at - 1] not in _ACTIVE or tokens[at - 2] not in ("is", "are", "was", "were"):
        return tokens
    subject, agent = tokens[: at - 2], tokens[at + 1 :]
    if not agent or subject[0] in words.MARKERS or not words.MARKERS.isdisjoint(agent):
        return tokens
    said = subject + agent
    if "a" in said:
        return tokens
    if not (words.BINDERS | words.QUANTIFIERS).isdisjoint(said) or any(_is_mark(token) for token in said):
        return tokens
    verb, past = _ACTIVE[tokens[at - 1]]
    if tokens[at - 2] in ("is", "are"):
        past = verb if _is_plural(agent) else _in_s(verb)
    return [*agent, past, *subject]


def _is_mark(token: str) -> bool:
    return token.isdigit() or (not token[0].isalnum() and token[0] != _READ)


def _is_plural(agent: list[str]) -> bool:
    last = agent[-1]
    return last in ("we", "they", "you", "people") or (last[-1] == "s" and last[-2:] not in ("ss", "us", "is", "'s"))


def _there_is(tokens: list[str]) -> list[str]:
    """Bring `there are 12 nodes in the cluster` to `the cluster has 12 nodes`."""
    if tokens[:2] not in (["there", "are"], ["there", "is"]) or tokens[-3:-1] != ["in", "the"] or len(tokens) < 6:
        return tokens
    if tokens.count("in") > 1 or not tokens[-1].isalpha() or not words.BINDERS.isdisjoint(tokens):
        return tokens
    return ["the", tokens[-1], "has", *tokens[2:-3]]


# --- What may stand in two places ---

_TIME_PHRASE = lazy(words.TIMES)


def _settled(order: list[str]) -> list[str]:
    """Return the tokens with a phrase that may stand in two places in one of them."""
    order = _condition_last(_owned_first(order))
    return order if "a" in order else _time_last(_adverb_last(order))


def _owned_first(order: list[str]) -> list[str]:
    """Bring `Mira is Tom's manager` to `Tom's manager is Mira`, unless Mira may be an adjective."""
    if len(order) != 4 or order[1] != "is" or not order[2].endswith("'s") or order[3] not in words.ROLES:
        return order
    if not order[0].isalpha() or order[0] in lexicon.NAMES_INSIDE | lexicon.NAMES:
        return order
    return [order[2], order[3], "is", order[0]]


def _condition_last(order: list[str]) -> list[str]:
    """Bring `if the build fails, call Ada` to `call Ada if the build fails`: an order of one verb and one thing."""
    if order[:1] in (["if"], ["when"]) and order.count(",") == 1 and words.BINDERS.isdisjoint(order[1:]):
        at = order.index(",")
        rest = order[at + 1 :]
        plain = len(rest) == 2 or (3 <= len(rest) <= 4 and rest[1] in ("the", "all", "your"))
        if plain and rest[0] in words.ORDERS and at > 2:
            return [*rest, *order[:at]]
    return order


def _time_last(order: list[str]) -> list[str]:
    """Bring a phrase of time from either end of a sentence of one verb to its end."""
    for size in range(1, min(4, len(order) - 1)):
        front, rest = order[:size], order[size:]
        if _tells_time(front):
            rest = rest[rest[0] == "," :]
            return [*_bare(rest), *front] if _is_simple(rest) else order
        back, rest = order[-size:], order[:-size]
        if _tells_time(back):
            return [*_bare(rest), *back] if _is_simple(rest) else order
    return order


def _adverb_last(order: list[str]) -> list[str]:
    """Bring an adverb of the verb, beside it or at either end of a sentence of one verb, to the end."""
    at = [index for index, token in enumerate(order) if token in words.ADVERBS]
    if len(at) != 1 or len(order) < 3:
        return order
    rest = order[: at[0]] + order[at[0] + 1 :]
    front_comma = at[0] == 0 and rest[0] == ","
    rest = rest[front_comma:]
    if not _is_simple(rest):
        return order
    verb = _verbs(rest)[0]
    return [*_bare(rest), order[at[0]]] if at[0] in (0, verb, verb + 1, len(order) - 1) else order


def _tells_time(phrase: list[str]) -> bool:
    return _TIME_PHRASE.fullmatch(" ".join(phrase).replace(_READ, "=")) is not None


def _verbs(order: list[str]) -> list[int]:
    return [index for index, token in enumerate(order) if token in words.TIMED]


def _bare(order: list[str]) -> list[str]:
    """Leave out `the` before what there is one of, as the content key does before some verbs."""
    return order[1:] if order[0] == "the" and order[1:2] and order[1] in lexicon.ONE_OF_A_KIND else order


def _is_simple(order: list[str]) -> bool:
    """Tell whether a row is a sentence of one verb, with nothing in it that a phrase could be of but that verb."""
    verbs = _verbs(order)
    if len(verbs) != 1 or verbs[0] > 3 or not 2 <= len(order) <= 8:
        return False
    if verbs[0] > 1 and order[0] not in words.DETERMINERS:  # `Tom claims Ben works` has another verb before.
        return False
    if not (words.BINDERS | words.QUANTIFIERS).isdisjoint(order):
        return False
    after = order[verbs[0] + 1 :]
    if len(after) > 3 or (len(after) > 1 and after[0] not in words.OPEN_OBJECTS):
        return False
    return not any(_is_mark(token) or _TIME.match(token) or _is_verbal(token) for token in order)


def _is_verbal(token: str) -> bool:
    return token in IRREGULAR or token.endswith(("ing", "ed"))
