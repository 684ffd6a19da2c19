"""dynamic_scores kernels against the definition: one function, many sizes.

dynamic_matmul kernels against the definition: one function, many sizes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.codegen.kernels.attention.test_dynamic_matmul_float import product_of
from tests.codegen.kernels.harness import levels, run_kernel
from tvmq import numerics
from tvmq.codegen.kernels.attention.dynamic_matmul import dynamic_matmul
from tvmq.codegen.kernels.attention.dynamic_scores import DynamicScores, dynamic_scores
from tvmq.codegen.kernels.attention.shape import BatchMatmul, MatrixOperand, SizeProduct
from tvmq.codegen.kernels.isa import isa_named
from tvmq.codegen.kernels.parts.float_vectors import CodeLimits
from tvmq.codegen.kernels.parts.kernel_types import Dequantize
from tvmq.errors import BuildError

CODES = CodeLimits(0, 0, 255, "uint8")
SIGNED = CodeLimits(-128, -128, 127, "int8")
DYNAMIC = ("batch", 2, "rows", "keys")
SIZES = [(1, 1, 1), (2, 3, 15), (1, 9, 16), (3, 2, 17), (1, 5, 40), (1, 40, 33)]


def scores_and_mask(batch: int, rows: int, keys: int, mask: Any, seed: int = 0) -> tuple[np.ndarray, np.ndarray | None]:
    """Sums of products, and what is added to their scores: nothing, the lowest number, infinity or NaN."""
    random = np.random.default_rng(seed)
    sums = random.integers(-3000, 3000, (batch, 2, rows, keys)).astype(np.int32)
    if mask is None:
        return sums, None
    actual = {"batch": batch, "rows": rows, "keys": keys}
    shape = [actual.get(size, size) for size in mask]
    values = np.float32([0, 0, 0, 1.5, -np.finfo(np.float32).max, -np.inf, np.nan])
    return sums, random.choice(values, shape)


def expected(sums: np.ndarray, mask: np.ndarray | None, scales: tuple[float, float], codes: CodeLimits) -> np.ndarray:
    """Expected result by the definition, one step after the other."""
    scores = sums.astype(np.float32) * np.float32(scales[0])
    with np.errstate(all="ignore"):
        weights = numerics.softmax(scores if mask is None else scores + mask)
    kind = np.dtype(codes.dtype).type
    zero = np.int32(codes.zero_point)
    return numerics.quantize(weights, np.float32(scales[1]), zero, dtype=kind, qmin=codes.qmin, qmax=codes.qmax)


@pytest.mark.slow
@pytest.mark.thinned(3)
@pytest.mark.parametrize(("mask", "codes"), [
    (None, SIGNED),
    (("batch", 1, 1, "keys"), CODES),
    ((1, 1, "rows", "keys"), CODES),
    (("batch", 2, "rows", 1), SIGNED),
    ((1, 2, 1, 1), CODES),
])  # fmt: skip
@pytest.mark.parametrize("level", levels("generic", "avx2", "avx512bw"))
def test_masks(codes: CodeLimits, mask: Any, level: str) -> None:
    scales = 0.002, 1 / 255
    kernel = dynamic_scores(DynamicScores(DYNAMIC, mask, codes), *scales, isa_named(level))
    for seed, sizes in enumerate(SIZES):
        sums, added = scores_and_mask(*sizes, mask, seed)
        inputs = [sums] if added is None else [sums, added]
        found = run_kernel(kernel, inputs, level, sums.shape)
        np.testing.assert_array_equal(found, expected(sums, added, scales, codes), str(sizes))


@pytest.mark.slow
@pytest.mark.thinned(2)
@pytest.mark.parametrize("level", levels("generic", "avx512bw"))
def test_weights_halfway_between_codes(level: str) -> None:
    """Rows of equal scores: 1 / n is a code and a half; and long rows, whose sums round often."""
    kernel = dynamic_scores(DynamicScores(("rows", "keys"), None, CODES), 1e-6, 2 / 255, isa_named(level))
    for keys in (1, 2, 3, 17, 85, 255, 2000):
        sums = np.random.default_rng(keys).integers(-4, 4, (12, keys)).astype(np.int32)
        sums[::2] = 5
        found = run_kernel(kernel, [sums], level, sums.shape)
        np.testing.assert_array_equal(found, expected(sums, None, (1e-6, 2 / 255), CODES), str(keys))


@pytest.mark.parametrize(
    ("scales", "codes"), [((0.0, 0.1), CODES), ((1.0, 2.0), CODES), ((1.0, 0.1), CodeLimits(255, 0, 255, "uint8"))]
)
def test_refuses_what_is_not_proved(scales: tuple[float, float], codes: CodeLimits) -> None:
    with pytest.raises(BuildError, match="kernels, dynamic_scores: scales must be positive"):
        dynamic_scores(DynamicScores(("rows", "keys"), None, codes), *scales, isa_named("generic"))


DYNAMIC_PRODUCT = (("matrices",), "rows", "depth", "columns")
PRODUCT_SIZES = [(1, 1, 1, 1), (2, 7, 3, 15), (1, 8, 32, 16), (3, 9, 5, 17), (2, 20, 33, 40), (1, 5, 2, 96), (1, 4, 7, 91)]


@pytest.mark.slow
@pytest.mark.thinned(4)
@pytest.mark.parametrize("level", levels("generic", "avx2", "avx512bw", "avx512vnni"))
@pytest.mark.parametrize("dtypes", [("uint8", "uint8"), ("int8", "uint8"), ("uint8", "int8")])
def test_equals_the_definition(level: str, dtypes: tuple[str, str]) -> None:
    random = np.random.default_rng(0)
    zeros = tuple({"uint8": 200, "int8": -7}[dtype] for dtype in dtypes)
    kernel = dynamic_matmul(product_of(*DYNAMIC_PRODUCT, dtypes, zeros), None, isa_named(level))
    for batch, rows, depth, columns in PRODUCT_SIZES:
        a, b = (
            random.integers(np.iinfo(dtype).min, np.iinfo(dtype).max + 1, shape).astype(dtype)
            for dtype, shape in zip(dtypes, ((batch, rows, depth), (batch, depth, columns)), strict=True)
        )
        expected = numerics.matmul(a, b, a_zero=zeros[0], b_zero=zeros[1])
        np.testing.assert_array_equal(run_kernel(kernel, (a, b), level, expected.shape), expected)


@pytest.mark.slow_cases("fixed1", "fixed0")
@pytest.mark.parametrize(
    "fixed", [((2,), "rows", 8, "columns"), (("m", 1), "rows", "depth", 32), ((1, "m"), 3, "depth", 5)]
)
def test_sizes_that_are_known(fixed: tuple[Any, ...]) -> None:
    random = np.random.default_rng(1)
    kernel = dynamic_matmul(product_of(*fixed, ("uint8", "uint8"), (3, 128)), None, isa_named("generic"))
    for dynamic in (1, 9, 30):
        batch = [size if isinstance(size, int) else dynamic for size in fixed[0]]
        rows, depth, columns = (size if isinstance(size, int) else dynamic for size in fixed[1:])
        a = random.integers(0, 256, (*batch, rows, depth)).astype(np.uint8)
        b = random.integers(0, 256, (*batch, depth, columns)).astype(np.uint8)
        expected = numerics.matmul(a, b, a_zero=3, b_zero=128)
        np.testing.assert_array_equal(run_kernel(kernel, (a, b), "generic", expected.shape), expected)


@pytest.mark.slow
@pytest.mark.thinned(2)
@pytest.mark.parametrize("level", levels("generic", "avx2", "avx512vnni"))
@pytest.mark.parametrize("depth", [32, 9])
def test_heads_in_place_and_a_scale(depth: int, level: str) -> None:
    """Words whose heads lie beside each other, the right ones turned, and the result as floats."""
    a = MatrixOperand(("words", 2, depth), "uint8", 0, (depth,), 2 * depth, 1)
    b = replace(a, row=1, column=2 * depth)
    square, line = SizeProduct(1, ("words", "words")), SizeProduct(1, ("words",))
    y = MatrixOperand((2, "words", "words"), "float32", 0, (square,), line, 1)
    product = BatchMatmul((2,), "words", depth, "words", a, b, y, 7, 250)
    kernel = dynamic_matmul(product, Dequantize(np.float32([0.25])), isa_named(level))
    random = np.random.default_rng(2)
    for words in (1, 2, 3, 15, 16, 17, 95, 96, 97):
        left, right = random.integers(0, 256, (2, words, 2, depth)).astype(np.uint8)
        sums = numerics.matmul(left.transpose(1, 0, 2), right.transpose(1, 2, 0), a_zero=7, b_zero=250)
        expected = numerics.dequantize(sums, np.float32(0.25), np.int32(0))
        np.testing.assert_array_equal(run_kernel(kernel, (left, right), level, expected.shape), expected, str(words))


@pytest.mark.slow
@pytest.mark.thinned(3)
@pytest.mark.parametrize("level", levels("generic", "avxvnni", "avx512vnni"))
def test_sums_at_the_ends_of_int32(level: str) -> None:
    """The most products that are allowed, of the largest codes: parts of the sum wrap where bytes are not centred."""
    depth, columns = 33024, 17
    for codes, zeros in (((0, 255), (255, 0)), ((255, 255), (0, 0))):
        kernel = dynamic_matmul(product_of(*DYNAMIC_PRODUCT, ("uint8", "uint8"), zeros), None, isa_named(level))
        a = np.full((1, 9, depth), codes[0], np.uint8)
        b = np.full((1, depth, columns), codes[1], np.uint8)
        found = run_kernel(kernel, (a, b), level, (1, 9, columns))
        expected = (codes[0] - zeros[0]) * (codes[1] - zeros[1]) * depth
        assert np.unique(found).tolist() == [expected]
