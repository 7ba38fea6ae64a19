"""The engine starts once per process, falls back where a style is broken, and tells how it is."""

import contextlib
import os
import shutil
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain, repeat
from pathlib import Path
from typing import NoReturn

import numpy as np
import pytest

from app import assembly
from app.admission.pace import FIRST_GUESS
from app.config import PROJECT_ROOT, SettingError, Settings
from app.conversion import STAGES
from app.deadline import Deadline
from app.engine import Engine
from app.errors import (
    BrokenImage,
    ClientGone,
    InvalidOption,
    ModelError,
    NotReady,
    NoUsableStyle,
    Overloaded,
    StyleUnavailable,
    TooLargeToDraw,
    UnsupportedImage,
)
from app.inference.batcher import Batcher
from app.inference.registry import Style
from app.options import ConvertOptions
from app.parts import ForSlow
from app.telemetry.observer import Observer
from app.types import Face, RgbImage, Tensor
from app.workload import face_pixels
from tests.unit.stubs import REGISTRY, FixedDetector, Negative, Workshop, face_at, parts, photo, png, started

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
    assert engine.crowd().working == 1
    with pytest.raises(Overloaded):
        engine.convert_with(PICTURE, ConvertOptions(), Deadline(0.01, clock=lambda: 0.0))
    let_go.set()
    first.join()
    assert engine.convert(PICTURE).style == "hayao"


@contextmanager
def held_up(**changed: object) -> Iterator[Engine]:
    """An engine with one lane, in which somebody's conversion stands still until the block ends."""
    inside, let_go = threading.Event(), threading.Event()

    class Waiting(Negative):
        def run(self, tensor: object) -> object:  # type: ignore[override]
            inside.set()
            assert let_go.wait(30)
            return tensor

    engine = started(Workshop(sessions={"cute": Waiting()}), FixedDetector([face_at(60, 60, 64)]), lanes=1, **changed)
    selfie = png(photo(200, 200))
    first = threading.Thread(target=engine.convert_with, args=(selfie, ConvertOptions(style="cute")))
    first.start()
    assert inside.wait(30)
    try:
        yield engine
    finally:
        let_go.set()
        first.join()


def test_who_waits_can_ask_where_it_is_by_its_name() -> None:
    with ThreadPoolExecutor(1) as pool, held_up() as engine:
        waiting = pool.submit(engine.convert_with, PICTURE, ConvertOptions(), name="mine")
        while (place := engine.place("mine")) is None:
            assert not waiting.done()
        assert (place.state, place.before) == ("waiting", 1)
        assert place.seconds > 0
        assert engine.place("another's") is None
    assert waiting.result(30).style == "hayao"
    assert engine.place("mine") is None


def test_faces_that_are_being_drawn_are_counted_for_those_who_wait() -> None:
    with held_up(clock=lambda: 100.0) as engine:
        face = face_pixels(REGISTRY.card("hayao"), REGISTRY.card("cute"))
        assert face * FIRST_GUESS < engine.crowd().seconds < 1.3 * face * FIRST_GUESS


def test_what_is_no_picture_is_refused_at_once_however_many_wait() -> None:
    with held_up() as engine, pytest.raises(UnsupportedImage):
        engine.convert_with(b"no picture", ConvertOptions())
    with held_up() as engine, pytest.raises(BrokenImage):
        engine.convert_with(PICTURE[:40], ConvertOptions())


def test_a_client_that_has_gone_costs_no_network() -> None:
    runs: list[int] = []

    class Counting(Negative):
        def run(self, tensor: Tensor) -> Tensor:
            runs.append(1)
            return tensor

    # It leaves as soon as it has been let in.
    gone = chain([False], repeat(True))
    engine = started(Workshop(sessions={"hayao": Counting()}))
    with pytest.raises(ClientGone):
        engine.convert_with(PICTURE, ConvertOptions(), Deadline(60, gone=lambda: next(gone)))
    assert runs == []
    assert engine.crowd().working == 0


def test_a_picture_that_takes_more_memory_than_there_is_is_refused_and_smaller_ones_are_drawn() -> None:
    engine = started(memory=256 * 2**20)
    large = png(np.zeros((7000, 7000, 3), np.uint8))
    with pytest.raises(TooLargeToDraw):
        engine.convert(large, size="original")
    assert engine.convert(PICTURE).style == "hayao"


