"""The decoding process as its watcher sees it: fed a file at a time, and replaced when it dies or hangs."""

from __future__ import annotations

import contextlib
import json
import selectors
import struct
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Final, Self

from app.config import PROJECT_ROOT
from tools.fuzz.decoder import WHOLE, Outcome

HUNG_SECONDS: Final = 120.0
"""Without an answer for so long, by the clock on the wall, it hangs: generous, since others may use the machine."""

_SECOND_LOOK: Final = 2.0
"""Seconds. Where both were stopped for a while (Ctrl-Z), time is up for one that has not had its turn yet."""

_LIFE: Final = 5000
"""Files after which it is replaced, so that one file's traces do not blur the next ones' memory for ever."""


@dataclass(frozen=True, slots=True)
class _Child:
    process: subprocess.Popen[bytes]
    files: IO[bytes]
    outcomes: IO[bytes]
    complaints: IO[bytes]


class Subject:
    """``decode_one`` (``module:function``) stands in for the service's decoder, in tests.

    whole: decode very large pictures in all their pixels.
    """

    def __init__(
        self, decode_one: str | None = None, *, whole: bool = False, hung_seconds: float = HUNG_SECONDS
    ) -> None:
        words = [*([decode_one] if decode_one else []), *([WHOLE] if whole else [])]
        self._command = [sys.executable, "-m", "tools.fuzz.decoder", *words]
        self._hung_seconds = hung_seconds
        self._child: _Child | None = None
        self._fed = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    def examine(self, data: bytes) -> Outcome:
        """What becomes of ``data``. A death and a hang are faults."""
        if self._fed >= _LIFE:
            self.end()
        child = self._child or self._start()
        self._fed += 1
        with contextlib.suppress(BrokenPipeError):
            child.files.write(struct.pack("!I", len(data)) + data)
            child.files.flush()
        if not self._answers(child):
            self.end()
            return Outcome("", f"no answer in {self._hung_seconds:g} s", self._hung_seconds, 0.0)
        line = child.outcomes.readline()
        return Outcome(**json.loads(line)) if line else self._death(child)

    def _start(self) -> _Child:
        complaints = tempfile.TemporaryFile()  # noqa: SIM115  closed by end()
        process = subprocess.Popen(
            self._command, cwd=PROJECT_ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=complaints
        )
        if process.stdin is None or process.stdout is None:
            raise RuntimeError("a process that was asked for pipes has none")
        self._fed = 0
        self._child = _Child(process, process.stdin, process.stdout, complaints)
        return self._child

    def _answers(self, child: _Child) -> bool:
        """Whether something is to be read, be it the end, before it counts as hung."""
        with selectors.DefaultSelector() as selector:
            selector.register(child.outcomes, selectors.EVENT_READ)
            return bool(selector.select(self._hung_seconds) or selector.select(_SECOND_LOOK))

    def _death(self, child: _Child) -> Outcome:
        status = child.process.wait()
        child.complaints.seek(0)
        trace = child.complaints.read().decode(errors="replace")
        self.end()
        return Outcome("", f"died of {_cause(status)}{_place(trace)}", 0.0, 0.0)

    def end(self) -> None:
        """Stop the process; the next file starts another."""
        if self._child is None:
            return
        self._child.process.kill()
        self._child.process.wait()
        for stream in (self._child.files, self._child.outcomes, self._child.complaints):
            with contextlib.suppress(BrokenPipeError):
                stream.close()
        self._child = None


def _cause(status: int) -> str:
    return f"signal {-status}" if status < 0 else f"exit status {status}"


def _place(trace: str) -> str:
    """`` in load (ImageFile.py)`` from the innermost frame that faulthandler has written, or nothing."""
    frames = [line.strip() for line in trace.splitlines() if line.strip().startswith('File "')]
    if not frames:
        return ""
    file, _, function = frames[0].rpartition(" in ")
    path = file.split('"')[1]
    return f" in {function} ({Path(path).name})"
