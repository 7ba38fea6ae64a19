"""create_app assembles and starts nothing; what needs no web loads no web framework."""

import subprocess
import sys
import tomllib

from app import __version__, create_app
from app.config import PROJECT_ROOT, Settings
from app.engine import Engine
from tests.unit.stubs import Workshop, parts


def test_the_version_is_the_projects() -> None:
    project = tomllib.loads((PROJECT_ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert __version__ == project["version"]


def test_an_application_may_be_built_before_a_fork() -> None:
    workshop = Workshop()
    app = create_app(Settings(), Engine(parts(workshop)))
    assert workshop.built == []
    assert app.extensions["animebooth"].status().state == "starting"


def test_the_engine_is_usable_without_the_web_framework_and_without_counting() -> None:
    script = "import sys, app.engine; sys.exit(not {'flask', 'prometheus_client'}.isdisjoint(sys.modules))"
    assert subprocess.run([sys.executable, "-c", script], cwd=PROJECT_ROOT, check=False).returncode == 0
