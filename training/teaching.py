"""From photos and somebody to learn from to a network with its report: what ``distil`` and ``ink`` share."""

from __future__ import annotations

import argparse
import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from tqdm import tqdm

from app.types import RgbImage
from tools.command import ToolError, check_file, whole_number
from tools.networks.lite2 import SIZES, Lite2
from tools.pictures import DEFAULT_FOLDERS, find_photos
from training import crops, held_out
from training.course import Course, Row
from training.judge import Kept, judge
from training.losses import LossWeights
from training.outcome import Outcome, judged, write_card, write_curve, write_looks, write_network, write_report
from training.pairs import PairFolder, make_all
from training.photos import split
from training.recipe import Recipe
from training.sampler import Sampler, as_tensor
from training.sheet import write_sheet
from training.start import load_weights
from training.teacher import Draw

VALIDATED: Final = 12
"""Squares judged while learning goes on; all of them are at the end."""

SHOWN: Final = 6
"""Squares of a sheet while learning goes on."""

FOCUS: Final = 0.5
"""Usual share of squares around eyes and mouths where faces are learnt: a tenth of the picture, and most of what is
seen."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """draw: who is learnt from. made_by: tells that one from others. faces: whether squares are cut around faces."""

    draw: Draw
    made_by: str
    faces: bool
    options: argparse.Namespace


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options that all teaching has."""
    parser.add_argument("--photos", type=Path, action="append", help="folder of photos (default: the samples)")
    parser.add_argument("--out", type=Path, required=True, help="folder for pairs, state, log, sheets and the network")
    parser.add_argument("--size", choices=tuple(SIZES), default="m", help="of the network (default: m)")
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--hours", type=float, help="how long to learn, pauses left out (default: 1)")
    length.add_argument("--steps", type=whole_number(1), help="or how many steps")
    parser.add_argument("--pairs", type=whole_number(1), default=1200, help="squares that are drawn (default: 1200)")
    parser.add_argument("--pairs-from", type=Path, help="folder of pairs shared with other courses (default: OUT)")
    parser.add_argument("--batch", type=whole_number(1), default=8, help="squares a step (default: 8)")
    parser.add_argument("--crop", type=_crop, default=192, help="side of those squares in px (default: 192)")
    parser.add_argument("--rate", type=float, default=2e-3, help="AdamW's highest rate (default: 0.002)")
    parser.add_argument(
        "--missing",
        type=float,
        default=LossWeights().missing,
        help=f"how much more a line counts that is too faint than one too dark (default: {LossWeights().missing:g})",
    )
    parser.add_argument(
        "--focus", type=_share, default=FOCUS, help=f"with faces: share of squares around eyes and mouths ({FOCUS:g})"
    )
    parser.add_argument("--start", type=Path, help="student (.pt, .onnx) of this size to begin with")
    parser.add_argument("--plain", action="store_true", help="learn without branches")
    parser.add_argument("--seed", type=whole_number(0), default=0)
    parser.add_argument("--validate-every", type=whole_number(1), default=1000, metavar="STEPS")


def _crop(text: str) -> int:
    side = whole_number(32)(text)
    if side % 8 or side > crops.SIDE:
        raise argparse.ArgumentTypeError(f"“{text}” must be a multiple of 8, at most {crops.SIDE}")
    return side


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = math.nan
    if not 0 <= share <= 1:
        raise argparse.ArgumentTypeError(f"“{text}” must be a share from 0 to 1")
    return share


