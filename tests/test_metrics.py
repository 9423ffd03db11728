"""Metrics as a scraper sees them, over HTTP, parsed, bounded, without a text; what alerts name."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from written_pages import sample_names

from memtape.schemas import metrics as table
from memtape.schemas.errors import MemtapeError
from memtape.schemas.events import EVENT_TYPES
from memtape.schemas.lanes import LANES
from memtape.schemas.scopes import partition_of
from memtape.sinks.home.counts import FLUSHES, LEFT_OUT, NAME, HomeCounts, note
from memtape.sinks.home.folders import KINDS
from memtape.tools.client import Client
from memtape.tools.measure.metrics import METRICS, OTHER, exposition, served_metrics

ROOT = Path(__file__).parent.parent
SAID, SCOPE = "The xylophone of Brunhilde is tuned to 442 hertz.", "project:zwieback"
ASKED = "quagmire glockenspiel"
BOUNDED: dict[str, tuple[str, ...]] = {
    "door": table.DOORS,
    "outcome": (*table.OUTCOMES, "deterministic_ok", "distilled_ok", "timeout", "error", OTHER),
    "step": table.STEPS, "where": table.FAULTS, "lane": LANES, "type": (*EVENT_TYPES, OTHER),
    "view": ("rows", "pages", "vectors"), "state": ("ready", "lagging", "hydrating", "failing"),
    "why": ("duplicate", "divergent", "ignored"),
    "reason": ("paused", "private as a whole", "metadata of a host", "binary", OTHER),
    "operation": ("add", "conflict", "replace", "remove"), "kind": KINDS,
    "le": (*map(str, (*table.RECALL_BUCKETS_S, *table.STEP_BUCKETS_S)), "+Inf"),
}  # fmt: skip
"""Every value that each label can have; a partition is a number."""


def scraped(body: bytes) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """Return each sample by its name and labels, as the library's own parser reads them."""
    families = text_string_to_metric_families(body.decode())
    samples = [sample for family in families for sample in family.samples]
    return {(sample.name, tuple(sorted(sample.labels.items()))): sample.value for sample in samples}


