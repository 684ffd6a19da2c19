"""Attention kernels against the definition: layouts, zero points, masks, rows that softmax's estimate leaves open."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import tvm
from tvm.script.ir_builder import tirx as T

from tests.codegen.kernels.cases import attention_of, attention_step, codes, dense, expected_attention
from tests.codegen.kernels.harness import compile_function, levels, run_kernel
from tvmq import numerics
from tvmq.codegen.kernels.attention.attention import attention
from tvmq.codegen.kernels.attention.shape import Attention, MatrixOperand
from tvmq.codegen.kernels.attention.softmax_codes import ROUNDINGS, power_guess
from tvmq.codegen.kernels.isa import isa_named
from tvmq.codegen.kernels.parts.builder import FunctionBuilder, flatten_buffer, load, store
from tvmq.codegen.kernels.parts.float_vectors import CodeLimits
from tvmq.codegen.kernels.parts.kernel_types import Dequantize
from tvmq.codegen.kernels.parts.loops import broadcast_strides
from tvmq.errors import BuildError

LEVELS = levels("generic", "avx2", "avx512bw", "avx512vnni")
WIDTHS = levels("avx2", "avx512vnni")


def compare(
    shape: Attention, level: str, scales: tuple[float, float], *mask: np.ndarray, seed: int = 0, **given: Any
) -> None:
    """Assert that the kernel gives the bits of the definition for dense operands of random codes; given: its step."""
    operands = (shape.q, shape.k, shape.v)
    stored = [codes(operand.shape, operand.dtype, seed + i) for i, operand in enumerate(operands)]
    step = given.get("step") or attention_step(shape.columns)
    kernel = attention(shape, *scales, step, isa_named(level))
    found = run_kernel(kernel, (*stored, *mask), level)
    q, k, v = stored
    matrices = [q, np.swapaxes(k, -1, -2) if shape.k.row == 1 else k, np.swapaxes(v, -1, -2) if shape.v.row == 1 else v]
    np.testing.assert_array_equal(found, expected_attention(shape, [*matrices, *mask], scales, step))


SHAPES = [((2,), 5, 7, 9, 3), ((1, 3), 33, 65, 32, 20), ((1,), 70, 37, 5, 70), ((1,), 1, 1, 1, 1)]


@pytest.mark.slow_cases("((2,), 5, 7, 9, 3)-generic")
@pytest.mark.thinned(4)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_equals_the_definition(shape: tuple, level: str) -> None:
    compare(attention_of(*shape), level, (0.0002 / shape[3] ** 0.5, 1 / 255), seed=SHAPES.index(shape))


@pytest.mark.slow
@pytest.mark.thinned(4)
@pytest.mark.parametrize("level", LEVELS)
def test_zero_points_and_signed_codes(level: str) -> None:
    """Softmax as codes above a zero point; values whose columns lie in one piece."""
    batch, rows, keys, depth, columns = (2,), 9, 21, 12, 18
    v = dense((*batch, columns, keys), "uint8", turned=True)
    own = CodeLimits(3, 1, 250, "uint8")
    compare(
        attention_of(batch, rows, keys, depth, columns, zeros=(255, 0, 128), v=v, codes=own), level, (1e-4, 1 / 200)
    )
    signed = {name: dense((*batch, *sizes), "int8") for name, sizes in [("q", (rows, depth)), ("v", (keys, columns))]}
    signed |= {
        "k": dense((*batch, depth, keys), "int8"),
        "zeros": (-128, 127, -3),
        "codes": CodeLimits(-7, -127, 100, "int8"),
    }
    compare(attention_of(batch, rows, keys, depth, columns, **signed), level, (3e-5, 1 / 300))


@pytest.mark.slow
@pytest.mark.parametrize("level", WIDTHS)
def test_floats_with_a_scale_for_each_column(level: str) -> None:
    shape = attention_of((2,), 9, 21, 12, 18)
    step = Dequantize(np.linspace(0.001, 0.02, shape.columns, dtype=np.float32))
    y = replace(shape.y, dtype="float32")
    compare(replace(shape, y=y), level, (1e-4, 1 / 255), step=step)


MASKS = [((1, 1, 1, 20), "keys"), ((1, 1, 9, 20), "rows"), ((2, 3, 9, 20), "everything"), ((20,), "line")]


@pytest.mark.slow
@pytest.mark.thinned(4)
@pytest.mark.parametrize("level", WIDTHS)
@pytest.mark.parametrize(("sizes", "_name"), MASKS, ids=[name for _, name in MASKS])
def test_masks(sizes: tuple[int, ...], _name: str, level: str) -> None:
    """Whole rows that are masked, infinities and NaN of both kinds."""
    mask = np.random.default_rng(1).choice(
        np.float32([0, -10000, -np.inf, np.inf, np.nan, 0.25]), sizes, p=[0.5, 0.1, 0.2, 0.05, 0.05, 0.1]
    )
    if mask.shape[-2:] == (9, 20):
        mask[..., :3, :] = -np.inf
    *batch, row, column = broadcast_strides((2, 3, 9, 20), sizes)
    operand = MatrixOperand(sizes, "float32", 0, tuple(batch), row, column)
    with np.errstate(invalid="ignore"):
        compare(attention_of((2, 3), 9, 20, 16, 8, mask=operand), level, (0.0001, 1 / 255), mask)


@pytest.mark.slow
@pytest.mark.thinned(2)
@pytest.mark.parametrize("level", WIDTHS)
def test_rows_that_the_guess_leaves_open(level: str) -> None:
    """Equal scores whose share is halfway between two codes, of 2 and of 100 keys; the others of the group are not."""
    for keys, scale in ((2, 1.0), (100, 1 / 50)):
        shape = attention_of((1,), 10, keys, 4, 4, zeros=(0, 0, 9))
        q = codes(shape.q.shape)
        q[:, 1::3] = 0  # every third row has equal scores
        k, v = codes(shape.k.shape, seed=1), codes(shape.v.shape, seed=2)
        step = attention_step(shape.columns)
        found = run_kernel(attention(shape, 0.0001, scale, step, isa_named(level)), (q, k, v), level)
        matrices = [q, np.swapaxes(k, -1, -2), v]
        np.testing.assert_array_equal(found, expected_attention(shape, matrices, (0.0001, scale), step))


def test_most_rows_are_guessed() -> None:
    """Shares of random scores: the guess's bounds round differently in fewer than one row of fifty."""
    scores = np.random.default_rng(0).normal(0, 2, (2000, 200)).astype(np.float32)
    shares = numerics.softmax(scores) * np.float64(255)
    margin = (200 / 8 + ROUNDINGS) * 2.0**-24
    open_rows = (np.rint(shares * (1 - margin)) != np.rint(shares * (1 + margin))).any(axis=1)
    assert 0 < open_rows.mean() < 0.02


