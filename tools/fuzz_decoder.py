"""Feed damaged pictures to the decoder: ``python -m tools.fuzz_decoder --inputs 100000``.

Each is a file of the case book, or a small picture in one of the kinds that are read, changed in up to five places;
Hypothesis draws the changes, and makes what it finds smaller. The decoder runs in a process of its own, with bounded
memory. A fault is: an exception that is no RequestError, the death of the process, more than 2 s of processor time,
more than 300 MiB, a picture of another form than it says, and one that shows memory nobody has written.

The folder given by --out keeps state.json (after each batch) and findings/; the same command goes on where it was
broken off. Exit code 1 where anything has been found. Linux only: what memory has come to is read from /proc.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from app.config import PROJECT_ROOT
from tools.command import FAILED, run_command, whole_number
from tools.fuzz.campaign import MOST_MIB, Campaign, Extreme, Progress
from tools.fuzz.seeds import case_book, large_pictures, small_pictures
from tools.fuzz.subject import Subject

INPUTS: Final = 100_000
_TOLD_EVERY: Final = 60.0
"""Seconds between two lines of progress."""


def main(arguments: list[str] | None = None) -> int:
    """The command; its exit code."""
    options = _parser().parse_args(arguments)
    large = [] if options.no_large else large_pictures(options.out / "large")
    # Small ones first: Hypothesis makes a finding smaller by moving towards the first.
    seeds = [*small_pictures(), *case_book()]
    with Subject(whole=options.whole) as subject:
        most = math.inf if options.whole else MOST_MIB
        campaign = Campaign(options.out, subject, seeds, large, number=options.seed, most_mib=most)
        progress = campaign.run(options.inputs, _teller(options.inputs))
    print(_summary(progress))
    return FAILED if progress.findings else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tools.fuzz_decoder",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--inputs", type=whole_number(1), default=INPUTS, metavar="N", help="files to try (default: %(default)s)"
    )
    parser.add_argument(
        "--seed", type=whole_number(0), default=1, metavar="N", help="another number draws other changes (default: 1)"
    )
    parser.add_argument(
        "--whole", action="store_true", help="decode in all pixels, as for answers of the original size"
    )
    parser.add_argument("--no-large", action="store_true", help="leave out the vast pictures, which take seconds each")
    parser.add_argument(
        "--out", type=Path, default=PROJECT_ROOT / "out" / "fuzz-decoder", metavar="DIR", help="where its state is kept"
    )
    return parser


def _teller(inputs: int) -> Callable[[Progress], None]:
    start, told, first = time.monotonic(), time.monotonic(), -1

    def tell(progress: Progress) -> None:
        nonlocal told, first
        first = progress.inputs if first < 0 else first
        now = time.monotonic()
        if now - told >= _TOLD_EVERY:
            told = now
            rate = (progress.inputs - first) / (now - start)
            found = len(progress.findings)
            print(f"{progress.inputs} of {inputs}, {rate:.0f} a second, {found} findings", file=sys.stderr, flush=True)

    return tell


def _summary(progress: Progress) -> str:
    lines = [f"{progress.inputs} files, seed {progress.seed}", ""]
    answers = sorted(progress.answers.items(), key=lambda item: -item[1])
    lines += [f"    {count:8}  {answer}" for answer, count in answers]
    lines += ["", f"longest: {_told(progress.longest, 's')}", f"largest: {_told(progress.largest, 'MiB')}", ""]
    lines += [f"FOUND {found.times} times: {found.fault} (findings/{found.file})" for found in progress.findings]
    return "\n".join(lines if progress.findings else [*lines, "nothing found"])


def _told(extreme: Extreme, unit: str) -> str:
    how = "; ".join(extreme.changes) or "unchanged"
    return f"{extreme.amount:.2f} {unit}, {extreme.container}, from {extreme.seed}: {how}"


if __name__ == "__main__":
    run_command(main)
