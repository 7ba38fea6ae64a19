"""POST /convert, with its options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from app.errors import AnimeBoothError
from app.imaging.encode import MIMETYPES
from app.options import FACE_MODES, FORMATS, MAX_QUALITY, MAX_SIZE, MAX_STRENGTH, MIN_QUALITY, MIN_SIZE, OPTION_NAMES
from app.types import StyleId
from app.web.answers import CACHE_HEADER
from app.web.catalogue import ServiceLimits
from app.web.openapi.parts import Json, binary, header_references, language_parameter, problem_responses
from app.web.problems import public_errors
from app.web.uploads import IMAGE_FIELD

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

_OPTION_TEXTS: Final[Mapping[str, str]] = {
    "style": "Which style to draw in, by its `id` in /styles. Default: the service's own, `default_style` there.",
    "face": "`auto` draws each face on its own and blends it in, `off` draws the picture in one go, `only` answers with"
    " a square portrait of the largest face. Default: the style's own, `face` in /styles, mostly `auto`.",
    "size": "Longest side of the answer in pixels, or `original` for the upload's own size (slower). Pictures are never"
    " scaled up.",
    "strength": "Per cent of the style; the rest is the photo.",
    "format": "Format of the answer. Default: the first that Accept names (`image/*` and `*/*` name none), else the"
    " upload's kind, where HEIC becomes JPEG, and GIF, BMP and TIFF become PNG.",
    "quality": "Quality of a JPEG, WebP or AVIF. Default: a good one for each format.",
}


def convert_operation(styles: Sequence[StyleId], limits: ServiceLimits, *, key_required: bool) -> Json:
    """The operation; ``styles``: the ids that `style` may name. key_required: whether it asks for a key."""
    options = option_schemas(styles, limits.default_size)
    return {
        "operationId": "convert",
        "summary": "Convert a picture",
        "description": f"At most {limits.max_upload_mib} MiB and {limits.max_megapixels} megapixels; of moving pictures"
        " the first frame. Options may come in the query or as form fields; where both name one, the form field counts."
        " An empty value counts as none.",
        "security": [*([] if key_required else [{}]), {"bearer": []}, {"key": []}],
        "parameters": [*(_query_option(name, options[name]) for name in OPTION_NAMES), language_parameter()],
        "requestBody": _request_body(options),
        "responses": {"200": _picture(), **problem_responses(_convert_errors())},
    }


def option_schemas(styles: Sequence[StyleId], default_size: int) -> dict[str, Json]:
    """A JSON schema for each option of a conversion, by name."""
    size = {"type": "integer", "minimum": MIN_SIZE, "maximum": MAX_SIZE}
    return {
        "style": {"type": "string", "enum": list(styles)},
        "face": {"type": "string", "enum": list(FACE_MODES)},
        "size": {"anyOf": [size, {"type": "string", "const": "original"}], "default": default_size},
        "strength": {"type": "integer", "minimum": 0, "maximum": MAX_STRENGTH, "default": MAX_STRENGTH},
        "format": {"type": "string", "enum": list(FORMATS)},
        "quality": {"type": "integer", "minimum": MIN_QUALITY, "maximum": MAX_QUALITY},
    }


def _query_option(name: str, schema: Json) -> Json:
    described = {"name": name, "in": "query", "description": _OPTION_TEXTS[name]}
    return described | {"allowEmptyValue": True, "schema": schema}


def _request_body(options: Mapping[str, Json]) -> Json:
    # A form sends its empty fields too; in the query, allowEmptyValue says the same.
    described = {
        name: {"anyOf": [schema, {"const": ""}], "description": _OPTION_TEXTS[name]} for name, schema in options.items()
    }
    form = {
        "type": "object",
        "properties": {IMAGE_FIELD: binary("The picture, as a file."), **described},
        "required": [IMAGE_FIELD],
        "additionalProperties": False,
    }
    bare = {mimetype: {"schema": binary("The picture itself.")} for mimetype in UPLOAD_MIMETYPES}
    return {"required": True, "content": {"multipart/form-data": {"schema": form}, **bare}}


def _picture() -> Json:
    picture = {"schema": binary("The anime picture: sRGB, no metadata.")}
    page = {"text/html": {"schema": {"type": "string", "description": "The picture in a page, for a browser's form."}}}
    names = ("Content-Disposition", "Server-Timing", "X-Style", "X-Faces", "X-Size", "X-Notice", CACHE_HEADER)
    return {
        "description": "The picture.",
        "headers": header_references(*names, "X-Request-Id"),
        "content": {**dict.fromkeys(MIMETYPES.values(), picture), **page},
    }


def _convert_errors() -> list[type[AnimeBoothError]]:
    elsewhere = {"not-found", "method-not-allowed", "forbidden"}
    return [error for error in public_errors() if error.code not in elsewhere]
