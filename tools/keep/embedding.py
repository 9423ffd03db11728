"""Embedding by a home's owner: the choice of the embedder, its takeover from another, its state, and the work
itself; and refolding, whose preview applies the folding rules to a state that serves no reader.

A machine's embedder is an effect; `state/vectors/choice.py` decides its consequences for the log. Vectors
of two embedders are never compared. A machine with another embedder than the log's therefore embeds nothing
before a person orders the takeover.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Literal

import msgspec

from memtape.flows.embed.choice import ChosenEmbedder, choose_embedder, probe
from memtape.flows.embed.target import MODEL_VARIABLE, NAMES, URL_VARIABLE, first_embedder
from memtape.flows.endpoint import target_of
from memtape.flows.workers.embed import EmbedQueue
from memtape.flows.workers.worker import RETRY_S, OnNote, Worker
from memtape.schemas.embedding import FLOOR, EmbedderOptions
from memtape.schemas.errors import EmbedderUnavailable, MemtapeError
from memtape.schemas.events import make_configured
from memtape.schemas.ids import derived_id
from memtape.schemas.log import Log, configured_on, settings_on
from memtape.schemas.metrics import tell_progress
from memtape.schemas.rows import Counters, made_from
from memtape.schemas.settings import Settings
from memtape.schemas.visible import many
from memtape.sinks.home.folders import Home
from memtape.sinks.home.marks import DailyMarks, OffsetMarks
from memtape.sinks.home.settings import CHOICE_VARIABLE, local_settings
from memtape.sinks.logs.configuring import complete_settings, configure
from memtape.state.core.partition import evolve
from memtape.state.vectors.choice import (
    EmbedderPlan,
    before_that,
    decided,
    plan,
    taken_over,
    wants_dense,
    with_next,
)
from memtape.state.views.diff import Moved, folds_of, moved
from memtape.tools.capture.writing import now_us
from memtape.tools.keep.build_views import BuildViews
from memtape.tools.keep.states import state_at

BATCH_TEXTS = 128
Folding = Literal["on", "off"]
NO_FOLDS = -1
"""The cosine by which nothing folds, see `fold_cosine_hundredths`."""


def drift_of(planned: EmbedderPlan, settings: Settings, own: str) -> str:
    """Return why the embedder with the key `own` embeds nothing, and the next step; empty if it does."""
    coming = settings.embedder_next or settings.embedder
    drifts = {
        "next": f"{coming} is to take over, and what runs here has {own}: start it again with"
        f" {CHOICE_VARIABLE}, {URL_VARIABLE} and {MODEL_VARIABLE} as for that one, or go back by"
        " `memtape admin embedder rollback`.",
        "other": f"The log's embedder is {coming}, and this machine has {own}, so nothing is embedded here:"
        " set that one up and start again, or let this one take over: `memtape admin embedder set`.",
    }
    return drifts.get(planned.drift, "")


def open_embedder(home: Home, on_log: Settings, *, brief: bool = False) -> ChosenEmbedder:
    """Open the embedder in effect on this machine. Options and errors are those of `choose_embedder`."""
    return choose_embedder(local_settings(home).embedder, wants_dense(on_log), brief=brief)


def is_offered(home: Home, history: Sequence[Settings]) -> bool:
    """Whether a log without vectors could get them from an installed local model that nobody chose yet."""
    options = local_settings(home).embedder
    is_free = options.choice == "auto" and not any(map(wants_dense, history))
    return is_free and first_embedder(options, os.environ) != FLOOR


class Embedding(Worker):
    """The worker that gives the texts of a log their vectors, and lets an embedder that has all take over."""

    doing = "giving vectors"

    def __init__(self, home: Home, log: Log, on_note: OnNote) -> None:
        super().__init__(log, on_note)
        self._home = home
        self._marks = OffsetMarks(home.embedding_path, log)
        self._daily = DailyMarks(home, log.log_id)
        self._opened: tuple[ChosenEmbedder, EmbedderOptions, float] | None = None
        """The open embedder, the options of the machine for it, and the time (s)."""
        self._completed: Settings | None = None
        self._queue: EmbedQueue | None = None

    def catch_up(self) -> None:
        """Embed the waiting texts, and let a complete embedder take over; `done` counts the tried texts.

        Raises `EmbedderUnavailable` after a missing answer; the rest of the texts still waits.
        """
        self.refused, before = False, self.done
        while not self.is_over():
            queue, then = self._prepare()  # Each time, since somebody may have changed it meanwhile.
            if queue is None:
                return
            queue.look()
            if queue.waiting:
                self._embed(queue)
                tell_progress(self.doing, self.done - before, self.done - before + queue.waiting)
                continue
            if then and configure(self.log, partial(taken_over, key=queue.key)).embedder == queue.key:
                self.note(f"The embedder {queue.key} has taken over.")
            return

    def failed(self, error: Exception) -> str:
        """See `Worker.failed`. Only time mends an embedder that does not answer; a person mends all else."""
        if not isinstance(error, MemtapeError):
            return f"Embedding failed: {error!r}. New texts are found by words meanwhile."
        self.refused = not isinstance(error, EmbedderUnavailable)
        # Without a hint it is the warning of a degraded embedder, which says so much by itself.
        return f"{error} {error.hint} New texts are found by words meanwhile." if error.hint else str(error)

    def _prepare(self) -> tuple[EmbedQueue | None, bool]:
        """Return the queue of texts for the current embedder, and whether it takes over at the end."""
        history = [configured.settings for configured in configured_on(self.log)]
        settings = history[-1]
        if settings != self._completed:  # Whoever changed them may have died before every partition had them.
            complete_settings(self.log)
            self._completed = settings
        if settings.embedder != FLOOR and settings.embedder_next is None:
            # Nothing is loaded or asked where nothing waits.
            queue = self._queue_for(settings.embedder)
            if self._daily.is_due(queue.key, now_us()) and given_up(self._home, self.log, queue.key):
                queue.try_again()
            queue.look()
            if not queue.waiting:
                return None, False
        elif settings.embedder_next is None and is_offered(self._home, history):
            return None, False  # `status` offers it.
        opened = self._open(settings)
        if not opened.key:  # An endpoint comes back by itself; no model comes onto this machine by itself.
            kind = EmbedderUnavailable if opened.resolved.kind == "http" else MemtapeError
            raise kind(opened.resolved.warning)
        if opened.resolved.warning:
            self.note(opened.resolved.warning)
        chosen = plan(settings, history, opened.key)
        if chosen.drift:
            self.note(drift_of(chosen, settings, opened.key))
        if chosen.key is None:
            # Where somebody went back to the floor, no text is left without what it should have.
            self.refused = bool(chosen.drift) and wants_dense(settings)
            return None, False
        if chosen.begin:
            self.note(f"The embedder {chosen.key} takes over from the floor when every text has its vector.")
            set_next(self.log, chosen.key)
        return self._queue_for(chosen.key), chosen.then

    def _open(self, settings: Settings) -> ChosenEmbedder:
        """Return this machine's embedder, opened anew where it may be another by now."""
        options = msgspec.structs.replace(local_settings(self._home).embedder, texts_per_s=0)
        chosen, known, at_s = self._opened or (None, None, 0.0)
        if chosen is not None and known == options:
            key, is_local = chosen.key, chosen.resolved.kind == "local"
            is_wanted = key == (settings.embedder_next or settings.embedder)
            # An endpoint may have the wanted model by and by, a local model has not.
            is_known = is_local or time.monotonic() - at_s < RETRY_S[1]
            if key not in ("", FLOOR) and (is_wanted or is_known):
                return chosen
        self._opened = chosen = None  # Before another is loaded beside it.
        chosen = open_embedder(self._home, settings)
        self._opened = chosen, options, time.monotonic()
        return chosen

    def _queue_for(self, key: str) -> EmbedQueue:
        if self._queue is None or self._queue.key != key:
            self._queue = EmbedQueue(self.log, key, self._marks)
        return self._queue

    def _embed(self, queue: EmbedQueue) -> None:
        assert self._opened is not None and self._opened[0].embedder is not None
        started = time.monotonic()
        before = queue.tried
        try:
            queue.embed(self._opened[0].embedder, BATCH_TEXTS, now_us())
        except MemtapeError as error:
            if not isinstance(error, EmbedderUnavailable):
                self._opened = None  # It may be another than it was.
            raise
        finally:
            tried = queue.tried - before
            self.done += tried
        rate = local_settings(self._home).embedder.texts_per_s
        if rate:
            self.stopping.wait(max(0.0, tried / rate - (time.monotonic() - started)))


