"""A style as files for phones: ``python -m tools.bundle STYLE_OR_FILE --out DIR [--sizes 256 384 512]``.

Makes the network for fixed sizes as ONNX and in ONNX Runtime's own format, for ncnn and for OpenVINO; runs each of them
here against the style's own file; and puts the numbers an app needs, worked examples and guides for Android and iOS
beside them. What needs a package that is not installed is left out with a sentence. The folder appears whole or not.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from app.config import PROJECT_ROOT
from app.inference.card import SMALL
from app.inference.registry import ModelRegistry
from tools.command import ToolError, run_command
from tools.judge.subjects import Subject, find_subject
from tools.phone.bundling import make_bundle
from tools.phone.folder import whole_folder
from tools.phone.guides import table
from tools.phone.making import AS_GIVEN, Source
from tools.phone.manifest import Bundle
from tools.phone.sizes import parse_size, pick_sizes
from tools.phone.threads import advice
from tools.pictures import DEFAULT_FOLDERS


def main(arguments: list[str] | None = None) -> None:
    """The command."""
    options = _parser().parse_args(arguments)
    source = _source(options.subject, ModelRegistry.read(options.models))
    sizes = pick_sizes(source.card.sizes, [parse_size(text) for text in options.sizes])
    with whole_folder(options.out) as folder:
        bundle = make_bundle(source, sizes, folder, photos=options.photos or DEFAULT_FOLDERS, say=_say)
        report = _report(bundle, folder)
    print(report)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tools.bundle", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("subject", metavar="STYLE_OR_FILE", help="a style, STYLE:VARIANT, or an ONNX file")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="a folder that is not there yet")
    parser.add_argument(
        "--sizes", nargs="+", default=[], metavar="SIZE", help="256 for a square, 384x512 for width x height, in px"
    )
    parser.add_argument(
        "--photos", type=Path, action="append", metavar="DIR", help="photos to calibrate 8 bit on; may be repeated"
    )
    parser.add_argument("--models", type=Path, default=PROJECT_ROOT / "models", help="folder with models.toml")
    return parser


def _source(text: str, registry: ModelRegistry) -> Source:
    """What ``text`` names: of a style all precisions that are whole, the first of them as the reference."""
    subject = find_subject(text, registry)
    # Before the work: a file that is no network of its card is told at once.
    subject.session(1)
    precisions = {_precision(subject): subject.path}
    if text == subject.card.id:
        for variant in (name for name in subject.card.variants if name != SMALL):
            precisions.setdefault(variant, find_subject(f"{text}:{variant}", registry).path)
    # A network of its own, whose files must not be taken for the other's.
    name = f"{subject.card.id} {SMALL}" if subject.variant == SMALL else subject.card.id
    return Source(_file_name(name), subject.card, precisions)


def _precision(subject: Subject) -> str:
    if subject.variant == SMALL:
        return "fp32"
    return AS_GIVEN if subject.variant == "file" else subject.variant


def _file_name(text: str) -> str:
    """``text`` as the names of files that build tools take: Android's resources want letters, digits and lines."""
    name = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")
    if not name:
        raise ToolError(f"No file can be named after “{text}”: rename it.")
    return name


def _say(sentence: str) -> None:
    print(sentence, file=sys.stderr)


def _report(bundle: Bundle, folder: Path) -> str:
    sizes = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
    left_out = [f"Left out: {reason}" for reason in bundle.left_out]
    total = f"{folder.name}: {len(sizes)} files, {sum(sizes) / 1e6:.1f} MB."
    return "\n\n".join([table(bundle.trials), *left_out, advice(bundle.curve, bundle.processor, "ONNX Runtime"), total])


if __name__ == "__main__":
    run_command(main)
