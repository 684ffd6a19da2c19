"""The proof of int16 lanes, the folding it allows, and the kernels that use it, against the definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.extra.numpy import arrays

from tests.codegen.kernels.conv.test_conv2d import SHAPES
from tests.codegen.kernels.harness import compare, conv_operands, epilogue_for, expected_conv, levels, run_kernel
from tvmq.codegen.kernels.conv.conv2d_int16 import (
    PROBED,
    lane_gain,
    lane_kernel,
    largest_activation,
    make_lane_kernel,
    plan_lanes,
)
from tvmq.codegen.kernels.conv.int16_accumulation import (
    FOLDED4,
    INT16_PAIR,
    PAIRED,
    USUAL_GROUP,
    PanelPlan,
    cut_runs,
    plan_panels,
    sums_fit_int16,
)
from tvmq.codegen.kernels.conv.matmul import matmul
from tvmq.codegen.kernels.conv.shape import ConvShape
from tvmq.codegen.kernels.isa import isa_named, level
from tvmq.codegen.kernels.parts.kernel_types import Conv2d
from tvmq.codegen.kernels.winograd.winograd import choose_winograd

LEVELS = levels("avx2", "avx512bw")


def saturated(weight: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Sums by vpmaddubsw and 16-bit additions, which saturate: weight [groups, 4, channels], x [groups, 4]."""
    lanes = (x.astype(np.int64)[:, :, None] * weight).reshape(len(x), 2, 2, -1).sum(axis=2)
    total = np.clip(lanes, -(2**15), 2**15 - 1).sum(axis=0)
    return ((total + 2**15) % 2**16 - 2**15).sum(axis=0)


@pytest.mark.slow_cases("127", "255")
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


