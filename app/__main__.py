"""The command line: ``python -m app convert | models | serve | styles``."""

from __future__ import annotations

import logging
import os
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from stat import S_ISREG
from typing import Final, Literal, NoReturn, TypeAlias, get_args

import click

from app.batch import Job, Names, find_jobs, write_whole
from app.config import PROJECT_ROOT, SettingError, Settings
from app.engine import ConvertOptions, Engine
from app.errors import AnimeBoothError, InvalidOption, UnsupportedImage
from app.imaging.encode import FILE_SUFFIXES, answer_format
from app.imaging.sniff import sniff
from app.library.commands import models
from app.options import FACE_MODES, FORMATS, parse_options
from app.types import ImageFormat, UploadFormat

Outcome: TypeAlias = Literal["converted", "kept", "skipped", "failed"]

STANDARD_STREAM: Final = "-"
DEFAULT_PORT: Final = "8000"

_FORMATS_BY_SUFFIX: Final[dict[str, ImageFormat]] = {
    **{suffix: format for format, suffix in FILE_SUFFIXES.items()},
    ".jpeg": "jpeg",
}
_SNIFFED_BYTES: Final = 4096


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Turn photos into anime pictures on an ordinary CPU."""
    logging.basicConfig(level=logging.WARNING, format="%(message)s")


@dataclass
class Report:
    """What became of each file of one run."""

    counts: Counter[Outcome] = field(default_factory=Counter)
    lines: list[str] = field(default_factory=list)

    def add(self, outcome: Outcome, source: Path | str, why: str = "") -> None:
        """Count ``outcome``; with a reason, keep a line for the end."""
        self.counts[outcome] += 1
        if why:
            self.lines.append(f"{outcome}: {source}: {why}")

    @property
    def exit_code(self) -> int:
        """1 if anything failed or nothing came of it at all."""
        done = self.counts["converted"] + self.counts["kept"]
        return 0 if done and not self.counts["failed"] else 1

    def print(self) -> None:
        """Every reason, then the sums, on standard error: standard output is for pictures."""
        for line in self.lines:
            click.echo(line, err=True)
        sums = [f"{self.counts[outcome]} {outcome}" for outcome in get_args(Outcome) if self.counts[outcome]]
        click.echo(", ".join(sums) or "no files", err=True)


@main.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("-o", "--out", type=click.Path(path_type=Path), help="Folder, or file for a single picture.")
@click.option("--style", help="Style id; see `styles`.")
@click.option("--face", type=click.Choice(FACE_MODES), help="Treat faces on their own, not at all, or portrait only.")
@click.option("--size", help="Longest side in pixels, or `original`.")
@click.option("--strength", help="0 to 100 per cent of the style.")
@click.option("--format", "format_", type=click.Choice(FORMATS), help="Kind of the answers; default: as the upload.")
@click.option("--quality", help="1 to 100 for JPEG, WebP and AVIF.")
@click.option("--force", is_flag=True, help="Overwrite answers that exist.")
def convert(
    paths: tuple[str, ...],
    out: Path | None,
    style: str | None,
    face: str | None,
    size: str | None,
    strength: str | None,
    format_: str | None,
    quality: str | None,
    force: bool,
) -> None:
    """Convert files and folders (searched to the bottom). `-` reads standard input and writes standard output."""
    engine = _engine()
    given = {"style": style, "face": face, "size": size, "strength": strength, "format": format_, "quality": quality}
    options = _options({name: text for name, text in given.items() if text is not None}, engine)
    _start(engine)
    if STANDARD_STREAM in paths:
        _convert_stream(engine, options, paths, out, force)
        return
    report = _convert_files(engine, options, [Path(path) for path in paths], out, force)
    report.print()
    sys.exit(report.exit_code)


def _convert_stream(
    engine: Engine, options: ConvertOptions, paths: tuple[str, ...], out: Path | None, force: bool
) -> None:
    if len(paths) > 1:
        raise click.UsageError("`-` stands alone: one picture comes in and one goes out.")
    if out is not None and out.exists() and not force:
        _stop(f"{out} exists; --force overwrites it.")
    try:
        answer = engine.convert_with(sys.stdin.buffer.read(), _named_format(options, out)).image
        if out is not None:
            write_whole(out, answer)
    except AnimeBoothError as error:
        _stop(str(error))
    except OSError as error:
        _stop(f"{out}: {_why(error)}")
    if out is None:
        sys.stdout.buffer.write(answer)
        sys.stdout.buffer.flush()


def _convert_files(engine: Engine, options: ConvertOptions, paths: list[Path], out: Path | None, force: bool) -> Report:
    single = _single_target(paths, out)
    options = _named_format(options, single)
    report, names = Report(), Names()
    jobs = find_jobs(paths, None if single else out, lambda error: report.add("failed", error.filename, _why(error)))
    with click.progressbar(jobs, label="Converting", file=sys.stderr) as bar:
        for job in bar:
            _convert_one(engine, options, job, names, report, force=force, target=single)
    return report


def _single_target(paths: list[Path], out: Path | None) -> Path | None:
    """``out`` where it is a file for the one picture named; a name with a suffix is taken for a file."""
    if out is None or len(paths) != 1 or paths[0].is_dir() or out.is_dir() or not out.suffix:
        return None
    return out


def _named_format(options: ConvertOptions, target: Path | None) -> ConvertOptions:
    """``options`` with the format that the answer's name tells, where they leave it open."""
    if options.format is not None or target is None:
        return options
    return replace(options, format=_FORMATS_BY_SUFFIX.get(target.suffix.lower()))


