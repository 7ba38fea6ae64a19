"""models.toml as text: the tables of one style's variants put in the place of what was there.

As text, so that the rest of the file, comments and order, stays as people wrote it.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from app.inference.card import SMALL, WeightFile
from app.types import StyleId
from tools.command import ToolError

_STYLE: Final = "[[styles]]"
_VARIANT: Final = "[styles.variants."


def weight_entry(variant: str, weights: WeightFile, verified: str = "") -> str:
    """The tables of one variant. verified: what tools.verify prints for its card."""
    table = f'{_VARIANT}{variant}]\nfile = "{weights.file}"\nsha256 = "{weights.sha256}"\nbytes = {weights.bytes}\n'
    return f"{table}\n{verified}\n" if verified else table


def with_entries(text: str, style: StyleId, entries: Sequence[str]) -> str:
    """``text`` of models.toml with ``entries`` for all precisions of ``style``'s network; a smaller one stays.

    Raises ToolError where there is no such style.
    """
    return _changed(text, style, lambda block: _replaced(block, entries, lambda header: not _is_small(header)))


def with_small(text: str, style: StyleId, entry: str) -> str:
    """``text`` of models.toml with ``entry`` for the smaller network of ``style``, behind its other variants.

    Raises ToolError where there is no such style.
    """
    return _changed(text, style, lambda block: _replaced(block, [entry], _is_small))


def _changed(text: str, style: StyleId, change: Callable[[str], str]) -> str:
    # Before each style.
    blocks = re.split(rf"(?m)^(?={re.escape(_STYLE)})", text)
    for index, block in enumerate(blocks):
        if _id(block) == style:
            blocks[index] = change(block)
            return "".join(blocks)
    raise ToolError(f"models.toml has no style {style}: an added one gets its variants by `tools.optimize`.")


def _id(block: str) -> str | None:
    if not block.startswith(_STYLE):
        return None
    content: Mapping[str, list[Mapping[str, str]]] = tomllib.loads(block)
    return content["styles"][0].get("id")


def _is_small(header: str) -> bool:
    return header.startswith(f"{_VARIANT}{SMALL}")


def _replaced(block: str, entries: Sequence[str], gone: Callable[[str], bool]) -> str:
    """``entries`` in the place of the variants whose headers are ``gone``, or else behind the last variant."""
    kept: list[str] = []
    place = behind = None
    header = ""
    for line in block.splitlines(keepends=True):
        header = line if line.startswith("[") else header
        variant = header.startswith(_VARIANT)
        if variant and gone(header):
            place = len(kept) if place is None else place
            continue
        kept.append(line)
        behind = len(kept) if variant else behind
    place = behind if place is None else place
    place = len(kept) if place is None else place
    return "".join([*kept[:place], *(f"{entry.rstrip()}\n\n" for entry in entries), *kept[place:]])
