"""One JSON object a line, for everything that is logged."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from datetime import datetime

import pytest

from app.telemetry.logs import FACTS, JsonFormatter, start_json_lines


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    """Where the loggers of the application write JSON lines to, for the time of a test."""
    loggers = [logging.getLogger(), logging.getLogger("app")]
    before = [(logger, list(logger.handlers), logger.level, logger.propagate) for logger in loggers]
    stream = io.StringIO()
    start_json_lines(stream)
    yield stream
    for logger, handlers, level, propagate in before:
        logger.handlers, logger.propagate = handlers, propagate
        logger.setLevel(level)


def lines(stream: io.StringIO) -> list[dict[str, object]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_line_says_when_how_grave_and_what(stream: io.StringIO) -> None:
    logging.getLogger("app.engine").warning("Style %s is\nbroken.", "“cute”")
    [line] = lines(stream)
    assert line["level"] == "warning"
    assert line["logger"] == "app.engine"
    assert line["message"] == "Style “cute” is\nbroken."
    assert isinstance(line["process"], int)
    written = datetime.fromisoformat(str(line["time"]))
    assert written.utcoffset() is not None
    assert abs((datetime.now(written.tzinfo) - written).total_seconds()) < 60


def test_facts_are_members_of_their_own(stream: io.StringIO) -> None:
    logging.getLogger("app.requests").info("request", extra={FACTS: {"status": 200, "style": "cute"}})
    [line] = lines(stream)
    assert (line["message"], line["status"], line["style"]) == ("request", 200, "cute")


def test_a_trace_of_a_fault_is_one_line_too(stream: io.StringIO) -> None:
    try:
        raise ZeroDivisionError("by nothing")
    except ZeroDivisionError:
        logging.getLogger("app.handlers").exception("Request x failed")
    [line] = lines(stream)
    assert "ZeroDivisionError: by nothing" in str(line["trace"])


def test_what_cannot_be_written_as_json_is_written_as_text() -> None:
    record = logging.LogRecord("app", logging.INFO, "", 0, "m", None, None)
    setattr(record, FACTS, {"odd": {1}, "number": float("inf")})
    assert json.loads(JsonFormatter().format(record), parse_constant=pytest.fail)["odd"] == "{1}"


def test_other_peoples_loggers_write_from_warnings_on(stream: io.StringIO) -> None:
    library = logging.getLogger("werkzeug")
    library.setLevel(logging.INFO)
    library.info('192.0.2.7 "GET / HTTP/1.1" 200')
    library.warning("something is wrong")
    library.setLevel(logging.NOTSET)
    assert [line["message"] for line in lines(stream)] == ["something is wrong"]


def test_starting_twice_writes_each_line_once(stream: io.StringIO) -> None:
    start_json_lines(stream)
    logging.getLogger("app").warning("once")
    assert len(lines(stream)) == 1
