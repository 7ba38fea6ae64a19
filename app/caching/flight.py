"""SingleFlight: what several ask for at the same time is made once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Final, Generic, TypeVar

from app.deadline import Deadline

V = TypeVar("V")

LOOK_SECONDS: Final = 1.0
"""How often those who wait are looked after: nobody says when a client has gone."""


class _Flight(Generic[V]):
    def __init__(self, maker: str) -> None:
        self.maker = maker
        self.aboard = 1
        self.landed = False
        self.values: list[V] = []
        """The one value; none where whoever made it failed."""


class SingleFlight(Generic[V]):
    """Whoever asks first makes the value, in its own thread; those who come meanwhile wait for it.

    ``changed`` is notified whenever somebody boards or lands.
    """

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self._flights: dict[str, _Flight[V]] = {}
        self._waiting: dict[str, _Flight[V]] = {}

    def get(self, key: str, make: Callable[[], V], deadline: Deadline, name: str = "") -> V:
        """The value of ``key``: by ``make``, or by somebody else who is making it.

        What ``make`` raises reaches the caller whose it is, and nobody else: one of those who wait then makes the
        value for the rest. name: of the caller, for :meth:`maker`. Raises what the caller's own ``deadline`` raises
        while it waits.
        """
        while True:
            flight = self._join(key, name)
            if flight is None:
                return self._make(key, make)
            self._wait(flight, deadline, name)
            if flight.values:
                return flight.values[0]
            deadline.check()

    def __iter__(self) -> Iterator[str]:
        """The keys of what is being made at this moment."""
        return iter(list(self._flights))

    def aboard(self, key: str) -> int:
        """How many are making ``key`` or waiting for it at this moment."""
        flight = self._flights.get(key)
        return flight.aboard if flight else 0

    def maker(self, name: str) -> str:
        """Who makes the value that the caller called ``name`` waits for; itself where it waits for nobody."""
        flight = self._waiting.get(name)
        return flight.maker if flight else name

    def _join(self, key: str, name: str) -> _Flight[V] | None:
        """The flight to wait for; None where the caller is the one to make the value."""
        with self.changed:
            flight = self._flights.get(key)
            if flight is None:
                self._flights[key] = _Flight(name)
            else:
                flight.aboard += 1
                if name:
                    self._waiting[name] = flight
            self.changed.notify_all()
            return flight

    def _make(self, key: str, make: Callable[[], V]) -> V:
        values: list[V] = []
        try:
            values.append(make())
            return values[0]
        finally:
            with self.changed:
                flight = self._flights.pop(key)
                flight.values, flight.landed = values, True
                self.changed.notify_all()

    def _wait(self, flight: _Flight[V], deadline: Deadline, name: str) -> None:
        try:
            while not self._lands(flight, min(deadline.remaining(), LOOK_SECONDS)):
                deadline.check()
        except Exception:
            with self.changed:
                flight.aboard -= 1
                self.changed.notify_all()
            raise
        finally:
            with self.changed:
                self._waiting.pop(name, None)

    def _lands(self, flight: _Flight[V], seconds: float) -> bool:
        """Whether ``flight`` has landed, within ``seconds`` from now."""
        with self.changed:
            return self.changed.wait_for(lambda: flight.landed, timeout=seconds)
