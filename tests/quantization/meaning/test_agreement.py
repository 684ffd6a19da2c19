"""Agreement of two sets of outputs, by readings and by raw values."""

from __future__ import annotations

import numpy as np

from tests.quantization.meaning.test_detections import ROWS
from tvmq.quantization.meaning.agreement import OutputAgreement, measure_agreement, worst_decibels
from tvmq.quantization.meaning.detections import DetectionReading
from tvmq.quantization.meaning.value_readings import NumberReading

READINGS = [DetectionReading((0,), doubles=False)]
SHUFFLED = [rows[:, ::-1] for rows in ROWS]


def test_detections_have_the_f1_of_their_boxes():
    (one,) = measure_agreement(READINGS, [[rows] for rows in ROWS], [[rows] for rows in SHUFFLED])
    assert one.box_f1 == 1.0 and one.worst == np.inf
    assert str(one).startswith("box F1 1.0000, boxes equal, scores equal (detections of sorted rows: boxes 0-3")
    assert one.to_dict()["decibels"] == {"boxes": None, "scores": None} and one.to_dict()["outputs"] == [0]
    (other,) = measure_agreement(READINGS, [[rows] for rows in ROWS], [[rows[:, 1:]] for rows in ROWS])
    assert other.box_f1 is not None and 0.9 < other.box_f1 < 1 and other.worst < 20


def test_outputs_without_a_reading_are_judged_by_their_values():
    numbers = np.array([[3.0, 4.0]])
    wanted, got = [np.concatenate(ROWS), numbers], [np.concatenate(SHUFFLED), numbers + [[0, 0.5]]]
    assert worst_decibels(READINGS, wanted, got) == 20.0
    assert worst_decibels([], wanted, got) < 20.0


def test_samples_that_fit_no_reading_are_left_to_the_values():
    empty = [[0.01 * rows] for rows in ROWS]
    assert measure_agreement(READINGS, empty, empty) == []
    assert measure_agreement([NumberReading((0,))], empty, empty) == [
        OutputAgreement((0,), "numbers", {"numbers": np.inf})
    ]
