"""fused_multiply_add: the exact product and sum, rounded once, for numbers of all kinds."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import tvm

from tests.codegen.kernels.harness import compile_function
from tvmq.codegen.kernels.parts.builder import FunctionBuilder, bind, load, store, vector_type
from tvmq.codegen.kernels.parts.fused_multiply_add import fused_multiply_add

COUNT = 16_384
ENDS = np.float32([
    0.0, -0.0, 1.0, -1.0, 1 + 2**-23, 1 - 2**-24, 2**12 + 1, 3.4028235e38, -3.4028235e38, 2**-126, 2**-149, -(2**-149),
    2**-75, 2**-74, -(2**-75), 3 * 2**-75, np.inf, -np.inf, np.nan,
])  # fmt: skip


def multiply_add(lanes: int, *arrays: np.ndarray) -> np.ndarray:
    """x * w + c of arrays of COUNT numbers, by code for CPUs without the instruction."""
    with FunctionBuilder("multiply_add", {name: ((COUNT,), "float32") for name in "xwcy"}) as function:
        *inputs, y = function.buffers
        with tvm.script.ir_builder.tirx.serial(0, COUNT // lanes) as i:
            x, w, c = (load(buffer, i * lanes, vector_type("float32", lanes)) for buffer in inputs)
            store(y, i * lanes, fused_multiply_add(x, w, c, bind, lanes), lanes)
    result = tvm.runtime.tensor(np.zeros(COUNT, np.float32))
    compile_function("multiply_add", function.prim_func, "generic")(*map(tvm.runtime.tensor, arrays), result)
    return result.numpy()


def round_once(exact: Fraction) -> np.float32:
    """The nearest float32, the even one of two."""
    first = np.float32(float(exact))
    near = [np.nextafter(first, np.float32(end)) for end in (-np.inf, np.inf)]
    finite = [value for value in (first, *near) if np.isfinite(value)]
    return min(finite, key=lambda value: (abs(Fraction(float(value)) - exact), int(value.view(np.uint32)) & 1))


def sums_rounded_once(*arrays: np.ndarray) -> np.ndarray:
    exact = (tuple(Fraction(float(value)) for value in values) for values in zip(*arrays, strict=True))
    return np.float32([round_once(x * w + c) for x, w, c in exact])


@pytest.mark.parametrize("lanes", [1, pytest.param(4, marks=pytest.mark.slow)])
def test_ends_of_the_format(lanes: int) -> None:
    x, w, c = (np.resize(array.ravel(), COUNT) for array in np.meshgrid(ENDS, ENDS, ENDS))
    got = multiply_add(lanes, x, w, c)
    with np.errstate(all="ignore"):
        plain = x.astype(np.float64) * w + c
    not_finite = ~np.isfinite(plain)
    np.testing.assert_array_equal(got[not_finite], plain[not_finite].astype(np.float32))
    for number in np.flatnonzero(~not_finite)[: len(ENDS) ** 3]:
        exact = Fraction(float(x[number])) * Fraction(float(w[number])) + Fraction(float(c[number]))
        if abs(exact) < 2**127:
            assert got[number] == round_once(exact), (x[number], w[number], c[number])
        if exact == 0:
            assert np.signbit(got[number]) == np.signbit(plain[number])


@pytest.mark.slow
@pytest.mark.parametrize("lanes", [1, 4])
def test_sums_beside_ties(lanes: int) -> None:
    """c plus nearly half a unit of its last place, which float64 takes for half a unit."""
    random = np.random.default_rng(0)
    scale = 2.0 ** random.integers(-40, 40, COUNT)
    x = ((1 + 2**-23) * scale).astype(np.float32)
    w = np.float32(1 - 2**-23) * random.choice(np.float32([-1, 1]), COUNT)
    c = (2 * random.integers(2**23, 2**24, COUNT) * scale).astype(np.float32)
    wanted = sums_rounded_once(x, w, c)
    np.testing.assert_array_equal(multiply_add(lanes, x, w, c), wanted)
    assert (wanted != (x.astype(np.float64) * w + c).astype(np.float32)).any()


@pytest.mark.slow
@pytest.mark.parametrize("lanes", [1, 4])
def test_sums_that_cancel(lanes: int) -> None:
    random = np.random.default_rng(0)
    x, w = (random.standard_normal(COUNT).astype(np.float32) for _ in "xw")
    c = (-(x * w) * (1 + random.integers(-3, 4, COUNT) * 2.0**-23)).astype(np.float32)
    np.testing.assert_array_equal(multiply_add(lanes, x, w, c), sums_rounded_once(x, w, c))
