"""A network as OpenVINO's files (IR: .xml and .bin), and run by it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from app.types import Tensor
from tools.phone.parts import LeftOut, optional_module


def openvino() -> Any:
    """OpenVINO, without its reports. Raises LeftOut where it is not installed."""
    # It tells its maker of each import unless its package for that cannot be found; it has no other switch but a file
    # in the home folder.
    sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]
    return optional_module("openvino")


def write_openvino(source: Path, target: Path) -> tuple[Path, Path]:
    """Write the ONNX network of fixed size in ``source`` as ``target``.xml and .bin, with weights of 16 bit.

    Raises LeftOut where OpenVINO is missing or cannot read the network.
    """
    module = openvino()
    xml = target.with_name(f"{target.name}.xml")
    try:
        module.save_model(module.Core().read_model(str(source)), str(xml), compress_to_fp16=True)
    except RuntimeError as error:
        raise LeftOut("OpenVINO cannot read the network.") from error
    return xml, xml.with_suffix(".bin")


class OpenVinoSession:
    """A network of OpenVINO's files, computed in 32 bit, so that the files alone make the difference.

    Raises LeftOut where OpenVINO is missing or cannot build it.
    """

    def __init__(self, xml: Path, *, threads: int) -> None:
        wishes = {"INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": "f32"}
        module = openvino()
        try:
            self._request = module.Core().compile_model(str(xml), "CPU", wishes).create_infer_request()
        except RuntimeError as error:
            raise LeftOut("OpenVINO cannot build the network.") from error

    def run(self, tensor: Tensor) -> Tensor:
        """One pass; not for several threads at once."""
        return np.array(self._request.infer({0: tensor})[0], np.float32)
