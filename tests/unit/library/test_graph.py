"""ONNX files read without the onnx package; what that package says is the measure."""

from collections import Counter
from pathlib import Path

import onnx
import pytest

from app.config import PROJECT_ROOT
from app.library.graph import read_graph
from tests.unit.library import networks

BUILT_IN = sorted((PROJECT_ROOT / "models").glob("*.onnx"))


@pytest.mark.parametrize("path", BUILT_IN, ids=lambda path: path.stem)
def test_operators_are_those_that_onnx_finds(path: Path) -> None:
    graph = read_graph(path.read_bytes())
    assert graph is not None
    assert graph.operators == Counter(node.op_type for node in onnx.load(path).graph.node)
    assert not graph.external


@pytest.mark.parametrize(("end", "named"), [("Tanh", "Tanh"), ("Sigmoid", "Sigmoid"), (None, "Add")])
def test_the_ending_is_the_operator_the_answer_comes_from(tmp_path: Path, end: str | None, named: str) -> None:
    graph = read_graph(networks.in_ranges(tmp_path / "a.onnx", 0, 1, 0, 1, end=end).read_bytes())
    assert graph is not None
    assert graph.endings["output"] == named


def test_the_ending_is_looked_for_through_what_only_passes_numbers_on(tmp_path: Path) -> None:
    steps = [
        networks.node("Tanh", output="t"),
        networks.node("Transpose", ("t",), "u", perm=[0, 1, 3, 2]),
        networks.node("Identity", ("u",)),
    ]
    graph = read_graph(networks.save(tmp_path / "a.onnx", steps).read_bytes())
    assert graph is not None
    assert graph.endings["output"] == "Tanh"


def test_a_circle_of_nodes_ends_the_search(tmp_path: Path) -> None:
    steps = [networks.node("Identity", ("b",), "a"), networks.node("Identity", ("a",), "b")]
    graph = read_graph(networks.save(tmp_path / "a.onnx", steps).read_bytes())
    assert graph is not None
    assert graph.endings["a"] == "Identity"


def test_operators_inside_functions_count(tmp_path: Path) -> None:
    model = onnx.load(networks.identity(tmp_path / "a.onnx"))
    body = onnx.helper.make_node("GlobalAveragePool", ["x"], ["y"])
    opsets = [onnx.helper.make_opsetid("", 17)]
    model.functions.append(onnx.helper.make_function("own", "Pool", ["x"], ["y"], [body], opsets))
    graph = read_graph(model.SerializeToString())
    assert graph is not None
    assert graph.operators["GlobalAveragePool"] == 1


def test_weights_in_a_second_file_are_noticed(tmp_path: Path) -> None:
    model = onnx.load(networks.HAYAO)
    path = tmp_path / "a.onnx"
    onnx.save(model, path, save_as_external_data=True, location="a.data", size_threshold=0)
    graph = read_graph(path.read_bytes())
    assert graph is not None
    assert graph.external


@pytest.mark.parametrize("length", [1, 2, 10, 100, 10_000, 1_000_000])
def test_a_file_cut_short_is_no_graph(length: int) -> None:
    assert read_graph(networks.HAYAO.read_bytes()[:length]) is None


@pytest.mark.parametrize(
    "content", [b"", b"\x3a", b"PK\x03\x04rest", b"\xff" * 40, b"<!doctype html>", b"\x3a\x02\x07\x07"]
)
def test_what_is_no_onnx_file_is_no_graph(content: bytes) -> None:
    assert read_graph(content) is None
