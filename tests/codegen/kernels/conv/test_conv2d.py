"""conv2d kernels against the definition: equal bits, whatever shape, epilogue, instruction set, threads."""

from __future__ import annotations

import numpy as np
import pytest

from tests.codegen.kernels.harness import compare, conv_operands, epilogue_for, huge_multipliers, levels, requantize_for
from tvmq.codegen.kernels.conv.conv2d import conv2d
from tvmq.codegen.kernels.conv.shape import CHUNKS, ConvShape, choose_chunks
from tvmq.codegen.kernels.isa import isa_named, level
from tvmq.codegen.kernels.parts.kernel_types import Conv2d, Requantize
from tvmq.codegen.kernels.parts.memoize import forget
from tvmq.codegen.kernels.parts.tiling import choose_tiling
from tvmq.errors import BuildError

LEVELS = levels("generic", "avx2", "avxvnni", "avx512bw", "avx512vnni")
SHAPES = [
    # pixels around tile edges, filters and channels around vectors
    Conv2d(1, 1, 1, 1, 1),
    Conv2d(1, 1, 5, 3, 3),
    Conv2d(1, 2, 3, 4, 16),
    Conv2d(1, 7, 1, 5, 17),
    Conv2d(1, 7, 7, 16, 64),
    Conv2d(1, 7, 7, 17, 65),
    Conv2d(1, 7, 7, 32, 72),
    # kernels, strides, dilation, padding
    Conv2d(1, 9, 9, 3, 32, (3, 3), (2, 2), (1, 1, 1, 1)),
    Conv2d(1, 14, 14, 3, 20, (7, 7), (2, 2), (3, 3, 3, 3)),
    Conv2d(1, 8, 8, 8, 24, (3, 3), (1, 1), (0, 1, 2, 3)),
    Conv2d(1, 9, 8, 5, 16, (3, 3), (1, 1), (2, 2, 2, 2), (2, 2)),
    Conv2d(1, 8, 9, 4, 33, (3, 1), (2, 1), (1, 0, 0, 0)),
    Conv2d(1, 8, 8, 16, 16, (3, 3)),
    Conv2d(1, 6, 6, 1, 16, (5, 5), (1, 1), (2, 2, 2, 2)),
    Conv2d(1, 1, 1, 16, 32, (3, 3), (1, 1), (1, 1, 1, 1)),
    Conv2d(1, 9, 9, 16, 32, (1, 1), (2, 2)),
    Conv2d(1, 9, 7, 6, 8, (1, 1), (2, 3), (1, 0, 0, 2)),
    Conv2d(1, 2, 60, 5, 7, (2, 2), (1, 2), (0, 0, 1, 0), (1, 3)),
    # groups, batch, int8 input
    Conv2d(1, 7, 7, 8, 36, (3, 3), (1, 1), (1, 1, 1, 1), groups=2),
    Conv2d(1, 5, 5, 6, 6, (3, 3), (2, 2), (1, 1, 1, 1), groups=6),
    Conv2d(1, 5, 5, 12, 9, groups=3),
    Conv2d(2, 6, 5, 8, 16, (3, 3), (2, 2), (1, 1, 1, 1)),
    Conv2d(2, 5, 5, 16, 16, (1, 1), (2, 2)),
    Conv2d(2, 7, 7, 16, 20, x_dtype="int8"),
    Conv2d(1, 7, 7, 5, 17, (3, 3), (1, 1), (1, 1, 0, 2), x_dtype="int8"),
    # enough work for several chunks: of pixels, of panels, of both; a shifted last tile; a ragged last panel
    Conv2d(1, 40, 50, 16, 72, (3, 3), (1, 1), (1, 1, 1, 1)),
    Conv2d(1, 6, 7, 160, 328, (3, 3), (1, 1), (1, 1, 1, 1)),
    Conv2d(2, 11, 11, 64, 160, (3, 3), (1, 1), (1, 1, 1, 1)),
    Conv2d(1, 25, 40, 64, 100),
    Conv2d(1, 30, 30, 64, 64, (3, 3), (1, 1), (1, 1, 1, 1), groups=2),
]


@pytest.mark.slow_cases(
    "4-avx2", "8-avx2", "9-generic", "16-avx2", "17-generic", "25-generic", "29-avx2", "13-generic", "21-generic",
)  # fmt: skip
@pytest.mark.thinned(5)
@pytest.mark.parametrize("name", LEVELS)
@pytest.mark.parametrize("number", range(len(SHAPES)))
def test_equals_the_definition(name: str, number: int) -> None:
    conv = SHAPES[number]
    kinds = ("sums", "codes", "int8 codes", "add", "table", "all")
    compare(conv, name, *epilogue_for(conv, kinds[number % len(kinds)]), x_zero=7 if number % 2 else 0)