def test_large_pictures_are_drawn_one_at_a_time_and_hold_up_no_others() -> None:
    large = png(photo(1700, 1700))
    inside, let_go = threading.Event(), threading.Event()

    class WaitingOnce(FixedDetector):
        def detect(self, image: RgbImage) -> list[Face]:
            if not inside.is_set():
                inside.set()
                assert let_go.wait(30)
            return []

    engine = started(detector=WaitingOnce(), lanes=3)
    with ThreadPoolExecutor(3) as pool:
        first = pool.submit(engine.convert, large, size="original")
        assert inside.wait(30)
        others = [pool.submit(engine.convert_with, large, ConvertOptions(size=size)) for size in ("original", 4096)]
        while engine.crowd().waiting < 2:
            assert not any(other.done() for other in others)
        assert engine.convert(PICTURE).style == "hayao"
        assert (engine.crowd().working, engine.crowd().waiting) == (1, 2)
        let_go.set()
        assert [each.result(30).width for each in (first, *others)] == [1700] * 3


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


class TestAPreset:
    """``portrait`` is ``cute`` with the face alone."""

    def test_is_listed_behind_its_style(self) -> None:
        infos = started().styles()
        assert [info.card.id for info in infos] == ["hayao", "cute", "portrait"]
        cute, portrait = infos[1:]
        assert (cute.face, portrait.face) == ("auto", "only")
        assert portrait.card.title != cute.card.title
        assert portrait.sha256 == cute.sha256

    def test_is_the_state_of_its_style(self) -> None:
        engine = started(Workshop(failing={"cute"}))
        with pytest.raises(StyleUnavailable):
            engine.convert(PICTURE, style="portrait")
        assert not engine.styles()[2].usable

    def test_is_its_style_with_its_wish(self) -> None:
        detector = FixedDetector([face_at(100, 80, 40)])
        engine, picture = started(detector=detector), png(photo(300, 200))
        answer = engine.convert(picture, style="portrait")
        assert answer.style == "portrait"
        assert answer.image == engine.convert(picture, style="cute", face="only").image
        assert answer.width == answer.height

    def test_gives_way_to_the_wish_of_a_request(self) -> None:
        detector = FixedDetector([face_at(100, 80, 40)])
        engine, picture = started(detector=detector), png(photo(300, 200))
        answer = engine.convert(picture, style="portrait", face="auto")
        assert (answer.style, answer.width, answer.height) == ("portrait", 300, 200)

    def test_loads_no_network_of_its_own(self) -> None:
        workshop = Workshop()
        engine = started(workshop, FixedDetector([face_at(100, 80, 40)]))
        for style in ("cute", "portrait"):
            engine.convert(png(photo(300, 200)), style=style)
        assert workshop.built.count("cute") == 1
        assert "portrait" not in workshop.built


SLOWER = replace(REGISTRY, styles={"hayao": REGISTRY.styles["hayao"]})
"""Stands for other networks: it has one style less."""


@pytest.mark.parametrize(("slow", "served"), [(True, {"hayao"}), (False, {"hayao", "cute"})])
def test_a_machine_that_turns_out_to_be_slow_takes_the_parts_for_it(slow: bool, served: set[str]) -> None:
    workshop, tried = Workshop(), []

    def is_slow() -> bool:
        tried.append(list(workshop.built))
        return slow

    other = ForSlow(is_slow, lambda: parts(workshop, registry=SLOWER))
    engine = Engine(parts(workshop, for_slow=other))
    assert not tried
    engine.start(warm=False)
    engine.start(warm=False)
    # Before anything is built, and once.
    assert tried == [[]]
    assert set(engine.status().styles) == served
    assert engine.convert(PICTURE).style == "hayao"
    assert workshop.built == ["hayao"]


