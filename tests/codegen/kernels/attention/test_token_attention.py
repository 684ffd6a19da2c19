"""token_attention kernels against the definition: many batches and lengths, masks, known rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.codegen.kernels.harness import levels, run_kernel
from tvmq import numerics
from tvmq.codegen.kernels.attention.shape import Attention, MatrixOperand, SizeProduct
from tvmq.codegen.kernels.attention.token_attention import TokenAttention, choose_token_attention
from tvmq.codegen.kernels.isa import isa_named
from tvmq.codegen.kernels.parts.float_vectors import CodeLimits
from tvmq.runtime.threads import with_threads

LEVELS = levels("generic", "avx2", "avx512bw", "avx512vnni")
HEADS, CODES = 2, CodeLimits(0, 0, 127, "uint8")
LOWEST = -np.finfo(np.float32).max
# batch, rows, keys: around vectors, tiles and blocks
SIZES = [(1, 1, 1), (2, 3, 15), (1, 9, 16), (3, 2, 17), (1, 5, 64), (1, 70, 33), (1, 4, 700)]


def rows_of(length: Any, width: int, dtype: str = "int8", *, turned: bool = False) -> MatrixOperand:
    """Matrices [length, width] in [batch, HEADS, length, width], or the transpose of each."""
    row, column = (1, width) if turned else (width, 1)
    steps = (HEADS * width, width)
    batch = [SizeProduct(n, (length,)) if isinstance(length, str) else n * length for n in steps]
    return MatrixOperand(("batch", HEADS, length, width), dtype, 0, tuple(batch), row, column)


def description(
    rows: Any, depth: int, columns: int, mask: MatrixOperand | None, queries: Any, keys: Any = "keys"
) -> TokenAttention:
    shape = Attention(
        ("batch", HEADS), rows, keys, depth, columns, rows_of(rows, depth), rows_of(keys, depth, turned=True),
        rows_of(keys, columns), rows_of(rows, columns, "float32"), mask, (0, 0, 0), CODES,
    )  # fmt: skip
    return TokenAttention(shape, queries, 0.125)


def expected(arrays: dict[str, np.ndarray], mask: np.ndarray | None) -> np.ndarray:
    """The definition, one step after the other."""
    sums = numerics.matmul(arrays["q"], np.swapaxes(arrays["k"], -1, -2))
    scores = numerics.dynamic_dequantize(sums, arrays["q_scale"], np.swapaxes(arrays["k_scale"], -1, -2))
    scores = scores * np.float32(0.125)
    if mask is not None:
        with np.errstate(all="ignore"):
            scores = scores + np.tile(mask, (1, 1, scores.shape[2] // mask.shape[2], 1))
    weights = numerics.softmax(scores) * np.swapaxes(arrays["v_scale"], -1, -2)
    scale = numerics.dynamic_scale(weights, axes=[3])
    sums = numerics.matmul(numerics.dynamic_quantize(weights, scale), arrays["v"])
    return numerics.dynamic_dequantize(sums, scale, np.float32(1))


def arrays_of(batch: int, rows: int, keys: int, depth: int, columns: int, seed: int) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)
    sizes = {"q": (rows, depth), "k": (keys, depth), "v": (keys, columns)}
    codes = {name: random.integers(-127, 128, (batch, HEADS, *size)).astype(np.int8) for name, size in sizes.items()}
    scales = {
        f"{name}_scale": np.exp(random.normal(-4, 1, (batch, HEADS, size, 1))).astype(np.float32)
        for name, (size, _) in sizes.items()
    }
    return codes | scales


def compare(attention: TokenAttention, level: str, sizes: list[tuple[int, int, int]], queries: int = 0) -> None:
    """Assert equality at all sizes, by one thread and by two; queries: of a mask of them."""
    shape = attention.shape
    kernel = choose_token_attention(attention, isa_named(level))
    assert kernel is not None
    for seed, (batch, rows, keys) in enumerate(sizes):
        arrays = arrays_of(batch, rows, keys, shape.depth, shape.columns, seed)
        mask = None
        if shape.mask is not None:
            values = np.float32([0, 0, 0, LOWEST, -np.inf, np.nan, 1.5])
            mask = np.random.default_rng(seed).choice(values, (1, 1, queries or rows, keys))
        inputs = [arrays["q"], arrays["k"], arrays["v"], *([] if mask is None else [mask])]
        inputs += [arrays[f"{name}_scale"] for name in "qkv"]
        out = batch, HEADS, rows, shape.columns
        result = with_threads(1 + seed % 2, lambda: run_kernel(kernel, inputs, level, out))  # noqa: B023  called at once
        np.testing.assert_array_equal(result, expected(arrays, mask), str((batch, rows, keys)))


@pytest.mark.slow
@pytest.mark.thinned(4)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(("depth", "columns"), [(8, 8), (64, 64), (5, 33)])
def test_any_rows_and_keys(level: str, depth: int, columns: int) -> None:
    compare(description("rows", depth, columns, None, "rows"), level, SIZES)


@pytest.mark.slow
@pytest.mark.thinned(2)
@pytest.mark.parametrize("level", LEVELS)
def test_masks_of_queries_that_heads_share(level: str) -> None:
    """Rows are those of three heads: each third has the mask of the same queries."""
    mask = MatrixOperand((1, 1, "queries", "keys"), "float32", 0, (0, 0), SizeProduct(1, ("keys",)), 1)
    compare(description("rows", 16, 8, mask, "queries"), level, [(1, 3 * 7, 20)], queries=7)


@pytest.mark.parametrize("level", levels("avx2", "avx512vnni")[:1])
def test_one_query_of_known_rows(level: str) -> None:
    """The step of a decoder: rows are known, one mask for all."""
    mask = MatrixOperand((1, 1, 1, "keys"), "float32", 0, (0, 0), 0, 1)
    compare(description(3, 8, 8, mask, 1), level, [(1, 3, 1), (2, 3, 40), (1, 3, 129)], queries=1)


@pytest.mark.parametrize("keys", [3, 16, pytest.param(40, marks=pytest.mark.slow), pytest.param(129, marks=pytest.mark.slow)])
@pytest.mark.parametrize("level", levels("generic", "avx512vnni")[-1:])
def test_known_keys(level: str, keys: int) -> None:
    compare(description("rows", 8, 8, None, "rows", keys), level, [(1, 3, keys), (2, 9, keys)])


def test_what_does_not_fit() -> None:
    attention, isa = description("rows", 8, 8, None, "rows"), isa_named("generic")
    shape = attention.shape
    wrong = [
        replace(shape, q=replace(shape.q, dtype="uint8")), replace(shape, zeros=(0, 3, 0)), replace(shape, depth=20000),
        replace(shape, rows=0), replace(shape, q=replace(shape.q, column=2)),
        replace(shape, mask=replace(rows_of("keys", 8), column=2)),
    ]  # fmt: skip
    assert all(choose_token_attention(replace(attention, shape=one), isa) is None for one in wrong)
