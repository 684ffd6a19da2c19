"""Winograd kernels against the definition of convolution: equal bits for the worst weights; refused where unproved."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import tvm_ffi

from tests.codegen.kernels import harness
from tests.codegen.kernels.harness import conv_operands, epilogue_for, expected_conv, levels, requantize_for, run_kernel
from tvmq import numerics
from tvmq.codegen.kernels.isa import isa_named, level
from tvmq.codegen.kernels.parts.kernel_types import Conv2d, Dequantize, Requantize
from tvmq.codegen.kernels.parts.memoize import forget
from tvmq.codegen.kernels.winograd.scheme import F2, F4, Scheme, refusal
from tvmq.codegen.kernels.winograd.shape import shape_for
from tvmq.codegen.kernels.winograd.weights import transform_weights
from tvmq.codegen.kernels.winograd.winograd import choose_winograd, make_winograd, winograd
from tvmq.errors import BuildError

LEVELS = levels("avx2", "avx512bw", "avx512vnni")
SAME = (1, 1, 1, 1)


def same(channels: int, filters: int, height: int = 9, width: int = 10, **options) -> Conv2d:
    """A 3 x 3 convolution with a border."""
    return Conv2d(options.pop("batch", 1), height, width, channels, filters, (3, 3), padding=SAME, **options)


def compare(conv: Conv2d, name: str, kind: str, scheme: Scheme = F4) -> None:
    """Assert that the kernel gives the bits of the definition."""
    harness.compare(conv, name, *epilogue_for(conv, kind), x_zero=7, make=partial(winograd, scheme=scheme))


CASES = [
    (same(32, 64, 8, 8), "codes"),
    (same(33, 70), "all"),
    (Conv2d(2, 7, 5, 3, 24, (3, 3), padding=(0, 1, 2, 4), x_dtype="int8"), "sums"),
    (same(5, 1, 1, 1), "int8 codes"),
    (Conv2d(1, 6, 14, 40, 17, (3, 3)), "add"),
]


@pytest.mark.slow
@pytest.mark.thinned(2)
@pytest.mark.parametrize("name", levels("avx2", "avx512vnni"))
@pytest.mark.parametrize("number", range(len(CASES)))
def test_equals_the_definition(name: str, number: int) -> None:
    compare(CASES[number][0], name, CASES[number][1])


@pytest.mark.slow
@pytest.mark.parametrize("name", levels("avx2", "avx512bw"))
def test_small_tiles(name: str) -> None:
    compare(same(20, 40, 6, 7, x_dtype="int8"), name, "add", scheme=F2)


@pytest.mark.thinned(2)
@pytest.mark.parametrize("name", levels("avx512vnni"))
@pytest.mark.parametrize(
    ("conv", "chunks"),
    [(same(64, 64, 33, 30, batch=2), (6, 1)), (same(96, 456, 10, 14), (1, 8))],
    ids=["tiles of two pictures", "panels"],
)
def test_chunks(name: str, conv: Conv2d, chunks: tuple[int, int]) -> None:
    shape = shape_for(conv, level(name), 0, F4)
    assert (shape.chunks, shape.panel_chunks) == chunks
    compare(conv, name, "add")


def adversarial(conv: Conv2d) -> list[tuple[np.ndarray, np.ndarray]]:
    """Inputs and weights that drive single products and whole sums to their limits."""
    shape = conv.batch, conv.height, conv.width, conv.channels
    parity = np.indices(shape).sum(axis=0) % 2
    signs = np.indices((conv.filters, conv.channels, 3, 3))[2:].sum(axis=0) % 2
    random = np.random.default_rng(0)
    checkerboard = np.where(signs, 127, -128).astype(np.int8)
    everywhere = np.full(shape, 255, np.uint8)
    extremes = random.choice(np.int8([-128, 127]), checkerboard.shape)
    weights = [np.full_like(checkerboard, -128), np.full_like(checkerboard, 127), checkerboard, extremes]
    inputs = [everywhere, np.where(parity, 255, 0).astype(np.uint8), random.choice(np.uint8([0, 255]), shape)]
    return [(x, w) for x in inputs for w in weights]


@pytest.mark.slow
@pytest.mark.thinned(3)
@pytest.mark.parametrize("name", LEVELS)
@pytest.mark.parametrize("scheme", [F4, F2], ids=["4x4", "2x2"])
def test_adversarial_weights(name: str, scheme: Scheme) -> None:
    """114 channels are as many as F(4x4) is proved for with any weights."""
    conv = same(114, 8, 5, 8)
    for x, weight in adversarial(conv):
        bias = np.zeros(conv.filters, np.int32)
        kernel = winograd(conv, weight, bias, 255, (), isa_named(name), scheme=scheme)
        expected = expected_conv(conv, (x, weight, bias), 255, (), ())
        np.testing.assert_array_equal(run_kernel(kernel, (x,), name), expected)


@pytest.mark.parametrize("name", levels("avx512vnni"))
def test_floats_and_codes_of_16_bits(name: str) -> None:
    conv = same(16, 24)
    operands = conv_operands(conv)
    scale = np.linspace(0.01, 2, conv.filters, dtype=np.float32)
    sums = expected_conv(conv, operands, 7, (), ())
    kernel = winograd(conv, *operands[1:], 7, (Dequantize(scale),), isa_named(name))
    np.testing.assert_array_equal(run_kernel(kernel, operands[:1], name), sums.astype(np.float32) * scale)
    wide = Requantize(np.resize(np.float32([0.05, 0.3]), conv.filters), 0, -32767, 32767, "int16")
    kernel = winograd(conv, *operands[1:], 7, (wide,), isa_named(name))
    expected = numerics.requantize(sums, wide.multiplier, axis=3, zero_point=0, dtype="int16", qmin=-32767, qmax=32767)
    np.testing.assert_array_equal(run_kernel(kernel, operands[:1], name), expected)


@pytest.mark.parametrize("scheme", [F4, F2], ids=["4x4", "2x2"])
def test_the_matrices_compute_a_convolution(scheme: Scheme) -> None:
    random = np.random.default_rng(0)
    x = random.integers(-128, 256, (1, 1, scheme.points, scheme.points))
    w = random.integers(-128, 128, (1, 1, 3, 3)).astype(np.int8)
    a, b = np.asarray(scheme.a), np.asarray(scheme.b)
    products = transform_weights(w, scheme.g)[:, :, 0, 0].astype(np.int64) * (b @ x[0, 0] @ b.T)
    sums = [[(x[0, 0, i : i + 3, j : j + 3] * w[0, 0]).sum() for j in range(scheme.tile)] for i in range(scheme.tile)]
    scaled = (scheme.odd << scheme.shift) * np.array(sums)
    np.testing.assert_array_equal(a @ products @ a.T, scaled)
    assert scheme.odd * scheme.inverse % 2**32 == 1


def test_bounds_are_tight() -> None:
    """With a channel more than is proved and all weights -128, the kernel is refused, and would be wrong."""
    conv = same(115, 1, 4, 4)
    weight, bias = np.full((1, 115, 3, 3), -128, np.int8), np.zeros(1, np.int32)
    with pytest.raises(BuildError, match=r"kernels, winograd: sums of filter 0 reach 33782400, .* below 33554432; use"):
        winograd(conv, weight, bias, 0, (), isa_named("avx512vnni"))
    assert refusal(weight, -128, 127, F4) == "" != refusal(weight, 0, 255, F4)
    assert refusal(weight, 0, 255, F2) == ""


@pytest.mark.isa("avx512_vnni")
def test_the_bound_is_needed() -> None:
    conv = same(140, 1, 4, 4)
    x, weight, bias = (
        np.full((1, 4, 4, 140), 255, np.uint8),
        np.full((1, 140, 3, 3), -128, np.int8),
        np.zeros(1, np.int32),
    )
    kernel = make_winograd(shape_for(conv, level("avx512vnni"), 255, F4), weight, bias, ())
    assert not np.array_equal(
        run_kernel(kernel, (x,), "avx512vnni"), expected_conv(conv, (x, weight, bias), 255, (), ())
    )


def test_other_convolutions_are_refused() -> None:
    isa = isa_named("avx512vnni")
    for conv in (
        Conv2d(1, 9, 9, 4, 4, (3, 3), (2, 2)),
        Conv2d(1, 9, 9, 4, 4, (5, 5)),
        Conv2d(1, 9, 9, 4, 4, (3, 3), groups=2),
    ):
        with pytest.raises(BuildError, match="3 x 3 kernels of stride 1"):
            winograd(conv, *conv_operands(conv)[1:], 0, (), isa)
    conv = same(4, 4)
    with pytest.raises(BuildError, match="products of pairs of int16, which generic lacks"):
        winograd(conv, *conv_operands(conv)[1:], 0, (), isa_named("generic"))


def test_the_choice_says_why() -> None:
    isa = isa_named("avx512vnni")

    def chosen(conv: Conv2d, largest: int = 30):
        weight = np.random.default_rng(0).integers(-largest, largest + 1, (conv.filters, conv.channels, 3, 3))
        return choose_winograd(conv, weight.astype(np.int8), 0, isa)

    resnet = same(128, 128, 28, 28)
    assert chosen(resnet).shape is not None and "as fast as the direct kernel" in chosen(resnet).note
    assert chosen(same(512, 512, 7, 7)).shape is None and "would not be faster" in chosen(same(512, 512, 7, 7)).note
    assert "weights of 4 bits" in chosen(resnet, 7).note and chosen(resnet, 7).shape is None
    worst = choose_winograd(resnet, np.full((128, 128, 3, 3), 127, np.int8), 0, isa)
    assert worst.shape is None and "is not proved exact: sums of filter 0 reach 37307520," in worst.note
    # without VNNI smaller tiles are still faster, and exact for these weights
    other = choose_winograd(resnet, np.full((128, 128, 3, 3), 127, np.int8), 0, isa_named("avx2"))
    assert other.shape is not None and other.shape.scheme == F2
    assert "Winograd F(2x2,3x3), " in other.note and "F(4x4,3x3) would be" in other.note
    assert choose_winograd(Conv2d(1, 9, 9, 4, 4), np.ones((4, 4, 1, 1), np.int8), 0, isa).note == ""


def test_equal_keys_have_equal_functions() -> None:
    conv = same(16, 40)
    _, weight, bias = conv_operands(conv)
    isa, step = isa_named("avx512vnni"), requantize_for(conv)
    one = winograd(conv, weight, bias, 5, (step,), isa)
    forget()
    other = winograd(conv, weight // 2, bias + 1, 5, (step,), isa)
    assert one.key == other.key and one.func is not other.func and tvm_ffi.structural_equal(one.func, other.func)
    assert winograd(conv, weight, bias, 6, (step,), isa).key != one.key
    assert one.name.startswith("winograd4x4_avx512vnni_")
