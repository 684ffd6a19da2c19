"""Test vectors of a description, and the differences found in the answers of devices that deviate from it."""

import json
from dataclasses import replace

import numpy as np
import pytest

import tvmq
from tvmq.backends.operator_entry import OperatorEntry
from tvmq.backends.tensor_forms import WeightForm
from tvmq.chips.emulation.accumulator import Accumulator
from tvmq.chips.emulation.arithmetic import Arithmetic
from tvmq.chips.emulation.read_vectors import read_vectors
from tvmq.errors import DataError
from tvmq.numerics.known_rules import KNOWN_RULES
from tvmq.numerics.requantize_rule import RequantizeRule

CHIP = tvmq.Backend("chip", activations=("int8",))


@pytest.fixture(scope="module")
def vectors(tmp_path_factory):
    """Written once."""
    folder = tmp_path_factory.mktemp("vectors")
    tvmq.conformance(CHIP, folder)
    return folder


def answered(vectors, folder, chip, fault="", only=()):
    """The answers of a device with that arithmetic and mistake."""
    chips, cases = read_vectors(vectors)
    for case, _ in cases:
        if not only or case.operator in only:
            file = folder / case.operator / f"{case.name}.npy"
            file.parent.mkdir(parents=True, exist_ok=True)
            np.save(file, case.compute(chip or chips[case.operator], fault).y)
    return folder


@pytest.mark.slow
def test_the_same_bytes_each_time(vectors, tmp_path):
    written = tvmq.conformance(CHIP, tmp_path)
    files = sorted(p.relative_to(tmp_path) for p in tmp_path.rglob("*.*"))
    assert files == sorted(p.relative_to(vectors) for p in vectors.rglob("*.*"))
    assert all((tmp_path / f).read_bytes() == (vectors / f).read_bytes() for f in files)
    assert len(files) == sum(written.cases.values()) + 1 > 60


def test_every_branch_is_there(vectors):
    cases = json.loads((vectors / "manifest.json").read_text())["cases"]
    branches = {case["branch"] for case in cases}
    assert branches >= {
        "ties", "rules", "saturation", "enlarging", "zero_points", "tails", "strides", "padding", "dilation", "groups",
        "extremes", "usual",
    }  # fmt: skip
    assert {case["operator"] for case in cases} == {
        "requantize", "conv2d", "depthwise", "dense", "multiply", "average", "add", "maximum", "pad", "table",
        "quantize", "dequantize",
    }  # fmt: skip


def test_entries_of_operators_are_heard(tmp_path):
    """Depthwise convolutions with a rule, accumulators and weights of their own; the others as all."""
    rule = RequantizeRule("integer", multiplier_bits=15, roundings=("floor",))
    entry = OperatorEntry(
        ("depthwise",), weights=WeightForm(("int4",), "per_tensor"), requantize=rule, accumulator_bits=16,
        overflow="saturate",
    )  # fmt: skip
    tvmq.conformance(replace(CHIP, operators=(entry,)), tmp_path)
    chips, cases = read_vectors(tmp_path)
    assert chips["conv2d"] == Arithmetic(rule=RequantizeRule())
    assert chips["depthwise"].accumulator == Accumulator(16, "saturate") and chips["depthwise"].rule.multiplier_bits == 15
    for case, wanted in cases:
        if case.operator == "depthwise":
            assert np.abs(case.arrays["w"]).max() <= 7 and case.arrays["scale_w"].size == 1
            assert case.compute(chips["depthwise"]).overflow == 0 or case.branch == "overflow"
            np.testing.assert_array_equal(case.compute(chips["depthwise"]).y, wanted)


@pytest.mark.slow
def test_a_chip_of_shifts(tmp_path):
    chip = tvmq.Backend("shifts", activations=("int8",), zero_points=False, requantize=("power_of_two",))
    tvmq.conformance(chip, tmp_path)
    chips, cases = read_vectors(tmp_path)
    assert chips["dense"].rule.arithmetic == "shift"
    assert all(not case.attributes.get("x_zero") for case, _ in cases)


@pytest.mark.slow
def test_right_answers_conform(vectors, tmp_path):
    found = tvmq.check_conformance(vectors, answered(vectors, tmp_path, None))
    assert found.conforms and not found.missing
    assert "conforms: yes (0 of" in str(found)


@pytest.mark.slow
@pytest.mark.thinned(2)
@pytest.mark.parametrize("name", ["tflite", "fixed_point_away"])
def test_another_rule_is_found(vectors, tmp_path, name):
    chip = Arithmetic(rule=KNOWN_RULES[name])
    found = tvmq.check_conformance(vectors, answered(vectors, tmp_path, chip, only=("requantize",)))
    (check,) = found.operators
    assert not found.conforms and check.differing and f"rule {name}" in check.explanation
    assert found.missing and "cases have no answer" in str(found)


@pytest.mark.slow
@pytest.mark.parametrize("operator, fault, words", [
    ("conv2d", "pads_with_0", "it pads with the code 0"), ("dense", "no_bias", "it leaves out the bias"),
    ("maximum", "pool_from_0", "it lets a maximum begin at 0"), ("table", "unsigned_index", "as unsigned bytes"),
])  # fmt: skip
def test_mistakes_are_found(vectors, tmp_path, operator, fault, words):
    found = tvmq.check_conformance(vectors, answered(vectors, tmp_path, Arithmetic(), fault, (operator,)))
    assert words in found.operators[0].explanation
    assert found.operators[0].differing


@pytest.mark.slow
def test_narrow_accumulators_are_found(vectors, tmp_path):
    chip = replace(read_vectors(vectors)[0]["dense"], accumulator=Accumulator(18, "wrap"))
    found = tvmq.check_conformance(vectors, answered(vectors, tmp_path, chip, only=("dense",)))
    assert found.operators[0].explanation == "accumulators of 18 bits that wrap"


def test_what_nothing_explains_has_a_counter_example(vectors, tmp_path):
    folder = answered(vectors, tmp_path, Arithmetic(), only=("add",))
    file = folder / "add" / "usual_int8.npy"
    wrong = np.load(file)
    wrong[0, 5, 7] ^= 1
    np.save(file, wrong)
    (check,) = tvmq.check_conformance(vectors, folder).operators
    assert check.differing == 1 and check.branches == {"usual": 1} and not check.explanation
    assert check.smallest.startswith("add/usual_int8 at [0, 5, 7]")


@pytest.mark.slow
def test_refused(vectors, tmp_path):
    with pytest.raises(DataError, match="holds no vectors that can be read"):
        tvmq.check_conformance(tmp_path, tmp_path)
    with pytest.raises(DataError, match="has no answer to any of"):
        tvmq.check_conformance(vectors, tmp_path)
    np.savez(tmp_path / "a.npz", **{"add/usual_int8": np.zeros(3, np.int8)})
    with pytest.raises(DataError, match="the answer to add/usual_int8 has shape"):
        tvmq.check_conformance(vectors, tmp_path / "a.npz")
    shape = read_vectors(vectors)[1]
    wanted = next(y for case, y in shape if (case.operator, case.name) == ("add", "usual_int8"))
    np.savez(tmp_path / "b.npz", **{"add/usual_int8": wanted.astype(np.float32)})
    with pytest.raises(DataError, match="answer codes"):
        tvmq.check_conformance(vectors, tmp_path / "b.npz")
