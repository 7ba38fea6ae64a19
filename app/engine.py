"""Engine: the one owner of state. It holds the networks, the face detector and the right to run them."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, Literal, TypeAlias

import numpy as np

from app.admission.desk import Crowd, Desk, Place
from app.admission.floor import Floor, told
from app.admission.memory import Memory
from app.admission.pace import Pace
from app.admission.work import Work
from app.assembly import parts_of
from app.caching.keys import Keys
from app.caching.results import ResultCache
from app.config import Settings
from app.conversion import Keep, Kit, Result, answer_kind, convert_picture, finish_picture, forget
from app.deadline import NO_DEADLINE, Deadline
from app.errors import InvalidOption, ModelError, NotReady, NoUsableStyle, StyleUnavailable
from app.imaging.encode import encode
from app.inference.batcher import Batcher
from app.inference.card import ModelCard
from app.inference.finder import FaceFinder
from app.inference.memory import resident_memory
from app.inference.preset import Preset
from app.inference.registry import ModelRegistry
from app.inference.shelf import AVAILABLE, READY, StyleShelf
from app.options import ConvertOptions, SizeOption
from app.parts import Parts
from app.reception import Reception
from app.telemetry.observer import UNOBSERVED, Observer
from app.types import FaceMode, ImageFormat, StyleId
from app.workload import finishing_work

__all__ = ["ConvertOptions", "Engine", "EngineStatus", "Parts", "Result", "StyleInfo"]

State: TypeAlias = Literal["starting", "ready", "failed"]

WARM_UP_SHAPES: Final = ((576, 768), (768, 576))
"""(height, width) of the commonest answers: a phone's 4:3, both ways."""

WARM_UP_RUNS: Final = 2
"""ONNX Runtime plans its memory in the first run of a shape and uses the plan from the second."""

USUAL_FACE: Final[FaceMode] = "auto"
"""What ``face`` is where neither the request nor the style says."""

MEBIBYTE: Final = 1024 * 1024

