"""The load test and the soak against a real service, for seconds: that they run, see, and judge."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.server import serve
from tools import loadtest, soak


def test_a_short_load_test_sees_pictures_and_hits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = tmp_path / "load.json"
    stages = ["clients", "hits", "--clients", "1", "2", "--seconds", "3", "--mix", "small"]
    loadtest.main([*stages, "--setting", "ANIMEBOOTH_SIZE=128", "--json", str(report)])
    (run,) = json.loads(report.read_text())
    assert [stage["name"] for stage in run["clients"]] == ["1 client", "2 clients"]
    assert all(stage["pictures"] > 0 and not stage["failures"] for stage in run["clients"])
    assert run["hits"]["hits"] == run["hits"]["sent"] - 1
    assert min(run["hits"]["mib"]) > 100
    printed = capsys.readouterr().out
    assert printed.count("| 1 client |") == 1
    assert "nothing else fails: nothing failed" in printed


def test_a_service_with_too_few_places_refuses_the_rest_of_the_crowd(tmp_path: Path) -> None:
    report = tmp_path / "load.json"
    with serve(environment={"ANIMEBOOTH_MAX_REQUESTS": "2", "ANIMEBOOTH_SIZE": "128"}) as server:
        crowd = ["overload", "--rate", "60", "--seconds", "2", "--mix", "small"]
        loadtest.main([*crowd, "--url", server.url, "--json", str(report)])
    (run,) = json.loads(report.read_text())
    seen = run["overloaded"]
    assert seen["pictures"] > 0
    assert seen["refused"] > 0
    assert seen["pictures"] + seen["refused"] == seen["sent"]
    assert min(seen["mib"]) > 100


@pytest.mark.slow
def test_a_short_soak_with_a_kill_and_a_failing_redis_loses_nothing(tmp_path: Path) -> None:
    plugs = ["--kill-every", "25", "--redis-every", "10"]
    assert soak.main(["--minutes", "1", *plugs, "--out", str(tmp_path)]) == 0
    told = json.loads((tmp_path / "soak.json").read_text())
    assert told["kills"] > 0
    assert told["counts"]["orders"]["picture"] > 0
    assert any(kind.startswith("hostile: ") for kind in told["counts"])
