"""The values that travel through the service: pictures, boxes, faces, and what a network must offer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

RgbImage: TypeAlias = npt.NDArray[np.uint8]
"""(H, W, 3) uint8, sRGB, upright, red first."""

AlphaMask: TypeAlias = npt.NDArray[np.uint8]
"""(H, W) uint8, 0 = transparent, 255 = opaque."""

Tensor: TypeAlias = npt.NDArray[np.float32]
"""(N, C, H, W) or (N, H, W, C) float32, as the network's card says."""

AnyArray: TypeAlias = npt.NDArray[Any]
"""Whatever a network of which nothing is known answers with."""

Weights: TypeAlias = npt.NDArray[np.float32]
"""(H, W) float32 in [0, 1]: how much of a layer is seen at each pixel."""

StyleId: TypeAlias = str
"""The id of a card in models/models.toml, e.g. ``hayao``."""

FaceMode: TypeAlias = Literal["auto", "off", "only"]
ImageFormat: TypeAlias = Literal["png", "jpeg", "webp", "avif"]
UploadFormat: TypeAlias = Literal["png", "jpeg", "webp", "avif", "gif", "bmp", "tiff", "heif"]

Checkpoint: TypeAlias = Callable[[], None]
"""Called between pieces of long work; raises to stop it (deadline passed)."""


def never_stop() -> None:
    """The checkpoint of work that nobody times."""


@dataclass(frozen=True, slots=True)
class Point:
    """A place in a picture, in pixels; (0, 0) is the upper left corner of the upper left pixel."""

    x: float
    y: float

    def moved(self, dx: float, dy: float) -> Point:
        """The place (dx, dy) pixels further."""
        return Point(self.x + dx, self.y + dy)


@dataclass(frozen=True, slots=True)
class Box:
    """An upright rectangle in pixels; it may reach outside the picture."""

    x: float
    y: float
    width: float
    height: float

    @property
    def area(self) -> float:
        """Square pixels."""
        return self.width * self.height

    def moved(self, dx: float, dy: float) -> Box:
        """The box (dx, dy) pixels further."""
        return Box(self.x + dx, self.y + dy, self.width, self.height)


@dataclass(frozen=True, slots=True)
class Face:
    """One detected face, in pixels of the picture it was found in.

    Right and left are the person's own: in an upright portrait the right eye is nearer the picture's left side.
    ``score`` is the detector's confidence in [0, 1].
    """

    box: Box
    right_eye: Point
    left_eye: Point
    score: float

    def moved(self, dx: float, dy: float) -> Face:
        """The face (dx, dy) pixels further."""
        return Face(self.box.moved(dx, dy), self.right_eye.moved(dx, dy), self.left_eye.moved(dx, dy), self.score)


class Session(Protocol):
    """A loaded network. Safe to call from several threads."""

    def run(self, tensor: Tensor) -> Tensor:
        """One forward pass: float32 in, float32 out, layouts and ranges as on the network's card."""
        ...


class Detector(Protocol):
    """Finds faces. Safe to call from several threads."""

    def detect(self, image: RgbImage) -> list[Face]:
        """All faces of ``image``, largest first, none twice."""
        ...

    def close(self) -> None:
        """Free what the detector holds; it is not used afterwards."""
        ...
