"""Random strings, as keys are, and their places in a text.

Random strings that are no secrets are left alone: digests, UUIDs, commits, base64 data, paths, targets of
URLs. Secrets among them are known by the words before them (`tools/capture/secrets/assigned.py`).
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator

from memtape.tools.capture.secrets.known import FoundSecret
from memtape.tools.capture.secrets.places import ALPHANUMERIC, Places, compiled, runs

MIN_CHARS = 24
MIN_CHARS_OF_ONE_CASE = 28
MAX_CHARS = 128
"""Random strings as long as that are keys; longer ones are data."""

MAY_BE_RANDOM = runs(MIN_CHARS, f"{ALPHANUMERIC}+/=_.~@:%&?#$-")
"""Every random string is inside one such run."""
_RUN = re.compile(r"[A-Za-z0-9+/=_.~@:%&?#$-]{24,}")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s\"'<>`]+")
_CANDIDATE = re.compile(r"[A-Za-z0-9+/_-]{24,}={0,2}")
_NAMED = (
    r"(?i)"
    r"(?:sha\d{1,3}|md5|blake\w{1,4}|h1|sri|integrity|checksum|digest|etag|if-(?:none-)?match|fingerprint|hash|base64|commit"
    r"|nonce|cursor|cid"
    r"|(?:data-)?site-?key|did:[a-z]+|public[\s_-]?key|pubkey|publishable[\s_-]?key|recipients?|peer|address|addr|(?:page|next"
    r"|continuation|sync|start(?:ing)?)[\s_-]?token"
    r"|next|after|before|ids?(?:-2)?|uuid|marker|bookmark|offset|wallet|owner|program|trace|span|request"
    r"|tx|txn|transaction|contract|mint|deposit|donations?|(?:restore|cache|last\s?evaluated)[\s_-]?key|continuation|kid"
    r"|jti|x5t(?:#s256)?|[\"'][nexy]|file|folder|doc(?:ument)?|video|build|version|revision|snapshot|serial|ref)"
    r"(?:\W{1,4}|\s(?:is|was|are|ist|lautet|est|es)\W{1,3})$"
)
"""Values with these names may look random and are no secrets."""
_BEFORE_DATA = ("base64,", "?B?", "?b?", 'W/"')
"""The text before data in URIs and in headers of mail, and before weak ETags."""
_ID = (
    r"(?!(?:[a-z]+[_-]){0,2}(?:sk|rk|pat|key|tok|token|secret|sec|api|apikey|auth|access|pass|pwd|priv|private)[_-])"
    r"(?:[a-z]{2,12}[_-]){1,3}[A-Za-z0-9]{10,31}|(?:pk|cs|phc|pub|public)_\w{20,}"
    r"|[xyztuv]pub[1-9A-HJ-NP-Za-km-z]{100,}|(?:/ip[fn]s/)?Qm[1-9A-HJ-NP-Za-km-z]{44}|baf[a-z2-7]{50,70}|k51[a-z0-9]{50,70}"
    r"|(?:bc1|tb1|ltc1|addr1|age1|npub1|note1|stake1|cosmos1|osmo1|lnbc|inj1|terra1)[a-z0-9]{20,}"
    r"|[A-Za-z][A-Za-z0-9_-]{2,60}-[0-9a-f]{32,64}|[A-Z]{2}[0-9a-f]{32}|RW[A-Za-z0-9+/]{54}"
)
"""Ids with their kind first: ids of vendors and of contents, addresses, keys of caches, public keys.

