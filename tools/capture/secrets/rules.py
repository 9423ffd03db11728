"""The engine that finds secrets in a text: by the rules of `rules.toml`, and as random strings.

One pass of a library's automaton finds all keywords of all rules, and each rule is tried only where one of
its keywords stands. No rule and no exception may stand here.

A rule names by `like` the test of what it has matched, since that is often a type, a name, a variable or an
example. Digests, UUIDs, commits, base64 data, paths and targets of URLs look random too. `exceptions.toml`
has what is no secret.
"""

from __future__ import annotations

import base64
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import msgspec

if TYPE_CHECKING:
    from ahocorasick_rs import AhoCorasick

MAX_LINE_CHARS = 400
AROUND_CHARS = 60, 100
"""How much a rule for a line, and for the near part of a line on both sides, reads at most."""
PIECE_CHARS = 65_536
"""A long text is searched in pieces, since all places found in one stand in memory at once."""
MIN_CHARS = 24
MIN_CHARS_OF_ONE_CASE = 28
MAX_CHARS = 128
"""Random strings as long as that are keys; longer ones are data."""
_RUN = re.compile(r"[A-Za-z0-9+/=_.~@:%&?#$-]{24,}")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s\"'<>`]+")
_CANDIDATE = re.compile(r"[A-Za-z0-9+/_-]{24,}={0,2}")
_ANY_HEX = re.compile(r"(?:0x)?(?:[0-9a-f-]+|[0-9A-F-]+)")
_WORDLIKE = re.compile(r"[A-Z]?[a-z]{2,}|[A-Z]{2,}(?![a-z])")
_DATA_LINE = re.compile(r"[\s\"'>|+#*]*[A-Za-z0-9+/_-]{56,}={0,2}[\s\"',\\+]*")
_SURROGATE = re.compile("[\ud800-\udfff]")
_PART = re.compile(r"\{([A-Z]+)\}")
_MARKS = frozenset("!@#$%^&*?+~=|\\/")
_ASKED_WORD = re.compile(r"[!-~]{8,256}")
_POSITION = re.compile(r"[{\[]|cursor|\d+:[A-Za-z]|[a-z]+://|\d+$")
"""How cursors and ids of nodes begin."""

Span = tuple[int, int]
Test = Callable[[re.Match[str]], Iterable[Span]]


class Rule(msgspec.Struct, frozen=True):
    """A rule as in `rules.toml`."""

    id: str
    regex: str
    keywords: tuple[str, ...] = ()
    where: Literal["at", "line", "around", "anywhere"] = "at"
    begins: str = ""
    like: str = "form"


class FoundSecret(NamedTuple):
    """A secret in a text: from `start` to before `end`, and the kind that its placeholder names."""

    start: int
    end: int
    kind: str


@cache
def table(name: str) -> dict[str, Any]:
    """Return a file of this folder: `rules.toml` or `exceptions.toml`."""
    return msgspec.toml.decode(Path(__file__).with_name(name).read_bytes(), type=dict[str, Any])


@cache
def regex_of(text: str) -> re.Pattern[str]:
    """Return an expression of `rules.toml`, its lines joined and with the `{PARTS}` in their places.

    An expression is compiled when it is first tried: to compile all of them takes longer than a capture.
    """
    while _PART.search(text):
        text = _PART.sub(lambda found: table("rules.toml")["parts"][found[1]], text)
    return re.compile("".join(text.split("\n")))


@cache
def denied_paths() -> tuple[str, ...]:
    """Return the globs of files that are never captured."""
    return tuple(table("rules.toml")["denied_paths"].split())


@cache
def excepted(name: str) -> re.Pattern[str]:
    """Return an expression of `exceptions.toml`."""
    return re.compile("".join(table("exceptions.toml")[name].split("\n")))


@cache
def words_of(name: str) -> frozenset[str]:
    """Return a list of words of `exceptions.toml`."""
    return frozenset(table("exceptions.toml")["words"][name].split())


