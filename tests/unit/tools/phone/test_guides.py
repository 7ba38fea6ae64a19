"""The guides' code has the network's own numbers."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from app.inference.stylizer import Stylizer
from app.types import Tensor
from tests.unit.tools.phone.cards import card
from tools.measures.scores import Scores
from tools.phone.examples import write_examples
from tools.phone.guides import PAGES, table, write_pages
from tools.phone.manifest import Bundle
from tools.phone.parts import PhoneModel
from tools.phone.pictures import color_chart
from tools.phone.trial import Trial

SIZE = (32, 16)
CARDS = {
    "-1 to 1, planes, RGB": {},
    "0 to 1, channels last, BGR": {
        "layout": "NHWC",
        "channel_order": "BGR",
        "input_range": (0.0, 1.0),
        "output_range": (0.0, 1.0),
    },
    "0 to 255 in, -1 to 1 out": {"input_range": (0.0, 255.0)},
    "names of its own": {"input_name": "photo:0", "output_name": "generator/out:0"},
}


class Echo:
    """A network that gives back what it takes."""

    def run(self, tensor: Tensor) -> Tensor:
        return tensor


def made(folder: Path, **changes) -> Bundle:
    """Pages for a network with ``changes`` in its card, and one file that was tried."""
    path = folder / "net-fp32-32x16.ort"
    path.write_bytes(b"x" * 1_000_000)
    model = PhoneModel("onnxruntime", "ort", "fp32", SIZE, (path,), lambda threads: Echo())
    scores: Scores = {"mean_error": 0.126, "max_error": 3.0, "ssim": 0.99876, "banding": 0.0}
    trial = Trial(model, SIZE, scores, scores, {1: 10.4, 2: 5.6}, ())
    examples = write_examples(card(**changes), Echo(), {"chart": color_chart(SIZE)}, SIZE, folder / "examples")
    left_out = ["ncnn: pnnx is not installed here."]
    bundle = Bundle(card(**changes), [SIZE], [model], [trial], examples, left_out, {1: 10.4, 2: 5.6}, "x86_64")
    write_pages(bundle, folder)
    return bundle


@pytest.fixture(params=CARDS.values(), ids=CARDS.keys())
def changes(request: pytest.FixtureRequest) -> dict:
    return request.param


def number(text: str) -> float:
    return float(text.strip("()").removesuffix("f"))


def formula(text: str, pattern: str) -> tuple[float, float]:
    """Scale and offset in the one line of ``text`` that looks like ``pattern``."""
    found = re.findall(pattern + r" \* (\(?-?[\d.e-]+f?\)?) \+ (\(?-?[\d.e-]+f?\)?)", text)
    assert len(found) == 1, f"{pattern} should be there once"
    return number(found[0][0]), number(found[0][1])


@pytest.mark.parametrize("page", ["android.md", "ios.md"])
def test_levels_become_the_numbers_that_the_service_gives_the_network(tmp_path: Path, changes, page: str) -> None:
    made(tmp_path, **changes)
    scale, offset = formula((tmp_path / page).read_text(encoding="utf-8"), r"= level")
    levels = np.repeat(np.arange(256, dtype=np.uint8).reshape(16, 16, 1), 3, axis=2)
    served: list[Tensor] = []
    recorder = Echo()
    recorder.run = lambda tensor: served.append(tensor.copy()) or tensor
    Stylizer(card(**changes), recorder).stylize(levels)
    expected = served[0].ravel() if card(**changes).layout == "NHWC" else served[0][0, 0].ravel()
    ours = np.float32(scale) * np.arange(256, dtype=np.float32) + np.float32(offset)
    step = 3 if card(**changes).layout == "NHWC" else 1
    np.testing.assert_allclose(ours, expected[::step][:256], atol=1e-4 * max(map(abs, card(**changes).input_range)))


@pytest.mark.parametrize("page", ["android.md", "ios.md"])
def test_numbers_become_levels_again(tmp_path: Path, changes, page: str) -> None:
    made(tmp_path, **changes)
    scale, offset = formula((tmp_path / page).read_text(encoding="utf-8"), r"\(number")
    low, high = card(**changes).output_range
    assert low * scale + offset == pytest.approx(0, abs=1e-4)
    assert high * scale + offset == pytest.approx(255, abs=1e-4)


def test_channels_lie_where_the_card_says(tmp_path: Path, changes) -> None:
    made(tmp_path, **changes)
    android, ios = ((tmp_path / page).read_text(encoding="utf-8") for page in ("android.md", "ios.md"))
    planar = card(**changes).layout == "NCHW"
    assert ("channel * PIXELS + pixel" in android) is planar
    assert ("pixel * 3 + channel" in android) is not planar
    assert ("channel * pixels + pixel" in ios) is planar
    bgr = card(**changes).channel_order == "BGR"
    assert f"intArrayOf({'0, 8, 16' if bgr else '16, 8, 0'})" in android
    assert f"static let bytes = {'[2, 1, 0]' if bgr else '[0, 1, 2]'}" in ios


def test_names_and_shapes_are_the_networks_own(tmp_path: Path, changes) -> None:
    made(tmp_path, **changes)
    names = card(**changes)
    shape = "1, 3, 16, 32" if names.layout == "NCHW" else "1, 16, 32, 3"
    for page in ("android.md", "ios.md"):
        text = (tmp_path / page).read_text(encoding="utf-8")
        assert all(word in text for word in (f'"{names.input_name}"', f'"{names.output_name}"', shape))
        assert "net-fp32-32x16.ort" in text


def test_pages_say_what_was_left_out_and_who_may_use_it(tmp_path: Path) -> None:
    bundle = made(tmp_path)
    text = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert "- ncnn: pnnx is not installed here." in text
    assert bundle.card.licence.sentence in text
    assert "`ncnn/`" not in text


def test_no_template_has_holes(tmp_path: Path) -> None:
    made(tmp_path)
    for page in PAGES:
        text = (tmp_path / page).read_text(encoding="utf-8")
        assert text.count("```") % 2 == 0
        assert re.search(r"\{\{|\{%|\bNone\b|Undefined", text) is None


def test_the_table_has_errors_and_times(tmp_path: Path) -> None:
    lines = table(made(tmp_path).trials).splitlines()
    assert lines[0].endswith("| ms, 1 thread | ms, 2 threads |")
    assert lines[2] == "| `ort/net-fp32-32x16.ort` | ONNX Runtime | 32x16 | 1.00 | 0.13 | 3 | 0.9988 | 0.00 | 10 | 6 |"
