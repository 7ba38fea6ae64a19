"""Parts: what an engine is made of, before it has anything with a life of its own."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from app.caching.plan import CachePlan
from app.imaging.decode import DecodeLimits
from app.inference.batcher import Batcher
from app.inference.registry import ModelRegistry, Style
from app.inference.stylizer import Stylizer
from app.telemetry.observer import UNOBSERVED, Observer
from app.types import Detector, StyleId


@dataclass(frozen=True, slots=True)
class ForSlow:
    """is_slow: tries how quick this machine is; takes about as long as a picture. parts: to take then."""

    is_slow: Callable[[], bool]
    parts: Callable[[], Parts]


@dataclass(frozen=True, slots=True)
class Parts:
    """What an engine is made of. Nothing here has a thread yet, so it may cross a fork.

    open_style: a style's stylizer; its runs get their turn from the batcher it is handed. open_detector: raises
    DetectorUnavailable where faces cannot be found. runs: network runs at once. together: most pictures of one.
    batch_wait: seconds for which a batch that is not full waits. lanes: conversions under way at once; more would
    only hold more decoded pictures in memory. most: conversions under way and waiting. default_size: px of the longest
    side. observer: told what happens. cache: None remembers nothing. memory: bytes that the process may take. apart:
    those of them that are for other things than conversions. shape_step: as of the stylizers. clock: of the waiting.
    for_slow: the parts that a machine which turns out to be slow takes in place of these, and whether it is; None where
    that makes no difference.
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
    most: int = 64
    memory: float = math.inf
    apart: int = 0
    shape_step: int = 1
    clock: Callable[[], float] = time.monotonic
    for_slow: ForSlow | None = None
