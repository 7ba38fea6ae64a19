"""What was measured as a picture: time against size, a panel for each style. SVG, made by hand: it is a few lines."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final
from xml.sax.saxutils import escape

from tools.bench.cell import Measured

WIDTH: Final = 420
HEIGHT: Final = 340
LEFT, RIGHT, TOP, BOTTOM = 52, 110, 34, 40

COLORS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")
"""Told apart by people who see few colours (Okabe, Ito: Color universal design, 2008). One for each variant."""

DASHES: Final = ("", "7 4", "2 3", "10 3 2 3")
"""One for each number of threads."""

_STEPS: Final = (1, 2, 5)
_DOT: Final = "stroke-width:6;stroke-dasharray:none;stroke-linecap:round"


@dataclass(frozen=True, slots=True)
class Axes:
    """Where numbers lie in a panel: sizes evenly, milliseconds by their logarithm."""

    sizes: tuple[int, ...]
    low: float
    high: float

    def x(self, size: int) -> float:
        """Of a picture's side."""
        share = self.sizes.index(size) / max(1, len(self.sizes) - 1)
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def y(self, milliseconds: float) -> float:
        """Of a time."""
        share = math.log(milliseconds / self.low) / math.log(self.high / self.low)
        return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)


def as_svg(measured: Sequence[Measured]) -> str:
    """The picture. Cells without figures are left out."""
    panels = [(style, list(items)) for style, items in groupby(_with_figures(measured), lambda it: _style(it))]
    width, height = WIDTH * max(1, len(panels)), HEIGHT
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif">']
    parts.append(f'<rect width="{width}" height="{height}" fill="white"/>')
    for number, (style, items) in enumerate(panels):
        parts += [f'<g transform="translate({number * WIDTH} 0)" font-size="12">', *_panel(style, items), "</g>"]
    return "\n".join([*parts, "</svg>", ""])


def _with_figures(measured: Sequence[Measured]) -> list[Measured]:
    return [item for item in measured if item.figures is not None]


def _style(item: Measured) -> str:
    return item.cell.subject.card.id


def _median(item: Measured) -> float:
    return item.figures.median_ms if item.figures else math.nan


def _panel(style: str, items: list[Measured]) -> Iterator[str]:
    axes = _axes(items)
    yield f'<text x="{LEFT}" y="20" font-size="15" font-weight="bold">{escape(style)}: milliseconds a picture</text>'
    yield from _grid(axes)
    variants = list(dict.fromkeys(item.cell.subject.variant for item in items))
    threads = sorted({item.cell.threads for item in items})
    for row, (variant, count) in enumerate((variant, count) for variant in variants for count in threads):
        line = [it for it in items if (it.cell.subject.variant, it.cell.threads) == (variant, count)]
        look = _look(variants.index(variant), threads.index(count))
        yield from _line(axes, line, look)
        yield from _legend(row, f"{variant}, {count} thread{'' if count == 1 else 's'}", look)


def _axes(items: list[Measured]) -> Axes:
    times = [_median(item) for item in items]
    ticks = [tick for tick in _ticks() if min(times) / 2.5 < tick <= max(times) * 2.5]
    low = max((tick for tick in ticks if tick <= min(times)), default=ticks[0])
    high = min((tick for tick in ticks if tick >= max(times) and tick > low), default=ticks[-1])
    return Axes(tuple(sorted({item.cell.size for item in items})), low, high)


def _ticks() -> list[float]:
    return [step * 10.0**power for power in range(-2, 7) for step in _STEPS]


def _grid(axes: Axes) -> Iterator[str]:
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    for tick in (tick for tick in _ticks() if axes.low <= tick <= axes.high):
        y = axes.y(tick)
        yield f'<path d="M{LEFT} {y:.1f}H{right}" stroke="#ddd"/>'
        yield f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{tick:g}</text>'
    for size in axes.sizes:
        yield f'<text x="{axes.x(size):.1f}" y="{bottom + 18}" text-anchor="middle">{size}</text>'
    yield f'<text x="{(LEFT + right) / 2}" y="{bottom + 34}" text-anchor="middle">side of the picture in px</text>'


def _look(variant: int, threads: int) -> str:
    color, dash = COLORS[variant % len(COLORS)], DASHES[threads % len(DASHES)]
    return f'fill="none" stroke="{color}" stroke-width="2" stroke-dasharray="{dash}"'


def _line(axes: Axes, items: list[Measured], look: str) -> Iterator[str]:
    points = [(axes.x(item.cell.size), axes.y(_median(item))) for item in items]
    yield f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}" {look}/>'
    # A lone point makes no line; a dot is a line of no length with a round end.
    for x, y in points:
        yield f'<path d="M{x:.1f} {y:.1f}h0" {look} style="{_DOT}"/>'


def _legend(row: int, text: str, look: str) -> Iterator[str]:
    x, y = WIDTH - RIGHT + 8, TOP + 6 + 18 * row
    yield f'<path d="M{x} {y}h22" {look}/>'
    yield f'<text x="{x + 26}" y="{y + 4}" font-size="10">{escape(text)}</text>'
