"""Photos as onnxruntime's calibration takes them, and its silence."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout

from onnxruntime.quantization import CalibrationDataReader

from app.types import Tensor


class Reader(CalibrationDataReader):  # type: ignore[misc]
    """tensors: of the photos; asked for one at a time, in order."""

    def __init__(self, input_name: str, tensors: Sequence[Tensor]) -> None:
        self._input = input_name
        self._tensors = tensors
        self.set_range(0, len(tensors))

    def __len__(self) -> int:
        return len(self._tensors)

    def set_range(self, start_index: int, end_index: int) -> None:
        """Give the photos from ``start_index`` to before ``end_index`` next."""
        self._numbers = iter(range(start_index, end_index))

    def get_next(self) -> dict[str, Tensor] | None:
        """The next photo as the network's input; None after the last."""
        number = next(self._numbers, None)
        return None if number is None else {self._input: self._tensors[number]}


@contextmanager
def quiet() -> Iterator[None]:
    """Without onnxruntime's diary, and its advice to do what has been done already; its errors are exceptions."""
    root = logging.getLogger()
    before = root.level
    root.setLevel(logging.ERROR)
    try:
        with redirect_stdout(io.StringIO()):
            yield
    finally:
        root.setLevel(before)
