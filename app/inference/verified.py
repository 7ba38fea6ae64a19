"""What a card says of how a variant was judged: ``python -m tools.verify STYLE STYLE:VARIANT --card`` prints it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from types import MappingProxyType

from app.inference.tables import Table


@dataclass(frozen=True, slots=True)
class Verified:
    """A judgement that a variant passed.

    against: the variant it was judged by. sha256, against_sha256: of both files, as it counts for no others.
    date, command: when and how, to do it again. pictures: how many; size: their longest side in px. ssim, psnr (dB),
    color (CIEDE2000), banding (levels): means of the photos; worst_ssim, worst_banding: of all pictures. time: by
    kind of processor (app/inference/processor.py), how long it takes for what takes the other one.
    """

    against: str
    sha256: str
    against_sha256: str
    date: date
    command: str
    pictures: int
    size: int
    ssim: float
    psnr: float
    color: float
    banding: float
    worst_ssim: float
    worst_banding: float
    time: Mapping[str, float]


def parse_verified(table: Table) -> Verified:
    """The ``verified`` table of a variant. Raises ModelError with a sentence that names the key."""
    verified = Verified(
        against=table.take("against", str),
        sha256=table.take("sha256", str),
        against_sha256=table.take("against_sha256", str),
        date=table.take("date", date),
        command=table.take("command", str),
        pictures=table.whole("pictures", least=1),
        size=table.whole("size", least=1),
        ssim=table.take("ssim", float),
        psnr=table.take("psnr", float),
        color=table.take("color", float),
        banding=table.take("banding", float),
        worst_ssim=table.take("worst_ssim", float),
        worst_banding=table.take("worst_banding", float),
        time=MappingProxyType(table.table("time").rest(float)),
    )
    table.finish()
    return verified
