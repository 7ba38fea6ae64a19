"""Engine: the one owner of state. It holds the networks, the face detector and the right to run them."""

from __future__ import annotations

import contextlib
import logging
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final, Literal, TypeAlias

import numpy as np

from app.caching.keys import Keys
from app.caching.plan import CachePlan, plan_cache
from app.caching.results import Bounds, ResultCache
from app.config import SettingError, Settings
from app.conversion import Keep, Kit, Result, convert_picture, finish_picture, forget, works_in_full
from app.deadline import NO_DEADLINE, Deadline
from app.errors import InvalidOption, ModelError, NotReady, NoUsableStyle, StyleUnavailable
from app.imaging.decode import DecodeLimits
from app.imaging.encode import encode
from app.inference.batcher import Batcher
from app.inference.card import ModelCard
from app.inference.cpu import best_concurrency, usable_cpus
from app.inference.faces import DetectorUnavailable, MediaPipeDetector
from app.inference.finder import FaceFinder
from app.inference.network import Network
from app.inference.processor import processor_kind
from app.inference.registry import ModelRegistry, Style
from app.inference.session import OrtSession
from app.inference.shelf import AVAILABLE, READY, StyleShelf
from app.inference.stylizer import Stylizer
from app.options import ConvertOptions, SizeOption
from app.telemetry.observer import UNOBSERVED, Observer
from app.types import Detector, FaceMode, ImageFormat, StyleId, never_stop

__all__ = ["ConvertOptions", "Engine", "EngineStatus", "Result", "StyleInfo"]

State: TypeAlias = Literal["starting", "ready", "failed"]

WARM_UP_SHAPES: Final = ((576, 768), (768, 576))
"""(height, width) of the commonest answers: a phone's 4:3, both ways."""

WARM_UP_RUNS: Final = 2
"""ONNX Runtime plans its memory in the first run of a shape and uses the plan from the second."""

MEBIBYTE: Final = 1024 * 1024

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class StyleInfo:
    """A style as people see it. ``state``: ``ready``, ``available`` or ``unavailable: why``.

    variant, sha256: of the weights in use.
    """

    card: ModelCard
    state: str
    variant: str = ""
    sha256: str = ""

    @property
    def usable(self) -> bool:
        """Whether a picture can be converted in it."""
        return not self.state.startswith("unavailable")


@dataclass(frozen=True, slots=True)
class EngineStatus:
    """How the engine is. ``reason`` says why it failed; ``faces`` is ``starting``, ``ready`` or ``off: why``."""

    state: State
    reason: str | None
    styles: Mapping[StyleId, str]
    faces: str


@dataclass(frozen=True, slots=True)
class Parts:
    """What an engine is made of. Nothing here has a thread yet, so it may cross a fork.

    open_style: a style's stylizer; its runs get their turn from the batcher it is handed. open_detector: raises
    DetectorUnavailable where faces cannot be found. runs: network runs at once. together: most pictures of one.
    batch_wait: seconds for which a batch that is not full waits. lanes: conversions under way at once; more would
    only hold more decoded pictures in memory. default_size: px of the longest side. observer: told what happens.
    cache: None remembers nothing.
    """

    registry: ModelRegistry
    open_style: Callable[[Style, Batcher], Stylizer]
    open_detector: Callable[[], Detector]
    limits: DecodeLimits
    runs: int
    lanes: int
    default_style: StyleId
    default_size: int
    observer: Observer = UNOBSERVED
    cache: CachePlan | None = None
    together: int = 1
    batch_wait: float = 0.0


