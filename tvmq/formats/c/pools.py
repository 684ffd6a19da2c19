"""Pools in C: maxima of codes, and sums from which averages are requantized.

Tests: tests/formats/c/test_operators.py
"""

from __future__ import annotations

import numpy as np
from tvm import relax

from tvmq.formats.c import rescale
from tvmq.formats.c.constants import braces
from tvmq.formats.c.kernels import pool as pool_text
from tvmq.formats.c.library import CKernel
from tvmq.formats.c.products import initial_sums, ints, to_three_axes
from tvmq.formats.c.tensor import CTensor
from tvmq.formats.c.writer import CWriter, Epilogue, literal
from tvmq.graph.operators import where
from tvmq.graph.operators.record import POOL
from tvmq.graph.view import dtype_of
from tvmq.numerics.windows import both_sides


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
    return _emit_sums(writer, pool_text.SUM_POOL, place, x, epilogue, result)


def adaptive_sum_pool(writer: CWriter, var: relax.Var, call: relax.Call) -> CTensor:
    """tvmq.adaptive_sum_pool, with the requantize that makes averages of it."""
    x, epilogue = writer.array(call.args[0]), writer.find_epilogue(var, 1)
    result = writer.result(epilogue.var)
    ones = (1,) * (len(x.shape) - 2)
    place = _structure(writer, x, result, ones, ones, ones, (0,) * len(ones), int(call.attrs.zero_point))
    return _emit_sums(writer, pool_text.ADAPTIVE, place, x, epilogue, result)


def _emit_sums(
    writer: CWriter, kernel: CKernel, place: str, x: CTensor, epilogue: Epilogue, result: CTensor
) -> CTensor:
    function, parameters = rescale.finish(writer, epilogue.call)
    name = writer.library.use(kernel, X=x.type, Y=result.type, finish=function)
    begins = initial_sums(writer, np.zeros(result.shape[1], np.int64), epilogue)
    text = f"    {name}(&{place}, {x.mark}, {begins.mark}, {parameters}, {result.mark});\n"
    writer.write(text, [x, begins], [result])
    return writer.store_result(epilogue, result)


def _structure(
    writer: CWriter,
    x: CTensor,
    result: CTensor,
    kernel: object,
    strides: object,
    dilation: object,
    padding: object,
    zero: int,
) -> str:
    rank = len(x.shape) - 2
    before = tuple(b for b, _ in both_sides(ints(padding), rank))
    fields = {
        "batch": str(x.shape[0]),
        "channels": str(x.shape[1]),
        "x": braces(to_three_axes(x.shape[2:], 1)),
        "y": braces(to_three_axes(result.shape[2:], 1)),
        "kernel": braces(to_three_axes(ints(kernel), 1)),
        "stride": braces(to_three_axes(ints(strides), 1)),
        "dilation": braces(to_three_axes(ints(dilation), 1)),
        "before": braces(to_three_axes(before, 0)),
        "zero": str(zero),
    }
    return writer.constants.structure("pool_t", "pool", fields)


FORMS = {
    **dict.fromkeys(where(kind=POOL, commutes_with_quantize=True), max_pool),
    "tvmq.sum_pool": sum_pool,
    "tvmq.adaptive_sum_pool": adaptive_sum_pool,
}
