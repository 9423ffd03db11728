"""Random strings, as keys are, without any word that tells of a secret.

Digests, UUIDs, commits, base64 data, paths and targets of URLs look random too and are left alone.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator

from memtape.tools.capture.secrets.rules import FoundSecret, excepted, words_of

MIN_CHARS = 24
MIN_CHARS_OF_ONE_CASE = 28
MAX_CHARS = 128
"""Random strings as long as that are keys; longer ones are data."""
_RUN = re.compile(r"[A-Za-z0-9+/=_.~@:%&?#$-]{24,}")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s\"'<>`]+")
_CANDIDATE = re.compile(r"[A-Za-z0-9+/_-]{24,}={0,2}")
_HEX = re.compile(r"(?:0x)?(?:[0-9a-f-]+|[0-9A-F-]+)")
_WORDS = re.compile(r"[A-Z]?[a-z]{2,}|[A-Z]{2,}(?![a-z])")
_DATA_LINE = re.compile(r"[\s\"'>|+#*]*[A-Za-z0-9+/_-]{56,}={0,2}[\s\"',\\+]*")


def random_strings(text: str) -> Iterator[FoundSecret]:
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
    """Whether a string of letters, digits and a few marks is a random one rather than made of words; hex never is.

    Where it was `said` to be a key, less is asked of it.
    """
    body = string.rstrip("=")
    upper, lower, digits = (sum(map(kind, body)) for kind in (str.isupper, str.islower, str.isdigit))
    if len(body) < min_chars or _HEX.fullmatch(body) or not upper + lower or (digits < 2 and not said):
        return False
    mixed, wordy = upper > 0 and lower > 0, _wordy(body)
    if not mixed and (not digits or (not said and (len(body) < MIN_CHARS_OF_ONE_CASE or wordy))):
        return False
    marks = sum(body.count(mark) for mark in "-_/")
    if marks * 100 > len(body) * (16 if said else 12) or (marks and wordy and not said and len(body) < 32):
        return False  # A compound, such as the name of a model: in base64, one character of thirty is such a mark.
    # An alphabet or a pattern repeats itself; random strings do little.
    counts = Counter(body)
    if len(counts) * 100 < min(len(body), 36) * (50 if mixed else 38) or max(counts.values()) * 4 > len(body):
        return False
    return wordy * 100 < len(body) * (40 if said else 30) and turns(body) * 100 >= len(body) * (32 if mixed else 20)


def _wordy(body: str) -> int:
    """Return the number of characters in possible words: four letters and more, of common pairs."""
    count, pairs = 0, words_of("pairs")
    for word in _WORDS.finditer(body):
        lower = word[0].lower()
        if len(lower) >= 4:
            common = sum(lower[place : place + 2] in pairs for place in range(len(lower) - 1))
            count += len(lower) if common * 10 >= (len(lower) - 1) * 7 else 0
    return count


def turns(body: str) -> int:
    """Return how often the kind of character changes: in words seldom, in random strings at every second place."""
    kinds = ["u" if char.isupper() else "l" if char.islower() else "d" if char.isdigit() else "m" for char in body]
    return sum(one != other for one, other in itertools.pairwise(kinds))


def _is_data(text: str, start: int, end: int) -> bool:
    """Whether a string is said to be a digest or an address, or is an id, a symbol of a linker, or a line of data."""
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
