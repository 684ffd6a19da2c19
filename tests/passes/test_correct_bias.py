"""Bias correction: the bias moves by the mean of what rounding the weight does; nothing else moves."""

from __future__ import annotations

import numpy as np
import pytest
import tvm

import tvmq
from tests.passes.stages import calibrated
from tests.support.models.networks import Net, assert_same, block, feeds_of, run_onnx
from tvmq import numerics
from tvmq.graph.ledger import get_ledger
from tvmq.graph.view import View, const_value, op_name
from tvmq.passes.correct_bias import correct_bias, tap_shares
from tvmq.passes.realize import realize

RANDOM = np.random.default_rng(2)
X = 'x: R.Tensor((1, 4, 5, 5), "float32")'
SHAPES = {1: (6, 4, 3, 3), 2: (6, 2, 3, 3), 4: (4, 1, 3, 3)}


def errors(weight: np.ndarray) -> np.ndarray:
    """Rounding errors of a weight, per filter symmetric to 127."""
    scale = (np.abs(weight).max((1, 2, 3)).astype(np.float64) / 127).astype(np.float32)
    zero = np.zeros(len(weight), np.int32)
    codes = numerics.quantize(weight, scale, zero, axis=0, dtype="int8", qmin=-127, qmax=127)
    return weight.astype(np.float64) - numerics.dequantize(codes, scale, zero, axis=0)


def conv(groups: int, *, bias: bool) -> tuple[tvm.IRModule, np.ndarray]:
    """A calibrated convolution without padding of x, and its weight."""
    shape = SHAPES[groups]
    weight = RANDOM.standard_normal(shape).astype(np.float32)
    signature = f'{X}, w: R.Tensor({shape}, "float32"), b: R.Tensor((1, {shape[0]}, 1, 1), "float32")'
    body = f"c = R.nn.conv2d(x, w, groups={groups})" + ("\na = R.add(c, b)" if bias else "")
    zeros = np.zeros((1, shape[0], 1, 1), np.float32)
    return calibrated(block(signature, body, f'(1, {shape[0]}, 3, 3), "float32"', w=weight, b=zeros)), weight


def bias_of(mod: tvm.IRModule) -> np.ndarray:
    (found,) = [const_value(v.args[1]) for _, v in View(mod).bindings if op_name(v) == "add"]
    return found.reshape(-1)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("groups", SHAPES)
def test_shift_is_the_mean_error(groups: int, bias: bool) -> None:
    """sum over taps and channels of (w - w_sq) * mean(x), each filter with the channels of its group."""
    mod, weight = conv(groups, bias=bias)
    mean = np.float64([0.5, -1, 2, 0.25])
    filters, per_group = weight.shape[:2]
    expected = np.zeros(filters)
    for f in range(filters):
        first = f // (filters // groups) * per_group
        for c in range(per_group):
            expected[f] += errors(weight)[f, c].sum() * mean[first + c]
    np.testing.assert_allclose(bias_of(correct_bias(mod, {"x": mean})), expected, rtol=1e-5, atol=1e-9)


def test_a_layer_without_bias_gets_one_and_keeps_its_name() -> None:
    mod, _ = conv(1, bias=False)
    after = correct_bias(mod, {"x": np.ones(4)})
    entry = get_ledger(after).layers["c"]
    assert (entry["root"], entry["members"], entry["facts"]["bias"]) == ("c_sum", ["c_sum", "c"], True)
    integer = realize(after)
    assert [op_name(v) for _, v in View(integer).bindings] == ["tvmq.quantize", "nn.conv2d", "add", "tvmq.dequantize"]


def test_matrix_products() -> None:
    weight = RANDOM.standard_normal((4, 3)).astype(np.float32)
    signature = 'x: R.Tensor((2, 4), "float32"), w: R.Tensor((4, 3), "float32"), b: R.Tensor((3,), "float32")'
    mod = calibrated(
        block(signature, "m = R.matmul(x, w)\na = R.add(m, b)", '(2, 3), "float32"', w=weight, b=np.zeros(3, "f4"))
    )
    mean = np.float64([1, 2, -1, 0.5])
    error = errors(weight.T.reshape(3, 4, 1, 1)).reshape(3, 4)
    np.testing.assert_allclose(bias_of(correct_bias(mod, {"x": mean})), error @ mean, rtol=1e-5)


