"""Products of matrices whose sums are known: does NumPy's BLAS give them on this CPU?

A BLAS has kernels of its own for each CPU, and on two emulated ones those that OpenBLAS chooses give sums that are
finite and wrong, or NaN. All integers here are exact in any order of adding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tvmq.errors import BlasError

Multiply = Callable[[np.ndarray, np.ndarray], np.ndarray]
# Rows, depth, columns: less than a vector; kernels of small matrices; above 10^6 products, which are packed in blocks
SIZES = ((9, 9, 9), (64, 33, 64), (101, 103, 107))
REMEDY = (
    "have it take kernels of an older CPU before Python starts (OPENBLAS_CORETYPE=Haswell on x86-64, NEOVERSEN1 on "
    "64-bit Arm), or install another NumPy"
)


def check_products(multiply: Multiply) -> None:
    """Multiply matrices of every size, in float32 and float64, by the routines of BLAS that products here come to.

    multiply  np.matmul, or what stands for it
    raises    BlasError for the first wrong sum

    >>> check_products(np.matmul)
    """
    for dtype in (np.float32, np.float64):
        for size in SIZES:
            for routine, a, b, right in known_products(*size, dtype):
                with np.errstate(all="ignore"):
                    result = multiply(a, b)
                wrong = ~(np.asarray(result) == right)
                if wrong.any():
                    first = tuple(int(place[0]) for place in np.nonzero(np.atleast_1d(wrong)))
                    got, known = np.atleast_1d(result)[first], np.atleast_1d(right)[first]
                    raise BlasError(
                        f"numerics: {blas_name()} multiplies wrongly on this CPU: {routine} of {np.dtype(dtype)} "
                        f"{a.shape} by {b.shape} gives {got:.9g} where {int(known)} is right, and {wrong.sum()} of "
                        f"{wrong.size} sums are wrong; {REMEDY}"
                    )


def known_products(rows: int, depth: int, columns: int, dtype: type) -> Iterator[tuple[str, Any, Any, Any]]:
    """Routine of BLAS, two operands, their product; row i and column j are multiples of one vector each.

    >>> [routine for routine, *_ in known_products(2, 3, 2, np.float32)]
    ['gemm', 'syrk', 'gemv', 'dot']
    """
    row, column = _steps(rows, 11), _steps(columns, 13)
    along, across = _steps(depth, 7), _steps(depth, 9)
    a, b = np.multiply.outer(row, along), np.multiply.outer(across, column)
    shared, square = int(along @ across), int(along @ along)  # of integers, which no BLAS multiplies
    a_float, b_float = a.astype(dtype), b.astype(dtype)
    vector: np.ndarray = across.astype(dtype)
    yield "gemm", a_float, b_float, shared * np.multiply.outer(row, column)
    yield "syrk", a_float, a_float.T, square * np.multiply.outer(row, row)
    yield "gemv", a_float, vector, shared * row
    yield "dot", along.astype(dtype), vector, np.int64(shared)


def _steps(count: int, period: int) -> np.ndarray:
    """Small integers around zero, int64, in no simple order."""
    return (np.arange(count) * 5 + 3) % period - period // 2 + (np.arange(count) % 2)


def blas_name() -> str:
    """NumPy's BLAS and its version."""
    config: Any = np.show_config(mode="dicts")
    blas = config["Build Dependencies"].get("blas", {})
    return f"NumPy's BLAS ({blas.get('name', 'unknown')} {blas.get('version', '')})"
