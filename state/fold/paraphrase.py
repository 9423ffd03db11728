"""What an English text says, in a form in which paraphrases are equal: two texts with one form say the same.

A sentence comes apart into its core, of which the words stay in their order, and into phrases, each with what joins it
to the rest: `on Friday`, `for caching`, `if the build fails`. Phrases may stand anywhere, unless two are joined alike.
So who does what to whom is kept, and so is every number, name, path and piece of code. What negates, counts, or says
that something must or may be is bound to the word that follows. Tense counts. Words stand in one form for their
inflections and synonyms; `classes` has the words that say nothing. All else counts as it stands: when in doubt two
texts differ. Whether vectors are similar is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Hashable

from memtape.state.fold import classes
from memtape.state.fold.amounts import READ, is_month, is_number
from memtape.state.fold.near_verbatim import is_article, is_listed, is_mark
from memtape.state.fold.synonyms import concept, lemma
from memtape.state.text import lexicon

MOST_TOKENS = 60
"""Of a longer text the form is not asked: it says too much for a rule to follow."""
_QUOTES = frozenset("\"'«»“”「」『』[]{}")
_LIGHT = frozenset(["the", "a", "an", ","])
_TOLD = {READ + token for token in _LIGHT}

Item = tuple[tuple[str, ...], str]
"""A word in the form that stands for all that say the same, with what is bound to it before."""
Form = tuple[Hashable, ...]


def form_of(tokens: list[str]) -> Form:
    """Return the form of an English text's tokens, with articles and marks in their place; () where there is none."""
    found = frozenset(tokens)
    if len(tokens) > MOST_TOKENS or not _QUOTES.isdisjoint(found) or classes.ENGLISH.isdisjoint(found):
        return ()
    literal = not classes.TO_THE_LETTER.isdisjoint(found)
    tokens = _preferred(phrased(tokens))
    sentences: list[list[str]] = [[]]
    for index, token in enumerate(tokens):
        if token in (".", ";"):
            sentences.append([])
        elif token == ",":
            listed = is_listed(tokens, index) or index + 2 == len(tokens)
            told = listed or tokens[index - 1 : index] in (["no"], ["yes"], ["not"])
            sentences[-1] += (token, READ + token) if told else (token,)
        elif token in _LIGHT and not is_article(tokens, index):
            sentences[-1] += (token, READ + token)  # It tells something where it stands.
        elif not is_mark(tokens, index):
            sentences[-1].append(token)
    return tuple(_Sentence(sentence, literal).form for sentence in sentences if sentence)


