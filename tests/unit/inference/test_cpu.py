"""Processors that may really be used, on made trees of /proc and /sys."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from app.inference.cpu import best_concurrency, cpu_quota, usable_cpus


def tree(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


@pytest.fixture
def eight_cpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(8)), raising=False)


def v2(quota: str, group: str = "/", folder: str = "") -> dict[str, str]:
    return {"proc/self/cgroup": f"0::{group}\n", f"sys/fs/cgroup{folder}/cpu.max": f"{quota}\n"}


def v1(quota: str, period: str, group: str = "/", folder: str = "", tree_name: str = "cpu") -> dict[str, str]:
    return {
        "proc/self/cgroup": f"11:memory:{group}\n4:cpu,cpuacct:{group}\n",
        f"sys/fs/cgroup/{tree_name}{folder}/cpu.cfs_quota_us": f"{quota}\n",
        f"sys/fs/cgroup/{tree_name}{folder}/cpu.cfs_period_us": f"{period}\n",
    }


class TestQuota:
    @pytest.mark.parametrize(
        ("text", "quota"),
        [("200000 100000", 2.0), ("150000 100000", 1.5), ("10000 100000", 0.1), ("50000", 0.5), ("max 100000", None)],
    )
    def test_version_2_is_one_file(self, tmp_path: Path, text: str, quota: float | None) -> None:
        assert cpu_quota(tree(tmp_path, v2(text))) == quota

    @pytest.mark.parametrize(
        ("quota", "period", "expected"), [("200000", "100000", 2.0), ("-1", "100000", None), ("25000", "50000", 0.5)]
    )
    @pytest.mark.parametrize("tree_name", ["cpu", "cpu,cpuacct", "cpuacct,cpu"])
    def test_version_1_is_two_files(
        self, tmp_path: Path, quota: str, period: str, expected: float | None, tree_name: str
    ) -> None:
        assert cpu_quota(tree(tmp_path, v1(quota, period, tree_name=tree_name))) == expected

    def test_the_least_of_nested_groups_counts(self, tmp_path: Path) -> None:
        tree(tmp_path, v2("400000 100000", "/kube/pod/box", "/kube/pod/box"))
        tree(tmp_path, {"sys/fs/cgroup/kube/pod/cpu.max": "100000 100000", "sys/fs/cgroup/kube/cpu.max": "max 100000"})
        assert cpu_quota(tmp_path) == 1.0

    def test_a_container_sees_its_limit_at_the_mounts_root(self, tmp_path: Path) -> None:
        # Docker with version 1: the path is the host's, the files are at the top.
        assert cpu_quota(tree(tmp_path, v1("300000", "100000", "/docker/4f5d"))) == 3.0

    def test_both_versions_at_once_are_both_read(self, tmp_path: Path) -> None:
        tree(tmp_path, v1("300000", "100000"))
        tree(tmp_path, {"proc/self/cgroup": "4:cpu,cpuacct:/\n0::/\n", "sys/fs/cgroup/cpu.max": "200000 100000"})
        assert cpu_quota(tmp_path) == 2.0

    def test_other_controllers_limits_are_not_ours(self, tmp_path: Path) -> None:
        files = v1("100000", "100000") | {"proc/self/cgroup": "3:cpuset:/\n2:memory:/\n"}
        assert cpu_quota(tree(tmp_path, files)) is None

    @pytest.mark.parametrize(
        "files", [{}, v2("nonsense"), v2(""), v2("100000 0"), {"proc/self/cgroup": "0::/\n"}, {"proc/self/cgroup": "?"}]
    )
    def test_what_cannot_be_read_limits_nothing(self, tmp_path: Path, files: dict[str, str]) -> None:
        assert cpu_quota(tree(tmp_path, files)) is None


@pytest.mark.usefixtures("eight_cpus")
class TestUsableCpus:
    @pytest.mark.parametrize(
        ("quota", "cpus"),
        [("max 100000", 8), ("200000 100000", 2), ("210000 100000", 3), ("20000 100000", 1), ("3200000 100000", 8)],
    )
    def test_the_lesser_of_affinity_and_quota_rounded_up(self, tmp_path: Path, quota: str, cpus: int) -> None:
        assert usable_cpus(tree(tmp_path, v2(quota))) == cpus

    def test_without_affinity_every_processor_counts(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delattr(os, "sched_getaffinity")
        monkeypatch.setattr(os, "cpu_count", lambda: 6)
        assert usable_cpus(tmp_path) == 6

    def test_at_least_one_where_nothing_is_known(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delattr(os, "sched_getaffinity")
        monkeypatch.setattr(os, "cpu_count", lambda: None)
        assert usable_cpus(tmp_path) == 1


def test_this_machine_has_at_least_one_processor_and_no_more_than_it_shows() -> None:
    assert 1 <= usable_cpus() <= (os.cpu_count() or 1)


@pytest.mark.parametrize(("cpus", "runs"), [(1, 1), (2, 2), (4, 2), (64, 2)])
def test_two_runs_may_share_the_processors_where_there_are_two(cpus: int, runs: int) -> None:
    assert best_concurrency(cpus) == runs
