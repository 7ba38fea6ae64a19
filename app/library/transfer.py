"""One file over HTTP: in pieces, going on where it was cut, and refusing what is no file.

A later try goes on only with the very same version of the file (RFC 9110, 13.1.5 If-Range and 14 Range Requests).
"""

from __future__ import annotations

import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPException, HTTPMessage, HTTPResponse
from socket import gaierror
from typing import IO, Final, TypeAlias
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from app import __version__
from app.errors import ModelError
from app.library.kinds import MOST_BYTES, is_web_page
from app.library.parts import Part

Progress: TypeAlias = Callable[[int, "int | None"], None]
"""Called with the bytes that have arrived and, where it is known, the whole number."""

AGENT: Final = f"AnimeBooth/{__version__}"
_CHUNK: Final = 1 << 16
_LOOPBACK: Final = ("127.0.0.1", "::1", "localhost")
_BUSY: Final = (408, 429, 500, 502, 503, 504)

# However little each of them brings.
_MOST_CONNECTIONS: Final = 100


class Interrupted(ModelError):
    """The connection failed or ended early; trying again may help."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait and how often to try.

    seconds: without a byte before a connection counts as dead. tries: in a row that bring nothing new. pause: seconds
    before the second try, twice as long each time after.
    """

    seconds: float = 30.0
    tries: int = 4
    pause: float = 1.0


PATIENT: Final = Patience()


def fetch(url: str, part: Part, progress: Progress, patience: Patience = PATIENT) -> None:
    """Bring the whole of ``url`` into ``part``, going on with what an earlier try left there.

    Raises ModelError, with ``part`` gone, where the address answers with no such file or nothing can be written;
    Interrupted, with ``part`` kept for the next try, where the connection does not hold.
    """
    _check_address(url)
    fruitless = 0
    for _ in range(_MOST_CONNECTIONS):
        before = part.size
        try:
            _receive(url, part, progress, patience)
            return
        except Interrupted:
            fruitless = fruitless + 1 if part.size <= before else 0
            if fruitless >= patience.tries:
                raise
            time.sleep(patience.pause * 2**fruitless)
        except ModelError:
            part.discard()
            raise
    raise Interrupted(f"{_host(url)} ends every connection: {part.size} bytes have arrived so far.")


def _receive(url: str, part: Part, progress: Progress, patience: Patience) -> None:
    version = part.version(url)
    asked = part.size if version else 0
    with _opened(url, asked, version, part, patience) as response:
        _check_kind(response.headers, url)
        start = asked if response.status == 206 else 0
        length = response.headers.get("Content-Length", "")
        whole = start + int(length) if length.isdecimal() else None
        _check_length(whole, url)
        part.take_note(url, _strong_version(response.headers))
        _write(response, part, start, whole, progress)


def _opened(url: str, start: int, version: str | None, part: Part, patience: Patience) -> HTTPResponse:
    headers = {"User-Agent": AGENT, "Accept-Encoding": "identity"}
    if start and version:
        headers |= {"Range": f"bytes={start}-", "If-Range": version}
    try:
        opener = build_opener(_SafeRedirects)
        response: HTTPResponse = opener.open(Request(url, headers=headers), timeout=patience.seconds)  # noqa: S310
    except HTTPError as error:
        with error:
            raise _answered(error.code, url, part) from None
    except (URLError, HTTPException, OSError) as error:
        raise why_unreachable(error, url) from None
    if response.status == 206 and not response.headers.get("Content-Range", "").startswith(f"bytes {start}-"):
        response.close()
        part.discard()
        raise Interrupted(f"{_host(url)} answered with another part of the file than asked for.")
    return response


def _answered(code: int, url: str, part: Part) -> ModelError:
    """What to say of an answer that is no file."""
    if code == 416:
        # The part is longer than the file: it is of another one.
        part.discard()
        return Interrupted(f"{_host(url)} has no such part of the file.")
    if code in _BUSY:
        return Interrupted(f"{_host(url)} is busy or broken at the moment (HTTP {code}): try again later.")
    if 300 <= code < 400:
        return ModelError(f"{url} redirects in a circle or nowhere (HTTP {code}).")
    if code in (404, 410):
        return ModelError(f"There is no file at {url} any more (HTTP {code}).")
    return ModelError(f"{url} is not for everyone: the answer was HTTP {code}.")


def why_unreachable(error: Exception, url: str) -> ModelError:
    """What to say where no answer came: ``error`` is urllib's, or what it gives as its reason."""
    reason = error.reason if isinstance(error, URLError) else error
    host = _host(url)
    if isinstance(reason, gaierror):
        return ModelError(f"{host} cannot be found: this machine may be offline.")
    if isinstance(reason, ssl.SSLCertVerificationError):
        return ModelError(f"{host} cannot prove that it is itself (its certificate is not trusted here).")
    if isinstance(reason, TimeoutError):
        return Interrupted(f"{host} does not answer in time.")
    if isinstance(reason, OSError):
        return Interrupted(f"{host} cannot be reached: {(reason.strerror or str(reason)).lower()}.")
    return Interrupted(f"{host} answers with something that is no HTTP.")


class _SafeRedirects(HTTPRedirectHandler):
    """Follows what a person would: not into the open from an encrypted address, and not for ever."""

    max_redirections = 5
    max_repeats = 1

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> Request | None:
        try:
            _check_address(newurl)
        except ModelError:
            fp.close()
            raise
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _check_address(url: str) -> None:
    """https everywhere; http only to this very machine."""
    parts = urlsplit(url)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in _LOOPBACK):
        raise ModelError(f"{url} is no https address: what comes from it could be anyone's.")


def _check_kind(headers: HTTPMessage, url: str) -> None:
    kind = (headers.get("Content-Type") or "").partition(";")[0].strip().lower()
    if kind in ("text/html", "application/xhtml+xml"):
        raise _web_page(url)
    if (headers.get("Content-Encoding") or "identity") != "identity":
        raise ModelError(f"{url} answers with a compressed file, which was not asked for.")


def _web_page(url: str) -> ModelError:
    return ModelError(f"{url} answers with a web page, not with a file.")


def _check_length(length: int | None, url: str) -> None:
    if length is not None and length > MOST_BYTES:
        raise ModelError(f"{url} has more than {MOST_BYTES >> 20} MiB: no style's network is that large.")


def _strong_version(headers: HTTPMessage) -> str | None:
    """What If-Range takes: an ETag that is not weak, or the time of the last change."""
    tag = headers.get("ETag")
    return tag if tag and not tag.startswith("W/") else headers.get("Last-Modified")


def _write(response: HTTPResponse, part: Part, start: int, whole: int | None, progress: Progress) -> None:
    arrived = start
    with part.open(go_on=start > 0) as file:
        while chunk := _read(response):
            if arrived == 0 and is_web_page(chunk):
                raise _web_page(response.url)
            arrived += len(chunk)
            _check_length(arrived, response.url)
            part.append(file, chunk)
            progress(arrived, whole)
    if whole is not None and arrived < whole:
        raise Interrupted(f"{_host(response.url)} ended the connection after {arrived} of {whole} bytes.")


def _read(response: HTTPResponse) -> bytes:
    try:
        return response.read1(_CHUNK)
    except TimeoutError:
        raise Interrupted(f"{_host(response.url)} has stopped sending.") from None
    except (HTTPException, OSError):
        raise Interrupted(f"{_host(response.url)} ended the connection early.") from None


def _host(url: str) -> str:
    return urlsplit(url).hostname or url