LEAST_MEMORY: Final = 192 * MEBIBYTE
"""Enough for a phone's photo with faces at the usual size: below it nothing at all could be drawn."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class StyleInfo:
    """A style as people see it. ``state``: ``ready``, ``available`` or ``unavailable: why``.

    variant, sha256: of the weights in use. face: what ``face`` is where a request leaves it open.
    """

    card: ModelCard
    state: str
    variant: str = ""
    sha256: str = ""
    face: FaceMode = USUAL_FACE

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


class _Runtime:
    """What lives in one process alone: networks, detector and locks. Neither their threads nor they survive a fork."""

    def __init__(self, parts: Parts) -> None:
        self.pid = os.getpid()
        self.parts = parts
        self._batcher = Batcher(parts.runs, together=parts.together, wait=parts.batch_wait, observer=parts.observer)
        self.finder = FaceFinder(parts.open_detector)
        self.memory = Memory(parts.memory - parts.apart, self._batcher.held, self._batcher.release)
        floor = Floor(Pace(), lanes=parts.lanes, runs=parts.runs, most=parts.most, memory=self.memory)
        self.desk = Desk(floor, parts.observer, parts.clock)
        # Its threads start with the first conversion: until then there is nothing that a fork could lose.
        self.beside = ThreadPoolExecutor(parts.lanes, thread_name_prefix="beside")
        self.furnish(parts)
        self.start_lock = threading.Lock()
        self.thread: threading.Thread | None = None
        self.settled = threading.Event()
        self.failure: ModelError | None = None

    def furnish(self, parts: Parts) -> None:
        """Take the networks of ``parts``, and what goes by them; before the start is made."""
        self.parts = parts
        self.shelf = StyleShelf(parts.registry, lambda style: parts.open_style(style, self._batcher))
        self.reception = Reception(self.desk, self.shelf.get, parts.limits, parts.shape_step)
        self.cache = parts.cache.open() if parts.cache else None

    def let_go(self) -> None:
        """Of what :meth:`furnish` opened."""
        if self.cache is not None:
            self.cache.close()

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
        return cls(parts_of(settings or Settings.from_environment(), observer))

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
            self._suit(runtime)
            style = self._first_style(runtime)
            if warm:
                self._warm(runtime, style)
            _set_apart(runtime.memory, runtime.parts)
        except ModelError as failure:
            runtime.failure = failure
        except Exception as error:
            # A network that loads and then cannot run: no request would fare better than the warm-up.
            _log.exception("The warm-up failed.")
            runtime.failure = ModelError(f"The warm-up failed: {type(error).__name__}.")
        finally:
            runtime.settled.set()

    def _suit(self, runtime: _Runtime) -> None:
        """Take the parts for slow machines where this is one."""
        other = runtime.parts.for_slow
        if other is not None and other.is_slow() and runtime is self._own_runtime:
            parts = other.parts()
            runtime.let_go()
            runtime.furnish(parts)

    def _first_style(self, runtime: _Runtime) -> StyleId:
        """The default style, or the first that can be built in its place."""
        parts = runtime.parts
        wanted = parts.default_style
        for style in (wanted, *(name for name in parts.registry.styles if name != wanted)):
            try:
                for part in _parts_of(parts.registry, style):
                    runtime.shelf.get(part)
            except StyleUnavailable:
                _log.warning("%s", runtime.shelf.state(style))
            else:
                return style
        raise NoUsableStyle(runtime.shelf.faults.values())

    def _warm(self, runtime: _Runtime, style: StyleId) -> None:
        """Run everything that a first request would else run for the first time."""
        options = self._filled(ConvertOptions(style=style))
        own = runtime.shelf.get(style)
        face = np.zeros((own.card.face_size, own.card.face_size, 3), np.uint8)
        for height, width in WARM_UP_SHAPES:
            photo = encode(np.zeros((height, width, 3), np.uint8), "jpeg")
            for _ in range(WARM_UP_RUNS):
                self._drawn(photo, options, runtime, NO_DEADLINE)
                own.stylize(face)

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
        registry = runtime.parts.registry
        styles = {name: self._style_state(runtime, name) for name in registry.styles}
        styles |= {name: f"unavailable: {reason}" for name, reason in registry.lost.items()}
        reason = runtime.failure.reason if runtime.failure else None
        return EngineStatus(runtime.state, reason, styles, runtime.finder.state)

    def _style_state(self, runtime: _Runtime, style: StyleId) -> str:
        # A face style is as good as the worse of itself and its surroundings.
        parts = _parts_of(runtime.parts.registry, style)
        return max((runtime.shelf.state(part) for part in parts), key=_badness)

    def styles(self) -> list[StyleInfo]:
        """Every style: those of models.toml in its order, each with its presets behind it, then the added ones."""
        states, registry = self.status().styles, self._runtime().parts.registry
        infos = []
        for name, style in registry.styles.items():
            own = StyleInfo(style.card, states[name], *style.weights_in_use)
            infos += [own, *(_preset_info(own, preset) for preset in registry.presets.values() if preset.style == name)]
        return infos

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
        face: FaceMode | None = None,
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

    def convert_with(
        self, data: bytes, options: ConvertOptions, deadline: Deadline = NO_DEADLINE, name: str = ""
    ) -> Result:
        """Convert ``data`` within ``deadline``, the wait for a start that is under way included.

        name: by which :meth:`place` tells where it is. Raises NotReady where the start failed or was not made in time,
        Overloaded at once where it could not be done in time, TooLargeToDraw, DeadlineExceeded, ClientGone, and as
        :meth:`convert`.
        """
        runtime = self._ready_runtime(deadline)
        asked, options = options.style, self._filled(options)
        result = self._answer(data, options, runtime, deadline, name)
        return replace(result, style=asked) if asked and asked in runtime.parts.registry.presets else result

    def _answer(self, data: bytes, options: ConvertOptions, runtime: _Runtime, deadline: Deadline, name: str) -> Result:
        plan, cache = runtime.parts.cache, runtime.cache
        if plan is None or cache is None:
            return self._converted(data, options, runtime, deadline, name)

        def keys() -> Keys:
            # Whether faces are found decides how the picture looks; a detector that is being opened is waited for.
            faces = options.face != "off" and runtime.finder.detector() is not None
            return plan.keys.keys(data, options, faces=faces)

        make = partial(self._from_drawing, data, options, runtime, deadline, name, cache)
        return cache.answer(keys, make, deadline, name)

    def _from_drawing(
        self,
        data: bytes,
        options: ConvertOptions,
        runtime: _Runtime,
        deadline: Deadline,
        name: str,
        cache: ResultCache,
        keys: Keys,
    ) -> Result:
        """Where the picture was drawn before, for another strength or format: what remains to be done."""
        drawn = cache.drawn(keys)
        if drawn is None:
            return self._converted(data, options, runtime, deadline, name, partial(cache.keep, keys))
        format, (height, width) = answer_kind(options, drawn.upload), drawn.photo.shape[:2]
        work = finishing_work(width, height, format, alpha=drawn.alpha is not None)
        with runtime.desk.turn(work, deadline, name), self._parts.observer.span("finish"):
            return finish_picture(drawn, options, deadline.check)

    def _converted(
        self,
        data: bytes,
        options: ConvertOptions,
        runtime: _Runtime,
        deadline: Deadline,
        name: str,
        keep: Keep = forget,
    ) -> Result:
        result = self._drawn(data, options, runtime, deadline, name, keep)
        self._parts.observer.converted(result.style, result.timings)
        return result

    def _drawn(
        self,
        data: bytes,
        options: ConvertOptions,
        runtime: _Runtime,
        deadline: Deadline,
        name: str = "",
        keep: Keep = forget,
    ) -> Result:
        """In its turn."""
        parts = runtime.parts
        with runtime.reception.turn(data, options, deadline, name) as tell_faces:
            find = runtime.finder.detector
            kit = Kit(parts.limits, runtime.shelf.get, find, runtime.beside, parts.observer.span, tell_faces)
            return convert_picture(data, options, kit, deadline.check, keep)

    def weigh(self, data: bytes, options: ConvertOptions) -> Work:
        """What converting ``data`` is expected to cost. Raises as :meth:`convert`; the engine has been started."""
        return self._runtime().reception.weigh(data, self._filled(options))

    def place(self, name: str) -> Place | None:
        """Where the conversion of that name is in this process; None where there is none such now."""
        runtime = self._runtime()
        # Who waits for a picture that another has sent too is where that one is.
        return runtime.desk.place(runtime.cache.flights.maker(name) if runtime.cache else name)

    def retry_after(self) -> int:
        """Whole seconds in which all that is here now should be done, for who is turned away."""
        return told(self.crowd().seconds)

    def crowd(self) -> Crowd:
        """How many wait and work in this process, and for how long yet."""
        return self._runtime().desk.crowd()

    def _filled(self, options: ConvertOptions) -> ConvertOptions:
        """``options`` with a style and a size, the settings' where they leave the choice; no preset any more."""
        registry, style, face = self._runtime().parts.registry, options.style or self.default_style, USUAL_FACE
        if style in registry.presets:
            style, face = registry.presets[style].style, registry.presets[style].face
        if style not in registry.styles:
            allowed = ", ".join(info.card.id for info in self.styles())
            raise InvalidOption(option="style", value=style, allowed=allowed)
        size = options.size or self._parts.default_size
        return replace(options, style=style, face=options.face or face, size=size)

    def _ready_runtime(self, deadline: Deadline) -> _Runtime:
        runtime = self._runtime()
        if not runtime.settled.wait(timeout=deadline.remaining()) or runtime.failure:
            raise NotReady
        return runtime

    def close(self) -> None:
        """Let go of the networks and the detector. A later start begins afresh."""
        runtime, self._own_runtime = self._runtime(), _Runtime(self._parts)
        runtime.beside.shutdown()
        runtime.let_go()
        runtime.finder.close()


def _parts_of(registry: ModelRegistry, style: StyleId) -> tuple[StyleId, ...]:
    surroundings = registry.card(style).surroundings
    return (style,) if surroundings is None else (style, surroundings)


def _set_apart(memory: Memory, parts: Parts) -> None:
    """Leave to the conversions what the process, now that it is ready, does not take itself."""
    at_rest = max(0, resident_memory() - memory.held())
    left = parts.memory - parts.apart - at_rest
    if left < LEAST_MEMORY:
        _log.warning("There is little memory: %d MiB are left for pictures.", max(0, left) // MEBIBYTE)
    memory.budget = max(left, LEAST_MEMORY)


def _preset_info(own: StyleInfo, preset: Preset) -> StyleInfo:
    card = replace(own.card, id=preset.id, title=preset.title, description=preset.description)
    return replace(own, card=card, face=preset.face)


def _badness(state: str) -> int:
    return {READY: 0, AVAILABLE: 1}.get(state, 2)
