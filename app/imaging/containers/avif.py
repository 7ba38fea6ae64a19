"""AVIF (AOM, AV1 Image File Format), through Pillow's libavif."""

from __future__ import annotations

from io import BytesIO

from PIL import AvifImagePlugin

from app.errors import BrokenImage
from app.imaging.containers import bmff
from app.imaging.containers.av1 import coded_sizes
from app.imaging.containers.upload import Upload, pillow_raster
from app.imaging.exif import orientation


def open_upload(data: bytes) -> Upload:
    """Read the boxes. Raises what Pillow raises, and BrokenImage.

    With the EXIF item out of the way, the EXIF that Pillow reports is one it makes up itself from the ``irot`` and
    ``imir`` properties, which alone count (MIAF, ISO/IEC 23000-22, 7.3.6.7).
    """
    image = AvifImagePlugin.AvifImageFile(BytesIO(bmff.without_metadata(data)))
    return Upload(
        *image.size,
        lambda factor: pillow_raster(image, factor),
        orientation(image.info.get("exif", b"")),
        image.info.get("icc_profile"),
        held(data) * max(1.0, _area(largest_coded(data)) / max(1, _area(image.size))),
    )


def largest_coded(data: bytes) -> tuple[int, int]:
    """(width, height) of the largest picture that is coded in an AVIF. Raises BrokenImage where none can be found."""
    sizes = [size for item in bmff.coded_items(data, b"av01") for size in coded_sizes(item)]
    if not sizes:
        raise BrokenImage
    return max(sizes, key=_area)


def _area(size: tuple[int, int]) -> int:
    return size[0] * size[1]


def held(data: bytes) -> float:
    """Bytes a coded pixel: libavif's planes, and what Pillow makes of them: first twice in as many bytes as there are
    channels, then once so and once in four; and the reduced picture. Measured alike."""
    alpha = bmff.has_alpha(data)
    planes = max((coding.bytes * (1 + alpha + 2 * coding.chroma) for coding in bmff.codings(data)), default=3.0)
    return planes + (9 if alpha else 7.75)
