"""Reading a TOML table key by key: each key has a type, none may be left over, and what is wrong is a sentence."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import date
from typing import Final, TypeVar

from app.errors import ModelError

_Value = TypeVar("_Value")

_KINDS: Final[Mapping[type, str]] = {
    str: "text",
    int: "a whole number",
    float: "a number with a point",
    date: "a date",
    bool: "true or false",
    dict: "a table",
    list: "a list",
}


class Table:
    """One table of models.toml. ``name`` says in an error which one, e.g. ``Style hayao``."""

    def __init__(self, name: str, content: object) -> None:
        if not isinstance(content, dict):
            raise ModelError(f"{name} is not a table.")
        self.name = name
        self._left = dict(content)

    def take(self, key: str, kind: type[_Value]) -> _Value:
        """The value of ``key``. Raises ModelError where it is missing, of another type, or an empty text."""
        if key not in self._left:
            raise ModelError(f"{self.name} has no {key}.")
        value = self._left.pop(key)
        # A bool is an int to Python, but not to a person.
        if not isinstance(value, kind) or isinstance(value, bool) is not (kind is bool):
            raise self.error(key, f"must be {_KINDS[kind]}")
        if value == "":
            raise self.error(key, "must not be empty")
        return value

    def has(self, key: str) -> bool:
        """Whether there is a ``key`` that nobody took."""
        return key in self._left

    def take_or(self, key: str, kind: type[_Value], default: _Value | None) -> _Value | None:
        """As :meth:`take`, but ``default`` where the key is missing."""
        return self.take(key, kind) if self.has(key) else default

    def choice(self, key: str, allowed: Collection[_Value]) -> _Value:
        """A text that is one of ``allowed``."""
        text = self.take(key, str)
        for value in allowed:
            if value == text:
                return value
        raise self.error(key, f"cannot be “{text}”: it is one of {', '.join(map(str, allowed))}")

    def whole(self, key: str, least: int, default: int | None = None) -> int:
        """A whole number of at least ``least``."""
        number = self.take(key, int) if default is None else self.take_or(key, int, default)
        if number is None or number < least:
            raise self.error(key, f"must be at least {least}")
        return number

    def pair(self, key: str) -> tuple[float, float]:
        """Two numbers, the first the smaller."""
        numbers = self.take(key, list)
        if len(numbers) != 2 or not all(type(number) in (int, float) for number in numbers):
            raise self.error(key, "must be two numbers")
        low, high = map(float, numbers)
        if not low < high:
            raise self.error(key, "must rise")
        return low, high

    def table(self, key: str) -> Table:
        """The table under ``key``."""
        return Table(f"{self.name}, {key},", self.take(key, dict))

    def rest(self, kind: type[_Value]) -> dict[str, _Value]:
        """All that is left, each a value of ``kind``."""
        return {key: self.take(key, kind) for key in list(self._left)}

    def tables(self) -> dict[str, Table]:
        """All that is left, each a table of its own."""
        content, self._left = self._left, {}
        return {key: Table(f"{self.name} {key}", value) for key, value in content.items()}

    def finish(self) -> None:
        """Raise ModelError where a key is left that nobody took: a misspelt option must not pass as its default."""
        if self._left:
            raise ModelError(f"{self.name} has an unknown key: {min(self._left)}.")

    def error(self, key: str, rule: str) -> ModelError:
        """The error for a value of ``key`` that breaks ``rule``."""
        return ModelError(f"{self.name}: {key} {rule}.")
