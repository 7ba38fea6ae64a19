"""Who may begin, who waits and for how long, and who is told at once that it is no use. On a clock that stands."""

from __future__ import annotations

import pytest

from app.admission.floor import CAUTION, Floor, Refused
from app.admission.memory import Memory
from app.admission.pace import STALE, Pace
from app.admission.ticket import Ticket
from app.admission.work import Work
from app.errors import Overloaded, TooLargeToDraw

SECOND = 100_000
"""Pixels that take a second here. Above 25 seconds, work is large."""

LARGE = 30 * SECOND


class Here(Floor):
    """A floor on which a second of work takes a second, and nothing is learned unless a test wants it."""

    def __init__(self, *, lanes: int = 1, runs: int = 1, most: int = 64, memory: Memory | None = None) -> None:
        super().__init__(Pace(first_guess=1 / SECOND), lanes=lanes, runs=runs, most=most, memory=memory, ageing=3.0)

    def come(
        self, seconds: float, now: float = 0.0, *, within: float = 1e6, bytes: int = 0, kind: str = "hayao"
    ) -> Ticket:
        """Work of so many ``seconds`` enters and takes its turn if it may."""
        ticket = Ticket(Work(kind, seconds * SECOND, bytes), arrived=now, until=now + within)
        self.enter(ticket, now)
        self.calls(now)
        return ticket


class Arenas:
    """What networks hold."""

    def __init__(self, held: int) -> None:
        self.held = held

    def release(self) -> None:
        self.held = 0

    def memory(self, budget: int) -> Memory:
        return Memory(budget, lambda: self.held, self.release)


def refusal(floor: Here, seconds: float, now: float = 0.0, *, within: float = 1e6, bytes: int = 0) -> Refused:
    with pytest.raises(Refused) as refused:
        floor.come(seconds, now, within=within, bytes=bytes)
    return refused.value


class TestTurns:
    def test_whoever_comes_to_an_empty_floor_may_begin(self) -> None:
        floor = Here()
        ticket = floor.come(1)
        assert floor.working == (ticket,)
        assert floor.waiting == ()

    def test_no_more_are_under_way_than_there_are_lanes(self) -> None:
        floor = Here(lanes=2)
        first, second, third = (floor.come(1) for _ in range(3))
        assert (floor.working, floor.waiting) == ((first, second), (third,))
        floor.leave(first, 1.0, done=True)
        assert floor.calls(1.0) == [third]

    def test_equal_work_goes_in_the_order_of_its_coming(self) -> None:
        floor = Here()
        floor.come(1)
        tickets = tuple(floor.come(1, now=number / 10) for number in range(3))
        assert floor.waiting == tickets

    def test_shorter_work_goes_before_longer(self) -> None:
        floor = Here()
        floor.come(1)
        long, short = floor.come(2), floor.come(0.1)
        assert floor.waiting == (short, long)

    def test_but_not_for_ever(self) -> None:
        floor = Here()
        floor.come(24)
        long = floor.come(2, now=0)
        # Patience: three times its own two seconds.
        sooner, later = floor.come(0.1, now=5.0), floor.come(0.1, now=6.0)
        assert floor.waiting == (sooner, long, later)

    def test_nobody_is_overtaken_who_would_miss_its_deadline_by_it(self) -> None:
        floor = Here()
        floor.come(1)
        long = floor.come(2, within=3.5 * CAUTION)
        first, second = floor.come(0.3), floor.come(0.3)
        assert floor.waiting == (first, long, second)

    def test_who_gives_up_leaves_the_line(self) -> None:
        floor = Here()
        floor.come(1)
        ticket = floor.come(1)
        floor.leave(ticket, 0.5, done=False)
        assert floor.waiting == ()


