"""How the whole service compares with the bare network: ``python -m tools.benchmark``.

Everything is measured in one run on one machine, and what can be is given as a ratio: two things are timed in turn,
A B A B, so that a machine whose speed drifts slows both. Prints a Markdown table; docs/performance.md keeps one.
Takes about four minutes on two cores; ``--quick`` takes fewer samples.
"""

from __future__ import annotations

import argparse
import http.client
import os
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Final

import numpy as np
from PIL import Image

from app.config import PROJECT_ROOT, Settings
from app.imaging.decode import DecodeLimits, decode
from app.imaging.sizing import plan_size, resize
from app.inference.cpu import usable_cpus
from app.inference.registry import ModelRegistry
from app.inference.session import OrtSession
from app.types import Tensor

# The service is started exactly as the integration tests start it.
from tests.server import Server, serve

SIDE: Final = 768
CLIENTS: Final = 8
IDLE_SECONDS: Final = 30.0
SHAPES: Final = 60
REQUESTS: Final = 300
SCENE_STYLE: Final = "hayao"
FACE_STYLE: Final = "cute"
SAMPLES: Final = PROJECT_ROOT / "static" / "samples"
UNCACHED: Final = {"ANIMEBOOTH_CACHE_MIB": "0"}
"""The same pictures are sent again and again, and each time they are to be made."""


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    what: str
    figure: str
    aim: str
    seen: str


@dataclass(frozen=True)
class Effort:
    """How much is measured. pairs: of timed requests. seconds: of each throughput run. starts: of the service."""

    pairs: int
    seconds: float
    starts: int


FULL: Final = Effort(pairs=25, seconds=12.0, starts=5)
QUICK: Final = Effort(pairs=7, seconds=4.0, starts=2)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer samples: a rough look")
    parser.add_argument("--scene", type=Path, default=SAMPLES / "coffee.jpg", help="a photo without a face")
    parser.add_argument("--selfie", type=Path, default=SAMPLES / "astronaut.jpg", help="a photo with one face")
    wishes = parser.parse_args()
    effort = QUICK if wishes.quick else FULL
    scene, selfie = (_at_side(path.read_bytes(), SIDE) for path in (wishes.scene, wishes.selfie))
    print(f"{usable_cpus()} processors, variant {Settings.from_environment().variant}\n")
    print("| What | Seen | Aim | In detail |\n|---|---|---|---|")
    for row in _rows(scene, selfie, effort):
        print(f"| {row.what} | {row.figure} | {row.aim} | {row.seen} |", flush=True)


def _rows(scene: bytes, selfie: bytes, effort: Effort) -> Iterator[Row]:
    with serve(environment=UNCACHED) as server:
        yield _against_bare_run(server, scene, SCENE_STYLE, "without a face", 1.15, effort)
        yield _against_bare_run(server, selfie, FACE_STYLE, "with one face", 1.9, effort)
        yield _throughput(server, scene, effort)
        for side in (256, SIDE):
            yield _against_plain(server, scene, side, effort)
    yield _first_request(scene, effort)
    with serve(environment=UNCACHED) as server:
        yield from _memory(server, scene)
        yield _idle(server)


# The network alone


class Bare:
    """The network of the surroundings, run on the very tensor that a conversion of ``photo`` runs it on."""

    def __init__(self, photo: bytes, style: str = SCENE_STYLE) -> None:
        registry = ModelRegistry.load(PROJECT_ROOT / "models", variant=Settings.from_environment().variant)
        card = registry.card(style)
        self._session = OrtSession(registry.styles[style].path, card, threads=usable_cpus())
        rgb = decode(photo, DecodeLimits()).rgb
        width, height = card.sizes.padded(*plan_size(rgb.shape[1], rgb.shape[0], SIDE))
        levels = resize(rgb, width, height).astype(np.float32) / np.float32(127.5) - 1
        self._tensor: Tensor = np.ascontiguousarray(levels.transpose(2, 0, 1))[None]
        self.run()

    def run(self) -> None:
        """One forward pass."""
        self._session.run(self._tensor)


