"""The description of the API as OpenAPI 3.1: built from the options, the error tree and the styles at hand.

It is served as /openapi.json and drawn by /docs, so each fact in it has its home elsewhere in the code.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias, get_args

from app import __version__
from app.admission.desk import State
from app.conversion import STAGES, Notice
from app.errors import AnimeBoothError, Forbidden, InvalidOption, RateLimited, Unauthorized
from app.i18n import DEFAULT_LANGUAGE, LANGUAGES
from app.imaging.encode import MIMETYPES
from app.options import FACE_MODES, FORMATS, MAX_QUALITY, MAX_SIZE, MAX_STRENGTH, MIN_QUALITY, MIN_SIZE, OPTION_NAMES
from app.telemetry.minutes import KEPT_MINUTES
from app.types import StyleId
from app.web.answers import CACHE_HEADER, CACHE_WORDS
from app.web.catalogue import ServiceLimits
from app.web.headers import REQUEST_ID_PATTERN
from app.web.negotiation import PROBLEM_JSON
from app.web.problems import problem_title, problem_type, public_errors
from app.web.report import Mood
from app.web.uploads import IMAGE_FIELD

Json: TypeAlias = dict[str, Any]

UPLOAD_MIMETYPES: Final = (
    "image/jpeg",
    "image/png",
    "image/webp",
    "image/gif",
    "image/bmp",
    "image/tiff",
    "image/avif",
    "image/heic",
    "application/octet-stream",
)

_ABOUT: Final = (
    "A photo goes in, an anime picture comes out. Everything happens on this server; no picture is written to disk.\n\n"
    "`curl -F image=@me.jpg -F style=cute http://localhost:8000/convert -o anime.jpg`"
)

_OPTION_TEXTS: Final[Mapping[str, str]] = {
    "style": "Which style to draw in, by its `id` in /styles. Default: the service's own, `default_style` there.",
    "face": "`auto` draws each face on its own and blends it in, `off` draws the picture in one go, `only` answers with"
    " a square portrait of the largest face.",
    "size": "Longest side of the answer in pixels, or `original` for the upload's own size (slower). Pictures are never"
    " scaled up.",
    "strength": "Per cent of the style; the rest is the photo.",
    "format": "Format of the answer. Default: the first that Accept names (`image/*` and `*/*` name none), else the"
    " upload's kind, where HEIC becomes JPEG, and GIF, BMP and TIFF become PNG.",
    "quality": "Quality of a JPEG, WebP or AVIF. Default: a good one for each format.",
}

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


def openapi_document(styles: Sequence[StyleId], limits: ServiceLimits, *, key_required: bool) -> Json:
    """The whole document. ``styles``: the ids that `style` may name. key_required: whether /convert asks for a key."""
    return {
        "openapi": "3.1.0",
        "info": _info(),
        "servers": [{"url": "/", "description": "This server"}],
        "paths": {
            "/convert": {"post": _convert(styles, limits, key_required=key_required)},
            "/styles": {"get": _get_styles()},
            "/queue": {"get": _get_queue()},
            "/healthz": {"get": _get_healthz()},
            "/readyz": {"get": _get_readyz()},
            "/metrics": {"get": _get_metrics()},
            "/status": {"get": _get_status()},
            "/openapi.json": {"get": _get_openapi()},
        },
        "components": {
            "schemas": _schemas(styles),
            "headers": _headers(),
            "securitySchemes": _security_schemes(),
        },
    }


def option_schemas(styles: Sequence[StyleId], default_size: int) -> dict[str, Json]:
    """A JSON schema for each option of a conversion, by name."""
    size = {"type": "integer", "minimum": MIN_SIZE, "maximum": MAX_SIZE}
    return {
        "style": {"type": "string", "enum": list(styles)},
        "face": {"type": "string", "enum": list(FACE_MODES), "default": "auto"},
        "size": {"anyOf": [size, {"type": "string", "const": "original"}], "default": default_size},
        "strength": {"type": "integer", "minimum": 0, "maximum": MAX_STRENGTH, "default": MAX_STRENGTH},
        "format": {"type": "string", "enum": list(FORMATS)},
        "quality": {"type": "integer", "minimum": MIN_QUALITY, "maximum": MAX_QUALITY},
    }


def _info() -> Json:
    return {
        "title": "AnimeBooth",
        "version": __version__,
        "summary": "Turns a photo into an anime picture.",
        "description": _ABOUT,
        "license": {"name": "Apache-2.0 (the code; each style has its own licence)", "identifier": "Apache-2.0"},
    }


def _convert(styles: Sequence[StyleId], limits: ServiceLimits, *, key_required: bool) -> Json:
    options = option_schemas(styles, limits.default_size)
    return {
        "operationId": "convert",
        "summary": "Convert a picture",
        "description": f"At most {limits.max_upload_mib} MiB and {limits.max_megapixels} megapixels; of moving pictures"
        " the first frame. Options may come in the query or as form fields; where both name one, the form field counts."
        " An empty value counts as none.",
        "security": [*([] if key_required else [{}]), {"bearer": []}, {"key": []}],
        "parameters": [*(_query_option(name, options[name]) for name in OPTION_NAMES), _language_parameter()],
        "requestBody": _request_body(options),
        "responses": {"200": _picture(), **_problems(_convert_errors())},
    }


def _query_option(name: str, schema: Json) -> Json:
    described = {"name": name, "in": "query", "description": _OPTION_TEXTS[name]}
    return described | {"allowEmptyValue": True, "schema": schema}


def _language_parameter() -> Json:
    return {
        "name": "lang",
        "in": "query",
        "description": f"Language of messages: {', '.join(LANGUAGES)}. Others fall back to Accept-Language, then"
        f" {DEFAULT_LANGUAGE}.",
        "schema": {"type": "string"},
    }


def _request_body(options: Mapping[str, Json]) -> Json:
    # A form sends its empty fields too; in the query, allowEmptyValue says the same.
    described = {
        name: {"anyOf": [schema, {"const": ""}], "description": _OPTION_TEXTS[name]} for name, schema in options.items()
    }
    form = {
        "type": "object",
        "properties": {IMAGE_FIELD: _binary("The picture, as a file."), **described},
        "required": [IMAGE_FIELD],
        "additionalProperties": False,
    }
    bare = {mimetype: {"schema": _binary("The picture itself.")} for mimetype in UPLOAD_MIMETYPES}
    return {"required": True, "content": {"multipart/form-data": {"schema": form}, **bare}}


def _binary(description: str) -> Json:
    return {"type": "string", "format": "binary", "description": description}


def _picture() -> Json:
    picture = {"schema": _binary("The anime picture: sRGB, no metadata.")}
    page = {"text/html": {"schema": {"type": "string", "description": "The picture in a page, for a browser's form."}}}
    names = ("Content-Disposition", "Server-Timing", "X-Style", "X-Faces", "X-Size", "X-Notice", CACHE_HEADER)
    return {
        "description": "The picture.",
        "headers": _header_references(*names, "X-Request-Id"),
        "content": {**dict.fromkeys(MIMETYPES.values(), picture), **page},
    }


def _convert_errors() -> list[type[AnimeBoothError]]:
    elsewhere = {"not-found", "method-not-allowed", "forbidden"}
    return [error for error in public_errors() if error.code not in elsewhere]


def _problems(errors: Sequence[type[AnimeBoothError]]) -> Json:
    statuses = sorted({error.status for error in errors})
    return {str(status): _problem_response(status, [e for e in errors if e.status == status]) for status in statuses}


def _problem_response(status: int, errors: Sequence[type[AnimeBoothError]]) -> Json:
    codes = [error.code for error in errors]
    schema = {"allOf": [{"$ref": "#/components/schemas/Problem"}, {"properties": {"code": {"enum": codes}}}]}
    names = ["X-Request-Id", *(["Retry-After"] if status in (429, 503) else [])]
    return {
        "description": f"{_STATUS_TEXTS[status]} Codes: {', '.join(codes)}.",
        "headers": _header_references(*names),
        "content": {PROBLEM_JSON: {"schema": schema}, "text/html": {"schema": {"type": "string"}}},
    }


def _get_styles() -> Json:
    return _get("styles", "List the styles", "Every style with its licence, and what the options may be.", "Catalogue")


def _get_queue() -> Json:
    meaning = "How many wait and work, and where the conversion is that came with the `X-Request-Id` of `id`."
    operation = _get("queue", "How full is it, and where am I?", meaning, "Queue")
    operation["parameters"] = [
        {
            "name": "id",
            "in": "query",
            "description": "The `X-Request-Id` that a request to /convert was sent with.",
            "allowEmptyValue": True,
            "schema": {"anyOf": [{"type": "string", "pattern": f"^{REQUEST_ID_PATTERN}$"}, {"const": ""}]},
        }
    ]
    operation["responses"] |= _problems([InvalidOption])
    return operation


def _get_healthz() -> Json:
    return _get("healthz", "Is the process alive?", "Always 200.", "Health")


def _get_openapi() -> Json:
    return _get("openapi", "This description", "OpenAPI 3.1.", None)


def _get_readyz() -> Json:
    meaning = "200 once the default style is loaded; tells why faces are off."
    operation = _get("readyz", "Can it convert?", meaning, "Status")
    operation["responses"]["503"] = operation["responses"]["200"] | {
        "description": "Still starting, or failed.",
        "headers": _header_references("X-Request-Id", "Retry-After"),
    }
    return operation


def _get_metrics() -> Json:
    operation = _owners("metrics", "Metrics for Prometheus", "What was counted and measured, of all processes.", None)
    text = {"schema": {"type": "string"}}
    operation["responses"]["200"]["content"] = {"text/plain": text, "application/openmetrics-text": text}
    return operation


def _get_status() -> Json:
    operation = _owners(
        "status", "How the service is doing", "Figures since the start, and of the last hour.", "Report"
    )
    operation["responses"]["200"]["content"]["text/html"] = {"schema": {"type": "string"}}
    return operation | {"parameters": [_language_parameter()]}


def _owners(operation: str, summary: str, description: str, schema: str | None) -> Json:
    """A route for the owner: open to the machine itself, elsewhere with the key."""
    described = _get(
        operation, summary, f"{description} Open to the machine itself; elsewhere it asks for the key.", schema
    )
    described["responses"] |= _problems([Unauthorized, Forbidden, RateLimited])
    return described | {"security": [{}, {"bearer": []}, {"key": []}]}


def _get(operation: str, summary: str, description: str, schema: str | None) -> Json:
    content = {"$ref": f"#/components/schemas/{schema}"} if schema else {"type": "object"}
    return {
        "operationId": operation,
        "summary": summary,
        "description": description,
        "responses": {
            "200": {
                "description": description,
                "headers": _header_references("X-Request-Id"),
                "content": {"application/json": {"schema": content}},
            }
        },
    }


def _header_references(*names: str) -> Json:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


def _headers() -> Json:
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


def _security_schemes() -> Json:
    return {
        "bearer": {"type": "http", "scheme": "bearer", "description": "Only where the service has a key set."},
        "key": {"type": "apiKey", "in": "header", "name": "X-API-Key", "description": "The same key."},
    }


def _schemas(styles: Sequence[StyleId]) -> Json:
    return {
        "Problem": _problem_schema(),
        "Catalogue": _catalogue_schema(styles),
        "Style": _style_schema(styles),
        "Queue": _queue_schema(),
        "Health": _object({"status": {"const": "ok"}}),
        "Status": _status_schema(),
        "Report": _report_schema(),
    }


def _object(properties: Json, *, optional: Sequence[str] = ()) -> Json:
    return {"type": "object", "properties": properties, "required": [n for n in properties if n not in optional]}


def _problem_schema() -> Json:
    errors = list(public_errors())
    schema = _object(
        {
            "type": {"type": "string", "format": "uri-reference", "description": "Where the problem is explained."},
            "title": {"type": "string", "description": "The code in English words."},
            "status": {"type": "integer", "description": "The HTTP status."},
            "detail": {"type": "string", "description": "A sentence for people, in their language."},
            "code": {"enum": [error.code for error in errors], "description": "Stable; what a program asks for."},
            "request_id": {"type": "string"},
        }
    )
    return schema | {
        "description": "RFC 9457. The fields of the sentence follow as further members: option, value, allowed, …",
        "x-errors": [_error(error) for error in errors],
    }


def _error(error: type[AnimeBoothError]) -> Json:
    return {
        "code": error.code,
        "status": error.status,
        "type": problem_type(error.code),
        "title": problem_title(error.code),
        "sentence": error.sentences[DEFAULT_LANGUAGE],
        "meaning": (error.__doc__ or "").strip(),
    }


def _catalogue_schema(styles: Sequence[StyleId]) -> Json:
    return _object(
        {
            "default_style": {"enum": list(styles)},
            "styles": {"type": "array", "items": {"$ref": "#/components/schemas/Style"}},
            "options": {"type": "object", "description": "What each option may be."},
            "limits": {"type": "object", "description": "Sides in pixels, deadline in seconds."},
        }
    )


def _style_schema(styles: Sequence[StyleId]) -> Json:
    words = _object({language: {"type": "string"} for language in LANGUAGES})
    return _object(
        {
            "id": {"enum": list(styles)},
            "title": words,
            "description": words,
            "kind": {"enum": ["scene", "face"], "description": "What it draws best."},
            "surroundings": {"type": ["string", "null"], "description": "The style outside the faces."},
            "licence": _object({"id": {"type": "string"}, "sentence": {"type": "string"}}),
            "commercial": {"type": "boolean", "description": "Whether commercial use is allowed."},
            "source": {"type": ["string", "null"], "format": "uri", "description": "Where the weights are from."},
            "state": {"enum": ["ready", "available", "unavailable"]},
            "reason": {"type": ["string", "null"], "description": "Why it is unavailable."},
        }
    )


def _queue_schema() -> Json:
    seconds = {"type": "number", "minimum": 0}
    count = {"type": "integer", "minimum": 0}
    place = _object(
        {
            "state": {"enum": list(get_args(State))},
            "before": count | {"description": "How many are served before it."},
            "seconds": seconds | {"description": "Until it should be done."},
        }
    )
    return _object(
        {
            "waiting": count | {"description": "Conversions whose turn has not come."},
            "working": count | {"description": "Conversions under way."},
            "seconds": seconds | {"description": "Until all of them should be done."},
            "request": {
                "anyOf": [place, {"type": "null"}],
                "description": "The conversion of that id; null where it is not here, not yet or no more.",
            },
        }
    )


def _status_schema() -> Json:
    return _object(
        {
            "status": {"enum": ["starting", "ready", "failed"]},
            "reason": {"type": ["string", "null"], "description": "Why it failed."},
            "styles": {"type": "object", "additionalProperties": {"type": "string"}},
            "faces": {"type": "string", "description": "`ready`, `starting`, or `off: why`."},
        }
    )


def _report_schema() -> Json:
    counts = {"type": "object", "additionalProperties": {"type": "integer", "minimum": 0}}
    seconds = {"type": ["number", "null"], "minimum": 0}
    whole = {"type": "integer", "minimum": 0}
    return _object(
        {
            "mood": {"enum": list(get_args(Mood)), "description": "All of it in one word."},
            "status": {"enum": ["starting", "ready", "failed"]},
            "reason": {"type": ["string", "null"]},
            "faces": {"type": "string"},
            "version": {"type": "string"},
            "uptime_seconds": seconds,
            "now": _object({"waiting": whole, "under_way": whole, "memory_bytes": whole}),
            "pictures": _object(
                {
                    "total": whole,
                    "typical_seconds": seconds | {"description": "Half took at most that."},
                    "slow_seconds": seconds | {"description": "95 of 100 took at most that."},
                    "by_style": counts,
                    "stage_seconds": {
                        "type": "object",
                        "description": "Mean in each.",
                        "additionalProperties": seconds,
                    },
                    "in_each_run": {"type": ["number", "null"], "description": "Mean of pictures in a network's run."},
                }
            ),
            "answers": counts | {"description": "To requests for a picture, by HTTP status."},
            "rejected": counts | {"description": "By the code of their error, or what the server saw of the client."},
            "refused": counts | {"description": "By what was full."},
            "cache": _object(
                {
                    "asked": counts,
                    "share": {"type": ["number", "null"], "minimum": 0, "maximum": 1},
                    "bytes": whole,
                    "hit_seconds": seconds,
                }
            ),
            "last_hour": {
                "type": "array",
                "minItems": KEPT_MINUTES,
                "maxItems": KEPT_MINUTES,
                "description": "Minute by minute, the oldest first.",
                "items": {"type": "object"},
            },
            "processes": {"type": "array", "items": {"type": "object"}},
        }
    )