@cache
def rules() -> tuple[list[Rule], int, dict[str, list[int]], AhoCorasick]:
    """Return the rules, the number of forms among them, the rules of each keyword, and the automaton."""
    from ahocorasick_rs import AhoCorasick

    data = table("rules.toml")
    forms, told = (msgspec.convert(data[name], list[Rule]) for name in ("forms", "rules"))
    for regex, names in data["prefixes"].items():
        for kind, *prefixes in map(str.split, names.split(",")):
            forms += [Rule(kind, re.escape(prefix) + regex, (prefix.lower(),)) for prefix in prefixes]
    for names, regex in data["commands"].items():
        commands = tuple(f"{name} " for name in names.split())
        told.append(Rule("password", regex, commands, "line", like="given"))
    sought: dict[str, list[int]] = {}
    for number, rule in enumerate([*forms, *told]):
        for keyword in rule.keywords:
            words = data["keywords"][keyword[1:]].split() if keyword.startswith("@") else [keyword]
            for word in words:
                sought.setdefault(word, []).append(number)
    return [*forms, *told], len(forms), sought, AhoCorasick(list(sought))


@cache
def _before_key() -> frozenset[int]:
    """Return the numbers, in the automaton, of the words that need the word key behind them."""
    words = table("rules.toml")["keywords"]["before_key"].split()
    return frozenset(number for number, word in enumerate(rules()[2]) if word in words)


def may_hold_secret(text: str, *, asked: bool = False) -> bool:
    """Whether a text may hold a secret: never False where a rule finds one in the text as it is written.

    A rule needs a keyword, or a run of characters as long as a random string, and a question `asked` a digit.
    """
    if not text.isascii() or len(text) > PIECE_CHARS or _RUN.search(text):
        return True
    (_, _, _, automaton), lower = rules(), text.lower()
    met = {number for number, _, _ in automaton.find_matches_as_indexes(lower, overlapping=True)}
    has_word = bool(met) and ("key" in lower or not met <= _before_key())
    return has_word or (asked and any(map(str.isdigit, text)))


def matches(text: str, *, forms_only: bool = False) -> Iterator[tuple[Rule, re.Match[str]]]:
    """Yield the matches of the rules in a text, in the order of the rules. Takes time linear in the text."""
    every, forms, sought, automaton = rules()
    words, longest = list(sought.values()), max(map(len, sought))
    places: list[list[int]] = [[] for _ in every]  # Where the keywords of each rule stand, in order.
    # A few letters become two in lower case, which would move what follows; the automaton takes whole
    # characters only.
    lower = text.lower()
    lower = lower if len(lower) == len(text) else "".join(char.lower()[:1] for char in text)
    lower = lower if lower.isascii() else _SURROGATE.sub("\ufffd", lower)
    for begin in range(0, len(lower), PIECE_CHARS):
        piece = lower[begin : begin + PIECE_CHARS + longest - 1]
        for word, start, _ in automaton.find_matches_as_indexes(piece, overlapping=True):
            if start < PIECE_CHARS:  # What begins behind the piece is found in the next.
                for number in words[word]:
                    places[number].append(begin + start)
    for rule, its in zip(every[:forms] if forms_only else every, places, strict=False):
        if its or not rule.keywords:
            for found in _tried(rule, text, its):
                yield rule, found


def _tried(rule: Rule, text: str, places: Iterable[int]) -> Iterator[re.Match[str]]:
    regex = regex_of(rule.regex)
    if rule.where == "anywhere":
        yield from regex.finditer(text)
        return
    end = 0
    for place in sorted(set(places)):
        within = rule.where != "at" and text[place].isalnum() and text[place - 1 : place].isalnum()
        if place < end or within or (rule.begins and not regex_of(rule.begins).match(text, place)):
            continue
        if rule.where == "at":
            if found := regex.match(text, place):
                yield found
                end = found.end()
            continue
        first, last = place, place + MAX_LINE_CHARS
        if rule.where == "around":
            first = max(end, text.rfind("\n", 0, place) + 1, place - AROUND_CHARS[0])
            last = place + AROUND_CHARS[1]
        stop = text.find("\n", place, last)
        end = stop if stop >= 0 else min(len(text), last)
        yield from regex.finditer(text, first, end)


