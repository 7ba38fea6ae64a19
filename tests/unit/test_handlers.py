"""Every error in one form, in the reader's language, without traces; the headers every answer carries."""

import json
import logging
from typing import Any

import pytest

from app.conversion import Result
from app.deadline import Deadline
from app.engine import Engine
from app.errors import ModelError
from app.options import ConvertOptions
from app.web.headers import SECURITY_HEADERS
from tests.unit.stubs import parts
from tests.unit.web.service import BROWSER, client, form, problem, send

SERVICE = client()


def failing(error: Exception) -> Engine:
    class Failing(Engine):
        def convert_with(
            self, data: bytes, options: ConvertOptions, deadline: Deadline | None = None, name: str = ""
        ) -> Result:
            raise error

    engine = Failing(parts())
    engine.start(warm=False)
    return engine


def test_a_problem_has_the_members_of_rfc_9457_and_ours() -> None:
    response = SERVICE.post("/convert", data=form(size="1"), headers={"X-Request-Id": "abc-1"})
    document = problem(response)
    assert document == {
        "type": "/docs#error-invalid-option",
        "title": "Invalid option",
        "status": 400,
        "detail": "Option “size” cannot be “1”. Allowed: 64 to 4096, original.",
        "code": "invalid-option",
        "request_id": "abc-1",
        "option": "size",
        "value": "1",
        "allowed": "64 to 4096, original",
    }
    assert response.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize(
    ("accept_language", "language", "word"),
    [("ja", "ja", "画像"), ("zh-CN, en;q=0.1", "zh", "图片"), ("fr", "en", "picture"), ("", "en", "picture")],
)
def test_the_sentence_is_in_the_readers_language(accept_language: str, language: str, word: str) -> None:
    response = client().post("/convert", headers={"Accept-Language": accept_language} if accept_language else {})
    assert word in problem(response)["detail"]
    assert response.headers["Content-Language"] == language
    assert {"Accept", "Accept-Language", "Cookie"} <= set(response.vary)


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/nowhere", 404, "not-found"),
        ("POST", "/nowhere", 404, "not-found"),
        ("GET", "/static/nowhere.js", 404, "not-found"),
        ("GET", "/static/../wsgi.py", 404, "not-found"),
        ("GET", "/convert", 405, "method-not-allowed"),
        ("DELETE", "/styles", 405, "method-not-allowed"),
        ("BREW", "/", 405, "method-not-allowed"),
    ],
)
def test_wrong_addresses_and_methods_are_problems_too(method: str, path: str, status: int, code: str) -> None:
    response = SERVICE.open(path, method=method)
    assert response.status_code == status
    assert problem(response)["code"] == code


def test_a_wrong_method_is_told_the_right_ones() -> None:
    assert SERVICE.get("/convert").headers["Allow"] == "OPTIONS, POST"
    assert SERVICE.post("/styles").headers["Allow"] == "GET, HEAD, OPTIONS"


def test_head_and_options_work() -> None:
    assert SERVICE.head("/nowhere").status_code == 404
    assert SERVICE.head("/nowhere").data == b""
    assert SERVICE.head("/styles").status_code == 200
    allowed = SERVICE.options("/convert")
    assert (allowed.status_code, set(allowed.allow)) == (200, {"POST", "OPTIONS"})


def test_a_browser_gets_a_page_in_its_language() -> None:
    response = SERVICE.post("/convert", data={}, headers={"Accept": BROWSER, "Accept-Language": "ja"})
    assert response.status_code == 400
    assert response.content_type == "text/html; charset=utf-8"
    assert '<html lang="ja"' in response.text
    assert "画像が届いていません" in response.text


def test_a_bug_leaves_no_trace_in_the_answer_but_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    service = client(failing(ZeroDivisionError("secret detail in /some/path.py")))
    with caplog.at_level(logging.ERROR):
        response = service.post("/convert", data=form(), headers={"X-Request-Id": "find-me"})
    assert response.status_code == 500
    assert problem(response)["code"] == "internal-error"
    assert "secret" not in response.text
    assert "/some/path" not in response.text
    assert "find-me" in caplog.text
    assert "secret detail" in caplog.text


def test_a_sentence_for_the_owner_is_not_sent_to_clients(caplog: pytest.LogCaptureFixture) -> None:
    response = send(client(failing(ModelError("/srv/models/models.toml cannot be read."))))
    assert response.status_code == 500
    assert "/srv" not in response.text
    assert "/srv" in caplog.text


@pytest.mark.parametrize("path", ["/", "/styles", "/healthz", "/nowhere", "/openapi.json", "/docs"])
def test_every_answer_carries_the_security_headers(path: str) -> None:
    response = SERVICE.get(path)
    for name, value in SECURITY_HEADERS.items():
        assert response.headers[name] == value


def test_the_policy_allows_nothing_inline() -> None:
    policy = SERVICE.get("/").headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy


def test_a_request_id_is_taken_over_or_made() -> None:
    assert SERVICE.get("/healthz", headers={"X-Request-Id": "a.B_c-9"}).headers["X-Request-Id"] == "a.B_c-9"
    made = {SERVICE.get("/healthz").headers["X-Request-Id"] for _ in range(2)}
    assert len(made) == 2


@pytest.mark.parametrize("sent", ["with space", "x" * 65, "<b>", "naïve", ""])
def test_a_request_id_that_could_harm_a_log_is_replaced(sent: str) -> None:
    answer = SERVICE.get("/healthz", headers={"X-Request-Id": sent}).headers["X-Request-Id"]
    assert answer != sent
    assert answer.isalnum()


def test_static_files_are_kept_for_ever_by_version_and_asked_for_again_without() -> None:
    with SERVICE.application.test_request_context():
        versioned = SERVICE.application.url_for("static", filename="docs/docs.css")
    assert "?v=" in versioned
    assert SERVICE.get(versioned, buffered=True).headers["Cache-Control"] == "public, max-age=31536000, immutable"
    for address in ("/static/docs/docs.css", "/static/docs/docs.css?v=0123456789ab"):
        first = SERVICE.get(address, buffered=True)
        assert first.headers["Cache-Control"] == "no-cache"
        again = SERVICE.get(address, headers={"If-None-Match": first.headers["ETag"]}, buffered=True)
        assert (again.status_code, again.data) == (304, b"")


def test_the_icon_that_browsers_ask_for_is_there() -> None:
    response = SERVICE.get("/favicon.ico", buffered=True)
    assert response.status_code == 200
    assert response.content_type == "image/png"


def test_a_problem_is_readable_as_json_by_anyone() -> None:
    document: dict[str, Any] = json.loads(SERVICE.get("/nowhere").data)
    assert document["status"] == 404
