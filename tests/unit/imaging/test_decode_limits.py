"""What is refused before a pixel is touched, what is not even tried, and what decoding costs."""

from __future__ import annotations

import struct
import subprocess
import sys
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path
from typing import TypeAlias, get_args

import numpy as np
import pillow_heif
import pytest
import simplejpeg
from PIL import Image

from app.errors import (
    ACCEPTED_FORMATS,
    AnimeBoothError,
    BrokenImage,
    EmptyImage,
    FileTooLarge,
    TooManyPixels,
    UnsupportedImage,
)
from app.imaging.decode import DecodeLimits, decode
from app.types import UploadFormat
from tests.casebook import CASES, case
from tests.unit.imaging.compare import assert_alike
from tests.unit.imaging.makers import (
    LONG,
    RGB,
    SHORT,
    plain_tiff_tags,
    png_chunk,
    png_file,
    saved,
    scene,
    tiff_file,
    webp_animation,
)

Writer: TypeAlias = Callable[[tuple[int, int]], bytes]
"""(width, height) -> a file."""

LIMITS = DecodeLimits()
FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF", "AVIF", "HEIF")


def written(format: str, image: Image.Image | None = None) -> bytes:
    image = Image.fromarray(scene()) if image is None else image
    if format == "HEIF":
        file = BytesIO()
        pillow_heif.from_pillow(image).save(file, quality=95)
        return file.getvalue()
    return saved(image, format, **({"lossless": True} if format == "WEBP" else {}))


# Bytes and kinds


def test_no_bytes_are_an_empty_picture() -> None:
    with pytest.raises(EmptyImage):
        decode(b"", LIMITS)


def test_the_limit_of_bytes_is_exact() -> None:
    data = written("PNG")
    assert decode(data, DecodeLimits(max_bytes=len(data))).width == 48
    with pytest.raises(FileTooLarge):
        decode(data, DecodeLimits(max_bytes=len(data) - 1))


@pytest.mark.parametrize(
    "data",
    [
        b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n",
        b"\xc5\xd0\xd3\xc6" + b"\0" * 28,
        b"%PDF-1.7\n",
        b"<svg xmlns='http://www.w3.org/2000/svg'/>",
        b"<!DOCTYPE html><img>",
        b"\0\0\0\x0cjP  \r\n\x87\n",
        b"\xff\x4f\xff\x51\0\x2f",
        b"\0\0\0\x0cJXL \r\n\x87\n",
        b"\xff\x0a\xfa\x7f",
        b"\0\0\x01\0\x01\0\x10\x10",
        b"8BPS\0\x01",
        b"\0\0\0\x20ftypisom\0\0\2\0isomiso2avc1mp41",
        b"\0\0\0\x14ftypqt  \0\0\2\0qt  ",
        b"GIF88a" + b"\0" * 40,
        b"BMW drives past, and this is a text of more than eighteen letters",
        b"RIFF\x24\0\0\0WAVEfmt ",
        b"\x89PNG\n\x1a\n\0\0",
        b"\0",
        "日本語のテキスト".encode(),
        bytes(range(256)),
    ],
)
def test_whatever_is_not_on_the_list_is_not_tried(data: bytes) -> None:
    with pytest.raises(UnsupportedImage):
        decode(data, LIMITS)


@pytest.mark.parametrize("format", FORMATS)
def test_the_content_names_the_format(format: str) -> None:
    assert decode(written(format), LIMITS).format == format.lower()


def test_the_words_for_people_name_the_formats_that_are_read() -> None:
    named = {word.lower().replace("heic", "heif") for word in ACCEPTED_FORMATS.split(", ")}
    assert named == set(get_args(UploadFormat)) == {format.lower() for format in FORMATS}


# Sizes