def teach(lesson: Lesson) -> int:
    """The whole way; what it makes lies in ``--out``. Exit code 0; raises ToolError."""
    options = lesson.options
    photos = split(find_photos(tuple(options.photos) if options.photos else DEFAULT_FOLDERS[:1]))
    detector = crops.open_detector() if lesson.faces else None
    pairs_at = options.pairs_from or options.out
    pairs = PairFolder(pairs_at / "pairs", lesson.made_by, options.seed)
    cut = crops.face_cutter(detector) if detector else crops.random_square
    missing = pairs.missing(options.pairs)
    with tqdm(total=len(missing), desc="pairs", disable=not missing) as bar:
        make_all(pairs, options.pairs, photos.learnt, cut, lesson.draw, bar.update)
    judged_cut = held_out.largest_face(detector) if detector else held_out.middle
    kept = held_out.held_out_squares(photos.held_out, pairs_at / "held_out", judged_cut, lesson.draw, pairs.skipped)
    if not kept:
        raise ToolError("None of the photos kept to judge by can be used.")
    for sentence in pairs.skipped:
        print(f"skipped {sentence}")
    course = _course(lesson, pairs, kept)
    resumed = course.resume()
    if not resumed and options.start:
        course.student.start_from(load_weights(options.start, options.size))
    _run(course, kept, options.out)
    finish(course, kept, pairs.skipped, faces=lesson.faces)
    return 0


def _course(lesson: Lesson, pairs: PairFolder, kept: list[Kept]) -> Course:
    options = lesson.options
    recipe = Recipe(
        size=options.size,
        steps=options.steps,
        hours=None if options.steps else options.hours or 1.0,
        made_from=lesson.made_by,
        pairs=options.pairs,
        batch=options.batch,
        crop=options.crop,
        rate=options.rate,
        seed=options.seed,
        branches=not options.plain,
        weights=LossWeights(missing=options.missing),
        focus=options.focus if lesson.faces else 0.0,
        start_from=hashlib.sha256(check_file(options.start).read_bytes()).hexdigest() if options.start else None,
    )
    sampler = Sampler(recipe.pairs, pairs.load, recipe.batch, recipe.crop, recipe.seed, recipe.focus)
    few = spread(kept, VALIDATED)
    return Course(recipe, options.out, sampler, lambda network: _brief(network, few), options.validate_every)


def spread(kept: list[Kept], count: int) -> list[Kept]:
    """At most ``count`` of ``kept``, at even distances."""
    count = min(count, len(kept))
    return [kept[index * len(kept) // count] for index in range(count)]


def drawn_by(network: Lite2) -> Draw:
    """The network as it will serve: clipped, in 8 bits."""

    def draw(rgb: RgbImage) -> RgbImage:
        with torch.no_grad():
            answer = network(as_tensor([rgb]))[0].permute(1, 2, 0).numpy()
        return np.asarray(np.rint((np.clip(answer, -1, 1) + 1) * 127.5), np.uint8)

    return draw


def _brief(network: Lite2, kept: list[Kept]) -> Mapping[str, float]:
    """The means over ``kept``, whatever their groups."""
    groups = judge(drawn_by(network), [replace(square, group="all") for square in kept])
    return {f"held_{key}": value for key, value in groups["all"].items() if key != "squares"}


def _run(course: Course, kept: list[Kept], out: Path) -> None:
    shown = spread(kept, SHOWN)
    with tqdm(total=1000, desc="learning", bar_format="{desc} {percentage:3.0f} % |{bar}| {postfix}") as bar:

        def tell(row: Row) -> None:
            bar.n = round(1000 * row["progress"])
            left = row["seconds"] * (1 - row["progress"]) / max(row["progress"], 1e-6)
            held = {"PSNR": row["held_psnr"], "SSIM": row["held_ssim"]} if "held_psnr" in row else {}
            told.update({"step": int(row["step"]), "loss": round(row["total"], 4), "min left": round(left / 60, 1)})
            told.update({key: round(value, 4) for key, value in held.items()})
            bar.set_postfix(told)
            if held:
                write_sheet(out / "sheet.jpg", shown, drawn_by(course.student.plain()))

        told: dict[str, Any] = {}
        course.run(tell)


def finish(course: Course, kept: list[Kept], skipped: list[str], *, faces: bool) -> None:
    """Network, card, curve, sheet and report of the student as it is now."""
    network, out = course.student.plain(), course.folder
    write_network(network, out)
    write_card(out, face=faces)
    write_curve(course.rows, out)
    groups, before = judged(drawn_by(network), kept)
    write_report(Outcome(course.recipe, course.steps, course.seconds, groups, before, skipped), out)
    write_looks(kept, drawn_by(network), out)
    print(f"{out / 'report.md'}: how near it comes. {out / 'sheet.jpg'}: how it looks.")
