"""A BLAS that multiplies wrongly is detected: by products with known results, and by sums that are no integers."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from tvmq import numerics
from tvmq.errors import BlasError
from tvmq.numerics import gemm
from tvmq.numerics.known_products import REMEDY, SIZES, check_products, known_products
from tvmq.numerics.moments import Moments
from tvmq.tools.doctor import machine

Where = Callable[[np.ndarray, np.ndarray], bool]
FAULTS: dict[str, Where] = {
    "gemm": lambda a, b: a.ndim == b.ndim == 2 and not np.shares_memory(a, b),
    "syrk": np.shares_memory,
    "gemv": lambda a, b: (a.ndim, b.ndim) == (2, 1),
    "dot": lambda a, b: a.ndim == b.ndim == 1,
}


def faulty(where: Where, dtype: str, error: float) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """np.matmul whose last sum is wrong for some operands."""

    def multiply(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        result = np.atleast_1d(np.matmul(a, b))
        if a.dtype == dtype and where(a, b):
            result.flat[-1] += error
        return result

    return multiply


@pytest.mark.parametrize("error", [1.0, np.nan, np.inf])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("routine", FAULTS)
def test_a_wrong_sum_of_any_routine_is_named(routine: str, dtype: str, error: float) -> None:
    with pytest.raises(BlasError) as caught:
        check_products(faulty(FAULTS[routine], dtype, error))
    text = str(caught.value)
    assert text.startswith("numerics: NumPy's BLAS (") and text.endswith(REMEDY) and "OPENBLAS_CORETYPE" in text
    assert f"multiplies wrongly on this CPU: {routine} of {dtype} (9" in text
    assert ("nan" if np.isnan(error) else "inf" if np.isinf(error) else " where ") in text and "and 1 of " in text


@pytest.mark.parametrize("size", SIZES)
def test_a_kernel_of_one_size_that_is_wrong_is_found(size: tuple[int, int, int]) -> None:
    with pytest.raises(BlasError, match=r"gemm of float32 \({}, {}\) by".format(*size)):
        check_products(faulty(lambda a, b: a.shape == size[:2] and b.shape == size[1:], "float32", 1.0))


@pytest.mark.parametrize("size", SIZES)
def test_known_products_are_those_of_integers(size: tuple[int, int, int]) -> None:
    for routine, a, b, right in known_products(*size, np.float32):
        assert np.array_equal(right, np.matmul(a.astype(np.int64), b.astype(np.int64))), routine
        assert np.abs(a.astype(np.int64)).sum() * np.abs(b).max() < 2**24 * len(a)  # no order of adding rounds


CODES = np.arange(-8, 8, dtype=np.int8).reshape(4, 4)
SUMS: dict[str, Callable[[], object]] = {
    "matmul": lambda: numerics.matmul(CODES, CODES),
    "matmul in pieces": lambda: gemm.run_plan(gemm.Plan(np.float32, 2), CODES, CODES),
    "conv": lambda: numerics.conv(CODES.reshape(1, 4, 4), CODES[..., None]),
    "conv_transpose": lambda: numerics.conv_transpose(CODES.reshape(1, 4, 4), CODES[..., None]),
    "moments": lambda: _moments(np.int16),
    "moments of 16 bits": lambda: _moments(np.int32),
}


def _moments(dtype: type) -> list[np.ndarray]:
    moments = Moments(1.0)
    moments.add(CODES[None].astype(dtype))
    return moments.totals()


@pytest.fixture
def wrong_blas(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A BLAS that errs once its known products were right, or from the beginning."""
    error, from_the_beginning = request.param
    gemm.check_blas()
    monkeypatch.setattr(gemm, "_multiply", lambda a, b: np.matmul(a, b) + a.dtype.type(error))
    if from_the_beginning:
        gemm.check_blas.cache_clear()
    yield
    gemm.check_blas.cache_clear()


@pytest.mark.parametrize("wrong_blas", [(np.nan, False), (np.inf, False), (0.5, False)], indirect=True)
@pytest.mark.parametrize("place", SUMS)
def test_a_sum_that_is_no_integer_is_none_of_codes(place: str, wrong_blas: None) -> None:
    with pytest.raises(BlasError, match="sums of products of integers are no integers, the first is .*multiplies wrong"):
        SUMS[place]()


@pytest.mark.parametrize("wrong_blas", [(1.0, True)], indirect=True)
@pytest.mark.parametrize("place", SUMS)
def test_nothing_is_multiplied_by_a_blas_that_errs(place: str, wrong_blas: None) -> None:
    with pytest.raises(BlasError, match="gemm of float32"):
        SUMS[place]()


@pytest.mark.parametrize("wrong_blas", [(1.0, True)], indirect=True)
def test_the_doctor_says_so(wrong_blas: None) -> None:
    (finding,) = machine.check_known_products()
    assert finding.status == "problem" and "gemm of float32 (9, 9) by (9, 9) gives" in finding.what
    assert finding.remedy == REMEDY


def test_the_doctor_finds_this_blas_right() -> None:
    (finding,) = machine.check_known_products()
    assert finding.status == "ok" and "known sums of products are right" in finding.what
