"""What a soak makes of each answer, and of the service's memory."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tools.load.client import Reply
from tools.soaking.ledger import Ledger
from tools.soaking.orders import Expected, Order, all_orders

ORDER = Order("face", b"photo")
PICTURE = Expected(200, "digest", "")
GOOD = Reply(200, 10.0, 11.0, digest="digest")


def outcome(expected: Expected, reply: Reply, kills: tuple[float, ...] = ()) -> tuple[str, int]:
    """What it is counted as, and the number of failures."""
    ledger = Ledger(60.0, kills=list(kills))
    ledger.answered(ORDER, expected, reply)
    ((counted, _),) = ledger.counts["orders"].items()
    return counted, ledger.failed


def test_the_expected_picture_is_fine() -> None:
    assert outcome(PICTURE, GOOD) == ("picture", 0)


def test_somebody_elses_picture_is_a_failure() -> None:
    assert outcome(PICTURE, Reply(200, 10.0, 11.0, digest="another")) == ("wrong", 1)


@pytest.mark.parametrize(("status", "code"), [(500, "internal-error"), (422, "broken-image"), (404, "not-found")])
def test_an_error_instead_of_a_picture_is_a_failure(status: int, code: str) -> None:
    assert outcome(PICTURE, Reply(status, 10.0, 11.0, code)) == ("wrong", 1)


def test_an_error_that_was_due_is_fine_and_a_picture_in_its_place_is_not() -> None:
    broken = Expected(422, "", "broken-image")
    assert outcome(broken, Reply(422, 10.0, 11.0, "broken-image", digest="with another request id")) == (
        "error that was due",
        0,
    )
    assert outcome(broken, GOOD) == ("wrong", 1)


@pytest.mark.parametrize("code", ["overloaded", "not-ready", "deadline-exceeded"])
def test_a_polite_refusal_is_fine_and_counted_apart(code: str) -> None:
    assert outcome(PICTURE, Reply(503, 10.0, 11.0, code)) == (f"refused ({code})", 0)


def test_no_answer_is_lost_unless_the_kill_came_in_between() -> None:
    cut = Reply(0, 10.0, 11.0, error="ServerDisconnectedError")
    assert outcome(PICTURE, cut) == ("lost", 1)
    assert outcome(PICTURE, cut, kills=(5.0, 10.5)) == ("cut by the kill", 0)
    assert outcome(PICTURE, cut, kills=(9.9,)) == ("lost", 1)
    assert outcome(PICTURE, cut, kills=(11.1,)) == ("lost", 1)
    assert outcome(PICTURE, Reply(0, 10.0, 70.0, error="TimeoutError"), kills=(10.5,)) == ("lost", 1)


def test_memory_may_not_grow_over_that_of_the_first_mark() -> None:
    ledger = Ledger(60.0, marks=[(300.0, 400.0)])
    assert ledger.growth is None
    assert len(ledger.verdicts()) == 1
    ledger.marks += [(600.0, 419.0), (900.0, 380.0)]
    assert ledger.growth == pytest.approx(0.0475)
    assert all(ledger.verdicts().values())
    ledger.marks.append((1200.0, 421.0))
    assert not all(ledger.verdicts().values())


def test_a_mark_is_the_median_of_the_last_minute() -> None:
    ledger = Ledger(60.0)
    ledger.memory += [(-100.0, 9000.0), (0.0, 400.0), (0.0, 600.0), (0.0, 410.0)]
    ledger.mark()
    assert ledger.marks[0][1] == 410.0


def test_a_few_failures_are_told_and_all_are_counted(tmp_path: Path) -> None:
    ledger = Ledger(60.0)
    for _ in range(80):
        ledger.visited("pages", "500", fine=False)
    ledger.write(tmp_path / "soak.json")
    told = json.loads((tmp_path / "soak.json").read_text())
    assert told["failed"] == 80
    assert len(told["failures"]) == 50
    assert told["counts"]["pages"] == {"500": 80}
    assert told["verdicts"] == {"no 500, nothing lost, nothing swapped": False}


def test_orders_have_names_of_their_own_and_hold_good_and_bad() -> None:
    orders = all_orders()
    assert len({order.name for order in orders}) == len(orders)
    assert {"face_one.png", "bomb_400mp.png", "nothing"} <= {order.name for order in orders}
