"""How a conversion ends that worked but must not be used."""

from __future__ import annotations


class CheckFailed(Exception):
    """The network made does not answer as the one it was made from. ``str(error)`` says how, in one sentence."""
