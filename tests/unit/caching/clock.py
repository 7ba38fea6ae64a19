"""Time that passes when a test says so."""

from __future__ import annotations

from collections.abc import Callable


class FakeClock:
    """A clock, and the alarms set on it."""

    def __init__(self) -> None:
        self.now = 1000.0
        self._alarms: list[Alarm] = []

    def __call__(self) -> float:
        return self.now

    def later(self, seconds: float, call: Callable[[], None]) -> Alarm:
        alarm = Alarm(self.now + seconds, call)
        self._alarms.append(alarm)
        return alarm

    def pass_(self, seconds: float) -> None:
        """Let time pass; alarms ring in their order, those included that others set meanwhile."""
        end = self.now + seconds
        while due := sorted((a for a in self.pending if a.at <= end), key=lambda a: a.at):
            self.now = due[0].at
            due[0].ring()
        self.now = end

    @property
    def pending(self) -> list[Alarm]:
        return [alarm for alarm in self._alarms if alarm.live]


class Alarm:
    def __init__(self, at: float, call: Callable[[], None]) -> None:
        self.at = at
        self.live = True
        self._call = call

    def cancel(self) -> None:
        self.live = False

    def ring(self) -> None:
        self.live = False
        self._call()
