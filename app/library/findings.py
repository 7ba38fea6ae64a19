"""What looking at a network brought to light, each thing with how it is known."""

from __future__ import annotations

from dataclasses import dataclass

from app.errors import ModelError


class NoStyle(ModelError):
    """Why a network cannot be a style; the sentence goes on after its file's name and a colon."""


@dataclass(frozen=True, slots=True)
class Finding:
    """``what`` of the network is ``value``, and ``why`` that is thought: one line for people."""

    what: str
    value: str
    why: str

    def __str__(self) -> str:
        return f"{self.what:14} {self.value}  ({self.why})"