def claiming(format: str, width: int, height: int) -> bytes:
    """A small file whose header claims to be larger."""
    data = written(format)
    if format == "JPEG":
        at = data.index(b"\xff\xc0") + 5
        return data[:at] + struct.pack(">HH", height, width) + data[at + 4 :]
    if format == "PNG":
        header = struct.pack(">II", width, height) + data[24:29]
        return data[:8] + png_chunk(b"IHDR", header) + data[33:]
    if format == "GIF":
        return data[:6] + struct.pack("<HH", width, height) + data[10:]
    if format == "BMP":
        return data[:18] + struct.pack("<ii", width, height) + data[26:]
    if format == "TIFF":
        tags = plain_tiff_tags(48, 32, (8, 8, 8)) | {256: (LONG, [width]), 257: (LONG, [height])}
        return tiff_file(tags, scene().tobytes())
    if format == "WEBP":
        canvas = (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
        body = b"WEBPVP8X" + struct.pack("<I", 10) + b"\0\0\0\0" + canvas + data[12:]
        return b"RIFF" + struct.pack("<I", len(body)) + body
    at = data.index(b"ispe") + 8
    return data[:at] + struct.pack(">II", width, height) + data[at + 8 :]


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("size", [(60_000, 60_000), (20_001, 10), (10, 20_001), (10_000, 5_001)])
def test_a_claim_above_the_limit_is_refused_by_the_header(format: str, size: tuple[int, int]) -> None:
    with pytest.raises(TooManyPixels) as raised:
        decode(claiming(format, *size), LIMITS)
    # A GIF's frame is as large as before, and counts where it is larger than the screen.
    least = (48, 32) if format == "GIF" else (0, 0)
    assert raised.value.fields["width"] == max(size[0], least[0])
    assert raised.value.fields["height"] == max(size[1], least[1])


# A GIF's screen may be larger than its frame, and libavif scales the frame to the size claimed.
@pytest.mark.parametrize("format", [format for format in FORMATS if format not in ("GIF", "AVIF")])
def test_a_claim_below_the_limit_that_is_not_kept_is_a_broken_picture(format: str) -> None:
    with pytest.raises(BrokenImage):
        decode(claiming(format, 4000, 3000), LIMITS)


def test_a_gif_frame_may_not_outgrow_its_screen_unseen() -> None:
    data = written("GIF")
    at = data.index(b"\x2c" + struct.pack("<HHHH", 0, 0, 48, 32))
    grown = data[: at + 5] + struct.pack("<HH", 65_535, 65_535) + data[at + 9 :]
    with pytest.raises(TooManyPixels):
        decode(grown, LIMITS)


@pytest.mark.parametrize("limits", [DecodeLimits(max_pixels=48 * 32), DecodeLimits(max_side=48)])
def test_a_picture_at_the_limit_is_taken(limits: DecodeLimits) -> None:
    assert decode(written("PNG"), limits).width == 48


@pytest.mark.parametrize("limits", [DecodeLimits(max_pixels=48 * 32 - 1), DecodeLimits(max_side=47)])
def test_a_picture_one_over_the_limit_is_not(limits: DecodeLimits) -> None:
    with pytest.raises(TooManyPixels):
        decode(written("PNG"), limits)


def test_an_owner_may_allow_more_than_pillow_would_without_a_warning() -> None:
    """100 megapixels are above Pillow's own warning; warnings are errors here."""
    data = saved(Image.new("1", (10_000, 10_000), 1), "PNG")
    picture = decode(data, DecodeLimits(max_pixels=100_000_000), working_pixels=2_000_000)
    assert (picture.width, picture.height) == (10_000, 10_000)
    assert picture.rgb.shape == (1250, 1250, 3)


@pytest.mark.parametrize(
    "tags",
    [
        {273: (LONG, [8] * 300_000)},
        {322: (LONG, [60_000]), 323: (LONG, [60_000]), 324: (LONG, [8]), 325: (LONG, [99])},
        {258: (SHORT, [8] * 300_000)},
        {277: (SHORT, [60_000])},
        {278: (LONG, [16])},
        {284: (SHORT, [2])},
        {256: (LONG, [0])},
    ],
)
def test_tiff_tags_that_claim_too_much_are_refused(tags: dict[int, tuple[int, list[int]]]) -> None:
    with pytest.raises((BrokenImage, UnsupportedImage)):
        decode(tiff_file(plain_tiff_tags(48, 32, (8, 8, 8)) | tags, scene().tobytes()), LIMITS)


def test_tiff_tags_that_share_one_large_value_are_refused() -> None:
    """Twenty tags of 100,000 numbers, all at the same place: Pillow would unpack each."""
    shared = bytes(400_000)
    data = tiff_file(plain_tiff_tags(48, 32, (8, 8, 8)), shared)
    (start,) = struct.unpack_from("<I", data, 4)
    entries = data[start + 2 : start + 2 + 9 * 12]
    entries += b"".join(struct.pack("<HHII", tag, LONG, 100_000, 8) for tag in range(512, 522))
    with pytest.raises(BrokenImage):
        decode(data[:start] + struct.pack("<H", 19) + entries + b"\0" * 4, LIMITS)


def test_a_jpeg_of_twelve_bits_is_unsupported_rather_than_broken() -> None:
    data = written("JPEG")
    at = data.index(b"\xff\xc0") + 4
    with pytest.raises(UnsupportedImage):
        decode(data[:at] + b"\x0c" + data[at + 1 :], LIMITS)


def test_a_tiff_with_samples_nobody_shows_is_unsupported_rather_than_broken() -> None:
    tags = plain_tiff_tags(4, 4, (32, 32, 32)) | {339: (SHORT, [3, 3, 3])}
    with pytest.raises(UnsupportedImage):
        decode(tiff_file(tags, bytes(4 * 4 * 12)), LIMITS)


def test_a_progressive_jpeg_may_not_have_scans_without_end() -> None:
    data = saved(Image.fromarray(scene()), "JPEG", progressive=True)
    last = data.rindex(b"\xff\xc4")
    scan = data[last:-2]
    assert decode(data, LIMITS).width == 48
    with pytest.raises(BrokenImage):
        decode(data[:-2] + scan * 60 + b"\xff\xd9", LIMITS)


def test_a_large_progressive_jpeg_may_have_fewer_scans() -> None:
    """Each scan is a pass over all pixels: 49 of them at 50 megapixels took three seconds."""
    data = saved(Image.new("L", (7000, 7000)), "JPEG", progressive=True)
    scan = data[data.rindex(b"\xff\xda") : -2]
    assert decode(data + b"\xff\xda" * 30, LIMITS, working_pixels=1_000_000).width == 7000
    with pytest.raises(BrokenImage):
        decode(data[:-2] + scan * 30 + b"\xff\xd9", LIMITS)


def png_of_chunks(count: int) -> bytes:
    data = written("PNG")
    return data[:33] + png_chunk(b"juNk", b"") * count + data[33:]


def jpeg_of_segments(count: int) -> bytes:
    data = written("JPEG")
    return data[:2] + b"\xff\xfe\0\2" * count + data[2:]


def gif_of_blocks(count: int) -> bytes:
    data = written("GIF")
    at = 13 + (3 << (data[10] & 7) + 1)
    return data[:at] + b"\x21\xfe" + b"\1a" * count + b"\0" + data[at:]


def webp_of_chunks(count: int) -> bytes:
    body = written("WEBP")[8:] + b"junk\0\0\0\0" * count
    return b"RIFF" + struct.pack("<I", len(body)) + body


def avif_of_boxes(count: int) -> bytes:
    # At the end, where no place that the boxes before it name is moved.
    return written("AVIF") + b"\0\0\0\x08free" * count


@pytest.mark.parametrize(
    ("write", "some", "many"),
    [
        (png_of_chunks, 10_000, 70_000),
        (jpeg_of_segments, 1000, 5000),
        (gif_of_blocks, 70_000, 140_000),
        (webp_of_chunks, 10_000, 70_000),
        (avif_of_boxes, 1000, 5000),
    ],
)
def test_files_of_more_parts_than_any_writer_makes_are_refused(
    write: Callable[[int], bytes], some: int, many: int
) -> None:
    """Going over a million empty parts took up to ten seconds and 660 MB."""
    assert decode(write(some), LIMITS).width == 48
    with pytest.raises(BrokenImage):
        decode(write(many), LIMITS)


# Reduced decoding


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize(
    ("working_pixels", "size"),
    [(None, (203, 151)), (203 * 151, (203, 151)), (203 * 151 - 1, (102, 76)), (4000, (51, 38)), (1, (26, 19))],
)
def test_a_picture_above_the_working_size_is_reduced(
    format: str, working_pixels: int | None, size: tuple[int, int]
) -> None:
    image = Image.fromarray(scene(203, 151))
    picture = decode(written(format, image), LIMITS, working_pixels=working_pixels)
    assert (picture.width, picture.height) == (203, 151)
    assert picture.rgb.shape == (size[1], size[0], 3)
    wanted = np.asarray(image.resize(size, Image.Resampling.BOX))
    assert_alike(picture.rgb, wanted, mean=8 if format == "GIF" else 4, shift=2)


def test_alpha_is_reduced_with_the_picture() -> None:
    samples = np.dstack((scene(64, 64), np.repeat([0, 255], 32).astype(np.uint8)[None, :].repeat(64, 0)))
    picture = decode(saved(Image.fromarray(samples), "PNG"), LIMITS, working_pixels=32 * 32)
    assert picture.alpha is not None
    assert picture.alpha.shape == (32, 32)
    assert (picture.alpha[:, :16] == 0).all()
    assert (picture.alpha[:, 16:] == 255).all()


@pytest.mark.parametrize("format", ["PNG", "WEBP", "TIFF"])
def test_pictures_of_many_strips_are_whole(format: str) -> None:
    source = scene(1931, 1100)
    assert np.array_equal(decode(written(format, Image.fromarray(source)), LIMITS).rgb, source)


# Cost


PEAK = """
import sys
from pathlib import Path
from typing import get_args
from app.errors import AnimeBoothError
from app.imaging.decode import DecodeLimits, decode

def mib(key):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(key)) / 1024

limits = DecodeLimits(max_pixels=int(sys.argv[2]))
for name in sys.argv[3:]:
    data = Path(name).read_bytes()
    before = mib("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # The peak begins anew (proc(5)).
    try:
        decode(data, limits, working_pixels=int(sys.argv[1]))
    except AnimeBoothError:
        pass
    print(mib("VmHWM") - before)
"""


def peak_growth(
    paths: list[Path], working_pixels: int = 16_000_000, max_pixels: int = LIMITS.max_pixels
) -> list[float]:
    """MiB that decoding each file in turn takes at its peak, in one process."""
    command = [sys.executable, "-c", PEAK, str(working_pixels), str(max_pixels), *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[3])
    return [float(line) for line in done.stdout.split()]


needs_proc = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="measured by Linux's /proc")


