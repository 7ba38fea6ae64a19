"""What the networks written here call their two ends."""

from __future__ import annotations

from typing import Final

INPUT: Final = "input"
OUTPUT: Final = "output"
