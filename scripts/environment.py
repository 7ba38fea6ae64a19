"""Makes ``.venv`` fit the requirement files, once; names the system libraries that are missing, or installs them.

    python3 scripts/environment.py [--browser] [--redis] requirements.txt [requirements-dev.txt]

Needs Python's standard library only: it runs before anything is installed.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

PROJECT_ROOT = Path(__file__).resolve().parent.parent
PYTHONS = ((3, 11), (3, 13))
"""The first and the last version of Python that every package we need has wheels for."""

LIBRARIES = {
    "libGL.so.1": "libgl1",
    "libgthread-2.0.so.0": "libglib2.0-0",
    "libEGL.so.1": "libegl1",
    "libGLESv2.so.2": "libgles2",
}
"""What the wheels of OpenCV (the first two) and MediaPipe (the others) load from the system, and Debian's packages."""

FOR_FACES_ONLY = ("libegl1", "libgles2")
"""Without these the service runs, but finds no faces."""

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


class SetupError(Exception):
    """Setting up cannot go on; the message tells a person what to do."""


def main(arguments: Sequence[str]) -> int:
    """Set up and return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("requirements", nargs="+", type=Path, help="pinned packages; each file builds on the last")
    parser.add_argument("--browser", action="store_true", help="see to a Chromium as well")
    parser.add_argument("--redis", action="store_true", help="see to a redis-server as well")
    options = parser.parse_args(arguments)
    try:
        check_python()
        need_system_packages(missing_libraries(), optional=FOR_FACES_ONLY)
        if options.browser and not any(map(shutil.which, BROWSERS)):
            need_system_packages(["chromium"])
        if options.redis and not shutil.which("redis-server"):
            need_system_packages(["redis-server"])
        install(PROJECT_ROOT / ".venv", options.requirements)
    except SetupError as error:
        say(str(error))
        return 1
    return 0


def say(text: str) -> None:
    """For the person at the terminal."""
    sys.stderr.write(f"{text}\n")


def check_python() -> None:
    """Raise SetupError unless this Python is one of those supported."""
    first, last = PYTHONS
    if not first <= sys.version_info[:2] <= last:
        raise SetupError(f"AnimeBooth needs Python {first[0]}.{first[1]} to {last[0]}.{last[1]}.")


# --- system packages ---


def missing_libraries(load: Callable[[str], object] = ctypes.CDLL) -> list[str]:
    """Debian's names of the packages whose libraries cannot be loaded. Linux only; elsewhere wheels bring their own."""
    if sys.platform != "linux":
        return []
    return [package for library, package in LIBRARIES.items() if not _loads(library, load)]


def _loads(library: str, load: Callable[[str], object]) -> bool:
    try:
        load(library)
    except OSError:
        return False
    return True


def need_system_packages(packages: Sequence[str], optional: Sequence[str] = ()) -> None:
    """Install Debian packages where this process may, else name them. Raises SetupError if it cannot go on without."""
    if not packages or (may_use_apt() and apt_install(packages)):
        return
    advice = f"Missing system packages: {' '.join(packages)}. On Debian, Ubuntu and Raspberry Pi OS:\n"
    advice += f"    sudo apt-get install {' '.join(packages)}"
    if not set(packages) <= set(optional):
        raise SetupError(advice)
    say(f"{advice}\nGoing on without: faces will not be found.")


def may_use_apt() -> bool:
    """Whether this is root on a Debian-like system."""
    return os.geteuid() == 0 and shutil.which("apt-get") is not None


def apt_install(packages: Sequence[str]) -> bool:
    """Whether apt-get could install ``packages``; what it said is shown only if it could not."""
    say(f"Installing system packages: {' '.join(packages)}")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    install = ["apt-get", "install", "-y", "--no-install-recommends", *packages]
    return all(run_quietly(command, environment) for command in (["apt-get", "update"], install))


# --- Python packages ---


def install(folder: Path, requirements: Sequence[Path]) -> None:
    """Make the virtual environment ``folder`` hold just what ``requirements`` pin. Does nothing if it does already.

    Several of these may run at once: one works, the others wait and find it done. What was interrupted is done anew.
    Raises SetupError.
    """
    with _alone():
        wanted = digests(requirements)
        done = installed(folder)
        if wanted[-1] in done:
            return
        # Only what builds on a finished installation is added to it; anything else might leave old packages behind.
        if wanted[0] not in done:
            create(folder)
        _stamp(folder).unlink(missing_ok=True)
        pip_install(folder, requirements)
        _stamp(folder).write_text("\n".join(wanted), encoding="ascii")


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    with Path(__file__).open("rb") as own_file:
        fcntl.flock(own_file, fcntl.LOCK_EX)
        yield


def _stamp(folder: Path) -> Path:
    return folder / "installed"


def digests(requirements: Sequence[Path]) -> list[str]:
    """One digest per file, of its contents and those of all files before it."""
    digest = hashlib.sha256()
    found = []
    for path in requirements:
        digest.update(path.read_bytes())
        found.append(digest.hexdigest())
    return found


def installed(folder: Path) -> list[str]:
    """The digests of what is completely installed in ``folder``; none where its Python does not run any more."""
    stamp = _stamp(folder)
    if not stamp.is_file() or not run_quietly([str(python_of(folder)), "-c", ""], dict(os.environ), show=False):
        return []
    return stamp.read_text(encoding="ascii").split()


def python_of(folder: Path) -> Path:
    """The environment's own Python."""
    return folder / "bin" / "python"


def create(folder: Path) -> None:
    """Make an empty virtual environment, with the Python that runs this. Raises SetupError."""
    say(f"Making {folder.name} with Python {sys.version_info.major}.{sys.version_info.minor}")
    try:
        import ensurepip  # noqa: F401
    except ImportError:
        # Debian ships it apart.
        need_system_packages([f"python{sys.version_info.major}.{sys.version_info.minor}-venv"])
    if not run_quietly([sys.executable, "-m", "venv", "--clear", str(folder)], dict(os.environ)):
        raise SetupError(f"{folder.name} could not be made.")


def pip_install(folder: Path, requirements: Sequence[Path]) -> None:
    """Install what the files pin. Raises SetupError."""
    say("Installing Python packages. The first time this takes a few minutes.")
    files = [argument for path in requirements for argument in ("--requirement", str(path))]
    command = [str(python_of(folder)), "-m", "pip", "install", "--disable-pip-version-check", "--no-input", *files]
    if not run_quietly(command, {**os.environ, "PIP_ROOT_USER_ACTION": "ignore"}):
        raise SetupError("The Python packages could not be installed. Is the package index within reach?")


def run_quietly(command: Sequence[str], environment: dict[str, str], *, show: bool = True) -> bool:
    """Whether ``command`` succeeded. What it printed is shown, on request, only when it did not."""
    try:
        done = subprocess.run(  # noqa: S603
            command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
    except OSError as error:
        done = subprocess.CompletedProcess(command, 1, str(error).encode())
    if done.returncode and show:
        say(done.stdout.decode(errors="replace"))
    return done.returncode == 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
