"""Reception: what an upload asks for is looked at and weighed, and it gets its turn at the desk."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from app.admission.desk import Desk
from app.admission.work import Work
from app.conversion import working_pixels
from app.deadline import Deadline
from app.imaging.decode import DecodeLimits, look
from app.inference.stylizer import Stylizer
from app.options import ConvertOptions
from app.types import StyleId
from app.workload import Hand, expected_work, face_pixels


@dataclass(frozen=True, slots=True)
class Reception:
    """Before the ``desk``. stylizer: the network of a style, loaded on first use. shape_step: as the stylizers'."""

    desk: Desk
    stylizer: Callable[[StyleId], Stylizer]
    limits: DecodeLimits
    shape_step: int = 1

    @contextmanager
    def turn(
        self, data: bytes, options: ConvertOptions, deadline: Deadline, name: str = ""
    ) -> Iterator[Callable[[int], None]]:
        """Wait for the turn of converting ``data``, and hold it for the ``with`` block.

        ``options`` name a style and a size. Gives what is to be told how many faces are drawn on their own. Raises the
        errors of app.imaging.decode.look, StyleUnavailable, and those of Desk.turn.
        """
        work = self.weigh(data, options)
        face, picture = self._hands(options)
        each = face_pixels(picture.card, face.card)
        with self.desk.turn(work, deadline, name) as found_more:
            yield lambda faces: found_more(faces * each)

    def weigh(self, data: bytes, options: ConvertOptions) -> Work:
        """What converting ``data`` is expected to cost. Raises as :meth:`turn` does before it waits."""
        seen = look(data, self.limits, working_pixels=working_pixels(options))
        face, picture = self._hands(options)
        return expected_work(seen, options, picture, face, shape_step=self.shape_step)

    def _hands(self, options: ConvertOptions) -> tuple[Hand, Hand]:
        """Who draws the faces, and who the picture."""
        own = self.stylizer(options.style or "")
        surroundings = own.card.surroundings
        return _hand(own), _hand(self.stylizer(surroundings) if surroundings else own)


def _hand(stylizer: Stylizer) -> Hand:
    return Hand(stylizer.card, stylizer.run_bytes)