def of(found: dict[tuple[str, tuple[tuple[str, str], ...]], float], name: str, **labels: str) -> float:
    return found[name, tuple(sorted(labels.items()))]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with two facts, one search that found and one that did not, a use, and what is forgotten."""
    with Client(tmp_path / "home", scope=SCOPE, origin="user", session="s") as client:
        first = client.capture(SAID)
        client.capture("Deployments happen on Tuesdays at noon.")
        client.project()
        found = client.search("xylophone tuned")
        client.use([found.results[0].id], found.recall_id)
        assert not client.search(ASKED).results
        client.forget(first.id)
        client.project()
    return tmp_path / "home"


def test_what_happened_is_scraped_over_http(home: Path) -> None:
    with (Client(home, scope=SCOPE) as client, served_metrics(client.home, client.log, 0) as port,
          urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer):  # fmt: skip
        kind, body, ends = answer.headers["Content-Type"], answer.read(), client.log.ends()
        partition = str(partition_of(SCOPE, client.log.partitions))
    found = scraped(body)
    assert kind.startswith("application/openmetrics-text") and body.endswith(b"# EOF\n")
    for type, count in {"captured": 2, "recalled": 2, "used": 1, "forgotten": 1}.items():
        assert of(found, "memtape_events_total", type=type) == count
    assert [of(found, f"memtape_{what}") for what in ("memories", "hidden", "scopes")] == [1, 1, 1]
    assert of(found, "memtape_recalls_total", door="python", outcome="found") == 1
    assert of(found, "memtape_recalls_total", door="python", outcome="nothing") == 1
    assert of(found, "memtape_recall_results_total", door="python") >= 1
    assert of(found, "memtape_recall_hits_total", lane="sparse") >= 1
    assert of(found, "memtape_recall_duration_seconds_count", door="python") == 2
    assert of(found, "memtape_recall_duration_seconds_bucket", door="python", le="+Inf") == 2
    assert of(found, "memtape_step_duration_seconds_count", step="write") >= 2
    assert of(found, "memtape_lag_events", view="rows", partition=partition) == 0
    assert of(found, "memtape_view_state", view="rows", partition=partition, state="ready") == 1
    assert of(found, "memtape_disk_bytes", kind="log") >= (home / "log.db").stat().st_size > 0
    log_events = sum(value for (name, _), value in found.items() if name == "memtape_log_events_total")
    assert log_events == sum(ends)


def test_who_is_not_this_machine_and_who_asks_for_more_gets_nothing(home: Path) -> None:
    with Client(home, scope=SCOPE) as client, served_metrics(client.home, client.log, 0) as port:
        for path, host, status in (("/metrics", "evil.example:80", 403), ("/", f"localhost:{port}", 404)):
            asked = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers={"Host": host})
            with pytest.raises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(asked)
            assert refused.value.code == status
        with pytest.raises(MemtapeError), served_metrics(client.home, client.log, port):
            pass


def test_every_metric_of_the_table_is_exposed_and_no_label_is_free(home: Path) -> None:
    with Client(home, scope=SCOPE) as client:
        client.redactor.text("x")
        body, _ = exposition(client.home, client.log)
    families = {family.name: family for family in text_string_to_metric_families(body.decode())}
    assert {name: (family.type, family.documentation) for name, family in families.items()} == {
        name: (metric.kind, metric.help) for name, metric in METRICS.items()
    }
    for name, family in families.items():
        for sample in family.samples:
            assert sample_names()[sample.name] == name
            assert sample.labels.keys() - {"le"} == {*METRICS[name].labels}
    for _, labels in scraped(body):
        for name, value in labels:
            assert value.isdecimal() if name == "partition" else value in BOUNDED[name], (name, value)
    told = body.decode() + (home / NAME).read_bytes().decode("latin-1")
    for word in re.findall(r"\w{5,}", f"{SAID} {ASKED} {SCOPE} Deployments Tuesdays"):
        assert word not in told or word == "project"
    note(home, [(LEFT_OUT, "the secret of Brunhilde", "", 3), (LEFT_OUT, "paused", "", 2)])
    note(home, [(FLUSHES, "brunhilde_ok", "", 1)])
    with Client(home, scope=SCOPE) as client:
        found = scraped(exposition(client.home, client.log)[0])
    assert [of(found, "memtape_dropped_total", reason=reason) for reason in (OTHER, "paused")] == [3, 2]
    assert of(found, "memtape_flushes_total", outcome=OTHER) == 1


def test_a_measure_ends_nothing_and_no_note_of_many_processes_is_lost(tmp_path: Path) -> None:
    note(tmp_path / "nowhere", [("error", "cli", "", 1)])
    (tmp_path / NAME).mkdir()
    note(tmp_path, [("error", "cli", "", -5)])
    assert HomeCounts(tmp_path).sums("error", "cli") == (0, 0, ()) and not (tmp_path / "nowhere").exists()
    (tmp_path / NAME).rmdir()
    (tmp_path / NAME).write_bytes(b"no database" * 100)
    note(tmp_path, [("error", "cli", "", 1)])
    note(tmp_path, [("error", "cli", "", 1)])
    assert HomeCounts(tmp_path).sums("error", "cli").total == 1, "a damaged file is begun anew"
    script = (
        "import sys\nfrom memtape.sinks.home.counts import note\n"
        "for n in range(200):\n"
        "    samples = [('recall', 'cli', 'found', n), ('hits', 'dense', '', 2), ('error', 'hook', '', 1)]\n"
        "    note(sys.argv[1], samples)\n"
    )
    words, env = [sys.executable, "-c", script, str(tmp_path)], {**os.environ, "PYTHONPATH": str(ROOT)}
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda _: subprocess.run(words, env=env, check=True), range(8)))
    samples = HomeCounts(tmp_path)
    assert samples.sums("recall", "cli", "found") == (
        1_600, 8 * sum(range(200)), (1_600,) * len(table.RECALL_BUCKETS_S),
    )  # fmt: skip
    assert samples.sums("hits", "dense").total == 3_200 and samples.sums("error", "hook").samples == 1_600
    assert samples.sums("recall", "cli", "nothing").samples == samples.sums("recall", "mcp").samples == 0


def test_a_command_is_measured_from_its_start_and_its_error_counted(home: Path) -> None:
    began = time.monotonic()
    words = [sys.executable, "-m", "memtape", "search", "deployments", "--home", str(home), "--scope", SCOPE]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run(words, env=env, check=True, capture_output=True)
    took_us = (time.monotonic() - began) * 1_000_000
    before = HomeCounts(home).sums("recall", "cli")
    assert before.samples == 1 and took_us / 4 < before.total < took_us
    words[3:5] = "show", "nothing-has-this"
    assert subprocess.run(words, env=env, capture_output=True).returncode == 1
    assert HomeCounts(home).sums("error", "cli").total == 1


_SELECTOR = re.compile(r"([a-z_:][\w:]*)\s*\{([^}]*)\}")
_MATCHER = re.compile(r'([a-z_]\w*)\s*(?:=~|!~|!=|=)\s*"([^"]*)"')
_GROUPED = re.compile(r"\b(?:by|on)\s*\(([^)]*)\)")


def expressions() -> Iterator[tuple[str, str]]:
    """Yield each expression of dashboard, alerts and documents, under what it is called there."""
    board: dict[str, Any] = json.loads((ROOT / "docker" / "grafana.json").read_text())
    for panel in board["panels"]:
        for target in panel["targets"]:
            yield f"panel {panel['title']}", target["expr"]
    for group in yaml.safe_load((ROOT / "docker" / "alerts.yaml").read_text())["groups"]:
        for rule in group["rules"]:
            yield f"alert {rule['alert']}", rule["expr"]
    rates = (ROOT / "docs" / "operations.md").read_text().partition("Useful rates")[2].partition("##")[0]
    for expression in re.findall(r"`(.+)`", rates):
        yield "docs/operations.md", expression


@pytest.mark.parametrize(("where", "expression"), list(expressions()))
def test_an_expression_names_only_what_there_is(where: str, expression: str) -> None:
    """Samples that there are, and labels that these have, with their values."""
    used = {sample_names()[name] for name in re.findall(r"\bmemtape_\w+", expression)}
    assert used, expression
    for name, selected in _SELECTOR.findall(expression):
        for label, values in _MATCHER.findall(selected):
            assert label in METRICS[sample_names()[name]].labels, (expression, label)
            assert all(value in BOUNDED[label] for value in values.split("|")), (expression, values)
    grouped = set(re.findall(r"[^\s,]+", ",".join(_GROUPED.findall(expression))))
    assert grouped <= {label for name in used for label in METRICS[name].labels} | {"le"}, expression
