"""ncnn's two files, read and written."""

from __future__ import annotations

import numpy as np
import pytest

from tools.phone.ncnn_param import (
    FLOAT16_TAG,
    FLOAT32_TAG,
    INT8_TAG,
    MAGIC,
    param_text,
    parse_param,
    read_weights,
    tagged,
)
from tools.phone.parts import LeftOut

TEXT = f"""{MAGIC}
4 5
Input            in0      0 1 in0
Split            split    1 2 in0 1 2
Convolution      conv     1 1 1 3 0=2 1=3 11=3 5=1 6=54 9=2 -23310=1,2.000000e-01
BinaryOp         add      2 1 3 2 out0 0=0
"""


def weights() -> tuple[np.ndarray, np.ndarray]:
    return np.arange(54, dtype=np.float32) / 54, np.array([3, 4], np.float32)


def test_a_param_file_is_read() -> None:
    layers = parse_param(TEXT)
    assert [layer.type for layer in layers] == ["Input", "Split", "Convolution", "BinaryOp"]
    assert layers[1].outputs == ("1", "2")
    assert layers[2].params[-23310] == "1,2.000000e-01"
    assert layers[2].number(6) == 54
    assert layers[2].number(8) == 0


def test_a_param_file_is_written_as_it_was_read() -> None:
    assert param_text(parse_param(TEXT)).split() == TEXT.split()


def test_another_file_is_refused() -> None:
    with pytest.raises(ValueError, match=r"no ncnn \.param file"):
        parse_param("7767518\n")


@pytest.mark.parametrize("tag", [FLOAT32_TAG, FLOAT16_TAG], ids=["32 bit", "16 bit"])
def test_weights_are_read_layer_by_layer(tag: bytes) -> None:
    kernel, bias = weights()
    stored = tagged(tag, kernel.astype(np.float16) if tag == FLOAT16_TAG else kernel)
    arrays = read_weights(parse_param(TEXT), stored + bias.tobytes())
    assert [len(parts) for parts in arrays] == [0, 0, 2, 0]
    np.testing.assert_allclose(arrays[2][0][1], kernel, atol=5e-4)
    np.testing.assert_array_equal(arrays[2][1][1], bias)


def test_an_odd_number_of_short_weights_is_filled_up_to_four_bytes() -> None:
    layers = parse_param(f"{MAGIC}\n2 2\nInput in0 0 1 in0\nInnerProduct out 1 1 in0 out0 0=1 1=1 2=3\n")
    stored = tagged(FLOAT16_TAG, np.array([1, 2, 3], np.float16)) + np.array([9], np.float32).tobytes()
    assert len(stored) == 16
    assert [values.tolist() for _, values in read_weights(layers, stored)[1]] == [[1, 2, 3], [9]]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda content: content + bytes(4), "cannot be told apart"),
        (lambda content: content[:-1], "fewer weights"),
        (lambda content: INT8_TAG + content[4:], "type that is not known"),
    ],
    ids=["more", "fewer", "another type"],
)
def test_weights_of_other_layers_are_not_taken_for_these(change, why: str) -> None:
    kernel, bias = weights()
    with pytest.raises(LeftOut, match=why):
        read_weights(parse_param(TEXT), change(tagged(FLOAT32_TAG, kernel) + bias.tobytes()))
