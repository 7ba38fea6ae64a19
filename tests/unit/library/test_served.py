"""An added style on the page and in the API: offered like a built-in one, with a neutral picture and no dead link."""

from __future__ import annotations

import re
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from flask.testing import FlaskClient

from app import create_app
from app.config import Settings
from app.engine import Engine
from app.library.adding import add_style, sample_photos
from app.library.given import about_from
from tests.unit.inference.test_added import put
from tests.unit.library import networks
from tests.unit.stubs import photo, pixels, png

OPTIONS = ("style", "title", "description", "kind", "surroundings", "family", "source", "commercial", "face_size")


@pytest.fixture
def client(models_dir: Path, tmp_path: Path) -> FlaskClient:
    """A service with an added style, one whose weights are gone, and one whose card cannot be read."""
    file = networks.identity(tmp_path / "mirror.onnx")
    given = dict.fromkeys((*OPTIONS, "licence", "licence_sentence")) | {"title": "Ωmirror <b>"}
    static = Path(create_app.__code__.co_filename).parent.parent / "static"
    add_style(models_dir, file, about_from(given, models_dir, file, None), sample_photos(static), threads=1)
    (put(models_dir, "damaged") / "own.onnx").unlink()
    put(models_dir, "broken", halo=None)
    settings = Settings(models_dir=models_dir, style="broken")
    engine = Engine.from_settings(settings)
    engine.start(warm=False)
    return create_app(settings, engine).test_client()


def card(page: str, style: str) -> str:
    """The HTML of one style's card."""
    start = page.index(f'value="{style}"')
    return re.split(r'<div class="card\b|</fieldset>', page[start:])[0]


def test_the_page_shows_a_neutral_drawing_where_there_is_no_picture(client: FlaskClient) -> None:
    shown = card(client.get("/").text, "mirror")
    assert "card__blank" in shown
    assert "card__blank" not in card(client.get("/").text, "hayao")
    assert "Ωmirror &lt;b&gt;" in shown
    assert "<img" not in shown


def test_the_page_links_nowhere_where_no_address_is_known(client: FlaskClient) -> None:
    page = client.get("/").text
    assert "<a " not in card(page, "mirror")
    assert "Its licence was not stated when it was added." in card(page, "mirror")
    assert "<a " in card(page, "hayao")
    assert not re.search(r'href="(None)?"', page)


def test_the_api_lists_it(client: FlaskClient) -> None:
    listed = {style["id"]: style for style in client.get("/styles").json["styles"]}
    assert list(listed) == ["hayao", "shinkai", "cute", "portrait", "ink", "damaged", "mirror"]
    assert listed["mirror"]["source"] is None
    assert listed["mirror"]["state"] in ("ready", "available")
    assert listed["damaged"]["state"] == "unavailable"


def test_a_style_that_was_lost_is_told_where_readiness_is_asked_for(client: FlaskClient) -> None:
    styles = client.get("/readyz").json["styles"]
    assert styles["broken"] == "unavailable: Style broken has no halo."


def test_a_lost_default_style_gives_way_to_a_usable_one(client: FlaskClient) -> None:
    assert client.get("/styles").json["default_style"] == "hayao"


def test_it_converts(client: FlaskClient) -> None:
    picture = photo(80, 64)
    form = {"image": (BytesIO(png(picture)), "me.png"), "style": "mirror", "face": "off", "format": "png"}
    answer = client.post("/convert", data=form)
    assert answer.status_code == 200
    assert np.array_equal(pixels(answer.data), picture)
    assert (
        client.post("/convert", data=form | {"image": (BytesIO(png(picture)), "a"), "style": "broken"}).status_code
        == 400
    )
