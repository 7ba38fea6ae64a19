"""The engine with a cache: what is asked for again costs no network, and nobody gets what is not theirs."""

from __future__ import annotations

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from app.admission.work import Work
from app.assembly import parts_of
from app.caching.keys import KeyMaker
from app.caching.plan import CachePlan
from app.caching.results import Bounds, ResultCache
from app.config import PROJECT_ROOT, SettingError, Settings
from app.deadline import NO_DEADLINE, Deadline
from app.engine import Engine
from app.errors import BrokenImage, DeadlineExceeded, FacesUnavailable, Overloaded
from app.inference.faces import DetectorUnavailable
from app.options import ConvertOptions
from app.telemetry.observer import UNOBSERVED
from app.types import Detector, Tensor
from tests.unit.stubs import REGISTRY, FixedDetector, Workshop, case, face_at, parts, photo, pixels, png, started

LIMIT = 30.0
PICTURE = png(photo(64, 64))
BOUNDS = Bounds(2**20, 2**20, 600)


@dataclass
class Counted:
    """The negative, and how often it was asked for."""

    runs: int = 0
    begun: threading.Event = field(default_factory=threading.Event)
    let_go: threading.Event = field(default_factory=threading.Event)

    def run(self, tensor: Tensor) -> Tensor:
        self.runs += 1
        self.begun.set()
        assert self.let_go.wait(LIMIT)
        return -tensor


def counted(*, held: bool = False) -> Counted:
    network = Counted()
    if not held:
        network.let_go.set()
    return network


def plan(bounds: Bounds = BOUNDS, opened: list[ResultCache] | None = None, shared: Shared | None = None) -> CachePlan:
    def open_cache() -> ResultCache:
        cache = ResultCache(bounds, shared, UNOBSERVED)
        if opened is not None:
            opened.append(cache)
        return cache

    return CachePlan(KeyMaker(REGISTRY, []), open_cache)


class Shared:
    """The cache of all machines."""

    def __init__(self) -> None:
        self.values: dict[str, bytes] = {}

    def get(self, key: str) -> bytes | None:
        return self.values.get(key)

    def put(self, key: str, value: bytes) -> None:
        self.values[key] = value

    def close(self) -> None:
        """Nothing to let go."""


def caching(network: Counted, detector: Detector | None = None, **changed: object) -> Engine:
    """An engine with a cache, whose styles all are ``network``."""
    workshop = Workshop(sessions={"hayao": network, "cute": network})
    return started(workshop, detector, **{"cache": plan(), **changed})


def test_the_same_again_costs_no_network() -> None:
    network = counted()
    engine = caching(network)
    first, again = engine.convert(PICTURE), engine.convert(PICTURE)
    assert (first.cache, again.cache) == ("miss", "hit")
    assert first.image == again.image
    assert network.runs == 1


def test_without_a_cache_everything_is_made_and_nothing_is_told() -> None:
    network = counted()
    engine = caching(network, cache=None)
    assert [engine.convert(PICTURE).cache for _ in range(2)] == [None, None]
    assert network.runs == 2


@pytest.mark.parametrize("other", [{"strength": 40}, {"format": "jpeg"}, {"format": "webp", "quality": 30}], ids=str)
def test_another_strength_or_format_costs_no_network_and_is_what_it_would_have_been(other: dict[str, object]) -> None:
    network, detector = counted(), FixedDetector([face_at(8, 8, 40)])
    engine = caching(network, detector)
    engine.convert(PICTURE)
    runs, asked = network.runs, detector.asked
    again = engine.convert(PICTURE, **other)  # type: ignore[arg-type]
    assert again.cache == "miss"
    assert set(again.timings) == {"cache", "blend", "encode"}
    assert (network.runs, detector.asked) == (runs, asked)
    fresh = caching(counted(), FixedDetector([face_at(8, 8, 40)]), cache=None)
    assert again.image == fresh.convert(PICTURE, **other).image  # type: ignore[arg-type]


@pytest.mark.parametrize("other", [{"style": "cute"}, {"face": "off"}, {"size": 64}, {"size": "original"}], ids=str)
def test_another_style_face_or_size_is_another_drawing(other: dict[str, object]) -> None:
    engine = caching(counted())
    engine.convert(PICTURE)
    again = engine.convert(PICTURE, **other)  # type: ignore[arg-type]
    assert again.cache == "miss"
    assert "infer" in again.timings


