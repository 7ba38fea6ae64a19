"""The command ``python -m tools.optimize``: its options, and how the parts of the workshop come together."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from app.config import PROJECT_ROOT
from app.inference.cpu import usable_cpus
from app.inference.registry import ModelRegistry
from tools.command import FAILED, whole_file, whole_number
from tools.judge.bars import DEFAULT_BARS, parse_bars
from tools.judge.subjects import Subject, find_subject
from tools.pictures import DEFAULT_FOLDERS, LEAST_SIDE, find_photos, load_photos
from tools.shrink.eight_bits import EightBits
from tools.shrink.files import read_full_precision
from tools.shrink.int8 import ACTIVATIONS, METHODS, PERCENTILE, Int8Options, usual_ways
from tools.shrink.panel import Panel
from tools.shrink.photos import PhotoTensors, Split, split
from tools.shrink.report import Circumstances, as_json, as_text, digest
from tools.shrink.search import Point
from tools.shrink.workshop import SUFFIXES, USUAL, Workshop

CALIBRATING: Final = 100
FEW_CALIBRATING: Final = 50
JUDGING: Final = 12
SIZE: Final = 256
SECONDS: Final = 300
BEST: Final = "best"
ROUNDS: Final = 11


def run(description: str, arguments: list[str] | None = None) -> int:
    """The command; its exit code. description: what ``--help`` says first."""
    options = _parser(description).parse_args(arguments)
    bars = parse_bars(options.bars)
    subject = find_subject(options.model, ModelRegistry.read(options.models), like=options.like)
    # Before minutes are spent on it.
    read_full_precision(subject.path)
    photos = split(find_photos(_folders(options), limit=options.calibrating + options.judging), options.judging)
    circumstances = _circumstances(subject, photos, options)
    _say(str(circumstances))
    panel = _panel(subject, photos, options)
    curve: dict[int, Point] = {}
    workshop = Workshop(
        panel,
        _eight_bits(panel, photos, circumstances, curve, options),
        stem=subject.path.stem,
        int8_bars=bars,
        rounds=options.rounds,
        tell=_say,
    )
    outcome = workshop.run(options.make, options.out)
    print("\n".join(as_text(subject.path, outcome, curve)))
    with whole_file(options.out / f"{subject.path.stem}_optimize.json") as part:
        part.write_text(as_json(circumstances, subject.path, outcome, curve), encoding="utf-8")
    return FAILED if outcome.refused else 0


def _panel(subject: Subject, photos: Split, options: argparse.Namespace) -> Panel:
    judging = list(load_photos(list(photos.judging), options.size))
    return Panel(subject.card, subject.path, judging, side=options.size, threads=options.threads)


def _eight_bits(
    panel: Panel, photos: Split, circumstances: Circumstances, curve: dict[int, Point], options: argparse.Namespace
) -> EightBits:
    return EightBits(
        panel,
        PhotoTensors(panel.card, photos.calibrating, options.calibration_size),
        _ways(options),
        parse_bars(options.bars),
        seconds=options.seconds,
        # Whatever the ranges and the search depend on is in the digest: another question finds another folder.
        keep=options.out / f"{panel.reference.stem}_search" / digest(circumstances),
        tell=lambda point: curve.update({point.fp32: point}),
    )


def _ways(options: argparse.Namespace) -> tuple[Int8Options, ...]:
    usual = Int8Options(activations=options.activations, weight_bits=options.weight_bits, percentile=options.percentile)
    return usual_ways(usual) if options.method == BEST else (replace(usual, method=options.method),)


def _circumstances(subject: Subject, photos: Split, options: argparse.Namespace) -> Circumstances:
    return Circumstances(
        network=subject.weights.sha256,
        judging=tuple(path.name for path in photos.judging),
        calibrating=tuple(path.name for path in photos.calibrating),
        shared=photos.shared,
        size=options.size,
        calibration_size=options.calibration_size,
        threads=options.threads,
        int8=_ways(options),
        bars=tuple(map(str, parse_bars(options.bars))),
    )


def _folders(options: argparse.Namespace) -> tuple[Path, ...]:
    return tuple(options.photos) if options.photos else DEFAULT_FOLDERS


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _parser(description: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tools.optimize",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("model", metavar="MODEL", help="a style, or an FP32 model file")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="where the files go")
    kinds = f"of {', '.join(SUFFIXES)}; comma by comma (default: {','.join(USUAL)})"
    parser.add_argument("--make", type=_kinds, default=USUAL, metavar="KINDS", help=kinds)
    _add_photo_options(parser.add_argument_group("photos"))
    _add_int8_options(parser.add_argument_group("INT8"))
    _add_run_options(parser.add_argument_group("runs"))
    return parser


def _add_photo_options(group: argparse._ArgumentGroup) -> None:
    add = partial(group.add_argument, metavar="N")
    group.add_argument("--photos", type=Path, action="append", metavar="DIR", help="a folder; may be repeated")
    px, of = whole_number(LEAST_SIDE), "longest side in px of the photos that"
    add("--size", type=px, default=SIZE, help=f"{of} judge (default: %(default)s)")
    add("--calibration-size", type=px, default=SIZE, help=f"{of} calibrate (default: %(default)s)")
    add("--judging", type=whole_number(1), default=JUDGING, help="photos that judge (default: %(default)s)")
    add("--calibrating", type=whole_number(1), default=CALIBRATING, help="photos that calibrate (default: %(default)s)")


def _add_int8_options(group: argparse._ArgumentGroup) -> None:
    usual = Int8Options()
    add = group.add_argument
    ways = ", ".join(way.calibration for way in usual_ways(usual))
    method = f"how ranges are found; {BEST}: of {ways} the one furthest from the bars (default: %(default)s)"
    add("--method", choices=(BEST, *METHODS), default=BEST, help=method)
    add(
        "--percentile",
        type=_percentile,
        default=PERCENTILE,
        metavar="P",
        help="of a tensor's numbers that its range holds, with --method percentile (default: %(default)s)",
    )
    add("--activations", choices=ACTIVATIONS, default=usual.activations, help="int8 for ARM (default: %(default)s)")
    bits = "8 for ARM, and for x86 with VNNI (default: %(default)s)"
    add("--weight-bits", type=int, choices=(7, 8), default=usual.weight_bits, help=bits)
    add("--bars", default=DEFAULT_BARS, help="to be met, written as for tools.verify (default: %(default)s)")
    seconds = "for the search of nodes that stay FP32 (default: %(default)s)"
    add("--seconds", type=whole_number(1), default=SECONDS, metavar="N", help=seconds)


def _add_run_options(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--threads", type=whole_number(1), default=usable_cpus(), metavar="N", help="of a run (default: %(default)s)")
    rounds = "timed runs of each file (default: %(default)s)"
    add("--rounds", type=whole_number(1), default=ROUNDS, metavar="N", help=rounds)
    add("--like", metavar="STYLE", help="for model files: take this style's card, do not look yourself")
    add("--models", type=Path, default=PROJECT_ROOT / "models", help="folder with models.toml")


def _kinds(text: str) -> tuple[str, ...]:
    kinds = tuple(kind.strip() for kind in text.split(","))
    unknown = [kind for kind in kinds if kind not in SUFFIXES]
    if unknown:
        raise argparse.ArgumentTypeError(f"“{unknown[0]}” is none of {', '.join(SUFFIXES)}")
    return kinds


def _percentile(text: str) -> float:
    number = float(text)
    if not 50 < number <= 100:
        raise argparse.ArgumentTypeError(f"“{text}” must be above 50 and at most 100")
    return number
