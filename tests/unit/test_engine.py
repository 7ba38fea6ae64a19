"""The engine starts once per process, falls back where a style is broken, and tells how it is."""

import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

import pytest

from app.config import SettingError, Settings
from app.conversion import STAGES
from app.deadline import Deadline
from app.engine import Engine
from app.errors import (
    DeadlineExceeded,
    InvalidOption,
    ModelError,
    NotReady,
    NoUsableStyle,
    StyleUnavailable,
    UnsupportedImage,
)
from app.inference.batcher import Batcher
from app.inference.registry import Style
from app.options import ConvertOptions
from app.telemetry.observer import Observer
from app.types import Face, RgbImage
from tests.unit.stubs import FixedDetector, Negative, Workshop, parts, photo, png, started

PICTURE = png(photo(64, 64))


def test_a_new_engine_is_starting_and_has_built_nothing() -> None:
    workshop = Workshop()
    status = Engine(parts(workshop)).status()
    assert (status.state, status.reason, status.faces) == ("starting", None, "starting")
    assert workshop.built == []


def test_a_start_builds_the_default_style_and_opens_the_detector() -> None:
    workshop, detector = Workshop(), FixedDetector()
    engine = Engine(parts(workshop, detector))
    engine.start()
    assert engine.status().state == "ready"
    assert engine.status().faces == "ready"
    assert engine.status().styles == {"hayao": "ready", "cute": "available"}
    assert detector.asked > 0


def test_a_face_style_starts_with_its_surroundings() -> None:
    engine = started(default_style="cute")
    assert engine.status().styles == {"hayao": "ready", "cute": "ready"}


def test_starting_twice_builds_once() -> None:
    workshop = Workshop()
    engine = Engine(parts(workshop))
    engine.start(warm=False)
    engine.start(warm=False)
    engine.start_in_background()
    assert workshop.built == ["hayao"]


def test_a_start_in_the_background_can_be_waited_for_by_a_conversion() -> None:
    engine = Engine(parts())
    engine.start_in_background()
    assert engine.convert_with(PICTURE, ConvertOptions(), Deadline(30)).style == "hayao"


def test_a_conversion_before_any_start_is_told_to_come_back() -> None:
    with pytest.raises(NotReady):
        Engine(parts()).convert_with(PICTURE, ConvertOptions(), Deadline(0.01))


def test_a_style_that_cannot_be_built_is_marked_and_the_next_one_serves() -> None:
    engine = started(Workshop(failing={"cute"}), default_style="cute")
    assert engine.status().state == "ready"
    assert engine.status().styles["cute"] == "unavailable: Style cute: it is broken."
    assert engine.default_style == "hayao"
    assert engine.convert(PICTURE).style == "hayao"
    with pytest.raises(StyleUnavailable):
        engine.convert(PICTURE, style="cute")


def test_a_face_style_is_unavailable_without_its_surroundings() -> None:
    engine = Engine(parts(Workshop(failing={"hayao"}), default_style="cute"))
    with pytest.raises(NoUsableStyle):
        engine.start(warm=False)
    assert engine.status().styles["cute"].startswith("unavailable: Style hayao")


def test_without_any_style_the_start_fails_in_words_each_time() -> None:
    engine = Engine(parts(Workshop(failing={"hayao", "cute"})))
    for _ in range(2):
        with pytest.raises(NoUsableStyle, match="it is broken"):
            engine.start()
    assert engine.status().state == "failed"
    assert "it is broken" in (engine.status().reason or "")


def test_a_reason_that_all_styles_share_is_told_once() -> None:
    def lacking(style: Style, batcher: Batcher) -> NoReturn:
        raise ModelError("This ONNX Runtime has no provider tpu.")

    with pytest.raises(NoUsableStyle) as failed:
        Engine(parts(open_style=lacking)).start()
    assert failed.value.reason == "This ONNX Runtime has no provider tpu."


