"""models.toml as text: the tables of one style's variants put in the place of what was there.

As text, so that the rest of the file, comments and order, stays as people wrote it.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Final

from app.inference.card import WeightFile
from app.types import StyleId
from tools.command import ToolError

_STYLE: Final = "[[styles]]"
_VARIANT: Final = "[styles.variants."


def weight_entry(variant: str, weights: WeightFile, verified: str = "") -> str:
    """The tables of one variant. verified: what tools.verify prints for its card."""
    table = f'{_VARIANT}{variant}]\nfile = "{weights.file}"\nsha256 = "{weights.sha256}"\nbytes = {weights.bytes}\n'
    return f"{table}\n{verified}\n" if verified else table


def with_entries(text: str, style: StyleId, entries: Sequence[str]) -> str:
    """``text`` of models.toml with ``entries`` for all variants of ``style``. Raises ToolError where it has no such."""
    # Before each style.
    blocks = re.split(rf"(?m)^(?={re.escape(_STYLE)})", text)
    for index, block in enumerate(blocks):
        if _id(block) == style:
            blocks[index] = _replaced(block, entries)
            return "".join(blocks)
    raise ToolError(f"models.toml has no style {style}: an added one gets its variants by `tools.optimize`.")


def _id(block: str) -> str | None:
    if not block.startswith(_STYLE):
        return None
    content: Mapping[str, list[Mapping[str, str]]] = tomllib.loads(block)
    return content["styles"][0].get("id")


def _replaced(block: str, entries: Sequence[str]) -> str:
    kept: list[str] = []
    place = None
    inside = False
    for line in block.splitlines(keepends=True):
        if line.startswith("["):
            inside = line.startswith(_VARIANT)
            place = len(kept) if inside and place is None else place
        if not inside:
            kept.append(line)
    place = len(kept) if place is None else place
    return "".join([*kept[:place], *(f"{entry.rstrip()}\n\n" for entry in entries), *kept[place:]])
