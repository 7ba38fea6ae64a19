"""Make a network smaller and faster: ``python -m tools.optimize MODEL --out DIR [--make KINDS] [--photos DIR]``.

MODEL is a style (``hayao``) or an FP32 model file. Every file is judged against it on photos and made gradients by the
code that serves, timed in turn with it, and written only where it meets its bars. DIR also gets NAME_optimize.json.
Exit code: 0 everything asked for was made, 1 something was refused, 2 the command could not do its work.
"""

from __future__ import annotations

from tools.command import ToolError, run_command


def main(arguments: list[str] | None = None) -> int:
    """The command; its exit code."""
    try:
        from tools.shrink.command import run
    except ModuleNotFoundError as error:
        if error.name != "onnx":
            raise
        raise ToolError("The onnx package is not installed: `pip install -r requirements-tools.txt`.") from error
    return run(__doc__, arguments)


if __name__ == "__main__":
    run_command(main)
