"""A checkpoint to ONNX: ``python -m tools.convert_checkpoint FILE --out X.onnx``.

Takes PyTorch checkpoints of AnimeGANv2, AnimeGANv3 and Lite, and TensorFlow's frozen graphs (.pb) and TFLite files.
The network made is compared with the one it was made from, on pictures, before the file appears; exit code 1 where they
differ.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import Final

from tools.command import FAILED, ToolError, run_command
from tools.convert.environment import DEFAULT_CACHE
from tools.convert.failure import CheckFailed
from tools.convert.kinds import kind_of
from tools.convert.tensorflow import Ends, convert_tensorflow

_OPSET: Final = 17

_SIZE: Final = re.compile(r"([1-9]\d{0,4})x([1-9]\d{0,4})")

FAMILY_NAMES: Final = ("lite", "lite2", "animegan-v2", "animegan-v2-halfpixel", "animegan-v3")
"""The keys of tools.networks.families.FAMILIES, which only PyTorch checkpoints need, and which need PyTorch."""


def main() -> int:
    """The command."""
    options = _parser().parse_args()
    height, width = _sides(options.fixed)
    try:
        if kind_of(options.file) == "pytorch":
            _pytorch(options, height, width)
        else:
            _tensorflow(options, height, width)
    except CheckFailed as failure:
        print(f"{failure} {options.out} is not written.", file=sys.stderr)
        return FAILED
    print(f"wrote {options.out}")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tools.convert_checkpoint",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", type=Path, help="PyTorch checkpoint, frozen graph (.pb) or TFLite file")
    parser.add_argument("--out", type=Path, required=True, help="ONNX file to write")
    parser.add_argument("--opset", type=int, default=_OPSET, help="12 to 18 (default %(default)s)")
    parser.add_argument("--fixed", metavar="HxW", help="height and width in px; without it both are free")
    parser.add_argument("--batch", type=int, help="pictures at a time; without it any number")
    parser.add_argument("--family", choices=FAMILY_NAMES, help="PyTorch: the network, where its keys do not tell")
    parser.add_argument("--input", metavar="TENSOR", help="frozen graphs: name of the input, where there are several")
    parser.add_argument("--output", metavar="TENSOR", help="frozen graphs: name of the output, where there are several")
    parser.add_argument(
        "--cache", type=Path, default=DEFAULT_CACHE, help="folder for TensorFlow's environment (default %(default)s)"
    )
    return parser


def _sides(fixed: str | None) -> tuple[int | None, int | None]:
    if fixed is None:
        return None, None
    match = _SIZE.fullmatch(fixed)
    if match is None:
        raise ToolError(f"--fixed {fixed} is no size: write height and width, as in 512x384.")
    return int(match[1]), int(match[2])


def _pytorch(options: argparse.Namespace, height: int | None, width: int | None) -> None:
    try:
        import torch  # noqa: F401
    except ImportError as error:
        raise ToolError("PyTorch is not installed: `pip install -r requirements-tools.txt`.") from error
    # Here, as TensorFlow's files need no PyTorch.
    from tools.convert.pytorch import convert_pytorch
    from tools.export import Form

    if options.batch is not None and options.batch < 1:
        raise ToolError(f"--batch {options.batch} is no number of pictures.")
    form = Form(options.opset, options.batch, height, width)
    convert_pytorch(options.file, options.out, form, family=options.family, tell=print)


def _tensorflow(options: argparse.Namespace, height: int | None, width: int | None) -> None:
    ends = Ends(options.input, options.output)
    shape = (options.batch, height, width)
    convert_tensorflow(options.file, options.out, options.opset, shape, ends, cache=options.cache, tell=print)


if __name__ == "__main__":
    run_command(main)
