"""The weights another course begins with, of a student that was kept as PyTorch's or as ONNX."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import numpy as np
import onnx
import torch
from onnx import numpy_helper

from tools.command import ToolError, check_file
from tools.networks.lite2 import SIZES, lite2_like

_ONNX: Final = ".onnx"


def load_weights(path: Path, size: str) -> Mapping[str, torch.Tensor]:
    """A plain network's weights of ``size``, float32. Raises ToolError where the file holds none."""
    try:
        state = _of_onnx(check_file(path)) if path.suffix == _ONNX else torch.load(check_file(path), weights_only=True)
        network = lite2_like(state)
        network.load_state_dict(state)
    except ToolError:
        raise
    except (RuntimeError, ValueError, AttributeError, TypeError, EOFError, KeyError) as error:
        raise ToolError(f"{path} holds no weights of a student.") from error
    except Exception as error:  # torch.load and protobuf raise what they like
        raise ToolError(f"{path} cannot be read as weights ({type(error).__name__}).") from error
    if network.size != SIZES[size]:
        raise ToolError(f"{path} is of another size than {size}.")
    loaded: Mapping[str, torch.Tensor] = network.state_dict()
    return loaded


def _of_onnx(path: Path) -> Mapping[str, torch.Tensor]:
    # The export keeps PyTorch's names; files of other precisions hold other names and are told to hold none.
    tensors = onnx.load(str(path)).graph.initializer
    return {tensor.name: torch.from_numpy(np.array(numpy_helper.to_array(tensor), np.float32)) for tensor in tensors}
