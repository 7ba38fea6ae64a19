"""Depths, palettes, alpha and containers that the case book lacks, each against the samples that were put in."""

from __future__ import annotations

import struct
import zlib
from io import BytesIO

import numpy as np
import numpy.typing as npt
import pillow_heif
import pytest
from PIL import Image

from app.imaging.decode import Decoded, DecodeLimits, decode
from app.types import RgbImage
from tests.unit.imaging.compare import assert_alike, assert_same
from tests.unit.imaging.makers import (
    GRAY,
    GRAY_ALPHA,
    LONG8,
    PALETTE,
    RGB,
    RGBA,
    SHORT,
    bmp_file,
    gray_scene,
    plain_tiff_tags,
    png_file,
    saved,
    scene,
    tiff_file,
    webp_animation,
)

Plane = npt.NDArray[np.uint8]

GRAY_AS_RGB = np.dstack([gray_scene()] * 3)


def read(data: bytes) -> Decoded:
    return decode(data, DecodeLimits())


def on_white(colors: RgbImage, alpha: Plane) -> RgbImage:
    weight = alpha[:, :, None] / 255
    return np.asarray((colors * weight + 255 * (1 - weight)).round(), np.uint8)


def ramp_alpha() -> Plane:
    """Transparent at the left, opaque at the right."""
    return np.linspace(0, 255, 48).astype(np.uint8)[None, :].repeat(32, 0)


# Depths of PNG


def test_rgb_png_of_16_bits_is_scaled() -> None:
    data = png_file(scene().astype(np.uint16) * 257, 16, RGB)
    assert_same(read(data).rgb, scene())


def test_rgba_png_of_16_bits_keeps_its_alpha() -> None:
    samples = np.dstack((scene(), ramp_alpha())).astype(np.uint16) * 257
    picture = read(png_file(samples, 16, RGBA))
    assert_same(picture.rgb, on_white(scene(), ramp_alpha()))
    assert picture.alpha is not None
    assert_same(picture.alpha, ramp_alpha())


@pytest.mark.parametrize("depth", [8, 16])
def test_gray_png_with_alpha_keeps_it(depth: int) -> None:
    samples = np.dstack((gray_scene(), ramp_alpha())).astype(np.uint16) * (257 if depth == 16 else 1)
    picture = read(png_file(samples, depth, GRAY_ALPHA))
    assert_same(picture.rgb, on_white(GRAY_AS_RGB, ramp_alpha()))
    assert picture.alpha is not None
    assert_same(picture.alpha, ramp_alpha())


@pytest.mark.parametrize("depth", [1, 2, 4, 8, 16])
def test_gray_png_of_any_depth_spans_black_to_white(depth: int) -> None:
    highest = (1 << depth) - 1
    samples = np.linspace(0, highest, 48).round().astype(np.uint16)[None, :].repeat(32, 0)
    expected = (samples * (255 / highest)).round().astype(np.uint8)
    assert_same(read(png_file(samples, depth, GRAY)).rgb, np.dstack([expected] * 3))


@pytest.mark.parametrize("depth", [1, 2, 4, 8, 16])
def test_the_transparent_gray_is_meant_in_the_depth_of_the_file(depth: int) -> None:
    highest = (1 << depth) - 1
    samples = np.zeros((8, 16), np.uint16)
    samples[:, 8:] = highest
    key = (b"tRNS", struct.pack(">H", highest))
    picture = read(png_file(samples, depth, GRAY, before=[key]))
    assert picture.alpha is not None
    assert (picture.alpha[:, :8] == 255).all()
    assert (picture.alpha[:, 8:] == 0).all()


def test_neighbours_of_a_transparent_16_bit_gray_stay_opaque() -> None:
    samples = np.full((4, 4), 0x1234, np.uint16)
    samples[0, 0] = 0x1235
    picture = read(png_file(samples, 16, GRAY, before=[(b"tRNS", struct.pack(">H", 0x1235))]))
    assert picture.alpha is not None
    assert picture.alpha[0, 0] == 0
    assert (picture.alpha.ravel()[1:] == 255).all()


