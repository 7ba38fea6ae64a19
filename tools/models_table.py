"""What networks cost and lose, as one table: ``python -m tools.models_table BENCHMARK.csv ... VERDICT.json ...``.

Joins the CSV of tools.benchmark_models with verdicts that tools.verify printed with --json, by the files' SHA-256, and
prints Markdown: size, milliseconds, memory, and what each file lost against the one that judged it. Of benchmarks made
again the best figures count.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from tools.bench.joined import joined_table, read_files
from tools.command import run_command


def main(arguments: list[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.models_table",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="benchmark.csv or a verdict as .json")
    print("\n".join(joined_table(*read_files(parser.parse_args(arguments).files))))


if __name__ == "__main__":
    run_command(main)
