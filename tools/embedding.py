"""Embedding as a home's owner does it: which embedder, whether one takes over from another, and the work itself.

What a machine has at hand is an effect; what follows from it for the log stands in `plan`. Vectors of two embedders
never meet, so a machine whose embedder is not the log's embeds nothing before somebody has said that it takes over.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import NamedTuple

import msgspec

from recollect.flows.embed_worker import EmbedWorker
from recollect.flows.embedder_choice import choose_embedder
from recollect.flows.embedders import Embedder
from recollect.schemas.embedding import FLOOR, EmbedderOptions, Resolved, embedder_key
from recollect.schemas.errors import EmbedderUnavailable, RecollectError
from recollect.schemas.log import Log
from recollect.schemas.settings import Settings
from recollect.sinks.configuring import History, complete_settings, configure, configured_on
from recollect.sinks.embedding_marks import EmbeddingMarks
from recollect.sinks.home import Home
from recollect.tools.settings import local_settings

BATCH_TEXTS = 128
POLL_S = 1.0
RETRY_S = (2.0, 60.0)
"""An embedder that does not answer is asked again after the first, then twice as long, at most after the second."""

OnNote = Callable[[str], None]


class Plan(NamedTuple):
    """What a machine does for a log: give texts their vectors under `key`, and `then` let it take over, or nothing."""

    key: str | None
    then: bool = False
    begin: bool = False
    """Whether the log is first to be told that this embedder comes next."""
    drift: str = ""
    """Why nothing is embedded though there is an embedder."""


def plan(settings: Settings, history: list[Settings], own: str) -> Plan:
    """Return what a machine whose embedder has the key `own` does for a log with these settings.

    A log that never had a dense embedder goes up by itself. Every other change is a person's decision.
    """
    if own == settings.embedder_next:
        return Plan(own, then=True)
    if own == settings.embedder:
        return Plan(None if own == FLOOR else own)
    if own == FLOOR:
        return Plan(None)
    if all(known.embedder == FLOOR and known.embedder_next is None for known in history):
        return Plan(own, then=True, begin=True)
    drift = f"The log's embedder is {settings.embedder_next or settings.embedder}, and this machine has {own}."
    return Plan(None, drift=drift)


class Opened(NamedTuple):
    """The embedder in effect on this machine with its key; neither where it is degraded."""

    embedder: Embedder | None
    key: str
    resolved: Resolved


def open_embedder(home: Home, settings: Settings) -> Opened:
    """Open the embedder that this machine has in effect. Raises `RecollectError` as `choose_embedder` does."""
    dense = settings.embedder != FLOOR or settings.embedder_next is not None
    embedder, resolved = choose_embedder(local_settings(home).embedder, dense)
    if embedder is None or resolved.kind == "floor":
        return Opened(embedder, FLOOR if resolved.kind == "floor" else "", resolved)
    return Opened(embedder, key_of(embedder), resolved)


def key_of(embedder: Embedder) -> str:
    """Return the key under which an embedder's vectors are recorded."""
    return embedder_key(embedder.name, embedder.revision, embedder.dimensions)


