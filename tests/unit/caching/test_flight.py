"""Many ask for the same at once: it is made once, and whoever makes it spoils nothing for the others."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from app.caching.flight import SingleFlight
from app.deadline import NO_DEADLINE, Deadline
from app.errors import ClientGone, DeadlineExceeded

LIMIT = 30.0


class Maker:
    """Makes a value once it is let go, and knows how many times it was asked to."""

    def __init__(self, outcome: Callable[[], str] = lambda: "made") -> None:
        self.begun = threading.Semaphore(0)
        self.let_go = threading.Event()
        self.count = 0
        self._outcome = outcome

    def __call__(self) -> str:
        self.count += 1
        self.begun.release()
        assert self.let_go.wait(LIMIT)
        return self._outcome()


def board(
    flight: SingleFlight[str], pool: ThreadPoolExecutor, key: str, make: Callable[[], str], many: int
) -> list[Future[str]]:
    """``many`` who ask for ``key``; returns when all of them are aboard."""
    futures = [pool.submit(flight.get, key, make, NO_DEADLINE) for _ in range(many)]
    wait_until_aboard(flight, key, many)
    return futures


def wait_until_aboard(flight: SingleFlight[str], key: str, many: int) -> None:
    with flight.changed:
        assert flight.changed.wait_for(lambda: flight.aboard(key) == many, LIMIT)


def test_ten_at_once_make_it_once_and_get_the_same() -> None:
    flight, make = SingleFlight[str](), Maker()
    with ThreadPoolExecutor(10) as pool:
        futures = board(flight, pool, "a", make, 10)
        make.let_go.set()
        assert [future.result(LIMIT) for future in futures] == ["made"] * 10
    assert make.count == 1


def test_different_keys_wait_for_nobody() -> None:
    flight, slow = SingleFlight[str](), Maker()
    with ThreadPoolExecutor(1) as pool:
        (first,) = board(flight, pool, "a", slow, 1)
        assert flight.get("b", lambda: "other", NO_DEADLINE) == "other"
        slow.let_go.set()
        assert first.result(LIMIT) == "made"


def test_nothing_is_remembered_afterwards() -> None:
    flight = SingleFlight[str]()
    assert flight.get("a", lambda: "one", NO_DEADLINE) == "one"
    assert flight.get("a", lambda: "two", NO_DEADLINE) == "two"
    assert flight.aboard("a") == 0


@pytest.mark.parametrize("error", [RuntimeError("a bug"), DeadlineExceeded(seconds=1), KeyboardInterrupt()])
def test_when_the_one_who_makes_it_fails_another_makes_it_for_the_rest(error: BaseException) -> None:
    flight = SingleFlight[str]()

    def fail() -> str:
        raise error

    failing, making = Maker(fail), Maker()
    with ThreadPoolExecutor(6) as pool:
        (first,) = board(flight, pool, "a", failing, 1)
        rest = [pool.submit(flight.get, "a", making, NO_DEADLINE) for _ in range(5)]
        wait_until_aboard(flight, "a", 6)
        failing.let_go.set()
        assert first.exception(LIMIT) is error
        wait_until_aboard(flight, "a", 5)
        making.let_go.set()
        assert [future.result(LIMIT) for future in rest] == ["made"] * 5
    assert making.count == 1


def test_where_everybody_fails_each_gets_an_error_of_its_own() -> None:
    flight = SingleFlight[str]()

    def fail() -> str:
        raise RuntimeError

    make = Maker(fail)
    with ThreadPoolExecutor(4) as pool:
        futures = board(flight, pool, "a", make, 4)
        make.let_go.set()
        errors = [future.exception(LIMIT) for future in futures]
    assert all(isinstance(error, RuntimeError) for error in errors)
    assert len({id(error) for error in errors}) == 4
    assert make.count == 4


def test_who_waits_gives_up_at_its_own_deadline_and_the_others_wait_on() -> None:
    flight, make = SingleFlight[str](), Maker()
    with ThreadPoolExecutor(2) as pool:
        futures = board(flight, pool, "a", make, 2)
        with pytest.raises(DeadlineExceeded) as given_up:
            flight.get("a", lambda: "never", Deadline(0.01))
        assert given_up.value.fields == {"seconds": "0.01"}
        make.let_go.set()
        assert [future.result(LIMIT) for future in futures] == ["made"] * 2


def test_one_whose_client_has_gone_while_it_waited_waits_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.caching.flight.LOOK_SECONDS", 0.01)
    flight, make, gone = SingleFlight[str](), Maker(), threading.Event()
    with ThreadPoolExecutor(2) as pool:
        (first,) = board(flight, pool, "a", make, 1)
        leaver = pool.submit(flight.get, "a", lambda: "never", Deadline(LIMIT, gone=gone.is_set))
        wait_until_aboard(flight, "a", 2)
        gone.set()
        assert isinstance(leaver.exception(LIMIT), ClientGone)
        assert flight.aboard("a") == 1
        make.let_go.set()
        assert first.result(LIMIT) == "made"


def test_who_waits_is_where_the_one_is_who_makes_it() -> None:
    flight, make = SingleFlight[str](), Maker()
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(flight.get, "a", make, NO_DEADLINE, "first")
        wait_until_aboard(flight, "a", 1)
        second = pool.submit(flight.get, "a", make, NO_DEADLINE, "second")
        wait_until_aboard(flight, "a", 2)
        assert [flight.maker(name) for name in ("first", "second", "else")] == ["first", "first", "else"]
        make.let_go.set()
        assert (first.result(LIMIT), second.result(LIMIT)) == ("made", "made")
    assert flight.maker("second") == "second"


def test_one_whose_deadline_has_passed_while_it_waited_makes_nothing() -> None:
    """The one who made it fails just when the other's time is over."""
    flight = SingleFlight[str]()
    now = 0.0

    def fail() -> str:
        nonlocal now
        now = 100.0
        raise RuntimeError

    make = Maker(fail)
    with ThreadPoolExecutor(2) as pool:
        (first,) = board(flight, pool, "a", make, 1)
        late = pool.submit(flight.get, "a", lambda: "too late", Deadline(50, clock=lambda: now))
        wait_until_aboard(flight, "a", 2)
        make.let_go.set()
        assert isinstance(first.exception(LIMIT), RuntimeError)
        assert isinstance(late.exception(LIMIT), DeadlineExceeded)


def test_none_is_a_value_like_any_other() -> None:
    flight, make = SingleFlight[None](), threading.Event()
    count = 0

    def nothing() -> None:
        nonlocal count
        count += 1
        assert make.wait(LIMIT)

    with ThreadPoolExecutor(2) as pool:
        futures = board(flight, pool, "a", nothing, 2)  # type: ignore[arg-type]
        make.set()
        assert [future.result(LIMIT) for future in futures] == [None, None]
    assert count == 1
