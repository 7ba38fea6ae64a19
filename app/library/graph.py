"""What an ONNX file says of itself: its operators and how its answer ends. Reads the bytes; runs nothing.

A file is a protobuf message; only the few fields used here are looked at, so that the service needs neither the onnx
package nor generated code. Encoding: Protocol Buffers documentation, "Encoding". Field numbers: onnx/onnx.proto.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

_Field: TypeAlias = "int | memoryview"

# Wire types: how long a field is.
_VARINT, _EIGHT_BYTES, _COUNTED, _FOUR_BYTES = 0, 1, 2, 5

# Field numbers by message.
_MODEL_GRAPH, _MODEL_FUNCTIONS = 7, 25
_GRAPH_NODE, _GRAPH_INITIALIZER = 1, 5
_FUNCTION_NODE = 7
_NODE_INPUT, _NODE_OUTPUT, _NODE_OPERATOR = 1, 2, 4
_TENSOR_LOCATION, _LOCATION_EXTERNAL = 14, 1

_PASSING_ON: Final = frozenset(
    ("Identity", "Cast", "Transpose", "Reshape", "Squeeze", "Unsqueeze", "QuantizeLinear", "DequantizeLinear")
)
"""Operators that change how numbers are kept, and not which they are."""

# Of operators that pass on; a malformed graph may even go round in a circle.
_LONGEST_CHAIN: Final = 16


@dataclass(frozen=True, slots=True)
class Graph:
    """operators: how often each occurs, functions included. endings: by output name, the operator it comes from.

    external: weights are kept in a file beside this one.
    """

    operators: Mapping[str, int]
    endings: Mapping[str, str]
    external: bool


def read_graph(data: bytes) -> Graph | None:
    """The graph in the ONNX file ``data``; None where it is no such file, or one of ONNX Runtime's own format."""
    try:
        return _graph(memoryview(data))
    except ValueError:
        return None


def _graph(model: memoryview) -> Graph | None:
    graphs = list(_messages(model, _MODEL_GRAPH))
    if not graphs:
        return None
    nodes = [_Node.read(node) for graph in graphs for node in _messages(graph, _GRAPH_NODE)]
    called = [
        _Node.read(node)
        for function in _messages(model, _MODEL_FUNCTIONS)
        for node in _messages(function, _FUNCTION_NODE)
    ]
    external = any(_is_external(tensor) for graph in graphs for tensor in _messages(graph, _GRAPH_INITIALIZER))
    return Graph(Counter(node.operator for node in nodes + called), _endings(nodes), external)


@dataclass(frozen=True, slots=True)
class _Node:
    operator: str
    first_input: str
    outputs: tuple[str, ...]

    @classmethod
    def read(cls, message: memoryview) -> _Node:
        texts: dict[int, list[str]] = {_NODE_INPUT: [""], _NODE_OUTPUT: [], _NODE_OPERATOR: [""]}
        for number, value in _fields(message):
            if number in texts and isinstance(value, memoryview):
                texts[number].append(str(value, "utf-8"))
        inputs = texts[_NODE_INPUT]
        return cls(texts[_NODE_OPERATOR][-1], inputs[min(1, len(inputs) - 1)], tuple(texts[_NODE_OUTPUT]))


def _endings(nodes: list[_Node]) -> dict[str, str]:
    """For every name in the graph, the operator that made its numbers, looked for through those that pass them on."""
    makers = {name: node for node in nodes for name in node.outputs}
    endings = {}
    for name, node in makers.items():
        for _ in range(_LONGEST_CHAIN):
            before = makers.get(node.first_input)
            if node.operator not in _PASSING_ON or before is None:
                break
            node = before
        endings[name] = node.operator
    return endings


def _is_external(tensor: memoryview) -> bool:
    return any(number == _TENSOR_LOCATION and value == _LOCATION_EXTERNAL for number, value in _fields(tensor))


def _messages(message: memoryview, wanted: int) -> Iterator[memoryview]:
    return (value for number, value in _fields(message) if number == wanted and isinstance(value, memoryview))


def _fields(message: memoryview) -> Iterator[tuple[int, _Field]]:
    """Number and value of each field of ``message``. Raises ValueError where it is none, or cut short."""
    place = 0
    while place < len(message):
        tag, place = _varint(message, place)
        value, place = _value(message, place, tag & 7)
        yield tag >> 3, value


def _value(message: memoryview, place: int, wire: int) -> tuple[_Field, int]:
    if wire == _VARINT:
        return _varint(message, place)
    if wire == _COUNTED:
        length, place = _varint(message, place)
    elif wire in (_EIGHT_BYTES, _FOUR_BYTES):
        length = 8 if wire == _EIGHT_BYTES else 4
    else:
        raise ValueError("no such wire type")
    if place + length > len(message):
        raise ValueError("cut short")
    return message[place : place + length], place + length


def _varint(message: memoryview, place: int) -> tuple[int, int]:
    """Seven bits a byte, the lowest first; the eighth bit says that more follow. At most ten bytes."""
    number = 0
    for shift in range(0, 70, 7):
        if place >= len(message):
            raise ValueError("cut short")
        byte = message[place]
        place += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, place
    raise ValueError("too long")