def with_small(folder: Path) -> Path:
    """The models, with a smaller network for hayao: cute's, which is another file."""
    models = shutil.copytree(PROJECT_ROOT / "models", folder / "models", ignore=shutil.ignore_patterns("added"))
    listed = (models / "models.toml").read_text(encoding="utf-8")
    file = REGISTRY.card("cute").variants["fp32"]
    entry = f'[styles.variants.small]\nfile = "{file.file}"\nsha256 = "{file.sha256}"\nbytes = {file.bytes}\n\n'
    start = listed.index("[styles.variants.small]") if "[styles.variants.small]" in listed else None
    if start is None:
        start = end = listed.index("[styles.variants.fp16]")
    else:
        end = listed.index("[", start + 1)
    (models / "models.toml").write_text(listed[:start] + entry + listed[end:], encoding="utf-8")
    return models


@pytest.mark.parametrize(
    ("seconds", "settings", "variant"),
    [
        (1.1, {}, "small"),
        (0.9, {}, "fp32"),
        (3.9, {"slow_seconds": 4.0}, "fp32"),
        (9.0, {"slow_seconds": 0.0}, "fp32"),
        (9.0, {"variant": "int8"}, "small"),
        (0.1, {"variant": "int8"}, "int8"),
        (0.1, {"variant": "small"}, "small"),
    ],
)
def test_slow_machines_draw_with_the_smaller_networks(
    seconds: float, settings: dict[str, object], variant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[str] = []

    def tells(style: Style, *, threads: int, provider: str) -> float:
        tried.append(style.card.id)
        return seconds

    monkeypatch.setattr(assembly, "seconds_a_picture", tells)
    engine = Engine.from_settings(Settings(models_dir=with_small(tmp_path), style="cute", **settings))  # type: ignore[arg-type]
    engine.start(warm=False)
    infos = {info.card.id: info for info in engine.styles()}
    engine.close()
    assert infos["hayao"].variant == variant
    assert (infos["hayao"].sha256 == REGISTRY.card("cute").variants["fp32"].sha256) == (variant == "small")
    # The scenery is what is tried, and only where something hangs on it.
    assert tried == (["hayao"] if settings not in ({"slow_seconds": 0.0}, {"variant": "small"}) else [])


def test_a_damaged_smaller_network_leaves_the_usual_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    models = with_small(tmp_path)
    listed = (models / "models.toml").read_text(encoding="utf-8")
    start = listed.index("[styles.variants.small]")
    file = listed.index('file = "', start)
    broken = listed[:file] + 'file = "gone.onnx"' + listed[listed.index("\n", file) :]
    (models / "models.toml").write_text(broken, encoding="utf-8")
    monkeypatch.setattr(assembly, "seconds_a_picture", lambda *_, **__: 9.0)
    engine = Engine.from_settings(Settings(models_dir=models, style="hayao"))
    engine.start(warm=False)
    (hayao,) = [info for info in engine.styles() if info.card.id == "hayao"]
    engine.close()
    assert (hayao.state, hayao.variant) == ("ready", "fp32")
    assert "the usual network is used, because gone.onnx is missing" in caplog.text


def test_a_damaged_usual_network_is_not_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    models, tried = with_small(tmp_path), []
    (models / "lite_hayao.onnx").write_bytes((models / "lite_hayao_fp16.onnx").read_bytes())
    monkeypatch.setattr(assembly, "seconds_a_picture", lambda style, **_: tried.append(style.card.id) or 0.1)
    engine = Engine.from_settings(Settings(models_dir=models, style="hayao"))
    with contextlib.suppress(NoUsableStyle):
        engine.start(warm=False)
    engine.close()
    assert "hayao" not in tried


def test_a_trial_that_fails_is_no_failure_of_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(*_: object, **__: object) -> float:
        raise RuntimeError("no memory")

    monkeypatch.setattr(assembly, "seconds_a_picture", fails)
    engine = Engine.from_settings(Settings(models_dir=with_small(tmp_path), style="hayao"))
    engine.start(warm=False)
    assert engine.status().state == "ready"
    engine.close()
    assert "could not be tried" in caplog.text


def test_closing_while_the_machine_is_tried_leaves_networks_and_list_of_one_kind() -> None:
    workshop = Workshop()
    engine = Engine(parts(workshop, for_slow=ForSlow(lambda: engine.close() or True, lambda: parts(registry=SLOWER))))
    engine.start(warm=False)
    # The new beginning has its own trial, and its list is of what it will build.
    assert set(engine.status().styles) == {"hayao", "cute"}