class _Runtime:
    """What lives in one process alone: networks, detector and locks. Neither their threads nor they survive a fork."""

    def __init__(self, parts: Parts) -> None:
        self.pid = os.getpid()
        batcher = Batcher(parts.runs, together=parts.together, wait=parts.batch_wait, observer=parts.observer)
        self.shelf = StyleShelf(parts.registry, lambda style: parts.open_style(style, batcher))
        self.finder = FaceFinder(parts.open_detector)
        self.lanes = threading.BoundedSemaphore(parts.lanes)
        # Its threads start with the first conversion: until then there is nothing that a fork could lose.
        self.beside = ThreadPoolExecutor(parts.lanes, thread_name_prefix="beside")
        # 50 megapixels in full take over half a gigabyte: one such picture at a time, whatever the lanes.
        self.large = threading.BoundedSemaphore(1)
        self.cache = parts.cache.open() if parts.cache else None
        # What is drawn already waits for no network; encoding alone is bounded too.
        self.finishing = threading.BoundedSemaphore(parts.lanes)
        self.start_lock = threading.Lock()
        self.thread: threading.Thread | None = None
        self.settled = threading.Event()
        self.failure: ModelError | None = None

    @property
    def state(self) -> State:
        if not self.settled.is_set():
            return "starting"
        return "failed" if self.failure else "ready"


