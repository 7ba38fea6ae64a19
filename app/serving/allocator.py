"""How the C library keeps memory that is free: bounded, so that pictures let go of go back to the system.

Two habits of glibc make a process that handles pictures in many threads grow (mallopt(3)): it keeps a pool of its own
for up to eight threads a processor, each of which holds what its largest picture took; and once a large block was
freed, it serves blocks of that size from the pools, whose ends alone can go back. docs/performance/session.md has what
was measured.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping
from typing import Final

POOLS: Final = 2
"""Threads that allocate at the same moment are few: what takes memory waits for a turn."""

OWN_MAPPING_BYTES: Final = 2 << 20
"""From this size a block is a mapping of its own, which is gone when it is freed: every array of a whole picture."""

LEAST_TRIMMED_BYTES: Final = 16 << 20
"""The free end of a pool goes back from this size: at glibc's 128 KiB small blocks would come and go without end."""

_PARAMETERS: Final = {
    "MALLOC_ARENA_MAX": (-8, POOLS),
    "MALLOC_MMAP_THRESHOLD_": (-3, OWN_MAPPING_BYTES),
    "MALLOC_TRIM_THRESHOLD_": (-1, LEAST_TRIMMED_BYTES),
}
"""Variable by which the machine's owner may have chosen otherwise: mallopt's number (malloc.h) and our value."""


def settle_allocator(environment: Mapping[str, str] = os.environ) -> bool:
    """Set the bounds in this process, but for those that ``environment`` sets; whether there is a C library to ask.

    musl and macOS have no mallopt, and other ways; there nothing is changed.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return False
    for variable, (parameter, value) in _PARAMETERS.items():
        if variable not in environment:
            mallopt(parameter, value)
    return True
