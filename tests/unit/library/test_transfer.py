"""Downloads over a real socket: cut, resumed, redirected, refused. Nothing here leaves this machine."""

from __future__ import annotations

import ssl
import threading
from pathlib import Path
from socket import EAI_NONAME, gaierror
from urllib.error import URLError

import pytest

from app.errors import ModelError
from app.library import transfer
from app.library.parts import Part
from app.library.transfer import Interrupted, Patience, fetch, why_unreachable
from tests.unit.library.server import Handler, Ranged, Web, redirect, send, serving, whole

BODY = bytes(range(256)) * 1000
QUICK = Patience(seconds=5, tries=3, pause=0)


@pytest.fixture
def part(tmp_path: Path) -> Part:
    return Part(tmp_path / "file.part")


def ignore(arrived: int, expected: int | None) -> None:
    pass


def get(url: str, part: Part, patience: Patience = QUICK) -> bytes:
    fetch(url, part, ignore, patience)
    return part.path.read_bytes()


def test_a_file_arrives_whole_and_its_progress_is_told(web: Web, part: Part) -> None:
    steps: list[tuple[int, int | None]] = []
    fetch(web.put("/file", whole(BODY)), part, lambda *step: steps.append(step), QUICK)
    assert part.path.read_bytes() == BODY
    assert steps[-1] == (len(BODY), len(BODY))
    assert [arrived for arrived, _ in steps] == sorted({arrived for arrived, _ in steps})


def test_a_file_of_unknown_length_arrives_whole(web: Web, part: Part) -> None:
    def chunked(handler: Handler) -> None:
        handler.send_response(200)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        for place in range(0, len(BODY), 50_000):
            piece = BODY[place : place + 50_000]
            handler.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
        handler.wfile.write(b"0\r\n\r\n")

    assert get(web.put("/file", chunked), part) == BODY