A longer string after the name of the kind is a token.
"""
_BASE58 = re.compile(r"[1-9A-HJ-NP-Za-km-z]{32,44}")
_OF_CHAIN = (
    r"(?i)"
    r"\b(?:address|wallet|sent|send|transfer|deposit|mint|program|account|sol|solana|usdc|usdt|trx|tron"
    r"|doge|btc|to|from)\b"
)
_HEX = re.compile(r"(?:0x)?(?:[0-9a-f-]+|[0-9A-F-]+)")
_WORDS = re.compile(r"[A-Z]?[a-z]{2,}|[A-Z]{2,}(?![a-z])")
_DATA_LINE = re.compile(r"[\s\"'>|+#*]*[A-Za-z0-9+/_-]{56,}={0,2}[\s\"',\\+]*")
_PAIRS = frozenset(
    """
    th he in er an re nd at on nt ha es st en ed to it ou ea hi is or ti as te et ng of al de se le sa si ar ve ra ld ur
    ro ri io ne me li co ta el ma ic ch no la us il ce ec ss om ec un ca em po pe ge mo ac tr ol ot lo ec di ho ow ee
    sh wh ie im ir ay ad ut id ul ly ov if bo be so we fo wa pr pl am mi na ni ts ns rs ge do su ap pp ct ex fi ff up
    ke ey ag rt op vi da va ab bl bu ai ga gr cr cl fr ef ig gh ht sp sc sk ck ki ci cu ue ui um mp ob og ry ty ys ms
    ls ll mm nn oo rr tt ef fe fu fa fl ia ib iv ny nc nk ns oc od ok os pa pi ph pu qu rc rd rg rk rm rn rv sw ub uc
    ug up ub wo wr xt yp yt ze dd du dr eb ei ek ep ev ew gi go gl id je jo ju ja js
    """.split()
)
"""The pairs of letters that most words are made of, in English and in code."""


def random_strings(places: Places) -> Iterator[FoundSecret]:
    """Yield the strings drawn at random with no other reason than to be secret. Takes linear time."""
    text = places.text
    if not places.numbered:
        return
    links = [link.span() for link in _URL.finditer(text)] if "://" in text else []
    place = 0
    for run in _RUN.finditer(text):
        while place < len(links) and links[place][1] <= run.start():
            place += 1
        linked = place < len(links) and links[place][0] < run.end()
        if linked or _names_a_place(run[0]):
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
    count = 0
    for word in _WORDS.finditer(body):
        lower = word[0].lower()
        if len(lower) >= 4:
            common = sum(lower[place : place + 2] in _PAIRS for place in range(len(lower) - 1))
            count += len(lower) if common * 10 >= (len(lower) - 1) * 7 else 0
    return count


def turns(body: str) -> int:
    """Return how often the kind of character changes: in words seldom, in random strings at every second place."""
    kinds = ["u" if char.isupper() else "l" if char.islower() else "d" if char.isdigit() else "m" for char in body]
    return sum(one != other for one, other in itertools.pairwise(kinds))


def _names_a_place(run: str) -> bool:
    """Whether a run without spaces is a path, a data URI or the hash of a password."""
    if "base64," in run or run.startswith(
        ("$1$", "$2", "$5$", "$6$", "$argon", "$y$", "./", "../", "~/", "data:", "www.", "@", "#")
    ):
        return True
    pieces = re.split(r"[/@]", run)
    wordy = sum(1 for piece in pieces if piece and _wordy(piece) * 2 >= len(piece))
    return len(pieces) > 2 and wordy >= (1 if run.startswith("/") else 2)


def _is_address(text: str, start: int, end: int) -> bool:
    """Whether a string has the letters of an address of a chain, and stands where one is spoken of."""
    return (
        _BASE58.fullmatch(text, start, end) is not None
        and compiled(_OF_CHAIN).search(text, max(0, start - 48), start) is not None
    )


def _is_data(text: str, start: int, end: int) -> bool:
    """Whether a string is said to be a digest, or is a public key, a symbol of a linker, or a line of data."""
    if compiled(_NAMED).search(text, max(0, start - 24), start):
        return True
    if compiled(_ID).fullmatch(text, start, end) or _is_address(text, start, end):
        return True
    if text[start:end].startswith(("sha", "AAAA", "_Z")) or text[max(0, start - 7) : start].endswith(_BEFORE_DATA):
        return True
    first = text.rfind("\n", max(0, start - 200), start)
    before = text[max(0, text.rfind("\n", max(0, first - 200), max(first, 0))) : max(first, 0)]
    last = text.find("\n", end, end + 8)
    line = text[first + 1 : last if last >= 0 else end + 8]
    if (first < 0 and start > 200) or (first < 0 and last < 0):
        return False
    after = text[last + 1 : last + 200].partition("\n")[0] if last >= 0 else ""
    return bool(
        _CANDIDATE.fullmatch(line.strip(" \t\"'>|+#*,\\"))
        and (_DATA_LINE.fullmatch(before) or _DATA_LINE.fullmatch(after))
    )
