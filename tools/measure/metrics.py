"""The metrics of a home in the format OpenMetrics, and their server on loopback for `memtape run`.

Values from the log, watermarks and tallies are read at each scrape. Measurements of processes are in the
home's samples. No table is read. `metrics.toml` describes each metric: a table of `docs/operations.md` is
written from it, and tests compare dashboards and alerts with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import Literal, get_args

import msgspec
from prometheus_client import metrics_core as families
from prometheus_client.openmetrics.exposition import CONTENT_TYPE_LATEST, generate_latest

from memtape.schemas.errors import MemtapeError
from memtape.schemas.events import EVENT_TYPES
from memtape.schemas.lanes import LANES
from memtape.schemas.log import Log
from memtape.schemas.metrics import BUCKETS_S, DOORS, FAULTS, OUTCOMES, STEPS
from memtape.schemas.times import US_PER_S
from memtape.sinks.home.counts import FlushOutcome, HomeCounts
from memtape.sinks.home.folders import Home
from memtape.state.views.health import HealthState
from memtape.tools.capture.noise import BINARY, OF_HOST
from memtape.tools.query.reading import Reader
from memtape.tools.query.status import Status, status


class MetricText(msgspec.Struct, frozen=True):
    """The description of one metric: kind, help text, names of labels, and source of values."""

    kind: Literal["counter", "gauge", "histogram"]
    help: str
    labels: tuple[str, ...] = ()
    source: Literal["log", "watermark", "home", "samples"] = "samples"


_TOML = Path(__file__).with_name("metrics.toml").read_bytes()
METRICS = msgspec.toml.decode(_TOML, type=dict[str, MetricText])
"""The metrics by name. A counter's samples end in `_total`, a histogram's in `_bucket`, `_count`, `_sum`."""
OTHER = "other"
"""Stands for a label's value that this version does not know."""
REASONS = ("paused", "private as a whole", OF_HOST, BINARY)

Values = Mapping[tuple[str, ...], float]
"""The values of a metric, by the values of its labels."""


def exposition(home: Home, log: Log) -> tuple[bytes, str]:
    """Return the metrics of a home as OpenMetrics, and their content type.

    `log` is that of the home. Raises `DamagedViews` and `DamagedLog`.
    """
    state = Reader(home, log).reading(lambda views: status(home, log, views, ""))
    told = list(_families(state, HomeCounts(home.path)))
    # Nothing else of a registry is asked, and one that is registered with collects once more, for the names.
    body: bytes = generate_latest(SimpleNamespace(collect=lambda: told))  # type: ignore[no-untyped-call]
    return body, CONTENT_TYPE_LATEST


def _families(state: Status, samples: HomeCounts) -> Iterator[families.Metric]:
    for name, values in _values(state, samples).items():
        metric = METRICS[name]
        is_counter = metric.kind == "counter"
        family = families.CounterMetricFamily if is_counter else families.GaugeMetricFamily
        made = family(name, metric.help, labels=metric.labels)
        for labels, value in values.items():
            made.add_metric(labels, value)
        yield made
    yield _histogram("memtape_recall_duration_seconds", samples, "recall", DOORS)
    yield _histogram("memtape_step_duration_seconds", samples, "step", STEPS)
    yield _histogram("memtape_hook_duration_seconds", samples, "hook", ("hook",))


