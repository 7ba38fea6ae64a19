"""8 bit for ncnn: where to cut, what is stored, and what comes of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.unit.tools.phone.test_ncnn_param import TEXT, weights
from tools.phone.ncnn_int8 import best_cut, quantized, quantized_layers
from tools.phone.ncnn_param import FLOAT32_TAG, INT8_TAG, parse_param, tagged
from tools.phone.parts import LeftOut


def test_even_values_keep_the_largest() -> None:
    assert best_cut(np.linspace(0, 4, 10_000, dtype=np.float32)) == pytest.approx(4, rel=0.03)


def test_a_lonely_value_is_cut() -> None:
    sizes = np.append(np.abs(np.random.default_rng(0).normal(size=200_000)), 12.0).astype(np.float32)
    assert 3.5 < best_cut(sizes) < 9


def test_a_tensor_of_zeros_has_some_scale() -> None:
    assert best_cut(np.zeros(8, np.float32)) == 1.0


def test_a_convolution_is_stored_in_8_bit_with_its_scales() -> None:
    kernel, bias = weights()
    kernel[:27] *= -4
    text, content = quantized(parse_param(TEXT), tagged(FLOAT32_TAG, kernel) + bias.tobytes(), {"conv": 31.75})
    small = np.frombuffer(content, np.int8, 54, 4).reshape(2, 27)
    stored_bias, scales, scale = np.split(np.frombuffer(content, np.float32, 5, 4 + 56), [2, 4])
    assert content[:4] == INT8_TAG
    assert len(content) == 4 + 56 + 4 * 5
    np.testing.assert_allclose(small / scales[:, None], kernel.reshape(2, 27), atol=float(0.5 / scales.min()) + 1e-6)
    assert np.abs(small).max(axis=1).tolist() == [127, 127]
    assert stored_bias.tolist() == bias.tolist()
    assert scale.tolist() == [31.75]
    assert parse_param(text)[2].params[8] == "2"


def test_other_convolutions_are_stored_in_16_bit() -> None:
    kernel, bias = weights()
    text, content = quantized(parse_param(TEXT), tagged(FLOAT32_TAG, kernel) + bias.tobytes(), {})
    assert len(content) == 4 + 2 * 54 + 4 * 2
    assert 8 not in parse_param(text)[2].params


def test_a_network_without_inner_convolutions_has_nothing_to_gain() -> None:
    with pytest.raises(LeftOut, match="no inner convolutions"):
        quantized_layers(parse_param(TEXT))


def test_ncnn_draws_nearly_the_same_in_8_bit(tmp_path: Path) -> None:
    pytest.importorskip("ncnn", reason="ncnn is not installed")
    pytest.importorskip("onnx", reason="the workshop's packages are not installed")
    from tests.unit.tools.phone.ncnn_made import made_int8

    exact, small, largest = made_int8(tmp_path)
    assert np.abs(small - exact).max() < 0.05 * largest
    assert np.abs(small - exact).max() > 0, "it was computed in 32 bit after all"
