"""The owner's page and its figures as JSON: how the service is, in words and numbers, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args

import pytest
from flask.testing import FlaskClient

from app import create_app
from app.config import Settings
from app.conversion import STAGES
from app.engine import Engine
from app.errors import ModelError
from app.i18n import LANGUAGES, Language
from app.inference.registry import Style
from app.page_text import page_text
from app.telemetry.history import History
from app.telemetry.metrics import Metrics
from app.telemetry.minutes import Minute
from app.telemetry.service import Telemetry
from app.telemetry.traces import Traces
from app.web.report import CHART_HEIGHT, Mood, Report, make_report
from tests.unit.stubs import FixedDetector, Workshop, face_at, parts, started
from tests.unit.web.service import BROWSER, send


def telemetry() -> Telemetry:
    return Telemetry(Metrics(), History(), Traces(), None, log_requests=False)


def service(kept: Telemetry, engine: Engine | None = None) -> FlaskClient:
    made = engine or started(detector=FixedDetector([face_at(20, 10, 40)]), observer=kept.metrics)
    return create_app(Settings(), made, kept).test_client()


def page(client: FlaskClient, language: Language = "en") -> str:
    return client.get("/status", headers={"Accept": BROWSER, "Accept-Language": language}).text


def test_programs_get_the_figures_as_json() -> None:
    client = service(telemetry())
    send(client, style="cute")
    send(client, size="1")
    told: dict[str, Any] = client.get("/status").get_json()
    assert (told["status"], told["mood"], told["faces"]) == ("ready", "well", "ready")
    assert told["pictures"]["total"] == 1
    assert told["pictures"]["by_style"] == {"cute": 1}
    assert told["answers"] == {"200": 1, "400": 1}
    assert told["rejected"] == {"invalid-option": 1}
    assert set(told["pictures"]["stage_seconds"]) == set(STAGES)
    assert (told["last_hour"][-1]["picture"] or told["last_hour"][-2]["picture"]) == 1


def failed() -> Engine:
    def broken(style: Style, gate: object) -> Any:
        raise ModelError(f"Style {style.card.id}: it is broken.")

    engine = Engine(parts(open_style=broken))
    with pytest.raises(ModelError):
        engine.start()
    return engine


def in_mood(mood: Mood) -> FlaskClient:
    kept = telemetry()
    if mood == "busy":
        kept.history.add("refused")
    if mood == "faulty":
        kept.history.add("refused")
        kept.history.add("failed")
    engines = {"starting": lambda: Engine(parts()), "closed": failed}
    return service(kept, engines.get(mood, lambda: None)())


@pytest.mark.parametrize("mood", get_args(Mood))
def test_the_page_says_in_words_how_the_service_is(mood: Mood, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Engine, "start_in_background", lambda engine: None)
    client = in_mood(mood)
    assert client.get("/status").get_json()["mood"] == mood
    for language in LANGUAGES:
        text = page(client, language)
        assert page_text(language, f"status.mood.{mood}") in text
        assert page_text(language, f"status.line.{mood}", refused=1, failed=1) in text


def test_why_a_service_cannot_draw_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Engine, "start_in_background", lambda engine: None)
    assert "it is broken." in page(in_mood("closed"))


def test_the_figures_of_the_page_are_those_that_were_counted() -> None:
    kept = telemetry()
    client = service(kept)
    for _ in range(3):
        send(client, style="cute")
    kept.metrics.queue_holds(1234)
    kept.metrics.request_rejected("overloaded")
    kept.metrics.refused("memory")
    text = page(client)
    assert "<b>1,234</b>" in text
    assert "<b>3</b> <span>pictures in the last hour</span>" in text
    assert '<a href="/docs#error-overloaded">overloaded</a>' in text
    assert "memory 1" in text
    assert "Faces are looked for." in text


def test_a_style_that_cannot_be_used_is_told() -> None:
    text = page(service(telemetry(), started(Workshop(failing={"cute"}))))
    assert "loaded on first use" in text
    engine = started(Workshop(failing={"cute"}))
    send(service(telemetry(), engine), style="cute")
    assert "not available" in page(service(telemetry(), engine))


def test_the_page_leads_to_itself_in_other_languages() -> None:
    text = page(service(telemetry()), "ja")
    assert '<html lang="ja"' in text
    assert 'href="/status?lang=zh"' in text


def report(*minutes: Minute) -> Report:
    made = make_report(started(), telemetry())
    return replace(made, summary=replace(made.summary, hour=[Minute()] * (60 - len(minutes)) + list(minutes)))


def test_a_column_stacks_what_happened_in_its_minute() -> None:
    drawn = report(Minute(picture=2), Minute(picture=3, refused=1, failed=1, mistaken=1)).columns
    assert len(drawn) == 60
    assert drawn[0] == []
    outcomes = [outcome for outcome, _, _ in drawn[-1]]
    assert outcomes == ["picture", "refused", "failed", "mistaken"]
    assert sum(height for _, _, height in drawn[-1]) == pytest.approx(CHART_HEIGHT)
    assert drawn[-1][1][1] == pytest.approx(drawn[-1][0][2])
    assert drawn[-2] == [("picture", 0.0, pytest.approx(CHART_HEIGHT / 3))]


def test_an_hour_in_which_nothing_happened_is_drawn_as_well() -> None:
    assert report().columns == [[]] * 60
    assert report().busiest_minute == 0


def test_a_visitor_of_the_booth_does_not_load_the_owners_sentences() -> None:
    assert "status." not in service(telemetry()).get("/").text