@pytest.mark.parametrize("depth", [8, 16])
def test_the_transparent_colour_turns_white_and_clear(depth: int) -> None:
    samples = scene().astype(np.uint16)
    samples[:8, :8] = (255, 0, 255)
    factor = 257 if depth == 16 else 1
    if depth == 16:
        # Not twice the same byte, so that the depth of the key matters.
        samples = np.where(
            (samples == (255, 0, 255)).all(-1, keepdims=True), (0x80AB, 0x10CD, 0x20EF), samples * factor
        )
        samples, factor = samples.astype(np.uint16), 1
    key = (b"tRNS", struct.pack(">HHH", *samples[0, 0].tolist()))
    picture = read(png_file(samples * factor, depth, RGB, before=[key]))
    assert picture.alpha is not None
    assert (picture.alpha[:8, :8] == 0).all()
    assert (picture.rgb[:8, :8] == 255).all()
    assert (picture.alpha[8:] == 255).all()


@pytest.mark.parametrize("depth", [1, 2, 4, 8])
def test_palette_png_of_any_depth(depth: int) -> None:
    colors = np.random.default_rng(1).integers(0, 256, (1 << depth, 3), np.uint8)
    indices = np.random.default_rng(2).integers(0, 1 << depth, (16, 20), np.uint8)
    data = png_file(indices, depth, PALETTE, before=[(b"PLTE", colors.tobytes())])
    assert_same(read(data).rgb, colors[indices])


def test_palette_with_a_table_of_alphas() -> None:
    colors = np.array([[255, 0, 255], [10, 200, 30], [0, 0, 250]], np.uint8)
    alphas = np.array([0, 128, 255], np.uint8)
    indices = np.arange(60, dtype=np.uint8).reshape(6, 10) % 3
    chunks = [(b"PLTE", colors.tobytes()), (b"tRNS", alphas.tobytes())]
    picture = read(png_file(indices, 8, PALETTE, before=chunks))
    assert_same(picture.rgb, on_white(colors[indices], alphas[indices]))


@pytest.mark.parametrize(("depth", "color"), [(8, RGB), (16, RGB), (8, GRAY), (1, GRAY)])
def test_interlaced_png(depth: int, color: int) -> None:
    source = scene(21, 19) if color == RGB else gray_scene(21, 19)
    samples = source.astype(np.uint16) * 257 if depth == 16 else source >> (8 - depth)
    assert_same(read(png_file(samples, depth, color, interlaced=True)).rgb, read(png_file(samples, depth, color)).rgb)


# Alpha


@pytest.mark.parametrize("format", ["PNG", "WEBP", "TIFF", "AVIF", "HEIF"])
def test_alpha_is_composited_on_white_and_handed_out(format: str) -> None:
    image = Image.fromarray(np.dstack((scene(), ramp_alpha())))
    if format == "HEIF":
        file = BytesIO()
        pillow_heif.from_pillow(image).save(file, quality=-1, chroma="444")
        data = file.getvalue()
    else:
        data = saved(image, format, **({"lossless": True, "exact": True} if format == "WEBP" else {}))
    picture = read(data)
    exact = format in ("PNG", "WEBP", "TIFF")
    assert picture.alpha is not None
    assert_alike(picture.alpha, ramp_alpha(), mean=0 if exact else 3)
    assert_alike(picture.rgb, on_white(scene(), ramp_alpha()), mean=0.5 if exact else 5)


@pytest.mark.parametrize("format", ["PNG", "WEBP", "TIFF", "AVIF"])
def test_alpha_that_is_opaque_everywhere_is_none(format: str) -> None:
    image = Image.fromarray(scene()).convert("RGBA")
    assert read(saved(image, format)).alpha is None


