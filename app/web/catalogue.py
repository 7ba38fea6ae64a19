"""What the service offers and how it is, as JSON: styles with their licences, options, limits, state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from app.admission.desk import Crowd, Place
from app.config import Settings
from app.engine import EngineStatus, StyleInfo
from app.options import FACE_MODES, FORMATS, MAX_QUALITY, MAX_SIZE, MAX_STRENGTH, MIN_QUALITY, MIN_SIZE
from app.types import StyleId


@dataclass(frozen=True, slots=True)
class ServiceLimits:
    """What a client should know before it sends. Sides in pixels, ``deadline`` in seconds."""

    max_upload_mib: int
    max_megapixels: int
    default_size: int
    min_size: int
    max_size: int
    deadline: float

    @classmethod
    def from_settings(cls, settings: Settings) -> ServiceLimits:
        """For create_app."""
        return cls(
            max_upload_mib=settings.max_upload_mib,
            max_megapixels=settings.max_megapixels,
            default_size=settings.size,
            min_size=MIN_SIZE,
            max_size=MAX_SIZE,
            deadline=settings.deadline,
        )


def catalogue(styles: Sequence[StyleInfo], default_style: StyleId, limits: ServiceLimits) -> dict[str, Any]:
    """The answer of /styles."""
    return {
        "default_style": default_style,
        "styles": [_style(info) for info in styles],
        "options": {
            "face": list(FACE_MODES),
            "format": list(FORMATS),
            "size": {"min": MIN_SIZE, "max": MAX_SIZE, "default": limits.default_size, "words": ["original"]},
            "strength": {"min": 0, "max": MAX_STRENGTH, "default": MAX_STRENGTH},
            "quality": {"min": MIN_QUALITY, "max": MAX_QUALITY},
        },
        "limits": asdict(limits),
    }


def status_document(status: EngineStatus) -> dict[str, Any]:
    """The answer of /readyz."""
    return {
        "status": status.state,
        "reason": status.reason,
        "styles": dict(status.styles),
        "faces": status.faces,
    }


def queue_document(crowd: Crowd, place: Place | None) -> dict[str, Any]:
    """The answer of /queue."""
    return {
        "waiting": crowd.waiting,
        "working": crowd.working,
        "seconds": round(crowd.seconds, 3),
        "request": place and {"state": place.state, "before": place.before, "seconds": round(place.seconds, 3)},
    }


def _style(info: StyleInfo) -> dict[str, Any]:
    card = info.card
    state, _, reason = info.state.partition(": ")
    return {
        "id": card.id,
        "title": dict(card.title),
        "description": dict(card.description),
        "kind": card.kind,
        "surroundings": card.surroundings,
        "face": info.face,
        "licence": {"id": card.licence.id, "sentence": card.licence.sentence},
        "commercial": card.commercial,
        "source": card.source,
        "variant": info.variant,
        "state": state,
        "reason": reason or None,
    }
