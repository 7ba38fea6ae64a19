"""The kind of a picture by its first bytes. Its name and what the sender calls it count for nothing."""

from __future__ import annotations

from typing import Final

from app.types import UploadFormat

_SIGNATURES: Final[tuple[tuple[bytes, UploadFormat], ...]] = (
    (b"\xff\xd8", "jpeg"),
    (b"\x89PNG\r\n\x1a\n", "png"),
    (b"GIF87a", "gif"),
    (b"GIF89a", "gif"),
    (b"II*\0", "tiff"),
    (b"MM\0*", "tiff"),
    (b"II+\0", "tiff"),
    (b"MM\0+", "tiff"),
)
# Sizes a BMP's second header may have; "BM" alone also begins many a text.
_DIB_HEADER_SIZES: Final = (12, 16, 40, 52, 56, 64, 108, 124)
_AVIF_BRANDS: Final = frozenset({b"avif", b"avis"})
_HEIF_BRANDS: Final = frozenset({b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"hevm", b"hevs"})
# A container for still pictures whose coding only the compatible brands tell.
_NEUTRAL_BRANDS: Final = frozenset({b"mif1", b"msf1", b"mif2", b"miaf"})


def sniff(data: bytes) -> UploadFormat | None:
    """The format of ``data``, or None for whatever is not on the list: EPS, PDF, SVG, JPEG XL, JPEG 2000, text."""
    for signature, format in _SIGNATURES:
        if data.startswith(signature):
            return format
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "webp"
    if data.startswith(b"BM") and int.from_bytes(data[14:18], "little") in _DIB_HEADER_SIZES:
        return "bmp"
    if data[4:8] == b"ftyp":
        return _iso_media(data)
    return None


def _iso_media(data: bytes) -> UploadFormat | None:
    """AVIF or HEIF by the brands of an ISO base media file (ISO/IEC 14496-12, 4.3); None for a film."""
    end = min(int.from_bytes(data[:4], "big"), 1024)
    major = data[8:12]
    if major not in _AVIF_BRANDS | _HEIF_BRANDS | _NEUTRAL_BRANDS:
        return None
    brands = {major} | {data[at : at + 4] for at in range(16, end - 3, 4)}
    if brands & _AVIF_BRANDS and major not in _HEIF_BRANDS:
        return "avif"
    return "heif"