class _Sentence:
    """A sentence that is taken apart: its flags, its core and its phrases."""

    def __init__(self, tokens: list[str], literal: bool) -> None:
        self._literal = literal
        self._flags: list[str] = ["?"] if "?" in tokens else []
        self._groups: list[tuple[str, list[Item]]] = [("", [])]
        self._bound: list[str] = []
        self._told = self._clause = False
        tokens = [token for token in tokens if token != "?"]
        tokens = _named_last(_there_is(_attributed(with_times(tokens))))
        tokens = self._active(self._tensed(tokens))
        roots = [concept(token) for token in tokens]
        verbs = sum(root in classes.VERBS for root in roots)
        self._plans = not classes.PLANNING.isdisjoint(roots) or not classes.NEGATIONS.isdisjoint(tokens)
        self._asks = False
        self._simple = verbs < 2 and not self._plans and _ONE_CLAUSE.isdisjoint(tokens)
        self._introduced = _is_introduced(tokens)
        self._sure = classes.UNSURE.isdisjoint(tokens)
        self._part(tokens)
        self.form = self._settled()

    # --- Verbs ---

    def _active(self, tokens: list[str]) -> list[str]:
        """Bring `S is maintained by A` to `A maintain S`, and `S is maintained` to `maintain S`."""
        found = _passive_at(tokens)
        if found is None:
            return tokens
        be, verb = found
        front = _front_end(tokens, be)
        subject, rest = tokens[front:be], tokens[verb + 1 :]
        if not subject or not frozenset(classes.SUBORDINATES).isdisjoint(subject) or "," in subject:
            return tokens
        if rest and not (rest[0] in _PARTS or rest[0][:1] == READ):
            return tokens
        agent: list[str] = []
        if "by" in rest:
            at = rest.index("by")
            end = next((i for i in range(at + 1, len(rest)) if rest[i] in classes.ROLES or rest[i] == ","), len(rest))
            agent, rest = rest[at + 1 : end], rest[:at] + rest[end:]
            said = subject + agent
            if not agent or agent[0][:1] == READ or any(map(is_number, said)):
                return tokens
            if not classes.QUANTITIES.isdisjoint(said):
                return tokens  # Every test has a reviewer, and one reviewer has every test.
        bound = [token for token in tokens[front:verb] if token in classes.BINDERS and token not in classes.PAST]
        subject = [token for token in subject if token not in bound] if bound else subject
        if tokens[be] in ("was", "were"):
            self._flags.append("past")
        elif tokens[be] == "been":
            self._flags.append("perfect")
        return [*tokens[:front], *agent, *bound, tokens[verb], *subject, *rest]

    def _tensed(self, tokens: list[str]) -> list[str]:
        """Note the tenses of a sentence; `have to` becomes `must` where both say the same."""
        timed = any(token[:1] == READ for token in tokens) or not classes.TEMPORAL.isdisjoint(tokens)
        kept: list[str] = []
        verb = ""  # The word before, or the form of `be` or `have` that it follows.
        for index, token in enumerate(tokens):
            after = tokens[index + 1] if index + 1 < len(tokens) else ""
            if token == "to" and kept[-1:] in (["must"], ["have-to"]):
                continue
            if token in ("has", "have", "need", "needs") and after == "to":
                token = "must" if _is_duty(tokens, index) else "have-to"
            elif verb in classes.BE and token.endswith("ing") and (timed or token not in classes.LASTING):
                self._flags.append("progressive")
            elif token == "used" and after == "to" and verb not in classes.BE:
                self._flags.append("used to")
            elif _is_past(token, verb):
                self._flags.append("past")
            kept.append(token)
            helped = verb in classes.BE or verb in ("has", "have")
            verb = verb if helped and (token in ("not", "been", "being") or token in classes.ADVERBS) else token
        return kept

    # --- Phrases ---

    def _part(self, tokens: list[str]) -> None:
        """Put each token where it belongs: to the core, to the phrase that is open, or to the word that follows."""
        for index, token in enumerate(tokens):
            role, items = self._groups[-1]
            inside = self._clause or role in _CLAUSES
            self._told = self._told or (self._literal and token in classes.TELLING)
            if token == ",":
                self._open("")
            elif token in classes.SUBORDINATES and not inside:
                self._open(classes.SUBORDINATES[token])
            elif (
                token == "to"
                and not inside
                and concept(tokens[index + 1 : index + 2][0] if tokens[index + 1 :] else "") in classes.VERBS
            ):
                self._open("in order to")
            elif token in classes.ROLES and not inside:
                self._open(classes.ROLES[token], clause=_opens_clause(tokens, index))
            elif token in classes.ROLES:
                items.append(((), classes.ROLES[token]))
            elif token in _TOLD:
                self._bound.append(token)
            elif token[:1] == READ and not inside:
                self._time(token, after_be=tokens[max(0, index - 1)] in classes.BE)
            elif token in classes.ADVERBS and not inside and self._is_free(tokens, index):
                self._groups.insert(-1, ("adverb", [(tuple(self._bound), concept(token))]))
                self._bound = []
            else:
                if token in classes.CLOSERS and role and items and not inside:
                    self._open("")
                if token in ("also", "too") and self._simple:
                    continue
                if token in classes.BINDERS or token == "have-to":
                    self._bound.append(classes.BINDERS.get(token, token))
                elif token in ("is", "are", "am") and tokens[max(0, index - 1)] != "there":
                    if not any(after.endswith("ing") for after in tokens[index + 1 : index + 2]):
                        self._bound.append("is")  # It parts what is told of from what is told.
                elif token not in classes.HARMLESS and not (
                    token == "there" and tokens[index + 1 : index + 2] and tokens[index + 1] in classes.BE
                ):
                    self._add(token)

    def _open(self, role: str, *, clause: bool = False) -> None:
        # What negates before a phrase is of the phrase: `not on Friday` is not `on not Friday`.
        negated = role != "" and not classes.NEGATIONS.isdisjoint(self._bound)
        self._groups.append((role, [(tuple(self._bound), "")] if negated else []))
        self._bound = [] if negated else self._bound
        self._clause = clause

    def _add(self, token: str) -> None:
        read = token
        if token.islower() and token.replace("'", "").isalpha():
            owner = token.endswith("'s")
            bare = token.removesuffix("'s")
            read = lemma(bare) if self._told else concept(bare)
            read += "'s" if owner else ""
        role, items = self._groups[-1]
        resumed = not role and not items and any(said for other, said in self._groups[:-1] if not other)
        if resumed and read not in classes.VERBS:
            self._bound.append("behind")  # `Pay it by Friday nobody` does not say who does not pay.
        items.append((tuple(self._bound), read))
        self._bound = []

    def _time(self, token: str, *, after_be: bool) -> None:
        """Give a time a phrase of its own, under what stands right before; `cancel 8 May` has it for an object."""
        role, items = self._groups[-1]
        if not role and items and self._plans and not after_be and token[1:3] != "in":
            self._add(token)
            return
        joined = role if role and not items and role != "at" else "time"
        if token[-1] == "s" and token[1] == "W" and not self._plans:
            self._bound.append("every")
            token = token[:-1]
        if role == "at" and not items:
            self._groups.pop()
        if joined != role:
            self._open(joined)
        self._add(token)
        self._open("")

    def _is_free(self, tokens: list[str], index: int) -> bool:
        """Tell whether an adverb is of the whole sentence: at an end of the sentence, or beside its verb."""
        if not self._simple:
            return False
        if index in (0, len(tokens) - 1) or tokens[index - 1] in classes.BE:
            return True
        before, after = tokens[index - 1], tokens[index + 1]
        behind = after in classes.ROLES or after in classes.SUBORDINATES
        return after == "," or concept(after) in classes.VERBS or (behind and concept(before) in classes.VERBS)

    def _settled(self) -> Form:
        """Return the flags, the core and the phrases, in one order wherever the phrases stood."""
        core: list[Item] = []
        said = [word for role, items in self._groups for _, word in items if not role]
        self._asks = not classes.ASKING.isdisjoint(said) or sum(word in classes.VERBS for word in said) > 1
        phrases: list[tuple[str, tuple[Item, ...]]] = []
        for role, items in self._groups:
            if not role:
                core += items
                continue
            fixed = role in classes.FRONTED or self._is_fixed(role, items)
            phrases.append((role + "^" if fixed and not core else role, tuple(items)))
        if self._bound:
            phrases.append(("bound", ((tuple(self._bound), ""),)))
        roles = [role for role, _ in phrases]
        if len(frozenset(roles)) == len(roles):
            phrases.sort(key=lambda phrase: phrase[0])
        return tuple(sorted(self._flags)), tuple(core), tuple(phrases)

    def _is_fixed(self, role: str, items: list[Item]) -> bool:
        """Tell whether it counts that a phrase stands in front."""
        if not items:
            return False
        if role in classes.PLACES:
            return not self._introduced
        if role in _CLAUSES:
            return self._asks and role != "in order to"
        timed = role == "time" or items[0][1][:1] == READ
        return timed and (self._plans or not self._sure or role == "for")


