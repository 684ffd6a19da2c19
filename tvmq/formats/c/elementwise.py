"""Operators that compute values one by one, as formulas in C: numerics.add, multiply, table and their kind.

Sums that NumPy lets wrap round are computed in unsigned numbers, where C says the same.

Tests: tests/formats/c/test_operators.py
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from tvm import relax

from tvmq.formats.c import rescale
from tvmq.formats.c.rescale import CLAMP, WIDE_CLAMP, limits
from tvmq.formats.c.shared_functions import CKernel
from tvmq.formats.c.tensor import C_TYPES, NAMES, SIZES, CTensor, Formula, Operand
from tvmq.formats.c.writer import CWriter, literal
from tvmq.graph.view import const_value, dtype_of, is_const, shape_of
from tvmq.numerics.add_mask import LARGEST_STEP, LARGEST_VALUE

PRELU = CKernel(
    "prelu_steps",
    """
/* (d * (multiplier if d > 0, else slope) + half) >> shift */
static inline int32_t prelu_steps(int32_t d, int32_t multiplier, int32_t slope, int32_t half, int32_t shift)
{
    return (d * (d > 0 ? multiplier : slope) + half) >> shift;
}
""",
)
MASK = CKernel(
    "add_mask",
    f"""
/* scores plus a mask in steps of the scores, saturated */
static inline int32_t add_mask(int32_t x, int64_t mask, int64_t multiplier, int64_t offset)
{{
    const int64_t steps = wide_clamp(mask, -{LARGEST_VALUE}, {LARGEST_VALUE}) * multiplier + offset;
    return (int32_t)wide_clamp(x + wide_clamp(steps, -{LARGEST_STEP}, {LARGEST_STEP}), -2147483647, 2147483647);
}}
""",
    (WIDE_CLAMP,),
)


def join_formulas(writer: CWriter, var: relax.Var, args: list[relax.Expr]) -> tuple[tuple[Operand, ...], list[str]]:
    """Operands of several formulas, and the text of each with its operands renumbered."""
    operands: list[Operand] = []
    texts = []
    for arg in args:
        formula = writer.formula(arg, shape_of(var))
        texts.append(formula.text.format(*(f"{{{len(operands) + i}}}" for i in range(len(formula.operands)))))
        operands += formula.operands
    return tuple(operands), texts


def combine(writer: CWriter, var: relax.Var, call: relax.Call, text: Callable[..., str]) -> Formula:
    """The formula of an operator: `text` of the texts of its arguments."""
    operands, texts = join_formulas(writer, var, list(call.args))
    return Formula(shape_of(var), NAMES[dtype_of(var)], operands, text(*texts))


def requantize(writer: CWriter, var: relax.Var, call: relax.Call) -> Formula:
    """tvmq.requantize of values that are no sums of products; those take it as their ending."""
    return rescale.formula(writer, call, writer.formula(call.args[0], shape_of(var)))


def _shift_clip(writer: CWriter, total: str, call: relax.Call) -> str:
    """clip((total >> shift) + zero_point, qmin, qmax)."""
    low, high, zero = limits(call)
    return f"({writer.library.use(CLAMP)}(({total}) >> {int(call.attrs.shift)}, {low}, {high}) + {zero})"


def add(writer: CWriter, var: relax.Var, call: relax.Call) -> Formula:
    """tvmq.add."""
    a = call.attrs
    numbers = [literal(int(v)) for v in (a.a_multiplier, a.b_multiplier, a.offset)]
    total = f"{{}} * {numbers[0]} + {{}} * {numbers[1]} + {numbers[2]}"
    return combine(writer, var, call, lambda x, y: _shift_clip(writer, total.format(x, y), call))


def multiply(writer: CWriter, var: relax.Var, call: relax.Call) -> Formula:
    """tvmq.multiply."""
    zeros = [int(call.attrs.a_zero), int(call.attrs.b_zero)]
    return combine(writer, var, call, lambda x, y: f"(({x} - {literal(zeros[0])}) * ({y} - {literal(zeros[1])}))")


def add_mask(writer: CWriter, var: relax.Var, call: relax.Call) -> Formula:
    """tvmq.add_mask."""
    name = writer.library.use(MASK)
    numbers = f"{int(call.attrs.multiplier)}, {int(call.attrs.offset)}"
    return combine(writer, var, call, lambda x, mask: f"{name}({x}, {mask}, {numbers})")


def table(writer: CWriter, var: relax.Var, call: relax.Call) -> Formula:
    """tvmq.table."""
    if not is_const(call.args[1]):
        raise writer.unsupported_error("tvmq.table with computed values")
    values = writer.constants.tensor(const_value(call.args[1]), "table")
    codes = writer.formula(call.args[0], shape_of(var))
    first = " + 128" if codes.type == "s8" else ""
    text = f"{values.storage.place}[{codes.text}{first}]"
    return Formula(shape_of(var), values.type, codes.operands, text)


def scale_shift(writer: CWriter, var: relax.Var, call: relax.Call) -> Formula:
    """tvmq.scale_shift."""
    return combine(writer, var, call, lambda q, factor, offset: _shift_clip(writer, f"{q} * {factor} + {offset}", call))


def prelu(writer: CWriter, var: relax.Var, call: relax.Call) -> Formula:
    """tvmq.prelu."""
    low, high, zero = limits(call)
    clamp, steps, shift = writer.library.use(CLAMP), writer.library.use(PRELU), int(call.attrs.shift)
    numbers, zero_x = literal(int(call.attrs.multiplier)), literal(int(call.attrs.x_zero))
    return combine(
        writer,
        var,
        call,
        lambda q, slope: (
            f"({clamp}({steps}({q} - {zero_x}, {numbers}, {slope}, {2**shift // 2}, {shift}), {low}, {high}) + {zero})"
        ),
    )


# ---- Relax's own operators on integers


def _wrapping_form(symbol: str) -> Callable[[CWriter, relax.Var, relax.Call], Formula]:
    def form(writer: CWriter, var: relax.Var, call: relax.Call) -> Formula:
        name = NAMES[dtype_of(var)]
        unsigned = _unsigned_type(name)
        return combine(writer, var, call, lambda a, b: f"(({C_TYPES[name]})(({unsigned}){a} {symbol} ({unsigned}){b}))")

    return form


def _text_form(text: str) -> Callable[[CWriter, relax.Var, relax.Call], Formula]:
    return lambda writer, var, call: combine(writer, var, call, lambda *texts: text.format(*texts))


def _extreme_form(symbol: str) -> Callable[[CWriter, relax.Var, relax.Call], Formula]:
    """The larger or the smaller one, by a function: an argument may be a long formula."""

    def form(writer: CWriter, var: relax.Var, call: relax.Call) -> Formula:
        name = writer.library.use(LARGER if symbol == ">" else SMALLER, T=NAMES[dtype_of(var)])
        return combine(writer, var, call, lambda a, b: f"{name}({a}, {b})")

    return form


LARGER = CKernel("larger", "\nstatic inline $T $name($T a, $T b)\n{\n    return a > b ? a : b;\n}\n")
SMALLER = CKernel("smaller", "\nstatic inline $T $name($T a, $T b)\n{\n    return a < b ? a : b;\n}\n")


def negative(writer: CWriter, var: relax.Var, call: relax.Call) -> Formula:
    """negative; the lowest number stays itself."""
    name = writer.library.use(NEGATIVE, T=NAMES[dtype_of(var)], wide=_unsigned_type(NAMES[dtype_of(var)]))
    return combine(writer, var, call, lambda x: f"{name}({x})")


def absolute(writer: CWriter, var: relax.Var, call: relax.Call) -> Formula:
    """abs; the lowest number stays itself."""
    kind = NAMES[dtype_of(var)]
    other = writer.library.use(NEGATIVE, T=kind, wide=_unsigned_type(kind))
    name = writer.library.use(ABSOLUTE, T=kind, negative=other)
    return combine(writer, var, call, lambda x: f"{name}({x})")


def _unsigned_type(kind: str) -> str:
    return "uint64_t" if SIZES[kind] == 8 else "uint32_t"


NEGATIVE = CKernel("negative", "\nstatic inline $T $name($T x)\n{\n    return ($T)(0u - ($wide)x);\n}\n")
ABSOLUTE = CKernel("absolute", "\nstatic inline $T $name($T x)\n{\n    return x > 0 ? x : $negative(x);\n}\n")


def full_like(writer: CWriter, var: relax.Var, call: relax.Call) -> Formula:
    """The second argument, one number, at every place of the result."""
    return writer.formula(call.args[1], shape_of(var))


def clip(writer: CWriter, var: relax.Var, call: relax.Call) -> Formula:
    """clip and relu: smaller(x, high), then larger(that, low), as compiled code does it."""
    name, argument = NAMES[dtype_of(var)], writer.formula(call.args[0], shape_of(var))
    text = argument.text
    bounds = [_number(arg) for arg in call.args[1:]] if len(call.args) > 1 else [0.0, None]
    limit = np.iinfo("uint8" if dtype_of(var) == "bool" else dtype_of(var))
    low, high = (None if b is None else int(np.clip(b, limit.min, limit.max)) for b in bounds)
    if high is not None:
        text = f"{writer.library.use(SMALLER, T=name)}({text}, {literal(int(high))})"
    text = f"{writer.library.use(LARGER, T=name)}({text}, {literal(int(low or 0))})"
    return Formula(argument.shape, name, argument.operands, text)


def _number(arg: relax.Expr) -> float:
    value = getattr(arg, "value", arg)
    return float(getattr(value, "value", value))


def astype(writer: CWriter, var: relax.Var, call: relax.Call) -> Formula:
    """A cast between integers, which cuts bits off; to bool it asks for a bit that is set."""
    name = NAMES[dtype_of(var)]
    text = "({0} != 0)" if dtype_of(var) == "bool" else f"(({C_TYPES[name]}){{0}})"
    return combine(writer, var, call, lambda x: text.format(x))


def forward_operand(writer: CWriter, var: relax.Var, call: relax.Call) -> CTensor | Formula:
    """tvmq.fence: its operand, since integers need no fence."""
    value: CTensor | Formula = writer.value(call.args[0])
    return value


def constant_like(number: int) -> Callable[[CWriter, relax.Var, relax.Call], Formula]:
    """zeros_like, ones_like."""
    return lambda writer, var, call: Formula(shape_of(var), NAMES[dtype_of(var)], (), str(number))


FORMS = {
    "tvmq.requantize": requantize,
    "tvmq.add": add,
    "tvmq.multiply": multiply,
    "tvmq.add_mask": add_mask,
    "tvmq.table": table,
    "tvmq.scale_shift": scale_shift,
    "tvmq.prelu": prelu,
    "tvmq.fence": forward_operand,
    "add": _wrapping_form("+"),
    "subtract": _wrapping_form("-"),
    "multiply": _wrapping_form("*"),
    "bitwise_and": _text_form("({0} & {1})"),
    "bitwise_or": _text_form("({0} | {1})"),
    "bitwise_xor": _text_form("({0} ^ {1})"),
    "logical_and": _text_form("({0} && {1})"),
    "logical_or": _text_form("({0} || {1})"),
    "logical_xor": _text_form("(!{0} != !{1})"),
    "logical_not": _text_form("(!{0})"),
    "equal": _text_form("({0} == {1})"),
    "not_equal": _text_form("({0} != {1})"),
    "greater": _text_form("({0} > {1})"),
    "greater_equal": _text_form("({0} >= {1})"),
    "less": _text_form("({0} < {1})"),
    "less_equal": _text_form("({0} <= {1})"),
    "where": _text_form("({0} ? {1} : {2})"),
    "maximum": _extreme_form(">"),
    "minimum": _extreme_form("<"),
    "negative": negative,
    "abs": absolute,
    "full_like": full_like,
    "clip": clip,
    "nn.relu": clip,
    "astype": astype,
    "zeros_like": constant_like(0),
    "ones_like": constant_like(1),
}
