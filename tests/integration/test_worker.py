"""gunicorn with our worker, seen through real sockets; the application is one that waits when told to."""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import signal
import socket
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from itertools import islice
from pathlib import Path

import pytest

from app.serving.worker import LIGHT_THREADS
from tests.integration.gate import Gate, gate
from tests.server import Answer, Server, serve

THREADS = 8
MAX_REQUESTS = 64
ANSWER_LIMIT = 30.0
"""Seconds within which an answer that is not held back must come."""

GATED = "tests.integration.gated_app:application"


@pytest.fixture(scope="module")
def shared() -> Iterator[Server]:
    with serve("--threads", str(THREADS), application=GATED) as server:
        yield server


@pytest.fixture(scope="module")
def impatient() -> Iterator[Server]:
    with serve("--worker-class", "tests.integration.impatient.Worker", application=GATED) as server:
        yield server


@pytest.fixture
def clients() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(MAX_REQUESTS + 16) as pool:
        yield pool


@pytest.fixture
def closed_gate(clients: ThreadPoolExecutor) -> Iterator[Gate]:
    # Depends on the clients so that it is opened before their end is awaited.
    with gate() as closed:
        yield closed


def connect(server: Server) -> contextlib.closing[socket.socket]:
    return contextlib.closing(socket.create_connection(("127.0.0.1", server.port), timeout=ANSWER_LIMIT))


def read_all(client: socket.socket) -> bytes:
    """Everything up to the end of the connection; fails on a reset."""
    return b"".join(iter(lambda: client.recv(65536), b""))


def hold(server: Server, closed_gate: Gate, clients: ThreadPoolExecutor, count: int) -> list[Future[Answer]]:
    """Send ``count`` uploads that stay inside and wait until all threads are taken."""
    held = [clients.submit(server.post, closed_gate.path, body=b"held") for _ in range(count)]
    closed_gate.wait_for(min(count, THREADS))
    return held


def statuses(answers: list[Future[Answer]]) -> list[int]:
    return sorted(answer.result(ANSWER_LIMIT).status for answer in answers)


def test_an_upload_arrives_whole(shared: Server) -> None:
    assert shared.post("/", body=b"x" * 700_000).text == "700000"


def test_a_chunked_upload_arrives_whole(shared: Server) -> None:
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", shared.port, timeout=ANSWER_LIMIT)) as connection:
        connection.request("POST", "/", body=iter([b"ab", b"c" * 70_000]), encode_chunked=True)
        assert connection.getresponse().read() == b"70002"


def test_one_connection_serves_many_requests(shared: Server) -> None:
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", shared.port, timeout=ANSWER_LIMIT)) as connection:
        for size in (10, 0, 300_000):
            connection.request("POST", "/", body=b"x" * size)
            assert connection.getresponse().read() == str(size).encode()


def test_requests_sent_in_one_go_are_answered_in_turn(shared: Server) -> None:
    with connect(shared) as client:
        one = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"
        two = b"POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 4\r\n\r\nabcd"
        client.sendall(one + two)
        answers = read_all(client)
    assert answers.count(b"HTTP/1.1 200 OK") == 2
    assert answers.index(b"\r\n\r\n3") < answers.index(b"\r\n\r\n4")


def test_a_client_that_waits_for_100_continue_is_told_so_once(shared: Server) -> None:
    with connect(shared) as client:
        client.sendall(
            b"POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n"
        )
        assert client.recv(1024) == b"HTTP/1.1 100 Continue\r\n\r\n"
        client.sendall(b"hello")
        answer = read_all(client)
    assert b"100 Continue" not in answer
    assert answer.endswith(b"5")


