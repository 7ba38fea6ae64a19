"""A judgement as one HTML file that needs nothing beside it: pictures side by side, tables, verdict."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from app.imaging.encode import MIMETYPES, encode
from app.types import RgbImage
from tools.judge.comparison import Row
from tools.judge.outcome import Outcome, as_data
from tools.measures.difference import magnified
from tools.measures.scores import MEASURES

MAGNIFIED: Final = 8
"""How many times the difference is shown."""

_TEMPLATE: Final = "report.html"


@dataclass(frozen=True, slots=True)
class Shown:
    """A picture of the report and its parts as ``data:`` addresses."""

    row: Row
    photo: str
    a: str
    b: str
    difference: str


def html_report(outcome: Outcome, *, most_photos: int) -> str:
    """The page. most_photos: how many photos are shown, those of the least SSIM; made pictures all are.

    The tables have every picture.
    """
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    return environment.get_template(_TEMPLATE).render(
        outcome=outcome,
        data=as_data(outcome),
        measures=MEASURES,
        shown=[_shown(row) for row in _picked(outcome, most_photos)],
        magnified=MAGNIFIED,
    )


def _picked(outcome: Outcome, most_photos: int) -> list[Row]:
    rows = outcome.comparison.rows
    photos = sorted((row for row in rows if not row.made), key=lambda row: row.scores["ssim"])
    return [row for row in rows if row.made] + photos[:most_photos]


def _shown(row: Row) -> Shown:
    difference = magnified(row.a.rgb, row.b.rgb, MAGNIFIED)
    return Shown(row, *map(_address, (row.photo.rgb, row.a.rgb, row.b.rgb, difference)))


def _address(rgb: RgbImage) -> str:
    # WebP of this quality adds no bands or blocks that the eye could take for the network's.
    data = base64.b64encode(encode(rgb, "webp", quality=95)).decode("ascii")
    return f"data:{MIMETYPES['webp']};base64,{data}"
