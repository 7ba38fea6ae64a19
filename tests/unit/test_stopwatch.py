"""Time counts for the innermost stage."""

from collections.abc import Iterator
from contextlib import contextmanager

from app.stopwatch import Stopwatch


def test_an_inner_stage_does_not_count_for_the_outer_one() -> None:
    moments: Iterator[float] = iter([0.0, 1.0, 3.0, 7.0, 8.0])
    watch = Stopwatch(("blend", "infer"), clock=lambda: next(moments))
    with watch.stage("blend"), watch.stage("infer"):
        pass
    assert watch.seconds() == {"blend": 2.0 + 1.0, "infer": 4.0}


def test_stages_never_entered_took_no_time() -> None:
    assert Stopwatch(("decode",)).seconds() == {"decode": 0.0}


def test_time_before_a_failure_counts() -> None:
    moments = iter([0.0, 1.0, 5.0])
    watch = Stopwatch(("decode",), clock=lambda: next(moments))
    try:
        with watch.stage("decode"):
            raise ValueError
    except ValueError:
        pass
    assert watch.seconds() == {"decode": 4.0}


def test_something_may_go_around_each_stage() -> None:
    told: list[str] = []

    @contextmanager
    def around(name: str) -> Iterator[None]:
        told.append(f"{name} begins")
        yield
        told.append(f"{name} ends")

    watch = Stopwatch(("blend", "infer"), around=around)
    with watch.stage("blend"), watch.stage("infer"):
        pass
    assert told == ["blend begins", "infer begins", "infer ends", "blend ends"]