def given_up(home: Home, log: Log, key: str) -> int:
    """Return how many texts, as the views know, were given up by the embedder of a key."""
    marks = BuildViews(home, log).watermarks
    return sum(mark.counters.failed.get(key, 0) for mark in marks if mark is not None)


def change_over(log: Log, options: EmbedderOptions, fold_cosine_hundredths: int | None = None) -> Settings:
    """Append that the embedder of these options is to take over.

    The floor takes over at once, having no vectors. On a log without a text any embedder takes over at once,
    and decides the fold of the first text. `fold_cosine_hundredths` is the cosine from which texts fold under
    it, if given. Raises `MemtapeError` where this machine cannot open the embedder.
    """
    if options.choice == "local":
        from memtape.flows.embed.local import model_folder

        model_folder(options)
    chosen = choose_embedder(options, dense_on_log=False)
    embedder, resolved = chosen
    if resolved.kind == FLOOR and fold_cosine_hundredths is not None:
        raise MemtapeError("The floor folds equal wording only.", "Leave --fold-cosine out.")
    if embedder is None or (resolved.kind == "floor" and options.choice not in ("auto", "floor")):
        raise MemtapeError(f"The embedder {options.choice} cannot be used here: {resolved.warning}")
    now = settings_on(log)
    if resolved.kind == FLOOR and options.choice != FLOOR and wants_dense(now):
        raise MemtapeError(
            f"There is no embedder here that could take over from {now.embedder_next or now.embedder}. "
            f"{resolved.warning}".strip(),
            "Set one up, or say `memtape admin embedder set floor` to go on by words alone.",
        )
    if any(log.read(number, 0, 1, types=("captured",)) for number in range(log.partitions)):
        return set_next(log, chosen.key, fold_cosine_hundredths)
    return configure(log, lambda now: decided(with_next(now, chosen.key, fold_cosine_hundredths), chosen.key))


