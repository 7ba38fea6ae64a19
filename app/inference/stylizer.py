"""Stylizer: a picture through a network and back, whole or in tiles. Nothing here knows which network it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from math import lcm
from typing import Final, TypeAlias

import cv2
import numpy as np
import numpy.typing as npt

from app.imaging.sizing import SizeRequirements, crop, pad, window
from app.imaging.tiles import Tile, plan_tiles, tile_weights
from app.inference.card import ModelCard
from app.types import Checkpoint, RgbImage, Session, Tensor, never_stop

WHOLE_LIMIT: Final = 1024
"""Longest side in px that goes through a network in one piece."""

TILE_SIDE: Final = 1024
"""Longest side in px of a tile, halo included: bounds a run's memory whatever the picture."""

RAMP: Final = 64
"""Pixels over which neighbouring tiles fade into each other where the network is not ``local``. Real-ESRGAN's hard
paste shows (Real-ESRGAN#211); cosine ramps of 32 px and more do not."""

InTurn: TypeAlias = Callable[[Tensor, Checkpoint], Tensor]
"""Runs a tensor of one picture when its turn comes; what the checkpoint raises meanwhile ends the wait."""

_FULL: Final = 255.0


@dataclass(frozen=True, slots=True)
class Runs:
    """What goes through a network for one picture, in pixels: of all runs together, and of the largest."""

    pixels: int
    largest: int


def plan_runs(
    card: ModelCard,
    width: int,
    height: int,
    *,
    tile: int = TILE_SIDE,
    whole_limit: int = WHOLE_LIMIT,
    shape_step: int = 1,
) -> Runs:
    """The runs of a Stylizer with these arguments for a picture of ``width`` x ``height`` px."""
    if _runs_whole(card, width, height, whole_limit):
        across, down = _stepped(card.sizes, shape_step).padded(width, height)
        return Runs(across * down, across * down)
    areas = [kept.read.width * kept.read.height for kept in _tiles(card, width, height, tile)]
    return Runs(sum(areas), max(areas))


class Stylizer:
    """Runs pictures through ``session`` as ``card`` says. Safe from several threads if the session is.

    whole_limit: longest side, in px, of a picture run in one piece. tile: longest side of a tile, in px. shape_step:
    sides are padded to a multiple of it too, so that pictures of many ratios share few shapes. in_turn: how a run
    gets its turn among others; default, at once. run_bytes: memory that a run takes for each pixel, as far as known.
    """

    def __init__(
        self,
        card: ModelCard,
        session: Session,
        *,
        tile: int = TILE_SIDE,
        whole_limit: int = WHOLE_LIMIT,
        shape_step: int = 1,
        in_turn: InTurn | None = None,
        run_bytes: float = 0.0,
    ) -> None:
        self.card = card
        self.run_bytes = run_bytes
        self._in_turn: InTurn = in_turn or (lambda tensor, _: session.run(tensor))
        self._tile = tile
        self._whole_limit = whole_limit
        self._sizes = _stepped(card.sizes, shape_step)
        low, high = card.input_range
        self._levels = (np.arange(256) / _FULL * (high - low) + low).astype(np.float32)

    def stylize(self, rgb: RgbImage, checkpoint: Checkpoint = never_stop) -> RgbImage:
        """The anime picture of ``rgb``, of the same (H, W, 3) uint8; ``rgb`` is left as it is.

        ``checkpoint`` is called before every run of the network; what it raises ends the work.
        """
        height, width = rgb.shape[:2]
        if _runs_whole(self.card, width, height, self._whole_limit):
            checkpoint()
            return np.ascontiguousarray(crop(self._run(pad(rgb, self._sizes), checkpoint), width, height))
        return self._run_tiled(rgb, checkpoint)

    def _run_tiled(self, rgb: RgbImage, checkpoint: Checkpoint) -> RgbImage:
        height, width = rgb.shape[:2]
        result = np.empty_like(rgb)
        for tile in _tiles(self.card, width, height, self._tile):
            checkpoint()
            _lay(result, tile, self._run(window(rgb, tile.read), checkpoint))
        return result

    def _run(self, rgb: RgbImage, checkpoint: Checkpoint) -> RgbImage:
        output = self._in_turn(self._to_tensor(rgb), checkpoint)
        result = self._to_rgb(output)
        # One look over the whole is cheap. A network in half precision may overflow on odd pictures: where it has
        # no answer, the photo shows.
        finite = np.isfinite(output)
        if not finite.all():
            holes = ~finite[0].all(axis=self.card.layout.index("C") - 1)
            result[holes] = rgb[holes]
        return result

    def _to_tensor(self, rgb: RgbImage) -> Tensor:
        # A table of 256 floats is exact for any range and the fastest way measured (docs/performance/session.md).
        if self.card.channel_order == "BGR":
            rgb = np.asarray(cv2.cvtColor(rgb, cv2.COLOR_RGB2BGR), np.uint8)
        if self.card.layout == "NHWC":
            return np.asarray(cv2.LUT(np.ascontiguousarray(rgb), self._levels), np.float32)[np.newaxis]
        tensor = np.empty((1, 3, *rgb.shape[:2]), np.float32)
        for channel in range(3):
            tensor[0, channel] = cv2.LUT(cv2.extractChannel(rgb, channel), self._levels)
        return tensor

    def _to_rgb(self, output: Tensor) -> RgbImage:
        if self.card.layout == "NCHW":
            picture = cv2.merge([self._to_levels(plane) for plane in output[0]])
        else:
            picture = self._to_levels(output[0])
        if self.card.channel_order == "BGR":
            picture = cv2.cvtColor(picture, cv2.COLOR_BGR2RGB)
        return np.asarray(picture, np.uint8)

    def _to_levels(self, values: Tensor) -> npt.NDArray[np.uint8]:
        # OpenCV scales, shifts, rounds to the nearest and saturates in one pass; saturating is the clip to the range.
        low, high = self.card.output_range
        scale = _FULL / (high - low)
        return np.asarray(cv2.addWeighted(values, scale, values, 0, -low * scale, dtype=cv2.CV_8U), np.uint8)


def _runs_whole(card: ModelCard, width: int, height: int, whole_limit: int) -> bool:
    fixed = card.sizes.fixed
    if fixed is not None:
        return width <= fixed[0] and height <= fixed[1]
    return max(width, height) <= whole_limit


def _tiles(card: ModelCard, width: int, height: int, tile: int) -> Iterator[Tile]:
    ramp = 0 if card.local else RAMP
    return plan_tiles(width, height, card.sizes, tile=tile, halo=card.halo, ramp=ramp)


def _stepped(sizes: SizeRequirements, step: int) -> SizeRequirements:
    return sizes if sizes.fixed else replace(sizes, multiple_of=lcm(sizes.multiple_of, step))


def _lay(result: RgbImage, tile: Tile, pixels: RgbImage) -> None:
    """Put the kept part of ``pixels`` (H, W, 3, the whole of ``tile.read``) into ``result``, fading where shared."""
    height, width = result.shape[:2]
    keep = tile.keep.clipped(width, height)
    kept = pixels[keep.top - tile.read.top :, keep.left - tile.read.left :][: keep.height, : keep.width]
    under = result[keep.top : keep.bottom, keep.left : keep.right]
    weights = tile_weights(tile)
    if weights is not None:
        weights = weights[: keep.height, : keep.width]
        kept = np.rint(under + weights * (kept.astype(np.float32) - under)).astype(np.uint8)
    under[...] = kept
