"""What has arrived is read as from a socket that never waits, and let go of once it is read."""

from __future__ import annotations

import pytest

from app.serving.connection import ArrivedBytes


def test_it_is_read_in_pieces_and_then_there_is_no_more() -> None:
    source = ArrivedBytes()
    source.hold(bytearray(b"hello"))
    assert [source.recv(3), source.recv(3), source.recv(3)] == [b"hel", b"lo", b""]


def test_what_is_read_is_held_no_longer() -> None:
    source, data = ArrivedBytes(), bytearray(b"hello")
    source.hold(data)
    source.recv(4)
    with pytest.raises(BufferError):
        data.clear()
    source.recv(4)
    data.clear()