_PARTS = frozenset([*classes.ROLES, *classes.SUBORDINATES, *classes.ADVERBS, *classes.BINDERS, ","])
_ONE_CLAUSE = frozenset([*classes.SUBORDINATES, "only"])
_CLAUSES = frozenset([*classes.SUBORDINATES.values(), "in order to"])


def phrased(tokens: list[str], phrases: classes.Phrases = classes.PHRASES) -> list[str]:
    """Return tokens with phrases in their readings."""
    read: list[str] = []
    index = 0
    while index < len(tokens):
        for phrase, reading in phrases.get(tokens[index], ()):
            if tuple(tokens[index : index + len(phrase)]) == phrase:
                read += reading
                index += len(phrase)
                break
        else:
            read.append(tokens[index])
            index += 1
    return read


def _preferred(tokens: list[str]) -> list[str]:
    """Bring `prefers A to B` and `prefers A instead of B` to `prefers A over B`, a negated order to `do not`."""
    if tokens[:1] == ["never"]:
        tokens = ["do", "not", *tokens[1:]]
    elif tokens[:3] == ["do", "not", "ever"]:
        tokens = ["do", "not", *tokens[3:]]
    at = next((index for index, token in enumerate(tokens) if token in ("prefer", "prefers", "preferred")), -1)
    if at < 0 or tokens[at + 1 : at + 2] == ["to"]:
        return tokens
    for index in range(at + 2, len(tokens)):
        if tokens[index] == "to" or tokens[index : index + 2] == ["instead", "of"]:
            return [*tokens[:index], "over", *tokens[index + 1 + (tokens[index] != "to") :]]
    return tokens


