"""Operators that compute each value from the values at the same place: functions, arithmetic, comparisons, choices.

Passes make tables of chains of them (passes/families/table.py); samples that meet in none but these stay apart.

Tests: tests/graph
"""

from __future__ import annotations

from functools import partial

from tvmq.graph.operators.record import (
    ARITHMETIC,
    COMPARISON,
    CONVERSION,
    CREATION,
    FUNCTION,
    HIGH,
    LOGIC,
    LOW,
    ORDER,
    Record,
)

_Elementwise = partial(Record, elementwise=True, batch="same rank")

FUNCTIONS = (
    *(
        _Elementwise(name, FUNCTION)
        for name in """
        log sqrt rsqrt square floor ceil round nn.selu nn.softplus
        tan sinh cosh asin acos atanh acosh power log_add_exp
        atan2 floor_divide floor_mod mod ewise_fma
        """.split()
    ),
    *(_Elementwise(n, FUNCTION, bounded_by_input=True) for n in "trunc nn.silu nn.gelu nn.gelu_tanh asinh".split()),
    *(_Elementwise(name, FUNCTION, integer=True, bounded_by_input=True) for name in ("negative", "abs")),
    *(_Elementwise(name, FUNCTION, bounded_by_one=True) for name in ("sin", "cos")),
    *(_Elementwise(name, FUNCTION, bounded_by_one=True, finite_at=(LOW, HIGH)) for name in ("sigmoid", "tanh", "erf")),
    _Elementwise("atan", FUNCTION, bounded_by_input=True, finite_at=(LOW, HIGH)),
    _Elementwise("sign", FUNCTION, integer=True, bounded_by_one=True, finite_at=(LOW, HIGH)),
    *(_Elementwise(name, FUNCTION, finite_at=(LOW, HIGH)) for name in ("isnan", "isinf", "isfinite")),
    _Elementwise("exp", FUNCTION, finite_at=(LOW,)),
    _Elementwise("clip", FUNCTION, integer=True),
    _Elementwise("nn.relu", FUNCTION, integer=True, homogeneous=True, bounded_by_input=True, finite_at=(LOW,)),
    _Elementwise("nn.leakyrelu", FUNCTION, homogeneous=True, bounded_by_input=True),
    Record("nn.prelu", FUNCTION, elementwise=True, batch="constants along"),
    _Elementwise("astype", CONVERSION, integer=True),
    *(_Elementwise(name, CREATION, integer=True) for name in ("zeros_like", "ones_like", "full_like")),
)
PAIRS = (
    _Elementwise("add", ARITHMETIC, integer=True, propagates_infinity=(0, 1)),
    *(_Elementwise(name, ARITHMETIC, integer=True) for name in ("subtract", "multiply")),
    _Elementwise("divide", ARITHMETIC),
    *(
        _Elementwise(name, COMPARISON, integer=True, finite_at=(LOW, HIGH))
        for name in ("equal", "not_equal", "greater", "greater_equal", "less", "less_equal")
    ),
    *(
        _Elementwise(name, LOGIC, integer=True)
        for name in """
        logical_and logical_or logical_xor logical_not
        left_shift right_shift bitwise_and bitwise_or bitwise_xor bitwise_not
        """.split()
    ),
    _Elementwise("maximum", ORDER, integer=True, finite_at=(LOW,)),
    _Elementwise("minimum", ORDER, integer=True, finite_at=(HIGH,)),
    _Elementwise("where", FUNCTION, integer=True, propagates_infinity=(1, 2)),
)
ELEMENTWISE = (*FUNCTIONS, *PAIRS)
