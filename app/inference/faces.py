"""MediaPipe's face detector behind our own types. The only module that imports mediapipe, and only when asked to.

What the wheel does that a service must not, and what is done about it here:

* It imports matplotlib for drawing helpers (36 MB, half a second): the import sees an empty module instead.
* Its C library writes some fifty lines to standard error while it loads: known chatter is dropped, the rest kept.
* On a processor older than it is built for (ARMv8.2 with dot products, as in a Raspberry Pi 5 but not 4; AVX) its C
  library ends the process while it loads: it is loaded in a process of its own first.
* It reports its use to Google (google-ai-edge/mediapipe#6291) and has no switch for it: see ``_stay_offline``.
* A detector not closed before the interpreter ends prints a traceback, and one closed by a finalizer may
  wait for ever for its own thread: a Keeper closes it in time.
"""

from __future__ import annotations

import ctypes
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import IO, Any, Final

import numpy as np

from app.inference.face_search import PROPOSAL_SCORE, Look, find_faces
from app.inference.keeper import Keeper
from app.types import Box, Face, Point, RgbImage

_SUPPRESSION: Final = 0.3
_CHATTER: Final = re.compile(rb"(INFO|WARNING): |[IW]\d{4} ")
"""How LiteRT and Abseil begin lines that are no errors."""

_NOWHERE: Final = b"http://127.0.0.1:9"
"""The discard port of this machine: nothing listens there."""