def secrets_in(text: str) -> Iterator[FoundSecret]:
    """Yield the secrets of a text that rules find, then the random strings; findings may overlap."""
    yield from told_secrets(text)
    for found in _random_strings(text):
        said = _decoded(text[found.start : found.end])
        if said is None or not _says_nothing(said):
            yield found


def told_secrets(text: str, *, forms_only: bool = False) -> Iterator[FoundSecret]:
    """Yield the secrets of a text that rules find: of a match one, several codes, or none."""
    for rule, match in matches(text, forms_only=forms_only):
        kind = "assigned-secret" if "key" in match.re.groupindex and match["key"] else rule.id
        yield from (FoundSecret(*span, kind) for span in LIKES[rule.like](match))


def _says_nothing(said: str) -> bool:
    """Whether decoded base64 is a sentence, or a position in a list, without a secret."""
    words, letters = said.split(), sum(map(str.isalpha, said))
    is_text = len(words) >= 3 and letters * 4 >= 3 * sum(map(len, words)) and max(map(len, words)) <= 24
    return (is_text or _POSITION.match(said) is not None) and next(told_secrets(said), None) is None


def asked_secrets(query: str) -> Iterator[FoundSecret]:
    """Yield the words of a question about a password, key or token that look like one."""
    if names_a_secret(query):
        for found in _ASKED_WORD.finditer(query):
            value = _ended(found[0])
            if _is_no_name(value):
                yield FoundSecret(found.start(), found.start() + len(value), "password")


def names_a_secret(text: str) -> bool:
    """Whether a text speaks of a password, key or token."""
    return regex_of("{SPOKEN}").search(text) is not None


def _value(match: re.Match[str]) -> tuple[str, int]:
    group = "value" if "value" in match.re.groupindex else 0
    return match[group], match.start(group)


def _ended(value: str) -> str:
    """Return a value without the punctuation at its end."""
    return value.rstrip(".,:;!?)'\"`。，；」』”»")


def _is_named(value: str) -> bool:
    """Whether a value in the place of a secret is no example, algorithm, or reference to the secret."""
    return not any(excepted(name).fullmatch(value) for name in ("example", "reference", "algorithm"))


def _is_drawn(value: str) -> bool:
    """Whether the characters of a word look drawn one by one."""
    return looks_random(value, 8, said=True)


def _password_like(value: str, *, quoted: bool = True, shouted: bool = False) -> bool:
    """Whether a value called a password is one: letters mixed with digits or marks, or only digits.

    In quotes, or assigned to a variable in capitals, a word with a digit counts too, since no name is
    expected there.
    """
    if len(value) < 6 or " " in value or not _is_named(value):
        return False
    if _is_drawn(value):
        return True
    if excepted("technical").fullmatch(value):
        return False
    letters, digits = any(map(str.isalpha, value)), any(map(str.isdigit, value))
    marked = any(char in _MARKS for char in value)
    if digits and not letters:
        return marked or value.isdigit()
    if letters and digits:
        if re.fullmatch(r"[a-z]{3,}[0-9]", value):
            return quoted or shouted
        return not excepted("identifier").fullmatch(value)
    if marked and letters:
        return not re.search(r"[=|/\\&]", value) and value[-1] not in "?*+"
    # Four words or more that were drawn are a passphrase; a compound that says something is none.
    parts = value.split("-" if "-" in value else ".")
    drawn = len(parts) >= 4 and all(re.fullmatch("[a-z]{3,12}", part) for part in parts)
    return (shouted and value.isalpha()) or (drawn and not excepted("sentence").search(value))


def _key_like(value: str) -> bool:
    """Whether a value called a key, secret or token is one: random, hexadecimal, a UUID, short and mixed."""
    if len(value) < 8 or " " in value or not _is_named(value) or excepted("technical").fullmatch(value):
        return False
    if value.isalnum() and turns(value) >= 3 and not excepted("type").fullmatch(value):
        return True
    if regex_of("(?i){UUID}|{HEX}").fullmatch(value):
        return True
    if looks_random(value.replace("%", ""), 16, said=True):
        return True
    sorts = (str.isupper, str.islower, str.isdigit, _MARKS.__contains__)
    return looks_random(value, 10, said=True) and sum(any(map(sort, value)) for sort in sorts) >= 3


