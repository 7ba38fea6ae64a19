"""What arrived with one request to convert: the picture's bytes, its name and the options, all kept in memory."""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from typing import IO, Final

from flask import Request
from werkzeug.datastructures import FileStorage, MultiDict
from werkzeug.exceptions import RequestEntityTooLarge
from werkzeug.formparser import FormDataParser

from app.errors import BadRequest, EmptyImage, FileTooLarge, ImageInTextField, MissingImage, TooManyImages
from app.page_text import LANGUAGE_FIELD

IMAGE_FIELD: Final = "image"
FRAMING_BYTES: Final = 64 * 1024
"""What a body may hold beyond the picture: boundaries, part headers and the options."""
MAX_FORM_PARTS: Final = 50

_MIB: Final = 1024 * 1024
_MULTIPART: Final = "multipart/form-data"
_URLENCODED: Final = "application/x-www-form-urlencoded"
_SNIFFED_BYTES: Final = 4096


class UploadRequest(Request):
    """Flask's request, whose uploads stay in memory and whose malformed forms are errors instead of empty."""

    def _get_file_stream(
        self,
        total_content_length: int | None,
        content_type: str | None,
        filename: str | None = None,
        content_length: int | None = None,
    ) -> IO[bytes]:
        return BytesIO()

    def make_form_data_parser(self) -> FormDataParser:
        """A parser that raises ValueError for a form it cannot read."""
        parser = super().make_form_data_parser()
        parser.silent = False
        return parser


@dataclass(frozen=True, slots=True)
class Upload:
    """One picture as it came.

    name: the file's name, to be used for nothing but a name; may be empty. fields: a form's options, as text.
    """

    data: bytes
    name: str
    fields: dict[str, str]


def body_limit(max_upload_mib: int) -> int:
    """Bytes a whole request body may have."""
    return max_upload_mib * _MIB + FRAMING_BYTES


def read_upload(request: Request) -> Upload:
    """Read the body of ``request`` to its end.

    A multipart form brings the picture in its field ``image``; any other body is the picture itself, whatever its
    content type says: the bytes decide later. Raises MissingImage, EmptyImage, TooManyImages, ImageInTextField,
    FileTooLarge, BadRequest.
    """
    if request.mimetype == _MULTIPART:
        form, files = _receive_form(request)
        data, name = _picture_of(form, files)
        return Upload(data, name, given_options(form))
    return Upload(_picture_body(request), "", {})


def given_options(pairs: MultiDict[str, str]) -> dict[str, str]:
    """Options as they came in a query or a form; ``image`` and ``lang`` are none.

    One given twice with different values keeps both, joined by a comma: no option takes that, so the parser names it.
    """
    joined = {name: ", ".join(dict.fromkeys(filter(None, values))) for name, values in pairs.lists()}
    return {name: value for name, value in joined.items() if name not in (IMAGE_FIELD, LANGUAGE_FIELD)}


def merged_options(query: Mapping[str, str], fields: Mapping[str, str]) -> dict[str, str]:
    """``fields`` of a form, and of ``query`` what they leave open."""
    return {**fields, **{name: value for name, value in query.items() if not fields.get(name)}}


def _receive_form(request: Request) -> tuple[MultiDict[str, str], MultiDict[str, FileStorage]]:
    with _receiving(request):
        return request.form, request.files


def _receive_bytes(request: Request) -> bytes:
    with _receiving(request):
        body = request.get_data(cache=False)
    limit = request.max_content_length
    if limit is not None and len(body) >= limit:
        # A body without a length is cut there by werkzeug, without a word.
        raise FileTooLarge(limit_mib=limit // _MIB)
    if request.content_length is not None and len(body) < request.content_length:
        raise BadRequest
    return body


@contextmanager
def _receiving(request: Request) -> Iterator[None]:
    try:
        yield
    except RequestEntityTooLarge:
        # werkzeug says the same of a body that is too long and of a form with too many parts.
        raise _too_large(request) from None
    except Exception as error:
        # Each server has its own exceptions for malformed chunks and vanished clients; PEP 3333 names none.
        raise BadRequest from error


def _too_large(request: Request) -> FileTooLarge | BadRequest:
    limit = request.max_content_length
    if limit is None or not _is_over(request, limit):
        return BadRequest()
    return FileTooLarge(limit_mib=limit // _MIB)


def _is_over(request: Request, limit: int) -> bool:
    if request.content_length is not None:
        return request.content_length > limit
    return bool(getattr(request.stream, "is_exhausted", True))


def _picture_of(form: MultiDict[str, str], files: MultiDict[str, FileStorage]) -> tuple[bytes, str]:
    # A browser sends a part without a name and content for each file field left empty.
    sent = [(field, file.filename or "", _content(file)) for field, file in files.items(multi=True)]
    sent = [(field, name, data) for field, name, data in sent if name or data]
    if any(form.getlist(IMAGE_FIELD)):
        raise ImageInTextField
    if len(sent) > 1:
        raise TooManyImages
    if not sent or sent[0][0] != IMAGE_FIELD:
        raise MissingImage
    if not sent[0][2]:
        raise EmptyImage
    return sent[0][2], sent[0][1]


def _content(file: FileStorage) -> bytes:
    # A BytesIO gives away its own memory, where reading would make a copy that lasts as long as the request.
    return file.stream.getvalue() if isinstance(file.stream, BytesIO) else file.read()


def _picture_body(request: Request) -> bytes:
    body = _receive_bytes(request)
    # curl --data-binary without a content type announces a form; a form is text, and no picture is.
    if body and request.mimetype == _URLENCODED and _is_text(body[:_SNIFFED_BYTES]):
        raise ImageInTextField if body.startswith(b"image=") or b"&image=" in body else MissingImage
    if not body:
        raise EmptyImage if request.mimetype.startswith("image/") else MissingImage
    return body


def _is_text(start: bytes) -> bool:
    try:
        return "\0" not in codecs.getincrementaldecoder("utf-8")().decode(start)
    except UnicodeDecodeError:
        return False
