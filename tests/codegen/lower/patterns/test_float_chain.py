"""Chains of float operators after a product that its kernel computes too."""

from __future__ import annotations

import numpy as np
import pytest

import tvmq
from tests.support.models.networks import Net, block, drive
from tvmq.codegen.compile.build import build_executable
from tvmq.codegen.compile.build_options import BRIEF
from tvmq.codegen.lower.patterns.chains import find_chains
from tvmq.codegen.lower.patterns.float_chain import float_steps
from tvmq.graph.view import View

SIGNATURE = 'x: R.Tensor((2, 5), "uint8"), w: R.Tensor((2, 4), "float32")'
PRODUCT = """
s = R.matmul(x, R.const([[1, 2, 3, 4], [1, 2, 3, 4], [1, 2, 3, 4], [1, 2, 3, 4], [1, 2, 3, 4]], "int8"), out_dtype="int32")
d = R.tvmq.dequantize(s, R.const(0.5, "float32"), R.const(0, "int32"))
"""
QUANTIZE = 'y = R.tvmq.quantize({}, R.const(0.5, "float32"), R.const(3, "int32"))'


@pytest.mark.parametrize(("body", "members", "dtype"), [
    (QUANTIZE.format("d"), "s d y", "uint8"),
    ("a = R.sigmoid(d)\nb = R.multiply(d, a)\n" + QUANTIZE.format("b"), "s d a b y", "uint8"),
    ('a = R.add(d, R.const([1, 2, 3, 4], "float32"))\ny = R.nn.relu(a)', "s d a y", "float32"),
    ('a = R.add(d, R.const([[1], [2]], "float32"))\ny = R.nn.relu(a)', "s d", "float32"),  # of rows
    ('a = R.multiply(d, R.const(0.0, "float32"))\ny = R.nn.relu(a)', "s d", "float32"),
    ("a = R.nn.relu(d)\ny = R.multiply(a, w)", "s d a", "float32"),
    ("a = R.sigmoid(d)\nb = R.multiply(a, w)\ny = R.multiply(d, b)", "s d", "float32"),  # d is read outside
    ("y = R.subtract(d, d)", "s d", "float32"),
])  # fmt: skip
def test_what_goes_into_the_kernel(body: str, members: str, dtype: str) -> None:
    view = View(block(SIGNATURE, PRODUCT + body, f'(2, 4), "{dtype}"'))
    assert [chain.members for chain in find_chains(view, fused_kernels=True).values()] == [members.split()]
    assert [chain.members for chain in find_chains(view).values()] == [["s", "d"]]  # GPUs, islands


def test_kernels_of_a_few_runs_leave_long_functions_to_loops() -> None:
    """Code of exp for each vector of a tile takes a second to compile; sums and limits stay in the kernel."""
    sigmoid = block(SIGNATURE, PRODUCT + "y = R.sigmoid(d)", '(2, 4), "float32"')
    limits = block(SIGNATURE, PRODUCT + "a = R.clip(d, 0, 6)\n" + QUANTIZE.format("a"), '(2, 4), "uint8"')
    for module, whole, brief in ((sigmoid, ["s", "d", "y"], ["s", "d"]), (limits, *2 * [["s", "d", "a", "y"]])):
        chains = [find_chains(View(module), fused_kernels=True, long_kernels=flag) for flag in (True, False)]
        assert [one.members for known in chains for one in known.values()] == [whole, brief]
        assert not find_chains(View(module), long_kernels=False).keys() - {"d"}


@pytest.mark.slow
def test_brief_code_of_long_functions_has_the_same_bits() -> None:
    n = Net((1, 4, 5, 5))
    y = n.conv("x", 4, 24, 1)
    model = n.model(n.conv(n.op("Mul", y, n.op("Sigmoid", y)), 24, 4, 1))
    road = drive(model, rules=(tvmq.Rule(lambda layer: layer.macs == 0, None),))
    feed = {"x": np.random.default_rng(1).standard_normal((1, 4, 5, 5)).astype(np.float32)}
    brief = build_executable(road.quantized, options=BRIEF)
    assert [a.tobytes() for a in brief.run(feed)] == [a.tobytes() for a in road.executable.run(feed)]


def test_steps_name_values_numbers_and_channels() -> None:
    body = (
        'a = R.add(d, R.const([1, 2, 3, 4], "float32"))\nb = R.clip(a, 0, 6)\nc = R.multiply(d, b)\n'
        + QUANTIZE.format("c")
    )
    view = View(block(SIGNATURE, PRODUCT + body, '(2, 4), "uint8"'))
    steps = float_steps(view, "d", ["a", "b", "c", "y"], 4)
    assert steps.steps == (("add", (0, "channel0")), ("clip", (1, 0.0, 6.0)), ("multiply", (0, 2)))
    assert steps.codes == (0.5, 3, 0, 255, "uint8") and steps.channels["channel0"].shape == (4,)


@pytest.mark.slow
def test_a_block_with_gates_is_exact_and_has_few_kernels() -> None:
    """Expansion, depthwise convolution, squeeze and excitation, projection: h-swish and silu between them in float."""
    n = Net((1, 8, 9, 9))
    y = n.op("HardSwish", n.conv("x", 8, 24, 1))
    y = n.conv(y, 24, 24, 3, groups=24)
    y = n.op("Mul", y, n.op("Sigmoid", y))
    gate = n.op("GlobalAveragePool", y)
    gate = n.op("Sigmoid", n.conv(n.op("Relu", n.conv(gate, 24, 8, 1)), 8, 24, 1))
    model = n.model(n.conv(n.op("Mul", y, gate), 24, 8, 1))
    road = drive(model, rules=(tvmq.Rule(lambda layer: layer.macs == 0, None),))
    assert road.verification.exact
    feed = {"x": np.random.default_rng(1).standard_normal((1, 8, 9, 9)).astype(np.float32)}
    kernels = [kernel for layer in road.executable.profile(feed, repeat=1).layers for kernel in layer.kernels]
    assert not any("sigmoid" in kernel or "clip" in kernel or "add" in kernel for kernel in kernels), kernels


@pytest.mark.slow
def test_a_residual_of_codes_is_read_by_the_sum() -> None:
    """Codes that a sum in float takes become floats inside of its loop, not in a pass of their own."""
    n = Net((1, 8, 9, 9))
    y = n.op("Relu", n.conv("x", 8, 16))
    y = n.op("Add", y, n.op("Relu", n.conv(n.op("Relu", n.conv(y, 16, 16)), 16, 16)))
    road = drive(n.model(n.conv(y, 16, 4)), rules=(tvmq.Rule(lambda layer: layer.macs == 0, None),))
    assert road.verification.exact and "tvmq.dequantize" in road.operators()
    feed = {"x": np.random.default_rng(2).standard_normal((1, 8, 9, 9)).astype(np.float32)}
    kernels = [kernel for layer in road.executable.profile(feed, repeat=1).layers for kernel in layer.kernels]
    assert not any(kernel.startswith("dequantize") for kernel in kernels), kernels
