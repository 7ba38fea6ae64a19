"""Equal work runs together, no style is served twice while another waits, and what is given up costs nothing."""

from __future__ import annotations

import numpy as np
import pytest

from app.errors import DeadlineExceeded
from app.inference.lines import Job, Lines
from app.inference.network import Network
from app.types import Checkpoint, Tensor, never_stop


class Echo:
    def run(self, tensor: Tensor) -> Tensor:
        return tensor


def network(style: str = "hayao", most: int = 8) -> Network:
    return Network(style, Echo(), Echo(), most=most)


HAYAO, CUTE = network("hayao"), network("cute")


def job(of: Network = HAYAO, *, side: int = 8, arrived: float = 0.0, checkpoint: Checkpoint = never_stop) -> Job:
    return Job(of, np.zeros((1, 3, side, side), np.float32), checkpoint, arrived)


def filled(lines: Lines, *jobs: Job) -> Lines:
    for each in jobs:
        lines.add(each)
    return lines


def given_up() -> None:
    raise DeadlineExceeded(seconds=1)


def test_without_batches_each_goes_alone_in_the_order_of_their_coming() -> None:
    jobs = [job(arrived=number) for number in range(3)]
    lines = filled(Lines(together=1), *jobs)
    assert [lines.take(9.0) for _ in range(4)] == [[jobs[0]], [jobs[1]], [jobs[2]], []]


def test_same_network_and_shape_run_together_up_to_the_most() -> None:
    jobs = [job(arrived=number) for number in range(5)]
    lines = filled(Lines(together=3), *jobs)
    assert lines.take(9.0) == jobs[:3]
    assert lines.take(9.0) == jobs[3:]
    assert lines.waiting == 0


@pytest.mark.parametrize("other", [job(CUTE), job(side=16)], ids=["another style", "another shape"])
def test_what_differs_does_not_run_together(other: Job) -> None:
    mine = job()
    lines = filled(Lines(together=8), mine, other)
    assert lines.take(0.0) == [mine]
    assert lines.take(0.0) == [other]


def test_a_network_that_takes_one_picture_at_a_time_gets_one() -> None:
    single = network(most=1)
    lines = filled(Lines(together=8, wait=1.0), job(single), job(single))
    assert len(lines.take(0.0)) == 1
    assert len(lines.take(0.0)) == 1


def test_a_batch_that_is_not_full_waits_no_longer_than_it_may() -> None:
    lines = filled(Lines(together=3, wait=0.2), job(arrived=10.0), job(arrived=10.15))
    assert lines.take(10.1) == []
    assert lines.take(10.199) == []
    assert len(lines.take(10.2)) == 2


def test_a_full_batch_does_not_wait() -> None:
    lines = filled(Lines(together=2, wait=0.2), job(arrived=10.0), job(arrived=10.0))
    assert len(lines.take(10.0)) == 2


def test_a_style_with_many_waiting_does_not_keep_another_from_its_turn() -> None:
    many, one = [job(HAYAO, arrived=number) for number in range(8)], job(CUTE, arrived=9.0)
    lines = filled(Lines(together=2), *many, one)
    turns = [[each.network.style for each in lines.take(10.0)] for _ in range(3)]
    assert turns == [["hayao", "hayao"], ["cute"], ["hayao", "hayao"]]


def test_styles_take_turns_as_long_as_both_wait() -> None:
    lines = filled(Lines(together=1), *(job(HAYAO) for _ in range(3)), *(job(CUTE) for _ in range(3)))
    assert [lines.take(0.0)[0].network.style for _ in range(6)] == ["hayao", "cute"] * 3


def test_within_a_style_the_shape_that_has_waited_longest_is_next() -> None:
    later, sooner = job(side=8, arrived=2.0), job(side=16, arrived=1.0)
    assert filled(Lines(together=4), later, sooner).take(3.0) == [sooner]


def test_what_is_given_up_is_dropped_and_told_why_and_takes_no_place_in_a_batch() -> None:
    dropped = job(checkpoint=given_up)
    lines = filled(Lines(together=2), dropped, first := job(), second := job())
    assert lines.take(0.0) == [first, second]
    assert lines.waiting == 0
    assert dropped.settled.is_set()
    with pytest.raises(DeadlineExceeded):
        dropped.answer()


def test_where_all_is_given_up_nothing_runs() -> None:
    lines = filled(Lines(together=2, wait=0.2), job(checkpoint=given_up))
    assert lines.take(0.0) == []
    assert lines.waiting == 0
