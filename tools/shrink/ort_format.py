"""ONNX Runtime's own format: the graph as it is after optimisation, for engines that cannot optimise (phones)."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import onnxruntime as ort

from app.inference.session import session_options
from tools.command import ToolError

# Its blocks of channels are as wide as this processor's registers, baked into the weights.
_THIS_PROCESSOR_ALONE: Final = "NchwcTransformer"


def write_ort(source: Path, target: Path, *, portable: bool = True) -> None:
    """Write the ONNX file ``source`` to ``target``, which must end in ``.ort``.

    portable: for any processor. Else with the blocks of this one as well, which a session that loads the file
    cannot add: FP32 networks are then as fast as from ONNX here, and may be wrong elsewhere. Raises ToolError where
    ONNX Runtime cannot load ``source``.
    """
    options = session_options(threads=1)
    options.optimized_model_filepath = str(target)
    options.add_session_config_entry("session.save_model_format", "ORT")
    try:
        ort.InferenceSession(
            str(source),
            options,
            providers=["CPUExecutionProvider"],
            disabled_optimizers=[_THIS_PROCESSOR_ALONE] if portable else [],
        )
    # ONNX Runtime's exceptions have no common root but Exception.
    except Exception as error:
        raise ToolError(f"ONNX Runtime cannot turn {source.name} into its own format.") from error
