"""The record of one Relax operator: the facts about it that more than one place needs.

Tests: tests/graph/test_operators.py
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tvm import relax

# What an operator does, in one word
CONVOLUTION, TRANSPOSED, PRODUCT = "convolution", "transposed convolution", "product"
ARITHMETIC, COMPARISON, LOGIC = "arithmetic", "comparison", "logic"  # of two tensors, value by value
FUNCTION = "function"  # any other of the values at one place
ORDER = "order"  # chooses values by their order
MOVE, CREATION, CONVERSION, RESIZE = "move", "creation", "conversion", "resize"
REDUCTION, POOL, SCAN = "reduction", "pool", "scan"
NORMALIZATION, SOFTMAX = "normalization", "softmax"
SCATTER = "scatter"
RECURRENT = "recurrent"  # a loop over time

# How a MOVE moves; every element of its result is one of its operand's, or a border's
RESHAPE = "reshape"  # all elements in their order in memory
TRANSPOSE = "transpose"
SLICE, SPLIT, GATHER = "slice", "split", "gather"  # some elements: at fixed places, in parts, where indices say
BROADCAST, REPEAT, REVERSE = "broadcast", "repeat", "reverse"  # all elements, some of them more often
JOIN, PAD, MASK = "join", "pad", "mask"

LOW, HIGH = -1, 1  # signs of infinities


@dataclass(frozen=True)
class Record:
    """Record of a Relax operator.

    name          as op_name gives it
    kind, form    what it does; of a MOVE also how: constants of this file
    elementwise   each value of the result is computed from the values at the same place
    batch         the rule by which samples stay apart, a key of RULES in graph/analysis/batch_dimension.py;
                  "" proves nothing
    integer       it computes in integers if all that it reads and gives is integer
    homogeneous   what multiplies channels of its operand by positive numbers multiplies those of its result by them
    finite_at     signs of the infinities for which its result is finite, or infinite only if another operand is
    weight        position of the operand that may be a weight; None if it has none
    weight_axis   axis of the weight's output channels in the layout that `prepare` leaves
    macs          multiply-accumulates of a call
    definition    of tvmq.numerics: arrays by position, attributes by keyword; None where there is no such function
    attributes    names of the attributes, which are the keywords of the definition

    commutes_with_quantize  f(quantize(x)) == quantize(f(x)) whatever the scale: it copies or compares values
    propagates_infinity     operands whose infinities have the same meaning in the result
    bounded_by_input        |f(x)| <= |x|, element by element
    bounded_by_one          |f(x)| <= 1
    """

    name: str
    kind: str
    form: str = ""
    elementwise: bool = False
    batch: str = ""
    commutes_with_quantize: bool = False
    integer: bool = False
    homogeneous: bool = False
    propagates_infinity: tuple[int, ...] = ()
    finite_at: tuple[int, ...] = ()
    bounded_by_input: bool = False
    bounded_by_one: bool = False
    weight: int | None = None
    weight_axis: int | None = None
    macs: Callable[[relax.Call], int] | None = None
    definition: Callable[..., Any] | None = None
    attributes: tuple[str, ...] = ()

    @property
    def is_own(self) -> bool:
        """True for operators of ours."""
        return self.name.startswith("tvmq.")

    def evaluate(self, call: relax.Call, *arrays: Any) -> Any:
        """Apply the definition to these arrays, as a call of the operator would."""
        assert self.definition is not None, self.name
        return self.definition(*arrays, **self.values(call))

    def values(self, call: relax.Call) -> dict[str, Any]:
        """Attributes of a call, as Python has them."""
        return {name: _as_tuple(getattr(call.attrs, name)) for name in self.attributes}


def _as_tuple(value: Any) -> Any:
    """Lists of TVM as tuples of numbers."""
    return tuple(int(v) for v in value) if not isinstance(value, str) and isinstance(value, Sequence) else value