@needs_proc
def test_bombs_take_no_memory(tmp_path: Path) -> None:
    profile = tmp_path / "profile.png"
    profile.write_bytes(png_file(scene(), 8, RGB, before=[(b"iCCP", b"bomb\0\0" + zlib.compress(bytes(64 << 20)))]))
    first = case("odd_33x47.png").path
    bombs = [case(name).path for name in ("bomb_400mp.png", "header_lie_60000.png", "ztxt_30mb.png")]
    growths = peak_growth([first, *bombs, profile])
    assert max(growths[1:]) < 30


@needs_proc
def test_a_phone_picture_of_48_megapixels_takes_less_than_its_own_pixels(tmp_path: Path) -> None:
    """Its pixels are 144 MB. In full they are needed; reduced, 36 MB and what libjpeg holds."""
    photo = tmp_path / "photo.jpg"
    pixels = np.kron(np.random.default_rng(5).integers(0, 256, (1000, 750, 3), np.uint8), np.ones((8, 8, 1), np.uint8))
    photo.write_bytes(simplejpeg.encode_jpeg(np.ascontiguousarray(pixels), 80))
    first = case("odd_33x47.png").path
    assert peak_growth([first, photo])[1] < 100


MEASURED = (4080, 3060)
"""12.5 megapixels: a quarter of the usual limit, so that a quarter of the usual memory is allowed."""
MEASURED_LIMIT = 12_500_000
MEASURED_MIB = 75

