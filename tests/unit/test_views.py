"""The routes: what they answer, in which form and with which headers."""

import re
from io import BytesIO
from typing import Any

import numpy as np
import pytest
from PIL import Image

from app.conversion import Result
from app.deadline import Deadline
from app.engine import Engine
from app.errors import DeadlineExceeded
from app.imaging.decode import DecodeLimits
from app.options import ConvertOptions
from tests.unit.stubs import FixedDetector, Workshop, case, face_at, parts, photo, png, started
from tests.unit.web.service import BROWSER, PHOTO, client, form, problem, send

SERVICE = client()


def picture(data: bytes) -> Image.Image:
    return Image.open(BytesIO(data))


def test_a_form_is_answered_with_the_picture_and_what_was_done() -> None:
    response = send(SERVICE, style="hayao", size="64")
    assert response.status_code == 200
    assert response.content_type == "image/png"
    assert picture(response.data).size == (64, 43)
    assert int(response.headers["Content-Length"]) == len(response.data)
    assert response.headers["Content-Disposition"] == 'attachment; filename="me-hayao.png"'
    assert response.headers["X-Style"] == "hayao"
    assert response.headers["X-Faces"] == "0"
    assert response.headers["X-Size"] == "64x43"
    assert response.headers["Cache-Control"] == "private, no-store"


def test_a_body_is_answered_like_a_form() -> None:
    by_body = SERVICE.post("/convert?style=hayao", data=PHOTO, content_type="image/png")
    assert by_body.data == send(SERVICE, style="hayao").data
    assert by_body.headers["Content-Disposition"] == 'attachment; filename="photo-hayao.png"'


def test_the_time_of_each_stage_is_told_in_milliseconds() -> None:
    timing = send(SERVICE).headers["Server-Timing"]
    stages = re.findall(r"(\w+);dur=([0-9]+\.[0-9])(?:, |$)", timing)
    assert [name for name, _ in stages] == ["decode", "face", "infer", "blend", "encode", "total"]
    spent = {name: float(duration) for name, duration in stages}
    assert spent["total"] >= max(spent["infer"], spent["encode"]) > 0


def test_what_the_sender_should_know_is_told() -> None:
    assert send(SERVICE).headers["X-Notice"] == "faces-off"
    assert "X-Notice" not in send(SERVICE, face="off").headers
    with_face = client(started(detector=FixedDetector([face_at(20, 10, 40)])))
    response = send(with_face)
    assert (response.headers["X-Faces"], response.headers.get("X-Notice")) == ("1", None)


def test_the_same_upload_gives_the_same_bytes() -> None:
    assert len({send(SERVICE, strength="70").data for _ in range(3)}) == 1


@pytest.mark.parametrize(
    ("accept", "options", "expected"),
    [
        ("", {}, "image/png"),
        ("*/*", {}, "image/png"),
        ("image/*", {}, "image/png"),
        ("image/jpeg;q=0.5, image/webp", {}, "image/webp"),
        ("image/webp", {"format": "jpeg"}, "image/jpeg"),
        ("image/jxl", {}, "image/png"),
    ],
)
def test_the_format_comes_from_the_option_else_accept_else_the_upload(
    accept: str, options: dict[str, str], expected: str
) -> None:
    response = SERVICE.post("/convert", data=form(**options), headers={"Accept": accept} if accept else {})
    assert response.content_type == expected
    assert picture(response.data).get_format_mimetype() == expected
    assert "Accept" in response.vary


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("自.jpg", "attachment; filename=\"photo-hayao.png\"; filename*=UTF-8''%E8%87%AA-hayao.png"),
        ("../../etc/x.jpg", 'attachment; filename="x-hayao.png"'),
        ("n" * 300 + ".jpg", f'attachment; filename="{"n" * 120}-hayao.png"'),
    ],
)
def test_awkward_names_come_back_safe(name: str, expected: str) -> None:
    response = send(SERVICE, name=name)
    assert response.status_code == 200
    assert response.headers["Content-Disposition"] == expected


@pytest.mark.parametrize(
    ("options", "option", "allowed"),
    [
        ({"style": "picasso"}, "style", "hayao, cute, portrait"),
        ({"size": "63"}, "size", "64 to 4096, original"),
        ({"strength": "101"}, "strength", "0 to 100"),
        ({"format": "gif"}, "format", "png, jpeg, webp, avif"),
        ({"face": "maybe"}, "face", "auto, off, only"),
        ({"quality": "0"}, "quality", "1 to 100"),
    ],
)
def test_a_wrong_option_is_named_with_what_is_allowed(options: dict[str, str], option: str, allowed: str) -> None:
    response = send(SERVICE, **options)
    assert response.status_code == 400
    document = problem(response)
    assert (document["code"], document["option"], document["allowed"]) == ("invalid-option", option, allowed)
    assert option in document["detail"]


