"""Make the pictures the page and the README show: ``python -m tools.make_samples``.

From the sample photos in static/samples it makes, with the real engine, one thumbnail for each style
(static/thumbs), the README's pair (docs/images/before-after.jpg) and its sheet of all styles
(docs/images/styles.jpg). With ``--wheel scikit_image-*.whl`` (from
``pip download --no-deps scikit-image``) it first makes the sample photos themselves anew.
"""

from __future__ import annotations

import argparse
import io
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final

from PIL import Image

from app.config import PROJECT_ROOT, Settings
from app.engine import Engine
from app.types import StyleId

SAMPLES: Final = PROJECT_ROOT / "static" / "samples"
THUMBS: Final = PROJECT_ROOT / "static" / "thumbs"
PAIR: Final = PROJECT_ROOT / "docs" / "images" / "before-after.jpg"
SHEET: Final = PROJECT_ROOT / "docs" / "images" / "styles.jpg"

ORIGINS: Final[Mapping[str, str]] = MappingProxyType({"astronaut": "astronaut", "cat": "chelsea", "coffee": "coffee"})
"""Sample -> name of the picture in scikit-image's data folder."""

MODEL: Final = "astronaut"
"""The sample that shows what the styles do."""

HEAD: Final = (118, 4, 338, 224)
"""The head in MODEL: left, upper, right, lower in pixels."""

BUST: Final = (70, 0, 370, 340)
"""Head and shoulders in MODEL."""

SHOWN: Final[Mapping[str, tuple[int, int, int, int]]] = MappingProxyType(
    {MODEL: HEAD, "cat": (75, 0, 375, 300), "coffee": (100, 0, 500, 400)}
)
"""What the sheet shows of each sample, a square: left, upper, right, lower in pixels."""

ENLARGEMENT: Final = 2
"""MODEL is enlarged before it is painted, so that lines are as fine as the pixels of what is shown allow."""

THUMB_SIDE: Final = 320
PAIR_STYLE: Final = "cute"
PAIR_GAP: Final = 12
CELL_SIDE: Final = 240
CELL_GAP: Final = 6
LANCZOS: Final = Image.Resampling.LANCZOS
SAMPLE_QUALITY: Final = 90
QUALITY: Final = 88


def make_samples(wheel: Path) -> None:
    """Write the sample photos from scikit-image's wheel, as JPEG without metadata."""
    with zipfile.ZipFile(wheel) as archive:
        for sample, origin in ORIGINS.items():
            picture = Image.open(io.BytesIO(archive.read(f"skimage/data/{origin}.png"))).convert("RGB")
            picture.save(SAMPLES / f"{sample}.jpg", quality=SAMPLE_QUALITY, optimize=True, subsampling=0)


def paint(engine: Engine, photo: Image.Image, style: StyleId) -> Image.Image:
    """``photo`` in ``style``, at its own size."""
    upload = io.BytesIO()
    photo.save(upload, "PNG")
    return Image.open(io.BytesIO(engine.convert(upload.getvalue(), style=style, size="original", format="png").image))


def enlarged(photo: Image.Image) -> Image.Image:
    """``photo``, ENLARGEMENT times as wide and high."""
    return photo.resize((photo.width * ENLARGEMENT, photo.height * ENLARGEMENT), LANCZOS)


def cut(image: Image.Image, part: tuple[int, int, int, int]) -> Image.Image:
    """A part of a sample, given in its own pixels, of its enlarged image."""
    left, upper, right, lower = (edge * ENLARGEMENT for edge in part)
    return image.crop((left, upper, right, lower))


def make_thumbnail(painting: Image.Image, style: StyleId, *, portrait: bool) -> None:
    """Write the style's thumbnail: the head, or all of a portrait."""
    head = painting if portrait else cut(painting, HEAD)
    head.resize((THUMB_SIDE, THUMB_SIDE), LANCZOS).save(THUMBS / f"{style}.jpg", quality=QUALITY, optimize=True)


def make_pair(photo: Image.Image, painting: Image.Image) -> None:
    """Write the README's picture: head and shoulders, photo left, painting right."""
    before, after = cut(photo, BUST), cut(painting, BUST)
    pair = Image.new("RGB", (before.width * 2 + PAIR_GAP, before.height), "white")
    pair.paste(before, (0, 0))
    pair.paste(after, (before.width + PAIR_GAP, 0))
    pair.save(PAIR, quality=QUALITY, optimize=True)


def make_sheet(rows: Sequence[Sequence[Image.Image]]) -> None:
    """Write the README's sheet of squares: a row for each sample, its photo first."""
    step = CELL_SIDE + CELL_GAP
    sheet = Image.new("RGB", (step * len(rows[0]) - CELL_GAP, step * len(rows) - CELL_GAP), "white")
    for y, row in enumerate(rows):
        for x, square in enumerate(row):
            sheet.paste(square.resize((CELL_SIDE, CELL_SIDE), LANCZOS), (x * step, y * step))
    sheet.save(SHEET, quality=QUALITY, optimize=True)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wheel", type=Path, help="scikit-image's wheel, to make the sample photos anew")
    wheel: Path | None = parser.parse_args().wheel
    for folder in (SAMPLES, THUMBS, PAIR.parent):
        folder.mkdir(parents=True, exist_ok=True)
    if wheel:
        make_samples(wheel)
    # The same pictures from every machine.
    engine = Engine.from_settings(Settings(slow_seconds=0.0))
    engine.start(warm=False)
    photos = {sample: enlarged(Image.open(SAMPLES / f"{sample}.jpg")) for sample in SHOWN}
    styles = [info for info in engine.styles() if info.usable]
    paintings = {info.card.id: paint(engine, photos[MODEL], info.card.id) for info in styles}
    for info in styles:
        make_thumbnail(paintings[info.card.id], info.card.id, portrait=info.face == "only")
    make_pair(photos[MODEL], paintings[PAIR_STYLE])
    whole = [info.card.id for info in styles if info.face != "only"]
    rows = {sample: [photo, *(paint(engine, photo, style) for style in whole)] for sample, photo in photos.items()}
    make_sheet([[cut(image, SHOWN[sample]) for image in row] for sample, row in rows.items()])
    engine.close()


if __name__ == "__main__":
    main()
