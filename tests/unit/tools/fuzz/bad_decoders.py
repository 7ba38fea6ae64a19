"""Decoders with one fault each, to see that the fuzzer finds it."""

from __future__ import annotations

import os
import signal
import time

import numpy as np

from app.errors import BrokenImage
from app.imaging.decode import Decoded

MARK = b"bad"
"""What the faulty decoders trip over; everything else is a picture to them."""


def good(data: bytes) -> Decoded:
    return Decoded(np.full((3, 4, 3), len(data) % 256, np.uint8), None, "png", 4, 3)


def refusing(data: bytes) -> Decoded:
    raise BrokenImage


def raising(data: bytes) -> Decoded:
    if MARK in data:
        raise KeyError("from a library")
    return good(data)


def dying(data: bytes) -> Decoded:
    if MARK in data:
        os.kill(os.getpid(), signal.SIGSEGV)
    return good(data)


def hanging(data: bytes) -> Decoded:
    if MARK in data:
        time.sleep(60)
    return good(data)


def hungry(data: bytes) -> Decoded:
    if MARK in data:
        np.ones(400 << 20, np.uint8)
    return good(data)


def misshapen(data: bytes) -> Decoded:
    return Decoded(np.zeros((3, 4, 3), np.uint8), None, "png", 40, 30)


def unwritten(data: bytes) -> Decoded:
    """Shows memory as the system gave it."""
    return Decoded(np.empty((700, 700, 3), np.uint8), None, "png", 700, 700)


def lazy(data: bytes) -> Decoded:
    """Takes the seconds that the data name."""
    end = time.process_time() + len(data) / 1000
    while time.process_time() < end:
        pass
    return good(data)