def test_the_guessed_power_is_as_near_as_its_margin_says() -> None:
    """exp from 0 down to shares that no code of the smallest scale can show: within 24 roundings."""
    x = np.linspace(-15.2, 0, 100_001, dtype=np.float32)
    x = x[: x.size // 16 * 16].reshape(-1, 16)
    with FunctionBuilder("power", {"x": (x.shape, "float32"), "y": (x.shape, "float32")}) as function:
        source, target = (flatten_buffer(buffer) for buffer in function.buffers)
        with T.serial(0, len(x)) as i:
            store(target, i * 16, power_guess(load(source, i * 16, "float32x16")), 16)
    tensors = [tvm.runtime.tensor(x), tvm.runtime.tensor(np.zeros_like(x))]
    compile_function("power", function.prim_func, "generic")(*tensors)  # no fused products: the widest error
    error = np.abs(tensors[1].numpy() / np.exp(x.astype(np.float64)) - 1)
    assert error.max() < 24 * 2.0**-24


@pytest.mark.parametrize(("changes", "scales", "words"), [
    ({"keys": 20000}, (0.1, 0.1), "depths at most 16000"),
    ({"rows": 0}, (0.1, 0.1), "sizes must be positive"),
    ({"q": dense((1, 4, 4), "int16")}, (0.1, 0.1), "takes 8-bit codes. Got int16"),
    ({"q": MatrixOperand((1, 4, 4), "uint8", 0, (16,), 1, 4)}, (0.1, 0.1), "must be neighbours"),
    ({"mask": MatrixOperand((1, 4, 1), "float32", 0, (4,), 1, 0)}, (0.1, 0.1), "must be neighbours"),
    ({}, (0.1, 2.0), "that of softmax within"),
    ({}, (-1.0, 0.1), "scales must be positive"),
    ({"codes": CodeLimits(255, 0, 255, "uint8")}, (0.1, 0.1), "codes from zero_point up"),
])  # fmt: skip
def test_what_does_not_fit_is_refused(changes: dict, scales: tuple[float, float], words: str) -> None:
    with pytest.raises(BuildError, match=words):
        attention(replace(attention_of((1,), 4, 4, 4, 4), **changes), *scales, attention_step(4), isa_named("avx2"))