@pytest.mark.thinned(5)
@pytest.mark.parametrize("name", LEVELS)
@pytest.mark.parametrize("number", [0, 5, -5, -4])
def test_codes_of_16_bits(name: str, number: int) -> None:
    conv = SHAPES[number]
    multiplier = np.resize(np.float32([0.05, 1.0, 0.3]), conv.filters)
    compare(conv, name, (Requantize(multiplier, 0, -32767, 32767, "int16"),), (), x_zero=3)


@pytest.mark.slow
@pytest.mark.thinned(6)
@pytest.mark.parametrize("name", levels("generic", "avx2", "avxvnni", "avx512bw", "avx512vnni", "avx512vbmi"))
@pytest.mark.parametrize("number", [-5, -4, -2])
def test_all_steps_in_chunks(name: str, number: int) -> None:
    conv = SHAPES[number]
    compare(conv, name, *epilogue_for(conv, "all"), x_zero=3)


@pytest.mark.slow
@pytest.mark.thinned(3)
@pytest.mark.parametrize("name", LEVELS)
def test_products_beyond_int32_saturate(name: str) -> None:
    conv = Conv2d(1, 5, 5, 32, 70)
    compare(conv, name, (huge_multipliers(conv),), ())


def test_shapes_reach_all_kinds_of_chunks() -> None:
    kinds = set()
    for conv in SHAPES:
        shape = ConvShape(conv, level("avx512vnni"), 0)
        tiling = choose_tiling(shape.product, shape.ins)
        chunks = choose_chunks(shape, tiling)
        kinds.add((chunks.pixel_chunks > 1, chunks.panel_chunks > 1, tiling.shifted))
        assert chunks.count <= 2 * CHUNKS
    assert {(False, False), (True, False), (False, True), (True, True)} <= {kind[:2] for kind in kinds}
    assert (True, False, True) in kinds and (True, True, False) in kinds


@pytest.mark.parametrize("filters, name", [(8, "avx512vl"), (16, "avx512vbmi"), (20, "avx512vl"), (200, "avx512vbmi")])
def test_half_vectors_where_whole_ones_would_be_half_empty(filters: int, name: str) -> None:
    conv = Conv2d(1, 3, 3, 8, filters)
    kernel = conv2d(conv, *conv_operands(conv)[1:], 0, (), isa_named("avx512vbmi"))
    assert kernel.name.startswith(f"conv2d_{name}_")
    one = Conv2d(1, 1, 1, 8, filters)
    assert conv2d(one, *conv_operands(one)[1:], 0, (), isa_named("avx512vbmi")).name.startswith("conv2d_avx512vbmi_")


def test_equal_keys_have_equal_functions() -> None:
    import tvm_ffi

    conv = Conv2d(1, 7, 7, 16, 48, (3, 3), (1, 1), (1, 1, 1, 1))
    _, weight, bias = conv_operands(conv)
    isa = isa_named("avx512vnni")
    step = requantize_for(conv)
    one = conv2d(conv, weight, bias, 5, (step,), isa)
    forget()
    other = conv2d(conv, weight // 2, bias + 1, 5, (step,), isa)
    assert one.key == other.key and one.func is not other.func
    assert tvm_ffi.structural_equal(one.func, other.func)
    assert conv2d(conv, weight, bias, 5, (step,), isa).func is other.func
    assert not np.array_equal(one.constants[0], other.constants[0])
    assert conv2d(conv, weight, bias, 6, (step,), isa).key != one.key
    assert conv2d(conv, weight, bias, 5, (), isa).key != one.key
    assert one.name == "conv2d_avx512vnni_7x3"


def test_what_is_no_convolution_is_refused() -> None:
    conv = Conv2d(1, 7, 7, 6, 8, (3, 3))
    _, weight, bias = conv_operands(conv)
    isa = isa_named("generic")
    with pytest.raises(BuildError, match=r"weights must have shape \(8, 6, 3, 3\)"):
        conv2d(conv, weight[:, :5], bias, 0, (), isa)
    with pytest.raises(BuildError, match="Got uint8, int16 and int32 instead"):
        conv2d(conv, weight.astype(np.int16), bias, 0, (), isa)
    with pytest.raises(BuildError, match="6 channels, 8 filters, 4 groups and output"):
        conv2d(Conv2d(1, 7, 7, 6, 8, (3, 3), groups=4), weight, bias, 0, (), isa)
    with pytest.raises(BuildError, match="windows must fit"):
        conv2d(Conv2d(1, 2, 7, 6, 8, (3, 3)), weight, bias, 0, (), isa)
