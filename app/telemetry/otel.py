"""Traces by OpenTelemetry. Imported only where the owner has asked for traces (app.telemetry.traces)."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Final

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from app import __version__
from app.telemetry.traces import Attributes, Traces

SEND_SECONDS: Final = 5.0
"""How long sending one lot of traces may take: a collector that is gone must not hold up the end of the service."""

_LEAST_FAULT: Final = 500
"""From this status on it is a fault of the service (OpenTelemetry's conventions for HTTP servers)."""


class OpenTelemetry(Traces):
    """Makes spans and hands them to ``processor``. What faults say is left out of them: it may name things."""

    def __init__(self, processor: SpanProcessor) -> None:
        # The environment's OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES go before ours.
        own = Resource({"service.name": "animebooth", "service.version": __version__})
        provider = TracerProvider(resource=own.merge(OTELResourceDetector().detect()))
        provider.add_span_processor(processor)
        self._tracer = provider.get_tracer("animebooth", __version__)
        self._context = TraceContextTextMapPropagator()

    def request(self, headers: Mapping[str, str]) -> AbstractContextManager[object]:
        """See Traces."""
        return self._span("request", trace.SpanKind.SERVER, headers)

    def answered(self, name: str, attributes: Attributes) -> None:
        """See Traces."""
        span = trace.get_current_span()
        span.update_name(name)
        span.set_attributes(attributes)
        if int(attributes.get("http.response.status_code", 0)) >= _LEAST_FAULT:
            span.set_status(trace.StatusCode.ERROR)

    def span(self, name: str) -> AbstractContextManager[object]:
        """See Traces."""
        return self._span(name, trace.SpanKind.INTERNAL)

    def trace_id(self) -> str | None:
        """See Traces."""
        context = trace.get_current_span().get_span_context()
        return f"{context.trace_id:032x}" if context.is_valid else None

    def _span(
        self, name: str, kind: trace.SpanKind, headers: Mapping[str, str] | None = None
    ) -> AbstractContextManager[object]:
        around = None if headers is None else self._context.extract(dict(headers))
        span: AbstractContextManager[object] = self._tracer.start_as_current_span(
            name, around, kind, record_exception=False, set_status_on_exception=False
        )
        return span


def sending_to(endpoint: str) -> OpenTelemetry:
    """Spans go to ``endpoint`` in lots, from a thread of their own."""
    return OpenTelemetry(BatchSpanProcessor(OTLPSpanExporter(endpoint, timeout=SEND_SECONDS)))
