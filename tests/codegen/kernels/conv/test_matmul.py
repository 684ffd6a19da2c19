"""matmul kernels against the definition.

matmul_float kernels: one function for any number of rows, with the bits of conv2d_float.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.codegen.kernels.harness import expected_epilogue, levels, run_kernel
from tvmq import numerics
from tvmq.codegen.kernels.conv.conv2d_float import conv2d_float
from tvmq.codegen.kernels.conv.matmul import matmul, matmul_float
from tvmq.codegen.kernels.isa import isa_named
from tvmq.codegen.kernels.parts.kernel_types import AddStep, Clip, Conv2d, Dequantize, Epilogue, Requantize, TableStep
from tvmq.errors import BuildError

SHAPES: list[tuple[tuple[int, ...], int, int]] = [
    ((1,), 1, 1), ((1,), 64, 10), ((1,), 130, 1000), ((5,), 16, 17), ((6,), 17, 65), ((7,), 32, 64), ((49,), 5, 72),
    ((2, 3, 5), 48, 40), ((200,), 96, 330),
]  # fmt: skip


def operands(
    rows: tuple[int, ...], depth: int, columns: int, x_dtype: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """x, weight, bias with extreme codes."""
    random = np.random.default_rng(3)
    x = random.integers(0, 256, (*rows, depth)).astype(np.uint8)
    x[..., ::3] = 255
    weight = random.integers(-128, 128, (depth, columns)).astype(np.int8)
    weight[:, 0], weight[:, -1] = -128, 127
    return x.view(x_dtype), weight, random.integers(-9999, 9999, columns).astype(np.int32)


def steps(rows: tuple[int, ...], depth: int, columns: int) -> tuple[Epilogue, tuple[np.ndarray, ...]]:
    """Requantize, add and table, with the second input."""
    random = np.random.default_rng(4)
    multiplier = (random.uniform(0.2, 1.0, columns) / (40 * depth**0.5)).astype(np.float32)
    add = AddStep(*numerics.add_params(0.4, 3, 0.3, 17, 0.5), zero_point=9, qmin=1, qmax=250)
    b = random.integers(0, 256, (*rows, columns)).astype(np.uint8)
    return (Requantize(multiplier, 8, 0, 255), add, TableStep(random.permutation(256).astype(np.uint8))), (b,)


@pytest.mark.slow_cases("8-avx2", "4-avx2")
@pytest.mark.thinned(5)
@pytest.mark.parametrize("level", levels("generic", "avx2", "avx512bw", "avx512vnni", "avx512vbmi"))
@pytest.mark.parametrize("number", range(len(SHAPES)))
def test_equals_the_definition(level: str, number: int) -> None:
    rows, depth, columns = SHAPES[number]
    x_dtype = "int8" if number % 3 == 2 else "uint8"
    x, weight, bias = operands(rows, depth, columns, x_dtype)
    epilogue, others = steps(rows, depth, columns) if number % 2 else ((), ())
    leading = rows[0] if len(rows) == 1 else rows
    kernel = matmul(leading, depth, columns, weight, bias, epilogue, isa_named(level), x_dtype=x_dtype)
    sums = (numerics.matmul(x.reshape(math.prod(rows), depth), weight) + bias).reshape(*rows, columns)
    found = run_kernel(kernel, (x, *others), level)
    np.testing.assert_array_equal(found, expected_epilogue(sums, epilogue, others))


@pytest.mark.thinned(4)
@pytest.mark.parametrize("level", levels("generic", "avx2", "avx512bw", "avx512vnni"))
@pytest.mark.parametrize("shape", [((5,), 16, 17), ((49,), 5, 72), ((2, 3), 48, 40), ((3,), 64, 128)])
def test_codes_of_16_bits(shape: tuple, level: str) -> None:
    """Sums within the codes, beyond their ends, and far beyond int32."""
    rows, depth, columns = shape
    x, weight, bias = operands(rows, depth, columns, "uint8")
    multiplier = np.resize(np.float32([0.03, 0.5, 1.0, 2.5, 1e30]), columns)
    epilogue = (Requantize(multiplier, 3, -32767, 32766, "int16"),)
    kernel = matmul(rows, depth, columns, weight, bias, epilogue, isa_named(level))
    sums = (numerics.matmul(x.reshape(-1, depth), weight) + bias).reshape(*rows, columns)
    expected = expected_epilogue(sums, epilogue, ())
    assert {-32767, 32766} <= set(expected.ravel().tolist())
    np.testing.assert_array_equal(run_kernel(kernel, (x,), level), expected)


def test_nothing_follows_codes_of_16_bits() -> None:
    x, weight, bias = operands((2,), 4, 4, "uint8")
    wide = Requantize(np.ones(4, np.float32), 0, -32767, 32767, "int16")
    for epilogue in (
        (wide, TableStep(np.zeros(256, np.uint8))),
        (Requantize(wide.multiplier, 0, -9, 9, "int16", 0.5),),
    ):
        with pytest.raises(BuildError, match="codes of 16 bits are stored as they are; no step and no slope"):
            matmul(2, 4, 4, weight, bias, epilogue, isa_named("generic"))


@pytest.mark.thinned(4)
@pytest.mark.parametrize("level", levels("generic", "avx2", "avx512bw", "avx512vnni"))
@pytest.mark.parametrize("shape", [((5,), 16, 17), ((49,), 5, 72), ((2, 3), 48, 40), ((3,), 64, 128)])
def test_floats_are_those_of_the_definition(shape: tuple, level: str) -> None:
    rows, depth, columns = shape
    x, weight, bias = operands(rows, depth, columns, "uint8")
    scale = np.linspace(0.1, 3, columns, dtype=np.float32)
    kernel = matmul(rows, depth, columns, weight, bias, (Dequantize(scale),), isa_named(level))
    sums = numerics.matmul(x.reshape(math.prod(rows), depth), weight) + bias
    expected = numerics.dequantize(sums, scale, np.zeros(columns, np.int32), axis=1).reshape(*rows, columns)
    np.testing.assert_array_equal(run_kernel(kernel, (x,), level), expected)


@pytest.mark.slow
@pytest.mark.thinned(5)
@pytest.mark.parametrize("level", levels("generic", "avx2", "avx512bw", "avx512vnni", "avx512vbmi"))
@pytest.mark.parametrize(
    "depth, columns, x_dtype, kind",
    [(64, 96, "uint8", "codes"), (32, 16, "int8", "codes"), (17, 65, "uint8", "codes"), (5, 300, "int8", "sums"),
     (256, 330, "uint8", "floats")],
)  # fmt: skip
def test_any_number_of_rows(level: str, depth: int, columns: int, x_dtype: str, kind: str) -> None:
    """A single kernel takes fewer rows than a tile, as many, some more, many."""
    _, weight, bias = operands((1,), depth, columns, x_dtype)
    epilogue, _ = steps((1,), depth, columns) if kind == "codes" else ((), ())
    scale = np.linspace(0.1, 3, columns, dtype=np.float32)
    epilogue = (Dequantize(scale),) if kind == "floats" else epilogue
    kernel = matmul(("rows",), depth, columns, weight, bias, epilogue, isa_named(level), x_dtype=x_dtype)
    for rows in (1, 2, 3, 7, 13, 14, 15, 64, 131):
        x, *_ = operands((rows,), depth, columns, x_dtype)
        others = steps((rows,), depth, columns)[1] if kind == "codes" else ()
        sums = numerics.matmul(x, weight) + bias
        if kind == "floats":
            expected = numerics.dequantize(sums, scale, np.zeros(columns, np.int32), axis=1)
        else:
            expected = expected_epilogue(sums, epilogue, others)
        np.testing.assert_array_equal(run_kernel(kernel, (x, *others), level), expected, err_msg=f"{rows} rows")


def test_no_step_over_codes_follows_a_dequantize() -> None:
    _, weight, bias = operands((4,), 8, 40, "uint8")
    with pytest.raises(
        BuildError, match="TableStep cannot follow a dequantize step; float steps can, and nothing else"
    ):
        epilogue = (Dequantize(np.float32(1)), TableStep(np.zeros(256, np.uint8)))
        matmul(4, 8, 40, weight, bias, epilogue, isa_named("generic"))


def test_name_and_parameters() -> None:
    _, weight, bias = operands((4,), 8, 40, "uint8")
    epilogue, _ = steps((4,), 8, 40)
    kernel = matmul(4, 8, 40, weight, bias, epilogue, isa_named("avx512vnni"))
    assert kernel.name.startswith("matmul_avx512vl_")  # 40 columns: five vectors of 32 bytes
    names = [buffer.name for buffer in kernel.func.params]
    assert names == ["x", "b0", "weight", "bias", "multiplier", "table0", "y"]
    assert [array.dtype.name for array in kernel.constants] == ["int8", "int32", "float32", "uint8"]


def test_wrong_operands_are_refused() -> None:
    _, weight, bias = operands((4,), 8, 40, "uint8")
    isa = isa_named("generic")
    with pytest.raises(BuildError, match=r"matmul: weights must have shape \(40, 8\)"):
        matmul(4, 40, 8, weight, bias, (), isa)
    with pytest.raises(BuildError, match="matmul: input must be one of uint8, int8"):
        matmul(4, 8, 40, weight, bias, (), isa, x_dtype="float32")


ROWS = (1, 2, 5, 6, 7, 13, 64, 131)


@pytest.mark.slow
@pytest.mark.thinned(3)
@pytest.mark.parametrize("level", levels("generic", "avx2", "avx512bw"))
@pytest.mark.parametrize("depth, columns", [(1, 1), (17, 65), (64, 40), (256, 96)])
def test_equals_the_convolution_of_so_many_pixels(level: str, depth: int, columns: int) -> None:
    random = np.random.default_rng(depth)
    weight = random.standard_normal((depth, columns)).astype(np.float32)
    bias = random.standard_normal(columns).astype(np.float32)
    epilogue, isa = (Clip(-1.0, np.inf),), isa_named(level)
    kernel = matmul_float(("rows",), weight, bias, epilogue, isa)
    for rows in ROWS:
        x = random.standard_normal((rows, depth)).astype(np.float32)
        found = run_kernel(kernel, (x,), level)
        exact = np.maximum(x.astype(np.float64) @ weight + bias, -1.0)
        np.testing.assert_allclose(found, exact, atol=2e-6 * depth, rtol=0)
        if rows in (1, 7, 64):
            conv = Conv2d(1, rows, 1, depth, columns, x_dtype="float32")
            fixed = conv2d_float(conv, weight.T.reshape(columns, depth, 1, 1).copy(), bias, epilogue, isa)
            same = run_kernel(fixed, (x.reshape(1, rows, 1, depth),), level).reshape(rows, columns)
            np.testing.assert_array_equal(found.view(np.int32), same.view(np.int32), err_msg=f"{rows} rows")


def test_what_does_not_fit_is_refused() -> None:
    weight, isa = np.zeros((4, 8), np.float32), isa_named("generic")
    with pytest.raises(BuildError, match="matmul_float"):
        matmul_float(("rows",), weight, np.zeros(7, np.float32), (), isa)
