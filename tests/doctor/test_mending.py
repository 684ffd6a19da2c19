"""What the doctor tries, in which order."""

from __future__ import annotations

import doctor_faults as faults

from tvmq.config import QConfig
from tvmq.doctor.loss import Case, check_mending
from tvmq.doctor.mending import mends
from tvmq.doctor.trial import Clinic, Outcome


def options(blamed: str, **given: int) -> list[str]:
    return [mend.option for mend in mends(blamed, QConfig(**given))]


def test_options_by_what_is_to_blame():
    assert options("weights") == ["--weight-scale mse"]
    assert options("activations") == ["--calibrate-mode percentile", "--calibrate-mode minmax"]


def test_few_bits_are_doubled_first():
    assert options("weights", nbit_weight=2)[0] == "--nbit-weight 4"
    assert options("activations", nbit_weight=2)[0] == "--calibrate-mode percentile"
    assert options("both", nbit_weight=3, nbit_input=6)[:2] == ["--nbit-weight 6", "--nbit-input 8"]


def test_options_that_stand_already_are_not_tried():
    modes = [mend.option for mend in mends("activations", QConfig(calibrate_mode="minmax"))]
    assert modes == ["--calibrate-mode percentile"]


def test_when_the_time_is_up_no_other_samples_are_advised():
    patient = faults.patient(faults.outlying_weight)
    patient.until = 0.0
    patient.case = Case(Clinic(patient), None, None, Outcome(3.0))
    (noted,) = check_mending(patient)
    assert noted.what == "the time was up after 0 ways, none of which makes it better by 2 dB"
    assert noted.remedy.startswith("a larger --budget")
