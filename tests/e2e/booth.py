"""What the browser tests do in the booth, in words."""

from __future__ import annotations

import base64
import io
from pathlib import Path

from PIL import Image
from playwright.sync_api import Locator, Page, Route, expect

from app.config import PROJECT_ROOT

SAMPLES = PROJECT_ROOT / "static" / "samples"
CASES = PROJECT_ROOT / "tests" / "cases" / "inputs"
ANSWER_LIMIT = 60_000
"""Milliseconds an answer may take on a slow, shared machine."""

FILES_IN_PAGE = """([name, type, content]) => {
  const bytes = Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0));
  const transfer = new DataTransfer();
  transfer.items.add(new File([bytes], name, { type }));
  return transfer;
}"""


def choose(page: Page, photo: Path) -> None:
    with page.expect_file_chooser() as chooser:
        page.get_by_text("Choose a photo", exact=True).click()
    chooser.value.set_files(photo)


def try_sample(page: Page, name: str = "Astronaut") -> None:
    page.get_by_role("button", name=f"Try the sample photo: {name}").click()


def files_of(page: Page, photo: Path, mimetype: str = "image/jpeg") -> object:
    """A DataTransfer inside the page that holds ``photo``."""
    content = base64.b64encode(photo.read_bytes()).decode("ascii")
    return page.evaluate_handle(FILES_IN_PAGE, [photo.name, mimetype, content])


def drop(page: Page, *paths: Path) -> None:
    """Files and folders, as the system hands them over when they are let go on the page."""
    hand = page.context.new_cdp_session(page)
    data = {"items": [], "files": [str(path) for path in paths], "dragOperationsMask": 1}
    for step in ("dragEnter", "dragOver", "drop"):
        hand.send("Input.dispatchDragEvent", {"type": step, "x": 200, "y": 300, "data": data})


def pair(page: Page) -> Locator:
    """The before/after slider, once the answer is there."""
    shown = page.locator("[data-state=done] before-after")
    expect(shown).to_be_visible(timeout=ANSWER_LIMIT)
    return shown


def handle(page: Page) -> Locator:
    return pair(page).get_by_role("slider")


def picture(page: Page) -> Image.Image:
    """The anime picture, as “Save” hands it over."""
    pair(page)
    with page.expect_download() as download:
        page.locator("#download").click()
    return Image.open(io.BytesIO(download.value.path().read_bytes()))


def photo(page: Page) -> Image.Image:
    """The photo beside it, as the page shows it."""
    png = (
        pair(page)
        .locator(".pair__photo")
        .evaluate(
            """(image) => {
          const canvas = document.createElement("canvas");
          [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
          canvas.getContext("2d").drawImage(image, 0, 0);
          return canvas.toDataURL("image/png").split(",")[1];
        }"""
        )
    )
    return Image.open(io.BytesIO(base64.b64decode(png))).convert("RGB")


def watch_uploads(page: Page) -> None:
    """From now on the page keeps what it sends; ``sent`` reads it. (The browser does not tell what is in a file.)"""
    page.evaluate(
        """() => {
          const send = XMLHttpRequest.prototype.send;
          XMLHttpRequest.prototype.send = function (form) {
            window.sentImage = form.get("image");
            return send.call(this, form);
          };
        }"""
    )


def sent(page: Page) -> bytes:
    """The image last sent; waits for it."""
    # A function: anything else is evaluated anew at each look, which the page's policy forbids from the second on.
    page.wait_for_function("() => window.sentImage")
    content: str = page.evaluate(
        """async () => {
          const bytes = new Uint8Array(await window.sentImage.arrayBuffer());
          return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
        }"""
    )
    return base64.b64decode(content)


def open_options(page: Page) -> None:
    page.locator("summary").click()


def refuse(page: Page, *, status: int, code: str, detail: str, retry_after: int | None = None) -> None:
    """Let /convert fail once in the service's own form, then work again."""

    def answer(route: Route) -> None:
        headers = {"Content-Type": "application/problem+json"}
        if retry_after is not None:
            headers["Retry-After"] = str(retry_after)
        problem = {"type": "about:blank", "status": status, "code": code, "detail": detail}
        route.fulfill(status=status, headers=headers, json=problem)

    page.route("**/convert", answer, times=1)
