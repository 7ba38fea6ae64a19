"""The whole service behind a real server: what a client on the wire sees (rows R12 to R16 of cases/requests.tsv)."""

import contextlib
import http.client
import json
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO

import pytest
from PIL import Image

from tests.server import Answer, Server, serve
from tests.unit.stubs import case

MIB = 2**20
LINE = "line"
MULTIPART = {"Content-Type": f"multipart/form-data; boundary={LINE}"}


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serve() as running:
        yield running


def part(content: bytes, disposition: str) -> bytes:
    return f"--{LINE}\r\nContent-Disposition: form-data; {disposition}\r\n\r\n".encode() + content + b"\r\n"


def post(server: Server, *parts: bytes, path: str = "/convert") -> Answer:
    return server.post(path, body=b"".join(parts) + f"--{LINE}--\r\n".encode(), headers=MULTIPART)


def code(answer: Answer) -> str:
    assert answer.headers["content-type"] == "application/problem+json", answer.text
    problem: dict[str, str] = json.loads(answer.body)
    return problem["code"]


def test_a_photo_becomes_a_picture_of_the_planned_size(server: Server) -> None:
    photo = case("face_one.png")
    answer = post(server, part(photo, 'name="image"; filename="me.png"'), part(b"256", 'name="size"'))
    assert answer.status == 200
    with Image.open(BytesIO(photo)) as before, Image.open(BytesIO(answer.body)) as after:
        assert max(after.size) == 256
        assert after.size[0] / after.size[1] == pytest.approx(before.size[0] / before.size[1], abs=0.01)
    assert int(answer.headers["x-faces"]) == 1
    assert answer.headers["x-style"] == "cute"
    assert answer.headers["content-disposition"] == 'attachment; filename="me-cute.png"'


@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_over_the_limit_is_answered_and_not_reset(server: Server, chunked: bool) -> None:
    """R12: http.client reads nothing before it has sent everything, as browsers do."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    body = [b"\0" * MIB] * 40
    headers = {"Content-Type": "image/jpeg"} | ({} if chunked else {"Content-Length": str(40 * MIB)})
    with contextlib.closing(connection):
        connection.request("POST", "/convert", body=iter(body), headers=headers, encode_chunked=chunked)
        response = connection.getresponse()
        assert response.status == 413
        assert response.getheader("Content-Type") == "application/problem+json"
        assert json.loads(response.read())["limit_mib"] == 16


def test_a_client_that_waits_is_refused_before_it_sends(server: Server) -> None:
    """R12: an announced length is enough."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as client:
        client.sendall(
            b"POST /convert HTTP/1.1\r\nHost: x\r\nContent-Type: image/jpeg\r\nContent-Length: 20000000\r\n\r\n"
        )
        assert client.recv(12) == b"HTTP/1.1 413"


def test_a_picture_pasted_as_text_is_told_to_come_as_a_file(server: Server) -> None:
    """R13."""
    assert code(post(server, part(b"iVBORw0KGgoAAAANSUhEUgAA" * 29_200, 'name="image"'))) == "image-in-text-field"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "自撮り.png",
            "attachment; filename=\"photo-cute.png\"; filename*=UTF-8''%E8%87%AA%E6%92%AE%E3%82%8A-cute.png",
        ),
        ("../../etc/x.jpg", 'attachment; filename="x-cute.png"'),
        ("n" * 300 + ".jpg", f'attachment; filename="{"n" * 120}-cute.png"'),
    ],
)
def test_awkward_names_come_back_safe(server: Server, name: str, expected: str) -> None:
    """R14."""
    answer = post(
        server, part(case("two_by_two.jpg"), f'name="image"; filename="{name}"'), part(b"png", 'name="format"')
    )
    assert (answer.status, answer.headers["content-disposition"]) == (200, expected)


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([part(b"512", 'name="size"')], "missing-image"),
        ([part(b"", 'name="image"; filename="me.jpg"')], "empty-image"),
        (
            [part(b"x", 'name="image"; filename="a.jpg"'), part(b"x", 'name="image"; filename="b.jpg"')],
            "too-many-images",
        ),
        ([part(b"x", 'name="photo"; filename="me.jpg"')], "missing-image"),
    ],
)
def test_a_form_without_its_one_picture_is_told_the_field(server: Server, parts: list[bytes], expected: str) -> None:
    """R15."""
    answer = post(server, *parts)
    assert answer.status == 400
    assert code(answer) == expected
    assert "“image”" in json.loads(answer.body)["detail"]


def test_the_same_picture_gives_the_same_bytes_also_side_by_side(server: Server) -> None:
    """R16 and R3."""
    photo = part(case("face_one.png"), 'name="image"; filename="me.png"')
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: post(server, photo, part(b"256", 'name="size"')), range(6)))
    assert {answer.status for answer in answers} == {200}
    assert len({answer.body for answer in answers}) == 1


@pytest.mark.parametrize("request_", [b"GET /\xff HTTP/1.1\r\nHost: x\r\n\r\n", b"GET / HTTP/1.1\r\nHost\r\n\r\n"])
def test_odd_requests_are_answered_in_words(server: Server, request_: bytes) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as client:
        client.sendall(request_)
        client.shutdown(socket.SHUT_WR)
        answer = b"".join(iter(lambda: client.recv(65536), b""))
    assert answer.startswith((b"HTTP/1.1 400", b"HTTP/1.1 404"))
    assert b"application/problem+json" in answer
    assert b"Traceback" not in answer