class TestLargeWork:
    def test_the_small_are_not_stuck_behind_it(self) -> None:
        floor = Here(lanes=3, runs=2)
        large, small = floor.come(30), floor.come(0.1)
        assert floor.working == (large, small)

    def test_it_is_under_way_one_at_a_time_however_many_lanes(self) -> None:
        floor = Here(lanes=9, runs=2)
        first, second = floor.come(30), floor.come(30)
        small = floor.come(0.1)
        assert floor.working == (first, small)
        floor.leave(first, 30.0, done=True)
        assert floor.calls(30.0) == [second]

    def test_longer_work_gets_its_turn_though_the_short_never_end(self) -> None:
        floor, now = Here(lanes=1), 0.0
        short, long = floor.come(1), floor.come(4)
        while short.work.pixels < long.work.pixels:
            floor.come(1, now)
            now += 1
            floor.leave(short, now, done=True)
            (short,) = floor.calls(now)
            assert now < 20
        # Its patience of three times four seconds is over when those who came nine seconds later lose theirs.
        assert now == 10

    def test_what_turns_out_to_be_large_makes_room_for_the_small(self) -> None:
        floor = Here(lanes=2, runs=1)
        portraits = [floor.come(0.5) for _ in range(2)]
        small = floor.come(0.5)
        assert floor.waiting == (small,)
        for portrait in portraits:
            floor.found_more(portrait, LARGE, 0.1)
        assert floor.calls(0.1) == [small]
        assert len(floor.working) == 3

    def test_then_no_more_small_ones_than_the_networks_keep_busy(self) -> None:
        floor = Here(lanes=2, runs=1)
        for _ in range(2):
            floor.found_more(floor.come(0.5), LARGE, 0.0)
        floor.come(0.5)
        waiting = floor.come(0.5)
        assert floor.waiting == (waiting,)


class TestEstimates:
    def test_alone_it_takes_its_own_time_and_that_grows_less(self) -> None:
        floor = Here()
        ticket = floor.come(2)
        assert floor.seconds(ticket, 0.0) == pytest.approx(2)
        assert floor.seconds(ticket, 1.5) == pytest.approx(0.5)

    def test_in_the_line_one_waits_for_all_that_is_left_before_one(self) -> None:
        floor = Here()
        floor.come(2)
        floor.come(1)
        ticket = floor.come(1)
        assert floor.seconds(ticket, 0.5) == pytest.approx(1.5 + 1 + 1)
        assert floor.before(ticket) == 2

    def test_those_under_way_share_the_machine(self) -> None:
        floor = Here(lanes=2)
        short, long = floor.come(1), floor.come(2)
        assert floor.seconds(short, 0.0) == pytest.approx(2)
        assert floor.seconds(long, 0.0) == pytest.approx(3)
        # A second for both is half a second for each.
        assert floor.seconds(short, 1.0) == pytest.approx(1)

    def test_a_small_one_does_not_wait_for_the_large_to_end_but_shares_the_machine_with_it(self) -> None:
        floor = Here(lanes=2)
        floor.come(30)
        floor.come(1)
        ticket = floor.come(1)
        assert floor.before(ticket) == 1
        assert floor.seconds(ticket, 0.0) == pytest.approx(2 * (1 + 1))

    def test_a_large_one_shares_with_the_small_that_are_there(self) -> None:
        floor = Here(lanes=2)
        floor.come(1)
        large = floor.come(30)
        floor.come(1)
        assert large in floor.working
        floor.leave(large, 0.0, done=False)
        waiting = Ticket(Work("hayao", 30 * SECOND), arrived=0.0, until=1e6)
        floor.enter(waiting, 0.0)
        assert floor.seconds(waiting, 0.0) == pytest.approx(30 + 2)

    def test_a_large_one_is_expected_to_share_with_as_many_small_ones_as_came_lately(self) -> None:
        floor = Here(lanes=3, runs=2)
        now = 0.0
        while now < 200:
            short = [floor.come(0.5, now), floor.come(0.5, now)]
            now += 1
            for ticket in short:
                floor.leave(ticket, now, done=True)
        large = floor.come(30, now)
        # Nobody else is there at this moment, but two always were.
        assert floor.seconds(large, now) == pytest.approx(90, rel=0.01)
        assert floor.seconds(floor.come(0.5, now), now) == pytest.approx(1)
        floor.leave(floor.working[1], now, done=True)
        # A quiet minute later, a twentieth of that is left.
        assert floor.seconds(large, now + 60) == pytest.approx(3 * (1 + 2 * 0.05), rel=0.01)

    def test_who_takes_longer_than_expected_is_taken_to_be_nearly_done(self) -> None:
        floor = Here()
        ticket = floor.come(2)
        assert floor.seconds(ticket, 60.0) == pytest.approx(0.2)

    def test_faces_that_were_found_are_charged_at_once(self) -> None:
        floor = Here()
        ticket = floor.come(1)
        waiting = floor.come(1)
        floor.found_more(ticket, 1.2 * SECOND, 0.5)
        assert floor.seconds(waiting, 0.5) == pytest.approx(1.7 + 1)

    def test_what_work_took_of_the_machine_is_what_is_expected_next(self) -> None:
        floor = Here(lanes=2)
        first, second = floor.come(1, kind="new"), floor.come(1, kind="new")
        # Both took six seconds, side by side: three seconds of the machine each.
        floor.leave(first, 6.0, done=True)
        floor.leave(second, 6.0, done=True)
        assert floor.seconds(floor.come(1, 6.0, kind="new"), 6.0) == pytest.approx(3)

    def test_who_was_cut_short_teaches_nothing(self) -> None:
        floor = Here()
        floor.leave(floor.come(1), 0.01, done=False)
        assert floor.seconds(floor.come(1, 1.0), 1.0) == pytest.approx(1)

    def test_unless_that_it_takes_longer_than_was_thought(self) -> None:
        floor = Here()
        floor.leave(floor.come(1), 4.0, done=False)
        assert floor.seconds(floor.come(1, 4.0), 4.0) == pytest.approx(4)


