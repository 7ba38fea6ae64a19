"""What a course leaves behind: network files, a card, the curve, a sheet, and a report in words and numbers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import matplotlib
import onnx
import torch

from app.config import PROJECT_ROOT
from app.inference.card import Licence
from app.inference.cpu import usable_cpus
from app.library.adding import sample_photos
from app.library.card_file import About, card_text, in_all_languages, weight_file
from app.library.inspection import inspect_network
from tools.command import ToolError, whole_file
from tools.export import Form, export
from tools.export_check import LARGEST_ERROR, compare
from tools.networks.lite2 import Lite2
from tools.shrink.files import write_model
from tools.shrink.half import half_weights
from training.course import Row
from training.judge import Kept, Scores, judge
from training.recipe import Recipe
from training.sheet import write_sheet
from training.teacher import Draw

matplotlib.use("Agg")
from matplotlib import pyplot

MEANINGS: Final[Mapping[str, str]] = {
    "ssim": "SSIM",
    "psnr": "PSNR, dB",
    "line_f1": "line F1",
    "eyes": "SSIM, eyes",
    "mouth": "SSIM, mouth",
    "lines": "black-hat mean, of the teacher's",
    "edges": "edge energy, of the teacher's",
    "color": "colour shift, ΔE2000",
    "weave": "weave of 2, 4, 8 px, dB above the teacher's",
    "grain": "grain in flat areas, levels",
    "grain_teacher": "the same of the teacher",
    "squares": "squares",
}
"""Scores in the order of a report; training/judge.py says how each is taken."""

CURVES: Final[Mapping[str, str]] = {
    "total": "loss",
    "held_psnr": "PSNR on held-out squares, dB",
    "held_ssim": "SSIM on held-out squares",
}
"""Columns of the log that are drawn, and their titles."""

_COMMAND: Final = "python -m app models add student.onnx --title TITLE --licence LICENCE"


@dataclass(frozen=True, slots=True)
class Outcome:
    """groups: the student's scores by the folder of photos; before: of the photos themselves, for comparison."""

    recipe: Recipe
    steps: int
    seconds: float
    groups: Mapping[str, Scores]
    before: Mapping[str, Scores]
    skipped: Sequence[str]


def write_network(network: Lite2, out: Path) -> None:
    """``student.pt``, ``student.onnx``, proved against PyTorch, and ``student_fp16.onnx`` with halved weights.

    Raises ToolError where ONNX Runtime answers differently; then there is no ONNX file.
    """
    with whole_file(out / "student.pt") as part:
        torch.save(network.state_dict(), part)
    with whole_file(out / "student.onnx") as part:
        export(network, part, Form())
        worst = max(agreement.error for agreement in compare(network, part, Form()))
        if not worst <= LARGEST_ERROR:
            raise ToolError(f"The exported network differs from PyTorch by {worst:.1e}, and {LARGEST_ERROR:g} passes.")
    with whole_file(out / "student_fp16.onnx") as part:
        write_model(half_weights(onnx.load(out / "student.onnx")), part)


def write_card(out: Path, *, face: bool) -> None:
    """``card.toml`` for student.onnx: what the service has to know of it. Title and licence are the owner's to fill."""
    weights = out / "student.onnx"
    needs = inspect_network(weights, sample_photos(PROJECT_ROOT / "static"), threads=usable_cpus())
    about = About(
        id="student",
        title=in_all_languages("Student"),
        description=in_all_languages("Taught by training.distil."),
        kind="face" if face else "scene",
        surroundings=None,
        family="lite2",
        source=None,
        licence=Licence("LicenseRef-Unknown", "As its teacher's: ask whoever made that."),
        commercial=False,
        face_size=512,
    )
    digest = hashlib.sha256(weights.read_bytes()).hexdigest()
    remarks = ["What was found, and how:", *map(str, needs.findings), f"To give it a title and a licence: {_COMMAND}"]
    with whole_file(out / "card.toml") as part:
        part.write_text(card_text(about, needs, weight_file(weights, digest), variant="fp32", remarks=remarks))


def write_curve(rows: Sequence[Row], out: Path) -> None:
    """``curve.svg``: loss, and PSNR and SSIM on held-out squares, against minutes."""
    with pyplot.rc_context({"svg.hashsalt": "curve", "font.size": 9}):
        figure, panels = pyplot.subplots(1, 3, figsize=(10, 3), layout="constrained")
        for panel, (key, title) in zip(panels, CURVES.items(), strict=True):
            points = [(row["seconds"] / 60, row[key]) for row in rows if key in row]
            panel.plot([minutes for minutes, _ in points], [value for _, value in points])
            panel.set(title=title, xlabel="minutes")
            panel.grid(alpha=0.3)
        with whole_file(out / "curve.svg") as part:
            figure.savefig(part, metadata={"Date": None})
        pyplot.close(figure)


def write_report(outcome: Outcome, out: Path) -> None:
    """``report.md`` and ``scores.json``."""
    with whole_file(out / "scores.json") as part:
        part.write_text(json.dumps({"student": outcome.groups, "photo": outcome.before}, indent=2) + "\n")
    with whole_file(out / "report.md") as part:
        part.write_text(report(outcome))


def report(outcome: Outcome) -> str:
    """The report as Markdown."""
    recipe = outcome.recipe
    told = [
        f"Size {recipe.size}, {outcome.steps} steps of {recipe.batch} squares of {recipe.crop} px in "
        f"{outcome.seconds / 60:.0f} minutes, from {recipe.pairs} pairs.",
        "",
        "| against the teacher, held-out squares | " + " | ".join(_columns(outcome)) + " |",
        "|---" * (1 + 2 * len(outcome.groups)) + "|",
        *_rows(outcome),
        "",
        "![Curve](curve.svg)",
        "",
        *(f"- skipped {sentence}" for sentence in outcome.skipped),
        "```json",
        json.dumps(recipe.as_dict(), indent=2),
        "```",
        "",
    ]
    return "\n".join(["# Report", "", *told])


def _columns(outcome: Outcome) -> list[str]:
    return [name for group in outcome.groups for name in (group, f"{group}: the photo itself")]


def _rows(outcome: Outcome) -> list[str]:
    keys = [key for key in MEANINGS if any(key in scores for scores in outcome.groups.values())]
    return [f"| {MEANINGS[key]} | " + " | ".join(_cells(outcome, key)) + " |" for key in keys]


def _cells(outcome: Outcome, key: str) -> list[str]:
    sides = [scores for group in outcome.groups for scores in (outcome.groups[group], outcome.before[group])]
    digits = 0 if key == "squares" else 3
    return [f"{scores[key]:.{digits}f}" if key in scores else "" for scores in sides]


def judged(draw: Draw, kept: Sequence[Kept]) -> tuple[Mapping[str, Scores], Mapping[str, Scores]]:
    """The scores of ``draw``, and of the photos left as they are."""
    return judge(draw, kept), judge(lambda photo: photo, kept)


def write_looks(kept: Sequence[Kept], draw: Draw, out: Path) -> None:
    """``sheet.jpg``: every held-out square as photo, teacher, student."""
    write_sheet(out / "sheet.jpg", kept, draw)
