"""Names to save under: after the upload's, never a path, safe in a header."""

import pytest
from werkzeug.http import parse_options_header

from app.web.naming import content_disposition, download_name


@pytest.mark.parametrize(
    ("upload", "expected"),
    [
        ("me.jpg", "me-cute.png"),
        ("holiday.2024.jpeg", "holiday.2024-cute.png"),
        ("自撮り.jpg", "自撮り-cute.png"),
        ("../../etc/x.jpg", "x-cute.png"),
        (r"C:\fakepath\me.jpg", "me-cute.png"),
        ("/", "photo-cute.png"),
        ("", "photo-cute.png"),
        (".jpg", "photo-cute.png"),
        ("...", "photo-cute.png"),
        ("-rf.jpg", "rf-cute.png"),
        ("a\r\nSet-Cookie: b.jpg", "aSet-Cookie_ b-cute.png"),
        ('say "hi"; now.jpg', "say _hi__ now-cute.png"),
        ("invoice\u202egpj.exe", "invoicegpj-cute.png"),
        ("lone\udcff.jpg", "lone-cute.png"),
    ],
)
def test_the_name_follows_the_uploads_and_is_no_path(upload: str, expected: str) -> None:
    assert download_name(upload, "cute", ".png") == expected


def test_a_long_name_is_cut_between_characters() -> None:
    name = download_name("写" * 300 + ".jpg", "cute", ".png")
    assert name == "写" * 40 + "-cute.png"
    assert len(name.encode()) < 255


def test_an_ascii_name_needs_no_extension() -> None:
    assert content_disposition("me-cute.png") == 'attachment; filename="me-cute.png"'


def test_other_names_come_with_a_fallback_for_old_clients() -> None:
    header = content_disposition("自撮り-cute.png")
    expected = "attachment; filename=\"photo-cute.png\"; filename*=UTF-8''%E8%87%AA%E6%92%AE%E3%82%8A-cute.png"
    assert header == expected
    assert content_disposition("café-cute.png").startswith('attachment; filename="cafe-cute.png"; ')


@pytest.mark.parametrize("upload", ["自撮り.jpg", "été & co's.jpg", "a%20b.jpg", "𝓂𝑒.jpg"])
def test_the_header_says_what_the_name_says(upload: str) -> None:
    name = download_name(upload, "cute", ".png")
    header = content_disposition(name)
    assert header.isascii()
    assert parse_options_header(header) == ("attachment", {"filename": name})