def set_next(log: Log, key: str, fold_cosine_hundredths: int | None = None) -> Settings:
    """Append that the embedder of a key is to take over; the floor does at once."""
    return configure(log, lambda now: with_next(now, key, fold_cosine_hundredths))


def goes_back_to(log: Log) -> str:
    """Return the embedder that decides again after `roll_back`. Raises `MemtapeError` without one."""
    history = [configured.settings for configured in configured_on(log)]
    target = before_that(history)
    if target is None:
        raise MemtapeError(
            f"The log has had no embedder but {history[-1].embedder}.", "There is nothing to go back to."
        )
    return target


def roll_back(log: Log) -> Settings:
    """Call off the next embedder, else return to the former one. Raises `MemtapeError` without either."""
    target = goes_back_to(log)
    return configure(log, lambda now: decided(now, target))


def options_for(home: Home, key: str) -> EmbedderOptions | None:
    """Return this machine's options for the embedder of a key; None if it is missing or not allowed."""
    now = local_settings(home).embedder
    if key == FLOOR:
        return msgspec.structs.replace(now, choice=FLOOR)
    name = key.partition("@")[0]
    local = msgspec.structs.replace(now, choice="local")
    http = msgspec.structs.replace(now, choice="http")
    named = msgspec.structs.replace(local, model=name, download=False)
    for options in dict.fromkeys((now, http, local, named)):
        with suppress(MemtapeError):
            chosen = choose_embedder(options, dense_on_log=True, brief=True)
            if chosen.key == key:
                return options
            is_silent = options.choice == "http" and chosen.embedder is None
            target = target_of(os.environ, NAMES) if is_silent else None
            if target is not None and target.model == name:  # It does not answer now, and will some time.
                return options
    return None


