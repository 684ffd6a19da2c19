"""The proof of int16 lanes, the folding it allows, and the kernels that use it, against the definition."""

from __future__ import annotations

import numpy as np
import pytest

from tests.kernels.conv.test_conv2d import SHAPES
from tests.kernels.harness import compare, conv_operands, epilogue_for, expected_conv, levels, run_kernel
from tvmq.kernels.conv.conv2d_int16 import (
    PROBED,
    lane_gain,
    lane_kernel,
    largest_activation,
    make_lane_kernel,
    plan_lanes,
)
from tvmq.kernels.conv.int16_accumulation import plan_panel, sums_fit_int16
from tvmq.kernels.conv.matmul import matmul
from tvmq.kernels.conv.shape import ConvShape
from tvmq.kernels.isa import isa_named, level
from tvmq.kernels.parts.tiling import choose_tiling
from tvmq.kernels.parts.types import Conv2d
from tvmq.kernels.winograd.winograd import choose_winograd

LEVELS = levels("avx2", "avx512bw")


def saturated(weight: np.ndarray, x: np.ndarray) -> np.ndarray:
    """What vpmaddubsw and 16-bit additions make of groups: weight [groups, 4, channels], x [groups, 4]."""
    lanes = (x.astype(np.int64)[:, :, None] * weight).reshape(len(x), 2, 2, -1).sum(axis=2)
    total = np.clip(lanes, -(2**15), 2**15 - 1).sum(axis=0)
    return ((total + 2**15) % 2**16 - 2**15).sum(axis=0)


@pytest.mark.parametrize("highest", [1, 127, 255])
def test_what_the_proof_admits_never_overflows(highest: int) -> None:
    random = np.random.default_rng(0)
    admitted = refused = 0
    for _ in range(400):
        size = random.choice([20, 64, 70, 128])
        weight = random.integers(-size, size, (random.integers(1, 3), 4, 3)).astype(np.int8)
        held = bool(sums_fit_int16(weight, highest))
        admitted, refused = admitted + held, refused + (not held)
        # the worst inputs: all of one sign of one channel at their highest
        worst = [(np.sign(weight[:, :, c]) == sign) * highest for c in range(3) for sign in (-1, 1)]
        exact = [bool((saturated(weight, x) == (x[:, :, None] * weight).sum(axis=(0, 1))).all()) for x in worst]
        assert all(exact) or not held
        assert held or highest == 1 or not all(exact)  # it refuses nothing that would be exact
    assert admitted and (refused or highest == 1)


def test_bounds_are_tight() -> None:
    for weights, highest, held in (
        ([64, 64, 0, 0], 255, True),
        ([64, 65, 0, 0], 255, False),
        ([-64, -64, 0, 0], 255, True),
        ([127, -128, -128, 127], 255, True),
        ([127, 127, -128, -128], 127, True),
        ([0, 0, 127, 127], 255, False),
    ):
        assert bool(sums_fit_int16(np.int8(weights).reshape(1, 4, 1), highest)) == held, weights
    one = np.int8([64, 0, 0, 0]).reshape(1, 4, 1)
    assert sums_fit_int16(np.concatenate([one, one]), 255) and not sums_fit_int16(np.concatenate([one, one, one]), 255)


@pytest.mark.parametrize(("size", "highest"), [(128, 255), (96, 255), (64, 255), (128, 127), (8, 255)])
def test_every_fold_is_proved_and_nothing_is_lost(size: int, highest: int) -> None:
    random = np.random.default_rng(size)
    weight = random.integers(-size, size, (37, 4, 16)).astype(np.int8)
    weight[5] = 0
    plan = plan_panel(weight, highest)
    total = np.zeros(weight.shape, np.int64)
    np.add.at(total, plan.order, plan.weight)
    np.testing.assert_array_equal(total, weight)
    paired = 2 * plan.pairs
    assert sums_fit_int16(plan.weight[:paired].reshape(plan.pairs, 2, 4, 16), highest).all()
    assert sums_fit_int16(plan.weight[paired:, None], highest).all()
    assert 5 not in plan.order and (plan.split > 0) == (size * highest > 2**14)


def test_weights_of_zeros_leave_nothing_to_fold() -> None:
    plan = plan_panel(np.zeros((5, 4, 16), np.int8), 255)
    assert plan.pairs == plan.split == len(plan.order) == len(plan.weight) == 0


