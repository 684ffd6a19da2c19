"""Torch forms of the operators of an integer module: the same values, with gradients.

A form is called with a Place and what its arguments became; it gives Codes, Sums or a float tensor. `form_of` finds it
by the name of the operator; operators that move values need none of their own (moves.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tvm import relax

from tvmq.graph.operators import OPERATORS
from tvmq.graph.operators.record import MOVE
from tvmq.graph.view import op_name
from tvmq.training.forms import arithmetic, conversions, floats, moves, pools, products

if TYPE_CHECKING:
    from tvmq.training.network import IntegerNetwork


@dataclass(frozen=True, eq=False)
class Place:
    """One binding of the integer module.

    name  of its variable
    call  what it is bound to
    net   the network, which knows scales and layers by name
    """

    name: str
    call: relax.Call
    net: IntegerNetwork


Form = Callable[..., Any]
FORMS: dict[str, Form] = {
    **conversions.FORMS,
    **products.FORMS,
    **arithmetic.FORMS,
    **pools.FORMS,
    **floats.FORMS,
    **moves.FORMS,
}


def form_of(call: relax.Call) -> Form | None:
    """The form of an operator, None where it has none."""
    name = op_name(call)
    record = OPERATORS.get(name)
    if name in FORMS:
        return FORMS[name]
    return moves.move if record is not None and record.kind == MOVE else None
