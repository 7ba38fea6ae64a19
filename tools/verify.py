"""Judge one network by another: ``python -m tools.verify A B [--photos DIR] [--report FILE.html]``.

A and B are styles (``hayao``), variants of them (``hayao:int8``) or model files. Both run over the photos and over made
pictures of sky, skin and darkness by the code that serves; B is measured against A and held against bars. Exit code:
0 passed, 1 failed, 2 the command could not do its work.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Final

from app.config import PROJECT_ROOT
from app.inference.cpu import usable_cpus
from app.inference.registry import ModelRegistry
from tools.command import FAILED, run_command, whole_file, whole_number
from tools.judge.bars import BAR_SETS, DEFAULT_BARS, judge, parse_bars
from tools.judge.card_entry import card_entry
from tools.judge.comparison import Painter, compare
from tools.judge.outcome import Outcome, as_data, as_text
from tools.judge.report import html_report
from tools.judge.subjects import Subject, find_subject
from tools.measures.made import made_pictures
from tools.pictures import DEFAULT_FOLDERS, LEAST_SIDE, Photo, find_photos, load_photos

DEFAULT_PHOTOS: Final = 12
DEFAULT_SIZE: Final = 512
DEFAULT_SHOWN: Final = 12


def main(arguments: list[str] | None = None) -> int:
    """The command; its exit code."""
    options = _parser().parse_args(arguments)
    outcome = _judged(options)
    _tell(outcome, options)
    return 0 if outcome.passed else FAILED


def judged(arguments: list[str]) -> Outcome:
    """The verdict that the command with these arguments comes to, for other commands; nothing is printed."""
    return _judged(_parser().parse_args(arguments))


def _judged(options: argparse.Namespace) -> Outcome:
    bars = parse_bars(options.bars)
    registry = ModelRegistry.read(options.models)
    a, b = (find_subject(text, registry, like=options.like) for text in (options.a, options.b))
    comparison = compare(
        _painter(a, options.threads),
        _painter(b, options.threads),
        _progress(load_photos(find_photos(_folders(options), limit=options.limit), options.size)),
        [Photo(name, rgb) for name, rgb in made_pictures(options.size, options.size).items()],
    )
    held = judge(bars, comparison.mean, comparison.worst)
    return Outcome(a, b, comparison, held, options.size, options.threads, _command(options), date.today())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tools.verify", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    count, default = whole_number(1), "(default: %(default)s)"
    parser.add_argument("a", metavar="A", help="the network to be met: STYLE, STYLE:VARIANT or a model file")
    parser.add_argument("b", metavar="B", help="the network that is judged, named likewise")
    parser.add_argument("--photos", type=Path, action="append", metavar="DIR", help="folder of photos; repeatable")
    parser.add_argument("--limit", type=count, default=DEFAULT_PHOTOS, help=f"most photos {default}")
    parser.add_argument("--size", type=whole_number(LEAST_SIDE), default=DEFAULT_SIZE, help=f"longest side {default}")
    parser.add_argument("--threads", type=count, default=usable_cpus(), help=f"of one run {default}")
    bars = f"{', '.join(BAR_SETS)}, or measures like ssim=0.98,worst:banding=1 {default}"
    parser.add_argument("--bars", default=DEFAULT_BARS, help=bars)
    parser.add_argument("--like", metavar="STYLE", help="for model files: take this style's card, do not look yourself")
    parser.add_argument("--models", type=Path, default=PROJECT_ROOT / "models", help="folder with models.toml")
    parser.add_argument("--report", type=Path, metavar="FILE.html", help="write a page with the pictures side by side")
    parser.add_argument("--shown", type=whole_number(0), default=DEFAULT_SHOWN, help=f"photos on it {default}")
    parser.add_argument("--json", action="store_true", help="print everything as JSON instead of a table")
    parser.add_argument("--card", action="store_true", help="print what goes into the card of B instead")
    return parser


def _folders(options: argparse.Namespace) -> tuple[Path, ...]:
    return tuple(options.photos) if options.photos else DEFAULT_FOLDERS


def _painter(subject: Subject, threads: int) -> Painter:
    return Painter(subject.card, subject.session(threads))


def _progress(photos: Iterator[Photo]) -> Iterator[Photo]:
    for number, photo in enumerate(photos, 1):
        if sys.stderr.isatty():
            print(f"\r{number}: {photo.name}\033[K", end="", file=sys.stderr)
        yield photo
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)


def _command(options: argparse.Namespace) -> str:
    """What would do the same again, without folders of this machine."""
    words = ["python", "-m", "tools.verify", options.a, options.b, "--bars", options.bars, "--size", str(options.size)]
    return shlex.join([*words, "--limit", str(options.limit)])


def _tell(outcome: Outcome, options: argparse.Namespace) -> None:
    if options.report:
        with whole_file(options.report) as part:
            part.write_text(html_report(outcome, most_photos=options.shown), encoding="utf-8")
    if options.card:
        print(card_entry(outcome))
    elif options.json:
        print(json.dumps(as_data(outcome), indent=2, allow_nan=False))
    else:
        print(as_text(outcome))


if __name__ == "__main__":
    run_command(main)