def test_colours_that_hide_under_alpha_do_not_bleed_into_a_reduced_picture() -> None:
    samples = np.zeros((64, 64, 4), np.uint8)
    samples[:, :, 0] = 255
    samples[::2, ::2] = (0, 0, 255, 255)
    picture = decode(saved(Image.fromarray(samples), "PNG"), DecodeLimits(), working_pixels=32 * 32)
    # A quarter blue, the rest clear, on white.
    assert_same(picture.rgb, np.full((32, 32, 3), (191, 191, 255), np.uint8))


# First frames


def test_gif_frame_smaller_than_its_screen_leaves_the_rest_clear() -> None:
    frame = saved(Image.fromarray(gray_scene(20, 10)), "GIF")
    data = frame[:6] + struct.pack("<HH", 48, 32) + frame[10:]
    at = data.index(b"\x2c" + struct.pack("<HHHH", 0, 0, 20, 10))
    data = data[: at + 1] + struct.pack("<HH", 5, 7) + data[at + 5 :]
    picture = read(data)
    assert (picture.width, picture.height) == (48, 32)
    assert picture.alpha is not None
    assert (picture.alpha[7:17, 5:25] == 255).all()
    assert picture.alpha.sum() == 255 * 20 * 10
    assert (picture.rgb[picture.alpha == 0] == 255).all()
    assert_same(picture.rgb[7:17, 5:25], np.dstack([gray_scene(20, 10)] * 3))


def test_animated_webp_frame_smaller_than_its_canvas_leaves_the_rest_clear() -> None:
    picture = read(webp_animation([(4, 6, scene(20, 10)), (0, 0, scene())], 48, 32))
    assert picture.alpha is not None
    assert picture.alpha.sum() == 255 * 20 * 10
    assert_same(picture.rgb[6:16, 4:24], scene(20, 10))
    assert (picture.rgb[picture.alpha == 0] == 255).all()


def test_gif_with_a_transparent_colour() -> None:
    image = Image.fromarray(np.arange(60, dtype=np.uint8).reshape(6, 10) % 3)
    image.putpalette([255, 0, 255, 10, 200, 30, 0, 0, 250])
    picture = read(saved(image, "GIF", transparency=0))
    assert picture.alpha is not None
    assert ((picture.alpha == 0) == (np.asarray(image) == 0)).all()
    assert (picture.rgb[picture.alpha == 0] == 255).all()


@pytest.mark.parametrize("format", ["GIF", "WEBP", "AVIF", "TIFF", "PNG"])
def test_only_the_first_of_several_frames_is_shown(format: str) -> None:
    frames = [Image.fromarray(np.roll(scene(), shift, axis=1)) for shift in (0, 16, 32)]
    lossless = {"lossless": True} if format == "WEBP" else {}
    data = saved(frames[0], format, save_all=True, append_images=frames[1:], duration=100, **lossless)
    assert_alike(read(data).rgb, scene(), mean=6 if format in ("GIF", "AVIF") else 0.5)


def test_what_follows_the_first_gif_frame_is_not_looked_at() -> None:
    frames = [Image.fromarray(np.roll(gray_scene(), shift, axis=1)) for shift in (0, 16)]
    data = saved(frames[0], "GIF", save_all=True, append_images=frames[1:])
    second = data.rindex(b"\x2c")
    assert_same(read(data[:second] + b"\x2c\xff\xff").rgb, GRAY_AS_RGB)


def test_a_chain_of_tiff_pages_that_bites_its_tail_is_not_followed() -> None:
    body = scene().tobytes()
    tags = plain_tiff_tags(48, 32, (8, 8, 8))
    assert_same(read(tiff_file(tags, body, chain=len(body) + 8)).rgb, scene())


def test_an_animated_png_shows_its_default_image_whatever_its_frames_are() -> None:
    broken = [(b"acTL", struct.pack(">II", 7, 0)), (b"acTL", b""), (b"fcTL", b"\xff" * 26)]
    data = png_file(scene(), 8, RGB, before=broken, after=[(b"fdAT", b"\0" * 9)])
    assert_same(read(data).rgb, scene())


