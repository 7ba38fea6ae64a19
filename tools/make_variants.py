"""Smaller variants of built-in styles: ``python -m tools.make_variants STYLE ... [--weights NEW.onnx]``.

Makes the FP16 and INT8 files of each style by tools.optimize, judges them by tools.verify, and puts them with their
SHA-256 and verdicts into the models' folder. With --weights the style's network is another one from now on; with
--small alone, its smaller network for slow machines is, which has no other precisions. Files and models.toml change
together at the end, or nothing does. Exit code: 1 where a variant was not made or did not pass.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Final

from app.config import PROJECT_ROOT
from app.inference.cpu import usable_cpus
from app.library.inspection import Needs, inspect_network
from app.types import StyleId
from tools import optimize, verify
from tools.command import FAILED, ToolError, check_file, run_command, whole_number
from tools.judge.card_entry import card_entry
from tools.judge.outcome import as_text
from tools.judge.subjects import probes
from tools.pictures import LEAST_SIDE
from tools.variants.making import SMALLER, Makers, make_variants, put_small, put_weights
from tools.variants.staging import staged

SIZE: Final = 512
"""What a face is drawn at: damage that does not show at half of it may show there."""

SECONDS: Final = 900


def main(arguments: list[str] | None = None) -> int:
    """The command; its exit code."""
    options = _parser().parse_args(arguments)
    if options.weights and len(options.styles) > 1:
        raise ToolError("--weights goes with one style.")
    if options.small and (options.weights or len(options.styles) > 1):
        raise ToolError("--small goes with one style and nothing else.")
    failures: list[str] = []
    with staged(options.models) as models:
        for style in options.styles:
            if options.small:
                put_small(models, style, check_file(options.small), _look)
                continue
            if options.weights:
                put_weights(models, style, check_file(options.weights), _look)
            make_variants(models, style, options.out / style, _makers(options, failures))
    return FAILED if failures else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tools.make_variants",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("styles", nargs="+", metavar="STYLE", help="styles of models.toml")
    parser.add_argument("--weights", type=Path, metavar="FILE.onnx", help="the FP32 network to take from now on")
    parser.add_argument("--small", type=Path, metavar="FILE.onnx", help="the smaller network to take from now on")
    add, default = parser.add_argument, "(default: %(default)s)"
    add("--photos", type=Path, action="append", default=[], metavar="DIR", help="a folder; may be repeated")
    add("--size", type=whole_number(LEAST_SIDE), default=SIZE, metavar="PX", help=f"longest side {default}")
    add("--seconds", type=whole_number(1), default=SECONDS, metavar="N", help=f"for the search of each INT8 {default}")
    add("--models", type=Path, default=PROJECT_ROOT / "models", metavar="DIR", help="folder with models.toml")
    out = "what is on the way, for the next run to go on from"
    add("--out", type=Path, default=PROJECT_ROOT / "out" / "variants", metavar="DIR", help=out)
    return parser


def _look(path: Path) -> Needs:
    return inspect_network(path, probes(), threads=usable_cpus())


def _makers(options: argparse.Namespace, failures: list[str]) -> Makers:
    photos = [word for folder in options.photos for word in ("--photos", str(folder))]

    def run_optimize(style: StyleId, models: Path, folder: Path) -> None:
        kinds = ",".join(kind for kind, _ in SMALLER.values())
        words = ["--models", str(models), "--out", str(folder), "--make", kinds, "--seconds", str(options.seconds)]
        optimize.main([style, *words, "--size", str(options.size), *photos])

    def run_verify(style: StyleId, variant: str, models: Path) -> str | None:
        words = ["--bars", variant, "--size", str(options.size), "--models", str(models), *photos]
        outcome = verify.judged([style, f"{style}:{variant}", *words])
        print(as_text(outcome))
        return card_entry(outcome) if outcome.passed else None

    def tell(sentence: str) -> None:
        failures.append(sentence)
        print(sentence, file=sys.stderr)

    return Makers(run_optimize, run_verify, tell)


if __name__ == "__main__":
    run_command(main)
