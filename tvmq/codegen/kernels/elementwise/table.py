"""table: a function of 8-bit codes, value by value, as a lookup in 256 entries.

Computes   numerics.table, bit for bit
Layouts    any; input and output have the same one
Loops      parallel chunks of vectors; the table stays in registers where the instruction set looks up vectors
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.isa import instructions
from tvmq.codegen.kernels.parts.builder import (
    Expr,
    FunctionBuilder,
    flatten_buffer,
    load,
    shape_of_sizes,
    store,
    vector_type,
)
from tvmq.codegen.kernels.parts.epilogue import bits_table, table_step
from tvmq.codegen.kernels.parts.kernel_types import Isa, Kernel
from tvmq.codegen.kernels.parts.loops import Body, over_vectors
from tvmq.codegen.kernels.parts.work import TABLE_CYCLES, KernelWork
from tvmq.errors import BuildError
from tvmq.numerics.code_type import CODES_8

GRAIN = 200_000  # elements in about 10 us


def table(shape: Sequence[int | str], dtype: str, values: np.ndarray, isa: Isa) -> Kernel:
    """Kernel x -> y of this shape; y has the type of `values`, which is a constant of the kernel.

    dtype    "uint8" or "int8"
    values   256 entries of uint8 or int8 in the order of numerics.table
    raises   BuildError for other types or another number of entries
    """
    values = np.asarray(values)
    out_dtype = str(values.dtype)
    if not {dtype, out_dtype} <= set(CODES_8) or values.shape != (256,):
        raise BuildError(
            f"kernels, table: takes uint8 or int8 codes and 256 entries of these types. "
            f"Got {dtype} and {values.size} of {out_dtype}"
        )
    ins = instructions(isa)
    shape = shape_of_sizes(shape)
    parameters = {"x": (shape, dtype), "table": ((256,), out_dtype), "y": (shape, out_dtype)}
    name = f"table_{ins.name}"
    with FunctionBuilder(name, parameters) as function:
        x, entries, y = (flatten_buffer(buffer) for buffer in function.buffers)

        def start() -> Body:
            step = table_step(ins, entries, dtype, out_dtype)

            def body(offset: Expr, lanes: int) -> None:
                if lanes == ins.vector_bytes:
                    codes = load(x, offset, vector_type(dtype, lanes))
                    store(y, offset, step(codes, offset, lanes), lanes)
                    return
                with T.serial(0, lanes) as lane:
                    store(y, offset + lane, step(load(x, offset + lane, dtype), offset + lane, 1), 1)

            return body

        over_vectors(function.count(shape), ins.vector_bytes, GRAIN, start)
    return Kernel(
        name,
        function.prim_func,
        (bits_table(values, dtype),),
        ("table", shape, dtype, out_dtype, ins.name),
        work=KernelWork("table", TABLE_CYCLES),
    )


def choose_table(shape: Sequence[int | str], dtype: str, values: np.ndarray, isa: Isa) -> Kernel | None:
    """The kernel of a lookup; None for entries that are no 8-bit codes."""
    return table(shape, dtype, values, isa) if str(values.dtype) in CODES_8 else None
