"""Definition of each operator as a function of a call and its arrays: what `tvmq.reference` executes.

Operators of ours are declared with theirs (graph/operators), Relax's integer convolutions and products have those of
tvmq.numerics in their records.

Tests: tests/reference/test_reference.py
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from tvm import relax
from tvm.sym import Analyzer

from tvmq import numerics
from tvmq.graph.evaluate import evaluator
from tvmq.graph.interpret import Function
from tvmq.graph.operators import OPERATORS, where
from tvmq.graph.operators.record import CONVOLUTION, POOL, PRODUCT
from tvmq.graph.own_operators import own_operator
from tvmq.graph.sizes import covering_padding
from tvmq.graph.view import dtype_of, op_name, shape_of
from tvmq.numerics.elementary import ELEMENTARY


def _max_pool(call: relax.Call, x: np.ndarray) -> np.ndarray:
    a = call.attrs
    windows = {"kernel": a.pool_size, "strides": a.strides, "dilation": a.dilation}
    options: dict[str, Any] = {name: tuple(map(int, sizes)) for name, sizes in windows.items()}
    options["padding"] = covering_padding(a.padding, x.shape[2:], shape_of(call)[2:], **options)
    return numerics.max_pool(x, **options)


DEFINED: dict[str, Function] = {
    **{name: record.evaluate for name, record in OPERATORS.items() if record.definition},
    **dict.fromkeys(where(kind=POOL, commutes_with_quantize=True), _max_pool),
}


def definition_of(value: relax.Call, own: Mapping[str, Function]) -> Function | None:
    """The function(call, *arrays) that says what a call gives, bit for bit; None for floats without a definition.

    own    operators that families of other packages define on integers
    """
    name = op_name(value)
    if name in own and "int" in dtype_of(value.args[0]):
        return own[name]
    if name in where(kind=(CONVOLUTION, PRODUCT), is_own=False) and dtype_of(value) != "int32":
        return None
    if name == "arange" and dtype_of(value).startswith("int"):
        return lambda call, *ends: np.arange(*(int(Analyzer().simplify(end)) for end in ends), dtype=dtype_of(call))
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
