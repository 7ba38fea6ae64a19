"""The dashboard asks Prometheus for nothing that the service does not tell."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, get_args

import promql_parser
import pytest
from prometheus_client.parser import text_string_to_metric_families

from app.config import PROJECT_ROOT
from app.conversion import STAGES
from app.telemetry.metrics import Metrics
from app.telemetry.observer import CacheLevel
from app.telemetry.processes import Process, process_metrics
from app.telemetry.state import ServiceFacts, StyleFacts, state_metrics

DASHBOARD: dict[str, Any] = json.loads((PROJECT_ROOT / "deploy/grafana-dashboard.json").read_text(encoding="utf-8"))
MONITORING = (PROJECT_ROOT / "docs/monitoring.md").read_text(encoding="utf-8")
ADDED_BY_PROMETHEUS = {"instance", "job"}
GRAFANAS = {"$__rate_interval": "5m", "$instance": ".*"}
"""What Grafana puts in place of its own variables."""


@pytest.fixture(scope="module")
def told() -> Mapping[str, set[str]]:
    """Every sample that /metrics may tell, by its name, with the names of its labels; all events have happened."""
    metrics = Metrics()
    metrics.request_answered("/convert", 200, "cute", 0.3)
    metrics.request_rejected("overloaded")
    metrics.refused("queue")
    metrics.converted("cute", dict.fromkeys(STAGES, 0.1))
    metrics.queue_holds(1)
    metrics.under_way(1)
    metrics.turn_came(0.1)
    metrics.batch_ran("cute", 1)
    for level in get_args(CacheLevel):
        metrics.cache_asked(level, "hit", 0.001)
        metrics.cache_holds(level, 1, 1)
    metrics.shared_cache_failed()
    facts = ServiceFacts("1.0", True, True, [StyleFacts("cute", "face", "fp32", "0", "MIT", "ready")])
    processes = [Process(1, "master", 1, 1.0, 1, 1.0)]
    text, _ = metrics.exposition("", [*process_metrics(processes), *state_metrics(facts)])
    families = text_string_to_metric_families(text.decode())
    return {sample.name: set(sample.labels) for family in families for sample in family.samples}


def expressions() -> list[str]:
    """Every PromQL expression of the dashboard, those of its variables included."""
    panels = [target["expr"] for panel in DASHBOARD["panels"] for target in panel.get("targets", [])]
    variables = [item["definition"] for item in DASHBOARD["templating"]["list"] if "definition" in item]
    return panels + [re.fullmatch(r"label_values\((\w+), \w+\)", text)[1] for text in variables]


def parsed(expression: str) -> Any:
    for name, value in GRAFANAS.items():
        expression = expression.replace(name, value)
    return promql_parser.parse(expression)


def selectors(node: Any) -> Iterator[Any]:
    """The vector selectors within a parsed expression."""
    if isinstance(node, promql_parser.VectorSelector):
        yield node
    for part in ("lhs", "rhs", "expr", "vector_selector", "param"):
        yield from selectors(getattr(node, part, None)) if hasattr(node, part) else ()
    for argument in getattr(node, "args", None) or ():
        yield from selectors(argument)


def grouped_by(node: Any) -> Iterator[tuple[Any, set[str]]]:
    """Each aggregation within a parsed expression, with the labels it keeps."""
    if isinstance(node, promql_parser.AggregateExpr) and node.modifier is not None:
        yield node, set(node.modifier.labels)
    for part in ("lhs", "rhs", "expr"):
        yield from grouped_by(getattr(node, part, None)) if hasattr(node, part) else ()
    for argument in getattr(node, "args", None) or ():
        yield from grouped_by(argument)


@pytest.mark.parametrize("expression", expressions())
def test_an_expression_asks_for_metrics_and_labels_that_exist(expression: str, told: Mapping[str, set[str]]) -> None:
    found = list(selectors(parsed(expression)))
    assert found
    for selector in found:
        assert selector.name in told
        labels = {matcher.name for matcher in selector.matchers.matchers}
        assert labels <= told[selector.name] | ADDED_BY_PROMETHEUS, selector.name
    for aggregation, labels in grouped_by(parsed(expression)):
        for selector in selectors(aggregation):
            assert labels <= told[selector.name] | ADDED_BY_PROMETHEUS, expression


def family(sample: str) -> str:
    return re.sub(r"_(bucket|sum|count)$", "", sample)


def test_every_metric_is_on_the_dashboard(told: Mapping[str, set[str]]) -> None:
    shown = {family(selector.name) for expression in expressions() for selector in selectors(parsed(expression))}
    assert {family(name) for name in told} - shown == set()


def test_every_metric_is_explained_with_its_labels(told: Mapping[str, set[str]]) -> None:
    for name in sorted({family(name) for name in told}):
        row = next((line for line in MONITORING.splitlines() if line.startswith(f"| `{name}`")), "")
        assert row, f"{name} has no row in docs/monitoring.md"
        labels = {label for sample, labels in told.items() if family(sample) == name for label in labels} - {"le"}
        missing = [label for label in labels if f"`{label}`" not in row.split("|")[2]]
        assert missing == [], name


def test_no_metric_is_explained_that_does_not_exist(told: Mapping[str, set[str]]) -> None:
    explained = set(re.findall(r"^\| `(animebooth_\w+)`", MONITORING, re.MULTILINE))
    assert explained == {family(name) for name in told}


def test_panels_do_not_lie_over_each_other() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in DASHBOARD["panels"]:
        at = panel["gridPos"]
        cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert max(x for x, _ in cells) < 24, panel["title"]
        assert not cells & taken, panel["title"]
        taken |= cells
    numbers = [panel["id"] for panel in DASHBOARD["panels"]]
    assert len(numbers) == len(set(numbers))
