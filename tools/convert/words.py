"""Lines about conversions, for people."""

from __future__ import annotations


def agreement_line(width: int, height: int, pictures: int, error: float) -> str:
    """How far two networks are apart at one size."""
    size, count = f"{width} x {height}", f"{pictures} picture{'s' if pictures > 1 else ''}"
    return f"  {size:>9}  {count:<10}  {error:.1e}"