class Engine:
    """Turns photos into anime pictures. Safe for threads; after a fork it starts afresh in the child."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._fork_lock = threading.Lock()
        self._own_runtime = _Runtime(parts)

    @classmethod
    def from_settings(cls, settings: Settings | None = None, observer: Observer = UNOBSERVED) -> Engine:
        """An engine as ``settings`` (default: the ``ANIMEBOOTH_*`` variables) describe it, not started yet.

        ``observer`` is told what happens. Reads models.toml and checks every weight file. Raises ModelError for a
        wrong models.toml, NoUsableStyle where no file is whole, SettingError for a setting that does not fit.
        """
        return cls(_parts(settings or Settings.from_environment(), observer))

    # Starting

    def start(self, *, warm: bool = True) -> None:
        """Build the default style and, with ``warm``, run it and the face detector once; returns when ready.

        Called again, it only waits for the first call. Raises NoUsableStyle, each time, where no style can be built.
        """
        runtime = self._runtime()
        with runtime.start_lock:
            if not runtime.settled.is_set():
                self._start(runtime, warm=warm)
        if runtime.failure:
            raise runtime.failure

    def start_in_background(self) -> None:
        """Start in a thread of its own; how it went is told by :meth:`status`. Called again, it does nothing."""
        runtime = self._runtime()
        with self._fork_lock:
            if runtime.thread is None and not runtime.settled.is_set():
                runtime.thread = threading.Thread(target=self._start_and_log, name="engine-start", daemon=True)
                runtime.thread.start()

    def _start_and_log(self) -> None:
        try:
            self.start()
        except ModelError as error:
            _log.error("%s", error)
        else:
            _log.info("Ready.")

    def _start(self, runtime: _Runtime, *, warm: bool) -> None:
        try:
            style = self._first_style(runtime)
            if warm:
                self._warm(runtime, style)
        except ModelError as failure:
            runtime.failure = failure
        except Exception as error:
            # A network that loads and then cannot run: no request would fare better than the warm-up.
            _log.exception("The warm-up failed.")
            runtime.failure = ModelError(f"The warm-up failed: {type(error).__name__}.")
        finally:
            runtime.settled.set()

    def _first_style(self, runtime: _Runtime) -> StyleId:
        """The default style, or the first that can be built in its place."""
        wanted = self._parts.default_style
        for style in (wanted, *(name for name in self._parts.registry.styles if name != wanted)):
            try:
                for part in self._parts_of(style):
                    runtime.shelf.get(part)
            except StyleUnavailable:
                _log.warning("%s", runtime.shelf.state(style))
            else:
                return style
        raise NoUsableStyle(runtime.shelf.faults.values())

    def _warm(self, runtime: _Runtime, style: StyleId) -> None:
        """Run everything that a first request would else run for the first time."""
        kit = replace(self._kit(runtime), limits=DecodeLimits())
        options = self._filled(ConvertOptions(style=style))
        own = runtime.shelf.get(style)
        face = np.zeros((own.card.face_size, own.card.face_size, 3), np.uint8)
        for height, width in WARM_UP_SHAPES:
            photo = encode(np.zeros((height, width, 3), np.uint8), "jpeg")
            for _ in range(WARM_UP_RUNS):
                convert_picture(photo, options, kit, never_stop)
                own.stylize(face)

    def _kit(self, runtime: _Runtime) -> Kit:
        span = self._parts.observer.span
        return Kit(self._parts.limits, runtime.shelf.get, runtime.finder.detector, runtime.beside, span)

    def _parts_of(self, style: StyleId) -> tuple[StyleId, ...]:
        surroundings = self._parts.registry.card(style).surroundings
        return (style,) if surroundings is None else (style, surroundings)

    def _runtime(self) -> _Runtime:
        if self._own_runtime.pid != os.getpid():
            with self._fork_lock:
                if self._own_runtime.pid != os.getpid():
                    self._own_runtime = _Runtime(self._parts)
        return self._own_runtime

    # Telling

    def status(self) -> EngineStatus:
        """How the engine is in this process."""
        runtime = self._runtime()
        styles = {name: self._style_state(runtime, name) for name in self._parts.registry.styles}
        styles |= {name: f"unavailable: {reason}" for name, reason in self._parts.registry.lost.items()}
        reason = runtime.failure.reason if runtime.failure else None
        return EngineStatus(runtime.state, reason, styles, runtime.finder.state)

    def _style_state(self, runtime: _Runtime, style: StyleId) -> str:
        # A face style is as good as the worse of itself and its surroundings.
        return max((runtime.shelf.state(part) for part in self._parts_of(style)), key=_badness)

    def styles(self) -> list[StyleInfo]:
        """Every style: those of models.toml in its order, then the added ones."""
        states = self.status().styles
        styles = self._parts.registry.styles.items()
        return [StyleInfo(style.card, states[name], *style.weights_in_use) for name, style in styles]

    @property
    def default_style(self) -> StyleId:
        """The style of a request that names none: the setting's, or the first usable where that one is not."""
        usable = [info.card.id for info in self.styles() if info.usable]
        wanted = self._parts.default_style
        return wanted if wanted in usable or not usable else usable[0]

    # Converting

    def convert(
        self,
        data: bytes,
        *,
        style: StyleId | None = None,
        face: FaceMode = "auto",
        size: SizeOption | None = None,
        strength: int = 100,
        format: ImageFormat | None = None,
        quality: int | None = None,
    ) -> Result:
        """Convert the encoded picture ``data``, starting the engine if need be; the options are ConvertOptions'.

        Raises the errors of app.errors: InvalidOption, UnsupportedImage, BrokenImage, TooManyPixels and the like.
        """
        options = ConvertOptions(style=style, face=face, size=size, strength=strength, format=format, quality=quality)
        self.start(warm=False)
        return self.convert_with(data, options)

    def convert_with(self, data: bytes, options: ConvertOptions, deadline: Deadline = NO_DEADLINE) -> Result:
        """Convert ``data`` within ``deadline``, the wait for a start that is under way included.

        Raises NotReady where the start failed or was not made in time, DeadlineExceeded, and as :meth:`convert`.
        """
        runtime = self._ready_runtime(deadline)
        options = self._filled(options)
        plan, cache = self._parts.cache, runtime.cache
        if plan is None or cache is None:
            return self._converted(data, options, runtime, deadline)

        def keys() -> Keys:
            # Whether faces are found decides how the picture looks; a detector that is being opened is waited for.
            faces = options.face != "off" and runtime.finder.detector() is not None
            return plan.keys.keys(data, options, faces=faces)

        make = partial(self._from_drawing, data, options, runtime, deadline, cache)
        return cache.answer(keys, make, deadline)

    def _from_drawing(
        self,
        data: bytes,
        options: ConvertOptions,
        runtime: _Runtime,
        deadline: Deadline,
        cache: ResultCache,
        keys: Keys,
    ) -> Result:
        """Where the picture was drawn before, for another strength or format: what remains to be done."""
        drawn = cache.drawn(keys)
        if drawn is None:
            return self._converted(data, options, runtime, deadline, partial(cache.keep, keys))
        with _place(runtime.finishing, deadline), self._parts.observer.span("finish"):
            return finish_picture(drawn, options, deadline.check)

    def _converted(
        self, data: bytes, options: ConvertOptions, runtime: _Runtime, deadline: Deadline, keep: Keep = forget
    ) -> Result:
        with contextlib.ExitStack() as places:
            if works_in_full(options):
                places.enter_context(_place(runtime.large, deadline))
            places.enter_context(_place(runtime.lanes, deadline))
            result = convert_picture(data, options, self._kit(runtime), deadline.check, keep)
        self._parts.observer.converted(result.style, result.timings)
        return result

    def _filled(self, options: ConvertOptions) -> ConvertOptions:
        """``options`` with the settings' style and size where they leave the choice."""
        style = options.style or self.default_style
        if style not in self._parts.registry.styles:
            raise InvalidOption(option="style", value=style, allowed=", ".join(self._parts.registry.styles))
        return replace(options, style=style, size=options.size or self._parts.default_size)

    def _ready_runtime(self, deadline: Deadline) -> _Runtime:
        runtime = self._runtime()
        if not runtime.settled.wait(timeout=deadline.remaining()) or runtime.failure:
            raise NotReady
        return runtime

    def close(self) -> None:
        """Let go of the networks and the detector. A later start begins afresh."""
        runtime, self._own_runtime = self._runtime(), _Runtime(self._parts)
        runtime.beside.shutdown()
        if runtime.cache is not None:
            runtime.cache.close()
        runtime.finder.close()


