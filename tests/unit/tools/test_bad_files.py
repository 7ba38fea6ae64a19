"""Whatever file a command is given: one sentence, exit code 2, and nothing half-written."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("onnx", reason="model tools are not installed")

import onnx
from onnx import TensorProto, helper

from app.config import PROJECT_ROOT
from tools import benchmark_models, bundle, make_variants, models_table, optimize, verify
from tools.command import MOST_BYTES, run_command

COMMANDS: dict[str, tuple[Callable[[list[str]], object], Callable[[str, str], list[str]]]] = {
    "verify": (verify.main, lambda file, out: ["hayao", file, "--report", f"{out}/page.html"]),
    "optimize": (optimize.main, lambda file, out: [file, "--out", out]),
    "benchmark_models": (benchmark_models.main, lambda file, out: ["hayao", file, "--out", out]),
    "bundle": (bundle.main, lambda file, out: [file, "--out", out]),
    "make_variants": (make_variants.main, lambda file, out: ["hayao", "--weights", file, "--out", out]),
    "models_table": (models_table.main, lambda file, out: [file]),
}


def flattening() -> bytes:
    """A network from a picture to a row of numbers."""
    ends = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in (("x", [1, 3, 8, 8]), ("y", [1, 192]))
    ]
    graph = helper.make_graph([helper.make_node("Flatten", ["x"], ["y"])], "g", ends[:1], ends[1:])
    model: onnx.ModelProto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return model.SerializeToString()


CONTENTS: dict[str, Callable[[], bytes] | None] = {
    "missing": None,
    "empty": lambda: b"",
    "truncated": lambda: (PROJECT_ROOT / "models" / "lite_hayao.onnx").read_bytes()[:-5000],
    "text": lambda: b"no network\n" * 99,
    "other shape": flattening,
    "absurdly large": lambda: b"",
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("kind", CONTENTS)
def test_a_bad_file_is_one_sentence(
    command: str, kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / f"{kind.replace(' ', '_')}.onnx"
    make = CONTENTS[kind]
    if make is not None:
        file.write_bytes(make())
    if kind == "absurdly large":
        with file.open("r+b") as stream:
            # Holes take no room on the disk.
            stream.truncate(MOST_BYTES + 1)
    main, words = COMMANDS[command]
    out = tmp_path / "out"
    monkeypatch.setattr(sys, "argv", [command])
    before = set((PROJECT_ROOT / "models").iterdir())
    with pytest.raises(SystemExit) as ended:
        run_command(lambda: main(words(str(file), str(out))))  # type: ignore[arg-type,return-value]
    assert ended.value.code == 2
    (sentence,) = capsys.readouterr().err.splitlines()
    assert sentence.startswith("error: ")
    assert sentence.endswith(".")
    assert not out.exists()
    assert set((PROJECT_ROOT / "models").iterdir()) == before
