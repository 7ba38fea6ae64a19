"""How many may be inside: by number and by the room their bodies take."""

from __future__ import annotations

from app.serving.admission import Admission


def test_the_one_above_the_number_stays_outside_until_another_leaves() -> None:
    admission = Admission(max_requests=2, max_bytes=100)
    assert admission.enter(1)
    assert admission.enter(1)
    assert not admission.enter(1)
    admission.leave(1)
    assert admission.enter(1)


def test_bodies_that_would_not_fit_together_stay_outside() -> None:
    admission = Admission(max_requests=10, max_bytes=100)
    assert admission.enter(60)
    assert not admission.enter(41)
    assert admission.enter(40)
    admission.leave(60)
    assert admission.enter(60)


def test_one_alone_is_let_in_whatever_its_size() -> None:
    admission = Admission(max_requests=10, max_bytes=100)
    assert admission.enter(101)
    assert not admission.enter(1)
