"""Softmax and norms of rows in C, in 64-bit integers as numerics.integer_softmax and integer_layer_norm define them.

Tests: tests/formats/c/test_export_c.py
"""

from __future__ import annotations

import math

from tvm import relax

from tvmq.formats.c import rescale
from tvmq.formats.c.kernels.norm import LAYER_NORM, SOFTMAX
from tvmq.formats.c.tensor import CTensor, in_arena
from tvmq.formats.c.writer import CWriter
from tvmq.graph.view import const_value, is_const
from tvmq.numerics.integer_layer_norm import spare_bits


def integer_softmax(writer: CWriter, var: relax.Var, call: relax.Call) -> CTensor:
    """tvmq.integer_softmax; the arena holds the powers of a row meanwhile."""
    a, x, result = call.attrs, writer.array(call.args[0]), writer.result(var)
    axis = int(a.axis) % len(x.shape)
    length, inner = x.shape[axis], math.prod(x.shape[axis + 1 :])
    powers = in_arena((length,), "int32")
    name = writer.library.use(SOFTMAX, X=x.type, Y=result.type)
    low, high, zero = rescale.limits(call)
    numbers = ", ".join(str(int(v)) for v in (a.multiplier, a.shift, a.out_multiplier, a.out_shift, low, high, zero))
    text = (
        f"    {name}({math.prod(x.shape[:axis])}, {length}, {inner}, {x.mark}, {numbers}, {powers.mark}, "
        f"{result.mark});\n"
    )
    writer.write(text, [x], [result, powers])
    return result


def integer_layer_norm(writer: CWriter, var: relax.Var, call: relax.Call) -> CTensor:
    """tvmq.integer_layer_norm over the last axes."""
    a, x, result = call.attrs, writer.array(call.args[0]), writer.result(var)
    if not all(is_const(arg) for arg in call.args[1:]):
        raise writer.unsupported_error("tvmq.integer_layer_norm with computed parameters")
    multiplier, offset = (writer.constants.tensor(const_value(arg), hint) for arg, hint in _parameters(call))
    count = multiplier.size
    name = writer.library.use(LAYER_NORM, X=x.type, Y=result.type)
    low, high, zero = rescale.limits(call)
    numbers = [int(a.epsilon), int(a.shift), spare_bits(count), int(bool(a.centred)), int(a.x_zero), low, high, zero]
    text = (
        f"    {name}({x.size // count}, {count}, {x.mark}, {multiplier.mark}, {offset.mark}, "
        f"{', '.join(map(str, numbers))}, {result.mark});\n"
    )
    writer.write(text, [x, multiplier, offset], [result])
    return result


def _parameters(call: relax.Call) -> list[tuple[relax.Expr, str]]:
    return [(call.args[1], "gamma"), (call.args[2], "beta")]


FORMS = {"tvmq.integer_softmax": integer_softmax, "tvmq.integer_layer_norm": integer_layer_norm}
