"""What a client would like to get: a page or data, and which picture format."""

from __future__ import annotations

from typing import Final

from werkzeug.datastructures import MIMEAccept

from app.imaging.encode import MIMETYPES
from app.types import ImageFormat

PROBLEM_JSON: Final = "application/problem+json"

_FORMATS_BY_MIMETYPE: Final[dict[str, ImageFormat]] = {
    **{mimetype: format for format, mimetype in MIMETYPES.items()},
    # Registered nowhere, yet common.
    "image/jpg": "jpeg",
}


def prefers_page(accept: MIMEAccept) -> bool:
    """True where a browser navigates: it names ``text/html`` above JSON, and no picture above ``text/html``.

    ``fetch``, curl and no Accept at all want data. A navigation of Chrome also names AVIF and WebP, no higher.
    """
    page = accept["text/html"]
    pictures = [quality for mimetype, quality in accept if mimetype.lower() in _FORMATS_BY_MIMETYPE]
    return page > accept[PROBLEM_JSON] and page >= max(pictures, default=0)


def accepted_format(accept: MIMEAccept) -> ImageFormat | None:
    """The format we write that ``accept`` names with the highest quality (the first of equals), or None.

    ``image/*`` and ``*/*`` name nothing: they leave the choice to us.
    """
    named = [(quality, _FORMATS_BY_MIMETYPE.get(mimetype.lower())) for mimetype, quality in accept]
    ours = [(quality, format) for quality, format in named if format is not None and quality > 0]
    return max(ours, key=lambda pair: pair[0])[1] if ours else None
