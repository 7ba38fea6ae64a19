"""Teach a small network what a large one draws: ``python -m training.distil --teacher FILE --photos DIR --out DIR``.

Called again with the same options it goes on where it stopped. Exit code: 0 done, 2 the command could not do its work.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from tools.command import check_file, run_command
from training.teacher import fingerprint, open_teacher
from training.teaching import Lesson, add_options, teach


def main(arguments: list[str] | None = None) -> int:
    """The command; its exit code."""
    parser = argparse.ArgumentParser(prog="python -m training.distil", description=__doc__)
    parser.add_argument("--teacher", type=Path, required=True, help="network file (.onnx) to learn from")
    parser.add_argument("--face", action="store_true", help="learn faces, cut out and turned as the service does")
    add_options(parser)
    options = parser.parse_args(arguments)
    teacher = check_file(options.teacher)
    made_by = fingerprint(teacher) + (" face" if options.face else "")
    return teach(Lesson(open_teacher(teacher), made_by, options.face, options))


if __name__ == "__main__":
    run_command(main)
