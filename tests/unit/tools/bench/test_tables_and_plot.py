"""What was measured as CSV, Markdown and a picture."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from itertools import product
from xml.etree import ElementTree

from app.config import PROJECT_ROOT
from app.inference.registry import ModelRegistry
from tools.bench.cell import Cell, Figures, Measured
from tools.bench.plot import as_svg
from tools.bench.tables import as_csv, as_markdown
from tools.judge.subjects import find_subject

REGISTRY = ModelRegistry.load(PROJECT_ROOT / "models")
MACHINE = {"processor": "Some, with a comma", "kind": "x86_64-avx2"}
SVG = "{http://www.w3.org/2000/svg}"


def measured() -> list[Measured]:
    """Two styles, two variants, two sizes, two numbers of threads; the last one failed."""
    items = []
    for style, size, threads, variant in product(("hayao", "cute"), (256, 512), (1, 2), ("fp32", "int8")):
        subject = find_subject(f"{style}:{variant}", REGISTRY)
        figures = Figures(20, size / threads / (2 if variant == "int8" else 1), 1, 7, 60, size / 4)
        items.append(Measured(Cell(subject, size, threads), figures))
    items[-1] = Measured(items[-1].cell, None, "the system ended it")
    return items


def test_csv_has_a_line_for_each_cell_and_the_machine_in_each() -> None:
    rows = list(csv.DictReader(io.StringIO(as_csv(measured(), MACHINE))))
    assert len(rows) == 16
    assert rows[1]["variant"] == "int8"
    assert rows[1]["median_ms"] == "128"
    assert {row["processor"] for row in rows} == {"Some, with a comma"}
    assert (rows[-1]["median_ms"], rows[-1]["fault"]) == ("", "the system ended it")


def test_markdown_sets_the_variants_side_by_side() -> None:
    text = as_markdown(measured(), MACHINE)
    assert "- processor: Some, with a comma" in text
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == ["hayao", "cute"]
    assert "| Size, px | Threads | fp32 | int8 |" in text
    assert "| 512 | 1 | 512 / 128 | 256 / 128 |" in text
    assert "| 512 | 2 | 256 / 128 | - |" in text
    assert "(60 without a network)" in text
    assert "cute int8 at (512, 2): the system ended it" in text
    assert len({line.count("|") for line in text.splitlines() if line.startswith("| 256")}) == 1


def test_the_picture_has_a_line_for_each_variant_and_threads_and_all_of_it_inside() -> None:
    root = ElementTree.fromstring(as_svg(measured()))
    width, height = map(float, root.attrib["viewBox"].split()[2:])
    lines = root.findall(f".//{SVG}polyline")
    assert len(lines) == 2 * 2 * 2
    for line in lines:
        for point in line.attrib["points"].split():
            x, y = map(float, point.split(","))
            assert 0 < x < width / 2
            assert 0 < y < height


def test_half_the_time_lies_lower_by_the_same_way_everywhere() -> None:
    lines = ElementTree.fromstring(as_svg(measured())).findall(f".//{SVG}polyline")
    heights = [[float(point.split(",")[1]) for point in line.attrib["points"].split()] for line in lines[:4]]
    fp32, _, int8, _ = heights
    assert int8[0] - fp32[0] > 5
    assert abs((int8[0] - fp32[0]) - (int8[1] - fp32[1])) < 0.2


def test_a_name_that_holds_markup_is_quoted() -> None:
    item = measured()[0]
    subject = replace(item.cell.subject, card=replace(item.cell.subject.card, id="<b>&"))
    picture = as_svg([replace(item, cell=replace(item.cell, subject=subject))])
    assert any("<b>&" in (text.text or "") for text in ElementTree.fromstring(picture).iter(f"{SVG}text"))


def test_of_nothing_there_is_an_empty_picture() -> None:
    assert ElementTree.fromstring(as_svg([])).tag == f"{SVG}svg"