def test_the_default_size_and_style_are_what_they_stand_for() -> None:
    engine = caching(counted(), default_size=64)
    engine.convert(PICTURE)
    assert engine.convert(PICTURE, size=64, style="hayao").cache == "hit"


def test_another_upload_never_gets_an_answer_that_is_not_its_own() -> None:
    engine = caching(counted())
    images = [photo(64, 40 + number) for number in range(8)]
    for _ in range(2):
        for image in images:
            assert np.array_equal(pixels(engine.convert(png(image)).image), 255 - image)


def test_the_answers_format_follows_each_upload() -> None:
    engine = caching(counted())
    for name, format in (("odd_33x47.png", "png"), ("exif_o1.jpg", "jpeg"), ("odd_33x47.png", "png")):
        assert engine.convert(case(name)).format == format


def test_transparency_survives_in_every_format_that_has_it() -> None:
    image = np.dstack([photo(64, 64), np.full((64, 64), 128, np.uint8)])
    engine = caching(counted())
    engine.convert(png(image), format="jpeg")
    assert pixels(engine.convert(png(image)).image)[..., 3].max() == 128


def test_notices_and_faces_come_with_the_remembered_answer() -> None:
    engine = caching(counted(), FixedDetector())
    assert [engine.convert(PICTURE).notices for _ in range(2)] == [("no-face",)] * 2
    engine = caching(counted(), FixedDetector([face_at(8, 8, 40)]))
    assert [engine.convert(PICTURE).faces for _ in range(2)] == [1, 1]


def test_what_a_machine_without_faces_made_is_not_given_by_one_that_finds_them() -> None:
    shared = Shared()
    blind = caching(counted(), None, cache=plan(shared=shared))
    assert blind.convert(PICTURE).notices == ("faces-off",)
    seeing = caching(counted(), FixedDetector([face_at(8, 8, 40)]), cache=plan(shared=shared))
    answer = seeing.convert(PICTURE)
    assert (answer.cache, answer.faces, answer.notices) == ("miss", 1, ())
    assert caching(counted(), FixedDetector(), cache=plan(shared=shared)).convert(PICTURE).cache == "shared"
    assert blind.convert(PICTURE).notices == ("faces-off",)


def test_what_was_made_before_a_restart_without_faces_is_not_given_after_one_with_them() -> None:
    detectors: list[Detector] = []

    def open_detector() -> Detector:
        if not detectors:
            raise DetectorUnavailable("none yet")
        return detectors[0]

    engine = Engine(parts(Workshop(), open_detector=open_detector, cache=plan(shared=Shared())))
    assert engine.convert(PICTURE).notices == ("faces-off",)
    with pytest.raises(FacesUnavailable):
        engine.convert(PICTURE, face="only")
    engine.close()
    detectors.append(FixedDetector([face_at(8, 8, 40)]))
    assert engine.convert(PICTURE).faces == 1
    assert engine.convert(PICTURE, face="only").faces == 1


def test_errors_are_made_anew() -> None:
    engine = caching(counted())
    for _ in range(2):
        with pytest.raises(BrokenImage):
            engine.convert(case("trunc_60pct.jpg"))


def test_ten_at_once_run_the_network_once() -> None:
    network, opened = counted(held=True), list[ResultCache]()
    engine = caching(network, lanes=1, cache=plan(opened=opened))
    with ThreadPoolExecutor(10) as pool:
        futures = [pool.submit(engine.convert, PICTURE) for _ in range(10)]
        wait_until_aboard(opened[0], 10)
        network.let_go.set()
        results = [future.result(LIMIT) for future in futures]
    assert network.runs == 1
    assert len({result.image for result in results}) == 1
    assert sorted(str(result.cache) for result in results) == ["joined"] * 9 + ["miss"]


def test_who_waits_for_anothers_picture_is_told_where_that_is() -> None:
    network, opened = counted(held=True), list[ResultCache]()
    engine = caching(network, cache=plan(opened=opened))
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(engine.convert_with, PICTURE, ConvertOptions(), NO_DEADLINE, "first")
        assert network.begun.wait(LIMIT)
        second = pool.submit(engine.convert_with, PICTURE, ConvertOptions(), NO_DEADLINE, "second")
        wait_until_aboard(opened[0], 2)
        places = [engine.place(name) for name in ("first", "second", "else")]
        assert [place and place.state for place in places] == ["working", "working", None]
        network.let_go.set()
        assert {first.result(LIMIT).cache, second.result(LIMIT).cache} == {"miss", "joined"}