def rebuilt(plan: PanelPlan, shape: tuple[int, ...]) -> np.ndarray:
    """Weights [runs, elements, channels] that a plan multiplies; all after a run must be 0."""
    runs, run, channels = shape
    total = np.zeros((runs, run + 4, channels), np.int64)
    for places, weight in ((plan.groups, plan.weight), (plan.int16_pairs, plan.int16_weight)):
        for place, part in zip(places, weight, strict=True):
            total[place // run, place % run : place % run + len(part)] += part
    assert not total[:, run:].any()
    return total[:, :run]


@pytest.mark.parametrize(("size", "highest"), [(128, 255), (96, 255), (64, 255), (128, 127), (8, 255)])
@pytest.mark.parametrize("run", [1, 3, 8, 37, 700])
def test_every_fold_is_proved_and_nothing_is_lost(size: int, highest: int, run: int) -> None:
    random = np.random.default_rng(size + run)
    weight = random.integers(-size, size, (2, 3, run, 8)).astype(np.int8)
    weight[:, 1, :, 2:] //= 3
    weight[0, 2] = 0
    for part, plan in zip(weight, plan_panels(weight, highest), strict=True):
        np.testing.assert_array_equal(rebuilt(plan, part.shape), part)
        fours, paired = 4 * plan.fours, 4 * plan.fours + 2 * plan.pairs
        assert sums_fit_int16(plan.weight[:fours].reshape(plan.fours, 4, 4, 8), highest).all()
        assert sums_fit_int16(plan.weight[fours:paired].reshape(plan.pairs, 2, 4, 8), highest).all()
        assert sums_fit_int16(plan.weight[paired:, None], highest).all()
        assert plan.alone == len(plan.groups) - paired
        assert len(plan.int16_pairs) % 2 == 0


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(arrays(bool, (4, 23)), arrays(bool, (4, 23)))
def test_a_cut_covers_everything_once_and_costs_least(groups: np.ndarray, empty: np.ndarray) -> None:
    groups[:, -3:] = False
    groups[0, :20] = empty[1] = True
    begins, int16_pairs = cut_runs(groups, empty)
    for line in range(4):
        covered = np.zeros(30, int)
        for flags, size in ((begins, 4), (int16_pairs, 2)):
            for place in np.flatnonzero(flags[line]):
                covered[place : place + size] += 1
        assert covered.max(initial=0) <= 1 and (covered[:23] + empty[line] > 0).all()
        assert not (begins[line] & ~groups[line]).any()
        found = USUAL_GROUP * begins[line].sum() + INT16_PAIR * int16_pairs[line].sum()
        assert found == pytest.approx(cheapest(groups[line], empty[line]))


def cheapest(groups: np.ndarray, empty: np.ndarray) -> float:
    """Least cost of a line, from the first element to the last."""
    least = np.full(len(groups) + 4, np.inf)
    least[0] = 0
    for i, (group, nothing) in enumerate(zip(groups, empty, strict=True)):
        for size, cost, allowed in ((4, USUAL_GROUP, group), (2, INT16_PAIR, True), (1, 0, nothing)):
            least[i + size] = min(least[i + size], least[i] + (cost if allowed else np.inf))
    return float(least[len(groups) :].min())


def test_pairs_are_found_where_the_first_partner_does_not_fit() -> None:
    # of 92, 80, 26 and 38 the first fits the third alone, so the second must take the fourth
    weight = np.ones((1, 1, 16, 8), np.int8)
    weight[0, 0, ::4] = np.int8([[92], [80], [26], [38]])
    plan = plan_panels(weight, 255)[0]
    assert plan.fours == 0 and plan.pairs == 2 and {tuple(sorted(pair)) for pair in plan.groups.reshape(2, 2)} == {(0, 8), (4, 12)}


def test_pairs_that_fit_are_folded_by_four() -> None:
    weight = np.full((1, 1, 24, 8), 16, np.int8)
    plan = plan_panels(weight, 255)[0]  # a lane of four groups reaches 8 * 16 * 255, the limit; two are left
    assert (plan.fours, plan.pairs, plan.alone) == (1, 1, 0)
    assert plan.cost == 4 * FOLDED4 + 2 * PAIRED
    weight[0, 0, 12] = 17
    plan = plan_panels(weight, 255)[0]
    assert (plan.fours, plan.pairs, plan.alone) == (1, 1, 0) and 12 in plan.groups[4:]
    weight[0, 0, ::12] = 17
    plan = plan_panels(weight, 255)[0]
    assert (plan.fours, plan.pairs, plan.alone) == (1, 1, 0) and {0, 12} == set(plan.groups[4:].tolist())


def test_weights_of_zeros_leave_nothing_to_fold() -> None:
    plan = plan_panels(np.zeros((1, 1, 20, 8), np.int8), 255)[0]
    assert plan.fours == plan.pairs == len(plan.groups) == len(plan.weight) == len(plan.int16_pairs) == 0


def seven_bits(conv: Conv2d) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Operands with weights of 7 bits, many of them extreme."""
    x, weight, bias = conv_operands(conv)
    return x, np.clip(weight, -64, 63), bias


@pytest.mark.slow
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


@pytest.mark.slow_cases("11-avx2", "18-avx2", "25-avx2")
@pytest.mark.thinned(8)
@pytest.mark.parametrize("name", LEVELS)
@pytest.mark.parametrize("number", range(len(SHAPES)))
def test_products_that_are_not_proved_equal_the_definition(name: str, number: int) -> None:
    conv = SHAPES[number]
    x, weight, bias = conv_operands(conv)
    weight[:, ::3] //= 4
    shape = ConvShape(conv, level(name).lane_form, 7)
    kind = ("sums", "codes", "int8 codes", "all")[number % 4]
    epilogue, others = epilogue_for(conv, kind)
    kernel, plan = make_lane_kernel("conv2d", shape, weight, bias, epilogue, 255)
    assert plan.int16_share > 0
    found = run_kernel(kernel, (x, *others), name)
    np.testing.assert_array_equal(found, expected_conv(conv, (x, weight, bias), 7, epilogue, others))


@pytest.mark.slow
@pytest.mark.isa("avx2")
def test_a_kernel_against_the_proof_differs() -> None:
    conv = SHAPES[6]
    x, weight, bias = conv_operands(conv)
    shape = ConvShape(conv, level("avx2").lane_form, 0)
    claimed = 63  # activations are said to be 0..63 and are not
    kernel, plan = make_lane_kernel("conv2d", shape, weight, bias, (), claimed)
    assert plan.int16_share == 0
    right = expected_conv(conv, (x, weight, bias), 0, (), ())
    assert not np.array_equal(run_kernel(kernel, (x,), "avx2"), right)
    small = x // 4
    right = expected_conv(conv, (small, weight, bias), 0, (), ())
    np.testing.assert_array_equal(run_kernel(kernel, (small,), "avx2"), right)


@pytest.mark.slow
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
    assert 1.2 < gain < 1.6 and lane_gain(conv, conv_operands(conv)[1], 0, isa_named("avx2")) == 1
    assert lane_gain(conv, weight, 0, isa_named("avx512vnni")) == 1
    assert choose_winograd(conv, weight, 0, isa_named("avx2"), direct=100.0).shape is None


def test_padding_counts_as_an_activation() -> None:
    padded = Conv2d(1, 5, 5, 8, 8, (3, 3), padding=(1, 1, 1, 1))
    assert largest_activation(padded, 200, (0, 127)) == 200
    assert largest_activation(Conv2d(1, 5, 5, 8, 8), 200, (0, 127)) == 127
    assert largest_activation(Conv2d(1, 5, 5, 8, 8, x_dtype="int8"), 0, None) == 255


@pytest.mark.slow
@pytest.mark.thinned(3)
@pytest.mark.isa("avx2")
@pytest.mark.parametrize("x_dtype", ["uint8", "int8"])
@pytest.mark.parametrize("size", [64, 96])
@pytest.mark.parametrize("rows", [1, 3, 21])
def test_products_of_dynamic_rows(rows: int, size: int, x_dtype: str) -> None:
    random = np.random.default_rng(1)
    weight = random.integers(-64, 64, (40, 72)).astype(np.int8)
    weight[::8] = random.integers(-size, size, (5, 72))
    limits = np.iinfo(x_dtype)
    x = random.integers(limits.min, limits.max + 1, (rows, 40)).astype(x_dtype)
    bias = random.integers(-900, 900, 72).astype(np.int32)
    kernel = matmul(("n",), 40, 72, weight, bias, (), isa_named("avx2"), x_dtype=x_dtype)
    assert "lanes" in kernel.name and ("16 bits" in kernel.note) == (size > 64)
    expected = x.astype(np.int32) @ weight.astype(np.int32) + bias
    np.testing.assert_array_equal(run_kernel(kernel, (x,), "avx2"), expected)


def test_words_where_too_few_groups_are_proved() -> None:
    conv = Conv2d(1, 7, 7, 64, 160)
    _, weight, bias = conv_operands(conv)
    kernel, note = lane_kernel("conv2d", conv, weight, bias, 0, (), isa_named("avx2"))
    assert kernel is None and "7 bits would hold" in note and "not proved" in note
    shape = ConvShape(conv, level("avx2").lane_form, 0)
    assert len(plan_lanes(shape, weight, (), 255, PROBED).panels) == PROBED < shape.vectors
    for name in ("avx512vnni", "generic"):
        assert lane_kernel("conv2d", conv, weight, bias, 0, (), isa_named(name)) == (None, "")


@pytest.mark.slow
@pytest.mark.isa("avx2")
def test_products_without_weights_are_left_out() -> None:
    conv = Conv2d(1, 4, 4, 16, 16)
    x, weight, bias = conv_operands(conv)
    weight[:], weight[3, 9] = 0, 100
    kernel = lane_kernel("conv2d", conv, weight, bias, 0, (), isa_named("avx2"))[0]
    # one pair of 8 channels and one of zeros, as they come in twos, and room to fetch
    assert kernel is not None and kernel.constants[0].size == 2 * 32 + 64
    expected = expected_conv(conv, (x, weight, bias), 0, (), ())
    np.testing.assert_array_equal(run_kernel(kernel, (x,), "avx2"), expected)


@pytest.mark.slow
@pytest.mark.isa("avx2")
def test_default_choice_still_equals_the_definition() -> None:
    conv = SHAPES[6]
    compare(conv, "avx2", *epilogue_for(conv, "codes"))
