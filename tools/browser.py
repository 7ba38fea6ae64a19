"""Start the system's chromium for Playwright, quiet and offline in its own affairs."""

from __future__ import annotations

import shutil
from typing import Final

from playwright.sync_api import Browser, Playwright

NAMES: Final = ("chromium", "chromium-browser", "google-chrome")

ARGUMENTS: Final = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # A camera that needs no hardware and asks nobody.
    "--use-fake-device-for-media-stream",
    "--use-fake-ui-for-media-stream",
)


def find_chromium() -> str | None:
    """Path of an installed chromium, or None."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


def launch(playwright: Playwright) -> Browser:
    """A headless chromium; the caller closes it. Raises RuntimeError where none is installed."""
    path = find_chromium()
    if path is None:
        raise RuntimeError("No chromium found. On Debian: apt-get install -y chromium")
    return playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
