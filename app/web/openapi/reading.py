"""What is only read: styles, queue, health, figures, this description."""

from __future__ import annotations

from app.errors import Forbidden, InvalidOption, RateLimited, Unauthorized
from app.web.headers import REQUEST_ID_PATTERN
from app.web.openapi.parts import Json, get_operation, header_references, language_parameter, problem_responses


def styles_operation() -> Json:
    """GET /styles."""
    return get_operation(
        "styles", "List the styles", "Every style with its licence, and what the options may be.", "Catalogue"
    )


def queue_operation() -> Json:
    """GET /queue."""
    meaning = "How many wait and work, and where the conversion is that came with the `X-Request-Id` of `id`."
    operation = get_operation("queue", "How full is it, and where am I?", meaning, "Queue")
    operation["parameters"] = [
        {
            "name": "id",
            "in": "query",
            "description": "The `X-Request-Id` that a request to /convert was sent with.",
            "allowEmptyValue": True,
            "schema": {"anyOf": [{"type": "string", "pattern": f"^{REQUEST_ID_PATTERN}$"}, {"const": ""}]},
        }
    ]
    operation["responses"] |= problem_responses([InvalidOption])
    return operation


def healthz_operation() -> Json:
    """GET /healthz."""
    return get_operation("healthz", "Is the process alive?", "Always 200.", "Health")


def readyz_operation() -> Json:
    """GET /readyz."""
    meaning = "200 once the default style is loaded; tells why faces are off."
    operation = get_operation("readyz", "Can it convert?", meaning, "Status")
    operation["responses"]["503"] = operation["responses"]["200"] | {
        "description": "Still starting, or failed.",
        "headers": header_references("X-Request-Id", "Retry-After"),
    }
    return operation


def metrics_operation() -> Json:
    """GET /metrics."""
    operation = _owners("metrics", "Metrics for Prometheus", "What was counted and measured, of all processes.", None)
    text = {"schema": {"type": "string"}}
    operation["responses"]["200"]["content"] = {"text/plain": text, "application/openmetrics-text": text}
    return operation


def status_operation() -> Json:
    """GET /status."""
    operation = _owners(
        "status", "How the service is doing", "Figures since the start, and of the last hour.", "Report"
    )
    operation["responses"]["200"]["content"]["text/html"] = {"schema": {"type": "string"}}
    return operation | {"parameters": [language_parameter()]}


def openapi_operation() -> Json:
    """GET /openapi.json."""
    return get_operation("openapi", "This description", "OpenAPI 3.1.", None)


def _owners(operation: str, summary: str, description: str, schema: str | None) -> Json:
    """A route for the owner: open to the machine itself, elsewhere with the key."""
    described = get_operation(
        operation, summary, f"{description} Open to the machine itself; elsewhere it asks for the key.", schema
    )
    described["responses"] |= problem_responses([Unauthorized, Forbidden, RateLimited])
    return described | {"security": [{}, {"bearer": []}, {"key": []}]}