# TIFF


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("big", [False, True])
@pytest.mark.parametrize("bits", [(8, 8, 8), (16, 16, 16), (8,), (16,)])
def test_tiff_of_either_byte_order_and_generation(bits: tuple[int, ...], big: bool, order: str) -> None:
    source = scene() if len(bits) == 3 else gray_scene()
    body = source.tobytes() if bits[0] == 8 else (source.astype(np.uint16) * 257).astype(order + "u2").tobytes()
    picture = read(tiff_file(plain_tiff_tags(48, 32, bits, big=big), body, big=big, order=order))
    assert picture.format == "tiff"
    assert_same(picture.rgb, source if len(bits) == 3 else GRAY_AS_RGB)


def test_bigtiff_as_pillow_writes_it() -> None:
    data = saved(Image.fromarray(scene()), "TIFF", big_tiff=True)
    assert data[:4] == b"II+\0"
    assert_same(read(data).rgb, scene())


@pytest.mark.parametrize("deflated", [False, True])
@pytest.mark.parametrize("order", ["<", ">"])
def test_bigtiff_with_64_bit_offsets(order: str, deflated: bool) -> None:
    halves = [scene()[:16].tobytes(), scene()[16:].tobytes()]
    strips = [zlib.compress(half) if deflated else half for half in halves]
    tags = plain_tiff_tags(48, 32, (8, 8, 8), big=True)
    tags |= {259: (SHORT, [8 if deflated else 1]), 273: (LONG8, [16, 16 + len(strips[0])])}
    tags |= {278: (LONG8, [16]), 279: (LONG8, [len(strip) for strip in strips])}
    assert_same(read(tiff_file(tags, b"".join(strips), big=True, order=order)).rgb, scene())


@pytest.mark.parametrize(("kind", "premultiplied"), [(1, True), (2, False)])
def test_gray_tiff_with_alpha_of_either_kind(kind: int, premultiplied: bool) -> None:
    alpha = np.full((32, 48), 128, np.uint8)
    stored = (gray_scene() * (128 / 255)).round().astype(np.uint8) if premultiplied else gray_scene()
    tags = plain_tiff_tags(48, 32, (8, 8)) | {262: (SHORT, [1]), 338: (SHORT, [kind])}
    picture = read(tiff_file(tags, np.dstack((stored, alpha)).tobytes()))
    assert picture.alpha is not None
    assert np.array_equal(picture.alpha, alpha)
    assert_alike(picture.rgb, on_white(GRAY_AS_RGB, alpha), mean=1)


def test_tiff_in_tiles() -> None:
    tiles = [scene()[y : y + 16, x : x + 16].tobytes() for y in (0, 16) for x in (0, 16, 32)]
    tags = plain_tiff_tags(48, 32, (8, 8, 8))
    for strips in (273, 278, 279):
        del tags[strips]
    offsets = [8 + 768 * index for index in range(6)]
    tags |= {322: (SHORT, [16]), 323: (SHORT, [16]), 324: (4, offsets), 325: (4, [768] * 6)}
    assert_same(read(tiff_file(tags, b"".join(tiles))).rgb, scene())


@pytest.mark.parametrize("bits", [8, 16])
def test_tiff_whose_zero_is_white(bits: int) -> None:
    tags = plain_tiff_tags(48, 32, (bits,)) | {262: (SHORT, [0])}
    inverted = 255 - gray_scene()
    body = inverted.tobytes() if bits == 8 else (inverted.astype("<u2") * 257).tobytes()
    assert_same(read(tiff_file(tags, body)).rgb, GRAY_AS_RGB)


@pytest.mark.parametrize("scale", [1 / 255, 1.0, 257.0])
def test_floating_point_tiff_is_scaled_by_its_range(scale: float) -> None:
    samples = gray_scene().astype(np.float32) * np.float32(scale)
    samples[0, 0] = 255 * scale
    picture = read(saved(Image.fromarray(samples), "TIFF")).rgb
    assert_alike(picture[1:], GRAY_AS_RGB[1:], mean=0.6)