SMALL = (408, 306)
SMALL_LIMITS = DecodeLimits(max_pixels=125_000)
"""The same in small, where only the header is looked at."""


def flat(mode: str, format: str, **parameters: object) -> Writer:
    return lambda size: saved(Image.new(mode, size), format, **parameters)


def flat_heic(**parameters: object) -> Writer:
    def write(size: tuple[int, int]) -> bytes:
        file = BytesIO()
        image = pillow_heif.from_pillow(Image.new("RGB", size))
        image.save(file, quality=10, enc_params={"preset": "ultrafast"}, **parameters)
        return file.getvalue()

    return write


def small_gif_frame(size: tuple[int, int]) -> bytes:
    data = written("GIF")
    return data[:6] + struct.pack("<HH", *size) + data[10:]


def one_frame_webp(size: tuple[int, int]) -> bytes:
    return webp_animation([(0, 0, np.zeros((size[1], size[0], 3), np.uint8))], *size)


ORDINARY: dict[str, Writer] = {
    "jpeg": flat("RGB", "JPEG", subsampling=0),
    "progressive jpeg": flat("RGB", "JPEG", progressive=True),
    "cmyk jpeg": flat("CMYK", "JPEG"),
    "png with alpha": flat("RGBA", "PNG", compress_level=1),
    "gif": flat("P", "GIF"),
    "gif of a small frame": small_gif_frame,
    "webp": flat("RGB", "WEBP", method=0),
    "tiff": flat("RGBA", "TIFF", compression="tiff_lzw", strip_size=65_536),
    "heic": flat_heic(),
}
"""Kinds that may have as many pixels as the limit says."""

