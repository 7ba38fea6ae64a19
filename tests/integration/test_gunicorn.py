"""The whole service under gunicorn, on a loopback port, with the built-in styles."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from app.config import PROJECT_ROOT
from tests.server import Answer, Server, serve

INPUTS = PROJECT_ROOT / "tests/cases/inputs"
FACE = (INPUTS / "face_one.png").read_bytes()
SMALL = (INPUTS / "odd_33x47.png").read_bytes()
MAX_REQUESTS = 64
LFS_POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 1952564\n"

ENOUGH_THREADS = MAX_REQUESTS + 32
"""One for each upload inside, 2 for pages, the poller, the engine's start, and what ONNX Runtime, OpenCV and MediaPipe
keep."""


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serve() as shared:
        yield shared


def convert(server: Server, data: bytes, query: str = "") -> Answer:
    return server.post(f"/convert{query}", body=data, headers={"Content-Type": "application/octet-stream"})


def is_refusal(answer: Answer) -> bool:
    """Whether an answer says in due form that too many are inside."""
    return (
        answer.status == 503
        and answer.headers["content-type"] == "application/problem+json"
        and int(answer.headers["retry-after"]) > 0
        and json.loads(answer.text)["code"] == "overloaded"
    )


def test_a_photo_is_converted(server: Server) -> None:
    answer = convert(server, FACE)
    assert answer.status == 200, answer.text
    assert answer.body.startswith(b"\x89PNG")
    assert answer.headers["x-faces"] == "1"


def test_sixteen_at_once_get_the_same_picture(server: Server) -> None:
    with ThreadPoolExecutor(16) as clients:
        answers = list(clients.map(lambda _: convert(server, FACE), range(16)))
    assert {answer.status for answer in answers} == {200}
    assert len({answer.body for answer in answers}) == 1


def test_eighty_at_once_get_a_picture_or_are_told_when_to_come_back(server: Server) -> None:
    with ThreadPoolExecutor(80) as clients:
        answers = list(clients.map(lambda _: convert(server, SMALL), range(80)))
    served = [answer for answer in answers if answer.status == 200]
    refused = [answer for answer in answers if answer.status != 200]
    assert all(is_refusal(answer) for answer in refused), Counter(answer.status for answer in answers)
    assert len(served) >= MAX_REQUESTS
    assert len({answer.body for answer in served}) == 1


def test_the_sixty_fifth_upload_is_refused_in_due_form_while_pages_are_served(server: Server) -> None:
    with contextlib.ExitStack() as stack:
        for _ in range(MAX_REQUESTS):
            client = stack.enter_context(contextlib.closing(socket.create_connection(("127.0.0.1", server.port))))
            client.sendall(b"POST /convert HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nnot yet all")
        # Connections are taken in turn: once this is answered, those above are inside.
        assert server.get("/healthz").status == 200
        assert is_refusal(convert(server, SMALL))
        assert server.get("/").status == 200
    assert server.get("/healthz").status == 200
    assert convert(server, SMALL).status == 200


def test_large_photos_from_many_leave_room_for_the_rest(server: Server) -> None:
    """The case book's R11: nobody is cut off, and a probe is answered while all threads are at work."""
    photo = (INPUTS / "phone_12mp.jpg").read_bytes()
    with ThreadPoolExecutor(8) as clients:
        under_way = [clients.submit(convert, server, photo) for _ in range(8)]
        assert server.get("/healthz").status == 200
        answers = [sent.result() for sent in under_way]
    assert all(answer.status == 200 or is_refusal(answer) for answer in answers)
    assert "WORKER TIMEOUT" not in server.output


def test_a_body_over_the_limit_is_refused_and_its_sender_reads_why(server: Server) -> None:
    size = 20 * 1024 * 1024
    answer = convert(server, bytes(size))
    assert answer.status == 413
    assert json.loads(answer.text)["code"] == "file-too-large"


def test_threads_stay_few_however_many_have_asked(server: Server) -> None:
    threads = list(Path(f"/proc/{server.workers()[0]}/task").iterdir())
    assert len(threads) <= ENOUGH_THREADS


def test_sigterm_lets_a_conversion_finish() -> None:
    with serve() as server:
        with contextlib.closing(socket.create_connection(("127.0.0.1", server.port), timeout=60)) as client:
            head = b"POST /convert HTTP/1.1\r\nHost: a\r\nContent-Type: image/png\r\nContent-Length: %d\r\n\r\n"
            client.sendall(head % len(FACE) + FACE)
            for _ in range(2):
                server.get("/healthz")  # Clients are read in turn: afterwards the photo is inside.
            server.process.send_signal(signal.SIGTERM)
            answer = b"".join(iter(lambda: client.recv(65536), b""))
        assert answer.startswith(b"HTTP/1.1 200 OK")
        assert server.wait_for_end() == 0


@pytest.fixture(scope="module")
def pair() -> Iterator[Server]:
    with serve("--preload", "--workers", "2") as shared:
        yield shared


