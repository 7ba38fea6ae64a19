"""Where the authors' own networks are, for those who have them; their licence keeps them out of the project."""

from __future__ import annotations

import os
from pathlib import Path

from app.config import PROJECT_ROOT

REFERENCE = Path(os.environ.get("REFERENCE_NETWORKS", PROJECT_ROOT / "out" / "reference"))

SHINKAI = "AnimeGANv3_Shinkai_37.onnx"
HAYAO = "AnimeGANv3_Hayao_36.onnx"
