"""Imports go one way (docs/design.md), and each heavy library has one home. Read from the source, not from what ran."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.config import PROJECT_ROOT

LAYERS: tuple[tuple[str, ...], ...] = (
    ("app.types", "app.errors", "app.options", "app.i18n", "app.deadline", "app.stopwatch", "app.config"),
    ("app.telemetry",),
    ("app.admission",),
    ("app.imaging",),
    ("app.inference",),
    ("app.conversion", "app.workload"),
    ("app.caching",),
    ("app.reception", "app.parts", "app.assembly"),
    ("app.engine",),
    ("app.batch",),
    ("app.library",),
    ("app.web", "app.page_text"),
    ("app.views", "app.handlers", "app.owner"),
    ("app.serving",),
    ("app", "app.__main__"),
)
"""From the bottom to the top: a module imports from its own layer and from those below."""

HOMES = {
    "flask": ("app", "app.web", "app.page_text", "app.views", "app.handlers", "app.owner"),
    "flask_limiter": ("app.web.limits",),
    "gunicorn": ("app.serving",),
    "prometheus_client": ("app.telemetry",),
    "opentelemetry": ("app.telemetry.otel",),
    "redis": ("app.caching.redis_store",),
    "onnxruntime": ("app.inference.session",),
    "mediapipe": ("app.inference.faces",),
    "cv2": ("app.imaging", "app.inference"),
    "PIL": ("app.imaging",),
    "pillow_heif": ("app.imaging",),
    "simplejpeg": ("app.imaging",),
    "click": ("app.__main__", "app.batch", "app.library.commands"),
}
"""Where a library may be imported: in these modules and packages alone (``app``: in ``create_app`` alone)."""

READERS_OF_SETTINGS = ("app", "app.engine", "app.assembly", "app.__main__", "app.web.catalogue", "app.library.commands")
"""``app.web.catalogue`` is handed the settings by ``create_app`` and tells the page its limits."""
NOT_SERVED = ("", "tools", "training", "tests", "scripts", "torch", "onnx")
"""What the service must do without. "" stands for relative imports, which the rules cannot follow."""

Import = tuple[str, str]
"""A module and a name it imports, both in full: ``("app.engine", "app.config.Settings")``."""


def modules(root: Path) -> dict[str, Path]:
    """Every module of the application by its name."""
    found = {}
    for path in sorted((root / "app").rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(root: Path) -> list[Import]:
    """All imports of the application, those within functions and for type checkers alone included."""
    return [(name, imported) for name, path in modules(root).items() for imported in _imported(path)]


def _imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            # A relative import would hide where it leads; its leading dot makes it fail the rules.
            prefix = "." if node.level else f"{node.module}."
            yield from (prefix + alias.name for alias in node.names)


def within(name: str, package: str) -> bool:
    """Whether ``name`` is ``package`` or inside it. The root package holds ``create_app``, not what is below it."""
    return name == package or (package != "app" and name.startswith(f"{package}."))


def layer(name: str) -> int | None:
    """The layer a module belongs to, or the one that defines a name of the root package."""
    return next((rank for rank, group in enumerate(LAYERS) if any(within(name, member) for member in group)), None)


def wrong_way(root: Path) -> list[Import]:
    """Imports that go up."""
    wrong = []
    for name, imported in imports(root):
        first = imported.partition(".")[0]
        # The version is a fact about the whole, not a part of it.
        if first != "app" or imported == "app.__version__":
            continue
        target, own = layer(imported), layer(name)
        if own is None or target is None or target > own:
            wrong.append((name, imported))
    return wrong


def away_from_home(root: Path) -> list[Import]:
    """Imports of a library outside its home."""
    return [
        (name, imported)
        for name, imported in imports(root)
        if (homes := HOMES.get(imported.partition(".")[0])) and not any(within(name, home) for home in homes)
    ]


def outsiders(root: Path) -> list[Import]:
    """Imports of what the service must not need: the workshop, the training, the tests."""
    return [(name, imported) for name, imported in imports(root) if imported.partition(".")[0] in NOT_SERVED]


def test_imports_go_one_way() -> None:
    assert wrong_way(PROJECT_ROOT) == []


def test_every_module_has_a_layer() -> None:
    assert [name for name in modules(PROJECT_ROOT) if layer(name) is None] == []


def test_heavy_libraries_have_one_home() -> None:
    assert away_from_home(PROJECT_ROOT) == []


def test_the_service_needs_neither_workshop_nor_training_nor_tests() -> None:
    assert outsiders(PROJECT_ROOT) == []


def test_settings_are_read_at_the_top_only() -> None:
    readers = {name for name, imported in imports(PROJECT_ROOT) if imported == "app.config.Settings"}
    assert readers <= set(READERS_OF_SETTINGS)
    assert "app.engine" in readers


def test_no_modules_import_each_other_in_a_circle() -> None:
    known = modules(PROJECT_ROOT)
    graph: dict[str, set[str]] = {name: set() for name in known}
    for name, imported in imports(PROJECT_ROOT):
        target = imported if imported in known else imported.rpartition(".")[0]
        if target in known and target != "app":
            graph[name].add(target)
    assert circle(graph) == []


def circle(graph: dict[str, set[str]]) -> list[str]:
    """What is left after taking away, again and again, the modules that import none of the others."""
    left = dict(graph)
    while free := [name for name in left if not left[name] & left.keys()]:
        for name in free:
            del left[name]
    return sorted(left)


PLANTED = {
    "up": ("app/imaging/decode.py", "from app.engine import Engine", wrong_way),
    "up, in a function": ("app/inference/faces.py", "def f():\n    import app.web.uploads", wrong_way),
    "from nowhere known": ("app/stray.py", "import app.types", wrong_way),
    "flask below": ("app/engine.py", "from flask import request", away_from_home),
    "onnxruntime elsewhere": ("app/inference/stylizer.py", "import onnxruntime as ort", away_from_home),
    "pillow in the engine": ("app/engine.py", "from PIL.Image import open", away_from_home),
    "tools": ("app/engine.py", "import tools.benchmark", outsiders),
    "relative": ("app/web/views.py", "from . import uploads", outsiders),
}


@pytest.mark.parametrize(("path", "line", "check"), PLANTED.values(), ids=PLANTED.keys())
def test_each_rule_finds_a_planted_breach(tmp_path: Path, path: str, line: str, check) -> None:
    module = tmp_path / path
    module.parent.mkdir(parents=True)
    module.write_text(line)
    assert len(check(tmp_path)) == 1
