"""The parts of an engine as the settings describe it."""

from __future__ import annotations

import logging
import math
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Final

from app.caching.plan import CachePlan, plan_cache
from app.caching.results import Bounds
from app.config import SettingError, Settings
from app.imaging.decode import DecodeLimits
from app.inference.appetite import run_bytes
from app.inference.batcher import Batcher
from app.inference.card import SMALL
from app.inference.cpu import best_concurrency, usable_cpus
from app.inference.faces import DetectorUnavailable, MediaPipeDetector
from app.inference.memory import usable_memory
from app.inference.network import Network
from app.inference.processor import processor_kind
from app.inference.registry import ModelRegistry, Style
from app.inference.session import OrtSession
from app.inference.speed import seconds_a_picture
from app.inference.stylizer import Stylizer
from app.parts import ForSlow, Parts
from app.telemetry.observer import Observer
from app.types import Detector

MEBIBYTE: Final = 1024 * 1024

UPLOADS_IN_MEMORY: Final = 16
"""Uploads of the largest size, at most ..."""

UPLOADS_SHARE: Final = 0.125
"""... and this share of the process's memory."""

_log = logging.getLogger(__name__)


def parts_of(settings: Settings, observer: Observer) -> Parts:
    """What an engine by ``settings`` is made of.

    Raises ModelError for a wrong models.toml, NoUsableStyle where no file is whole, SettingError for a setting that
    does not fit.
    """
    registry = ModelRegistry.load(settings.models_dir, variant=settings.variant)
    for told in (*registry.lost.values(), *registry.notes):
        _log.warning("%s", told)
    if settings.style not in (*registry.styles, *registry.lost):
        raise SettingError(f"No style is called {settings.style!r}. Styles: {', '.join(registry.styles)}.")
    return _parts(settings, observer, registry)


def _parts(settings: Settings, observer: Observer, registry: ModelRegistry) -> Parts:
    runs = settings.concurrency or best_concurrency(usable_cpus())

    def open_detector() -> Detector:
        models = [_detector_file(registry, name) for name in ("short_range", "full_range")]
        return MediaPipeDetector(*models)

    limits = DecodeLimits(
        max_bytes=settings.max_upload_mib * MEBIBYTE,
        max_pixels=settings.max_megapixels * 1_000_000,
        max_side=settings.max_side,
    )
    usable = process_memory(settings)
    parts = Parts(
        registry=registry,
        open_style=partial(_open_style, settings, runs),
        open_detector=open_detector,
        limits=limits,
        runs=runs,
        # One decodes and encodes while others run a network.
        lanes=runs * settings.batch + 1,
        # An added style whose card has become unreadable must not keep the service from starting.
        default_style=settings.style if settings.style in registry.styles else registry.usable[0],
        default_size=settings.size,
        observer=observer,
        cache=_cache(settings, registry, limits, observer),
        together=settings.batch,
        batch_wait=settings.batch_wait_ms / 1000,
        most=settings.max_requests,
        memory=usable,
        apart=_cache_room(settings) + uploads_room(settings),
        shape_step=settings.shape_step,
    )
    return replace(parts, for_slow=_for_slow(settings, observer, parts))


def _for_slow(settings: Settings, observer: Observer, usual: Parts) -> ForSlow | None:
    """What a slow machine takes in place of the ``usual`` parts."""
    if not settings.slow_seconds or settings.variant == SMALL or not usual.registry.has_small:
        return None

    def parts() -> Parts:
        registry = ModelRegistry.read(settings.models_dir, variant=settings.variant, small=True)
        for told in sorted(set(registry.notes) - set(usual.registry.notes)):
            _log.warning("%s", told)
        return replace(_parts(settings, observer, registry), for_slow=None)

    return ForSlow(partial(_is_slow, settings, usual), parts)


def _is_slow(settings: Settings, usual: Parts) -> bool:
    """Whether the scenery of the default style, or of the first usable one, takes too long."""
    styles = usual.registry.styles
    names = [usual.default_style, *usual.registry.usable]
    sceneries = (styles[styles[name].card.surroundings or name] for name in names)
    scenery = next((style for style in sceneries if style.usable), None)
    if scenery is None:
        return False
    threads = settings.threads or usable_cpus()
    try:
        seconds = seconds_a_picture(scenery, threads=threads, provider=settings.provider)
    except Exception:
        # What is wrong with it is told, and another taken in its place, where it is built to be used.
        _log.warning("How quick this machine is could not be tried: the usual networks are used.", exc_info=True)
        return False
    slow = seconds > settings.slow_seconds
    if slow:
        # A warning, so that it is seen: the pictures are not the best there are.
        _log.warning("A picture takes %.1f s here, so smaller networks are used (ANIMEBOOTH_SLOW_SECONDS).", seconds)
    return slow


def _open_style(settings: Settings, runs: int, style: Style, batcher: Batcher) -> Stylizer:
    threads = settings.threads or usable_cpus()
    alone = OrtSession(style.path, style.card, threads=threads, provider=settings.provider)
    # Else it would run on what other networks' runs have left, and seem to take nothing.
    alone.release()
    batcher.given_back()
    appetite = run_bytes(alone, style.card)
    beside = alone
    if runs > 1:
        share = max(1, threads // runs)
        beside = OrtSession(style.path, style.card, threads=share, provider=settings.provider)
    network = Network(
        style.card.id,
        alone,
        beside,
        most=settings.batch if alone.takes_batches else 1,
        run_bytes=appetite,
        release=alone.release,
    )
    turn = partial(batcher.run, network)
    return Stylizer(style.card, alone, shape_step=settings.shape_step, in_turn=turn, run_bytes=appetite)


def process_memory(settings: Settings) -> float:
    """Bytes that the process may take: the setting's, else what this machine or container lets it have."""
    return settings.memory_mib * MEBIBYTE or usable_memory() or math.inf


def uploads_room(settings: Settings) -> int:
    """Bytes for the bodies of all uploads inside, at least two of the largest.

    Usual photos are a quarter of the largest size, so the number of requests is the bound that is met; this one keeps
    many large ones from taking a gigabyte.
    """
    largest = settings.max_upload_mib * MEBIBYTE
    return int(max(2 * largest, min(UPLOADS_IN_MEMORY * largest, UPLOADS_SHARE * process_memory(settings))))


def _cache_room(settings: Settings) -> int:
    """Bytes for what is remembered: without answers there are no drawings either."""
    return MEBIBYTE * (settings.cache_mib + settings.cache_drawings_mib) if settings.cache_mib else 0


def _cache(settings: Settings, registry: ModelRegistry, limits: DecodeLimits, observer: Observer) -> CachePlan | None:
    if not settings.cache_mib:
        return None
    bounds = Bounds(settings.cache_mib * MEBIBYTE, settings.cache_drawings_mib * MEBIBYTE, settings.cache_seconds)
    # Kinds of processors round differently, and a limit decides whether there is an answer.
    around = [settings.provider, settings.shape_step, processor_kind(), asdict(limits)]
    try:
        return plan_cache(registry, around, bounds, settings.cache_redis, observer)
    except ValueError:
        # The address may hold a password: it is not repeated.
        raise SettingError("ANIMEBOOTH_CACHE_REDIS cannot be used: write redis://HOST:PORT.") from None


def _detector_file(registry: ModelRegistry, name: str) -> Path:
    model = registry.detectors.get(name)
    if model is None:
        raise DetectorUnavailable(f"models.toml names no {name} detector")
    if model.reason is not None:
        raise DetectorUnavailable(model.reason)
    return model.path
