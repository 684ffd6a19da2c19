"""What the doctor tries, in which order."""

from __future__ import annotations

from tvmq.config import QConfig
from tvmq.doctor.mending import mends


def options(blamed: str, **given: int) -> list[str]:
    return [mend.option for mend in mends(["a", "b"], blamed, QConfig(**given))]


def test_options_come_before_layers_in_float():
    assert options("weights") == ["--weight-scale mse", "--rule 'a=float'", "--rule 'b=float'"]
    assert options("activations")[:2] == ["--calibrate-mode percentile", "--calibrate-mode minmax"]


def test_few_bits_are_doubled_first():
    assert options("weights", nbit_weight=2)[0] == "--nbit-weight 4"
    assert options("activations", nbit_weight=2)[0] == "--calibrate-mode percentile"
    assert options("both", nbit_weight=3, nbit_input=6)[:2] == ["--nbit-weight 6", "--nbit-input 8"]


def test_options_that_stand_already_are_not_tried():
    modes = [mend.option for mend in mends([], "activations", QConfig(calibrate_mode="minmax"))]
    assert modes == ["--calibrate-mode percentile"]
