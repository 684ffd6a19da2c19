"""dynamic_attention kernels against the definition: one function, many batches and lengths."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.codegen.kernels.cases import attention_step, codes, expected_attention
from tests.codegen.kernels.harness import levels, run_kernel
from tvmq.codegen.kernels.attention.dynamic_attention import choose_dynamic_attention, dynamic_attention
from tvmq.codegen.kernels.attention.shape import Attention, MatrixOperand, SizeProduct
from tvmq.codegen.kernels.isa import isa_named
from tvmq.codegen.kernels.parts.float_vectors import CodeLimits
from tvmq.runtime.threads import with_threads

LEVELS = levels("generic", "avx2", "avx512bw", "avx512vnni")
HEADS, CODES = 2, CodeLimits(0, 0, 255, "uint8")
# around panels of 64 and 16 keys, tiles of 4 and 6 rows, and blocks of 66 and 60 rows
SIZES = [(1, 1, 1), (1, 1, 2), (3, 2, 1), (2, 3, 3), (1, 5, 64), (1, 6, 15), (2, 7, 16), (1, 12, 17), (1, 60, 33)]
SIZES += [(1, 61, 63), (1, 66, 65), (2, 67, 80), (1, 133, 128), (1, 3, 129), (1, 40, 700)]


def words(length: str, width: int, dtype: str = "uint8", *, turned: bool = False) -> MatrixOperand:
    """Heads beside each other in [batch, length, HEADS, width]; or turned, the transpose of each matrix."""
    row, column = (1, HEADS * width) if turned else (HEADS * width, 1)
    batch = SizeProduct(HEADS * width, (length,)), width
    return MatrixOperand(("batch", length, HEADS, width), dtype, 0, batch, row, column)


def lines(length: str, width: int, dtype: str = "uint8") -> MatrixOperand:
    """Matrices [width, length] in [batch, HEADS, width, length]: neighbours of a row are those of the length."""
    batch = SizeProduct(HEADS * width, (length,)), SizeProduct(width, (length,))
    return MatrixOperand(("batch", HEADS, width, length), dtype, 0, batch, SizeProduct(1, (length,)), 1)


def turned_lines(length: str, width: int) -> MatrixOperand:
    """Matrices [length, width] whose columns are neighbours, in [batch, HEADS, width, length]."""
    operand = lines(length, width)
    return replace(operand, row=operand.column, column=operand.row)


def shape_of(depth: int, columns: int, **changes: Any) -> Attention:
    named: dict[str, Any] = {
        "q": words("rows", depth), "k": words("keys", depth, turned=True), "v": words("keys", columns),
        "y": words("rows", columns), "mask": None, "zeros": (126, 132, 125), "codes": CODES,
    }  # fmt: skip
    return Attention(("batch", HEADS), "rows", "keys", depth, columns, **named | changes)


def array_of(operand: MatrixOperand, actual: dict[str, int], seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Random codes as they are stored, and as matrices [batch, HEADS, row, column] of numbers."""
    stored = codes(tuple(actual.get(size, size) for size in operand.shape), operand.dtype, seed)  # type: ignore[call-overload]
    matrices = stored if operand.shape[1] == HEADS else stored.transpose(0, 2, 1, 3)
    return stored, np.swapaxes(matrices, -1, -2) if operand.row == 1 else matrices


def compare(shape: Attention, level: str, sizes: list[tuple[int, int, int]], mask: Any = None) -> None:
    """Assert that one kernel gives the bits of the definition at all sizes, by one thread and by two."""
    scales, step = (0.0002 / shape.depth**0.5, 1 / 255), attention_step(shape.columns)
    kernel = dynamic_attention(shape, *scales, step, isa_named(level))
    for seed, (batch, rows, keys) in enumerate(sizes):
        actual = {"batch": batch, "rows": rows, "keys": keys}
        pairs = [array_of(operand, actual, seed + i) for i, operand in enumerate((shape.q, shape.k, shape.v))]
        masks = [] if mask is None else [random_mask([actual.get(size, size) for size in mask], seed)]
        expected = expected_attention(shape, [matrices for _, matrices in pairs] + masks, scales, step)
        inputs = [stored for stored, _ in pairs] + masks
        out = batch, rows, HEADS, shape.columns
        result = with_threads(1 + seed % 2, lambda: run_kernel(kernel, inputs, level, out))  # noqa: B023  called at once
        np.testing.assert_array_equal(result, expected.transpose(0, 2, 1, 3), str(actual))


def random_mask(shape: list[int], seed: int) -> np.ndarray:
    values = np.float32([0, -10000, -np.inf, np.inf, np.nan, 0.25])
    return np.random.default_rng(seed).choice(values, shape, p=[0.5, 0.1, 0.2, 0.05, 0.05, 0.1])


@pytest.mark.slow
@pytest.mark.thinned(4)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("widths", [(12, 10), (33, 40)], ids=str)
def test_any_batch_and_length(widths: tuple[int, int], level: str) -> None:
    compare(shape_of(*widths), level, SIZES)


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
def test_matrices_whose_distances_only_a_run_tells(level: str) -> None:
    changes = {"k": lines("keys", 12), "v": turned_lines("keys", 18), "zeros": (3, 255, 0)}
    compare(shape_of(12, 18, **changes), level, SIZES)


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
def test_signed_codes(level: str) -> None:
    changes: dict[str, Any] = {"q": words("rows", 8, "int8"), "k": words("keys", 8, "int8", turned=True)}
    changes |= {"v": words("keys", 16, "int8"), "zeros": (-128, 127, -3)}
    compare(shape_of(8, 16, **changes), level, SIZES)


@pytest.mark.slow
@pytest.mark.parametrize("level", levels("avx2", "avx512vnni"))
@pytest.mark.parametrize(("sizes", "strides"), [
    (("batch", 1, 1, "keys"), ((SizeProduct(1, ("keys",)), 0), 0)),
    (("batch", 1, "rows", "keys"), ((SizeProduct(1, ("keys", "rows")), 0), SizeProduct(1, ("keys",)))),
    (("keys",), ((0, 0), 0)),
], ids=["keys", "rows", "line"])  # fmt: skip
def test_masks(sizes: Any, strides: Any, level: str) -> None:
    mask = MatrixOperand(sizes, "float32", 0, *strides, 1)
    with np.errstate(invalid="ignore"):
        compare(shape_of(12, 16, mask=mask), level, SIZES, sizes)


def test_codes_of_softmax_that_corrections_could_overflow_have_no_kernel() -> None:
    """Bytes that do not begin at 0 need corrections that grow with the number of keys; centred ones do not."""
    step, shifted = attention_step(16), shape_of(8, 16, codes=CodeLimits(3, 1, 250, "uint8"))
    assert choose_dynamic_attention(shifted, 1e-4, 1 / 255, step, isa_named("avx512vnni")) is None
    assert choose_dynamic_attention(shifted, 1e-4, 1 / 255, step, isa_named("avx2")) is not None