def seven_bits(conv: Conv2d) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Operands with weights of 7 bits, many of them extreme."""
    x, weight, bias = conv_operands(conv)
    return x, np.clip(weight, -64, 63), bias


@pytest.mark.thinned(4)
@pytest.mark.parametrize("name", LEVELS)
@pytest.mark.parametrize("number", [2, 6, 8, 11, 18, 24, 26, 29])
def test_kernels_equal_the_definition(name: str, number: int) -> None:
    conv = SHAPES[number]
    operands = seven_bits(conv)
    epilogue, others = epilogue_for(conv, ("sums", "codes", "all")[number % 3])
    kernel, note = lane_kernel("conv2d", conv, *operands[1:], 7, epilogue, isa_named(name))
    assert kernel is not None and "fold" in note
    found = run_kernel(kernel, (operands[0], *others), name)
    np.testing.assert_array_equal(found, expected_conv(conv, operands, 7, epilogue, others))


@pytest.mark.thinned(2)
@pytest.mark.parametrize("name", LEVELS)
@pytest.mark.parametrize("number", [6, 10])
def test_repaired_weights_equal_the_definition(name: str, number: int) -> None:
    conv = SHAPES[number]
    operands = conv_operands(conv)
    shape = ConvShape(conv, level(name).lane_form, 7)
    epilogue, others = epilogue_for(conv, "codes")
    tiling = choose_tiling(shape.product, shape.ins)
    kernel, plan = make_lane_kernel("conv2d", shape, tiling, *operands[1:], epilogue, 255)
    assert plan.split > 0.4
    found = run_kernel(kernel, (operands[0], *others), name)
    np.testing.assert_array_equal(found, expected_conv(conv, operands, 7, epilogue, others))


@pytest.mark.isa("avx2")
def test_a_kernel_against_the_proof_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    conv = SHAPES[6]
    x, weight, bias = conv_operands(conv)
    shape = ConvShape(conv, level("avx2").lane_form, 0)
    tiling = choose_tiling(shape.product, shape.ins)
    claimed = 63  # activations are said to be 0..63 and are not
    kernel, _ = make_lane_kernel("conv2d", shape, tiling, weight, bias, (), claimed)
    right = expected_conv(conv, (x, weight, bias), 0, (), ())
    assert not np.array_equal(run_kernel(kernel, (x,), "avx2"), right)
    small = x // 4
    right = expected_conv(conv, (small, weight, bias), 0, (), ())
    np.testing.assert_array_equal(run_kernel(kernel, (small,), "avx2"), right)


@pytest.mark.isa("avx2")
def test_codes_of_7_bits_prove_weights_of_8() -> None:
    conv = Conv2d(1, 9, 9, 24, 20, (3, 3), (2, 2), (1, 1, 1, 1))
    x, weight, bias = conv_operands(conv)
    x = np.minimum(x, 127)
    epilogue, _ = epilogue_for(conv, "codes")
    assert lane_kernel("conv2d", conv, weight, bias, 7, epilogue, isa_named("avx2"))[0] is None
    kernel, _ = lane_kernel("conv2d", conv, weight, bias, 7, epilogue, isa_named("avx2"), (0, 127))
    assert kernel is not None
    found = run_kernel(kernel, (x,), "avx2")
    np.testing.assert_array_equal(found, expected_conv(conv, (x, weight, bias), 7, epilogue, ()))


def test_winograd_must_beat_lanes() -> None:
    conv = Conv2d(1, 8, 8, 16, 16, (3, 3), padding=(1, 1, 1, 1))
    _, weight, _ = seven_bits(conv)
    gain = lane_gain(conv, weight, 0, isa_named("avx2"))
    assert 1.15 < gain < 1.5 and lane_gain(conv, conv_operands(conv)[1], 0, isa_named("avx2")) == 1
    assert lane_gain(conv, weight, 0, isa_named("avx512vnni")) == 1
    assert choose_winograd(conv, weight, 0, isa_named("avx2"), direct=100.0).shape is None


def test_padding_counts_as_an_activation() -> None:
    padded = Conv2d(1, 5, 5, 8, 8, (3, 3), padding=(1, 1, 1, 1))
    assert largest_activation(padded, 200, (0, 127)) == 200
    assert largest_activation(Conv2d(1, 5, 5, 8, 8), 200, (0, 127)) == 127
    assert largest_activation(Conv2d(1, 5, 5, 8, 8, x_dtype="int8"), 0, None) == 255


@pytest.mark.thinned(3)
@pytest.mark.isa("avx2")
@pytest.mark.parametrize("rows", [1, 3, 21])
def test_products_of_free_rows(rows: int) -> None:
    random = np.random.default_rng(1)
    weight = random.integers(-64, 64, (40, 72)).astype(np.int8)
    x = random.integers(0, 256, (rows, 40)).astype(np.uint8)
    bias = random.integers(-900, 900, 72).astype(np.int32)
    kernel = matmul(("n",), 40, 72, weight, bias, (), isa_named("avx2"))
    assert "lanes" in kernel.name
    expected = x.astype(np.int32) @ weight.astype(np.int32) + bias
    np.testing.assert_array_equal(run_kernel(kernel, (x,), "avx2"), expected)


def test_words_where_bytes_would_be_read_twice_too_often() -> None:
    conv = Conv2d(1, 7, 7, 64, 160)
    _, weight, bias = conv_operands(conv)
    kernel, note = lane_kernel("conv2d", conv, weight, bias, 0, (), isa_named("avx2"))
    assert kernel is None and "7 bits would hold" in note and "read twice" in note
    shape = ConvShape(conv, level("avx2").lane_form, 0)
    tiling = choose_tiling(shape.product, shape.ins)
    assert len(plan_lanes(shape, tiling, weight, (), 255, PROBED).panels) == PROBED < tiling.panels
    for name in ("avx512vnni", "generic"):
        assert lane_kernel("conv2d", conv, weight, bias, 0, (), isa_named(name)) == (None, "")


@pytest.mark.isa("avx2")
def test_groups_without_weights_are_left_out() -> None:
    conv = Conv2d(1, 4, 4, 16, 16)
    x, weight, bias = conv_operands(conv)
    weight[:], weight[3, 9] = 0, 100
    kernel = lane_kernel("conv2d", conv, weight, bias, 0, (), isa_named("avx2"))[0]
    assert kernel is not None and kernel.constants[0].size == 64 + 64  # one group of 16 channels, and room to fetch
    expected = expected_conv(conv, (x, weight, bias), 0, (), ())
    np.testing.assert_array_equal(run_kernel(kernel, (x,), "avx2"), expected)


@pytest.mark.isa("avx2")
def test_default_choice_still_equals_the_definition() -> None:
    conv = SHAPES[6]
    compare(conv, "avx2", *epilogue_for(conv, "codes"))
