"""What the workshop's commands share: errors as one sentence, inputs looked at before use, files written whole.

A command module ends with ``if __name__ == "__main__": run_command(main)``. Exit codes: 0 done, 1 a verdict that
fails, 2 the command could not do its work.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NoReturn

from app.errors import AnimeBoothError

FAILED: Final = 1
"""Exit code of a verdict that fails."""

BROKEN: Final = 2
"""Exit code where the command could not do its work; argparse uses it for its own errors too."""

_SIGNALLED: Final = 128

INTERRUPTED: Final = _SIGNALLED + signal.SIGINT
TERMINATED: Final = _SIGNALLED + signal.SIGTERM
"""Exit codes after Ctrl-C and after being told to end, as shells have them."""

MOST_BYTES: Final = 512 << 20
"""Largest model file taken, in bytes: the largest AnimeGAN file known is 17 MB."""

# First line of what Git leaves in place of a large file it has not fetched (git-lfs specification, version 1).
_LFS_POINTER: Final = b"version https://git-lfs.github.com/spec/"


class _Terminated(KeyboardInterrupt):
    """SIGTERM. Not SystemExit, which libraries that run a function many times take for a fault of that function."""


class ToolError(Exception):
    """A command cannot go on. ``str(error)`` is one sentence for the person at the keyboard."""


def run_command(main: Callable[[], int | None]) -> NoReturn:
    """Run ``main`` and end the process with its exit code (None: 0).

    ToolError, the service's own errors, and what the system says of files become one sentence on standard error and
    exit code 2. Anything else is a bug and keeps its trace. A process that is told to end clears up first, as with
    Ctrl-C.
    """
    signal.signal(signal.SIGTERM, _end)
    sys.exit(_exit_code(main))


def _end(_number: int, _frame: object) -> NoReturn:
    raise _Terminated


def _exit_code(main: Callable[[], int | None]) -> int:
    try:
        return main() or 0
    except (ToolError, AnimeBoothError) as error:
        sentence = str(error)
    except BrokenPipeError:
        # The reader has gone (`| head`). Python would complain once more while it closes standard output.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except OSError as error:
        sentence = _system_sentence(error)
    except _Terminated:
        return TERMINATED
    except KeyboardInterrupt:
        return INTERRUPTED
    print(f"error: {sentence}", file=sys.stderr)
    return BROKEN


def _system_sentence(error: OSError) -> str:
    why = error.strerror or str(error)
    return f"{error.filename}: {why}." if error.filename else f"{why}."


def whole_number(least: int) -> Callable[[str], int]:
    """A reader of whole numbers of at least ``least`` for argparse, which makes a sentence of what it raises."""

    def read(text: str) -> int:
        number = int(text) if text.isascii() and text.isdigit() else least - 1
        if number < least:
            raise argparse.ArgumentTypeError(f"“{text}” must be a whole number of at least {least}")
        return number

    return read


def check_file(path: Path, *, most_bytes: int = MOST_BYTES) -> Path:
    """``path``, if there is a file to read that is neither empty, nor a Git LFS pointer, nor above ``most_bytes``.

    Looks at no more than the first bytes. Raises ToolError with what is wrong.
    """
    if not path.exists():
        raise ToolError(f"{path} is missing.")
    if not path.is_file():
        raise ToolError(f"{path} is not a file.")
    size = path.stat().st_size
    if size == 0:
        raise ToolError(f"{path} is empty.")
    if size > most_bytes:
        raise ToolError(f"{path} has {size >> 20} MiB, and at most {most_bytes >> 20} MiB are read.")
    with path.open("rb") as file:
        if file.read(len(_LFS_POINTER)) == _LFS_POINTER:
            raise ToolError(f"{path} is a Git LFS pointer, not the file itself: run `git lfs pull`.")
    return path


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Give a place to write ``path``'s content to; it becomes ``path`` if the block ends well, and is gone if not.

    The place has ``path``'s name in a hidden folder beside it, so that it lies on the same file system (os.replace
    is atomic there) and keeps its suffix. Folders on the way are made.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".part-") as folder:
        part = Path(folder) / path.name
        yield part
        part.replace(path)
