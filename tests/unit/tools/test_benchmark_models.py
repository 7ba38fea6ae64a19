"""The command, on one small cell."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.bench.cell import Cell, Measured
from tools.benchmark_models import main
from tools.command import ToolError

SMALL = ["--sizes", "32", "--threads", "1", "--seconds", "0"]


def test_three_files_are_written_and_the_table_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cute:int8", *SMALL, "--out", str(tmp_path / "new")]) == 0
    assert {path.name for path in (tmp_path / "new").iterdir()} == {"benchmark.csv", "benchmark.md", "benchmark.svg"}
    assert capsys.readouterr().out.strip() == (tmp_path / "new" / "benchmark.md").read_text(encoding="utf-8").strip()


def test_a_style_stands_for_all_its_variants(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    monkeypatch.setattr("tools.benchmark_models._measure", lambda cell, *rest: seen.append(cell) or unmeasured(cell))
    main(["hayao", "cute:int8", "--sizes", "64", "32", "--threads", "1", "--out", str(tmp_path)])
    assert [(cell.subject.name, cell.size) for cell in seen] == [
        *((f"hayao {variant}", size) for size in (64, 32) for variant in ("fp32", "fp16", "int8", "small")),
        ("cute int8", 64),
        ("cute int8", 32),
    ]


def test_who_stops_it_has_what_was_measured_until_then(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(cell: Cell, number: int, *rest: object) -> Measured:
        if number == 3:
            raise KeyboardInterrupt
        return unmeasured(cell)

    monkeypatch.setattr("tools.benchmark_models._measure", stopped)
    with pytest.raises(KeyboardInterrupt):
        main(["hayao", "--sizes", "64", "--threads", "1", "--out", str(tmp_path)])
    lines = (tmp_path / "benchmark.csv").read_text(encoding="utf-8").splitlines()
    assert [line.split(",")[1] for line in lines] == ["variant", "fp32", "fp16"]


def unmeasured(cell: Cell) -> Measured:
    """What a cell that failed leaves."""
    return Measured(cell, None, "it did not run")


def test_an_unknown_network_is_told_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="nobody"):
        main(["hayao", "nobody", *SMALL, "--out", str(tmp_path)])
    assert not list(tmp_path.iterdir())
