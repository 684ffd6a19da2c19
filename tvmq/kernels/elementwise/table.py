"""Lookup of 8-bit codes in a table of 256 entries.

Computes   numerics.table, bit for bit
Layouts    any; input and output have the same one
Loops      parallel chunks of vectors; the table stays in registers where the instruction set looks up vectors
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from tvm.script.ir_builder import tirx as T

from tvmq.errors import BuildError
from tvmq.kernels.isa import instructions
from tvmq.kernels.parts.builder import Expr, Function, flat, load, store, vector_type
from tvmq.kernels.parts.epilogue import bits_table, table_step
from tvmq.kernels.parts.loops import Body, over_vectors
from tvmq.kernels.parts.types import Isa, Kernel

GRAIN = 200_000  # elements in about 10 us


def table(shape: Sequence[int], dtype: str, values: np.ndarray, isa: Isa) -> Kernel:
    """Kernel x -> y of this shape; y has the type of `values`, which is a constant of the kernel.

    dtype    "uint8" or "int8"
    values   256 entries of uint8 or int8 in the order of numerics.table
    raises   BuildError for other types or another number of entries
    """
    values = np.asarray(values)
    out_dtype = str(values.dtype)
    if dtype not in ("uint8", "int8") or out_dtype not in ("uint8", "int8") or values.shape != (256,):
        raise BuildError(
            f"kernels, table: takes uint8 or int8 codes and 256 entries of these types. "
            f"Got {dtype} and {values.size} of {out_dtype}"
        )
    ins = instructions(isa)
    shape = tuple(int(extent) for extent in shape)
    parameters = {"x": (shape, dtype), "table": ((256,), out_dtype), "y": (shape, out_dtype)}
    name = f"table_{ins.name}"
    with Function(name, parameters) as function:
        x, entries, y = (flat(buffer) for buffer in function.buffers)

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

        over_vectors(prod(shape), ins.vector_bytes, GRAIN, start)
    return Kernel(name, function.prim_func, (bits_table(values, dtype),), ("table", shape, dtype, out_dtype, ins.name))