class TestACutConnection:
    def test_is_gone_on_with_where_it_ended(self, web: Web, part: Part) -> None:
        url = web.put("/file", Ranged(BODY, cuts=[100_000, 1, 50_000]))
        assert get(url, part) == BODY
        assert [asked for _, asked in web.asked] == [None, "bytes=100000-", "bytes=100001-", "bytes=150001-"]

    def test_starts_afresh_where_the_server_knows_no_ranges(self, web: Web, part: Part) -> None:
        cuts = [10, len(BODY)]

        def forgetful(handler: Handler) -> None:
            send(handler, 200, BODY[: cuts.pop(0)], Content_Length=str(len(BODY)), ETag='"one"')

        assert get(web.put("/file", forgetful), part) == BODY

    def test_starts_afresh_where_the_server_names_no_version(self, web: Web, part: Part) -> None:
        url = web.put("/file", Ranged(BODY, tag=None, cuts=[100_000]))
        assert get(url, part) == BODY
        assert [asked for _, asked in web.asked] == [None, None]

    def test_starts_afresh_where_the_file_has_changed_meanwhile(self, web: Web, part: Part) -> None:
        file = Ranged(BODY, cuts=[100_000])

        def changing(handler: Handler) -> None:
            file(handler)
            file.body, file.tag = BODY[::-1], '"two"'

        assert get(web.put("/file", changing), part) == BODY[::-1]

    def test_is_given_up_after_tries_that_bring_nothing_and_its_part_is_kept(self, web: Web, part: Part) -> None:
        url = web.put("/file", Ranged(BODY, cuts=[100_000, 0, 0, 0, 0]))
        with pytest.raises(Interrupted, match=r"127\.0\.0\.1 ended the connection after 100000 of 256000 bytes"):
            get(url, part)
        assert part.path.read_bytes() == BODY[:100_000]
        assert len(web.asked) == 4

    def test_is_gone_on_with_by_a_later_run(self, web: Web, part: Part) -> None:
        file = Ranged(BODY, cuts=[100_000, 0, 0, 0])
        url = web.put("/file", file)
        with pytest.raises(Interrupted):
            get(url, part)
        web.asked.clear()
        file.cuts = []
        assert get(url, part) == BODY
        assert [asked for _, asked in web.asked] == ["bytes=100000-"]

    def test_of_another_address_is_not_gone_on_with(self, web: Web, part: Part) -> None:
        with pytest.raises(Interrupted):
            get(web.put("/one", Ranged(BODY, cuts=[100_000, 0, 0, 0])), part)
        assert get(web.put("/two", Ranged(BODY[::-1])), part) == BODY[::-1]

    def test_in_the_middle_of_a_chunk_is_no_end(self, web: Web, part: Part) -> None:
        def chunked(handler: Handler) -> None:
            handler.send_response(200)
            handler.send_header("Transfer-Encoding", "chunked")
            handler.end_headers()
            handler.wfile.write(b"ffff\r\nshort")

        with pytest.raises(Interrupted, match="ended the connection early"):
            get(web.put("/file", chunked), part)

    def test_that_only_stalls_is_given_up(self, web: Web, part: Part) -> None:
        done = threading.Event()

        def stalling(handler: Handler) -> None:
            send(handler, 200, BODY[:1000], Content_Length=str(len(BODY)))
            done.wait(10)

        url = web.put("/file", stalling)
        with pytest.raises(Interrupted, match="has stopped sending"):
            get(url, part, Patience(seconds=0.2, tries=1, pause=0))
        done.set()

    def test_is_not_gone_on_with_for_ever(self, web: Web, part: Part, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(transfer, "_MOST_CONNECTIONS", 5)
        with pytest.raises(Interrupted, match="ends every connection: 5 bytes have arrived so far"):
            get(web.put("/file", Ranged(BODY, cuts=[1] * 9)), part)


class TestRanges:
    def test_a_part_longer_than_the_file_is_thrown_away(self, web: Web, part: Part) -> None:
        part.path.write_bytes(BODY * 2)
        url = web.put("/file", Ranged(BODY))
        part.take_note(url, '"one"')
        assert get(url, part) == BODY
        assert [asked for _, asked in web.asked] == ["bytes=512000-", None]

    def test_another_part_than_asked_for_is_not_appended(self, web: Web, part: Part) -> None:
        file = Ranged(BODY)

        def confused(handler: Handler) -> None:
            if handler.headers.get("Range"):
                send(handler, 206, BODY[5:], Content_Range=f"bytes 5-{len(BODY) - 1}/{len(BODY)}")
            else:
                file(handler)

        url = web.put("/file", confused)
        part.path.write_bytes(BODY[:1000])
        part.take_note(url, '"one"')
        assert get(url, part) == BODY

    def test_a_part_whose_note_is_damaged_is_begun_again(self, web: Web, part: Part) -> None:
        part.path.write_bytes(b"something else")
        part.path.with_name("file.part.json").write_text("{no json")
        assert get(web.put("/file", Ranged(BODY)), part) == BODY
        assert web.asked == [("/file", None)]

    def test_a_weak_tag_is_no_version(self, web: Web, part: Part) -> None:
        """A weak one may stay the same while bytes change (RFC 9110, 13.1.5)."""
        assert get(web.put("/file", Ranged(BODY, tag='W/"one"', cuts=[1000])), part) == BODY
        assert [asked for _, asked in web.asked] == [None, None]


class TestRedirects:
    def test_are_followed(self, web: Web, part: Part) -> None:
        web.put("/file", whole(BODY))
        web.put("/there", redirect("/file", 307))
        assert get(web.put("/here", redirect("/there")), part) == BODY

    def test_keep_the_range(self, web: Web, part: Part) -> None:
        web.put("/file", Ranged(BODY, cuts=[1000]))
        assert get(web.put("/here", redirect("/file")), part) == BODY
        assert ("/file", "bytes=1000-") in web.asked

    def test_in_a_circle_are_refused(self, web: Web, part: Part) -> None:
        web.put("/there", redirect("/here"))
        with pytest.raises(ModelError, match=r"/here redirects in a circle or nowhere \(HTTP 302\)"):
            get(web.put("/here", redirect("/there")), part)
        assert len(web.asked) < 10

    def test_without_an_end_are_refused(self, web: Web, part: Part) -> None:
        for number in range(20):
            web.put(f"/{number}", redirect(f"/{number + 1}"))
        with pytest.raises(ModelError, match="redirects in a circle"):
            get(f"{web.url}/0", part)
        assert len(web.asked) < 10

    def test_nowhere_are_refused(self, web: Web, part: Part) -> None:
        with pytest.raises(ModelError, match="redirects in a circle or nowhere"):
            get(web.put("/here", lambda handler: send(handler, 302)), part)

    @pytest.mark.parametrize("target", ["http://example.org/file", "ftp://127.0.0.1/file", "file:///etc/passwd"])
    def test_to_what_is_not_encrypted_are_refused(self, web: Web, part: Part, target: str) -> None:
        with pytest.raises(ModelError, match=r"is no https address|redirects in a circle or nowhere"):
            get(web.put("/here", redirect(target)), part)
        assert not part.path.exists()


@pytest.mark.parametrize("url", ["http://example.org/file", "ftp://example.org/file", "file:///etc/passwd", "file"])
def test_only_https_addresses_are_fetched(part: Part, url: str) -> None:
    with pytest.raises(ModelError, match="is no https address"):
        get(url, part)


class TestAnAnswerThatIsNoFile:
    @pytest.mark.parametrize("status", [404, 410])
    def test_is_told_as_gone(self, web: Web, part: Part, status: int) -> None:
        with pytest.raises(ModelError, match=rf"There is no file at {web.url}/file any more \(HTTP {status}\)"):
            get(web.put("/file", lambda handler: send(handler, status)), part)
        assert len(web.asked) == 1

    @pytest.mark.parametrize("status", [401, 403, 451])
    def test_is_told_as_not_for_everyone(self, web: Web, part: Part, status: int) -> None:
        with pytest.raises(ModelError, match=rf"is not for everyone: the answer was HTTP {status}"):
            get(web.put("/file", lambda handler: send(handler, status)), part)

    @pytest.mark.parametrize("status", [429, 500, 503])
    def test_is_asked_for_again_where_the_server_is_busy(self, web: Web, part: Part, status: int) -> None:
        answers = [status, status]

        def busy(handler: Handler) -> None:
            send(handler, answers.pop()) if answers else send(handler, 200, BODY)

        assert get(web.put("/file", busy), part) == BODY
        assert len(web.asked) == 3

    def test_is_told_as_busy_in_the_end(self, web: Web, part: Part) -> None:
        with pytest.raises(Interrupted, match=r"is busy or broken at the moment \(HTTP 503\)"):
            get(web.put("/file", lambda handler: send(handler, 503)), part)

    def test_is_known_by_its_kind(self, web: Web, part: Part) -> None:
        url = web.put("/file", lambda handler: send(handler, 200, b"Sign in", Content_Type="text/html; charset=utf-8"))
        with pytest.raises(ModelError, match="answers with a web page, not with a file"):
            get(url, part)
        assert not part.path.exists()

    def test_is_known_by_its_content_where_the_kind_lies(self, web: Web, part: Part) -> None:
        with pytest.raises(ModelError, match="answers with a web page"):
            get(web.put("/file", whole(b"\n<!DOCTYPE html><title>Sign in</title>")), part)
        assert not part.path.exists()

    def test_is_refused_where_it_comes_compressed(self, web: Web, part: Part) -> None:
        with pytest.raises(ModelError, match="compressed"):
            get(web.put("/file", whole(BODY, Content_Encoding="gzip")), part)

    def test_is_refused_where_it_is_too_large(self, web: Web, part: Part) -> None:
        url = web.put("/file", lambda handler: send(handler, 200, b"", Content_Length=str(1 << 40)))
        with pytest.raises(ModelError, match="has more than 512 MiB"):
            get(url, part)

    def test_is_stopped_where_it_grows_too_large_unannounced(
        self, web: Web, part: Part, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(transfer, "MOST_BYTES", 100_000)

        def endless(handler: Handler) -> None:
            handler.send_response(200)
            handler.end_headers()
            handler.wfile.write(BODY)

        with pytest.raises(ModelError, match="has more than"):
            get(web.put("/file", endless), part)
        assert not part.path.exists()

    def test_is_told_where_it_is_no_http(self, web: Web, part: Part) -> None:
        with pytest.raises(Interrupted, match=r"no HTTP|cannot be reached"):
            get(web.put("/file", lambda handler: handler.wfile.write(b"220 mail ready\r\n")), part)


class TestTheDisk:
    def test_full_is_told_and_the_part_is_gone(self, web: Web, part: Part) -> None:
        part.path.symlink_to("/dev/full")
        with pytest.raises(ModelError, match=r"file\.part cannot be written: No space left on device"):
            get(web.put("/file", whole(BODY)), part)
        assert not part.path.is_symlink()

    def test_absent_is_told(self, web: Web, tmp_path: Path) -> None:
        with pytest.raises(ModelError, match="cannot be written: No such file or directory"):
            get(web.put("/file", whole(BODY)), Part(tmp_path / "nowhere" / "file.part"))


def test_a_closed_port_is_told(web: Web, part: Part) -> None:
    with serving() as gone:
        url = f"{gone.url}/file"
    with pytest.raises(Interrupted, match=r"127\.0\.0\.1 cannot be reached: connection refused"):
        get(url, part)


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (URLError(gaierror(EAI_NONAME, "Name or service not known")), "may be offline"),
        (URLError(ssl.SSLCertVerificationError(1, "self-signed")), "certificate is not trusted here"),
        (URLError(TimeoutError()), "does not answer in time"),
        (URLError(OSError(101, "Network is unreachable")), "cannot be reached: network is unreachable"),
    ],
    ids=["offline", "certificate", "timeout", "no network"],
)
def test_what_cannot_be_reached_is_told_by_its_name(error: URLError, sentence: str) -> None:
    told = why_unreachable(error, "https://example.org/file").reason
    assert told.startswith("example.org ")
    assert sentence in told


def test_an_interrupted_run_leaves_a_part_to_go_on_with(web: Web, part: Part) -> None:
    """Ctrl-C while bytes arrive: what is there is written and noted."""
    url = web.put("/file", Ranged(BODY))

    def stop(arrived: int, expected: int | None) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(url, part, stop, QUICK)
    assert 0 < part.size < len(BODY)
    assert get(url, part) == BODY
    assert web.asked[-1][1] is not None
