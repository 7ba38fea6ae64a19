"""Who may convert, how often, and how many at once."""

import threading

import pytest

from app.config import SettingError
from app.errors import Overloaded
from app.web.limits import Gate, client_key, is_loopback
from tests.unit.web.service import client, problem, send


def test_a_full_gate_turns_away_and_lets_in_again_afterwards() -> None:
    gate = Gate(1)
    with gate.entered():
        with pytest.raises(Overloaded) as turned_away, gate.entered():
            pass
        assert turned_away.value.retry_after
    with gate.entered():
        pass


def test_a_place_is_free_again_after_an_error() -> None:
    gate = Gate(1)
    with pytest.raises(ZeroDivisionError), gate.entered():
        _ = 1 / 0
    with gate.entered():
        pass


def test_the_server_may_say_that_it_is_full() -> None:
    with pytest.raises(Overloaded), Gate(8).entered(full=True):
        pass


def test_never_more_than_the_capacity_are_inside() -> None:
    gate, barrier, turned_away = Gate(3), threading.Barrier(8), []

    def come() -> None:
        barrier.wait()
        try:
            with gate.entered():
                leave.wait()
        except Overloaded:
            turned_away.append(1)
            if len(turned_away) == 5:
                leave.set()

    leave = threading.Event()
    threads = [threading.Thread(target=come) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(turned_away) == 5


@pytest.mark.parametrize("address", ["127.0.0.1", "127.8.0.1", "::1", "::ffff:127.0.0.1"])
def test_this_machine_is_loopback(address: str) -> None:
    assert is_loopback(address)


@pytest.mark.parametrize("address", ["192.168.0.7", "::2", "::ffff:10.0.0.1", "", None, "localhost.example"])
def test_others_are_not(address: str | None) -> None:
    assert not is_loopback(address)


def test_an_ipv6_client_is_its_network() -> None:
    assert client_key("2001:db8:1:2:3:4:5:6") == client_key("2001:db8:1:2:ffff::1") == "2001:db8:1:2::/64"
    assert client_key("2001:db8:1:3::1") != client_key("2001:db8:1:2::1")
    assert client_key("203.0.113.7") == "203.0.113.7"


def test_a_client_over_its_rate_is_told_how_long_to_wait() -> None:
    service = client(rate_limit="2 per hour")
    service.environ_base["REMOTE_ADDR"] = "203.0.113.7"
    assert [send(service).status_code for _ in range(2)] == [200, 200]
    refused = send(service)
    assert refused.status_code == 429
    assert problem(refused)["code"] == "rate-limited"
    assert problem(refused)["seconds"] == int(refused.headers["Retry-After"])
    assert 1 <= int(refused.headers["Retry-After"]) <= 3601
    service.environ_base["REMOTE_ADDR"] = "203.0.113.8"
    assert send(service).status_code == 200


def test_only_conversions_are_counted() -> None:
    service = client(rate_limit="1 per hour")
    service.environ_base["REMOTE_ADDR"] = "203.0.113.7"
    assert [service.get("/styles").status_code for _ in range(3)] == [200, 200, 200]


def test_this_machine_is_exempt() -> None:
    service = client(rate_limit="1 per hour")
    assert [send(service).status_code for _ in range(3)] == [200, 200, 200]


def test_an_empty_rate_lets_all_through() -> None:
    service = client(rate_limit="")
    service.environ_base["REMOTE_ADDR"] = "203.0.113.7"
    assert [send(service).status_code for _ in range(3)] == [200, 200, 200]


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"rate_limit": "often"}, "ANIMEBOOTH_RATE_LIMIT "),
        ({"rate_limit_storage": "nowhere://here"}, "ANIMEBOOTH_RATE_LIMIT_STORAGE"),
    ],
)
def test_a_rate_that_cannot_be_used_ends_the_start(settings: dict[str, str], named: str) -> None:
    with pytest.raises(SettingError, match=named):
        client(**settings)


def test_a_key_is_asked_for_where_one_is_set() -> None:
    service = client(api_key="s3cret")
    for headers in ({}, {"X-API-Key": "wrong"}, {"Authorization": "Bearer"}, {"Authorization": "Basic s3cret"}):
        response = service.post("/convert", headers=headers)
        assert response.status_code == 401
        assert response.headers["WWW-Authenticate"].startswith("Bearer")
    for headers in ({"X-API-Key": "s3cret"}, {"Authorization": "Bearer s3cret"}):
        # Past the key, the missing picture is what is wrong.
        assert problem(service.post("/convert", headers=headers))["code"] == "missing-image"
    assert service.get("/styles").status_code == 200


@pytest.mark.parametrize("key", ["open sesame", "c2VzYW1l==", "door=1, word=sesame"])
def test_a_key_may_hold_whatever_a_header_can(key: str) -> None:
    service = client(api_key=key)
    for headers in ({"X-API-Key": key}, {"Authorization": f"bearer {key}"}):
        assert problem(service.post("/convert", headers=headers))["code"] == "missing-image"


def test_proxy_headers_are_believed_by_setting_only() -> None:
    believing, doubting = client(rate_limit="1 per hour", trusted_proxies=1), client(rate_limit="1 per hour")
    for service, expected in ((believing, [200, 200]), (doubting, [200, 429])):
        service.environ_base["REMOTE_ADDR"] = "203.0.113.7"
        answers = []
        for address in ("198.51.100.1", "198.51.100.2"):
            service.environ_base["HTTP_X_FORWARDED_FOR"] = address
            answers.append(send(service).status_code)
        assert answers == expected