def test_a_body_over_the_limit_is_answered_unread_and_its_sender_reads_the_answer(shared: Server) -> None:
    size = 8 * 1024 * 1024
    with connect(shared) as client:
        client.sendall(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % size)
        # More than all buffers between us hold: a server that closed at once would reset the connection.
        for _ in range(size // 65536):
            client.sendall(b"x" * 65536)
        assert read_all(client).startswith(b"HTTP/1.1 413 ")


def test_what_is_no_http_gets_a_problem_document_and_no_address_is_logged(shared: Server) -> None:
    with connect(shared) as client:
        client.sendall(b"GARBAGE\r\n\r\n")
        head, _, body = read_all(client).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 Bad Request")
    assert b"application/problem+json" in head
    assert json.loads(body)["code"] == "bad-request"
    assert "127.0.0.1:" not in shared.output.replace(f"127.0.0.1:{shared.port}", "")


def test_a_head_too_long_to_be_read_is_answered_too(shared: Server) -> None:
    with connect(shared) as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n" + b"X: y\r\n" * 15_000 + b"\r\n")
        head, _, body = read_all(client).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 Bad Request")
    assert json.loads(body)["code"] == "bad-request"


def test_bytes_behind_a_disputable_request_are_never_a_request(shared: Server) -> None:
    with connect(shared) as client:
        client.sendall(
            b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n"
            b"0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"
        )
        assert read_all(client).count(b"HTTP/1.1 ") == 1


def test_nobody_is_believed_about_what_a_proxy_saw(shared: Server) -> None:
    answer = shared.get("/", headers={"X-Forwarded-Proto": "https", "X-Forwarded-Ssl": "on"})
    assert answer.headers["x-scheme"] == "http"


def test_a_failing_application_gives_500_and_a_living_server(shared: Server) -> None:
    assert shared.get("/fail").status == 500
    assert shared.get("/").status == 200


def test_more_stalled_uploads_than_threads_keep_nobody_waiting(shared: Server) -> None:
    with contextlib.ExitStack() as stack:
        for _ in range(2 * THREADS):
            client = stack.enter_context(connect(shared))
            client.sendall(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nonly this")
        assert shared.post("/", body=b"whole").text == "5"


def test_more_silent_connections_than_threads_keep_nobody_waiting(shared: Server) -> None:
    with contextlib.ExitStack() as stack:
        for _ in range(2 * THREADS):
            stack.enter_context(connect(shared)).sendall(b"POST / HT")
        assert shared.post("/", body=b"whole").text == "5"


def test_a_page_is_served_while_every_thread_works(
    shared: Server, closed_gate: Gate, clients: ThreadPoolExecutor
) -> None:
    held = hold(shared, closed_gate, clients, THREADS)
    assert shared.get("/").status == 200
    closed_gate.open()
    assert statuses(held) == [200] * THREADS


def test_uploads_above_the_limit_get_503_at_once_and_those_inside_are_served(
    shared: Server, closed_gate: Gate, clients: ThreadPoolExecutor
) -> None:
    extra = 16
    sent = hold(shared, closed_gate, clients, MAX_REQUESTS + extra)
    # Nothing has been let go: only the refused ones can be through.
    refused = first_answers(sent, extra)
    assert [answer.status for answer in refused] == [503] * extra
    assert all(answer.headers["retry-after"] == "5" for answer in refused)
    closed_gate.open()
    assert statuses(sent) == [200] * MAX_REQUESTS + [503] * extra


def first_answers(sent: list[Future[Answer]], count: int) -> list[Answer]:
    """The first ``count`` answers to come."""
    return [future.result() for future in islice(as_completed(sent, ANSWER_LIMIT), count)]


def test_waiting_in_the_queue_counts_from_the_arrival(
    shared: Server, closed_gate: Gate, clients: ThreadPoolExecutor
) -> None:
    held = hold(shared, closed_gate, clients, THREADS)
    with connect(shared) as ninth:
        ninth.sendall(b"POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx")
        for _ in range(2):
            shared.get("/")  # The poller takes clients in turn: once these are answered, it has read the ninth.
        opening = time.monotonic()
        closed_gate.open()
        answer = read_all(ninth)
    statuses(held)
    arrived, begun = (float(re.search(rb"X-%s: (\S+)" % name, answer)[1]) for name in (b"Arrived", b"Begun"))
    assert arrived < opening < begun


def test_an_upload_whose_sender_has_gone_is_not_worked_on(
    shared: Server, closed_gate: Gate, clients: ThreadPoolExecutor
) -> None:
    held = hold(shared, closed_gate, clients, THREADS)
    with gate() as never_reached:
        with connect(shared) as client:
            client.sendall(b"POST %s HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx" % never_reached.path.encode())
        closed_gate.open()
        statuses(held)
        # The abandoned one was queued before this one.
        assert shared.post("/", body=b"next").status == 200
        with pytest.raises(TimeoutError):
            never_reached.wait_for(1, limit=0.2)


@pytest.mark.parametrize("leaves", [True, False])
def test_the_application_can_tell_whether_its_client_has_gone(
    shared: Server, closed_gate: Gate, clients: ThreadPoolExecutor, leaves: bool
) -> None:
    with gate() as reached_if_gone, connect(shared) as client:
        query = f"{closed_gate.path}&gone={reached_if_gone.path.partition('=')[2]}"
        client.sendall(b"POST %s HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx" % query.encode())
        closed_gate.wait_for(1)
        if leaves:
            client.close()
        closed_gate.open()
        if leaves:
            reached_if_gone.wait_for(1)
        else:
            assert client.recv(1024).startswith(b"HTTP/1.1 200 OK")


def test_idle_connections_cost_no_thread(shared: Server) -> None:
    before = thread_count(shared)
    with contextlib.ExitStack() as stack:
        for _ in range(50):
            stack.enter_context(connect(shared))
        shared.get("/")
        assert thread_count(shared) <= before + 1


def thread_count(server: Server) -> int:
    return len(list(Path(f"/proc/{server.workers()[0]}/task").iterdir()))


STALLED = {
    "silent": b"",
    "half a head": b"POST / HTTP/1.1\r\nHost: a\r\n",
    "half a body": b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nhalf",
    "half a chunk": b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n8\r\nhalf",
}


@pytest.mark.parametrize("sent", STALLED.values(), ids=STALLED.keys())
def test_a_client_that_stops_sending_is_given_up(impatient: Server, sent: bytes) -> None:
    with connect(impatient) as client:
        client.sendall(sent)
        assert read_all(client) == b""


def test_uploads_that_were_given_up_leave_their_places(impatient: Server) -> None:
    with contextlib.ExitStack() as stack:
        stalled = [stack.enter_context(connect(impatient)) for _ in range(MAX_REQUESTS)]
        for client in stalled:
            client.sendall(STALLED["half a body"])
        assert [read_all(client) for client in stalled] == [b""] * MAX_REQUESTS
    assert impatient.post("/", body=b"whole").status == 200


def test_a_kept_connection_is_closed_when_nothing_follows(impatient: Server) -> None:
    with connect(impatient) as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        assert read_all(client).count(b"HTTP/1.1 200 OK") == 1


def test_clients_that_do_not_read_their_answers_are_given_up(impatient: Server) -> None:
    with contextlib.ExitStack() as stack:
        # More than fits into the buffers on the way, on every thread that serves pages.
        for _ in range(LIGHT_THREADS):
            stack.enter_context(connect(impatient)).sendall(b"GET /?answer=50000000 HTTP/1.1\r\nHost: a\r\n\r\n")
        assert impatient.get("/").status == 200


def test_sigterm_lets_a_running_request_finish(closed_gate: Gate, clients: ThreadPoolExecutor) -> None:
    with serve(application=GATED) as server:
        (held,) = hold(server, closed_gate, clients, 1)
        server.process.send_signal(signal.SIGTERM)
        server.wait_for_output("Handling signal: term")
        closed_gate.open()
        assert held.result(ANSWER_LIMIT).status == 200
        assert server.wait_for_end() == 0


def test_sigterm_does_not_wait_for_idle_connections() -> None:
    with serve(application=GATED) as server, connect(server) as idle, connect(server) as stalled:
        stalled.sendall(b"GET / HTTP/1.1\r\n")
        server.get("/")
        server.process.send_signal(signal.SIGTERM)
        # Well under the 30 s that a running request would be given.
        assert server.wait_for_end(limit=20) == 0
        assert idle.recv(1) == b""


def test_tls_is_refused_in_words() -> None:
    with serve("--certfile", __file__, application=GATED, listening=False) as server:
        assert server.wait_for_end() == 1
        assert "reverse proxy" in server.output
        assert "Traceback" not in server.output
