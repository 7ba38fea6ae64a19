"""Times and verdicts joined into one table."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tools.bench.joined import joined_table, read_files
from tools.command import ToolError
from tools.models_table import main

HEAD = "style,variant,file,file_bytes,sha256,size,threads,median_ms,best_ms,runs,load_ms,rest_mib,peak_mib,fault"


def benchmark(folder: Path) -> Path:
    """Two sizes, one and two threads; the small file is quicker; a third one could not run at one place."""
    lines = [HEAD]
    for variant, share in (("fp32", 1), ("int8", 4)):
        for size, threads in ((256, 1), (256, 2), (512, 1), (512, 2)):
            times = f"{size / threads / share},0,5,20,60,{size / 4 + threads}"
            lines.append(f"hayao,{variant},a_{variant}.onnx,{4000000 // share},{variant},{size},{threads},{times},")
    lines.append("own,file,own.onnx,5000,own,256,1,70,0,5,20,60,99,")
    lines.append("own,file,own.onnx,5000,own,512,1,,,,,,,the system ended it")
    path = folder / "benchmark.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def verdict(folder: Path, b: str, *, passed: bool = True, psnr: float | None = 48.53) -> Path:
    data = {
        "a": {"sha256": "fp32"},
        "b": {"sha256": b},
        "passed": passed,
        "mean": {"ssim": 0.99441, "psnr": psnr, "banding": 0.1},
        "worst": {"ssim": 0.9, "psnr": None, "banding": 0.4},
    }
    path = folder / f"{b}.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


def rows(lines: list[str]) -> dict[str, list[str]]:
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]
    return {row[0]: row[1:] for row in cells}


def test_each_file_has_its_costs_and_what_it_lost(tmp_path: Path) -> None:
    table = rows(joined_table(*read_files([benchmark(tmp_path), verdict(tmp_path, "int8")])))
    assert table["Network"][:4] == ["MB", "256 px", "512 px", "peak at 512 px"]
    assert table["hayao fp32"] == ["4.00", "256 / 128", "512 / 256", "130", "1", "", "", "", ""]
    assert table["hayao int8"] == ["1.00", "64 / 32", "128 / 64", "130", "0.25", "0.9944", "48.5", "0.40", ""]
    assert table["own"][1:4] == ["70 / -", "- / -", "-"]


def test_a_file_that_is_no_faster_or_failed_is_told(tmp_path: Path) -> None:
    files = [benchmark(tmp_path), verdict(tmp_path, "own", passed=False, psnr=None)]
    files[0].write_text(files[0].read_text(encoding="utf-8").replace(",70,", ",250,"), encoding="utf-8")
    assert rows(joined_table(*read_files(files)))["own"][-5:] == [
        "0.98",
        "0.9944",
        "∞",
        "0.40",
        "no faster, misses its bars",
    ]


def test_of_several_benchmarks_the_best_figures_count(tmp_path: Path) -> None:
    first = benchmark(tmp_path)
    again = first.with_name("again.csv")
    again.write_text(first.read_text(encoding="utf-8").replace(",128.0,", ",90,"), encoding="utf-8")
    for files in ([first, again], [again, first]):
        assert rows(joined_table(*read_files(files)))["hayao fp32"][1:3] == ["256 / 90", "512 / 256"]


def test_what_was_judged_stands_behind_what_judged_it(tmp_path: Path) -> None:
    files = [benchmark(tmp_path), verdict(tmp_path, "own"), verdict(tmp_path, "int8")]
    assert list(rows(joined_table(*read_files(files)))) == ["Network", "hayao fp32", "hayao int8", "own"]


def test_a_verdict_on_another_file_changes_nothing(tmp_path: Path) -> None:
    file = benchmark(tmp_path)
    assert joined_table(*read_files([file, verdict(tmp_path, "else")])) == joined_table(*read_files([file]))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.json", b"{"),
        ("a.json", b"[]"),
        ("a.json", b'{"mean": {}, "worst": {}}'),
        ("a.csv", b"style,variant\nhayao,fp32\n"),
        ("a.csv", b"\xff\xfe"),
        ("a.csv", (HEAD + "\n").encode()),
        ("a.csv", (HEAD + "\nhayao,fp32,a,x,y,256,1,1,1,1,1,1,1,\n").encode()),
    ],
)
def test_other_files_are_told_from_those(name: str, content: bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ToolError, match=r"neither a table of tools.benchmark_models nor a verdict"):
        main([str(tmp_path / name)])


def test_missing_files_and_verdicts_alone_are_told(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="is missing"):
        main([str(tmp_path / "none.csv")])
    with pytest.raises(ToolError, match="No network was timed"):
        main([str(verdict(tmp_path, "int8"))])


def test_the_command_prints_the_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main([str(benchmark(tmp_path)), str(verdict(tmp_path, "int8"))])
    assert "| hayao int8 | 1.00 | 64 / 32 | 128 / 64 |" in capsys.readouterr().out