def _plain_words(text: str, start: int, value: str, *, quoted: bool = False) -> list[Span]:
    """Return the span of a password in plain words: a word that ends its sentence, or several drawn words.

    `value` is what stands in the place of the password.
    """
    found = regex_of("{WORDS}").match(text, start)
    if found is None or not _is_named(value):
        return []
    words = re.split("[ _-]", found["value"].lower())
    few = len(words) < 4
    says = excepted("saying") if few else excepted("participle")
    if words[0] in words_of("describing") or says.fullmatch(words[0]):
        return []
    if few and excepted("ending").fullmatch(words[-1]):
        return []
    if len(words) == 1:
        return [found.span("value")] if len(words[0]) >= 6 else []
    least = 4 if " " in found["value"] and not quoted else 2
    sentence = excepted("sentence").search(found["value"])
    return [] if len(words) < least or sentence or len(max(words, key=len)) > 12 else [found.span("value")]


def _is_very_sure(value: str) -> bool:
    """Whether a value merely beside the word is a password: no name has letters, several digits and more."""
    if excepted("structure").search(value):
        return False
    sorts = sum(any(map(sort, value)) for sort in (str.isupper, str.islower, lambda char: not char.isalnum()))
    digits = sum(map(str.isdigit, value))
    return len(value) >= 8 and _password_like(value) and digits >= 1 and sorts + (digits > 1) >= 2


def _is_no_name(value: str) -> bool:
    """Whether a word looks like a password and not like the name of a host, a ticket, a date or a path."""
    return _is_very_sure(value) and not excepted("name").fullmatch(value)


def _assigned(found: re.Match[str]) -> Iterable[Span]:
    text, quoted = found.string, found["quoted"] is not None
    (start, end), value = found.span("quoted" if quoted else "bare"), found["quoted"] or found["bare"]
    by, word = found["by"], found[0][: found.start("by") - found.start()]
    given = by == " " and re.search(r"(?<![\w-])--?[\w-]*$", text[max(0, found.start() - 24) : found.start()])
    if _is_cursor(found) or (by == " " and not given and not (quoted and found["password"])):
        return []
    if not quoted:
        if text[end : end + 1] == "(":  # A call.
            return []
        value = value.rstrip(".:!?" if by != "=" else "")
        if "&" in value and "?" in text[max(0, found.start() - 256) : found.start()]:
            value = value.partition("&")[0]
    whole = [(start, start + len(value))]
    shouted = (word.isupper() and "=" in by) or (by == "=" and text.endswith(";", 0, found.start()))
    if quoted and len(value) >= 32 and _is_drawn(re.sub(r"\W", "", value)):
        return whole
    if not found["key"]:
        if _password_like(value, quoted=quoted, shouted=shouted and found["short"] is None):
            return whole
        told = quoted and (given or ":" in by or "=" in by)
        return _plain_words(text, start, value, quoted=True) if told else []
    of_choice = re.search("secret|encrypt|signing|master", word, re.IGNORECASE)
    chosen = re.fullmatch(r"[A-Za-z]{4,}[0-9]{3,}[!?#*$]?", value) or (shouted and _password_like(value))
    return whole if _key_like(value) or (of_choice and chosen) else []


def _said(found: re.Match[str]) -> Iterable[Span]:
    quoted = found["quoted"] is not None
    value, start = found["quoted"] or _ended(found["bare"]), found.start("quoted" if quoted else "bare")
    if _is_cursor(found):
        return []
    if _key_like(value) if found["key"] else _password_like(value):
        return [(start, start + len(value))]
    # "hasło to" says "is".
    is_purpose = found["by"].strip() == "to" and not quoted and found[0][:3].lower() != "has"
    return [] if found["key"] or is_purpose else _plain_words(found.string, start, value, quoted=quoted)


def _said_alone(found: re.Match[str]) -> Iterable[Span]:
    value, start = _ended(found["value"]), found.start("value")
    if _password_like(value):
        return [(start, start + len(value))]
    return _plain_words(found.string, start, value)