@contextlib.contextmanager
def _place(places: threading.Semaphore, deadline: Deadline) -> Iterator[None]:
    if not places.acquire(timeout=deadline.remaining()):
        raise deadline.exceeded()
    try:
        yield
    finally:
        places.release()


def _badness(state: str) -> int:
    return {READY: 0, AVAILABLE: 1}.get(state, 2)


def _parts(settings: Settings, observer: Observer) -> Parts:
    registry = ModelRegistry.load(settings.models_dir, variant=settings.variant)
    for told in (*registry.lost.values(), *registry.notes):
        _log.warning("%s", told)
    if settings.style not in (*registry.styles, *registry.lost):
        raise SettingError(f"No style is called {settings.style!r}. Styles: {', '.join(registry.styles)}.")
    cpus = usable_cpus()
    threads, runs = settings.threads or cpus, settings.concurrency or best_concurrency(cpus)

    def open_session(style: Style, sharers: int) -> OrtSession:
        share = max(1, threads // sharers)
        return OrtSession(style.path, style.card, threads=share, provider=settings.provider)

    def open_style(style: Style, batcher: Batcher) -> Stylizer:
        alone = open_session(style, 1)
        beside = open_session(style, runs) if runs > 1 else alone
        most = settings.batch if alone.takes_batches else 1
        network = Network(style.card.id, alone, beside, most=most)
        return Stylizer(style.card, alone, shape_step=settings.shape_step, in_turn=partial(batcher.run, network))

    def open_detector() -> Detector:
        models = [_detector_file(registry, name) for name in ("short_range", "full_range")]
        return MediaPipeDetector(*models)

    limits = DecodeLimits(
        max_bytes=settings.max_upload_mib * MEBIBYTE,
        max_pixels=settings.max_megapixels * 1_000_000,
        max_side=settings.max_side,
    )
    return Parts(
        registry=registry,
        open_style=open_style,
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
    )


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