def test_floating_point_tiff_with_holes_and_negatives_is_finite() -> None:
    samples = gray_scene().astype(np.float32) - 100
    samples[3, 4], samples[5, 6], samples[7, 8] = np.nan, np.inf, -np.inf
    picture = read(saved(Image.fromarray(samples), "TIFF")).rgb
    assert picture[3, 4, 0] == 0
    assert picture[5, 6, 0] == 255
    assert np.ptp(picture) == 255


def test_32_bit_integer_tiff_is_scaled() -> None:
    samples = gray_scene().astype(np.int32) * 257
    assert_alike(read(saved(Image.fromarray(samples), "TIFF")).rgb, GRAY_AS_RGB, mean=0.6)


@pytest.mark.parametrize("compression", ["tiff_lzw", "tiff_adobe_deflate", "packbits", "zstd", "tiff_lzma"])
def test_tiff_compressed_without_loss(compression: str) -> None:
    assert_same(read(saved(Image.fromarray(scene()), "TIFF", compression=compression)).rgb, scene())


def test_tiff_compressed_as_jpeg() -> None:
    data = saved(Image.fromarray(scene()), "TIFF", compression="jpeg", quality=95)
    assert_alike(read(data).rgb, scene(), mean=3)


def test_fax_tiff() -> None:
    image = Image.fromarray(gray_scene()).convert("1")
    picture = read(saved(image, "TIFF", compression="group4")).rgb
    assert_same(picture, np.dstack([np.asarray(image, np.uint8) * np.uint8(255)] * 3))


@pytest.mark.parametrize("mode", ["CMYK", "LA", "P", "YCbCr"])
def test_tiff_in_other_colour_spaces(mode: str) -> None:
    converted = Image.fromarray(scene()).convert(mode)
    assert_alike(read(saved(converted, "TIFF")).rgb, np.asarray(converted.convert("RGB")), mean=1)


def test_lab_tiff() -> None:
    """L* 53.6 with a* = b* = 0 is the middle gray of sRGB."""
    planes = [Image.new("L", (8, 8), level) for level in (137, 128, 128)]
    assert_alike(
        read(saved(Image.merge("LAB", planes), "TIFF")).rgb, np.full((8, 8, 3), 128, np.uint8), mean=2, shift=2
    )


# BMP


def test_bmp_stored_from_the_top() -> None:
    assert_same(read(bmp_file(48, -32, 24, scene()[:, :, ::-1].tobytes())).rgb, scene())


@pytest.mark.parametrize(("masks", "shifts", "depths"), [(b"", (10, 5, 0), (5, 5, 5)), (b"565", (11, 5, 0), (5, 6, 5))])
def test_bmp_of_16_bits(masks: bytes, shifts: tuple[int, ...], depths: tuple[int, ...]) -> None:
    levels = [scene()[::-1, :, channel].astype(np.uint16) >> (8 - depths[channel]) for channel in range(3)]
    packed = sum(level << shift for level, shift in zip(levels, shifts, strict=True))
    bitfields = struct.pack("<III", 0xF800, 0x07E0, 0x001F) if masks else b""
    data = bmp_file(48, 32, 16, packed.astype("<u2").tobytes(), compression=3 if masks else 0, masks=bitfields)
    assert_alike(read(data).rgb, scene(), mean=4, shift=4)


@pytest.mark.parametrize("bits", [4, 8])
def test_bmp_in_runs(bits: int) -> None:
    colors = np.array([[0, 0, 0], [200, 30, 60], [20, 220, 90]], np.uint8)
    indices = np.array([[1] * 5 + [2] * 3, [0] * 8, [2] * 8], np.uint8)
    double = 17 if bits == 4 else 1
    runs = [((8, 2),), ((8, 0),), ((5, 1), (3, 2))]
    body = b"".join(b"".join(bytes((n, v * double)) for n, v in row) + b"\0\0" for row in runs) + b"\0\1"
    palette = b"".join(bytes((b, g, r, 0)) for r, g, b in colors.tolist())
    data = bmp_file(8, 3, bits, body, compression=2 if bits == 4 else 1, palette=palette.ljust(4 << bits, b"\0"))
    assert_same(read(data).rgb, colors[indices])