HUNGRY: dict[str, Writer] = {
    "progressive jpeg with full chroma": flat("RGB", "JPEG", progressive=True, subsampling=0),
    "progressive cmyk jpeg": flat("CMYK", "JPEG", progressive=True),
    "webp with alpha": flat("RGBA", "WEBP", method=0),
    "lossless webp": flat("RGBA", "WEBP", method=0, lossless=True),
    "animated webp": one_frame_webp,
    "avif": flat("RGB", "AVIF", speed=10),
    "avif with alpha": flat("RGBA", "AVIF", speed=10),
    "tiff of one strip": lambda size: flat("RGBA", "TIFF", compression="tiff_lzw", tiffinfo={278: size[1]})(size),
    "heic with full chroma": flat_heic(chroma=444),
}
"""Kinds whose decoders hold the picture several times over."""


@needs_proc
def test_the_largest_pictures_that_are_taken_take_six_bytes_a_pixel(tmp_path: Path) -> None:
    measured = [name for name in ORDINARY if name != "heic"]  # Encoding so large a one takes a minute.
    for name in measured:
        (tmp_path / name).write_bytes(ORDINARY[name](MEASURED))
    paths = [case("odd_33x47.png").path, *(tmp_path / name for name in measured)]
    growths = peak_growth(paths, MEASURED_LIMIT // 2, MEASURED_LIMIT)
    over = {name: growth for name, growth in zip(measured, growths[1:], strict=True) if growth > MEASURED_MIB}
    assert not over


@pytest.mark.parametrize("name", ORDINARY)
def test_pictures_whose_decoders_are_frugal_may_be_as_large_as_the_limit(name: str) -> None:
    picture = decode(ORDINARY[name](SMALL), SMALL_LIMITS)
    assert (picture.width, picture.height) == SMALL


@pytest.mark.parametrize("name", HUNGRY)
def test_pictures_whose_decoders_hold_more_may_have_fewer_pixels(name: str) -> None:
    data = HUNGRY[name](SMALL)
    with pytest.raises(TooManyPixels):
        decode(data, SMALL_LIMITS)
    assert decode(data, DecodeLimits(max_pixels=3 * SMALL_LIMITS.max_pixels)).width == SMALL[0]


def test_threads_do_not_disturb_each_other() -> None:
    files = [item.data for item in CASES if len(item.data) < 400_000]

    def outcome(data: bytes) -> object:
        try:
            return decode(data, LIMITS, working_pixels=200_000).rgb.tobytes()
        except AnimeBoothError as error:
            return error.code

    alone = [outcome(data) for data in files]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(outcome, files))
    assert together == alone
