"""The owner's page: it goes on by itself while somebody looks, bothers nobody otherwise, and is for everyone."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, Route, expect
from werkzeug.serving import make_server

from app import create_app, owner
from app.config import Settings
from app.telemetry.history import History
from app.telemetry.metrics import Metrics
from app.telemetry.service import Telemetry
from app.telemetry.traces import Traces
from tests.e2e.conftest import PHONE, OpenPage
from tests.e2e.test_everyone import RULES
from tests.unit.stubs import FixedDetector, started

pytestmark = pytest.mark.browser

KEY = "open sesame"
STRANGER = {"X-Forwarded-For": "192.0.2.7"}
"""Makes a visitor look as if an unknown proxy of this machine spoke for somebody elsewhere."""


@dataclass(frozen=True)
class Service:
    address: str
    telemetry: Telemetry

    def draw_one(self) -> None:
        """As if somebody had got a picture."""
        self.telemetry.history.add("picture", 0.3)
        self.telemetry.metrics.request_answered("/convert", 200, "cute", 0.3)
        self.telemetry.metrics.converted("cute", {"decode": 0.01, "infer": 0.2, "encode": 0.01})


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    """A service with a key, whose page looks again five times a second."""
    monkeypatch.setattr(owner, "REFRESH_SECONDS", 0.2)
    telemetry = Telemetry(Metrics(), History(), Traces(), None, log_requests=False)
    app = create_app(Settings(api_key=KEY, rate_limit=""), started(detector=FixedDetector()), telemetry)
    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield Service(f"http://127.0.0.1:{server.server_port}", telemetry)
    server.shutdown()
    thread.join()
    server.server_close()


def hour(page: Page) -> Locator:
    return page.locator(".stub--main b")


def asked(page: Page) -> list[str]:
    """Requests for the page from now on."""
    seen: list[str] = []
    page.on("request", lambda request: seen.append(request.url) if request.url.endswith("/status") else None)
    return seen


def test_the_figures_go_on_by_themselves(open_page: OpenPage, service: Service) -> None:
    page = open_page("/status", base_url=service.address)
    expect(hour(page)).to_have_text("0")
    service.draw_one()
    expect(hour(page)).to_have_text("1")
    expect(page.locator(".hour__picture")).to_have_count(1)


def test_who_pauses_it_is_left_alone(open_page: OpenPage, service: Service) -> None:
    page = open_page("/status", base_url=service.address)
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_text("The figures stay as they are")).to_be_visible()
    requests = asked(page)
    service.draw_one()
    page.wait_for_timeout(800)
    assert requests == []
    expect(hour(page)).to_have_text("0")
    page.get_by_role("button", name="Pause").click()
    expect(hour(page)).to_have_text("1")


def test_an_answer_that_comes_after_the_pause_changes_nothing(open_page: OpenPage, service: Service) -> None:
    page = open_page("/status", base_url=service.address)
    held: list[Route] = []
    page.route("**/status", lambda route: held.append(route))
    with page.expect_request("**/status"):
        pass
    page.get_by_role("button", name="Pause").click()
    service.draw_one()
    with page.expect_response("**/status"):
        held[0].continue_()
    page.wait_for_timeout(300)
    expect(hour(page)).to_have_text("0")
    expect(page.get_by_text("The figures stay as they are")).to_be_visible()


def test_a_hidden_page_asks_for_nothing(open_page: OpenPage, service: Service) -> None:
    page = open_page("/status", base_url=service.address)
    hide = """(state) => {
      Object.defineProperty(document, "visibilityState", { value: state, configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    }"""
    page.evaluate(hide, "hidden")
    # One may have been under way.
    page.wait_for_timeout(300)
    requests = asked(page)
    page.wait_for_timeout(800)
    assert requests == []
    service.draw_one()
    page.evaluate(hide, "visible")
    expect(hour(page)).to_have_text("1")


def test_a_service_that_is_gone_is_asked_less_and_less_often_and_the_page_says_so(
    open_page: OpenPage, service: Service
) -> None:
    page = open_page("/status", base_url=service.address)
    page.route("**/status", lambda route: route.abort())
    expect(page.get_by_text("The service does not answer")).to_be_visible()
    requests = asked(page)
    page.wait_for_timeout(2000)
    assert len(requests) <= 3
    page.unroute("**/status")
    service.draw_one()
    expect(hour(page)).to_have_text("1")
    expect(page.get_by_text("Looks again every")).to_be_visible()


def test_figures_do_not_change_under_a_readers_hands(open_page: OpenPage, service: Service) -> None:
    page = open_page("/status", base_url=service.address)
    page.get_by_role("link", name="The figures for Prometheus").focus()
    service.draw_one()
    page.wait_for_timeout(800)
    expect(hour(page)).to_have_text("0")
    page.locator("#pause").focus()
    expect(hour(page)).to_have_text("1")


def test_elsewhere_it_opens_with_the_key(open_page: OpenPage, service: Service) -> None:
    page = open_page("/status", base_url=service.address, extra_http_headers=STRANGER)
    expect(page.locator("#figures")).to_have_count(0)
    page.get_by_label("Key", exact=True).fill("open barley")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_have_text("That key does not fit.")
    page.get_by_label("Key", exact=True).fill(KEY)
    page.keyboard.press("Enter")
    expect(hour(page)).to_have_text("0")
    service.draw_one()
    expect(hour(page)).to_have_text("1")
    page.reload()
    expect(hour(page)).to_have_text("1")
    assert KEY not in page.evaluate("JSON.stringify([Object.values(localStorage), document.cookie, location.href])")


def test_it_reads_without_a_script(open_page: OpenPage, service: Service) -> None:
    service.draw_one()
    page = open_page("/status", base_url=service.address, java_script_enabled=False)
    expect(hour(page)).to_have_text("1")
    expect(page.locator("#watch")).to_be_hidden()


@pytest.mark.parametrize(
    ("scheme", "locale", "width"), [("light", "en", 320), ("dark", "zh", 390), ("light", "ja", 1360)]
)
@pytest.mark.parametrize("headers", [{}, STRANGER], ids=["inside", "at the door"])
def test_it_is_for_everyone_and_fits_every_screen(
    open_page: OpenPage, service: Service, scheme: str, locale: str, width: int, headers: dict[str, str]
) -> None:
    service.draw_one()
    service.telemetry.metrics.request_rejected("overloaded")
    page = open_page(
        "/status",
        base_url=service.address,
        color_scheme=scheme,
        locale=locale,
        viewport={**PHONE, "width": width},
        extra_http_headers=headers,
    )
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    found = Axe().run(page, options={"runOnly": RULES})
    assert found.violations_count == 0, found.generate_report()


def test_the_language_is_chosen_without_leaving_the_page(open_page: OpenPage, service: Service) -> None:
    page = open_page("/status", base_url=service.address)
    page.get_by_role("link", name="日本語").click()
    expect(page.get_by_role("heading", name="舞台裏")).to_be_visible()
    assert page.url.endswith("/status?lang=ja")