class EmbedderState(msgspec.Struct, frozen=True, kw_only=True):
    """The embedders of a log and of this machine.

    `configured` decides folds; `next` takes over when no text waits for it; both are keys on the log.
    `effective` is this machine's embedder, as a kind or, once opened, a key. `degraded`: it does not answer,
    and new texts wait. `drift` says that it is not the log's. Of `texts`, `embedded` have a vector under
    `next`, else under `configured`.
    """

    configured: str
    next: str | None
    effective: str
    degraded: bool
    warning: str
    drift: str
    texts: int
    embedded: int
    failed: int
    waiting: int
    offer: str = ""
    """The benefit of an installed local model; empty without an offer."""


def embedder_state(home: Home, log: Log, counters: Counters, *, opened: bool) -> EmbedderState:
    """Return the state of a home's embedders; `opened` loads or asks this machine's, to learn its key."""
    history = [configured.settings for configured in configured_on(log)]
    settings = history[-1]
    key, dense = settings.embedder_next or settings.embedder, wants_dense(settings)
    embedded, failed = counters.embedded.get(key, 0), counters.failed.get(key, 0)
    own, drift = "", ""
    try:
        if opened:
            own, resolved = (found := open_embedder(home, settings, brief=True)).key, found.resolved
            drift = drift_of(plan(settings, history, own), settings, own) if own else ""
        else:
            resolved = probe(local_settings(home).embedder, dense)
        effective, degraded, warning = own or resolved.kind, resolved.degraded, resolved.warning
    except MemtapeError as error:
        effective, degraded, warning = "none", dense, f"{error} {error.hint}".strip()
    offer = (
        "MiniLM is installed and finds what is said in other words. `memtape admin embedder set local` and "
        f"`memtape run --once` give {many(counters.texts, 'text')} a vector."
    )
    return EmbedderState(
        configured=settings.embedder, next=settings.embedder_next, effective=effective,
        degraded=degraded, warning=warning, drift=drift, texts=counters.texts, embedded=embedded,
        failed=failed,
        waiting=0 if key == FLOOR else max(0, counters.texts - embedded - failed),
        offer=offer if is_offered(home, history) else "",
    )  # fmt: skip


class Refolded(msgspec.Struct, frozen=True, kw_only=True):
    """The changes of a refold: the numbers of absorbed and of separated memories, and the pairs.

    `embedder` decides, and `folding` says whether anything folds afterwards. `done` is false for a trial.
    `revision` is the revision of the settings on the log afterwards.
    """

    done: bool
    revision: int
    embedder: str
    folding: bool
    together: int
    apart: int
    pairs: tuple[Moved, ...]


def refold(home: Home, log: Log, fold: Folding | None, *, dry_run: bool) -> Refolded:
    """Return the changes of a refold, folding on, off or unchanged; append the settings unless `dry_run`.

    The views follow at their next projection.
    """

    def change(now: Settings) -> Settings:
        cosine = now.fold_cosine_hundredths  # A default cosine, and a cosine that a person chose, stay.
        if fold == "off":
            cosine = NO_FOLDS
        elif fold == "on" and cosine < 0:
            cosine = Settings().fold_cosine_hundredths
        return msgspec.structs.replace(now, refolded=now.refolded + 1, fold_cosine_hundredths=cosine)

    settings, ends = change(settings_on(log)), log.ends()
    pairs: list[Moved] = []
    for number, end in enumerate(ends):
        tell_progress("comparing", sum(ends[:number]), sum(ends))
        state = state_at(log, home.current(), number, end)
        before = {name: folds_of(scope) for name, scope in state.scopes.items()}
        id = derived_id("refold", None, None, str(number))
        evolve(state, make_configured(log.log_id, log.partitions, settings, state.revision + 1, 0, id), end)
        for name, scope in sorted(state.scopes.items()):
            pairs += moved(name, before[name], folds_of(scope))
    tell_progress("comparing", sum(ends), sum(ends))
    if not dry_run:
        configure(log, change)
    counts, folding = Counter(pair.change for pair in pairs), settings.fold_cosine_hundredths >= 0
    moves = {"together": counts["together"], "apart": counts["apart"], "pairs": tuple(pairs)}
    now = configured_on(log)[-1]
    return made_from(Refolded, settings, now, done=not dry_run, folding=folding, **moves)
