"""``python -m app models``: list | pull | add | verify | remove. Sentences go to standard error, errors end with 2."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NoReturn, get_args

import click

from app.config import PROJECT_ROOT, SettingError, Settings
from app.errors import AnimeBoothError, ModelError
from app.inference.card import LEAST_FACE_SIZE, ChannelOrder, Kind, Layout, ModelCard
from app.inference.cpu import usable_cpus
from app.inference.registry import ModelRegistry, Style
from app.library.adding import add_style, sample_photos, scenery
from app.library.card_file import About
from app.library.catalogue import CATALOGUE_FILE, Entry, RemoteFile, read_catalogue
from app.library.checkup import check_up
from app.library.given import about_from, wishes_from
from app.library.inspection import Wishes
from app.library.pull import pull_files
from app.library.shelf import remove_if_empty, remove_style
from app.library.transfer import Progress
from app.types import StyleId

FAILED: Final = 2


@click.group()
def models() -> None:
    """Find, fetch, add, check and remove styles."""


@models.command("list")
def list_() -> None:
    """Show the styles that are here and the networks that can be pulled."""
    with _one_sentence():
        registry, catalogue = ModelRegistry.read(_models_dir()), _catalogue()
        click.echo("Here:")
        for style in registry.styles.values():
            _show_style(style)
        for name, reason in registry.lost.items():
            click.echo(f"  {name:28} lost: {reason}")
        click.echo("\nFor `models pull`:")
        for entry in catalogue.values():
            _show_entry(entry, here=entry.id in registry.styles)


def _show_style(style: Style) -> None:
    card = style.card
    origin = "added" if style.added else "built in"
    click.echo(f"  {card.id:28} {origin}, {card.kind}, {_use(card)}: {card.title['en']}")
    if style.reason is not None:
        click.echo(f"  {'':28} unavailable: {style.reason}")


def _show_entry(entry: Entry, *, here: bool) -> None:
    how = "here already" if here else _how(entry)
    click.echo(f"  {entry.id:28} {how}, {entry.kind}, {_use(entry)}: {entry.title['en']}")
    click.echo(f"  {'':28} {entry.licence.sentence}")


def _how(entry: Entry) -> str:
    if entry.by_hand:
        return "by hand"
    return "a style at once" if entry.format == "onnx" else f"to be converted from {entry.format}"


def _use(of: ModelCard | Entry) -> str:
    return "any use" if of.commercial else "non-commercial"


@models.command()
@click.argument("model", metavar="ID")
@click.option("--accept-changed", is_flag=True, help="Take a file that differs from the one that came first.")
def pull(model: str, accept_changed: bool) -> None:
    """Fetch a network of the catalogue from its author, check it and, where it is ONNX, add it as a style."""
    with _one_sentence():
        models_dir, entry = _models_dir(), _entry(model)
        if entry.id in ModelRegistry.read(models_dir).styles:
            click.echo(f"Style {entry.id} is here already.", err=True)
            return
        click.echo(entry.licence.sentence, err=True)
        with _bars() as bars:
            files = pull_files(models_dir, entry, bars, tell=_say, accept_changed=accept_changed)
        if entry.format == "onnx":
            _add_pulled(models_dir, entry, files[0])
        else:
            _say(_next_step(entry, files))


def _add_pulled(models_dir: Path, entry: Entry, file: Path) -> None:
    try:
        _add(models_dir, file, entry.about(scenery(models_dir)), entry.wishes)
    except ModelError as error:
        raise ModelError(f"{error.reason} The file is kept as {file}.") from error
    # The style has a copy of its own.
    file.unlink(missing_ok=True)
    remove_if_empty(file.parent)


def _next_step(entry: Entry, files: list[Path]) -> str:
    first = files[0]
    if entry.format == "tensorflow":
        return (
            f"{first.parent} holds a TensorFlow 1 checkpoint: freeze it with its author's script, make an ONNX file of "
            "the .pb with `python -m tools.convert_checkpoint`, and a style of that with "
            f"`python -m app models add FILE.onnx --as {entry.id}`."
        )
    return (
        f"{first} is a PyTorch checkpoint. `python -m tools.convert_checkpoint {first}` makes an ONNX file of it, and "
        f"`python -m app models add FILE.onnx --as {entry.id}` a style of that."
    )


@contextmanager
def _bars() -> Iterator[Callable[[RemoteFile], Progress]]:
    """Draws a progress bar for each file, from its first bytes on. Whatever happens, the cursor comes back."""
    bars: dict[str, Any] = {}

    def start(file: RemoteFile) -> Progress:
        def progress(arrived: int, whole: int | None) -> None:
            if file.name not in bars:
                bars[file.name] = click.progressbar(length=whole or 1, label=file.name, file=sys.stderr)
            bar = bars[file.name]
            bar.length = whole or arrived
            bar.update(arrived - bar.pos)
            if arrived == whole:
                bars.pop(file.name).render_finish()

        return progress

    try:
        yield start
    finally:
        for bar in bars.values():
            bar.render_finish()


_ADD_OPTIONS: Final = (
    click.option("--as", "model", metavar="ID", help="Take title, licence and the like from the catalogue."),
    click.option("--id", "style", help="What `style=` takes. Default: made of the file's name."),
    click.option("--title", help="Name, for all languages."),
    click.option("--description", help="One sentence, for all languages."),
    click.option("--kind", type=click.Choice(get_args(Kind)), help="For whole pictures, or for face crops."),
    click.option("--surroundings", metavar="ID", help="Of a face style: the scene style outside the faces."),
    click.option("--family", help="Architecture, for people."),
    click.option("--source", metavar="URL", help="Where it is from."),
    click.option("--licence", metavar="SPDX", help="SPDX id of its licence, or LicenseRef-NAME."),
    click.option("--licence-sentence", help="The licence in one sentence."),
    click.option("--commercial/--non-commercial", default=None, help="Whether commercial use is allowed."),
    click.option("--face-size", type=click.IntRange(LEAST_FACE_SIZE), help="Best side of a face crop, in px."),
    click.option("--layout", type=click.Choice(get_args(Layout))),
    click.option("--output-name", help="Which output is the picture."),
    click.option("--input-range", type=float, nargs=2, metavar="LOW HIGH", help="What 0 and 255 are to the network."),
    click.option("--output-range", type=float, nargs=2, metavar="LOW HIGH", help="What 0 and 255 are in its answer."),
    click.option("--channel-order", type=click.Choice(get_args(ChannelOrder))),
    click.option("--multiple-of", type=click.IntRange(1), help="Sides must be multiples of this, in px."),
    click.option("--minimum", type=click.IntRange(1), help="Least side, in px."),
    click.option("--local/--not-local", default=None, help="Whether tiles with a halo give the whole's pixels."),
    click.option("--halo", type=click.IntRange(0), help="Px a pixel depends on, or px of a tile's rim to drop."),
)


def _with_add_options(command: Callable[..., None]) -> Callable[..., None]:
    for option in reversed(_ADD_OPTIONS):
        command = option(command)
    return command


@models.command()
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@_with_add_options
def add(file: Path, **given: Any) -> None:
    """Add an ONNX (or ORT) file of your own as a style: all its card needs is found out; options override."""
    with _one_sentence():
        models_dir = _models_dir()
        entry = None if given["model"] is None else _entry(given["model"])
        _add(models_dir, file, about_from(given, models_dir, file, entry), wishes_from(given, entry))


def _add(models_dir: Path, file: Path, about: About, wishes: Wishes) -> None:
    card = add_style(
        models_dir,
        file,
        about,
        sample_photos(PROJECT_ROOT / "static"),
        threads=usable_cpus(),
        wishes=wishes,
        tell=lambda finding: click.echo(str(finding)),
    )
    around = f", with {card.surroundings} around the faces" if card.surroundings else ""
    _say(f"Added style {card.id} ({card.kind}{around}). A running service offers it after its next start.")


@models.command()
def verify() -> None:
    """Check the files of every style and let each draw once."""
    with _one_sentence():
        results = []
        for checked in check_up(_models_dir(), threads=usable_cpus()):
            click.echo(f"{checked.name:32} {checked.fault or 'ok'}")
            results.append(checked)
        bad = [checked.name for checked in results if checked.fault is not None]
        if bad:
            raise ModelError(f"{len(bad)} of {len(results)} cannot be used: {', '.join(bad)}.")


@models.command()
@click.argument("style", metavar="ID")
def remove(style: StyleId) -> None:
    """Remove an added style."""
    with _one_sentence():
        remove_style(_models_dir(), style)
        _say(f"Removed style {style}. A running service drops it at its next start.")


def _models_dir() -> Path:
    return Settings.from_environment().models_dir


def _catalogue() -> Mapping[StyleId, Entry]:
    # Part of the program, not of a models folder that someone else fills; a folder may bring its own all the same.
    own = _models_dir() / CATALOGUE_FILE
    return read_catalogue(own if own.is_file() else PROJECT_ROOT / "models" / CATALOGUE_FILE)


def _entry(model: str) -> Entry:
    catalogue = _catalogue()
    if model not in catalogue:
        raise ModelError(f"The catalogue has no {model}. It has: {', '.join(catalogue)}.")
    return catalogue[model]


def _say(sentence: str) -> None:
    click.echo(sentence, err=True)


@contextmanager
def _one_sentence() -> Iterator[None]:
    """What goes wrong inside is told in one sentence, and the program ends with 2."""
    try:
        yield
    except (AnimeBoothError, SettingError) as error:
        _stop(str(error))
    except OSError as error:
        _stop(f"{error.filename or 'A file'} cannot be used: {error.strerror or error}.")
    except KeyboardInterrupt:
        _stop("Stopped. What has arrived of a file is kept, and the next `models pull` goes on with it.")


def _stop(sentence: str) -> NoReturn:
    click.echo(f"\n{sentence}" if sentence.startswith("Stopped") else sentence, err=True)
    sys.exit(FAILED)
