"""What operations are made of: headers, answers, errors, schemas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias, get_args

from app.conversion import STAGES, Notice
from app.errors import AnimeBoothError
from app.i18n import DEFAULT_LANGUAGE, LANGUAGES
from app.web.answers import CACHE_HEADER, CACHE_WORDS
from app.web.negotiation import PROBLEM_JSON

Json: TypeAlias = dict[str, Any]

_STATUS_TEXTS: Final[Mapping[int, str]] = {
    400: "The request cannot be understood.",
    401: "The service asks for a key.",
    403: "For the owner alone, and there is no key to show.",
    413: "Too many bytes or pixels.",
    415: "Not a picture of a kind that can be read.",
    422: "A picture, but nothing can be made of it.",
    429: "Too many pictures from this client.",
    500: "A fault of the service.",
    503: "Busy, starting, or the part asked for is not available.",
}


def get_operation(operation: str, summary: str, description: str, schema: str | None) -> Json:
    """An operation that answers with JSON after ``schema`` of the components, or any object."""
    content = {"$ref": f"#/components/schemas/{schema}"} if schema else {"type": "object"}
    return {
        "operationId": operation,
        "summary": summary,
        "description": description,
        "responses": {
            "200": {
                "description": description,
                "headers": header_references("X-Request-Id"),
                "content": {"application/json": {"schema": content}},
            }
        },
    }


def problem_responses(errors: Sequence[type[AnimeBoothError]]) -> Json:
    """A response for each status of ``errors``, with their codes."""
    statuses = sorted({error.status for error in errors})
    return {str(status): _problem_response(status, [e for e in errors if e.status == status]) for status in statuses}


def _problem_response(status: int, errors: Sequence[type[AnimeBoothError]]) -> Json:
    codes = [error.code for error in errors]
    schema = {"allOf": [{"$ref": "#/components/schemas/Problem"}, {"properties": {"code": {"enum": codes}}}]}
    names = ["X-Request-Id", *(["Retry-After"] if status in (429, 503) else [])]
    return {
        "description": f"{_STATUS_TEXTS[status]} Codes: {', '.join(codes)}.",
        "headers": header_references(*names),
        "content": {PROBLEM_JSON: {"schema": schema}, "text/html": {"schema": {"type": "string"}}},
    }


def language_parameter() -> Json:
    """`lang`, which all that speaks to people takes."""
    return {
        "name": "lang",
        "in": "query",
        "description": f"Language of messages: {', '.join(LANGUAGES)}. Others fall back to Accept-Language, then"
        f" {DEFAULT_LANGUAGE}.",
        "schema": {"type": "string"},
    }


def header_references(*names: str) -> Json:
    """Headers of an answer, by their names in :func:`header_components`."""
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


def header_components() -> Json:
    """All headers that answers may have."""
    return {
        "Content-Disposition": _header("A safe file name after the upload's, as `attachment`."),
        "Server-Timing": _header(
            f"Milliseconds spent for this request: cache, {', '.join(STAGES)} (those gone through), total."
        ),
        "X-Style": _header("Id of the style."),
        "X-Faces": _header("How many faces were drawn on their own.", {"type": "integer", "minimum": 0}),
        "X-Size": _header("Width and height in pixels.", {"type": "string", "pattern": "^[0-9]+x[0-9]+$"}),
        "X-Notice": _header(f"What the sender should know, if anything. Codes: {', '.join(get_args(Notice))}."),
        CACHE_HEADER: _header(
            "`miss`: made for this request. `hit`: it was remembered here, or being made for somebody else. `shared`:"
            " another machine had made it. Missing where nothing is remembered.",
            {"type": "string", "enum": list(dict.fromkeys(CACHE_WORDS.values()))},
        ),
        "X-Request-Id": _header("The id that came with the request, or a new one; it is also in the log."),
        "Retry-After": _header("Seconds to wait before the same request is worth another try.", {"type": "integer"}),
    }


def _header(description: str, schema: Json | None = None) -> Json:
    return {"description": description, "schema": schema or {"type": "string"}}


def security_schemes() -> Json:
    """The two ways to show a key."""
    return {
        "bearer": {"type": "http", "scheme": "bearer", "description": "Only where the service has a key set."},
        "key": {"type": "apiKey", "in": "header", "name": "X-API-Key", "description": "The same key."},
    }


def object_schema(properties: Json, *, optional: Sequence[str] = ()) -> Json:
    """An object with ``properties``, all required but those that are ``optional``."""
    return {"type": "object", "properties": properties, "required": [n for n in properties if n not in optional]}


def binary(description: str) -> Json:
    """Bytes, as a string of the format that OpenAPI has for them."""
    return {"type": "string", "format": "binary", "description": description}
