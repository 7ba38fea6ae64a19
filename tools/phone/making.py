"""Each kind of model, made for every size."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias

import onnx
from onnx import ModelProto

from app.inference.card import ModelCard
from app.inference.session import OrtSession
from app.types import Session, Tensor
from tools.phone.fixed import fixed_network, read_network
from tools.phone.ncnn_files import converted, read_layers
from tools.phone.ncnn_int8 import input_scales, quantized
from tools.phone.ncnn_session import NcnnSession, check_in_own_process, ncnn
from tools.phone.openvino_files import OpenVinoSession, write_openvino
from tools.phone.ort_format import write_ort_files
from tools.phone.parts import PhoneModel
from tools.phone.sizes import Size, size_name

AS_GIVEN: Final = "as given"
"""Precision of a file of which nobody said it."""

HALF: Final = "fp16"
SMALL: Final = "int8"


@dataclass(frozen=True, slots=True)
class Source:
    """The network a bundle is made from. name: of its files. precisions: files by precision, the reference first."""

    name: str
    card: ModelCard
    precisions: Mapping[str, Path]

    @property
    def first(self) -> str:
        """The precision that all others are held against."""
        return next(iter(self.precisions))

    def stem(self, precision: str, size: Size | None = None) -> str:
        """Of the name of one of its files."""
        parts = (self.name, "" if precision == AS_GIVEN else precision, size_name(size) if size else "")
        return "-".join(filter(None, parts))


Networks: TypeAlias = Mapping[tuple[str, Size], ModelProto]
"""Networks of fixed size by precision and size."""

Photos: TypeAlias = Callable[[], Sequence[Tensor]]


def fixed_networks(source: Source, sizes: Sequence[Size]) -> Networks:
    """``source`` for every precision and size. Raises ToolError for what is no ONNX file."""
    models = {precision: read_network(path) for precision, path in source.precisions.items()}
    return {(name, size): fixed_network(model, source.card, size) for name, model in models.items() for size in sizes}


def onnx_models(source: Source, networks: Networks, folder: Path) -> list[PhoneModel]:
    """``networks`` as ONNX files."""
    folder.mkdir()
    models = []
    for (precision, size), network in networks.items():
        path = folder / f"{source.stem(precision, size)}.onnx"
        onnx.save(network, path)
        models.append(_ort_model(source.card, precision, size, path))
    return models


def ort_models(source: Source, onnx_made: Sequence[PhoneModel], folder: Path) -> list[PhoneModel]:
    """Files in ONNX Runtime's own format of those ``onnx_made``. Not of FP16: it writes those weights as FP32."""
    write_ort_files(onnx_made[0].files[0].parent, folder)
    models = []
    for made in onnx_made:
        path = folder / f"{made.files[0].stem}.ort"
        if made.precision == HALF:
            path.unlink()
        else:
            models.append(_ort_model(source.card, made.precision, made.size, path))
    return models


def _ort_model(card: ModelCard, precision: str, size: Size | None, path: Path) -> PhoneModel:
    return PhoneModel(
        "onnxruntime",
        "onnx" if path.suffix == ".onnx" else "ort",
        precision,
        size,
        (path,),
        partial(_open_ort, path, card),
    )


def _open_ort(path: Path, card: ModelCard, threads: int) -> Session:
    return OrtSession(path, card, threads=threads)


def openvino_models(source: Source, onnx_made: Sequence[PhoneModel], folder: Path) -> list[PhoneModel]:
    """OpenVINO's files of the first precision, their weights in 16 bit. Raises LeftOut."""
    models = []
    for made in _of_first(source, onnx_made):
        folder.mkdir(exist_ok=True)
        files = write_openvino(made.files[0], folder / source.stem(HALF, made.size))
        _open_openvino(files[0], 1)
        models.append(PhoneModel("openvino", "openvino", HALF, made.size, files, partial(_open_openvino, files[0])))
    return models


def _of_first(source: Source, models: Iterable[PhoneModel]) -> list[PhoneModel]:
    return [model for model in models if model.precision == source.first]


def _open_openvino(xml: Path, threads: int) -> Session:
    return OpenVinoSession(xml, threads=threads)


def ncnn_models(
    source: Source, networks: Networks, sizes: Sequence[Size], photos: Photos, folder: Path
) -> list[PhoneModel]:
    """ncnn's files of the first precision: weights of 16 bit, and convolutions in 8 bit.

    photos: gives tensors (1, 3, H, W) of the first of ``sizes``, on which the 8 bit are calibrated. Where several sizes
    give the same files, as for networks that only slide over the picture, there is one pair for all. Raises LeftOut.
    """
    ncnn()
    files: dict[Size | None, _NcnnFiles] = {}
    scales = None
    for size in sizes:
        files[size] = _ncnn_files(source, networks[source.first, size], size, photos, scales)
        scales = files[size].scales
    first = files[sizes[0]]
    shared = len(sizes) > 1 and all((made.half, made.small) == (first.half, first.small) for made in files.values())
    kept = {None: first} if shared else files
    folder.mkdir()
    models = [
        _write(source, precision, size, made, folder) for precision in (HALF, SMALL) for size, made in kept.items()
    ]
    for model in models:
        param, weights = model.files
        for size in filter(model.takes, sizes):
            check_in_own_process(param, weights, size)
    return models


@dataclass(frozen=True, slots=True)
class _NcnnFiles:
    """.param and .bin of both precisions, and the scales found for 8 bit."""

    half: tuple[str, bytes]
    small: tuple[str, bytes]
    scales: Mapping[str, float]


def _ncnn_files(
    source: Source, network: ModelProto, size: Size, photos: Photos, scales: Mapping[str, float] | None = None
) -> _NcnnFiles:
    with converted(network, source.card, size, half=True) as (param, weights):
        half = param.read_text(encoding="utf-8"), weights.read_bytes()
    with converted(network, source.card, size, half=False) as (param, weights):
        check_in_own_process(param, weights, size)
        layers = read_layers(param)
        if scales is None:
            scales = input_scales(NcnnSession(param, weights, "NCHW", threads=1), layers, photos())
        return _NcnnFiles(half, quantized(layers, weights.read_bytes(), scales), scales)


def _write(source: Source, precision: str, size: Size | None, made: _NcnnFiles, folder: Path) -> PhoneModel:
    text, content = made.half if precision == HALF else made.small
    stem = source.stem(precision, size)
    files = folder / f"{stem}.param", folder / f"{stem}.bin"
    files[0].write_text(text, encoding="utf-8")
    files[1].write_bytes(content)
    return PhoneModel("ncnn", "ncnn", precision, size, files, partial(_open_ncnn, files, source.card))


def _open_ncnn(files: tuple[Path, Path], card: ModelCard, threads: int) -> Session:
    return NcnnSession(*files, card.layout, threads=threads)
