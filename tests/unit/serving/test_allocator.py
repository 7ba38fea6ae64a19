"""What is freed goes back to the system. Each case in a process of its own: an allocator is set once."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from app.config import PROJECT_ROOT

PROBE = """
import ctypes, sys
from app.serving.allocator import settle_allocator

libc = ctypes.CDLL(None)
if not hasattr(libc, "mallopt"):
    sys.exit(77)
libc.malloc.restype = ctypes.c_void_p
libc.malloc.argtypes = [ctypes.c_size_t]
libc.free.argtypes = [ctypes.c_void_p]
if sys.argv[1] == "settled":
    assert settle_allocator()
large = 8 << 20
libc.free(libc.malloc(large))  # from now on glibc, left alone, takes such blocks from its pools
block = libc.malloc(large)
# The word before a block says in its second bit whether it is a mapping of its own (malloc.c, "IS_MMAPPED").
size = ctypes.c_size_t.from_address(block - ctypes.sizeof(ctypes.c_size_t)).value
print(bool(size & 2))
"""


def own_mapping(way: str, **variables: str) -> bool:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("MALLOC_")} | variables
    done = subprocess.run(
        [sys.executable, "-c", PROBE, way], cwd=PROJECT_ROOT, env=environment, capture_output=True, text=True
    )
    if done.returncode == 77:
        pytest.skip("this C library has no mallopt")
    assert done.returncode == 0, done.stderr
    return done.stdout.strip() == "True"


def test_a_large_block_is_a_mapping_of_its_own_again_and_again() -> None:
    assert own_mapping("settled")


def test_left_alone_the_c_library_keeps_it() -> None:
    assert not own_mapping("alone"), "then there is nothing to settle any more"


def test_the_owner_s_own_choice_stays() -> None:
    assert not own_mapping("settled", MALLOC_MMAP_THRESHOLD_=str(32 << 20))
