"""Checks of the sizes of results in Relax: not negative, and within the memory bound.

Tests: tests/formats/importing/test_relax.py
"""

from __future__ import annotations

from collections.abc import Iterable

import tvm
from tvm import relax

from tvmq.base.memory import check_size
from tvmq.errors import UnsupportedOpError
from tvmq.graph.size_text import size_text
from tvmq.graph.sizes import is_number


def check_results(variables: Iterable[relax.Var], max_bytes: int, where: str) -> None:
    """Refuse impossible and too large results; dynamic dimensions count as 1.

    where    what messages begin with: the stage, the layer and its operator
    raises   UnsupportedOpError for a size below 0, MemoryLimitError for more bytes than max_bytes
    """
    for var in variables:
        types = list(var.ty.fields) if isinstance(var.ty, tvm.ir.TupleType) else [var.ty]
        for ty in types:
            if isinstance(ty, relax.TensorType) and ty.shape is not None and str(ty.dtype):
                _check_shape(list(ty.shape.values), str(ty.dtype), max_bytes, where)


def _check_shape(sizes: list[object], dtype: str, max_bytes: int, where: str) -> None:
    dims = [int(size) if is_number(size) else size_text(size) for size in sizes]  # type: ignore[call-overload]
    if any(isinstance(size, int) and size < 0 for size in dims):
        raise UnsupportedOpError(
            f"{where}: its result would have the shape {dims}, which has a negative size; correct its attributes "
            "or the input shapes"
        )
    check_size(dims, dtype, max_bytes, where)