def test_two_workers_forked_from_a_preloaded_application_answer_alike(pair: Server) -> None:
    """The case book's R4 and R16: no thread or session crosses the fork, and the workers agree to the byte."""
    with ThreadPoolExecutor(8) as clients:
        answers = list(clients.map(lambda _: convert(pair, FACE), range(8)))
    assert {answer.status for answer in answers} == {200}
    assert len({answer.body for answer in answers}) == 1


def test_a_killed_worker_is_replaced(pair: Server) -> None:
    killed, kept = pair.workers()
    os.kill(killed, signal.SIGKILL)
    pair.wait_for_output(rf"(?s)pid:{killed}\) was sent SIGKILL.*Booting worker")
    assert convert(pair, FACE).status == 200
    # One of the two may have answered; without the other only the new one can.
    os.kill(kept, signal.SIGKILL)
    pair.wait_for_output(rf"(?s)pid:{kept}\) was sent SIGKILL.*Booting worker")
    assert convert(pair, FACE).status == 200


def test_port_sets_the_port() -> None:
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]
    with serve(environment={"PORT": str(port)}, bind=None, ready=False) as server:
        assert server.port == port
        server.wait_for_output(f"open http://localhost:{port}\n")
        assert server.get("/healthz").status == 200


# --- starts that must fail, in words ---


def for_all_weights(change: Callable[[Path], object]) -> Callable[[Path], None]:
    def change_all(models: Path) -> None:
        for weights in models.glob("*.onnx"):
            change(weights)

    return change_all


SPOILT_MODELS = {
    "zero bytes": for_all_weights(lambda path: path.write_bytes(b"")),
    "pointers of Git LFS": for_all_weights(lambda path: path.write_bytes(LFS_POINTER)),
    "other bytes": for_all_weights(lambda path: path.write_bytes(path.read_bytes()[:-1] + b"?")),
    "no files": for_all_weights(Path.unlink),
    "no models.toml": lambda models: (models / "models.toml").unlink(),
    "broken models.toml": lambda models: (models / "models.toml").write_text("styles = ["),
}


@pytest.fixture
def models(tmp_path: Path) -> Path:
    return Path(shutil.copytree(PROJECT_ROOT / "models", tmp_path / "models"))


@pytest.mark.parametrize("spoil", SPOILT_MODELS.values(), ids=SPOILT_MODELS.keys())
@pytest.mark.parametrize("arguments", [(), ("--preload",)], ids=["one worker", "preloaded"])
def test_a_start_without_any_usable_style_ends_in_words(
    models: Path, spoil: Callable[[Path], object], arguments: tuple[str, ...]
) -> None:
    """The case book's R10."""
    spoil(models)
    assert_ends_in_words({"ANIMEBOOTH_MODELS_DIR": str(models)}, *arguments)


def test_networks_of_a_format_too_new_end_the_start_in_words(models: Path) -> None:
    """Seen only when a session is built, in the background: still no service that never becomes ready."""
    declare_future_format(models)
    assert_ends_in_words({"ANIMEBOOTH_MODELS_DIR": str(models)})


def declare_future_format(models: Path) -> None:
    """Give every network the format version 99, with its checksum corrected in models.toml."""
    import hashlib

    import onnx

    catalogue = (models / "models.toml").read_text(encoding="utf-8")
    for path in models.glob("*.onnx"):
        before = path.read_bytes()
        network = onnx.load(path)
        network.ir_version = 99
        onnx.save(network, path)
        after = path.read_bytes()
        catalogue = catalogue.replace(hashlib.sha256(before).hexdigest(), hashlib.sha256(after).hexdigest())
        catalogue = catalogue.replace(f"bytes = {len(before)}", f"bytes = {len(after)}")
    (models / "models.toml").write_text(catalogue, encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "value"),
    [("PORT", "eight"), ("ANIMEBOOTH_SIZE", "huge"), ("ANIMEBOOTH_COLOUR", "blue"), ("ANIMEBOOTH_RATE_LIMIT", "often")],
)
def test_a_setting_that_cannot_be_ends_the_start_in_words(name: str, value: str) -> None:
    output = assert_ends_in_words({name: value}, bind=None)
    assert name in output


def assert_ends_in_words(environment: dict[str, str], *arguments: str, bind: str | None = "127.0.0.1:0") -> str:
    """Start, expect the end; return what was printed."""
    with serve(*arguments, environment=environment, listening=False, bind=bind) as server:
        assert server.wait_for_end() != 0
        output = server.output
    assert output.count("AnimeBooth cannot start: ") == 1, output
    assert "Traceback" not in output
    assert output.count("Booting worker") <= 1, "it was started again and again"
    return output


def test_one_spoilt_style_leaves_the_other_in_service(models: Path) -> None:
    for weights in models.glob("lite_cute*.onnx"):
        weights.write_bytes(b"")
    with serve(environment={"ANIMEBOOTH_MODELS_DIR": str(models), "ANIMEBOOTH_STYLE": "hayao"}) as server:
        assert convert(server, SMALL, "?style=hayao").status == 200
        answer = convert(server, SMALL, "?style=cute")
        assert answer.status == 503
        assert json.loads(answer.text)["code"] == "style-unavailable"
