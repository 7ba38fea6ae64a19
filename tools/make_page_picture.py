"""Photograph the page on a phone: ``python -m tools.make_page_picture http://127.0.0.1:8000`` (a running service).

Writes docs/images/page-phone.png: the result of the first sample photo, half drawn over it.
"""

from __future__ import annotations

import argparse
import io
from typing import Final

from PIL import Image
from playwright.sync_api import Page, ViewportSize, sync_playwright

from app.config import PROJECT_ROOT
from tools.browser import launch

PICTURE: Final = PROJECT_ROOT / "docs" / "images" / "page-phone.png"
VIEWPORT: Final[ViewportSize] = {"width": 390, "height": 844}
SPLIT: Final = 50
"""Per cent of the picture that shows the photo."""
COLOURS: Final = 256
"""Of the palette: the page has few, and a small file loads fast."""
KMEANS_ROUNDS: Final = 4
"""They bring back the small bright spots that median cut alone gives up."""


def photograph(page: Page, address: str) -> bytes:
    """PNG of the page at ``address`` once the first sample photo has become anime."""
    page.goto(address)
    page.locator("[data-sample]").first.click()
    pair = page.locator("[data-state=done] before-after")
    pair.wait_for()
    pair.evaluate(f"(pair) => {{ pair.split = {SPLIT}; }}")
    page.evaluate("scrollTo(0, 0)")
    return page.screenshot()


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("address", help="of a running service")
    address: str = parser.parse_args().address
    with sync_playwright() as playwright, launch(playwright) as browser:
        # Without movement nothing has to be waited for.
        page = browser.new_page(viewport=VIEWPORT, locale="en", reduced_motion="reduce", has_touch=True, is_mobile=True)
        png = photograph(page, address)
    picture = Image.open(io.BytesIO(png)).convert("RGB").quantize(COLOURS, kmeans=KMEANS_ROUNDS)
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    picture.save(PICTURE, optimize=True)


if __name__ == "__main__":
    main()
