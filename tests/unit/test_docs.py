"""Code and documentation say the same: each setting, route, option, error and style is documented."""

import re
from dataclasses import fields
from pathlib import Path

import pytest

from app import create_app
from app.config import PREFIX, PROJECT_ROOT, Settings
from app.engine import Engine
from app.options import FACE_MODES, FORMATS, OPTION_NAMES
from tests.unit.stubs import REGISTRY, parts
from tests.unit.test_errors import told_to_clients

DOCS = PROJECT_ROOT / "docs"
API = (DOCS / "api.md").read_text(encoding="utf-8")
CONFIGURATION = (DOCS / "configuration.md").read_text(encoding="utf-8")
README = (PROJECT_ROOT / "README.md").read_text(encoding="utf-8")


def row(text: str, name: str) -> str:
    """The table row whose first cell is ``name`` in backticks."""
    return next((line for line in text.splitlines() if line.startswith(f"| `{name}`")), "")


@pytest.mark.parametrize("setting", [item.name for item in fields(Settings)])
def test_every_setting_is_documented_with_its_default(setting: str) -> None:
    default = getattr(Settings(), setting)
    line = row(CONFIGURATION, PREFIX + setting.upper())
    assert line, f"{PREFIX}{setting.upper()} has no row in docs/configuration.md"
    if not isinstance(default, Path) and default != "":
        shown = f"{default:g}" if isinstance(default, float) else str(default)
        assert f"`{shown}`" in line.split("|")[2]


def test_no_setting_is_documented_that_does_not_exist() -> None:
    known = {PREFIX + item.name.upper() for item in fields(Settings)}
    assert set(re.findall(r"ANIMEBOOTH_[A-Z_]+[A-Z]", CONFIGURATION + README)) <= known


def routes() -> list[str]:
    app = create_app(Settings(), Engine(parts()))
    return sorted({rule.rule for rule in app.url_map.iter_rules() if rule.endpoint != "static"})


@pytest.mark.parametrize("route", routes())
def test_every_route_is_documented(route: str) -> None:
    assert f"`{route}`" in API or re.search(rf"`(GET|POST) {re.escape(route)}`", API)


@pytest.mark.parametrize("option", OPTION_NAMES)
def test_every_option_is_documented(option: str) -> None:
    assert row(API, option)


@pytest.mark.parametrize("value", [*FACE_MODES, *FORMATS])
def test_every_choice_of_an_option_is_documented(value: str) -> None:
    assert f"`{value}`" in API


@pytest.mark.parametrize("code", [kind.code for kind in told_to_clients()])
def test_every_error_code_is_documented(code: str) -> None:
    assert f"`{code}`" in API


@pytest.mark.parametrize("style", list(REGISTRY.styles))
def test_every_style_is_documented_with_its_licence(style: str) -> None:
    text = (DOCS / "models.md").read_text(encoding="utf-8")
    assert row(text, style)
    assert REGISTRY.card(style).licence.id in text


def pages() -> list[Path]:
    return [PROJECT_ROOT / "README.md", PROJECT_ROOT / "CHANGELOG.md", *sorted(DOCS.rglob("*.md"))]


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.relative_to(PROJECT_ROOT).as_posix())
def test_every_link_between_our_files_leads_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)|src=\"([^\"]+)\"", page.read_text(encoding="utf-8"))
    ours = [a or b for a, b in links if not (a or b).startswith(("http", "mailto:"))]
    missing = [link for link in ours if not (page.parent / link).exists()]
    assert missing == []


def python_examples() -> list[str]:
    return re.findall(r"```python\n(.*?)```", README, re.DOTALL)


def test_the_python_example_of_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    examples = python_examples()
    assert examples
    (tmp_path / "me.jpg").write_bytes((PROJECT_ROOT / "static/samples/astronaut.jpg").read_bytes())
    monkeypatch.chdir(tmp_path)
    for example in examples:
        exec(compile(example, "README.md", "exec"), {})
    assert list(tmp_path.glob("me-anime.*"))


def test_the_changelog_begins_with_the_projects_version() -> None:
    version = re.search(r'^version = "(.+)"', (PROJECT_ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    newest = re.search(r"^## (\S+)", (PROJECT_ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert version is not None
    assert newest is not None
    assert newest[1] == version[1]
