"""Remedies of the doctor, and their order."""

from __future__ import annotations

import shlex
from dataclasses import replace

import pytest

import tests.support.models.doctor_faults as faults
from tvmq.options.config import QConfig
from tvmq.options.rules import Rule
from tvmq.tools.doctor.guard_rules import fewest_globs, guard_rules
from tvmq.tools.doctor.loss import Int8Result, check_guard, check_int8, check_options, check_share
from tvmq.tools.doctor.remedies import other_options, remedy_of_rules
from tvmq.tools.doctor.trial import ModelTrials, Outcome


def options(blamed: str, **given: int) -> list[str]:
    return [mend.option for mend in other_options(blamed, QConfig(**given))]


def test_options_by_what_is_to_blame():
    assert options("weights") == ["--weight-scale mse"]
    assert options("activations") == ["--calibrate-mode percentile", "--calibrate-mode minmax"]


def test_few_bits_are_doubled_first():
    assert options("weights", nbit_weight=2)[0] == "--nbit-weight 4"
    assert options("activations", nbit_weight=2)[0] == "--calibrate-mode percentile"
    assert options("both", nbit_weight=3, nbit_input=6)[:2] == ["--nbit-weight 6", "--nbit-input 8"]


def test_options_that_stand_already_are_not_tried():
    modes = [mend.option for mend in other_options("activations", QConfig(calibrate_mode="minmax"))]
    assert modes == ["--calibrate-mode percentile"]


def test_when_the_time_is_up_no_other_samples_are_advised():
    context = faults.context(faults.outlying_weight)
    context.deadline = 0.0
    context.int8_result = Int8Result(ModelTrials(context), None, Outcome(3.0))
    (noted,) = check_options(context)
    assert noted.what == "the time budget ended after 0 other options, none of which gains 2 dB"
    assert noted.remedy.startswith("a larger --budget")


def test_less_than_half_in_int8_is_a_finding():
    """Advice for the guard's module, or of one whose limits leave so little; nothing where accuracy is lost or much is in int8."""
    context = faults.context(faults.outlying_weight)
    for outcome, guarded, share in (
        (Outcome(3.0), Outcome(25.0, int8=0.3), 0.3), (Outcome(25.0, int8=0.4), None, 0.4),
        (Outcome(3.0), Outcome(5.0, int8=0.3), None), (Outcome(25.0, int8=0.5), None, None),
    ):  # fmt: skip
        context.int8_result = Int8Result(ModelTrials(context), None, outcome, guarded)
        known = list(check_share(context))
        assert [one.figures["int8_share"] for one in known] == ([] if share is None else [share])
        assert all("less than half" in one.what and "--calibrate-mode percentile" in one.remedy for one in known)


@pytest.mark.slow
def test_the_guard_is_asked_first_and_its_rules_make_its_module():
    """The rules that the doctor prints give the layers of the guard's module, and its figure."""
    context = faults.context(faults.outlying_weight)
    (verdict,), (remedy,) = check_int8(context), check_guard(context)
    assert verdict.status == "problem" and remedy.figures["after"]["sqnr"] > 25 and list(check_options(context)) == []
    assert "in 8 bits" in remedy.what and "'middle" in remedy.what
    rules = [Rule(match.partition("=")[0], None) for match in shlex.split(remedy.figures["option"])[1::2]]
    by_rules = context.int8_result.trials.quantize_and_judge(replace(context.config, rules=tuple(rules)))
    assert by_rules.sqnr == remedy.figures["after"]["sqnr"] and by_rules.int8 == remedy.figures["after"]["int8_share"]


def test_rules_name_what_the_guard_raised_and_nothing_else():
    layers = {
        "lv0": {"precision": "float", "why": "guard: float: 1.0 dB in 8 bits", "layers": ["/cqt/Conv"]},
        "lv1": {"precision": "float", "why": "guard: float: 1.0 dB in 8 bits", "layers": ["/cqt/Pow", "/cqt/Mul"]},
        "lv2": {"precision": "int8", "why": "default", "layers": ["/body/Conv"]},
        "lv3": {"precision": "int8", "why": "guard: codes", "layers": ["/body[0]/Gemm"], "dynamic": True},
        "lv4": {"precision": "float", "why": "no integer form", "layers": ["/cqt/Atan"]},
    }
    assert guard_rules(layers) == [Rule("/cqt/*", None), Rule("/body[[]0]/Gemm", activations="dynamic")]
    assert fewest_globs([("a",), ("b.c", "x")], avoided=["b.d"]) == ["a", "b.c"]


def test_more_rules_than_a_person_reads_are_left_to_the_guard():
    mend = remedy_of_rules("x", [Rule(str(number), None) for number in range(9)])
    assert mend.option.startswith("--guard ") and mend.option.endswith("has the 9 rules") and len(mend.rules) == 9
