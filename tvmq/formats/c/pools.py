"""Pools in C: maxima of codes, and sums from which averages are requantized.

Tests: tests/formats/c/test_operators.py
"""

from __future__ import annotations

from typing import Any

import numpy as np
from tvm import relax

from tvmq.formats.c.kernels import pool as pool_text
from tvmq.formats.c.products import borders_before, emit_sums, window_fields
from tvmq.formats.c.tensor import CTensor
from tvmq.formats.c.writer import CWriter, literal
from tvmq.formats.exporting.binding_writer import ints
from tvmq.graph.operators import where
from tvmq.graph.operators.record import POOL
from tvmq.graph.view import dtype_of


def max_pool(writer: CWriter, var: relax.Var, call: relax.Call) -> CTensor:
    """nn.max_pool; windows that reach beyond the border take what is inside."""
    x, result, attrs = writer.array(call.args[0]), writer.result(var), call.attrs
    if not str(attrs.layout).startswith("NC"):
        raise writer.unsupported_error(f"a pool in layout {attrs.layout}")
    place = _structure(writer, x, result, attrs.pool_size, attrs.strides, attrs.dilation, attrs.padding, 0)
    name = writer.library.use(pool_text.MAX_POOL, T=x.type)
    lowest = literal(int(np.iinfo(dtype_of(var)).min))
    writer.write(f"    {name}(&{place}, {x.mark}, {lowest}, {result.mark});\n", [x], [result])
    return result


def sum_pool(writer: CWriter, var: relax.Var, call: relax.Call) -> CTensor:
    """tvmq.sum_pool, with the requantize that makes averages of it."""
    attrs, x, epilogue = call.attrs, writer.array(call.args[0]), writer.find_epilogue(var, 1)
    result = writer.result(epilogue.var)
    ones = (1,) * len(ints(attrs.kernel))
    zero = int(attrs.zero_point)
    place = _structure(writer, x, result, attrs.kernel, attrs.strides, ones, attrs.padding, zero)
    return emit_sums(writer, epilogue, pool_text.SUM_POOL, f"&{place}, {x.mark}", [x], result, x.shape[1])


def adaptive_sum_pool(writer: CWriter, var: relax.Var, call: relax.Call) -> CTensor:
    """tvmq.adaptive_sum_pool, with the requantize that makes averages of it."""
    x, epilogue = writer.array(call.args[0]), writer.find_epilogue(var, 1)
    result = writer.result(epilogue.var)
    ones = (1,) * (len(x.shape) - 2)
    place = _structure(writer, x, result, ones, ones, ones, (0,) * len(ones), int(call.attrs.zero_point))
    return emit_sums(writer, epilogue, pool_text.ADAPTIVE, f"&{place}, {x.mark}", [x], result, x.shape[1])


def _structure(
    writer: CWriter, x: CTensor, result: CTensor, kernel: Any, strides: Any, dilation: Any, padding: Any, zero: int
) -> str:
    windows = (x.shape[2:], result.shape[2:], ints(kernel), ints(strides), ints(dilation),
               borders_before(padding, len(x.shape) - 2))  # fmt: skip
    fields = window_fields({"batch": x.shape[0], "channels": x.shape[1]}, *windows, zero=zero)
    return writer.constants.structure("pool_t", "pool", fields)


FORMS = {
    **dict.fromkeys(where(kind=POOL, commutes_with_quantize=True), max_pool),
    "tvmq.sum_pool": sum_pool,
    "tvmq.adaptive_sum_pool": adaptive_sum_pool,
}
