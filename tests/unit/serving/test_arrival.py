"""A request that comes in pieces is recognised as whole exactly when its last byte is there."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.serving.arrival import MAX_HEAD_BYTES, Arrival, Head, find_head

MAX_BODY = 1000
POST = b"POST /convert HTTP/1.1\r\nHost: a\r\n"

WHOLE = {
    "get": b"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
    "length": POST + b"Content-Length: 5\r\n\r\nhello",
    "zero length": POST + b"content-length:0\r\n\r\n",
    "length among others": POST + b"Accept: */*\r\nCONTENT-LENGTH:  3 \r\nX: y\r\n\r\nabc",
    "chunked": POST + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    "chunked with extension and trailer": POST
    + b"Transfer-Encoding: Chunked\r\n\r\n3;a=b\r\nabc\r\nA\r\n0123456789\r\n0\r\nX: y\r\n\r\n",
    "chunk that looks like an end": POST + b"Transfer-Encoding: chunked\r\n\r\n7\r\n0\r\n\r\n\r\n\r\n0\r\n\r\n",
}


@pytest.mark.parametrize("request_bytes", WHOLE.values(), ids=WHOLE.keys())
def test_it_is_whole_at_its_last_byte_and_not_before(request_bytes: bytes) -> None:
    arrival = Arrival(MAX_BODY)
    for position in range(len(request_bytes)):
        assert not arrival.complete, f"complete after {position} of {len(request_bytes)} bytes"
        arrival.feed(request_bytes[position : position + 1])
    assert arrival.complete
    assert arrival.whole


@given(st.sampled_from(list(WHOLE.values())), st.sampled_from(list(WHOLE.values())), st.data())
def test_cut_anywhere_it_yields_the_same_request_and_the_same_rest(
    first: bytes, second: bytes, data: st.DataObject
) -> None:
    stream = first + second
    cut = data.draw(st.integers(0, len(first) - 1))
    arrival = Arrival(MAX_BODY, stream[:cut])
    assert not arrival.complete
    arrival.feed(stream[cut:])
    assert arrival.split() == (first, second)


def test_what_is_asked_for_never_goes_beyond_a_body_of_known_length() -> None:
    arrival = Arrival(MAX_BODY, POST + b"Content-Length: 600\r\n\r\n" + b"x" * 50)
    assert arrival.wanted == 550
    assert arrival.body_room == 600


ODD = {
    "two lengths": POST + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n",
    "list of lengths": POST + b"Content-Length: 5, 5\r\n\r\n",
    "signed length": POST + b"Content-Length: +5\r\n\r\n",
    "empty length": POST + b"Content-Length:\r\n\r\n",
    "length and chunks": POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
    "other coding": POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n",
    "twice chunked": POST + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
}


@pytest.mark.parametrize("head", ODD.values(), ids=ODD.keys())
def test_a_body_whose_end_is_disputable_is_not_waited_for_and_never_whole(head: bytes) -> None:
    arrival = Arrival(MAX_BODY, head + b"GET /smuggled HTTP/1.1\r\n\r\n")
    assert arrival.complete
    assert not arrival.whole
    assert arrival.split()[1] == b"", "bytes behind a disputable request must not become the next one"


@pytest.mark.parametrize("chunk", [b"xyz\r\n", b"\r\n\r\n", b"-1\r\n", b"0" * 9000])
def test_chunks_without_a_size_end_the_waiting(chunk: bytes) -> None:
    arrival = Arrival(MAX_BODY, POST + b"Transfer-Encoding: chunked\r\n\r\n" + chunk)
    assert arrival.complete
    assert not arrival.whole


def test_a_body_over_the_limit_is_not_read() -> None:
    arrival = Arrival(MAX_BODY, POST + b"Content-Length: 1001\r\n\r\n")
    assert arrival.complete
    assert not arrival.whole
    assert arrival.body_room == 0


def test_endless_chunks_are_read_a_little_beyond_the_limit_only() -> None:
    arrival = Arrival(MAX_BODY, POST + b"Transfer-Encoding: chunked\r\n\r\n")
    chunk = b"FFF0\r\n" + b"x" * 0xFFF0 + b"\r\n"
    pieces = 0
    while not arrival.complete:
        arrival.feed(chunk)
        pieces += 1
    assert not arrival.whole
    assert arrival.body_received <= arrival.body_room + len(chunk)


def test_a_head_without_an_end_is_given_up_at_the_limit() -> None:
    arrival = Arrival(MAX_BODY, b"GET / HTTP/1.1\r\nX: " + b"y" * (MAX_HEAD_BYTES - 30))
    assert not arrival.complete
    arrival.feed(b"y" * 30)
    assert arrival.complete
    assert arrival.head_too_long
    assert not arrival.whole


@pytest.mark.parametrize("request_bytes", [*WHOLE.values(), *ODD.values()], ids=[*WHOLE, *ODD])
def test_other_heads_are_not_too_long(request_bytes: bytes) -> None:
    assert not Arrival(MAX_BODY, request_bytes).head_too_long


def test_the_wish_to_be_told_to_continue_is_seen() -> None:
    head = POST + b"Content-Length: 9\r\nExpect: 100-Continue\r\n\r\n"
    assert find_head(bytearray(head)) == Head(length=len(head), body=9, expects_continue=True)
