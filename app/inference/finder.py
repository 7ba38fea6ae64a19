"""FaceFinder: the face detector, opened once, when it is first asked for, or found not to work here."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from app.inference.faces import DetectorUnavailable
from app.types import Detector

_log = logging.getLogger(__name__)


class FaceFinder:
    """Opens a detector on first use: it costs seconds and memory that a picture without faces need not pay.

    open_detector: raises DetectorUnavailable, with a sentence, where faces cannot be found.
    """

    def __init__(self, open_detector: Callable[[], Detector]) -> None:
        self._open = open_detector
        self._lock = threading.Lock()
        self._detector: Detector | None = None
        self._fault: str | None = None

    def detector(self) -> Detector | None:
        """The detector, or None where it cannot be had; that is logged once and stays so."""
        with self._lock:
            if self._detector is None and self._fault is None:
                self._try_to_open()
            return self._detector

    def _try_to_open(self) -> None:
        try:
            self._detector = self._open()
        except DetectorUnavailable as error:
            self._fault = str(error)
            _log.warning("Faces are not treated: %s", error)

    @property
    def state(self) -> str:
        """``starting`` (not asked for yet), ``ready`` or ``off: why``."""
        if self._fault is not None:
            return f"off: {self._fault}"
        return "ready" if self._detector is not None else "starting"

    def close(self) -> None:
        """Let go of the detector; the next request opens it again."""
        with self._lock:
            if self._detector is not None:
                self._detector.close()
            self._detector = None
