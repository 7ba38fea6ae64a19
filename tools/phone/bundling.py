"""A whole bundle: made, tried, and described."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from app.inference.cpu import usable_cpus
from app.inference.processor import processor_kind
from app.inference.session import OrtSession
from app.types import RgbImage, Session, Tensor
from tools.command import ToolError
from tools.phone.examples import Example, write_examples
from tools.phone.guides import guided, write_pages
from tools.phone.making import Source, fixed_networks, ncnn_models, onnx_models, openvino_models, ort_models
from tools.phone.manifest import Bundle, manifest
from tools.phone.parts import LeftOut, PhoneModel
from tools.phone.pictures import color_chart, covering, trial_pictures
from tools.phone.sizes import Size
from tools.phone.threads import thread_counts
from tools.phone.trial import Trial, fixed_card, try_models
from tools.pictures import DEFAULT_FOLDERS, find_photos, load_photos
from tools.shrink.panel import feeds

CALIBRATION_PHOTOS: Final = 16
TRIAL_PHOTOS: Final = 3

LEAST_LOADED: Final = 256
"""Pixels of the longest side at which photos are loaded, however small the sizes: less tells nothing of a photo."""

EXAMPLE_PHOTO: Final = "astronaut.jpg"
"""Of the sample photos: NASA's portrait of Eileen Collins, in the public domain; a face, as some styles want one."""

MANIFEST: Final = "model.json"

Say = Callable[[str], None]
Maker = Callable[[Path], list[PhoneModel]]


def make_bundle(source: Source, sizes: Sequence[Size], folder: Path, *, photos: Sequence[Path], say: Say) -> Bundle:
    """Fill the empty ``folder`` with ``source`` for ``sizes``.

    photos: folders of them, for calibration. say: told what happens, in sentences. Raises ToolError or ModelError where
    no bundle can be made; what merely cannot be part of it is in the bundle's ``left_out``.
    """
    reference = OrtSession(source.precisions[source.first], source.card, threads=usable_cpus())
    models, left_out = _make(source, sizes, folder, photos, say)
    say("Running every file here ...")
    tried = _try(source, reference, models, sizes)
    kept, misses = _drop_failures(models, tried)
    trials = [trial for trial in tried if trial.model in kept]
    bundle = Bundle(
        card=source.card,
        sizes=sizes,
        models=kept,
        trials=trials,
        examples=_examples(source, reference, sizes[0], folder / "examples"),
        left_out=[*left_out, *misses],
        curve=_curve(kept, trials, sizes[0]),
        processor=processor_kind(),
    )
    _describe(bundle, folder)
    return bundle


def _make(
    source: Source, sizes: Sequence[Size], folder: Path, photos: Sequence[Path], say: Say
) -> tuple[list[PhoneModel], list[str]]:
    networks = fixed_networks(source, sizes)
    models = onnx_models(source, networks, folder / "onnx")
    onnx_made = tuple(models)
    calibration = partial(_calibration, source, photos, sizes[0])
    makers: dict[str, Maker] = {
        "ort": lambda place: ort_models(source, onnx_made, place),
        "openvino": lambda place: openvino_models(source, onnx_made, place),
        "ncnn": lambda place: ncnn_models(source, networks, sizes, calibration, place),
    }
    left_out = []
    for name, make in makers.items():
        say(f"Making {name} ...")
        try:
            models += make(folder / name)
        except LeftOut as reason:
            shutil.rmtree(folder / name, ignore_errors=True)
            left_out.append(f"{name}: {reason}")
    return models, left_out


def _calibration(source: Source, folders: Sequence[Path], size: Size) -> list[Tensor]:
    photos = _loaded(find_photos(tuple(folders), limit=CALIBRATION_PHOTOS), size)
    in_planes = replace(fixed_card(source.card, size), layout="NCHW")
    return feeds(in_planes, (covering(photo, size) for photo in photos))


def _loaded(paths: list[Path], size: Size) -> Iterator[RgbImage]:
    # Twice the longest side, since the middle is cut out of it.
    return (photo.rgb for photo in load_photos(paths, max(2 * max(size), LEAST_LOADED)))


def _try(source: Source, reference: Session, models: Sequence[PhoneModel], sizes: Sequence[Size]) -> list[Trial]:
    photos = list(_loaded(find_photos(DEFAULT_FOLDERS[:1], limit=TRIAL_PHOTOS), sizes[-1]))
    pictures = {size: trial_pictures(photos, size) for size in sizes}
    return list(try_models(source.card, reference, models, pictures, thread_counts(usable_cpus())))


def _drop_failures(models: Sequence[PhoneModel], trials: Sequence[Trial]) -> tuple[list[PhoneModel], list[str]]:
    """The models that passed everywhere, and a sentence for each failure. The files of the others are deleted."""
    failures = [trial for trial in trials if trial.failed]
    failed = [trial.model for trial in failures]
    for model in models:
        if model in failed:
            for path in model.files:
                path.unlink()
    kept = [model for model in models if model not in failed]
    if not kept:
        raise ToolError(
            f"Nothing made from this network draws what it draws: {failures[0].name}: {failures[0].failed[0]}."
        )
    return kept, [_sentence(trial) for trial in failures]


def _sentence(trial: Trial) -> str:
    return f"{trial.name}: {', '.join(trial.failed)}."


def _curve(models: Sequence[PhoneModel], trials: Sequence[Trial], size: Size) -> Mapping[int, float]:
    model = guided(models)
    return next(trial.milliseconds for trial in trials if trial.model == model and trial.size == size)


def _examples(source: Source, reference: Session, size: Size, folder: Path) -> list[Example]:
    photo = DEFAULT_FOLDERS[0] / EXAMPLE_PHOTO
    pictures: dict[str, RgbImage] = {"chart": color_chart(size)}
    if photo.is_file():
        pictures["photo"] = covering(next(_loaded([photo], size)), size)
    return write_examples(source.card, reference, pictures, size, folder)


def _describe(bundle: Bundle, folder: Path) -> None:
    write_pages(bundle, folder)
    text = json.dumps(manifest(bundle, folder), indent=2, ensure_ascii=False, allow_nan=False)
    (folder / MANIFEST).write_text(f"{text}\n", encoding="utf-8")
