"""A safe file name for the answer, made from whatever name the upload came with.

The upload's name is never used as a path here; it is only echoed, cleaned, for the client to save under.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final
from urllib.parse import quote

DEFAULT_STEM: Final = "photo"
MAX_STEM_BYTES: Final = 120
"""UTF-8 bytes of the upload's name that are kept: file systems allow 255 for the whole name."""

# Separators, what Windows forbids, and what would end or escape the quoted string of a header.
_FORBIDDEN: Final = re.compile(r"""[<>:"/\\|?*%;']""")
# Control (Cc), invisible and direction-changing (Cf), lone surrogates (Cs): they can disguise a name.
_INVISIBLE: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
# RFC 8187, section 3.2.1: attr-char beyond letters and digits.
_ATTR_CHAR: Final = "!#$&+-.^_`|~"


def download_name(upload_name: str, style: str, suffix: str) -> str:
    """``me.jpg``, ``cute``, ``.png`` -> ``me-cute.png``. Any text is allowed as ``upload_name``, also none."""
    return f"{_stem(upload_name)}-{style}{suffix}"


def content_disposition(name: str) -> str:
    """The header for saving under ``name``: RFC 6266, with RFC 8187's ``filename*`` where ASCII does not do."""
    ascii_name = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    if ascii_name == name:
        return f'attachment; filename="{name}"'
    fallback = ascii_name if ascii_name[:1].isalnum() else DEFAULT_STEM + ascii_name
    return f"attachment; filename=\"{fallback}\"; filename*=UTF-8''{quote(name, safe=_ATTR_CHAR)}"


def _stem(upload_name: str) -> str:
    name = re.split(r"[/\\]", unicodedata.normalize("NFC", upload_name))[-1]
    stem = re.sub(r"\.[^.]{0,10}$", "", name)
    visible = "".join(letter for letter in stem if unicodedata.category(letter) not in _INVISIBLE)
    cleaned = re.sub(r"\s+", " ", _FORBIDDEN.sub("_", visible)).strip(" .-")
    return _cut(cleaned, MAX_STEM_BYTES).strip(" .-") or DEFAULT_STEM


def _cut(text: str, most_bytes: int) -> str:
    return text.encode()[:most_bytes].decode(errors="ignore")