def test_a_network_that_loads_but_cannot_run_fails_the_start() -> None:
    class Broken(Negative):
        def run(self, tensor: object) -> object:  # type: ignore[override]
            raise RuntimeError("no memory")

    engine = Engine(parts(Workshop(sessions={"hayao": Broken()})))
    with pytest.raises(ModelError, match="The warm-up failed: RuntimeError"):
        engine.start()
    assert engine.status().state == "failed"


def test_other_styles_are_built_on_first_use_and_once_however_many_ask() -> None:
    workshop = Workshop()
    engine = started(workshop)
    threads = [threading.Thread(target=engine.convert, args=(PICTURE,), kwargs={"style": "cute"}) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(workshop.built) == ["cute", "hayao"]


def test_an_unknown_style_is_named_with_those_there_are() -> None:
    with pytest.raises(InvalidOption, match="hayao, cute"):
        started().convert(PICTURE, style="monet")


def test_no_more_conversions_are_under_way_than_there_are_lanes() -> None:
    inside, let_go = threading.Event(), threading.Event()

    class Waiting(Negative):
        def run(self, tensor: object) -> object:  # type: ignore[override]
            inside.set()
            assert let_go.wait(30)
            return tensor

    engine = started(Workshop(sessions={"hayao": Waiting()}), lanes=1)
    first = threading.Thread(target=engine.convert, args=(PICTURE,))
    first.start()
    assert inside.wait(30)
    with pytest.raises(DeadlineExceeded):
        engine.convert_with(PICTURE, ConvertOptions(), Deadline(0.01))
    let_go.set()
    first.join()
    assert engine.convert(PICTURE).style == "hayao"


def test_pictures_at_their_original_size_are_drawn_one_at_a_time_and_hold_up_no_others() -> None:
    inside, let_go = threading.Event(), threading.Event()

    class WaitingOnce(FixedDetector):
        def detect(self, image: RgbImage) -> list[Face]:
            if not inside.is_set():
                inside.set()
                assert let_go.wait(30)
            return []

    engine = started(detector=WaitingOnce(), lanes=3)
    first = threading.Thread(target=engine.convert, args=(PICTURE,), kwargs={"size": "original"})
    first.start()
    assert inside.wait(30)
    for size in ("original", 4096):
        with pytest.raises(DeadlineExceeded):
            engine.convert_with(PICTURE, ConvertOptions(size=size), Deadline(0.01))
    assert engine.convert_with(PICTURE, ConvertOptions(), Deadline(30)).style == "hayao"
    let_go.set()
    first.join()
    assert engine.convert_with(PICTURE, ConvertOptions(size="original"), Deadline(30)).style == "hayao"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_after_a_fork_the_child_starts_afresh() -> None:
    engine = started()
    child = os.fork()
    if child == 0:
        code = 0 if engine.status().state == "starting" and engine.convert(PICTURE).style == "hayao" else 1
        os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_closed_engine_lets_go_of_its_detector_and_can_start_again() -> None:
    detector = FixedDetector()
    engine = started(detector=detector)
    engine.convert(PICTURE)
    engine.close()
    assert detector.closed
    assert engine.status().state == "starting"
    assert engine.convert(PICTURE).style == "hayao"


def test_a_default_style_that_does_not_exist_is_a_setting_error() -> None:
    with pytest.raises(SettingError, match="monet"):
        Engine.from_settings(Settings(style="monet"))


def test_a_models_folder_without_models_is_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(Exception, match=r"models\.toml"):
        Engine.from_settings(Settings(models_dir=tmp_path))


def test_the_observer_is_told_where_the_time_of_each_picture_went() -> None:
    class Told(Observer):
        def __init__(self) -> None:
            self.pictures: list[tuple[str, list[str]]] = []

        def converted(self, style: str, stages: Mapping[str, float]) -> None:
            self.pictures.append((style, list(stages)))

    observer = Told()
    engine = started(observer=observer)
    engine.convert(png(photo(8, 8)), style="hayao")
    assert observer.pictures == [("hayao", list(STAGES))]
    with pytest.raises(UnsupportedImage):
        engine.convert(b"no picture")
    assert len(observer.pictures) == 1