def test_an_unknown_option_is_named_with_those_there_are() -> None:
    document = problem(send(SERVICE, colour="red"))
    assert (document["status"], document["code"], document["option"]) == (400, "unknown-option", "colour")
    assert document["allowed"] == "style, face, size, strength, format, quality"


def test_a_form_goes_before_the_query_but_both_must_be_right() -> None:
    assert SERVICE.post("/convert?size=64", data=form(size="80")).headers["X-Size"] == "80x53"
    assert SERVICE.post("/convert?size=64", data=form(size="")).headers["X-Size"] == "64x43"
    assert problem(SERVICE.post("/convert?size=1", data=form(size="80")))["value"] == "1"


def test_a_wrong_query_is_refused_before_the_body_is_read() -> None:
    response = SERVICE.post("/convert?size=1", input_stream=Unread(), content_type="image/png")
    assert problem(response)["code"] == "invalid-option"


def test_a_browser_without_script_gets_a_page_with_the_picture() -> None:
    response = SERVICE.post("/convert?lang=ja", data=form(name="自撮り.png"), headers={"Accept": BROWSER})
    assert response.status_code == 200
    assert response.content_type == "text/html; charset=utf-8"
    assert response.headers["Cache-Control"] == "private, no-store"
    assert response.headers["Content-Language"] == "ja"
    assert 'lang="ja"' in response.text
    assert "data:image/png;base64," in response.text
    assert "自撮り-hayao.png" in response.text


def test_as_many_as_are_inside_may_be_and_no_more() -> None:
    class Busy(Engine):
        """While it converts one picture, another one comes."""

        def convert_with(
            self, data: bytes, options: ConvertOptions, deadline: Deadline | None = None, name: str = ""
        ) -> Result:
            second.append(send(service))
            return super().convert_with(data, options)

    engine = Busy(parts())
    engine.start(warm=False)
    second: list[Any] = []
    service = client(engine, max_requests=1)
    assert send(service).status_code == 200
    assert second[0].status_code == 503
    assert problem(second[0])["code"] == "overloaded"
    assert int(second[0].headers["Retry-After"]) > 0
    assert send(service).status_code == 200


def test_an_overloaded_server_refuses_without_reading() -> None:
    response = SERVICE.post("/convert", input_stream=Unread(), environ_overrides={"animebooth.overloaded": True})
    assert problem(response)["code"] == "overloaded"


def test_a_body_over_the_limit_is_refused_unread() -> None:
    announced = {"CONTENT_LENGTH": str(17 * 2**20)}
    response = SERVICE.post("/convert", input_stream=Unread(), environ_overrides=announced, content_type="image/jpeg")
    assert response.status_code == 413
    assert problem(response)["limit_mib"] == 16


def test_a_picture_just_over_the_limit_is_refused() -> None:
    service = client(started(limits=DecodeLimits(max_bytes=2**20)), max_upload_mib=1)
    response = service.post("/convert", data=PHOTO + b"\0" * 2**20, content_type="image/png")
    assert problem(response)["code"] == "file-too-large"


def test_the_deadline_counts_from_the_arrival() -> None:
    given: list[Deadline] = []

    class Timed(Engine):
        def convert_with(
            self, data: bytes, options: ConvertOptions, deadline: Deadline | None = None, name: str = ""
        ) -> Result:
            assert deadline is not None
            given.append(deadline)
            raise DeadlineExceeded(seconds=deadline.seconds)

    engine = Timed(parts())
    engine.start(warm=False)
    response = client(engine, deadline=7.5).post("/convert", data=form(), environ_overrides={"animebooth.arrived": 0.0})
    assert (problem(response)["code"], response.status_code) == ("deadline-exceeded", 503)
    assert given[0].seconds == 7.5
    assert given[0].remaining() == 0


def test_an_upload_that_is_no_picture_is_told_so() -> None:
    assert problem(send(SERVICE, b"hello", "me.jpg"))["code"] == "unsupported-image"
    assert problem(send(SERVICE, case("trunc_60pct.jpg")))["code"] == "broken-image"


