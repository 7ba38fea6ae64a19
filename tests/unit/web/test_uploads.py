"""What one request brings: a picture by form or as the body, its options, and everything that can be wrong with it."""

import tracemalloc
from base64 import b64encode
from io import BytesIO
from typing import Any

import pytest
from flask import Flask
from werkzeug import formparser
from werkzeug.datastructures import MultiDict

from app import errors
from app.options import parse_options
from app.web.uploads import (
    FRAMING_BYTES,
    MAX_FORM_PARTS,
    Upload,
    UploadRequest,
    body_limit,
    given_options,
    merged_options,
    read_upload,
)
from tests.unit.web.service import PHOTO

MIB = 1024 * 1024
BOUNDARY = "multipart/form-data; boundary=line"
URLENCODED = "application/x-www-form-urlencoded"
CHUNKED = {"wsgi.input_terminated": True, "HTTP_TRANSFER_ENCODING": "chunked"}


@pytest.fixture(scope="module")
def app() -> Flask:
    app = Flask(__name__)
    app.request_class = UploadRequest
    app.config.update(MAX_CONTENT_LENGTH=body_limit(1), MAX_FORM_MEMORY_SIZE=None, MAX_FORM_PARTS=MAX_FORM_PARTS)
    return app


def read(app: Flask, **request: Any) -> Upload:
    with app.test_request_context("/convert", method="POST", **request) as context:
        return read_upload(context.request)


def file(data: bytes = PHOTO, name: str = "me.png") -> tuple[BytesIO, str]:
    return BytesIO(data), name


def multipart(part: str) -> str:
    """A body of one part: its parameters, a blank line and its content."""
    return f"--line\r\nContent-Disposition: form-data; {part}\r\n--line--\r\n"


def test_a_form_brings_the_picture_its_name_and_options(app: Flask) -> None:
    upload = read(app, data={"image": file(), "size": "512"})
    assert upload == Upload(PHOTO, "me.png", {"size": "512"})


@pytest.mark.parametrize("as_form", [True, False], ids=["form", "body"])
def test_of_a_picture_that_waits_there_is_one_copy(app: Flask, as_form: bool) -> None:
    picture = bytes(900_000)
    head, foot = multipart('name="image"; filename="me.png"\r\n\r\n').encode().split(b"\r\n--line--")
    body = head + picture + b"\r\n--line--" + foot if as_form else picture
    sent = {"input_stream": BytesIO(body), "content_type": BOUNDARY if as_form else "image/png"}
    with app.test_request_context("/convert", method="POST", content_length=len(body), **sent) as context:
        tracemalloc.start()
        upload = read_upload(context.request)
        held, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert upload.data == picture
    assert len(picture) <= held < 1.5 * len(picture)


@pytest.mark.parametrize("content_type", ["image/jpeg", "application/octet-stream", "text/plain", None])
def test_any_other_body_is_the_picture(app: Flask, content_type: str | None) -> None:
    assert read(app, data=PHOTO, content_type=content_type) == Upload(PHOTO, "", {})


@pytest.mark.parametrize("start", [b"\xff\xd8\xff", b"\x89PNG\r\n", b"GIF89a\x01\x00", b"RIFF\x24\x00", b"BM\x36\x00"])
def test_curl_need_not_name_a_content_type(app: Flask, start: bytes) -> None:
    picture = start + PHOTO
    assert read(app, data=picture, content_type=URLENCODED).data == picture


@pytest.mark.parametrize(
    ("request_", "error"),
    [
        ({}, errors.MissingImage),
        ({"data": b"", "content_type": "image/png"}, errors.EmptyImage),
        ({"data": {"size": "512"}}, errors.MissingImage),
        ({"data": {"size": "512"}, "content_type": BOUNDARY}, errors.MissingImage),
        ({"data": {"photo": file()}}, errors.MissingImage),
        ({"data": {"image": file(b"")}}, errors.EmptyImage),
        ({"data": {"image": file(b"", "")}}, errors.MissingImage),
        ({"data": {"image": file(), "picture": file()}}, errors.TooManyImages),
        ({"data": {"image": [file(), file()]}}, errors.TooManyImages),
        ({"data": {"image": "iVBORw0KGgo="}}, errors.ImageInTextField),
        ({"data": {"image": "iVBORw0KGgo="}, "content_type": BOUNDARY}, errors.ImageInTextField),
        ({"data": b"size=512&image=iVBORw", "content_type": URLENCODED}, errors.ImageInTextField),
        ({"data": b"no form", "content_type": BOUNDARY}, errors.BadRequest),
        ({"data": b"no boundary", "content_type": "multipart/form-data"}, errors.BadRequest),
        ({"data": {f"field{n}": "x" for n in range(100)}, "content_type": BOUNDARY}, errors.BadRequest),
        ({"data": b"\0" * (MIB + FRAMING_BYTES + 1)}, errors.FileTooLarge),
        ({"data": b"cut off", "environ_overrides": {"CONTENT_LENGTH": "1000"}}, errors.BadRequest),
    ],
)
def test_what_is_wrong_is_said(app: Flask, request_: dict[str, Any], error: type[errors.AnimeBoothError]) -> None:
    with pytest.raises(error):
        read(app, **request_)