class Embedding:
    """The embedding of one home's log by its owner. `on_note` gets a sentence for whatever people should know."""

    def __init__(self, home: Home, log: Log, on_note: OnNote) -> None:
        self._home = home
        self._log = log
        self._on_note = on_note
        self._noted: dict[str, None] = {}
        self._history = History(log)
        self._opened: Opened | None = None
        self._worker: EmbedWorker | None = None
        self.stopping = threading.Event()
        self.done = 0
        self.changed = False
        """Whether something was put on the log."""

    def catch_up(self, on_progress: Callable[[int], None] = lambda done: None) -> int:
        """Embed what waits, let an embedder take over that has everything, and return how many texts were tried.

        Raises `EmbedderUnavailable` where it stopped answering; what waits then goes on waiting.
        """
        before = self.done
        worker, then = self._prepare()
        while worker is not None and not self.stopping.is_set():
            ended = worker.look()
            if worker.waiting:
                self._embed(worker)
                on_progress(self.done - before)
            elif ended:
                break
        if worker is not None and then and not self.stopping.is_set():
            self._take_over(worker.key)
        return self.done - before

    def serve(self) -> None:
        """Embed whatever comes until `stopping` is set; an embedder that does not answer is asked again later."""
        wait_s = RETRY_S[0]
        while not self.stopping.is_set():
            try:
                self.catch_up()
            except Exception as error:  # It must not end with whatever went wrong: texts come as long as it runs.
                said = f"{error} {error.hint}" if isinstance(error, RecollectError) else f"Embedding failed: {error!r}."
                self._note(f"{said} New texts are found by words meanwhile.")
                self.stopping.wait(wait_s)
                wait_s = min(2 * wait_s, RETRY_S[1])
            else:
                wait_s = RETRY_S[0]
                self.stopping.wait(POLL_S)

    def _prepare(self) -> tuple[EmbedWorker | None, bool]:
        """Return the worker for what is to be embedded now, and whether its embedder takes over when that is done."""
        history = [configured.settings for configured in self._history.read()]
        settings = history[-1]
        if settings.embedder != FLOOR and settings.embedder_next is None:
            # Nothing is loaded or asked where nothing waits.
            worker = self._worker_for(settings.embedder)
            if worker.look() and not worker.waiting:
                return None, False
        opened = self._open(settings)
        if opened.resolved.warning:
            self._note(opened.resolved.warning)
        if not opened.key:
            raise EmbedderUnavailable(opened.resolved.warning)
        chosen = plan(settings, history, opened.key)
        if chosen.drift:
            self._note(
                f"{chosen.drift} `recollect embedder set` lets it take over; until then nothing is embedded here."
            )
        if chosen.key is None:
            return None, False
        if chosen.begin:
            self._note(f"The embedder {chosen.key} takes over from the floor when every text has its vector.")
            configure(self._log, lambda now: msgspec.structs.replace(now, embedder_next=chosen.key))
        complete_settings(self._log)
        return self._worker_for(chosen.key), chosen.then

    def _open(self, settings: Settings) -> Opened:
        if self._opened is None or not self._opened.key or self._opened.key == FLOOR:
            self._opened = open_embedder(self._home, settings)
        return self._opened

    def _worker_for(self, key: str) -> EmbedWorker:
        if self._worker is None or self._worker.key != key:
            marks = EmbeddingMarks(self._home, self._log.log_id, self._log.partitions)
            self._worker = EmbedWorker(self._log, key, marks)
        return self._worker

    def _embed(self, worker: EmbedWorker) -> None:
        assert self._opened is not None and self._opened.embedder is not None
        started = time.monotonic()
        before = worker.tried
        try:
            worker.embed(self._opened.embedder, BATCH_TEXTS, time.time_ns() // 1_000)
        finally:
            tried = worker.tried - before
            self.done += tried
            self.changed = self.changed or tried > 0
        rate = local_settings(self._home).embedder.texts_per_s
        if rate:
            self.stopping.wait(max(0.0, tried / rate - (time.monotonic() - started)))

    def _take_over(self, key: str) -> None:
        def switched(now: Settings) -> Settings:
            return msgspec.structs.replace(now, embedder=key, embedder_next=None) if now.embedder_next == key else now

        configure(self._log, switched)
        self.changed = True
        self._note(f"The embedder {key} has taken over.")

    def _note(self, note: str) -> None:
        if note not in self._noted:
            self._noted[note] = None
            self._on_note(note)


def change_over(home: Home, log: Log, options: EmbedderOptions, fold_cosine_hundredths: int | None = None) -> Settings:
    """Tell the log that the embedder of these options is to take over; the floor does at once, having no vectors.

    `fold_cosine_hundredths` is the cosine from which texts fold under it, where that is said. Raises `RecollectError`
    where this machine cannot open it.
    """
    embedder, resolved = choose_embedder(options, dense_on_log=False)
    if resolved.kind == FLOOR and fold_cosine_hundredths is not None:
        raise RecollectError("The floor folds equal wording only.", "Leave --fold-cosine out.")
    if embedder is None or (resolved.kind == "floor" and options.choice not in ("auto", "floor")):
        raise RecollectError(f"The embedder {options.choice} cannot be used here: {resolved.warning}")
    return set_next(log, FLOOR if resolved.kind == "floor" else key_of(embedder), fold_cosine_hundredths)


def set_next(log: Log, key: str, fold_cosine_hundredths: int | None = None) -> Settings:
    """Tell the log that the embedder of a key is to take over; the floor does at once."""

    def changed(now: Settings) -> Settings:
        if fold_cosine_hundredths is not None:
            cosines = {**now.fold_cosines_hundredths, key: fold_cosine_hundredths}
            now = msgspec.structs.replace(now, fold_cosines_hundredths=cosines)
        if key == FLOOR:
            return msgspec.structs.replace(now, embedder=FLOOR, embedder_next=None)
        return msgspec.structs.replace(now, embedder_next=None if now.embedder == key else key)

    return configure(log, changed)


def roll_back(log: Log) -> Settings:
    """Call a coming embedder off, or else go back to the one that decided before; raise where there is none."""
    history = [configured.settings for configured in configured_on(log)]
    now = history[-1]
    before = next((known.embedder for known in reversed(history) if known.embedder != now.embedder), None)
    if now.embedder_next is None and before is None:
        raise RecollectError(
            f"The log has had no other embedder than {now.embedder}.", "There is nothing to go back to."
        )
    target = now.embedder if now.embedder_next is not None else before
    return configure(log, lambda last: msgspec.structs.replace(last, embedder=target, embedder_next=None))
