"""The simulated queue: whoever orders it serves the same traffic, and large work apart is what helps the small most."""

from __future__ import annotations

import statistics

import pytest

from tools.simulate_queue import KINDS, Order, main, simulate

FIRST_COME, AGED = Order("as they come, one line", 0.0, apart=False), Order("ageing 3, large apart", 3.0)
MINUTES = 20 * 60.0


def test_a_machine_that_nobody_crowds_serves_everybody_at_once() -> None:
    seen = simulate(AGED, 0.05, MINUTES)
    assert sum(each.refused + each.late for each in seen.values()) == 0
    assert statistics.median(seen["usual"].waits) == pytest.approx(KINDS[0].pixels * 0.2e-6, rel=0.3)


def test_every_picture_ends_in_one_way() -> None:
    crowded = [
        sum(len(each.waits) + each.refused + each.late for each in simulate(order, 2.0, MINUTES).values())
        for order in (FIRST_COME, AGED)
    ]
    assert crowded[0] == crowded[1] > 5000


def test_the_small_wait_less_where_the_large_go_apart_and_the_large_are_not_forgotten() -> None:
    one_line, apart = (simulate(order, 0.9, MINUTES) for order in (FIRST_COME, AGED))
    assert statistics.mean(apart["usual"].waits) < statistics.mean(one_line["usual"].waits) / 2
    assert len(apart["original"].waits) > 0.7 * len(one_line["original"].waits)


def test_of_those_let_in_nearly_all_are_done_in_time_however_many_come() -> None:
    seen = simulate(AGED, 4.0, MINUTES)
    late, done = (sum(count(each) for each in seen.values()) for count in (lambda s: s.late, lambda s: len(s.waits)))
    assert late < 0.01 * done


def test_it_is_told_as_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--hours", "0.05", "--loads", "0.5"])
    assert capsys.readouterr().out.count("\n| 0.5 |") >= 5
