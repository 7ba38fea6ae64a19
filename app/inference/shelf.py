"""StyleShelf: the networks of the styles, each built once, when it is first asked for."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Final

from app.errors import ModelError, StyleUnavailable
from app.inference.registry import ModelRegistry, Style
from app.inference.stylizer import Stylizer
from app.types import StyleId

READY: Final = "ready"
AVAILABLE: Final = "available"


class StyleShelf:
    """Hands out stylizers by style. Safe for threads: two requests for a style that neither has met build it once.

    build: makes the stylizer of a style whose file is whole; raises ModelError where the network cannot be built.
    """

    def __init__(self, registry: ModelRegistry, build: Callable[[Style], Stylizer]) -> None:
        self._registry = registry
        self._build = build
        self._stylizers: dict[StyleId, Stylizer] = {}
        self._faults = {name: style.reason for name, style in registry.styles.items() if style.reason is not None}
        # One lock a style: a slow build of one does not hold up another.
        self._locks = {name: threading.Lock() for name in registry.styles}

    def get(self, style: StyleId) -> Stylizer:
        """The stylizer of ``style``. Raises StyleUnavailable where its weights are unusable; it stays so."""
        ready = self._stylizers.get(style)
        return ready or self._built(style)

    def _built(self, style: StyleId) -> Stylizer:
        with self._locks[style]:
            if style in self._faults:
                raise StyleUnavailable(style=style)
            if style not in self._stylizers:
                self._stylizers[style] = self._try_to_build(style)
            return self._stylizers[style]

    def _try_to_build(self, style: StyleId) -> Stylizer:
        try:
            return self._build(self._registry.styles[style])
        except ModelError as error:
            self._faults[style] = error.reason
            raise StyleUnavailable(style=style) from error

    @property
    def faults(self) -> Mapping[StyleId, str]:
        """Why each unusable style is unusable, in one sentence each."""
        return dict(self._faults)

    def state(self, style: StyleId) -> str:
        """``ready`` (built), ``available`` (will be built when asked for) or ``unavailable: why``."""
        if style in self._faults:
            return f"unavailable: {self._faults[style]}"
        return READY if style in self._stylizers else AVAILABLE