def with_times(tokens: list[str]) -> list[str]:
    """Bring phrases of time to one token, as `every day` and `daily`, and an `about` of amounts to `approximately`."""
    read: list[str] = []
    index = 0
    while index < len(tokens):
        token, after = tokens[index], tokens[index + 1] if index + 1 < len(tokens) else ""
        size, found = 1, token
        if token in ("every", "each") and after in classes.RECURRING:
            size, found = 2, f"{READ}every {after}"
        elif token in ("last", "next") and after in classes.RECURRING:
            size, found = 2, f"{READ}{token} {after}"
        elif token in classes.DAILY:
            found = f"{READ}every {classes.DAILY[token]}"
        elif token == "in" and after == "the" and tokens[index + 2 : index + 3] in classes.PARTS_OF_DAY:
            size, found = 3, f"{READ}in {tokens[index + 2]}"
        elif token == "in" and (after in classes.SEASONS or is_month(after)):
            size, found = 2, f"{READ}in {after}"
        elif token in ("about", "around") and is_number(after) and read and read[-1] not in classes.BE:
            found = "approximately"
        read.append(found)
        index += size
    return read


def _attributed(tokens: list[str]) -> list[str]:
    """Bring `the port of the API` and `the API's port` to `the API port`, and `X's name is Y` to `X is called Y`."""
    read: list[str] = []
    index = 0
    while index < len(tokens):
        token, after = tokens[index], tokens[index + 1] if index + 1 < len(tokens) else ""
        if token in classes.ATTRIBUTES and after == "of":
            end = next((i for i in range(index + 2, len(tokens)) if _ends_noun(tokens, i, index + 2)), len(tokens))
            owner = [word for word in tokens[index + 2 : end] if word not in ("the", "a")]
            if 1 <= len(owner) <= 3 and tokens[end : end + 1] not in (["and"], ["or"]):
                noun = next((i + 1 for i in range(len(read) - 1, -1, -1) if not _is_plain(read[i])), 0)
                read[noun:] = [*owner, *read[noun:], token]
                index = end
                continue
        read.append(token.removesuffix("'s") if after in classes.ATTRIBUTES else token)
        index += 1
    at = read.index("name") if "name" in read else 0
    return [*read[:at], "is", "called", *read[at + 2 :]] if at and read[at + 1 : at + 2] == ["is"] else read


def _is_plain(token: str) -> bool:
    """Tell whether a word may stand before a noun and belong to it."""
    return token.isalpha() and token.islower() and not _ends_noun([token], 0, -1) and token not in classes.CLOSERS


def _ends_noun(tokens: list[str], index: int, start: int) -> bool:
    token = tokens[index]
    listed = token in classes.ROLES or token in classes.BE or token in classes.BINDERS or token in classes.SUBORDINATES
    return listed or token == "," or (index > start and concept(token) in classes.VERBS)


def _there_is(tokens: list[str]) -> list[str]:
    """Bring `there are 12 nodes in the cluster` to `the cluster has 12 nodes`."""
    if tokens[:2] not in (["there", "are"], ["there", "is"]) or tokens[-3:-1] != ["in", "the"] or len(tokens) < 6:
        return tokens
    if tokens.count("in") > 1 or not tokens[-1].isalpha():
        return tokens
    return ["the", tokens[-1], "has", *tokens[2:-3]]


