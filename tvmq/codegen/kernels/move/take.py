"""take: parts of a tensor along one axis, in the order of a vector of indices that a run computes.

Computes   numpy.take(x, numerics.place(indices, size), axis)
Loops      parallel chunks of output rows of all axes before, or of these and the indices where a part is long; parts,
           each in vectors
Sizes      any but that of known parts may be names that only a run tells

Tests: tests/codegen/kernels/test_dynamic_sizes.py
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.isa import instructions
from tvmq.codegen.kernels.parts.builder import (
    Expr,
    FunctionBuilder,
    Register,
    bind_size,
    branch,
    flatten_buffer,
    load,
    shape_of_sizes,
)
from tvmq.codegen.kernels.parts.kernel_types import Isa, Kernel
from tvmq.codegen.kernels.parts.loops import copy_lanes, make_opaque, over_rows
from tvmq.codegen.kernels.parts.work import COPY_CYCLES, KernelWork
from tvmq.numerics.code_type import CODES_8

TYPES = (*CODES_8, "float32")  # that are chosen
INDEX_TYPES = ("int32", "int64")
GRAIN = 200_000  # bytes in about 10 us


def take(shape: Sequence[int | str], axis: int, index_dtype: str, isa: Isa, dtype: str = "uint8") -> Kernel:
    """Kernel (x, indices [count]) -> x[.., indices, ..]; an index outside of the axis wraps round.

    shape   names are sizes that only a run tells
    """
    shape = shape_of_sizes(shape)
    itemsize = np.dtype(dtype).itemsize
    lanes = instructions(isa).vector_bytes // itemsize
    parameters = {"x": (shape, dtype), "indices": (("count",), index_dtype)}
    parameters["y"] = ((*shape[:axis], "count", *shape[axis + 1 :]), dtype)
    name = f"take_{isa.name}"
    with FunctionBuilder(name, parameters) as function:
        x, indices, y = (flatten_buffer(buffer) for buffer in function.buffers)
        size, count, part = (function.count(sizes) for sizes in (shape[axis : axis + 1], ("count",), shape[axis + 1 :]))
        outer = function.count(shape[:axis])

        def copy(first: Expr, target: Expr, number: Expr) -> None:
            index = load(indices, number, index_dtype)
            copy_lanes(y, target, x, (first + _place(index, size, index_dtype)) * part, part, lanes)

        def row(image: Expr) -> None:
            first, begin = make_opaque(image * size), make_opaque(image * (count * part))
            with T.serial(0, count) as number:
                copy(first, begin + number * part, number)

        def line(number: Expr) -> None:
            image = make_opaque(T.floordiv(number, count))
            copy(image * size, make_opaque(number * part), make_opaque(number - image * count))

        if isinstance(part, int):
            over_rows(outer, count * (part * itemsize), GRAIN, lambda: row)
        else:
            over_rows(bind_size(outer * count), part * itemsize, GRAIN, lambda: line)
    key = ("take", shape, axis, index_dtype, dtype, isa.name)
    return Kernel(name, function.prim_func, (), key, work=KernelWork("take", COPY_CYCLES))


def _place(index: Expr, size: Expr, dtype: str) -> Expr:
    """The element that an index means."""
    place = Register("int32", 1)
    inside = T.And(index >= 0, index < T.Cast(dtype, size))
    branch(
        inside,
        lambda: place.set(T.Cast("int32", index)),
        lambda: place.set(T.Cast("int32", T.floormod(index, T.max(T.Cast(dtype, size), 1)))),
    )
    return place.get()


def choose_take(shape: Sequence[int | str], axis: int, dtypes: tuple[str, str], isa: Isa) -> Kernel | None:
    """The kernel of parts along an axis, dtypes: of x and of the indices; None for types of other widths."""
    dtype, index_dtype = dtypes
    return take(shape, axis, index_dtype, isa, dtype) if dtype in TYPES and index_dtype in INDEX_TYPES else None
