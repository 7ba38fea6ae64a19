"""Numbers as people read them. What was not measured is a dash."""

from __future__ import annotations

from typing import Final

from app.i18n import Language
from app.page_text import page_text

UNKNOWN: Final = "–"
_KIBI: Final = 1024
_MINUTE, _HOUR, _DAY = 60, 3600, 86_400


def whole(number: int) -> str:
    """12345 -> ``12,345``."""
    return f"{number:,}"


def seconds(value: float | None) -> str:
    """As short as it may be read: ``0.4 ms``, ``12 ms``, ``0.31 s``, ``4.2 s``, ``61 s``."""
    if value is None:
        return UNKNOWN
    if value < 0.1:
        milliseconds = value * 1000
        return f"{milliseconds:.0f} ms" if milliseconds >= 9.95 else f"{milliseconds:.1f} ms"
    if value < 9.95:
        return f"{value:.2f} s" if value < 0.995 else f"{value:.1f} s"
    return f"{value:.0f} s"


def per_cent(share: float | None) -> str:
    """0.754 -> ``75 %``."""
    return UNKNOWN if share is None else f"{share * 100:.0f} %"


def memory(count: int) -> str:
    """Bytes as ``0 KiB``, ``12 KiB``, ``310 MiB`` or ``1.2 GiB``."""
    if count < _KIBI**2:
        return f"{count / _KIBI:.0f} KiB"
    if count < _KIBI**3:
        return f"{count / _KIBI**2:.0f} MiB"
    return f"{count / _KIBI**3:.1f} GiB"


def span(value: float | None, language: Language) -> str:
    """A time in seconds as days and hours, hours and minutes, or minutes."""
    if value is None:
        return UNKNOWN
    full = int(value)
    if full >= _DAY:
        return page_text(language, "status.span.days", days=full // _DAY, hours=full % _DAY // _HOUR)
    if full >= _HOUR:
        return page_text(language, "status.span.hours", hours=full // _HOUR, minutes=full % _HOUR // _MINUTE)
    return page_text(language, "status.span.minutes", minutes=full // _MINUTE)
