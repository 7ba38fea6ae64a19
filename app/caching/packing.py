"""An answer as bytes: a line of JSON that describes it, then the encoded picture."""

from __future__ import annotations

import json
from typing import Final

from app.conversion import Result
from app.imaging.encode import MIMETYPES

_END: Final = b"\n"
_DESCRIPTION: Final = ("format", "style", "faces", "width", "height")


def packed(result: Result) -> bytes:
    """``result``, but for how long it took and how it was come by."""
    description = {name: getattr(result, name) for name in _DESCRIPTION}
    line = json.dumps({**description, "notices": list(result.notices)})
    return line.encode() + _END + result.image


def unpacked(data: bytes) -> Result | None:
    """What :func:`packed` made ``data`` of; None where it is nothing of the kind."""
    line, _, image = data.partition(_END)
    try:
        description = json.loads(line)
        return Result(
            image=image,
            mimetype=MIMETYPES[description["format"]],
            timings={},
            notices=tuple(description["notices"]),
            **{name: description[name] for name in _DESCRIPTION},
        )
    except (ValueError, TypeError, LookupError):
        return None
