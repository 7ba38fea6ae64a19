"""MediaPipe's detector on the case book, from many threads, and where it cannot be had."""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NoReturn

import cv2
import numpy as np
import pytest

from app.config import PROJECT_ROOT
from app.inference import faces
from app.inference.faces import DetectorUnavailable, MediaPipeDetector
from app.inference.registry import ModelRegistry
from app.types import Face, RgbImage
from tests.casebook import CASES, case

DETECTORS = ModelRegistry.load(PROJECT_ROOT / "models").detectors
MODELS = (DETECTORS["short_range"].path, DETECTORS["full_range"].path)


def pixels(name: str) -> RgbImage:
    """The case's twin, or the case itself where it has none: plain RGB."""
    item = case(name)
    return cv2.imread(str(item.twin or item.path))[..., ::-1].copy()


def reported() -> list[tuple[str, set[int]]]:
    """Case and how many faces may be found in it, as the case book says."""
    found = [(item.name, re.search(r"faces_reported=(\d)(?: or (\d))?", item.expected)) for item in CASES]
    return [(name, {int(count) for count in match.groups() if count}) for name, match in found if match]


@pytest.fixture(scope="module")
def detector() -> Iterator[MediaPipeDetector]:
    detector = MediaPipeDetector(*MODELS)
    yield detector
    detector.close()


@pytest.mark.parametrize(("name", "counts"), [*reported(), ("noise.png", {0}), ("black.png", {0})])
def test_every_case_has_as_many_faces_as_its_row_allows(
    detector: MediaPipeDetector, name: str, counts: set[int]
) -> None:
    assert len(detector.detect(pixels(name))) in counts


@pytest.mark.parametrize(
    "name",
    ["backlit.png", "lowlight.png", "occluded_mask.png", "occluded_scarf.png", "sideways_no_exif.png",
     "edge_left_half.png", "edge_right_half.png", "edge_top_cut.png", "seam_gradient.png", "seam_stripes.png"],
)  # fmt: skip
def test_hard_light_cloth_and_cut_faces_are_found(detector: MediaPipeDetector, name: str) -> None:
    assert len(detector.detect(pixels(name))) == 1


def test_the_box_lies_on_the_face_and_right_is_the_persons_right(detector: MediaPipeDetector) -> None:
    (face,) = detector.detect(pixels("face_one.png"))
    assert (face.box.x, face.box.y, face.box.width) == pytest.approx((174, 70, 100), abs=10)
    assert face.box.width == pytest.approx(face.box.height)
    assert (face.right_eye.x, face.right_eye.y) == pytest.approx((206, 103), abs=8)
    assert (face.left_eye.x, face.left_eye.y) == pytest.approx((246, 103), abs=8)


def test_a_tilted_face_has_the_box_of_an_upright_one_and_tilted_eyes(detector: MediaPipeDetector) -> None:
    (upright,), (tilted,) = detector.detect(pixels("face_one.png")), detector.detect(pixels("tilt_35.png"))
    assert tilted.box.width == pytest.approx(upright.box.width, rel=0.08)
    across, down = tilted.left_eye.x - tilted.right_eye.x, tilted.left_eye.y - tilted.right_eye.y
    assert np.degrees(np.arctan2(down, across)) == pytest.approx(-35, abs=6)


def test_two_mirrored_faces_are_found_alike(detector: MediaPipeDetector) -> None:
    first, second = detector.detect(pixels("faces_two.png"))
    assert first.box.width == pytest.approx(second.box.width, rel=0.06)
    assert first.box.y == pytest.approx(second.box.y, abs=6)


def test_a_face_cut_by_the_rim_has_a_box_that_reaches_over_it(detector: MediaPipeDetector) -> None:
    (face,) = detector.detect(pixels("edge_top_cut.png"))
    assert face.box.y < -10


@pytest.mark.parametrize("shape", [(1, 1), (1, 3000), (2, 2), (3000, 1)])
def test_pictures_of_few_pixels_have_no_faces(detector: MediaPipeDetector, shape: tuple[int, int]) -> None:
    assert detector.detect(np.full((*shape, 3), 200, np.uint8)) == []


def test_eight_threads_find_what_one_finds(detector: MediaPipeDetector) -> None:
    pictures = [pixels(name) for name in ("face_one.png", "tilt_35.png", "noface_coffee.png", "faces_two.png")]
    alone = [detector.detect(picture) for picture in pictures]

    def detect(turn: int) -> list[Face]:
        return detector.detect(pictures[turn % len(pictures)])

    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(detect, range(48)))
    assert together == [alone[turn % len(pictures)] for turn in range(48)]


