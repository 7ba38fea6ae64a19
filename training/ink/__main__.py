"""Teach a small network AnimeBooth's own style: ``python -m training.ink --photos DIR --out DIR``.

What is learnt from is the chain in this package, no network; the weights that come of it are free for any use. Called
again with the same options it goes on where it stopped. Exit code: 0 done, 2 the command could not do its work.
"""

from __future__ import annotations

import argparse
import hashlib
from pathlib import Path

from tools.command import run_command
from training.ink import draw
from training.teaching import Lesson, add_options, teach


def main(arguments: list[str] | None = None) -> int:
    """The command; its exit code."""
    parser = argparse.ArgumentParser(prog="python -m training.ink", description=__doc__)
    add_options(parser)
    return teach(Lesson(draw, f"ink {_version()}", faces=False, options=parser.parse_args(arguments)))


def _version() -> str:
    """SHA-256 of the chain's sources: drawings of another version are not mixed in."""
    sources = sorted(path for path in Path(__file__).parent.glob("*.py") if path.name != Path(__file__).name)
    return hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()


if __name__ == "__main__":
    run_command(main)