def _named_last(tokens: list[str]) -> list[str]:
    """Bring `Mira is Tom's manager` to `Tom's manager is Mira`, unless Mira may be an adjective."""
    known = classes.BINDERS.keys() | classes.ROLES.keys() | classes.SUBORDINATES.keys() | {","}
    if len(tokens) < 4 or tokens[1] != "is" or not known.isdisjoint(tokens) or not tokens[0].isalpha():
        return tokens
    owned = tokens[2].endswith("'s") or tokens[2] in ("the", "my", "our", "his", "her", "their", "its", "your")
    doubtful = tokens[0] in lexicon.NAMES or tokens[0] in lexicon.NAMES_INSIDE or tokens[0] in classes.CLOSERS
    if doubtful or not owned or not concept(tokens[-1]).isalpha():
        return tokens
    return [*(token for token in tokens[2:] if token[:1] != READ), "is", tokens[0]]


def _passive_at(tokens: list[str]) -> tuple[int, int] | None:
    """Return where the first passive has its form of `be` and its verb."""
    for be, token in enumerate(tokens):
        if be == 0 or token not in classes.BE:
            continue
        verb = be + 1
        while verb < len(tokens) and (
            tokens[verb] in ("not", "never", "being", "been") or tokens[verb] in classes.ADVERBS
        ):
            verb += 1
        if verb < len(tokens) and _is_participle(tokens[verb]):
            return be, verb
    return None


def _is_participle(token: str) -> bool:
    if token in classes.NO_PASSIVE or not token.isalpha() or not token.islower():
        return False
    return token in classes.PARTICIPLES or (token.endswith("ed") and len(token) > 4 and not token.endswith("eed"))


def _opens_clause(tokens: list[str], index: int) -> bool:
    """Tell whether a verb or a subject follows a preposition: `before starting the server`, `before you start it`."""
    after = tokens[index + 1] if index + 1 < len(tokens) else ""
    doing = after.endswith("ing") and len(after) > 5 and after not in classes.RECURRING
    return doing or (tokens[index] in ("before", "after", "until", "since") and after in ("you", "we", "i", "they"))


def _is_introduced(tokens: list[str]) -> bool:
    """Tell whether what opens the sentence is set off by a comma, or by the pronoun that follows."""
    end = next((i for i, token in enumerate(tokens) if token in (",", "we", "you", "i", "he", "she", "they")), 0)
    return 1 < end < len(tokens) - 1


def _front_end(tokens: list[str], end: int) -> int:
    """Return where the subject starts: behind a phrase that opens the sentence."""
    if "," in tokens[:end]:
        return end - tokens[:end][::-1].index(",")
    if tokens[0] not in classes.ROLES and tokens[0][:1] != READ:
        return 0
    for index in range(1, end):
        if tokens[index - 1][:1] == READ or (tokens[index] in classes.CLOSERS and index > 1):
            return index
    return end


def _is_past(token: str, before: str) -> bool:
    """Tell whether a form in -ed tells of the past behind this word, and is no participle."""
    if token in classes.IRREGULAR_PAST:
        return before not in classes.BE and before not in ("has", "have")
    ended = (
        token.endswith("ed") and not token.endswith("eed") and token.isalpha() and (len(token) > 4 or token == "used")
    )
    if not before or not ended:
        return False
    known = before in classes.BE or before in classes.ROLES or before in ("has", "have", "the", "a", "an", "to", ",")
    return not known and not before.endswith("ly") and before not in classes.BINDERS


def _is_duty(tokens: list[str], index: int) -> bool:
    """Tell whether `have to` says the same as `must` here: of oneself, or of what is to be done, and not denied."""
    if not classes.NEGATIONS.isdisjoint(tokens):
        return False
    passive = tokens[index + 2 : index + 3] == ["be"] and any(map(_is_participle, tokens[index + 3 : index + 4]))
    own = tokens[index - 1 : index] in (["we"], ["you"], ["i"], ["they"])
    return own or passive
