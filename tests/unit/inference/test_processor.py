"""The kind of processor, read from a made /proc/cpuinfo."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.inference.processor import processor_kind

INTEL = "processor\t: 0\nflags\t\t: fpu sse2 avx2 {more}\n\nprocessor\t: 1\nflags\t\t: fpu\n"
ARM = "processor\t: 0\nFeatures\t: fp asimd crc32 {more}\n"


@pytest.mark.parametrize(
    ("machine", "cpuinfo", "kind"),
    [
        ("x86_64", INTEL.format(more=""), "x86_64-avx2"),
        ("x86_64", INTEL.format(more="avx512_vnni"), "x86_64-vnni"),
        ("AMD64", INTEL.format(more="avx_vnni"), "x86_64-vnni"),
        ("x86_64", INTEL.format(more="avx512_vnni amx_int8"), "x86_64-amx"),
        ("x86_64", "flags\t\t: fpu sse2\n", "x86_64"),
        ("aarch64", ARM.format(more=""), "aarch64"),
        ("aarch64", ARM.format(more="asimddp"), "aarch64-dotprod"),
        ("aarch64", ARM.format(more="asimddp i8mm"), "aarch64-i8mm"),
        ("riscv64", "isa : rv64imac\n", "riscv64"),
    ],
)
def test_a_kind_is_the_machine_and_its_best_help_for_8_bit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, machine: str, cpuinfo: str, kind: str
) -> None:
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/cpuinfo").write_text(cpuinfo)
    monkeypatch.setattr("platform.machine", lambda: machine)
    assert processor_kind(tmp_path) == kind


def test_without_cpuinfo_the_machine_alone_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "arm64")
    assert processor_kind(tmp_path) == "aarch64"
