"""Writes `docs/metrics.md` from the table of metrics: `make metrics`, after a change of `schemas/metrics.py`."""

from __future__ import annotations

from pathlib import Path

from memtape.schemas.metrics import METRICS, sample_names

PAGE = Path(__file__).resolve().parents[2] / "docs" / "metrics.md"

HEAD = """# Metrics

Written by `make metrics` from `schemas/metrics.py`. `memtape run --metrics 9464` serves OpenMetrics on loopback for the
whole home.

```yaml
scrape_configs:
  - job_name: memtape
    static_configs:
      - targets: ["127.0.0.1:9464"]
```

[`docker/grafana.json`](../docker/grafana.json) is a dashboard, [`docker/alerts.yaml`](../docker/alerts.yaml) has rules
for alerts. Sources of the figures:

- **log**: the ends of the log and the events behind the watermarks, at each scrape.
- **watermark**: the counts of the views. No table is read.
- **home**: small files of the home: tallies, locks, the disk.
- **samples**: measurements of each process, in `counts.db` of the home. Delete the file at any time; its counters then
  begin at zero.

No load drops an event. A rule that leaves something out counts it in `memtape_dropped_total` and
`memtape_consolidation_dropped_total`. Labels have few values; no metric holds a text, a query or a project's name.

| metric | kind | labels | from | what it says |
| --- | --- | --- | --- | --- |
"""

RATES = """
Useful rates:

| rate | expression |
| --- | --- |
| searches that found nothing | `sum(rate(memtape_recalls_total{outcome="nothing",door!="prompt"}[1h])) / sum(rate(memtape_recalls_total{door!="prompt"}[1h]))` |
| prompts for which a hook held back | `sum(rate(memtape_recalls_total{outcome="nothing",door="prompt"}[1h])) / sum(rate(memtape_recalls_total{door="prompt"}[1h]))` |
| results that were said more than once | `sum(rate(memtape_recall_duplicates_total[1h])) / (sum(rate(memtape_recall_results_total[1h])) + sum(rate(memtape_recall_duplicates_total[1h])))` |
| recalls of which something was used | `sum(rate(memtape_events_total{type="used"}[1d])) / sum(rate(memtape_events_total{type="recalled"}[1d]))` |
| epochs that were written, a second | `sum(rate(memtape_step_duration_seconds_count{step="write"}[5m]))` |
| the share of time that goes into folding, and into writes | `sum by (step) (rate(memtape_step_duration_seconds_sum{step=~"fold|write"}[5m]))` |
| errors by door, an hour | `sum by (where) (increase(memtape_errors_total[1h]))` |
| the slowest of twenty searches, in seconds | `histogram_quantile(0.95, sum by (le, door) (rate(memtape_recall_duration_seconds_bucket[1h])))` |
"""  # noqa: E501


def page() -> str:
    """Return the page."""
    names: dict[str, str] = {}
    for sample, metric in sample_names().items():
        names.setdefault(metric, sample.removesuffix("_bucket"))
    rows = []
    for name, its in METRICS.items():
        labels = ", ".join(f"`{label}`" for label in its.labels)
        rows.append(f"| `{names[name]}` | {its.kind} | {labels} | {its.source} | {its.help} |")
    return HEAD + "\n".join(rows) + "\n" + RATES


if __name__ == "__main__":
    PAGE.write_text(page())
    print(PAGE)
