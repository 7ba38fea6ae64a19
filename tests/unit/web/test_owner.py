"""What is for the owner alone: this machine may see it, and who has the key."""

from __future__ import annotations

from typing import Any

import pytest
from werkzeug.test import TestResponse

from tests.unit.web.service import BROWSER, client, problem

STRANGER = "192.0.2.77"


def ask(
    path: str = "/metrics", *, address: str = "127.0.0.1", headers: dict[str, str] | None = None, **settings: Any
) -> TestResponse:
    return client(**settings).get(path, headers=headers or {}, environ_overrides={"REMOTE_ADDR": address})


@pytest.mark.parametrize("path", ["/metrics", "/status"])
@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "::ffff:127.0.0.1"])
def test_this_machine_may_see_it(path: str, address: str) -> None:
    assert ask(path, address=address).status_code == 200
    assert ask(path, address=address, api_key="secret").status_code == 200


@pytest.mark.parametrize("path", ["/metrics", "/status"])
@pytest.mark.parametrize("address", [STRANGER, "10.0.0.1", "172.17.0.1", "fe80::1", ""])
def test_others_may_not_where_there_is_no_key(path: str, address: str) -> None:
    response = ask(path, address=address)
    assert response.status_code == 403
    assert problem(response)["code"] == "forbidden"


@pytest.mark.parametrize("path", ["/metrics", "/status"])
def test_others_may_with_the_key(path: str) -> None:
    for headers in ({"Authorization": "Bearer secret"}, {"X-API-Key": "secret"}):
        assert ask(path, address=STRANGER, headers=headers, api_key="secret").status_code == 200
    for headers in ({}, {"Authorization": "Bearer wrong"}):
        response = ask(path, address=STRANGER, headers=headers, api_key="secret")
        assert response.status_code == 401
        assert problem(response)["code"] == "unauthorized"


@pytest.mark.parametrize(
    "header", ["X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-IP", "Forwarded", "Via"]
)
def test_a_proxy_on_this_machine_that_nobody_told_us_of_does_not_open_it(header: str) -> None:
    for said in (STRANGER, "127.0.0.1"):
        assert ask(headers={header: said}).status_code == 403


def test_behind_a_trusted_proxy_the_clients_own_address_counts() -> None:
    def forwarded(*hops: str) -> int:
        return ask(headers={"X-Forwarded-For": ", ".join(hops)}, trusted_proxies=1).status_code

    assert forwarded(STRANGER) == 403
    assert forwarded("127.0.0.1") == 200
    # What a client says of itself stands before what the proxy adds.
    assert forwarded("127.0.0.1", STRANGER) == 403


def test_a_trusted_proxy_that_names_nobody_does_not_open_it() -> None:
    assert ask(headers={"X-Real-IP": STRANGER}, trusted_proxies=1).status_code == 403
    assert ask(headers={"Via": "1.1 proxy"}, trusted_proxies=1).status_code == 403
    assert ask(headers={"X-Forwarded-For": "127.0.0.1"}, trusted_proxies=2).status_code == 403
    assert ask(trusted_proxies=1).status_code == 200


def test_keys_cannot_be_tried_out_quickly() -> None:
    service = client(api_key="secret", rate_limit="3 per minute")
    tried = [
        service.get("/metrics", headers={"X-API-Key": str(number)}, environ_overrides={"REMOTE_ADDR": STRANGER})
        for number in range(4)
    ]
    assert [response.status_code for response in tried] == [401, 401, 401, 429]


def test_a_browser_elsewhere_is_asked_for_the_key_and_told_nothing() -> None:
    page = ask("/status", address=STRANGER, headers={"Accept": BROWSER}, api_key="secret")
    assert page.status_code == 401
    assert 'id="owner-key"' in page.text
    assert 'id="figures"' not in page.text
    assert page.headers["Cache-Control"] == "no-store"


def test_a_browser_elsewhere_is_told_how_where_there_is_no_key() -> None:
    page = ask("/status", address=STRANGER, headers={"Accept": BROWSER})
    assert page.status_code == 403
    assert "ANIMEBOOTH_API_KEY" in page.text
    assert 'id="owner-key"' not in page.text


@pytest.mark.parametrize("path", ["/metrics", "/status"])
def test_it_is_kept_by_no_cache(path: str) -> None:
    assert ask(path).headers["Cache-Control"] == "no-store"