def _values(state: Status, samples: HomeCounts) -> dict[str, Values]:
    """Return the metrics of the log and the watermarks, of a home's files, and of samples of processes."""
    kinds: tuple[HealthState, ...] = get_args(HealthState)
    views = {(its.view, str(its.partition)): its for its in state.views}
    decided, operations = [count.passes for count in state.scopes.values()], Counter[str]()
    for mark in decided:
        operations.update(mark.applied)
    uncounted = {"duplicate": state.duplicates, "divergent": state.divergent, "ignored": state.ignored}
    return {
        "memtape_log_events": {(str(number),): its.end for number, its in state.positions.items()},
        "memtape_events": _known(state.types, EVENT_TYPES),
        "memtape_uncounted_events": {(why,): count for why, count in uncounted.items()},
        "memtape_dead_letters": {(): state.dead_letters},
        "memtape_redactions": {(): state.redacted},
        "memtape_lag_events": {key: its.lag_events for key, its in views.items()},
        "memtape_lag_seconds": {key: its.lag_s for key, its in views.items()},
        "memtape_view_state": {(*at, it): int(its.state == it) for at, its in views.items() for it in kinds},
        "memtape_memories": {(): state.memories},
        "memtape_turns": {(): state.turns},
        "memtape_hidden": {(): state.hidden},
        "memtape_scopes": {(): len(state.scopes)},
        "memtape_conflicts_waiting": {(): sum(count.conflicts for count in state.scopes.values())},
        "memtape_embed_queue_texts": {(): state.embedder.waiting},
        "memtape_embed_failed_texts": {(): state.embedder.failed},
        "memtape_consolidated": {(name,): count for name, count in operations.items()},
        "memtape_consolidation_dropped": {(): sum(mark.dropped for mark in decided)},
        "memtape_embedder_degraded": {(): int(state.embedder.degraded)},
        "memtape_flushes": _known(state.flushes, get_args(FlushOutcome)),
        "memtape_dropped": _known(state.left_out, REASONS),
        "memtape_model_calls": {(): state.model.total.calls},
        "memtape_model_tokens": {(): state.model.total.tokens},
        "memtape_projector_up": {(): int(state.projector_pid is not None)},
        "memtape_paused": {(): len(state.paused)},
        "memtape_disk_bytes": {(kind,): size for kind, size in state.disk.items()},
        "memtape_recalls": {
            (door, how): samples.sums("recall", door, how).samples for door in DOORS for how in OUTCOMES
        },
        "memtape_recall_results": {(door,): samples.sums("results", door).total for door in DOORS},
        "memtape_recall_duplicates": {(door,): samples.sums("duplicates", door).total for door in DOORS},
        "memtape_recall_hits": {(lane,): samples.sums("hits", lane).total for lane in LANES},
        "memtape_errors": {(fault,): samples.sums("error", fault).total for fault in FAULTS},
    }


def _known(counts: Mapping[str, int], known: Collection[str]) -> Values:
    """Return counts by label; all labels unknown to this version are summed as one."""
    found = Counter[tuple[str, ...]]()
    for label, count in counts.items():
        found[label if label in known else OTHER,] += count
    return found


def _histogram(name: str, samples: HomeCounts, series: str, labels: Sequence[str]) -> families.Metric:
    metric, bounds_s = METRICS[name], BUCKETS_S[series]
    made = families.HistogramMetricFamily(name, metric.help, labels=metric.labels)
    for label in labels:
        sums = samples.sums(series, label)
        buckets = [(str(bound), float(count)) for bound, count in zip(bounds_s, sums.at_most, strict=True)]
        own = [label] if metric.labels else []
        made.add_metric(own, [*buckets, ("+Inf", float(sums.samples))], sums.total / US_PER_S)
    return made


LOOPBACK = "127.0.0.1"
PATH = "/metrics"
OWN_HOSTS = ("127.0.0.1", "localhost", "[::1]")
"""The names by which this machine may be asked: a page of elsewhere comes by another."""


@contextmanager
def served_metrics(home: Home, log: Log, port: int) -> Iterator[int]:
    """Serve the metrics of a home while the context lasts, and give the port: any that is free for 0.

    Raises `MemtapeError` where the port is taken.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.headers.get("Host", "").rpartition(":")[0] not in OWN_HOSTS:
                return self._answer(403, b"This is served to this machine alone.\n", "text/plain")
            if self.path.partition("?")[0] != PATH:
                return self._answer(404, f"Only {PATH} is here.\n".encode(), "text/plain")
            try:
                body, kind = exposition(home, log)
            except MemtapeError as error:
                return self._answer(503, f"{type(error).__name__}\n".encode(), "text/plain")
            self._answer(200, body, kind)

        def _answer(self, status: int, body: bytes, kind: str) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing: a scrape each 15 seconds is no event."""

    try:
        server = ThreadingHTTPServer((LOOPBACK, port), Handler)
    except OSError as error:
        told = f"Port {port} cannot be had: {error.strerror}."
        raise MemtapeError(told, "Name another with --metrics.") from None
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, name="metrics", daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