def test_the_styles_come_with_licence_options_and_limits() -> None:
    answer = SERVICE.get("/styles").get_json()
    assert answer["default_style"] == "hayao"
    assert [style["id"] for style in answer["styles"]] == ["hayao", "cute", "portrait"]
    for style in answer["styles"]:
        assert set(style["title"]) == set(style["description"]) == {"en", "zh", "ja"}
        assert style["licence"]["id"]
        assert style["commercial"] is False
        assert style["source"].startswith("https://")
        assert style["state"] in ("ready", "available")
        assert style["reason"] is None
        assert style["variant"] == "fp32"
    assert [style["face"] for style in answer["styles"]] == ["auto", "auto", "only"]
    assert answer["options"]["size"] == {"min": 64, "max": 4096, "default": 768, "words": ["original"]}
    assert answer["limits"]["max_upload_mib"] == 16


def test_an_unavailable_style_says_why() -> None:
    service = client(started(Workshop(failing={"cute"}), default_style="cute"))
    cute = next(style for style in service.get("/styles").get_json()["styles"] if style["id"] == "cute")
    assert (cute["state"], cute["reason"]) == ("unavailable", "Style cute: it is broken.")


def test_alive_is_not_ready() -> None:
    service = client(_NeverStarted(parts()))
    assert service.get("/healthz").status_code == 200
    unready = service.get("/readyz")
    assert unready.status_code == 503
    assert unready.get_json()["status"] == "starting"
    assert unready.headers["Retry-After"] == "2"


def test_ready_says_how_styles_and_faces_are() -> None:
    ready = SERVICE.get("/readyz")
    assert ready.status_code == 200
    assert ready.get_json() == {
        "status": "ready",
        "reason": None,
        "styles": {"hayao": "ready", "cute": "available"},
        "faces": "off: this machine has none",
    }


def test_a_failed_start_says_why() -> None:
    engine = Engine(parts(Workshop(failing={"hayao", "cute"})))
    service = client(engine)
    service.get("/healthz")
    with pytest.raises(Exception, match="broken"):
        engine.start()
    failed = service.get("/readyz")
    assert failed.status_code == 503
    assert failed.get_json()["status"] == "failed"
    assert "broken" in failed.get_json()["reason"]


def test_the_first_request_of_a_process_starts_the_engine() -> None:
    engine = Engine(parts())
    service = client(engine)
    service.get("/healthz")
    engine.start(warm=False)
    assert service.get("/readyz").status_code == 200


def test_a_conversion_waits_for_the_start() -> None:
    assert send(client(Engine(parts()))).status_code == 200


@pytest.mark.parametrize("path", ["/", "/docs"])
def test_pages_are_pages(path: str) -> None:
    response = SERVICE.get(path)
    assert response.status_code == 200
    assert response.content_type == "text/html; charset=utf-8"
    assert "<style" not in response.text
    assert not re.search(r"""\s(style|on\w+)=["']""", response.text)


@pytest.mark.parametrize(
    ("request_", "language"),
    [
        ({}, "en"),
        ({"headers": {"Accept-Language": "ja-JP, en;q=0.5"}}, "ja"),
        ({"headers": {"Accept-Language": "fr, zh-Hant;q=0.8"}}, "zh"),
        ({"query_string": {"lang": "ja"}, "headers": {"Accept-Language": "zh"}}, "ja"),
        ({"query_string": {"lang": "xx"}, "headers": {"Accept-Language": "zh"}}, "zh"),
    ],
)
def test_the_page_speaks_the_visitors_language(request_: dict[str, Any], language: str) -> None:
    response = client().get("/", **request_)
    assert f'<html lang="{language}"' in response.text
    assert response.headers["Content-Language"] == language
    assert {"Accept-Language", "Cookie"} <= set(response.vary)


def test_a_language_chosen_by_hand_is_remembered() -> None:
    service = client()
    service.get("/?lang=ja")
    assert '<html lang="ja"' in service.get("/").text
    assert "画像" in problem(service.post("/convert"))["detail"]


def test_the_limits_reach_the_page() -> None:
    page = client(max_upload_mib=5).get("/").text
    assert "5 MiB" in page


@pytest.mark.parametrize("path", ["/styles", "/openapi.json"])
def test_what_seldom_changes_is_asked_for_again_cheaply(path: str) -> None:
    first = SERVICE.get(path)
    assert first.headers["Cache-Control"] == "no-cache"
    again = SERVICE.get(path, headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")


def test_a_transparent_png_keeps_its_transparency() -> None:
    rgb = photo(70, 70)
    assert picture(send(SERVICE, png(np.dstack([rgb, rgb[..., 0]]))).data).mode == "RGBA"


class Unread(BytesIO):
    def read(self, *_: object) -> bytes:
        raise AssertionError("the body was read")

    readinto = read  # type: ignore[assignment]


class _NeverStarted(Engine):
    def start_in_background(self) -> None:
        """Stays as it is."""