def _against_bare_run(server: Server, photo: bytes, style: str, case: str, aim: float, effort: Effort) -> Row:
    bare = Bare(photo)
    with closing(Client(server.port)) as client:
        pairs = _alternate(lambda: client.convert(photo, style=style), bare.run, effort.pairs)
    ratio, ours, theirs = _ratio(pairs)
    return Row(
        f"`/convert` at {SIDE} px {case} / bare `session.run`",
        f"{ratio:.2f}",
        f"at most {aim:g}",
        f"medians {ours * 1e3:.0f} and {theirs * 1e3:.0f} ms over {effort.pairs} pairs",
    )


def _throughput(server: Server, photo: bytes, effort: Effort) -> Row:
    bare, rates = Bare(photo), []
    for _ in range(2):
        alone = _rate([bare.run], effort.seconds)
        with _clients(server.port, CLIENTS) as clients:
            together = _rate([_poster(client, photo) for client in clients], effort.seconds)
        rates.append((together, alone))
    together, alone = (statistics.mean(column) for column in zip(*rates, strict=True))
    return Row(
        f"throughput of {CLIENTS} clients / of a loop of `session.run`",
        f"{together / alone:.2f}",
        "at least 0.9",
        f"{together:.2f} and {alone:.2f} pictures a second",
    )


def _poster(client: Client, photo: bytes) -> Callable[[], None]:
    return lambda: client.convert(photo, style=SCENE_STYLE)


# Against the plain program


def _against_plain(server: Server, photo: bytes, side: int, effort: Effort) -> Row:
    with _plain_service(side) as port, closing(Client(server.port)) as ours, closing(Client(port)) as plain:
        pairs = _alternate(
            lambda: ours.convert(photo, style=SCENE_STYLE, size=str(side), face="off"),
            lambda: plain.convert(photo),
            effort.pairs,
        )
    ratio, mine, theirs = _ratio(pairs)
    return Row(
        f"`/convert` at {side} px / the plain Flask program ({side} x {side}, PNG)",
        f"{ratio:.2f}",
        "below 1",
        f"medians {mine * 1e3:.0f} and {theirs * 1e3:.0f} ms over {effort.pairs} pairs",
    )


@contextmanager
def _plain_service(side: int) -> Iterator[int]:
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port: int = free.getsockname()[1]
    model = PROJECT_ROOT / "models" / "lite_hayao.onnx"
    command = [sys.executable, "-m", "tools.plain_service", f"--model={model}", f"--side={side}", f"--port={port}"]
    process = subprocess.Popen(command, cwd=PROJECT_ROOT, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        _wait_for_port(port)
        yield port
    finally:
        process.terminate()
        process.wait()


def _wait_for_port(port: int, limit: float = 30.0) -> None:
    end = time.monotonic() + limit
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)
        else:
            return


# Over a service's life


def _first_request(photo: bytes, effort: Effort) -> Row:
    ratios, firsts = [], []
    for _ in range(effort.starts):
        with serve(environment=UNCACHED) as server, closing(Client(server.port)) as client:
            times = [_seconds(lambda: client.convert(photo, style=SCENE_STYLE)) for _ in range(10)]
        ratios.append(times[0] / times[-1])
        firsts.append(times[0])
    return Row(
        "first request / tenth",
        f"{statistics.median(ratios):.2f}",
        "at most 1.1",
        f"median of {effort.starts} starts; the first took {statistics.median(firsts) * 1e3:.0f} ms",
    )


def _memory(server: Server, photo: bytes) -> Iterator[Row]:
    worker = server.workers()[0]
    start = _resident_mib(worker)
    photos = _shapes(photo, SHAPES)
    with closing(Client(server.port)) as client:
        client.convert(photos[0])
        one = _resident_mib(worker)
        for number in range(1, SHAPES):
            client.convert(photos[number])
        sixty = _resident_mib(worker)
        for number in range(SHAPES, REQUESTS):
            client.convert(photos[number % SHAPES])
    last = _resident_mib(worker)
    yield Row(
        f"RSS after {REQUESTS} requests of {SHAPES} sizes / after the {SHAPES}th",
        f"{last / sixty:.2f}",
        "below 1.1",
        f"{start:.0f} MiB at the start, {one:.0f} after 1, {sixty:.0f} after {SHAPES}, {last:.0f} after {REQUESTS}",
    )