def _convert_one(
    engine: Engine,
    options: ConvertOptions,
    job: Job,
    names: Names,
    report: Report,
    *,
    force: bool,
    target: Path | None,
) -> None:
    try:
        data, kind = _read(job)
        suffix = FILE_SUFFIXES[options.format or answer_format(kind)]
        target = target or names.target(job, suffix)
        if target.exists() and not force:
            report.add("failed" if job.named else "kept", job.source, f"{target} exists; --force overwrites it")
            return
        write_whole(target, engine.convert_with(data, options).image)
    except UnsupportedImage as error:
        report.add("skipped", job.source, str(error))
    except AnimeBoothError as error:
        report.add("failed", job.source, str(error))
    except OSError as error:
        report.add("failed", job.source, _why(error))
    else:
        report.add("converted", job.source)


def _read(job: Job) -> tuple[bytes, UploadFormat]:
    """The file and its kind. Raises UnsupportedImage, with no more than its beginning read: films lie beside photos."""
    if not job.named and not S_ISREG(job.source.stat().st_mode):
        # A pipe or a device, which may never end.
        raise UnsupportedImage
    with job.source.open("rb") as file:
        start = file.read(_SNIFFED_BYTES)
        kind = sniff(start)
        if kind is None:
            raise UnsupportedImage
        return start + file.read(), kind


@main.command()
def styles() -> None:
    """List the styles, their licences and whether they can be used here."""
    for info in _engine().styles():
        use = "any use" if info.card.commercial else "non-commercial use"
        click.echo(f"{info.card.id:12} {info.card.title['en']} ({info.card.kind}, {use})")
        click.echo(f"{'':12} {info.card.licence.sentence}")
        if not info.usable:
            click.echo(f"{'':12} {info.state}")


@main.command()
@click.option("--port", envvar="PORT", default=DEFAULT_PORT, show_default=True, help="Port to listen on.")
def serve(port: str) -> NoReturn:
    """Serve the page and the API with gunicorn."""
    environment = os.environ | {"PORT": port}
    os.chdir(PROJECT_ROOT)
    # The same gunicorn as this Python's own: a process of its own, so that signals reach it directly.
    os.execve(sys.executable, [sys.executable, "-m", "gunicorn", "wsgi:app"], environment)  # noqa: S606


def _engine() -> Engine:
    # Whoever calls ``main`` may hand over how an engine is made.
    make: Callable[[], Engine] = click.get_current_context().find_root().obj or _uncached_engine
    try:
        return make()
    except (AnimeBoothError, SettingError) as error:
        _stop(str(error))


def _uncached_engine() -> Engine:
    # Hardly any file comes twice in one run, and nobody waits for the next run's.
    return Engine.from_settings(replace(Settings.from_environment(), cache_mib=0))


def _start(engine: Engine) -> None:
    try:
        engine.start(warm=False)
    except AnimeBoothError as error:
        _stop(str(error))


def _options(given: dict[str, str], engine: Engine) -> ConvertOptions:
    try:
        return parse_options(given, [info.card.id for info in engine.styles()])
    except InvalidOption as error:
        raise click.UsageError(str(error)) from error


def _why(error: OSError) -> str:
    return error.strerror or str(error)


def _stop(sentence: str) -> NoReturn:
    click.echo(sentence, err=True)
    sys.exit(1)


main.add_command(models)


if __name__ == "__main__":
    main(prog_name="python -m app")
