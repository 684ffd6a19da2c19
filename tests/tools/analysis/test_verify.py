"""`tvmq.verify`: equality for an executable of its module, and the place of a difference for any other."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import tvm

import tvmq
from tests.support.models.networks import Net, feeds_of, parse, text_of
from tests.tools.analysis.changed_modules import change_constant
from tvmq.errors import DataError
from tvmq.graph.rewrite import Rewriter
from tvmq.graph.view import is_const, op_name
from tvmq.passes.partition_conversions import partition_conversions
from tvmq.runtime.executable import Executable
from tvmq.tools.analysis.verification import OutputDifference, Verification, unequal_bits

PRODUCTS = text_of(
    'x: R.Tensor((2, 3), "float32"), w: R.Tensor((3,), "float32")',
    "y = R.multiply(x, w)\nz = R.nn.relu(y)\nreturn (y, z)",
)


def broken(mod: tvm.IRModule, variable: str, change: Any) -> Executable:
    """Code of the changed module, said to be that of `mod`."""
    return Executable(replace(tvmq.build(change_constant(mod, variable, change))._parts, module=mod))


def one_more(values: np.ndarray) -> np.ndarray:
    """Raise one weight or bias by one."""
    values.reshape(-1)[0] += 1 if values.reshape(-1)[0] < 100 else -1
    return values


def test_yes(digits):
    result = tvmq.verify(digits.exe, digits.pictures(5))
    assert result == Verification(5, 50, 0, None, ())
    assert result.exact
    assert str(result) == "exact: yes (50 values of 5 samples equal the NumPy definition bit for bit)"


@pytest.mark.slow
@pytest.mark.thinned(3)
@pytest.mark.parametrize("operator", ["nn.conv2d", "add", "matmul"])
def test_one_changed_constant_is_found(digits, operator):
    """A weight of the first convolution, its bias, a weight of the head: one step each."""
    mod = digits.quantized
    found = [
        var.name
        for var, value in Rewriter(mod).view.bindings
        if op_name(value) == operator and any(map(is_const, value.args))
    ]
    exe = broken(mod, found[0], one_more)
    result = tvmq.verify(exe, digits.pictures(64))
    assert not result.exact and 0 < result.differing <= result.values == 640
    first = result.first
    (compiled,), (defined,) = (
        run({"image": digits.example.test[first.sample][None]})
        for run in (exe.run, lambda feed: tvmq.reference.run(mod, feed))
    )
    assert (first.compiled, first.defined) == (compiled[first.index], defined[first.index])
    assert first.compiled != first.defined and first.output == "scores"
    for earlier in digits.example.test[: first.sample]:
        assert np.array_equal(exe(earlier[None]), digits.exe(earlier[None]))
    text = str(result)
    assert text.startswith(f"exact: no ({result.differing} of 640 values of 64 samples differ")
    assert f"the first is output 'scores' of sample {first.sample} at {list(first.index)}: compiled " in text


@pytest.mark.slow
def test_which_output_and_which_sample_of_a_batch():
    """The second row, the third column of a batch of two; the relu behind it hides the difference elsewhere."""
    mod = parse(PRODUCTS, w=np.float32([1, 2, 3]))
    exe = broken(mod, "y", lambda w: w + np.float32([0, 0, 1]))
    x = np.float32([[1, 1, 0], [1, 1, -2], [1, 1, 1], [0, 0, 0]])
    result = tvmq.verify(exe, {"x": x})
    assert (result.samples, result.values, result.differing) == (4, 24, 3)
    assert result.first == OutputDifference("output_0", 1, (1, 2), -8.0, -6.0)


@pytest.mark.slow
def test_islands_are_listed():
    n = Net((1, 3, 8, 8))
    model = n.model(n.conv(n.op("Trilu", n.op("Relu", n.conv("x", 3, 8))), 8, 4))
    mod, params = tvmq.from_onnx(model)
    exe = tvmq.build(tvmq.quantize(mod, params, feeds_of(model), guard=None))
    result = tvmq.verify(exe, feeds_of(model, 2))
    assert result.exact and result.islands == ("triu '/trilu_2'",)
    assert "taken as compiled: triu '/trilu_2'" in str(result)


@pytest.mark.slow
def test_float_models_are_islands_all_over(digits):
    exe = tvmq.build(digits.mod, params=digits.params)
    result = tvmq.verify(exe, digits.pictures(2))
    assert result.exact and len(result.islands) > 10


@pytest.mark.slow
def test_data(digits):
    for empty in ([], iter([]), np.zeros((0, 1, 16, 16), np.float32)):
        with pytest.raises(DataError, match="verify: the data gave 0 samples; give at least one"):
            tvmq.verify(digits.exe, empty)
    with pytest.raises(DataError, match="input 'image' has shape"):
        tvmq.verify(digits.exe, np.zeros((1, 3, 16, 16), np.float32))
    pictures = digits.example.test[:3]
    for data in (pictures, [(p[None],) for p in pictures], (p[None] for p in pictures), {"image": pictures}):
        assert tvmq.verify(digits.exe, data).samples == 3


def test_data_form(digits):
    data = tvmq.verify(digits.exe, digits.pictures(1)).to_dict()
    assert json.loads(json.dumps(data)) == {
        "exact": True, "samples": 1, "values": 10, "differing": 0, "first": None, "islands": [],
    }  # fmt: skip


@pytest.mark.parametrize("a, b, differing", [
    (np.float32([1, np.nan, np.inf]), np.float32([1, np.nan, np.inf]), 0),
    (np.float32([0.0]), np.float32([-0.0]), 1),
    (np.float32([1.0]), np.nextafter(np.float32([1.0]), np.float32(2)), 1),
    (np.float32(3), np.float32(3), 0), (np.float32(3), np.float32(4), 1),
    (np.int8([1, 2]), np.int8([1, 3]), 1), (np.array([True]), np.array([False]), 1),
    (np.float32([1, 2]), np.float64([1, 2]), 2), (np.float32([1, 2]), np.float32([[1, 2]]), 2),
    (np.float32([[1, 2], [3, 4]]).T, np.ascontiguousarray(np.float32([[1, 2], [3, 4]]).T), 0),
])  # fmt: skip
def test_bits(a, b, differing):
    assert int(unequal_bits(a, b).sum()) == differing


def in_four_functions() -> tvm.IRModule:
    """Two convolutions between conversions."""
    n = Net((1, 3, 6, 6))
    model = n.model(n.op("Sigmoid", n.conv(n.op("Relu", n.conv("x", 3, 4)), 4, 2)))
    with tvmq.qconfig(calibrate_mode="minmax", partition_conversions="enabled"):
        return tvmq.quantize(*tvmq.from_onnx(model), feeds_of(model), guard=None)


@pytest.mark.slow
def test_every_function_is_compared() -> None:
    mod = in_four_functions()
    feeds = [{"x": np.random.default_rng(0).standard_normal((1, 3, 6, 6)).astype(np.float32)}]
    exe = tvmq.build(mod)
    found = tvmq.verify(exe, feeds)
    # results, codes of the input, codes of the core, and results again
    assert found.exact and found.values == 72 + 108 + 72 + 72
    wrong = tvmq.build(partition_conversions(change_constant(mod, "conv_0_conv2d_bias", lambda bias: bias + 500)))
    assert wrong.functions[2] == "quantized_main"
    mixed = Executable(replace(exe._parts))
    mixed._functions = {**exe._functions, "quantized_main": wrong["quantized_main"]}
    found = tvmq.verify(mixed, feeds)
    assert not found.exact and found.first.output == "quantized_main: sigmoid_3_out0" and found.values == 324
