"""What a client likes: a page or data, and which picture format."""

import pytest
from werkzeug.datastructures import MIMEAccept
from werkzeug.http import parse_accept_header

from app.types import ImageFormat
from app.web.negotiation import accepted_format, prefers_page

CHROME = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8"
SAFARI = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"


def accept(header: str) -> MIMEAccept:
    return parse_accept_header(header, MIMEAccept)


@pytest.mark.parametrize("header", [CHROME, SAFARI, "text/html"])
def test_a_browser_that_navigates_gets_a_page(header: str) -> None:
    assert prefers_page(accept(header))


@pytest.mark.parametrize(
    "header",
    ["", "*/*", "image/*, application/problem+json", "image/webp, text/html;q=0.5", "text/html;q=0"],
)
def test_everyone_else_gets_data(header: str) -> None:
    assert not prefers_page(accept(header))


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("image/webp", "webp"),
        ("image/webp;q=0.5, image/avif", "avif"),
        ("image/png, image/jpeg", "png"),
        ("image/jpg", "jpeg"),
        ("IMAGE/PNG", "png"),
        ("image/jxl, image/png;q=0.1", "png"),
        ("image/png;q=0, */*", None),
        ("image/*", None),
        ("*/*", None),
        ("image/jxl", None),
        ("", None),
    ],
)
def test_the_format_is_the_best_named_one_that_we_write(header: str, expected: ImageFormat | None) -> None:
    assert accepted_format(accept(header)) == expected
