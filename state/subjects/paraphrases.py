"""Paraphrases of texts forgotten twice are hidden too.

The hiding ends when the text is restored, or when a person says it again. Texts count as equal by the fold
rule, under the embedder in force. Tombstones hide equal texts; this subject hides paraphrases alone. Living
captures from before the second time stay.
"""

from __future__ import annotations

import msgspec

from memtape.schemas.embedding import FLOOR
from memtape.schemas.events import Captured, Embedded, Event, Forgotten, Restored
from memtape.schemas.rows import Change, Context
from memtape.state.fold.candidates import Candidates
from memtape.state.subjects.captures import REPLACING, Capture
from memtape.state.subjects.embeddings import HasEmbeddings
from memtape.state.subjects.tombstones import ends_ban

BANNING = 2  # Number of events forgetting equal texts that bans their paraphrases.


class Paraphrases(msgspec.Struct, dict=True, array_like=True):
    """All texts of folding kinds ever forgotten, each known by the seq of its first capture (its `key`).

    `root_of` gives by text the key of its group of equal texts, `times` the number of events that forgot any
    of a group, `banned` the roots with hidden paraphrases, each with the time of the latest such event, and
    `hidden` the seqs hidden so, each with its root. The index of compared texts follows from these.
    """

    root_of: dict[int, int] = {}
    times: dict[int, int] = {}
    banned: dict[int, int] = {}
    hidden: dict[int, int] = {}

    def __post_init__(self) -> None:
        self._index: dict[str, Candidates] | None = None


def evolve(state: Paraphrases, event: Event, context: Context[HasEmbeddings]) -> list[Change]:
    """Count forgotten texts, hide their paraphrases, and record the captures hidden or shown."""
    of, embedder = context.of, context.settings.embedder
    match event.body:
        case Captured() if state.banned:
            capture = of.captures.by_seq[context.seq]
            is_shown = capture.family is not None and not capture.hidden
            if is_shown and (root := state.root_of.get(_key(capture, of))) is not None:
                _end(state, root, capture, context)
            if embedder == FLOOR:
                _judge(state, capture, context)
        case Embedded() if context.embedded is not None and event.body.embedder == embedder:
            capture = of.captures.by_seq[context.embedded]
            if capture.family is not None and (key := _key(capture, of)) in state.root_of:
                _put(_indexed(state, context), key, context)
            elif state.banned:
                _judge(state, capture, context)
        case Forgotten(ids=ids):
            roots = dict[int, None]()
            for capture in filter(_folds, of.captures.found(ids)):
                key = _key(capture, of)
                if key not in state.root_of:
                    alike = _alike(state, capture, context)
                    state.root_of[key] = key if alike is None else state.root_of[alike]
                    _put(_indexed(state, context), key, context)
                roots[state.root_of[key]] = None
            for root in roots:  # Texts of equal content count once.
                state.times[root] = state.times.get(root, 0) + 1
                if state.times[root] >= BANNING:
                    state.banned[root] = max(context.at, state.banned.get(root, context.at))
        case Restored(ids=ids):
            for capture in of.captures.found(ids):
                lifted = state.hidden.get(capture.seq)
                if lifted is None and capture.family is not None:
                    lifted = state.root_of.get(_key(capture, of))
                if lifted is not None:
                    _show(state, lifted, context)
    for seq in [seq for seq in context.flipped if seq in state.hidden]:
        if not of.captures.by_seq[seq].hidden:  # Another ban on it has ended, or its source says it again.
            of.captures.by_seq[seq].hidden = True
            context.flipped.remove(seq)
    return []


def take_up(state: Paraphrases) -> None:
    """Take in that another embedder decides from here on."""
    state._index = None


def _judge(state: Paraphrases, capture: Capture, context: Context[HasEmbeddings]) -> None:
    """Hide a capture that paraphrases a text forgotten twice; end the ban if a person says it again."""
    if capture.hidden or not _folds(capture):
        return
    alike = _alike(state, capture, context)
    if alike is not None and not _end(state, root := state.root_of[alike], capture, context):
        state.hidden[capture.seq] = root
        capture.hidden = True
        context.flipped.append(capture.seq)


def _folds(capture: Capture) -> bool:
    return capture.family is not None and capture.family not in REPLACING and not capture.made


def _end(state: Paraphrases, root: int, capture: Capture, context: Context[HasEmbeddings]) -> bool:
    """End the ban on a root that a person says again; return whether no ban on the root is in force."""
    since, source = state.banned.get(root), context.of.captures.body(capture).source
    if since is not None and ends_ban(capture.actor.origin, source, capture.at, since):
        _show(state, root, context)
    return root not in state.banned


def _show(state: Paraphrases, root: int, context: Context[HasEmbeddings]) -> None:
    state.banned.pop(root, None)
    for seq in [seq for seq, its in state.hidden.items() if its == root]:
        del state.hidden[seq]
        shown = context.of.captures.by_seq[seq]
        if not context.of.tombstones.hides(shown):
            shown.hidden = False
            if seq not in context.flipped:
                context.flipped.append(seq)


def _alike(state: Paraphrases, capture: Capture, context: Context[HasEmbeddings]) -> int | None:
    """Return the key of the forgotten text into whose memory a capture would fold; None for none."""
    index, vector = _indexed(state, context).get(capture.family or ""), _vector(capture, context)
    if index is None or vector is None or context.settings.fold_cosine_hundredths < 0:
        return None
    verdict = index.judge(context.of.captures.body(capture).text, vector, context.settings.fold_cosine())
    return verdict.birth if verdict.how == "similar" else None


def _vector(capture: Capture, context: Context[HasEmbeddings]) -> bytes | None:
    """Return the vector by which a text is compared, None for none yet; the floor needs none."""
    embedder = context.settings.embedder
    return b"" if embedder == FLOOR else context.of.embeddings.of_text(embedder, capture)


def _key(capture: Capture, of: HasEmbeddings) -> int:
    """Return the seq of the first capture of the same normalised text and family."""
    seqs = of.captures.seqs_of_normal[capture.normal]
    return next(seq for seq in seqs if of.captures.by_seq[seq].family == capture.family)


def _indexed(state: Paraphrases, context: Context[HasEmbeddings]) -> dict[str, Candidates]:
    """Return the index of forgotten texts by family, built at first use after a start or restore."""
    if state._index is None:
        state._index = {}
        for key in state.root_of:
            _put(state._index, key, context)
    return state._index


def _put(index: dict[str, Candidates], key: int, context: Context[HasEmbeddings]) -> None:
    capture = context.of.captures.by_seq[key]
    vector = _vector(capture, context)
    if vector is not None:
        compared = index.setdefault(capture.family or "", Candidates())
        compared.put(key, context.of.captures.body(capture).text, key, vector)