def test_a_missing_model_is_named_without_its_path(tmp_path: Path) -> None:
    with pytest.raises(DetectorUnavailable, match=r"short\.tflite") as caught:
        MediaPipeDetector(tmp_path / "short.tflite", tmp_path / "full.tflite")
    assert str(tmp_path) not in caught.value.reason


def test_a_damaged_model_is_a_reason_not_a_crash(tmp_path: Path) -> None:
    (tmp_path / "face.tflite").write_bytes(b"not a model")
    with pytest.raises(DetectorUnavailable, match="does not start"):
        MediaPipeDetector(tmp_path / "face.tflite", tmp_path / "face.tflite")


def test_without_mediapipe_there_is_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mediapipe", None)
    with pytest.raises(DetectorUnavailable, match="MediaPipe does not load"):
        MediaPipeDetector(*MODELS)


def test_a_package_that_fits_none_of_the_others_is_a_reason_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Protobuf raises TypeError for code generated by another version of it."""

    def importing() -> NoReturn:
        raise TypeError("Descriptors cannot be created directly.")

    monkeypatch.setattr(faces, "_without_matplotlib", importing)
    with pytest.raises(DetectorUnavailable, match="Descriptors"):
        MediaPipeDetector(*MODELS)


@pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="needs files in memory")
def test_no_place_on_disk_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a container whose root may only be read there may be none."""
    monkeypatch.setattr(tempfile, "tempdir", "/nowhere")
    MediaPipeDetector(*MODELS).close()


LET_GO = """
from concurrent.futures.thread import _global_shutdown_lock
from tests.unit.inference.test_faces import MODELS, MediaPipeDetector

# What the first import of MediaPipe leaves behind holds on to the first one.
first, detector = MediaPipeDetector(*MODELS), MediaPipeDetector(*MODELS)
# As where a thread of a pool is being started, and garbage is collected just then.
with _global_shutdown_lock:
    del detector
print("done")
"""


def test_a_detector_let_go_of_while_a_thread_is_started_does_not_wait_for_that_thread() -> None:
    command = [sys.executable, "-c", LET_GO]
    done = subprocess.run(command, cwd=PROJECT_ROOT, check=True, capture_output=True, text=True, timeout=120)
    assert done.stdout == "done\n"
    assert "Traceback" not in done.stderr


def test_a_library_that_kills_its_process_is_a_reason_not_a_crash(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As on a Raspberry Pi 4. A stand-in for Python dies as the library would make it die."""
    dying = tmp_path / "python"
    dying.write_text("#!/bin/sh\nkill -s ILL $$\n")
    dying.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(dying))
    with pytest.raises(DetectorUnavailable, match=r"not made for this processor \(SIGILL\)"):
        MediaPipeDetector(*MODELS)


def test_without_a_system_library_the_reason_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from mediapipe.tasks.python.core import mediapipe_c_bindings

    def load(signatures: object = ()) -> None:
        raise OSError("libEGL.so.1: cannot open shared object file: No such file or directory")

    monkeypatch.setattr(mediapipe_c_bindings, "load_shared_library", load)
    with pytest.raises(DetectorUnavailable, match=r"libEGL\.so\.1"):
        MediaPipeDetector(*MODELS)


def run(program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=PROJECT_ROOT, check=True, timeout=60
    )


def test_a_process_that_loads_it_uses_it_and_ends_writes_nothing() -> None:
    program = f"""
import sys
from pathlib import Path
import numpy as np
from app.inference.faces import MediaPipeDetector
assert "mediapipe" not in sys.modules, "imported before it is asked for"
detector = MediaPipeDetector(*map(Path, {[str(path) for path in MODELS]!r}))
assert detector.detect(np.zeros((90, 120, 3), np.uint8)) == []
assert "matplotlib" not in sys.modules
"""
    finished = run(program)
    assert (finished.stdout, finished.stderr) == ("", "")


def test_what_others_write_while_it_loads_is_kept() -> None:
    program = """
import os
from app.inference.faces import _without_chatter
with _without_chatter():
    os.write(2, b"INFO: chatter\\nW0000 00:00:1 1 x.cc:1] chatter\\nan error\\nE0000 00:00:1 1 x.cc:1] an error\\n")
"""
    assert run(program).stderr.splitlines() == ["an error", "E0000 00:00:1 1 x.cc:1] an error"]


@pytest.mark.skipif(os.name != "posix", reason="the C environment is set on POSIX systems only")
def test_usage_reports_go_nowhere_and_python_keeps_its_proxy(detector: MediaPipeDetector) -> None:
    getenv = ctypes.CDLL(None).getenv
    getenv.restype = ctypes.c_char_p
    assert getenv(b"https_proxy") == b"http://127.0.0.1:9"
    assert getenv(b"no_proxy") is None
    assert os.environ.get("https_proxy") != "http://127.0.0.1:9"
