"""Operators as records, one for each Relax operator that this project names: a fact about one stands here alone.

Passes, analysis and lowering ask for the names that they treat alike: `where(kind=MOVE)`.
"""

from __future__ import annotations

from functools import cache

from tvmq.graph.operators import (  # noqa: F401 -- each declares operators of ours
    arithmetic,
    conversions,
    dynamic,
    float_sums,
    integer_norms,
    norms,
    observe,
    packed_weights,
    pools,
    recurrent,
    softmax,
    value_functions,
)
from tvmq.graph.operators.declaration import DECLARED
from tvmq.graph.operators.elementwise import ELEMENTWISE
from tvmq.graph.operators.moves import MOVING
from tvmq.graph.operators.products import PRODUCTS
from tvmq.graph.operators.record import Record
from tvmq.graph.operators.reductions import REDUCING

RECORDS = (*ELEMENTWISE, *MOVING, *PRODUCTS, *REDUCING, *DECLARED)
OPERATORS: dict[str, Record] = {record.name: record for record in RECORDS}


@cache
def where(**facts: object) -> frozenset[str]:
    """Names of the operators with these facts; of a tuple of values any one will do.

    >>> sorted(where(kind="convolution"))
    ['nn.conv1d', 'nn.conv2d', 'nn.conv3d']
    >>> sorted(where(kind="move", form=("transpose", "reverse")))
    ['flip', 'permute_dims']
    """
    wanted = {fact: value if isinstance(value, tuple) else (value,) for fact, value in facts.items()}
    return frozenset(
        record.name for record in RECORDS if all(getattr(record, fact) in values for fact, values in wanted.items())
    )
