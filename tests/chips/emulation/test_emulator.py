"""The emulated chip equals the definition where their rules agree, and follows its description elsewhere."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import tvmq
from tests.support.models.networks import Net, feeds_of
from tvmq.chips.emulation.accumulator import Accumulator
from tvmq.chips.emulation.arithmetic import Arithmetic
from tvmq.chips.emulation.emulator import Emulator
from tvmq.errors import AccumulatorError, StageError
from tvmq.graph.view import op_name
from tvmq.numerics.known_rules import KNOWN_RULES
from tvmq.numerics.requantize_rule import RequantizeRule


def on(mod, *, accumulator=None, rule=None, floats="float32"):
    """The module on a chip."""
    arithmetic = Arithmetic(accumulator or Accumulator(), rule, floats=floats)
    return Emulator(mod, lambda _family="", *, depthwise=False: arithmetic, "chip")


@pytest.mark.slow
def test_the_same_arithmetic_gives_the_compiled_result(digits):
    chip = tvmq.emulate(digits.quantized, "cpu")
    for picture in digits.example.test[:5]:
        assert np.array_equal(chip(picture[None]), digits.exe(picture[None]))
    assert sum(layer.overflows for layer in chip.layers) == 0
    assert all(layer.proved for layer in chip.layers)
    convs = [layer for layer in chip.layers if layer.operator == "conv2d"]
    assert len(convs) > 5 and all(layer.sums and layer.codes and layer.reach > 1000 for layer in convs)
    assert "accumulators of 32 bits: proved, no sum of" in str(chip)
    chip.clear()
    assert not any(layer.sums or layer.codes for layer in chip.layers)


@pytest.mark.parametrize("rule", ["float", "onnxruntime", "tensorrt"])
def test_rules_of_the_same_codes(digits, rule):
    chip = on(digits.quantized, rule=KNOWN_RULES[rule])
    feed = digits.pictures(3)
    for index in range(3):
        one = {"image": feed["image"][index : index + 1]}
        assert np.array_equal(chip.run(one)[0], digits.exe.run(one)[0])


def test_accumulators_wide_enough_change_nothing(digits):
    reach = max(layer.reach for layer in _ran(on(digits.quantized), digits).layers)
    bits = reach.bit_length() + 1
    chip = _ran(on(digits.quantized, accumulator=Accumulator(bits, "saturate")), digits)
    assert all(layer.proved for layer in chip.layers)
    narrower = on(digits.quantized, accumulator=Accumulator(bits - 1, "saturate"))
    assert not all(layer.proved for layer in _ran(narrower, digits).layers)


def _ran(chip, digits):
    chip.run({"image": digits.example.test[:1]})
    return chip


@pytest.mark.slow_cases("saturate")
@pytest.mark.parametrize("overflow", ["wrap", "saturate"])
def test_narrow_accumulators_against_the_sums_themselves(digits, overflow):
    """12 bits: the first convolution's sums are wrapped, or saturated in order, and counted."""
    chip, seen = on(digits.quantized, accumulator=Accumulator(12, overflow)), {}
    chip.run({"image": digits.example.test[:1]}, watch=seen.__setitem__)
    first = next(var.name for var, value in chip.view.bindings if op_name(value) == "nn.conv2d")
    wide = {}
    tvmq.reference.run(digits.quantized, {"image": digits.example.test[:1]}, watch=wide.__setitem__)
    exact = wide[first].astype(np.int64)
    if overflow == "wrap":
        np.testing.assert_array_equal(seen[first], (exact + 2048) % 4096 - 2048)
    assert seen[first].min() >= -2048 and seen[first].max() <= 2047
    layer = chip.layers[0]
    assert layer.overflows >= (np.abs(exact) > 2048).sum() > 0 and not layer.proved


def test_sums_that_were_said_to_be_proved_are_refused_by_name(digits):
    chip = on(digits.quantized, accumulator=Accumulator(12, "proved"))
    name = digits.quantized and "/stem/conv"
    with pytest.raises(AccumulatorError, match=f"emulate, layer '{name}.*sums leave the accumulators of backend chip"):
        chip.run({"image": digits.example.test[:1]})


def test_another_rule_changes_codes_by_one_step_at_most(digits):
    one = {"image": digits.example.test[:1]}
    chip, ours, theirs = on(digits.quantized, rule=RequantizeRule(roundings=("floor",))), {}, {}
    tvmq.reference.run(digits.quantized, one, watch=ours.__setitem__)
    chip.run(one, watch=theirs.__setitem__)
    first = next(var.name for var, value in chip.view.bindings if op_name(value) == "tvmq.requantize")
    apart = ours[first].astype(int) - theirs[first]
    assert set(np.unique(apart)) == {0, 1}


@pytest.mark.parametrize("floats, step", [("float16", 2.0**-10), ("bfloat16", 2.0**-7)])
def test_floats_of_a_chip_are_rounded_after_each_operator(digits, floats, step):
    one = {"image": digits.example.test[:1]}
    (scores,) = on(digits.quantized, floats=floats).run(one)
    (ours,) = digits.exe.run(one)
    assert scores.dtype == np.float32 and not np.array_equal(scores, ours)
    assert np.abs(scores - ours).max() <= step * np.abs(ours).max()
    mantissa = np.frexp(scores)[0] / step * 2
    assert np.array_equal(mantissa, np.rint(mantissa))


def narrow_for(kind, narrow, family="", *, depthwise=False):
    """Narrow accumulators for one family, usual ones for the others."""
    return narrow if family == kind else Arithmetic()


@pytest.mark.slow
def test_all_kinds_of_sums_have_accumulators_of_their_own():
    """Transposed convolution, pooling, mean, product of two tensors: narrow for one kind, the others are not touched."""
    net = Net((1, 4, 8, 8))
    x = net.inputs[0]
    up = net.op("ConvTranspose", x, net.constant(net.weight(4, 4, 2, 2)), kernel_shape=[2, 2], strides=[2, 2])
    pooled = net.op("AveragePool", net.op("Abs", up), kernel_shape=[2, 2], strides=[2, 2])
    scaled = net.op("Mul", pooled, net.op("Sigmoid", net.conv(x, 4, 4)))
    model = net.model(net.op("GlobalAveragePool", net.op("Abs", scaled)))
    mod, params = tvmq.from_onnx(model)
    feeds = feeds_of(model)
    qmod = tvmq.quantize(mod, params, feeds, guard=None)
    exe = tvmq.build(qmod)
    for overflow in ("wrap", "saturate"):
        assert np.array_equal(on(qmod, accumulator=Accumulator(30, overflow)).run(feeds[0])[0], exe.run(feeds[0])[0])
        for kind in ("conv_transpose", "conv2d", "multiply", "mean", "avg_pool"):
            chip = Emulator(qmod, partial(narrow_for, kind, Arithmetic(Accumulator(8, overflow))))
            chip.run(feeds[0])
            assert {layer.operator for layer in chip.layers if layer.overflows} == {kind}


def test_a_float_module_is_refused(digits):
    with pytest.raises(StageError, match="emulate: the module is"):
        tvmq.emulate(digits.mod, "cpu")


def test_the_description_decides(digits):
    backend = replace(tvmq.Backend("narrow"), accumulator_bits=16)
    assert tvmq.emulate(digits.quantized, backend).arithmetic.accumulator.bits == 16