def test_who_finishes_a_drawing_waits_at_the_desk_and_may_be_refused_there() -> None:
    engine = caching(counted())
    engine.convert(PICTURE)
    desk = engine._runtime().desk
    with desk.turn(Work("finish png", 1000, quick=True), NO_DEADLINE), pytest.raises(Overloaded):
        # The one lane for those is taken, and there is no time to wait for it.
        engine.convert_with(PICTURE, ConvertOptions(strength=50), Deadline(0.001, clock=lambda: 0.0))
    assert engine.convert_with(PICTURE, ConvertOptions(strength=50), Deadline(LIMIT)).cache == "miss"


def test_one_that_runs_out_of_time_leaves_the_others_their_answer() -> None:
    network, opened = counted(held=True), list[ResultCache]()
    engine = caching(network, cache=plan(opened=opened))
    now = 0.0
    hurried = Deadline(1, clock=lambda: now)
    options = ConvertOptions()
    with ThreadPoolExecutor(3) as pool:
        first = pool.submit(engine.convert_with, PICTURE, options, hurried)
        assert network.begun.wait(LIMIT)
        rest = [pool.submit(engine.convert_with, PICTURE, options, NO_DEADLINE) for _ in range(2)]
        wait_until_aboard(opened[0], 3)
        now = 2.0
        network.let_go.set()
        assert isinstance(first.exception(LIMIT), DeadlineExceeded)
        results = [future.result(LIMIT) for future in rest]
    # One of them makes it, and the other waits for that or comes when it is made.
    assert sorted(str(result.cache) for result in results) in (["joined", "miss"], ["hit", "miss"])
    assert len({result.image for result in results}) == 1


def wait_until_aboard(cache: ResultCache, many: int) -> None:
    flights = cache.flights
    with flights.changed:
        assert flights.changed.wait_for(lambda: any(flights.aboard(key) == many for key in flights), LIMIT)


def test_closing_forgets() -> None:
    network = counted()
    engine = caching(network)
    engine.convert(PICTURE)
    engine.close()
    assert engine.convert(PICTURE).cache == "miss"
    assert network.runs == 2


def test_the_settings_decide_what_is_remembered() -> None:
    def of(**settings: object) -> list[str | None]:
        engine = Engine.from_settings(Settings(size=64, style="hayao", **settings))  # type: ignore[arg-type]
        asked = [{}, {}, {"strength": 50}]
        results = [engine.convert(PICTURE, face="off", **options) for options in asked]
        engine.close()
        return [result.cache and f"{result.cache} {'infer' in result.timings}" for result in results]

    assert of() == ["miss True", "hit False", "miss False"]
    assert of(cache_drawings_mib=0) == ["miss True", "hit False", "miss True"]
    assert of(cache_mib=0) == [None, None, None]


@pytest.mark.parametrize("nothing", [{"cache_mib": 0}, {"cache_mib": 0, "cache_drawings_mib": 100}])
def test_what_is_not_remembered_takes_no_memory_from_conversions(nothing: dict[str, int]) -> None:
    usual = parts_of(Settings(), UNOBSERVED)
    assert usual.apart - parts_of(Settings(**nothing), UNOBSERVED).apart == 96 * 2**20  # type: ignore[arg-type]


def test_an_address_of_redis_that_is_none_is_a_setting_error_that_does_not_repeat_it() -> None:
    with pytest.raises(SettingError, match="ANIMEBOOTH_CACHE_REDIS") as refused:
        Engine.from_settings(replace(Settings(), cache_redis="s3cret@somewhere"))
    assert "s3cret" not in str(refused.value)


def test_redis_is_loaded_only_where_it_is_asked_for() -> None:
    script = "import sys, app.engine; app.engine.Engine.from_settings(); sys.exit('redis' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], cwd=PROJECT_ROOT, check=False).returncode == 0


@pytest.mark.parametrize("again", [{}, {"strength": 50}], ids=["the same", "another strength"])
def test_what_is_remembered_does_not_wait_behind_work(again: dict[str, int]) -> None:
    network = counted()
    engine = caching(network, lanes=1)
    engine.convert(PICTURE)
    network.begun.clear()
    network.let_go.clear()
    with ThreadPoolExecutor(1) as pool:
        working = pool.submit(engine.convert, png(photo(64, 50)))
        assert network.begun.wait(LIMIT)
        assert engine.convert_with(PICTURE, ConvertOptions(**again), Deadline(LIMIT)).faces == 0  # type: ignore[arg-type]
        assert not working.done()
        network.let_go.set()
        assert working.result(LIMIT).cache == "miss"