def _is_cursor(found: re.Match[str]) -> bool:
    """Whether a token says where to read on, and opens nothing."""
    return excepted("cursor").search(found.string, max(0, found.start() - 16), found.start()) is not None


def _near(found: re.Match[str]) -> Iterable[Span]:
    value, start = _ended(found["value"]), found.start("value")
    several = sum(map(str.isdigit, value)) > 1 or any(char in "!#$%*?+~" for char in value)
    if _is_no_name(value) and (several or _is_drawn(value)) and not excepted("of_systems").fullmatch(value):
        name = re.match(r"[A-Za-z_]{2,}=(?=.{4})", value)
        return [(start + (name.end() if name else 0), start + len(value))]
    return []


def _given(found: re.Match[str]) -> Iterable[Span]:
    value, (start, end) = found["value"], found.span("value")
    if value[0] in "\"'" and value[-1] == value[0]:
        start, end, value = start + 1, end - 1, value[1:-1]
    return [(start, end)] if value[:1] not in "-$" and _is_named(value) else []


def _codes(found: re.Match[str]) -> Iterator[Span]:
    """Yield the codes after their name, up to the first word of another form."""
    text, place, stop = found.string, found.end(), found.end() + 1_000
    while gap := regex_of("{BETWEEN}").match(text, place, stop):
        code = regex_of("{CODE}").match(text, gap.end(), stop)
        if code is None or not (any(map(str.isdigit, code[0])) or code[0].isupper() or "-" in code[0]):
            return
        yield code.span()
        place = code.end()


def _form(found: re.Match[str]) -> Iterable[Span]:
    """Return a form that is no part of a longer word and no made-up example."""
    value, start = _value(found)
    end = start + len(value)
    around = found.string[max(0, start - 1) : start] + found.string[end : end + 1]
    return [] if excepted("made_up").search(value) or any(map(str.isalnum, around)) else [(start, end)]


