"""Definition of each operator as a function of a call and its arrays: what `tvmq.reference` executes.

Own operators are those of tvmq.numerics, by the attributes that their records name; the adapters here are for
operators whose attributes are no keywords of the definition.

Tests: tests/reference/test_reference.py
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from tvm import relax

from tvmq import numerics
from tvmq.graph.evaluate import evaluator
from tvmq.graph.interpret import Function
from tvmq.graph.operators import OPERATORS, where
from tvmq.graph.operators.record import CONVOLUTION, POOL
from tvmq.graph.ops.conversions import is_calibrated, spec_of
from tvmq.graph.own_operators import own_operator
from tvmq.graph.sizes import covering_padding
from tvmq.graph.view import dtype_of, op_name, shape_of
from tvmq.numerics.elementary import ELEMENTARY

# Attributes
CODE_RANGE = ("dtype", "qmin", "qmax")
WINDOWS = ("strides", "padding", "dilation", "groups")


def _by_attributes(definition: Function, *names: str, **renamed: str) -> Function:
    """The definition as a function of a call and its arrays: attributes are keywords, axis -1 is None.

    renamed  {keyword: attribute} where they differ
    """
    keywords = dict(zip(names, names, strict=True)) | renamed

    def run(call: relax.Call, *arrays: np.ndarray) -> np.ndarray:
        values = {keyword: _python_value(getattr(call.attrs, name)) for keyword, name in keywords.items()}
        if values.get("axis") == -1:
            values["axis"] = None
        return np.asarray(definition(*arrays, **values))

    return run


def _python_value(value: Any) -> Any:
    """An attribute as Python has it."""
    if isinstance(value, str | float):
        return value
    return tuple(map(int, value)) if isinstance(value, Sequence) else int(value)


def _simulated_quantize(call: relax.Call, x: np.ndarray, scale: np.ndarray, zero: np.ndarray) -> np.ndarray:
    if not is_calibrated(call):
        return x
    spec, axis = spec_of(call.attrs), int(call.attrs.axis) if int(call.attrs.axis) >= 0 else None
    codes = numerics.quantize(x, scale, zero, axis=axis, dtype=spec.dtype, qmin=spec.qmin, qmax=spec.qmax)
    return numerics.dequantize(codes, scale, zero, axis=axis)


def _dynamic_scale(call: relax.Call, x: np.ndarray) -> np.ndarray:
    a = call.attrs
    return numerics.dynamic_scale(x, axes=range(a.first, a.first + a.count), largest_code=a.largest_code)


def _max_pool(call: relax.Call, x: np.ndarray) -> np.ndarray:
    a = call.attrs
    options: dict[str, Any] = {"kernel": a.pool_size, "strides": a.strides, "dilation": a.dilation}
    options = {name: _python_value(value) for name, value in options.items()}
    options["padding"] = covering_padding(a.padding, x.shape[2:], shape_of(call)[2:], **options)
    return numerics.max_pool(x, **options)


DEFINED: dict[str, Function] = {
    **{name: operator.evaluate for name, operator in OPERATORS.items() if operator.definition},
    "tvmq.simulated_quantize": _simulated_quantize,
    "tvmq.quantize": _by_attributes(numerics.quantize, "axis", *CODE_RANGE),
    "tvmq.dequantize": _by_attributes(numerics.dequantize, "axis"),
    "tvmq.requantize": _by_attributes(
        numerics.requantize, "axis", *CODE_RANGE, "zero_point", "mode", "rounding", "negative_slope"
    ),
    "tvmq.dynamic_scale": _dynamic_scale,
    "tvmq.conv_transpose": _by_attributes(numerics.conv_transpose, *WINDOWS, "output_padding", x_zero="zero_point"),
    **dict.fromkeys(where(kind=POOL, commutes_with_quantize=True), _max_pool),
}
INTEGER: dict[str, Function] = {
    **dict.fromkeys(where(kind=CONVOLUTION), _by_attributes(numerics.conv, *WINDOWS)),
    "matmul": lambda call, a, b: numerics.matmul(a, b),
}


def definition_of(value: relax.Call, own: Mapping[str, Function]) -> Function | None:
    """The function(call, *arrays) that says what a call gives, bit for bit; None for floats without a definition.

    own    operators that families of other packages define on integers
    """
    name = op_name(value)
    if name in own and "int" in dtype_of(value.args[0]):
        return own[name]
    if name in INTEGER:
        return INTEGER[name] if dtype_of(value) == "int32" else None
    return DEFINED.get(name) or _look_up(name) or _elementary(value) or evaluator(value, exact=True)


def _look_up(name: str) -> Function | None:
    """The definition of an operator that a user made."""
    operator = own_operator(name)
    return (lambda call, *args: operator.definition(*args, **operator.values(call))) if operator else None


def _elementary(call: relax.Call) -> Function | None:
    """Definition of exp and the like on float32."""
    function = ELEMENTARY.get(op_name(call))
    if function is None or dtype_of(call) != "float32":
        return None
    return lambda _call, x: function(x)