def _idle(server: Server) -> Row:
    processes = [server.process.pid, *server.workers()]
    before = sum(map(_cpu_seconds, processes))
    time.sleep(IDLE_SECONDS)
    burnt = sum(map(_cpu_seconds, processes)) - before
    return Row(f"CPU seconds burnt in {IDLE_SECONDS:.0f} idle seconds", f"{burnt:.2f}", "below 0.3", "after requests")


def _shapes(photo: bytes, count: int) -> list[bytes]:
    """``photo`` at ``count`` different sizes and ratios, as JPEG."""
    with Image.open(BytesIO(photo)) as opened:
        picture = opened.convert("RGB")
    return [_jpeg(picture.resize((320 + 13 * number, 760 - 9 * number))) for number in range(count)]


# Tools of the trade


class Client:
    """One kept connection to a service on loopback."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)

    def convert(self, photo: bytes, **options: str) -> None:
        """Post ``photo`` as a form, as browsers do, and read the whole answer. Raises RuntimeError for no picture."""
        body, content_type = _form(photo, options)
        self._connection.request("POST", "/convert", body, {"Content-Type": content_type, "Accept": "*/*"})
        answer = self._connection.getresponse()
        content = answer.read()
        if answer.status != http.HTTPStatus.OK:
            raise RuntimeError(f"{answer.status}: {content[:300]!r}")

    def close(self) -> None:
        """End the connection."""
        self._connection.close()


@contextmanager
def _clients(port: int, count: int) -> Iterator[list[Client]]:
    clients = [Client(port) for _ in range(count)]
    try:
        yield clients
    finally:
        for client in clients:
            client.close()


def _form(photo: bytes, options: dict[str, str]) -> tuple[bytes, str]:
    mark = "----animebooth-benchmark"
    fields = [f'--{mark}\r\nContent-Disposition: form-data; name="{k}"\r\n\r\n{v}\r\n' for k, v in options.items()]
    file = f'--{mark}\r\nContent-Disposition: form-data; name="image"; filename="photo.jpg"\r\n\r\n'
    body = "".join(fields).encode() + file.encode() + photo + f"\r\n--{mark}--\r\n".encode()
    return body, f"multipart/form-data; boundary={mark}"


def _at_side(photo: bytes, side: int) -> bytes:
    """``photo`` as a JPEG with ``side`` px on its longest side."""
    rgb = decode(photo, DecodeLimits()).rgb
    scale = side / max(rgb.shape[:2])
    return _jpeg(Image.fromarray(resize(rgb, round(rgb.shape[1] * scale), round(rgb.shape[0] * scale))))


def _jpeg(picture: Image.Image) -> bytes:
    buffer = BytesIO()
    picture.save(buffer, "JPEG", quality=90)
    return buffer.getvalue()


def _alternate(ours: Callable[[], None], theirs: Callable[[], None], pairs: int) -> list[tuple[float, float]]:
    ours()
    theirs()
    return [(_seconds(ours), _seconds(theirs)) for _ in range(pairs)]


def _ratio(pairs: list[tuple[float, float]]) -> tuple[float, float, float]:
    """The median of the pairs' ratios, and each side's own median."""
    ours, theirs = zip(*pairs, strict=True)
    return statistics.median(a / b for a, b in pairs), statistics.median(ours), statistics.median(theirs)


def _rate(jobs: list[Callable[[], None]], seconds: float) -> float:
    """Calls a second of ``jobs``, each repeated in a thread of its own until ``seconds`` are over."""
    end = time.perf_counter() + seconds
    counts = [0] * len(jobs)

    def repeat(number: int) -> None:
        while time.perf_counter() < end:
            jobs[number]()
            counts[number] += 1

    start = time.perf_counter()
    threads = [threading.Thread(target=repeat, args=(number,)) for number in range(len(jobs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(counts) / (time.perf_counter() - start)


def _seconds(job: Callable[[], None]) -> float:
    start = time.perf_counter()
    job()
    return time.perf_counter() - start


def _resident_mib(process: int) -> float:
    status = Path(f"/proc/{process}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS:")) / 1024


def _cpu_seconds(process: int) -> float:
    # proc(5): user and system time are fields 14 and 15; the name, field 2, may hold spaces.
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