class TestQuickWork:
    """What needs no network goes beside what does."""

    @staticmethod
    def come(floor: Here, seconds: float = 0.1) -> Ticket:
        ticket = Ticket(Work("finish png", seconds * SECOND, quick=True), arrived=0.0, until=1e6)
        floor.enter(ticket, 0.0)
        floor.calls(0.0)
        return ticket

    def test_waits_for_no_drawing_and_keeps_none_from_its_lane(self) -> None:
        floor = Here(lanes=2)
        first = floor.come(1)
        quick = self.come(floor)
        second, third = floor.come(1), floor.come(1)
        assert floor.working == (first, quick, second)
        assert floor.waiting == (third,)

    def test_goes_one_at_a_time(self) -> None:
        floor = Here(lanes=3)
        first, second = self.come(floor), self.come(floor)
        assert (floor.working, floor.waiting) == ((first,), (second,))
        floor.leave(first, 1.0, done=True)
        assert floor.calls(1.0) == [second]


class TestTheDoor:
    def test_who_cannot_be_done_in_time_is_told_when_to_come_back(self) -> None:
        floor = Here()
        floor.come(5)
        refused = refusal(floor, 1, within=4)
        assert refused.cause == "deadline"
        assert isinstance(refused.error, Overloaded)
        # Six seconds of work that may take 7.5.
        assert refused.error.retry_after == 4
        assert floor.waiting == ()

    def test_who_can_just_be_done_in_time_is_let_in(self) -> None:
        floor = Here()
        floor.come(5)
        assert floor.come(1, within=6.0 * CAUTION) in floor.waiting
        refusal(floor, 1, within=7.0 * CAUTION - 0.01)

    def test_a_kind_that_once_took_too_long_is_not_turned_away_for_ever(self) -> None:
        floor = Here(lanes=2)
        floor.leave(floor.come(1, kind="slow"), 50.0, done=True)
        for now in range(50, 80):
            floor.leave(floor.come(1, now), now + 1.0, done=True)
        for now in (81.0, 50.0 + STALE):
            floor.leave(floor.come(1, now - 1), now, done=True)
            usual = floor.come(1, now)
            with pytest.raises(Refused):
                floor.come(1, now, within=10, kind="slow")
            floor.leave(usual, now + 1, done=True)
        floor.come(1, 52.0 + STALE)
        assert floor.come(1, 52.0 + STALE, within=10, kind="slow") in floor.working

    def test_where_nobody_else_is_there_it_may_try_though_it_seems_hopeless(self) -> None:
        floor = Here()
        assert floor.come(90, within=60) in floor.working

    def test_who_is_hopeless_beside_others_is_told_to_come_when_they_are_gone(self) -> None:
        floor = Here(lanes=2)
        floor.come(3)
        assert refusal(floor, 90, within=60).error.retry_after == 3

    def test_the_queue_is_bounded(self) -> None:
        floor = Here(most=3)
        for _ in range(3):
            floor.come(2)
        refused = refusal(floor, 1)
        assert refused.cause == "queue"
        assert refused.error.retry_after == 6

    def test_one_is_told_to_come_back_after_a_second_at_least_and_an_hour_at_most(self) -> None:
        floor = Here(most=1)
        ticket = floor.come(0.01)
        assert refusal(floor, 1).error.retry_after == 1
        floor.found_more(ticket, 1e12, 0.0)
        assert refusal(floor, 1).error.retry_after == 3600


