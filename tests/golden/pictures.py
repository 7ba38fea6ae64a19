"""The golden pictures: what each is made of, and ``python -m tests.golden.pictures`` to make them anew.

Make them anew only when a change is meant to be seen, and look at them before they are committed.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from app.config import PROJECT_ROOT, Settings
from app.engine import Engine
from app.options import ConvertOptions

FOLDER: Final = Path(__file__).parent
SAMPLES: Final = PROJECT_ROOT / "static" / "samples"


@dataclass(frozen=True)
class Golden:
    """One picture: ``sample`` converted with ``options``."""

    name: str
    sample: str
    options: ConvertOptions

    @property
    def path(self) -> Path:
        return FOLDER / f"{self.name}.png"

    def made(self, engine: Engine) -> bytes:
        """The picture as the engine makes it now."""
        return engine.convert_with((SAMPLES / self.sample).read_bytes(), self.options).image


def _options(style: str, **others: object) -> ConvertOptions:
    return ConvertOptions(style=style, size=256, format="png", **others)  # type: ignore[arg-type]


GOLDEN: Final = (
    Golden("scene", "coffee.jpg", _options("hayao")),
    Golden("face", "astronaut.jpg", _options("cute")),
    Golden("portrait", "astronaut.jpg", _options("cute", face="only")),
    Golden("half_strength", "cat.jpg", _options("hayao", strength=50, face="off")),
)


def main() -> None:
    """Write every golden picture."""
    engine = Engine.from_settings(Settings(slow_seconds=0.0))
    engine.start(warm=False)
    for golden in GOLDEN:
        golden.path.write_bytes(golden.made(engine))
    engine.close()


if __name__ == "__main__":
    main()