def test_means_reach_through_reshapes() -> None:
    """A flatten of one pixel keeps the channels; a transpose does not, and nothing is corrected behind it."""
    weight = RANDOM.standard_normal((4, 3)).astype(np.float32)
    signature = 'x: R.Tensor((2, 4, 1, 1), "float32"), w: R.Tensor((4, 3), "float32")'
    moved = calibrated(
        block(signature, "r = R.reshape(x, R.shape([2, 4]))\nm = R.matmul(r, w)", '(2, 3), "float32"', w=weight)
    )
    assert len(View(correct_bias(moved, {"x": np.ones(4)})).bindings) == len(View(moved).bindings) + 1
    wider = 'x: R.Tensor((4, 4, 1, 1), "float32"), w: R.Tensor((4, 3), "float32")'
    body = "p = R.permute_dims(x, axes=[1, 0, 2, 3])\nr = R.reshape(p, R.shape([4, 4]))\nm = R.matmul(r, w)"
    turned = calibrated(block(wider, body, '(4, 3), "float32"', w=weight))
    assert_same(correct_bias(turned, {"x": np.ones(4)}), turned)


@pytest.mark.parametrize("means", [{}, {"other": np.ones(4)}, {"x": np.ones(3)}])
def test_layers_without_fitting_means_are_left_alone(means: dict[str, np.ndarray]) -> None:
    mod, _ = conv(2, bias=True)
    assert_same(correct_bias(mod, means), mod)


def test_shares_of_taps_inside_the_picture() -> None:
    """3x3 on 4x4 with padding 1: the upper row of taps sees 3 of 4 rows; stride and dilation count too."""
    call = block(
        X.replace("5, 5", "4, 4") + ', w: R.Tensor((4, 4, 3, 3), "float32")', "c = R.nn.conv2d(x, w, padding=1)"
    )["main"]
    value = call.body.blocks[0].bindings[0].value
    np.testing.assert_array_equal(tap_shares(value, (4, 4), (4, 4)), np.outer([0.75, 1, 0.75], [0.75, 1, 0.75]))


@pytest.mark.slow
def test_outputs_lose_their_bias() -> None:
    """On data the mean error of a convolution with coarse weights becomes smaller."""
    net = Net((1, 4, 8, 8), seed=3)
    model = net.model(net.op("Relu", net.conv("x", 4, 8)))
    feeds = [{"x": np.abs(feed["x"]) + 1} for feed in feeds_of(model, 8)]
    mod, params = tvmq.from_onnx(model)
    means = []
    for correct in (False, True):
        with tvmq.qconfig(calibrate_mode="minmax", nbit_weight=3, bias_correction=correct):
            executable = tvmq.build(tvmq.quantize(mod, params, feeds, guard=None))
        errors = [executable.run(feed)[0] - run_onnx(model, feed)[0] for feed in feeds]
        means.append(np.abs(np.mean(errors, (0, 1, 3, 4))).mean())
    assert means[1] < 0.3 * means[0], means


@pytest.mark.parametrize("groups, shape", [(1, (4, 3, 3)), (2, (4, 2, 2)), (4, (4, 1, 5))])
@pytest.mark.parametrize("padding", [[0, 0], [2, 1]])
def test_shift_of_a_transposed_convolution(groups: int, shape: tuple[int, ...], padding: list[int]) -> None:
    """Where each channel of x is its mean everywhere, the shift is what rounding the weight takes from the results."""
    weight, size = RANDOM.standard_normal(shape).astype(np.float32), 6
    out = (size - 1) * 2 + shape[2] - sum(padding)
    body = f"c = R.nn.conv1d_transpose(x, w, strides=2, padding={padding}, groups={groups})"
    signature = f'x: R.Tensor((1, 4, {size}), "float32"), w: R.Tensor({shape}, "float32")'
    mod = calibrated(block(signature, body, f'(1, {groups * shape[1]}, {out}), "float32"', w=weight))
    mean = np.float64([0.5, -1, 2, 0.25])
    (call,) = [v for _, v in View(mod).bindings if op_name(v) == "tvmq.simulated_quantize" and v.attrs.kind == "weight"]
    scale, zero, axis = const_value(call.args[1]), const_value(call.args[2]), int(call.attrs.axis)
    codes = numerics.quantize(weight, scale, zero, axis=axis, dtype="int8", qmin=-127, qmax=127)
    error = weight.astype(np.float64) - numerics.dequantize(codes, scale, zero, axis=axis)
    expected = np.zeros((groups * shape[1], (size - 1) * 2 + shape[2]))
    for i, j, c, f in np.ndindex(size, shape[2], *shape[:2]):
        expected[c // (4 // groups) * shape[1] + f, i * 2 + j] += mean[c] * error[c, f, j]
    expected = expected[:, padding[0] : padding[0] + out].mean(axis=1)
    np.testing.assert_allclose(bias_of(correct_bias(mod, {"x": mean})), expected, rtol=1e-5, atol=1e-7)