def _encoded_key(found: re.Match[str]) -> Iterable[Span]:
    """Return a key in base64; a PEM block is one if it says so, or is cut before that can be seen."""
    head = re.sub(r"\s|\\[nr]", "", found[0])[:64]
    is_key = not head.startswith("LS0t") or b"PRIVATE" in base64.b64decode(head[: len(head) // 4 * 4])
    return [found.span()] if is_key and len(found[0]) >= 40 else []


def _decoded(string: str) -> str | None:
    """Return the printable text that a string is in base64, of either alphabet, padded or not."""
    body = string.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        said = base64.b64decode(f"{body}{'=' * (-len(body) % 4)}", validate=True).decode()
    except ValueError:
        return None
    return said if said.replace("\n", "").replace("\r", "").replace("\t", "").isprintable() else None


def _where(test: Callable[[str], object], found: re.Match[str], *, ended: bool = False) -> Iterable[Span]:
    """Return the value of a match that passes a test, `ended` without the punctuation at its end."""
    value, start = _value(found)
    value = _ended(value) if ended else value
    return [(start, start + len(value))] if test(value) else []


LIKES: dict[str, Test] = {
    "any": partial(_where, lambda value: True),
    "named": partial(_where, _is_named),
    "password": partial(_where, _password_like),
    "key": partial(_where, _key_like),
    "digits": partial(_where, lambda value: any(map(str.isdigit, value)) and _is_named(value)),
    "user in base64": partial(_where, lambda value: ":" in (_decoded(value) or "")),
    "no name": partial(_where, _is_no_name),
    "very sure": partial(_where, _is_very_sure, ended=True),
    "beside": partial(_where, lambda it: _is_very_sure(it) or (it.isdigit() and len(it) >= 8), ended=True),
    # No version and no path.
    "beside a user": partial(
        _where,
        lambda it: _password_like(it) and not re.fullmatch(r"\d+|v?\d[\w.-]{0,11}|.*/.*", it),
        ended=True,
    ),
    "lines of base64": partial(_where, re.compile(r"[A-Za-z0-9+/=]{40}").search),
    "no sentence": partial(_where, lambda value: not excepted("sentence").search(value)),
    "form": _form,
    "encoded key": _encoded_key,
    "assigned": _assigned,
    "given": _given,
    "said": _said,
    "said alone": _said_alone,
    "near": _near,
    "codes": _codes,
}
"""The tests of a match, which return its secrets."""


def _random_strings(text: str) -> Iterator[FoundSecret]:
    """Yield the strings drawn at random with no other reason than to be secret. Takes linear time."""
    links = [link.span() for link in _URL.finditer(text)] if "://" in text else []
    place = 0
    for run in _RUN.finditer(text):
        while place < len(links) and links[place][1] <= run.start():
            place += 1
        linked = place < len(links) and links[place][0] < run.end()
        if linked or "base64," in run[0]:
            continue
        for found in _CANDIDATE.finditer(text, *run.span()):
            start, end = found.span()
            if end - start <= MAX_CHARS and looks_random(found[0]) and not _is_data(text, start, end):
                yield FoundSecret(start, end, "high-entropy")


def looks_random(string: str, min_chars: int = MIN_CHARS, *, said: bool = False) -> bool:
    """Whether a string of letters, digits and a few marks is a random one rather than made of words; hex
    never is.

    Where it was `said` to be a key, less is asked of it.
    """
    body = string.rstrip("=")
    upper, lower, digits = (sum(map(kind, body)) for kind in (str.isupper, str.islower, str.isdigit))
    if len(body) < min_chars or _ANY_HEX.fullmatch(body) or not upper + lower or (digits < 2 and not said):
        return False
    mixed, wordy = upper > 0 and lower > 0, _wordy(body)
    if not mixed and (not digits or (not said and (len(body) < MIN_CHARS_OF_ONE_CASE or wordy))):
        return False
    marks = sum(body.count(mark) for mark in "-_/")
    if marks * 100 > len(body) * (16 if said else 12) or (marks and wordy and not said and len(body) < 32):
        return False  # A compound, as the name of a model: base64 has one such mark in thirty characters.
    # An alphabet or a pattern repeats itself; random strings do little.
    counts = Counter(body)
    if len(counts) * 100 < min(len(body), 36) * (50 if mixed else 38) or max(counts.values()) * 4 > len(body):
        return False
    is_wordy = wordy * 100 >= len(body) * (40 if said else 30)
    return not is_wordy and turns(body) * 100 >= len(body) * (32 if mixed else 20)


def _wordy(body: str) -> int:
    """Return the number of characters in possible words: four letters and more, of common pairs."""
    count, pairs = 0, words_of("pairs")
    for word in _WORDLIKE.finditer(body):
        lower = word[0].lower()
        if len(lower) >= 4:
            common = sum(lower[place : place + 2] in pairs for place in range(len(lower) - 1))
            count += len(lower) if common * 10 >= (len(lower) - 1) * 7 else 0
    return count


def turns(body: str) -> int:
    """Return how often the kind of character changes: seldom in words, often in random strings."""
    kinds = [(char.isupper(), char.islower(), char.isdigit()) for char in body]
    return sum(one != other for one, other in pairwise(kinds))


def _is_data(text: str, start: int, end: int) -> bool:
    """Whether a string is called a digest or address, or is an id, a linker's symbol or a line of data."""
    string, before = text[start:end], text[max(0, start - 48) : start]
    if excepted("named_random").search(before[-24:]) or excepted("id").fullmatch(string):
        return True
    if string.startswith(("sha", "AAAA", "_Z")) or before.endswith(("base64,", "?B?", "?b?", 'W/"')):
        return True
    first = text.rfind("\n", max(0, start - 200), start)
    last = text.find("\n", end, end + 8)
    if first < 0 and (start > 200 or last < 0):
        return False
    line = text[first + 1 : last if last >= 0 else end + 8]
    before = text[max(0, first - 200) : max(first, 0)].rpartition("\n")[2]
    after = text[last + 1 : last + 200].partition("\n")[0] if last >= 0 else ""
    near = _DATA_LINE.fullmatch(before) or _DATA_LINE.fullmatch(after)
    return bool(near and _CANDIDATE.fullmatch(line.strip(" \t\"'>|+#*,\\")))