# JPEG


def test_gray_jpeg() -> None:
    assert_alike(read(saved(Image.fromarray(gray_scene()), "JPEG", quality=95)).rgb, GRAY_AS_RGB, mean=2)


def test_jpeg_with_inks_stored_as_luma_and_chroma() -> None:
    """YCCK: the colour inks are inverted for the sake of YCbCr, and inverted once more by Adobe's custom.

    So the stored YCbCr is that of the inks themselves (Adobe Technical Note 5116, libjpeg's ycck_cmyk_convert).
    """
    luma = np.asarray(Image.fromarray(255 - scene()).convert("YCbCr"))
    black = np.full((32, 48, 1), 255, np.uint8)
    # Pillow inverts what it stores.
    stored = Image.frombytes("CMYK", (48, 32), (255 - np.dstack((luma, black))).tobytes())
    data = saved(stored, "JPEG", quality=95, subsampling=0)
    adobe = data.index(b"Adobe")
    data = data[: adobe + 11] + b"\2" + data[adobe + 12 :]
    assert_alike(read(data).rgb, scene(), mean=2)


def test_jpeg_with_sampling_factors_that_turbojpeg_refuses() -> None:
    """2x2, 1x1, 1x2: one unit of seven flat gray blocks, written out in the standard Huffman codes."""
    data = saved(Image.new("RGB", (16, 16), (128, 128, 128)), "JPEG", subsampling=0)
    frame = data.index(b"\xff\xc0") + 10
    scan = data.index(b"\xff\xda")
    scan_end = scan + 2 + struct.unpack_from(">H", data, scan + 2)[0]
    sampling = {frame + 1: 0x22, frame + 4: 0x11, frame + 7: 0x12}
    head = bytes(sampling.get(at, byte) for at, byte in enumerate(data[:scan_end]))
    # A luma block is "no change" 00 and "end" 1010, a chroma block 00 and 00 (T.81, tables K.3 to K.6).
    bits = "001010" * 4 + "0000" * 3
    coded = int(bits.ljust(-(-len(bits) // 8) * 8, "1"), 2).to_bytes(-(-len(bits) // 8), "big")
    assert_same(read(head + coded + b"\xff\xd9").rgb, np.full((16, 16, 3), 128, np.uint8))


# HEIC and AVIF


def test_gray_heic() -> None:
    file = BytesIO()
    pillow_heif.from_pillow(Image.fromarray(gray_scene())).save(file, quality=95)
    assert_alike(read(file.getvalue()).rgb, GRAY_AS_RGB, mean=3)


def test_heic_of_ten_bits_is_scaled() -> None:
    samples = scene(64, 64).astype(np.uint16) * 257
    file = BytesIO()
    pillow_heif.encode("RGB;16", (64, 64), samples.tobytes(), file, quality=95)
    assert_alike(read(file.getvalue()).rgb, scene(64, 64), mean=3)


def test_the_primary_picture_of_a_heic_is_the_one_shown() -> None:
    collection = pillow_heif.from_pillow(Image.fromarray(np.roll(scene(), 16, axis=1)))
    collection.add_from_pillow(Image.fromarray(scene()))
    file = BytesIO()
    collection.save(file, quality=95, primary_index=1)
    assert_alike(read(file.getvalue()).rgb, scene(), mean=4)


def test_a_neutral_brand_is_told_by_its_companions() -> None:
    data = saved(Image.fromarray(scene()), "AVIF")
    size = int.from_bytes(data[:4], "big")
    renamed = data[:8] + b"mif1" + data[12:16] + b"avif".ljust(size - 16, b"\0") + data[size:]
    assert read(renamed).format == "avif"
