"""Draw the PNG icons from static/icons/icon.svg: ``python -m tools.make_icons``.

Browsers take the SVG; home screens and older systems want pixels. Needs chromium, as the browser tests do.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from playwright.sync_api import Page, sync_playwright

from app.config import PROJECT_ROOT
from tools.browser import launch

ICONS: Final = PROJECT_ROOT / "static" / "icons"
GROUND: Final = "#bfe0ec"

SAFE_SHARE: Final = 0.62
"""Of a maskable icon's side; a circle of 0.8 of the side always stays (W3C manifest, icon masks)."""


def draw(page: Page, svg: str, path: Path, side: int, *, share: float = 1.0, ground: str = "transparent") -> None:
    """Write ``svg`` as a PNG of ``side`` pixels, the drawing filling ``share`` of it over ``ground`` (a CSS colour)."""
    page.set_viewport_size({"width": side, "height": side})
    inner = round(side * share)
    page.set_content(
        f"<style>body{{margin:0;block-size:100vh;display:grid;place-items:center;background:{ground}}}"
        f"svg{{inline-size:{inner}px;block-size:{inner}px}}</style>{svg}"
    )
    page.screenshot(path=path, omit_background=True)


def main() -> None:
    """The command."""
    svg = (ICONS / "icon.svg").read_text(encoding="utf-8")
    with sync_playwright() as playwright, launch(playwright) as browser:
        page = browser.new_page()
        for side in (48, 192, 512):
            draw(page, svg, ICONS / f"icon-{side}.png", side)
        # Systems cut these to their own shape: the drawing keeps clear of the rim, the ground fills it.
        draw(page, svg, ICONS / "icon-180.png", 180, share=0.8, ground=GROUND)
        draw(page, svg, ICONS / "icon-maskable-512.png", 512, share=SAFE_SHARE, ground=GROUND)


if __name__ == "__main__":
    main()
