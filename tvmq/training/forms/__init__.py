"""Torch forms of the operators of an integer module: the same values, with gradients.

A form is called with a Place and the values of its arguments; it returns a CodeTensor, a SumTensor or a float tensor.
`form_of` finds it by the name of the operator; operators that move values need none of their own (moves.py).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from tvm import relax

from tvmq.graph.operators import OPERATORS, where
from tvmq.graph.operators.record import MOVE, RESIZE, SCATTER
from tvmq.graph.view import op_name
from tvmq.numerics.code_type import CODES_16
from tvmq.training.forms import (
    arithmetic,
    choices,
    conversions,
    float_layers,
    floats,
    integer_norms,
    moves,
    pools,
    products,
)
from tvmq.training.meaning import Arrays, to_definition

if TYPE_CHECKING:
    from tvmq.training.network import IntegerNetwork


@dataclass(frozen=True, eq=False)
class Place:
    """Binding of the integer module.

    name    of its variable
    call    what it is bound to
    net     the network, which knows scales and layers by name
    values  those of the variables before
    """

    name: str
    call: relax.Call
    net: IntegerNetwork
    values: Mapping[str, Any]

    def memoize(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """Value of `make`, called once for each key where only the first operand of the call is no constant."""
        if any(isinstance(arg, relax.Var) for arg in self.call.args[1:]):
            return make()
        return self.net.memoize((self.name, key), make)

    def run_compiled(self, replaced: Mapping[int, np.ndarray]) -> Any:
        """Result of the compiled operator with other arrays in the place of some operands."""
        operands = {self.call.args[position].name: array for position, array in replaced.items()}
        return self.net.islands.run(self.name, Arrays({**self.values, **operands}))


FLOATS = ("float32", "float64", "float16", "bfloat16")
Form = Callable[..., Any]
FORMS: dict[str, Form] = {
    **conversions.FORMS,
    **products.FORMS,
    **arithmetic.FORMS,
    **choices.FORMS,
    **pools.FORMS,
    **integer_norms.FORMS,
    **floats.FORMS,
    **float_layers.FORMS,
    **moves.FORMS,
}


def form_of(call: relax.Call) -> Form | None:
    """The form of an operator, None where it has none."""
    name = op_name(call)
    record = OPERATORS.get(name)
    if name in where(kind=(SCATTER, RESIZE)) and name in moves.FORMS and moves.computes(call):
        return None
    if name in FORMS:
        return FORMS[name]
    if record is not None and record.kind == MOVE:
        return moves.move
    return None if holds_activations(call) else plain_form


def holds_activations(call: relax.Call) -> bool:
    """True if a call gives floats or codes; other integers and booleans have no gradient, and need no form."""
    result, *operands = (_type(expr) for expr in (call, *(arg for arg in call.args if isinstance(arg, relax.Var))))
    is_float = result in FLOATS and any(dtype in FLOATS for dtype in operands)
    return is_float or any(dtype in CODES_16 for dtype in (result, *operands))


def _type(expr: relax.Expr) -> str:
    return str(getattr(expr.ty, "dtype", FLOATS[0]))


def plain_form(place: Place, *args: Any) -> Any:
    """Integers and booleans, by the definition."""
    from tvmq.reference import execute

    result = execute(place.call, [to_definition(arg) for arg in args])
    return [torch.from_numpy(part) for part in result] if isinstance(result, list | tuple) else torch.from_numpy(result)
