"""The near-verbatim key: equal for texts that differ in form alone. Two texts with one key are one memory.

A text goes through two steps. `read` brings every spelling to one form, in its place: capitals, contractions,
numbers, units, dates and times. `key_of` leaves out words without content: punctuation between words,
articles, the auxiliary "have", politeness. Both steps are for English. In other languages only marks are left
out. All other words keep their places, so that equal keys state the same of the same things. Synonyms are not
handled here.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from memtape.schemas.patterns import lazy
from memtape.state.fold.amounts import is_number, with_amounts
from memtape.state.text import lexicon
from memtape.state.text.markup import without_markup
from memtape.state.text.normal import content_key, is_unit
from memtape.state.text.terms import ENGLISH, language_of

Tokens = tuple[str, ...]


# --- One form for each thing, in its place ---

_ABOUT_WORDS = lexicon.ABOUT_WORDS - lexicon.word_set(
    "write writes means stands american british term terms string formal words letter letters"
)
"""Words that make the form of a text its content."""
_QUOTES = lexicon.word_set("\" ' « » “ ” 「 」 『 』")
_HYPHENATED = lazy(r"[a-z]{2,}(?:-[a-z]{2,})+")
_CODE = lazy(r"`([a-z][a-z\d]*(?:[-_./][a-z\d]+)*(?: [a-z][a-z\d]*(?:[-_./][a-z\d]+)*)*)`")
"""Words without capitals or other marks: backticks around them only say that they are typed."""
_LETTERS = lazy(r"[^\W\d_]+")
_NO_VOWEL = lazy(r"[B-DF-HJ-NP-TV-XZ]{2,}s?")
_SHOUTED = lexicon.word_set(
    """
    todo fixme wip important mandatory urgent critical warning attention caution reminder before after first last both
    same different any until unless except without within between during again also and but or if then else when while
    because should would could cannot can have has had are is was were be been being with from that this these those
    they them their there here our your his her its we you to of for at by into onto over under than very more most less
    least few many much too even still already yet now today tomorrow yesterday monday tuesday wednesday thursday
    friday saturday sunday january february april june july september october november december daily weekly monthly
    immediately production staging broken deprecated obsolete stop avoid use using keep make sure ensure don't doesn't
    api id url sla slo cto ceo coo cfo eta eod eom aka asap faq gui gpu cpu io ai ml ui ux os ci iot iam ec2 ide uat
    sre oauth saas paas iaas eks aks gke vpc roi okr okrs dba csv ascii utf etl elt uuid guid
    """
)
"""Words in capitals with an unchanged meaning; PATH, POST and US would have another one."""
_TELLING = lexicon.word_set("is are was be called named = : to as on into from")
_S_IS = lexicon.word_set("it that there here what who where he she how when")
_WISHED = lexicon.word_set("like love rather prefer want")
_S_HAS = lexicon.word_set("been got had done become gone")


def read(text: str) -> tuple[list[str], bool]:
    """Return the tokens of a text, each thing of English in one form, and whether the text may be read as English."""
    text = without_markup(text)
    tokens = list(content_key(text))
    found = frozenset(token.lower() for token in tokens)
    if not found.isdisjoint(lexicon.FOREIGN) or language_of(text) != ENGLISH or not found.isdisjoint(_ABOUT_WORDS):
        return tokens, False
    typed = not found.isdisjoint(lexicon.ABOUT_TYPING)
    shouting = _is_shouting(text)
    read: list[str] = []
    for index, token in enumerate(tokens):
        if is_unit(tokens[index - 1] if index else "", token) and not shouting:
            read.append(token)
        else:
            read += _forms(token if not shouting else token.lower(), typed and _is_literal(tokens, index))
    return with_amounts(_contracted(read)), True


def _is_literal(tokens: list[str], index: int) -> bool:
    """Return whether a word in a text about typed input may be typed itself: branch `main` is not `Main`."""
    before, after = tokens[max(0, index - 1)], tokens[index + 1 : index + 2]
    return before in _TELLING or before in lexicon.ABOUT_TYPING or (after != [] and after[0] in lexicon.ABOUT_TYPING)


def _is_shouting(text: str) -> bool:
    """Return whether capitals are without meaning: all of at least 3 words have them, none is a name."""
    words = _LETTERS.findall(text) if text.isupper() else []
    return len(words) >= 3 and lexicon.NAMES.isdisjoint(map(str.lower, words))


def _forms(token: str, literal: bool) -> tuple[str, ...]:
    """Return a token with its meaningful capitals, split at hyphens."""
    lower = token.lower()
    if token == "&":
        return ("and",)
    if token == "I" or lower in lexicon.CONTRACTIONS:
        return (lower,)
    if token != lower and token.isascii() and token.replace("-", "").isalpha():
        token = _lowered(token, lower, literal)
    if "-" in token and _HYPHENATED.fullmatch(token) and token.partition("-")[0] not in _NEGATIONS:
        return tuple(token.split("-"))
    code = _CODE.fullmatch(token)
    words = () if code is None else tuple(code[1].split())
    told = not lexicon.ENGLISH.issuperset(words) and not {"a", "an", "the"} & frozenset(words)
    return words if words and told else (token,)


def _lowered(token: str, lower: str, literal: bool) -> str:
    if len(token) == 1:
        return token
    if token[1:] == lower[1:]:
        plain = lower not in lexicon.NAMES and lower not in lexicon.NAMES_INSIDE
        return lower if plain and (not literal or lower in lexicon.ABOUT_TYPING) else token
    if "-" in token:
        return "-".join(_lowered(part, part.lower(), literal) for part in token.split("-") if part)
    acronym = _NO_VOWEL.fullmatch(token) or lower in _SHOUTED or lower.removesuffix("s") in lexicon.PLAIN_CAPITALS
    return lower if acronym and lower not in lexicon.NAMES else token


def _contracted(tokens: list[str]) -> list[str]:
    """Return tokens with contractions in full, even those with another reading elsewhere: `it's been`."""
    read: list[str] = []
    for index, token in enumerate(tokens):
        after = tokens[index + 1] if index + 1 < len(tokens) else ""
        if token in lexicon.CONTRACTIONS:
            read += lexicon.CONTRACTIONS[token]
        elif token == "let's":
            read += ("let", "us")
        elif token.endswith("'d") and after in _WISHED:
            read += (token[:-2], "would")
        elif token.endswith("'s") and token[:-2] in _S_IS:
            read += (token[:-2], "has" if after in _S_HAS else "is")
        elif token == "can" and after == "not" and "only" not in tokens[index + 2 : index + 3]:
            read.append("cannot")
        elif token == "not" and read[-1:] == ["cannot"] and tokens[index - 1] == "can":
            continue
        else:
            read.append(token)
    return read


# --- Words without content ---

_MARKS = _QUOTES | lexicon.word_set(", ; : ( ) [ ] ... 、 - – — --") | {" ...", " ;", " :", " ,", ' "', " '"}
_SAID_ALONE = lexicon.word_set("no yes nope not ok okay")
_NEGATIONS = lexicon.word_set("not never nobody no none cannot neither nor")
_QUANTITIES = lexicon.word_set(
    "few little lot number couple bit while most many more less only rest same other two last next past first"
)
_AFTER_ARTICLE_LETTER = lexicon.word_set("to and or but from with in on of for , ; : is was failed . ?")
_BE = lexicon.word_set("is are am was were be been being")
_ATTITUDES = lexicon.word_set(
    "like likes love loves hate hates enjoy enjoys dislike dislikes prefer prefers eat eats ate"
)
"""Of these an article makes another object: who likes dogs may not like the dogs."""
_HAVE = lexicon.word_set("have has")
_MODALS = lexicon.word_set("will would could should may might must to cannot can")
_STILL_HELD = lexicon.word_set("for since yet never ever not always long")
_ACHIEVED = lexicon.word_set(
    """
    moved switched changed migrated added removed fixed decided renamed updated upgraded replaced finished deployed
    merged released agreed started stopped bought sold built rebuilt chosen chose written wrote sent made left joined
    created deleted dropped introduced adopted disabled enabled raised lowered increased reduced bumped pinned approved
    rejected signed booked scheduled rescheduled postponed cancelled canceled closed opened completed received ordered
    installed uninstalled configured converted implemented refactored rewritten split tested reviewed rolled shipped
    launched bumped hired fired quit retired graduated married divorced arrived returned given gave taken took gone went
    found lost paid published announced confirmed resolved reverted restarted restored rotated archived documented
    assigned transferred extended shortened frozen froze begun began become became
    """
)
_SIMPLE_PAST = {
    "chosen": "chose", "written": "wrote", "given": "gave", "taken": "took", "gone": "went", "frozen": "froze",
    "begun": "began", "become": "became", "rewritten": "rewrote",
}  # fmt: skip
_PLEASED = lexicon.word_set(
    "the a an him her them everyone everybody us me you your our my his their this these all both"
)
_SAID = (["say"], ["says"], ["said"], ["saying"])
_ASKED = tuple([word, "you", "please"] for word in ("could", "can", "would", "will"))
_OPENERS: tuple[Tokens, ...] = (
    ("by", "the", "way"), ("just", "so", "you", "know"), ("for", "your", "information"), ("please", "note", "that"),
    ("note", "that"), ("remember", "that"), ("do", "not", "forget", "that"), ("keep", "in", "mind", "that"),
    ("actually", ","), ("basically", ","), ("btw",), ("fyi",), ("reminder", ":"), ("note", ":"),
    ("just", "a", "note", ":"), ("heads", "up", ":"),
)  # fmt: skip
_THANKS: tuple[Tokens, ...] = (("thank", "you"), ("thanks",), ("thanks", "a", "lot"), ("many", "thanks"), ("cheers",))


def key_of(tokens: list[str], *, english: bool) -> Tokens:
    """Return the key of the tokens of `read`; all of them if nothing else would be left."""
    if not english:
        return tuple(token for token in tokens if token not in _MARKS) or tuple(tokens)
    kept = _without_have(_without_courtesy(tokens))
    kept = [token for index, token in enumerate(kept) if not _is_mark(kept, index)]
    kept = [token for index, token in enumerate(kept) if not _is_article(kept, index)]
    return tuple(kept) or tuple(tokens)


def _without_courtesy(tokens: list[str]) -> list[str]:
    """Return tokens without words of politeness or introduction."""
    if tokens[:3] in _ASKED and len(tokens) > 4:
        tokens = tokens[2:-1] if tokens[-1] == "?" else tokens[2:]
    for opener in _OPENERS:
        size = len(opener)
        if tuple(tokens[:size]) == opener and len(tokens) > size + 2:
            if opener[-1] == "that" and lexicon.FINITE.isdisjoint(tokens) and _BE.isdisjoint(tokens):
                break
            tokens = tokens[size + (tokens[size] in (",", ":")) :]
            first = tokens[0].lower()
            if tokens[0][1:] == first[1:] and (len(first) > 1 or first == "a") and first not in lexicon.NAMES:
                tokens = [first, *tokens[1:]]
            break
    for thanks in _THANKS:
        size = len(thanks)
        if (
            tuple(tokens[-size:]) == thanks
            and len(tokens) > size + 2
            and tokens[-size - 1] in (",", ".", "-", "–", "—")
        ):
            tokens = tokens[: -size - 1]
            break
    if "please" not in tokens and "kindly" not in tokens:
        return tokens
    kept = []
    for index, token in enumerate(tokens):
        after = tokens[index + 1] if index + 1 < len(tokens) else ""
        polite = token == "please" and after not in _PLEASED and tokens[index - 1 : index] not in _SAID
        if not polite and not (token == "kindly" and index == 0 and after):
            kept.append(token)
    return kept


def _is_mark(tokens: list[str], index: int) -> bool:
    """Return whether a token is punctuation without meaning at its place."""
    token = tokens[index]
    if token not in _MARKS:
        return False
    before = tokens[index - 1] if index else ""
    after = tokens[index + 1 : index + 2]
    if token == "," and after not in (["and"], ["or"]):
        named = any(word[:1].isupper() and word[1:].islower() for word in (before, *after))
        listed = _is_listed(tokens, index)
        return not (named or listed) and before not in _SAID_ALONE and index + 2 != len(tokens)
    if token == "-":
        return not (is_number(before) or (after != [] and is_number(after[0])))
    return True


def _is_listed(tokens: list[str], index: int) -> bool:
    """Return whether a comma stands before the last but one item of a list, where it separates two items."""
    behind = tokens[index + 2 : index + 4]
    return bool(behind) and (behind[0] in ("and", "or") or behind in ([",", "and"], [",", "or"]))


def _without_have(tokens: list[str]) -> list[str]:
    """Return tokens without `got` beside `have`, and without `have` before a completed action."""
    if _HAVE.isdisjoint(tokens):
        return tokens
    held = not _STILL_HELD.isdisjoint(tokens)
    kept: list[str] = []
    for index, token in enumerate(tokens):
        before = tokens[index - 1] if index else ""
        after = tokens[index + 1] if index + 1 < len(tokens) else ""
        if token in _HAVE and after in _ACHIEVED and index and before not in _MODALS and not held:
            continue
        if token == "got" and before in _HAVE and after:
            continue
        left_out = before in _HAVE and kept[-1:] != [before]
        kept.append(_SIMPLE_PAST.get(token, token) if left_out else token)
    return kept


def _is_article(tokens: list[str], index: int) -> bool:
    """Return whether a token is an article without meaning."""
    token = tokens[index]
    if token not in ("the", "a", "an") or index + 1 == len(tokens):
        return False
    before, after = tokens[index - 1] if index else "", tokens[index + 1]
    if before in _NEGATIONS or after in _NEGATIONS or after in _QUANTITIES or before in _ATTITUDES:
        return False
    if token == "the":
        return before not in _BE
    return after not in _AFTER_ARTICLE_LETTER and len(after) > 1 and before != "of"


# --- Specifics ---

_LIGHT = frozenset(("our", "that"))
"""English words without which a text names the same things."""
_JUST_READ = 64
"""A text that was judged is put among the others next, and need not be read again."""


class Specifics(NamedTuple):
    """The form of a text (`near_verbatim`), and its specifics: the form without light words."""

    form: Tokens
    kept: Tokens


@lru_cache(maxsize=_JUST_READ)
def specifics(text: str) -> Specifics:
    """Return the form and the specifics of a text; texts of one form have the same specifics."""
    tokens, english = read(text)
    form = key_of(tokens, english=english)
    kept = tuple(token for token in form if token not in _LIGHT) if english else form
    return Specifics(form, kept or form)


def same_specifics(a: str, b: str) -> bool:
    """Return whether two texts have the same specifics; whether they are similar, vectors say."""
    return specifics(a).kept == specifics(b).kept
