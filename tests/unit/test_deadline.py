"""A deadline counts down, ends work once it has passed, and can be waited for by a lock."""

import threading

import pytest

from app.deadline import NO_DEADLINE, Deadline
from app.errors import ClientGone, DeadlineExceeded


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_it_counts_down_to_zero_and_no_further() -> None:
    clock = Clock()
    deadline = Deadline(10, clock=clock)
    clock.now += 4
    assert deadline.remaining() == 6
    clock.now += 60
    assert deadline.remaining() == 0


def test_it_can_count_from_an_earlier_moment() -> None:
    assert Deadline(10, since=93.0, clock=Clock()).remaining() == 3


def test_work_ends_once_it_has_passed() -> None:
    clock = Clock()
    deadline = Deadline(10, clock=clock)
    deadline.check()
    clock.now += 10
    with pytest.raises(DeadlineExceeded, match="longer than 10 s"):
        deadline.check()


def test_work_ends_once_nobody_waits_for_it() -> None:
    gone = threading.Event()
    deadline = Deadline(10, clock=Clock(), gone=gone.is_set)
    deadline.check()
    gone.set()
    with pytest.raises(ClientGone):
        deadline.check()


def test_even_no_deadline_is_one_a_lock_can_wait_for() -> None:
    assert threading.Lock().acquire(timeout=NO_DEADLINE.remaining())
