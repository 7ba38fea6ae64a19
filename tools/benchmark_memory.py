"""Whether conversions take the memory they are expected to: ``python -m tools.benchmark_memory``.

Each case is converted in a fresh process, as the service would. Prints a Markdown table: what was expected of it
(app.workload), and by how much the process grew at its peak above what it has at rest. Linux alone tells peaks.
"""

from __future__ import annotations

import argparse
import multiprocessing
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import numpy as np
from PIL import Image

from app.config import PROJECT_ROOT, Settings
from app.engine import Engine
from app.inference.memory import resident_memory
from app.options import MAX_STRENGTH, ConvertOptions
from tools.bench.cell import peak_rss
from tools.command import ToolError, run_command

FACES: Final = 12
MEBIBYTE: Final = 1 << 20
_CLEAR_REFS: Final = Path("/proc/self/clear_refs")
_FORGET_PEAK: Final = "5"
"""Linux kernel, Documentation/filesystems/proc.rst: resets the peak of resident memory."""


@dataclass(frozen=True, slots=True)
class Case:
    """One conversion. megapixels: of the upload, about. kind, saved: of the file, as Pillow names them."""

    megapixels: float
    kind: str
    options: ConvertOptions
    faces: bool = False
    transparent: bool = False
    saved: tuple[tuple[str, Any], ...] = ()

    @property
    def name(self) -> str:
        """For people."""
        words = [f"{self.megapixels:g} MP {self.kind}", *(name for name, _ in self.saved if name == "progressive")]
        size = self.options.size if isinstance(self.options.size, str) else f"{self.options.size} px"
        words += ["transparent"] * self.transparent + [f"{FACES} faces" if self.faces else "no face"]
        words += [f"{self.options.style}", str(size)] + ["a portrait"] * (self.options.face == "only")
        words += [f"as {self.options.format}"] * bool(self.options.format)
        return ", ".join([*words, *[f"strength {self.options.strength}"] * (self.options.strength < MAX_STRENGTH)])


def _cases() -> Iterator[Case]:
    hayao, cute = (partial(ConvertOptions, style=style) for style in ("hayao", "cute"))
    yield Case(0.4, "JPEG", hayao(size=768))
    yield Case(1, "JPEG", hayao(size=1024))
    yield Case(12, "JPEG", hayao(size=768))
    yield Case(12, "JPEG", cute(size=768), faces=True)
    yield Case(12, "JPEG", hayao(size=768), saved=(("progressive", True),))
    yield Case(12, "PNG", hayao(size=768))
    yield Case(12, "WEBP", hayao(size=768))
    yield Case(12, "JPEG", hayao(size="original"))
    for format in ("webp", "avif"):
        yield Case(12, "JPEG", hayao(size="original", format=format))
    yield Case(12, "PNG", hayao(size="original", strength=50), transparent=True)
    yield Case(12, "JPEG", hayao(size=4096, face="only"), faces=True)
    yield Case(48, "JPEG", hayao(size=768))
    yield Case(48, "JPEG", cute(size="original"), faces=True)
    yield Case(48, "PNG", hayao(size=768))
    yield Case(48, "PNG", hayao(size="original", format="png"))


def main(arguments: list[str] | None = None) -> int:
    """The command; its exit code: 1 where a case took more than was expected of it."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.benchmark_memory",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--most", type=float, default=50.0, metavar="MP", help="leave out uploads above it")
    options = parser.parse_args(arguments)
    if not _CLEAR_REFS.exists():
        raise ToolError("This system does not tell peaks of memory.")
    print("| Upload and answer | expected, MiB | seen, MiB |\n|---|---|---|")
    fits = True
    for case in _cases():
        if case.megapixels <= options.most:
            expected, seen = _alone(measure, case)
            fits = fits and seen <= expected
            print(f"| {case.name} | {expected / MEBIBYTE:.0f} | {seen / MEBIBYTE:.0f} |", flush=True)
    return 0 if fits else 1


def _alone(work: Callable[[Case], tuple[int, int]], case: Case) -> tuple[int, int]:
    # Spawned, not forked: memory that this process has touched must not count.
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(work, case).result()


def measure(case: Case) -> tuple[int, int]:
    """(expected, seen) bytes of ``case``, in this process, which should be a fresh one."""
    data = _upload(case)
    engine = Engine.from_settings(Settings(cache_mib=0, memory_mib=1 << 20, max_upload_mib=1024, slow_seconds=0.0))
    engine.start(warm=False)
    # Everything is loaded by a first picture, too small to leave much behind.
    engine.convert_with(_upload(Case(0.004, "PNG", case.options)), replace(case.options, face="auto"))
    expected, rest = engine.weigh(data, case.options).bytes, resident_memory()
    _CLEAR_REFS.write_text(_FORGET_PEAK)
    result = engine.convert_with(data, case.options)
    if case.faces and case.options.face == "auto" and result.faces != FACES:
        raise ToolError(f"{case.name}: {result.faces} faces were found.")
    return expected, peak_rss() - rest


def _upload(case: Case) -> bytes:
    file = BytesIO()
    photo = _photo(case)
    if case.transparent:
        photo.putalpha(photo.getchannel("G"))
    photo.save(file, case.kind, **dict(case.saved))
    return file.getvalue()


def _photo(case: Case) -> Image.Image:
    width = round((case.megapixels * 1e6 * 4 / 3) ** 0.5)
    size = (width, width * 3 // 4)
    if case.faces:
        return _crowd().resize(size, Image.Resampling.BICUBIC)
    noise = np.random.default_rng(1).integers(0, 256, (size[1] // 8, size[0] // 8, 3), np.uint8)
    return Image.fromarray(noise).resize(size, Image.Resampling.BICUBIC)


def _crowd() -> Image.Image:
    """The same face twelve times, four across."""
    with Image.open(PROJECT_ROOT / "static" / "samples" / "astronaut.jpg") as sample:
        side = sample.width // 2
        face = sample.convert("RGB").crop((side * 7 // 16, 0, side * 23 // 16, side))
    crowd = Image.new("RGB", (4 * side, 3 * side))
    for place in range(FACES):
        crowd.paste(face, (place % 4 * side, place // 4 * side))
    return crowd


if __name__ == "__main__":
    run_command(main)
