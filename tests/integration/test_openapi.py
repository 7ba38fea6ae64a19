"""The description of the API is valid, complete and true: schemathesis plays requests from it and finds nothing."""

import re
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import Any

import pytest
import schemathesis
from flask import Flask
from hypothesis import strategies
from PIL import Image
from schemathesis import engine
from schemathesis.engine import events
from werkzeug.serving import make_server

from app.config import PROJECT_ROOT
from app.conversion import Notice
from app.errors import AnimeBoothError, ClientGone, ModelError
from app.imaging.encode import MIMETYPES
from app.options import OPTION_NAMES
from app.web.openapi.convert import UPLOAD_MIMETYPES
from app.web.problems import public_errors
from tests.unit.stubs import FixedDetector, face_at, started
from tests.unit.web.service import application, client

EXAMPLES = 25
PAGES = {"/", "/docs", "/favicon.ico", "/static/<path:filename>"}
API_DOC = (PROJECT_ROOT / "docs" / "api.md").read_text(encoding="utf-8")


def tiny(format: str) -> bytes:
    buffer = BytesIO()
    Image.new("RGB", (3, 2), (200, 10, 30)).save(buffer, format)
    return buffer.getvalue()


# What "a picture" means where the description says so; anything else is an invalid upload.
PICTURES = strategies.sampled_from([tiny(name) for name in ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF")])
for mimetype in UPLOAD_MIMETYPES:
    schemathesis.openapi.media_type(mimetype, PICTURES)
schemathesis.openapi.format("binary", PICTURES)


@contextmanager
def served(app: Flask) -> Iterator[str]:
    """The address of ``app`` on loopback. In-process, schemathesis 4.32 cannot check that a key is asked for."""
    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def findings(key: str) -> tuple[list[str], set[str]]:
    """What schemathesis has to complain about, and the operations it played; all its phases and checks.

    Every picture has a face, so that each option can be met, and nobody sends too fast. The same each time.
    """
    generation = {"deterministic": True, "max-examples": EXAMPLES, "database": "none"}
    auth = {"auth": {"openapi": {"key": {"api_key": key}}}} if key else {}
    config = schemathesis.Config.from_dict({"generation": generation, **auth})
    app = application(started(detector=FixedDetector([face_at(0, 0, 2)])), rate_limit="", api_key=key)
    with served(app) as address:
        schema = schemathesis.openapi.from_url(f"{address}/openapi.json", config=config)
        return told_by(engine.from_schema(schema).execute())


def told_by(run: Iterable[events.EngineEvent]) -> tuple[list[str], set[str]]:
    complaints, played = [], set()
    for event in run:
        if isinstance(event, events.NonFatalError):
            complaints.append(str(event.info))
        elif isinstance(event, events.FatalError):
            raise event.exception
        elif isinstance(event, events.ScenarioFinished) and event.recorder.cases:
            played.add(event.recorder.label)
            checks = [check for checks in event.recorder.checks.values() for check in checks]
            complaints += [f"{check.name}: {check.failure_info}" for check in checks if check.failure_info]
    return complaints, played


@pytest.mark.parametrize("key", ["", "s3cret"])
def test_the_service_does_what_its_description_says(key: str) -> None:
    complaints, played = findings(key)
    assert not complaints, "\n\n".join(complaints)
    # The description itself is fetched, not played.
    owners = {"GET /metrics", "GET /status"}
    assert played == {"POST /convert", "GET /styles", "GET /queue", "GET /healthz", "GET /readyz"} | owners


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    answer: dict[str, Any] = client().get("/openapi.json").get_json()
    return answer


def test_every_route_is_described(document: dict[str, Any]) -> None:
    routes = {rule.rule for rule in application().url_map.iter_rules()}
    assert routes == set(document["paths"]) | PAGES


def test_every_option_is_described_with_what_it_may_be(document: dict[str, Any]) -> None:
    operation = document["paths"]["/convert"]["post"]
    in_query = {parameter["name"] for parameter in operation["parameters"]}
    in_form = set(operation["requestBody"]["content"]["multipart/form-data"]["schema"]["properties"])
    assert in_query == {*OPTION_NAMES, "lang"}
    assert in_form == {*OPTION_NAMES, "image"}
    style = next(p for p in operation["parameters"] if p["name"] == "style")
    # Styles that the owner of this checkout added come after them.
    assert style["schema"]["enum"][:2] == ["hayao", "cute"]


def test_every_answer_of_convert_is_described(document: dict[str, Any]) -> None:
    responses = document["paths"]["/convert"]["post"]["responses"]
    assert set(responses["200"]["content"]) == {*MIMETYPES.values(), "text/html"}
    assert set(responses) == {"200", "400", "401", "413", "415", "422", "429", "500", "503"}


def leaves(family: type[AnimeBoothError]) -> set[type[AnimeBoothError]]:
    below = family.__subclasses__()
    return {leaf for child in below for leaf in leaves(child)} if below else {family}


def test_every_error_a_client_may_meet_is_described(document: dict[str, Any]) -> None:
    # The owner's, and the one that nobody is there to read.
    unseen = leaves(ModelError) | {ClientGone}
    public = {error.code for error in leaves(AnimeBoothError) - unseen if error.__module__ == "app.errors"}
    assert {error.code for error in public_errors()} == public
    assert {error["code"] for error in document["components"]["schemas"]["Problem"]["x-errors"]} == public


def test_every_error_is_explained_where_its_type_points() -> None:
    page = client().get("/docs").text
    for error in public_errors():
        assert f'id="error-{error.code}"' in page


def test_the_pages_about_the_api_name_every_route_and_option(document: dict[str, Any]) -> None:
    page = client().get("/docs").text
    for path in document["paths"]:
        assert path in page
    for name in OPTION_NAMES:
        assert f"<code>{name}</code>" in page


@pytest.mark.parametrize("name", [*OPTION_NAMES, "lang", "image"])
def test_the_manual_names_every_option(name: str) -> None:
    assert re.search(rf"^\| `{name}` \|", API_DOC, re.MULTILINE)


def test_the_manual_names_every_route_header_error_and_notice(document: dict[str, Any]) -> None:
    for path in document["paths"]:
        assert f"`{path}`" in API_DOC or f" {path}`" in API_DOC, path
    for header in document["components"]["headers"]:
        assert f"`{header}`" in API_DOC, header
    for error in public_errors():
        assert f"| {error.status} | `{error.code}` |" in API_DOC, error.code
    for notice in Notice.__args__:
        assert f"`{notice}`" in API_DOC, notice