@pytest.mark.parametrize("content_type", [BOUNDARY, URLENCODED])
def test_a_large_picture_as_text_is_told_to_come_as_a_file(app: Flask, content_type: str) -> None:
    text = b64encode(b"\0" * 525_000).decode()
    assert len(text) == 700_000
    body = f"image={text}" if content_type == URLENCODED else multipart(f'name="image"\r\n\r\n{text}')
    with pytest.raises(errors.ImageInTextField):
        read(app, data=body, content_type=content_type)


def test_a_camera_field_left_empty_beside_a_file_is_no_second_picture(app: Flask) -> None:
    assert read(app, data={"image": [file(b"", ""), file()]}).data == PHOTO


@pytest.mark.parametrize("content_type", [BOUNDARY, "image/png", URLENCODED])
def test_a_chunked_body_is_limited_while_it_is_read(app: Flask, content_type: str) -> None:
    endless = _Endless()
    with pytest.raises(errors.FileTooLarge) as refused:
        read(app, input_stream=endless, environ_overrides=CHUNKED, content_type=content_type)
    assert refused.value.fields == {"limit_mib": 1}
    assert endless.given <= body_limit(1) + MIB


def test_a_body_that_breaks_off_in_an_error_of_the_server_is_a_bad_request(app: Flask) -> None:
    class Broken(BytesIO):
        def readinto(self, buffer: object) -> int:
            raise KeyError("malformed chunk")

        read = readinto  # type: ignore[assignment]

    with pytest.raises(errors.BadRequest):
        read(app, input_stream=Broken(), environ_overrides=CHUNKED, content_type="image/png")


def test_uploads_stay_in_memory(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_file(*_: object, **__: object) -> None:
        raise AssertionError("an upload went to the disk")

    monkeypatch.setattr(formparser, "SpooledTemporaryFile", no_file)
    large = "x" * 900_000
    part = f'name="image"; filename="me.png"\r\n\r\n{large}'
    assert read(app, data=multipart(part), content_type=BOUNDARY).data == large.encode()


def test_an_option_given_twice_alike_is_one() -> None:
    assert given_options(MultiDict([("size", "512"), ("size", ""), ("size", "512")])) == {"size": "512"}


@pytest.mark.parametrize("name", ["style", "face", "size", "strength", "format", "quality"])
def test_an_option_given_twice_differently_becomes_a_value_that_it_does_not_take(name: str) -> None:
    values = {"style": "hayao cute", "face": "auto off", "format": "png jpeg"}.get(name, "70 64").split()
    with pytest.raises(errors.InvalidOption) as refused:
        parse_options(given_options(MultiDict([(name, value) for value in values])), ["hayao", "cute"])
    assert refused.value.fields["option"] == name
    assert refused.value.fields["value"] == ", ".join(values)


def test_a_form_goes_before_the_query() -> None:
    query, fields = {"size": "512", "style": "cute", "face": "off"}, {"size": "768", "style": "", "colour": ""}
    assert merged_options(query, fields) == {"size": "768", "style": "cute", "face": "off", "colour": ""}


def test_the_language_and_the_picture_are_no_options() -> None:
    assert given_options(MultiDict([("lang", "ja"), ("image", ""), ("colour", "red")])) == {"colour": "red"}


class _Endless(BytesIO):
    """A form whose first part never ends; as a body on its own, a picture that never does."""

    def __init__(self) -> None:
        super().__init__(b'--line\r\nContent-Disposition: form-data; name="image"; filename="me.png"\r\n\r\n')
        self.given = 0

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        self.given += len(buffer)
        return super().readinto(buffer) or len(buffer)
