"""The schemas of what the service answers with in JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from app.admission.desk import State
from app.errors import AnimeBoothError
from app.i18n import DEFAULT_LANGUAGE, LANGUAGES
from app.options import FACE_MODES
from app.telemetry.minutes import KEPT_MINUTES
from app.types import StyleId
from app.web.openapi.parts import Json, object_schema
from app.web.problems import problem_title, problem_type, public_errors
from app.web.report import Mood


def schema_components(styles: Sequence[StyleId]) -> Json:
    """All of them, by the names that operations refer to."""
    return {
        "Problem": _problem_schema(),
        "Catalogue": _catalogue_schema(styles),
        "Style": _style_schema(styles),
        "Queue": _queue_schema(),
        "Health": object_schema({"status": {"const": "ok"}}),
        "Status": _status_schema(),
        "Report": _report_schema(),
    }


def _problem_schema() -> Json:
    errors = list(public_errors())
    schema = object_schema(
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
    return object_schema(
        {
            "default_style": {"enum": list(styles)},
            "styles": {"type": "array", "items": {"$ref": "#/components/schemas/Style"}},
            "options": {"type": "object", "description": "What each option may be."},
            "limits": {"type": "object", "description": "Sides in pixels, deadline in seconds."},
        }
    )


def _style_schema(styles: Sequence[StyleId]) -> Json:
    words = object_schema({language: {"type": "string"} for language in LANGUAGES})
    return object_schema(
        {
            "id": {"enum": list(styles)},
            "title": words,
            "description": words,
            "kind": {"enum": ["scene", "face"], "description": "What it draws best."},
            "surroundings": {"type": ["string", "null"], "description": "The style outside the faces."},
            "face": {"enum": list(FACE_MODES), "description": "What `face` is where a request leaves it open."},
            "licence": object_schema({"id": {"type": "string"}, "sentence": {"type": "string"}}),
            "commercial": {"type": "boolean", "description": "Whether commercial use is allowed."},
            "source": {"type": ["string", "null"], "format": "uri", "description": "Where the weights are from."},
            "variant": {"type": "string", "description": "Its weights in use, such as `fp32` or `small`."},
            "state": {"enum": ["ready", "available", "unavailable"]},
            "reason": {"type": ["string", "null"], "description": "Why it is unavailable."},
        }
    )


def _queue_schema() -> Json:
    seconds = {"type": "number", "minimum": 0}
    count = {"type": "integer", "minimum": 0}
    place = object_schema(
        {
            "state": {"enum": list(get_args(State))},
            "before": count | {"description": "How many are served before it."},
            "seconds": seconds | {"description": "Until it should be done."},
        }
    )
    return object_schema(
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
    return object_schema(
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
    return object_schema(
        {
            "mood": {"enum": list(get_args(Mood)), "description": "All of it in one word."},
            "status": {"enum": ["starting", "ready", "failed"]},
            "reason": {"type": ["string", "null"]},
            "faces": {"type": "string"},
            "version": {"type": "string"},
            "uptime_seconds": seconds,
            "now": object_schema({"waiting": whole, "under_way": whole, "memory_bytes": whole}),
            "pictures": object_schema(
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
            "cache": object_schema(
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