class DetectorUnavailable(Exception):
    """The detector cannot be had on this machine. ``reason`` says why in one English sentence without a path."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class MediaPipeDetector:
    """Finds faces with the short-range and the full-range model. Safe to call from several threads.

    Every MediaPipe detector runs its calls one after another on a thread of its own, so the two are shared: threads
    wait for each other for the few milliseconds of a run. Build it in the process that serves, after any fork.
    """

    def __init__(self, short_range: Path, full_range: Path) -> None:
        """Load both models, BlazeFace files as MediaPipe publishes them. Raises DetectorUnavailable."""
        models = [_model_bytes(path) for path in (short_range, full_range)]
        _KEEPER.tidy()
        with _without_chatter():
            self._mediapipe = _import_mediapipe()
            _try_library(Path(self._mediapipe.__file__).parent)
            self._networks = [_network(model) for model in models]
            self._close = _KEEPER.keep(self, self._networks)
            self.detect(np.zeros((64, 64, 3), np.uint8))  # the first run builds what later ones reuse

    def detect(self, image: RgbImage) -> list[Face]:
        """Up to 12 faces at least 32 px wide, largest first, none twice; boxes may reach outside the picture.

        image: (H, W, 3) uint8 of any size from 1 x 1.
        """
        glance, scan = (self._look(network) for network in self._networks)
        return find_faces(image, glance, scan)

    def close(self) -> None:
        """Free the models; ``detect`` must not be called again.

        Happens by itself when Python ends, or, once the object is gone, when the next one is made.
        """
        self._close()

    def _look(self, network: Any) -> Look:
        def look(image: RgbImage) -> list[Face]:
            picture = self._mediapipe.Image(self._mediapipe.ImageFormat.SRGB, np.ascontiguousarray(image))
            height, width = image.shape[:2]
            return [_face(found, width, height) for found in network.detect(picture).detections]

        return look


def _face(found: Any, width: int, height: int) -> Face:
    """A MediaPipe detection as a Face. Key points come as shares of the picture; the first two are the eyes."""
    box = found.bounding_box
    right_eye, left_eye = (Point(point.x * width, point.y * height) for point in found.keypoints[:2])
    return Face(
        Box(float(box.origin_x), float(box.origin_y), float(box.width), float(box.height)),
        right_eye,
        left_eye,
        float(found.categories[0].score),
    )


def _model_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        raise DetectorUnavailable(f"the face model {path.name} is missing") from None


def _import_mediapipe() -> Any:
    _stay_offline()
    try:
        with _without_matplotlib():
            import mediapipe
            from mediapipe.tasks.python.vision import face_detector  # noqa: F401
    # Packages of versions that do not fit together raise whatever they like.
    except Exception as error:
        raise DetectorUnavailable(f"MediaPipe does not load ({_first_line(error)})") from error
    return mediapipe


def _try_library(package: Path) -> None:
    """Raise DetectorUnavailable where loading the C library of ``package`` kills the process that does it.

    Whatever else is wrong with it shows as an exception when this process loads it.
    """
    library = next(package.glob("tasks/c/libmediapipe.*"), None)
    if library is None or not sys.executable:
        return
    command = [sys.executable, "-I", "-S", "-c", "import ctypes, sys; ctypes.CDLL(sys.argv[1])", str(library)]
    nothing = subprocess.DEVNULL
    try:
        status = subprocess.run(command, stdin=nothing, stdout=nothing, stderr=nothing).returncode  # noqa: S603
    except OSError:  # no process may be started here: nothing is learnt, and nothing lost
        return
    if status < 0:
        raise DetectorUnavailable(f"MediaPipe is not made for this processor ({signal.Signals(-status).name})")


def _network(model: bytes) -> Any:
    from mediapipe.tasks.python.core.base_options import BaseOptions
    from mediapipe.tasks.python.vision.face_detector import FaceDetector, FaceDetectorOptions

    options = FaceDetectorOptions(
        base_options=BaseOptions(model_asset_buffer=model),
        min_detection_confidence=PROPOSAL_SCORE,
        min_suppression_threshold=_SUPPRESSION,
    )
    try:
        return FaceDetector.create_from_options(options)
    except (OSError, RuntimeError, ValueError) as error:
        # The shared library is opened here, not at the import: a missing libEGL or libGLESv2 shows as an OSError.
        raise DetectorUnavailable(f"the face detector does not start ({_first_line(error)})") from error


def _first_line(error: BaseException) -> str:
    text = str(error).strip() or type(error).__name__
    return re.sub(r"(/[\w.+-]+)+/", "", text.splitlines()[0])


def _close_all(networks: Sequence[Any]) -> None:
    with _without_chatter():
        for network in networks:
            try:
                network.close()
            except RuntimeError:
                # Python is ending and has stopped the detector's thread already. The process's end frees the model;
                # without a handle the detector's own destructor does not try again and print a traceback.
                network._handle = None


# MediaPipe closes by way of a pool of threads.
_KEEPER: Final = Keeper(_close_all)


def _stay_offline() -> None:
    """Send MediaPipe's usage reports to a closed port of this machine.

    Its C library reports through libcurl, which reads the proxy from the C environment. That is set there alone:
    ``os.environ`` and everything in Python that looks for a proxy stay as they are.
    """
    if os.name != "posix":
        return
    libc = ctypes.CDLL(None)
    for name in (b"no_proxy", b"NO_PROXY"):
        libc.unsetenv(name)
    for name in (b"https_proxy", b"http_proxy"):
        libc.setenv(name, _NOWHERE, 1)


@contextmanager
def _without_matplotlib() -> Iterator[None]:
    """Let ``import matplotlib.pyplot`` find an empty module, unless the real one is there already."""
    names = ("matplotlib", "matplotlib.pyplot")
    if any(name in sys.modules for name in names):
        yield
        return
    sys.modules.update({name: ModuleType(name) for name in names})
    try:
        yield
    finally:
        for name in names:
            sys.modules.pop(name, None)


@contextmanager
def _without_chatter() -> Iterator[None]:
    """Hold back what is written to file descriptor 2, then write on what is not _CHATTER."""
    with _file_of_no_name() as held:
        sys.stderr.flush()
        real = os.dup(2)
        os.dup2(held.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(real, 2)
            os.close(real)
            held.seek(0)
            os.write(2, b"".join(line for line in held if not _CHATTER.match(line)))


def _file_of_no_name() -> IO[bytes]:
    # In memory where the system can: a container may have no place on disk to write to.
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("stderr"), "w+b")
    return tempfile.TemporaryFile()
