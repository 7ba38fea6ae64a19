"""Answers and drawings remembered, as the engine uses them."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from app.caching.keys import Keys
from app.caching.packing import packed
from app.caching.results import Bounds, ResultCache
from app.conversion import Drawn, Result
from app.deadline import NO_DEADLINE, Deadline
from app.errors import DeadlineExceeded
from app.telemetry.observer import Observer

LIMIT = 30.0
MIB = 2**20
KEYS = Keys("answer", "drawing")
MADE = Result(b"picture", "image/png", "png", "cute", 1, 8, 8, {"infer": 0.5}, ("no-face",))


class Shared:
    """The cache of all machines, as far as it concerns this one."""

    def __init__(self) -> None:
        self.values: dict[str, bytes] = {}
        self.asked = 0
        self.closed = False

    def get(self, key: str) -> bytes | None:
        self.asked += 1
        return self.values.get(key)

    def put(self, key: str, value: bytes) -> None:
        self.values[key] = value

    def close(self) -> None:
        self.closed = True


class Told(Observer):
    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []
        self.seconds: list[float] = []
        self.held: dict[str, tuple[int, int]] = {}

    def cache_asked(self, level: str, outcome: str, seconds: float) -> None:
        self.asked.append((level, outcome))
        self.seconds.append(seconds)

    def cache_holds(self, level: str, bytes: int, entries: int) -> None:
        self.held[level] = bytes, entries


def cache(shared: Shared | None = None, observer: Observer | None = None, **bounds: int) -> ResultCache:
    given = {"answers": MIB, "drawings": MIB, "seconds": 600, **bounds}
    return ResultCache(Bounds(**given), shared, observer or Observer())


def drawn(side: int = 8) -> Drawn:
    image = np.zeros((side, side, 3), np.uint8)
    return Drawn(image, image + 1, np.zeros((side, side), np.uint8), "png", "cute", 0, ())


def never(_: Keys) -> Result:
    raise AssertionError("it was made again")


def test_an_answer_is_made_once_and_then_remembered() -> None:
    store = cache()
    assert store.answer(lambda: KEYS, lambda _: MADE, NO_DEADLINE).cache == "miss"
    again = store.answer(lambda: KEYS, never, NO_DEADLINE)
    assert again.cache == "hit"
    assert (again.image, again.faces, again.notices) == (MADE.image, MADE.faces, MADE.notices)


def test_other_keys_have_other_answers() -> None:
    store = cache()
    store.answer(lambda: KEYS, lambda _: MADE, NO_DEADLINE)
    other = replace(MADE, image=b"other")
    assert store.answer(lambda: Keys("other", "drawing"), lambda _: other, NO_DEADLINE).image == b"other"
    assert store.answer(lambda: KEYS, never, NO_DEADLINE).image == MADE.image


def test_what_was_remembered_took_no_stage_but_the_asking() -> None:
    store = cache()
    assert set(store.answer(lambda: KEYS, lambda _: MADE, NO_DEADLINE).timings) == {"cache", "infer"}
    timings = store.answer(lambda: KEYS, never, NO_DEADLINE).timings
    assert set(timings) == {"cache"}
    assert timings["cache"] > 0


def test_an_error_is_not_remembered() -> None:
    store = cache()

    def fail(_: Keys) -> Result:
        raise RuntimeError

    with pytest.raises(RuntimeError):
        store.answer(lambda: KEYS, fail, NO_DEADLINE)
    assert store.answer(lambda: KEYS, lambda _: MADE, NO_DEADLINE).cache == "miss"


def test_an_answer_of_another_machine_is_taken_and_remembered_here() -> None:
    shared, observer = Shared(), Told()
    cache(shared).answer(lambda: KEYS, lambda _: MADE, NO_DEADLINE)
    store = cache(shared, observer)
    assert store.answer(lambda: KEYS, never, NO_DEADLINE).cache == "shared"
    asked = shared.asked
    assert store.answer(lambda: KEYS, never, NO_DEADLINE).cache == "hit"
    assert shared.asked == asked
    assert observer.asked == [("answer", "shared"), ("answer", "hit")]


def test_what_is_no_answer_is_made_here() -> None:
    shared = Shared()
    shared.values["answer"] = packed(MADE)[:10]
    assert cache(shared).answer(lambda: KEYS, lambda _: MADE, NO_DEADLINE).cache == "miss"


def test_ten_at_once_are_one_conversion_and_each_is_told_the_truth() -> None:
    observer, begun, let_go = Told(), threading.Event(), threading.Event()
    store = cache(observer=observer)

    def make(_: Keys) -> Result:
        begun.set()
        assert let_go.wait(LIMIT)
        return MADE

    with ThreadPoolExecutor(10) as pool:
        first = pool.submit(store.answer, lambda: KEYS, make, NO_DEADLINE)
        assert begun.wait(LIMIT)
        rest = [pool.submit(store.answer, lambda: KEYS, never, NO_DEADLINE) for _ in range(9)]
        with store.flights.changed:
            assert store.flights.changed.wait_for(lambda: store.flights.aboard("answer") == 10, LIMIT)
        let_go.set()
        results = [future.result(LIMIT) for future in rest]
    assert first.result(LIMIT).cache == "miss"
    assert {result.cache for result in results} == {"joined"}
    assert {frozenset(result.timings) for result in results} == {frozenset({"cache"})}
    assert sorted(observer.asked) == [("answer", "joined")] * 9 + [("answer", "miss")]


def test_a_follower_keeps_its_own_deadline() -> None:
    begun, let_go = threading.Event(), threading.Event()
    store = cache()

    def make(_: Keys) -> Result:
        begun.set()
        assert let_go.wait(LIMIT)
        return MADE

    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(store.answer, lambda: KEYS, make, NO_DEADLINE)
        assert begun.wait(LIMIT)
        with pytest.raises(DeadlineExceeded):
            store.answer(lambda: KEYS, never, Deadline(0.01))
        let_go.set()
        assert first.result(LIMIT).cache == "miss"


def test_who_takes_over_finds_what_was_made_in_between() -> None:
    """Between its look and its turn somebody else has landed."""
    store = cache()

    class Late(type(store.flights)):  # type: ignore[misc]
        def get(self, key, *others):  # type: ignore[no-untyped-def]
            store.answers.put(key, MADE)
            return super().get(key, *others)

    store.flights = Late()
    assert store.answer(lambda: KEYS, never, NO_DEADLINE).cache == "hit"


def test_a_miss_is_timed_without_the_making() -> None:
    now = 0.0
    observer = Told()
    store = ResultCache(Bounds(MIB, MIB, 600), None, observer, clock=lambda: now)

    def make(_: Keys) -> Result:
        nonlocal now
        now += 5
        return MADE

    assert store.answer(lambda: KEYS, make, NO_DEADLINE).timings["cache"] == 0
    assert observer.seconds == [0]


def test_the_making_of_the_keys_is_part_of_the_asking() -> None:
    now = 0.0
    store = ResultCache(Bounds(MIB, MIB, 600), None, Observer(), clock=lambda: now)

    def hashed() -> Keys:
        nonlocal now
        now += 2
        return KEYS

    for _ in range(2):
        assert store.answer(hashed, lambda _: MADE, NO_DEADLINE).timings["cache"] == 2


def test_a_drawing_is_found_by_its_key() -> None:
    observer = Told()
    store = cache(observer=observer)
    assert store.drawn(KEYS) is None
    store.keep(KEYS, drawn())
    found = store.drawn(KEYS)
    assert found is not None
    assert np.array_equal(found.drawing, drawn().drawing)
    assert store.drawn(Keys("answer", "other")) is None
    assert observer.asked == [("drawing", "miss"), ("drawing", "hit"), ("drawing", "miss")]


def test_a_drawing_that_is_kept_changes_no_more() -> None:
    store, mine = cache(), drawn()
    store.keep(KEYS, mine)
    found = store.drawn(KEYS)
    assert found is not None
    for array in (found.photo, found.drawing, found.alpha):
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 9  # type: ignore[index]


def test_a_drawing_holds_no_more_than_it_counts() -> None:
    """A part of a larger array would keep the whole of it."""
    store, observer = cache(), Told()
    store = cache(observer=observer)
    whole = np.zeros((1000, 1000, 3), np.uint8)
    store.keep(KEYS, replace(drawn(), photo=whole[:8, :8], drawing=whole[8:16, 8:16], alpha=whole[:8, :8, 0]))
    found = store.drawn(KEYS)
    assert found is not None
    for array in (found.photo, found.drawing, found.alpha):
        assert array is not None
        assert array.base is None
    assert observer.held["drawing"][0] < 4096


def test_a_drawing_that_does_not_fit_is_not_copied() -> None:
    store, huge = cache(), drawn(1000)
    store.keep(KEYS, huge)
    assert store.drawn(KEYS) is None
    assert huge.photo.flags.writeable


def test_each_level_keeps_within_its_bytes_and_tells_how_many() -> None:
    observer = Told()
    store = cache(observer=observer, answers=100_000, drawings=50_000)
    for number in range(50):
        result = replace(MADE, image=bytes(10_000))
        store.answer(lambda number=number: Keys(str(number), str(number)), lambda _, result=result: result, NO_DEADLINE)
        store.keep(Keys(str(number), str(number)), drawn(30))
    assert 50_000 < observer.held["answer"][0] <= 100_000
    assert 25_000 < observer.held["drawing"][0] <= 50_000


def test_drawings_may_be_left_out() -> None:
    store = cache(drawings=0)
    store.keep(KEYS, drawn())
    assert store.drawn(KEYS) is None


def test_closing_lets_go_of_everything() -> None:
    shared, observer = Shared(), Told()
    store = cache(shared, observer)
    store.answer(lambda: KEYS, lambda _: MADE, NO_DEADLINE)
    store.keep(KEYS, drawn())
    store.close()
    assert shared.closed
    assert observer.held == {"answer": (0, 0), "drawing": (0, 0)}
