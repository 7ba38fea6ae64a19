"""BMP: Pillow reads its header without touching a pixel, and there is no metadata to keep from it."""

from __future__ import annotations

from io import BytesIO

from PIL import BmpImagePlugin

from app.imaging.containers.upload import Upload, pillow_raster


def open_upload(data: bytes) -> Upload:
    """Read the header. Raises what Pillow raises."""
    image = BmpImagePlugin.BmpImageFile(BytesIO(data))
    return Upload(image.width, image.height, lambda factor: pillow_raster(image, factor))
