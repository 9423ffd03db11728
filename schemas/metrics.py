"""The table of metrics, as data: name, help text and labels of each metric, with the labels' values.

`tools/ask/metrics.py` fills in the values, `docs/metrics.md` is written from the table, and tests compare
dashboards and alerts with the table. A label has one of a few fixed values or the number of a partition, so
that no text, query or name becomes a label. The module is light, since hooks load it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple, get_args

Door = Literal["cli", "python", "mcp", "prompt", "page"]
DOORS: tuple[Door, ...] = get_args(Door)
"""The doors by which a question came; `prompt` is a hook's, unasked for."""
Outcome = Literal["found", "nothing"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
Step = Literal["fold", "write", "snapshot", "rebuild"]
STEPS: tuple[Step, ...] = get_args(Step)
OnStep = Callable[[Step, int, int], None]
"""Called with a finished step, its partition, and its duration in nanoseconds."""
OnPhase = Callable[[str, int, int], None]
"""Called with the phase of a long command (`projecting`, `copying`), the amount done, and the amount in all."""
Fault = Literal["cli", "hook", "mcp", "page", "worker"]
FAULTS: tuple[Fault, ...] = get_args(Fault)

MICROSECONDS = 1_000_000
RECALL_BUCKETS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
STEP_BUCKETS_S = (0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 30.0, 300.0)
BUCKETS_S = {"recall": RECALL_BUCKETS_S, "step": STEP_BUCKETS_S, "hook": RECALL_BUCKETS_S}
"""The upper bounds of the series of a home that measure a duration; the others are counts."""
BOUNDS_US = {name: tuple(round(bound * MICROSECONDS) for bound in its) for name, its in BUCKETS_S.items()}


class Metric(NamedTuple):
    """One metric: kind, help text, names of labels, and source of values."""

    kind: Literal["counter", "gauge", "histogram"]
    help: str
    labels: tuple[str, ...] = ()
    source: Literal["log", "watermark", "home", "samples"] = "samples"


METRICS: dict[str, Metric] = {
    "memtape_log_events": Metric(
        "counter", "Events that were appended, ticks and settings too.", ("partition",), "log"
    ),
    "memtape_events": Metric("counter", "Events that the views have met and counted, by type.", ("type",), "watermark"),
    "memtape_uncounted_events": Metric(
        "counter",
        "Events that changed nothing: duplicates, divergent ones, those ignored by rule.",
        ("why",),
        "watermark",
    ),
    "memtape_dead_letters": Metric("counter", "Events that could not be read.", (), "watermark"),
    "memtape_redactions": Metric("counter", "Placeholders that stand for secrets in what was said.", (), "watermark"),
    "memtape_lag_events": Metric(
        "gauge", "Events, or texts of vectors, that a view lacks.", ("view", "partition"), "log"
    ),
    "memtape_lag_seconds": Metric(
        "gauge", "How long the oldest of what a view lacks has waited.", ("view", "partition"), "log"
    ),
    "memtape_view_state": Metric(
        "gauge", "1 for the state that a view is in, 0 for the others.", ("view", "partition", "state"), "log"
    ),
    "memtape_memories": Metric("gauge", "Memories that are shown, in all scopes.", (), "watermark"),
    "memtape_turns": Metric("gauge", "Turns that are shown, in all scopes.", (), "watermark"),
    "memtape_hidden": Metric("gauge", "Memories and turns that are hidden and can be restored.", (), "watermark"),
    "memtape_scopes": Metric("gauge", "Scopes that hold anything.", (), "watermark"),
    "memtape_conflicts_waiting": Metric("gauge", "Conflicts that wait for people.", (), "watermark"),
    "memtape_embed_queue_texts": Metric("gauge", "Texts that wait for a vector.", (), "watermark"),
    "memtape_embed_failed_texts": Metric("gauge", "Texts that got no vector for good.", (), "watermark"),
    "memtape_embedder_degraded": Metric("gauge", "1 where the embedder of the log does not answer here.", (), "home"),
    "memtape_consolidated": Metric("counter", "What consolidation decided, by operation.", ("operation",), "watermark"),
    "memtape_consolidation_dropped": Metric(
        "counter", "Decisions that an input had changed under, or that ended.", (), "watermark"
    ),
    "memtape_recall_duration_seconds": Metric(
        "histogram",
        "How long a question took as who asked meets it: of a command from the start of its process, of a server from "
        "the call to the answer.",
        ("door",),
    ),
    "memtape_recalls": Metric(
        "counter",
        "Questions, by whether anything was found. Of the door prompt, nothing means that a hook held back.",
        ("door", "outcome"),
    ),
    "memtape_recall_results": Metric("counter", "Results that were returned.", ("door",)),
    "memtape_recall_duplicates": Metric(
        "counter", "Turns that say the same as a result and gave it their place.", ("door",)
    ),
    "memtape_recall_hits": Metric("counter", "Texts that a lane found or moved.", ("lane",)),
    "memtape_hook_duration_seconds": Metric("histogram", "How long a host waited for a hook that had something to do."),
    "memtape_step_duration_seconds": Metric(
        "histogram",
        "How long the projector took: to fold a batch, to write an epoch, to write a snapshot, to make views anew.",
        ("step",),
    ),
    "memtape_errors": Metric("counter", "Errors by where they were met.", ("where",)),
    "memtape_flushes": Metric("counter", "Flushes before a compaction, by how they went.", ("outcome",), "home"),
    "memtape_dropped": Metric("counter", "What hooks were told and did not store, by why.", ("reason",), "home"),
    "memtape_model_calls": Metric("counter", "Calls of models that write text.", (), "home"),
    "memtape_model_tokens": Metric("counter", "Tokens of these, as far as endpoints tell them.", (), "home"),
    "memtape_projector_up": Metric("gauge", "1 where a projector holds the home.", (), "home"),
    "memtape_paused": Metric("gauge", "Pauses that last, in which nothing is stored.", (), "home"),
    "memtape_disk_bytes": Metric("gauge", "Bytes of the home, by kind.", ("kind",), "home"),
}
"""The metrics by name. A counter's samples end in `_total`, those of a histogram in `_bucket`, `_count` and
`_sum`.
"""


def sample_names() -> dict[str, str]:
    """Return the metric of each exposed kind of sample, by the kind's name."""
    endings = {"counter": ("_total",), "gauge": ("",), "histogram": ("_bucket", "_count", "_sum")}
    return {name + ending: name for name, metric in METRICS.items() for ending in endings[metric.kind]}
