"""How the service is, for Prometheus: read from it when somebody asks, in the process that is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from prometheus_client.metrics_core import GaugeMetricFamily, InfoMetricFamily, Metric

from app.types import StyleId


@dataclass(frozen=True, slots=True)
class StyleFacts:
    """state: ``ready``, ``available`` or ``unavailable``. sha256: of the weight file in use, whose name is variant."""

    style: StyleId
    kind: str
    variant: str
    sha256: str
    licence: str
    state: str


@dataclass(frozen=True, slots=True)
class ServiceFacts:
    """ready: whether pictures can be converted. faces: whether they are looked for."""

    version: str
    ready: bool
    faces: bool
    styles: Sequence[StyleFacts]


def state_metrics(facts: ServiceFacts) -> list[Metric]:
    """``facts`` for Prometheus."""
    styles = GaugeMetricFamily(
        "animebooth_style_info",
        "1 for each style, with what it is drawn by.",
        labels=("style", "kind", "variant", "sha256", "licence", "state"),
    )
    for style in facts.styles:
        styles.add_metric((style.style, style.kind, style.variant, style.sha256, style.licence, style.state), 1)
    return [
        InfoMetricFamily("animebooth_build", "The version that runs.", value={"version": facts.version}),
        GaugeMetricFamily("animebooth_ready", "Whether pictures can be converted.", value=facts.ready),
        GaugeMetricFamily("animebooth_faces_ready", "Whether faces are looked for.", value=facts.faces),
        styles,
    ]