class TestMemory:
    def test_the_peaks_of_those_under_way_never_exceed_the_budget(self) -> None:
        floor = Here(lanes=9, memory=Memory(100))
        first, second = floor.come(1, bytes=60), floor.come(1, bytes=50)
        assert (floor.working, floor.waiting) == ((first,), (second,))
        floor.leave(first, 1.0, done=True)
        assert floor.calls(1.0) == [second]

    def test_what_fits_passes_what_does_not(self) -> None:
        floor = Here(lanes=9, memory=Memory(100))
        floor.come(1, bytes=60)
        floor.come(1, bytes=50)
        assert floor.come(1, bytes=40) in floor.working

    def test_but_not_for_longer_than_that_has_patience(self) -> None:
        floor = Here(lanes=9, memory=Memory(100))
        floor.come(9, bytes=60)
        floor.come(1, bytes=50)
        assert floor.come(0.1, now=2.9, bytes=20) in floor.working
        assert floor.come(0.1, now=3.0, bytes=20) in floor.waiting

    def test_what_can_never_fit_is_refused_for_good(self) -> None:
        refused = refusal(Here(memory=Memory(100)), 1, bytes=101)
        assert refused.cause == "memory"
        assert isinstance(refused.error, TooLargeToDraw)
        assert refused.error.retry_after is None

    def test_what_networks_hold_counts(self) -> None:
        floor = Here(lanes=9, memory=Arenas(held=50).memory(100))
        floor.come(1, bytes=30)
        assert floor.come(1, bytes=30) in floor.waiting

    def test_with_nobody_under_way_they_let_go_of_it(self) -> None:
        arenas = Arenas(held=50)
        assert Here(memory=arenas.memory(100)).come(1, bytes=90).turn is not None
        assert arenas.held == 0

    def test_or_once_patience_is_over(self) -> None:
        arenas = Arenas(held=50)
        floor = Here(lanes=9, memory=arenas.memory(100))
        floor.come(9, bytes=30)
        waiting = floor.come(1, bytes=60)
        assert floor.calls(2.9) == []
        assert arenas.held == 50
        assert floor.calls(3.0) == [waiting]
        assert arenas.held == 0

    def test_but_they_hold_it_as_long_as_all_fits(self) -> None:
        arenas = Arenas(held=50)
        Here(memory=arenas.memory(100)).come(1, bytes=50)
        assert arenas.held == 50
