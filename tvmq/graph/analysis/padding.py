"""Padding of a model with a mask: are its results proved not to depend on masked positions?

The rules of the operators (position_moves.py, position_sums.py) follow from the mask, which is 1 at a sample's own
positions and 0 at masked ones, to where it makes scores so low that their softmax is 0, or values 0 that are added.
What is proved holds for the numeric definition, which compiled code equals.

Tests: tests/graph/test_padding.py
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import tvm
from tvm import relax
from tvm.sym import Analyzer
from tvm.tirx.analysis import undefined_vars

from tvmq.graph.analysis.inner_axis import mentions, uses
from tvmq.graph.analysis.position_moves import MOVE_RULES, Rule, broadcast_axes, range_at
from tvmq.graph.analysis.position_sums import SUM_RULES, WEIGHTED
from tvmq.graph.analysis.positions import Mixture, Positions, Value, split_by_mask, subsets, without_positions
from tvmq.graph.analysis.value_ranges import Range, clip_range, elementwise_range, range_of_array, range_of_type
from tvmq.graph.interpret import Function, interpret
from tvmq.graph.operators import OPERATORS, where
from tvmq.graph.operators.record import CREATION, RESHAPE
from tvmq.graph.symbolic import input_names
from tvmq.graph.view import View, const_value, dtype_of, is_const, op_name, rank_of, sizes_of

PLACES = {
    "first": "it takes the first position",
    "summed": "it sums the positions before each",
    "counted": "it counts positions from the first",
    "lanes": "its float sum adds in the order of places",
}
MASKING = ("add", "subtract", "where")  # of a mask and scores
NEED_FIRST = ("first", "summed")  # with masked positions in front of own ones they give something else
LARGEST_INPUT = 1e9  # that is taken of float inputs: more may overflow where it is squared
EXPONENTS = range(4, 127)  # of the largest scores that are tried
# Their result has an axis of positions that none of their operands has
COUNTING = ("arange", "strided_slice")  # up to the number of positions
SHAPED = where(kind=CREATION) | where(form=RESHAPE) | {"broadcast_to", "strided_slice"}


@dataclass(frozen=True)
class PaddingProof:
    """Why the results of own positions are not proved to be the same; "" where they are.

    values  for other values at masked positions
    right   for more masked positions behind the others
    left    for more masked positions in front of the others

    limit   what is proved holds for scores of at most this magnitude; infinite where codes bound them, or the mask is
            low enough for all
    scores  variables that are the scores: what is added to the mask in front of a softmax
    inputs  likewise for masked values of float inputs; infinite where there are none

    first   what is proved holds for samples whose own positions come first, and masked ones behind them

    A mask has 1 for at least one position of each sample, and 0 where it has not.
    """

    values: str
    right: str
    left: str
    limit: float = math.inf
    scores: tuple[str, ...] = ()
    inputs: float = math.inf
    first: bool = False

    @property
    def condition(self) -> str:
        """Condition of the proof as text; "" if there is none.

        >>> PaddingProof("", "", "", 4096.0, ("scores",)).condition
        'attention scores are within 4096'
        """
        limits = {"inputs": self.inputs, "attention scores": self.limit}
        parts = ["own positions come first"] if self.first else []
        parts += [f"{name} are within {limit:g}" for name, limit in limits.items() if limit < math.inf]
        return "" if self.values else " and ".join(parts)

    def to_dict(self) -> dict[str, Any]:
        """Dictionary for JSON; a limit that is infinite is left out."""
        return {key: value for key, value in asdict(self).items() if value != math.inf}


def input_sizes(view: View) -> dict[str, Sequence[int | str]]:
    """Sizes of each input: numbers, and names of dynamic ones."""
    names = input_names(view.func)
    return {names[name]: sizes_of(param) for name, param in view.params.items() if name in names}


def find_masks(sizes: Mapping[str, Sequence[int | str]]) -> list[str]:
    """Names of the inputs that may be a mask: two axes, and "mask" in the name.

    sizes  of each input

    >>> find_masks({"ids": ("n", "length"), "attention_mask": ("n", "length"), "mask_bias": (4,)})
    ['attention_mask']
    """
    return [name for name, shape in sizes.items() if "mask" in name.lower() and len(shape) == 2]


def prove_padding(mod: tvm.IRModule, mask: str) -> PaddingProof:
    """Follow positions through a module, from the input that masks them to the results.

    Scores that nothing bounds, as products of floats, are taken to be as large as the mask allows: the largest power of
    two for which the proof holds.

    mod   a module whose functions are inlined and whose weights are unpacked
    mask  name of an input [batch, length]

    >>> from tvmq.graph import ops
    >>> n, length = (tvm.tirx.Var(name, "int64") for name in ("n", "length"))
    >>> x = relax.Var("x", relax.TensorType([n, length, 4], "int32"))
    >>> mask, builder = relax.Var("mask", relax.TensorType([n, length], "int32")), relax.BlockBuilder()
    >>> with builder.function("main", [x, mask]):
    ...     with builder.dataflow():
    ...         kept = builder.emit(relax.op.multiply(x, relax.op.expand_dims(mask, 2)))
    ...         y = builder.emit_output(relax.op.sum(kept, axis=1))
    ...     _ = builder.emit_func_output(y)
    >>> prove_padding(builder.get(), "mask")
    PaddingProof(values='', right='', left='', limit=inf, scores=(), inputs=inf, first=False)
    """
    view = View(mod)
    proof = _prove(view, mask, math.inf)
    if not proof.values.endswith(WEIGHTED):
        return proof
    fails = bisect_left(EXPONENTS, True, key=lambda exponent: _prove(view, mask, 2.0**exponent).values != "")
    return _prove(view, mask, 2.0 ** EXPONENTS[max(fails - 1, 0)])


def _prove(view: View, mask: str, limit: float) -> PaddingProof:
    tracer = _Tracer(view, mask, limit)
    values = tracer.outputs()
    mixed = next((one.why for one in values if isinstance(one, Mixture)), "")
    place = next((one.place for one in values if isinstance(one, Positions) and one.place), "")
    scores, first = tuple(tracer.scores), tracer.needs_first
    return PaddingProof(mixed, mixed, mixed or place, limit, scores, tracer.input_limit, first)


class _Tracer:
    """Interpreter of a module: for each variable what is known of its positions."""

    def __init__(self, view: View, mask: str, limit: float) -> None:
        self._view, self._limit = view, limit
        self.scores: list[str] = []
        self.input_limit = math.inf
        self.needs_first = False
        names = input_names(view.func)
        length = input_sizes(view)[mask][1]
        self._length = length if isinstance(length, str) else None
        self._values: dict[str, Any] = {
            name: self._read_input(param, names.get(name), mask, length) for name, param in view.params.items()
        }

    def outputs(self) -> list[Value]:
        """Values of the results."""
        for _ in interpret(self._view, self._rule_of, self._values, self._read):
            pass
        return [self._values[name] for name in self._view.outputs]

    def _read_input(self, param: relax.Var, name: str | None, mask: str, length: int | str) -> Value:
        """Own and masked values of an input; of weights what their type holds."""
        values = range_of_type(dtype_of(param))
        others = [dim for axis, dim in enumerate(param.ty.shape) if axis != 1 or sizes_of(param)[1] != length]
        if self._length is not None and any(uses(dim, self._length) for dim in others):
            return Mixture(param.name, f"input '{name}': its positions are not its second axis")
        if name == mask:
            return split_by_mask(Range(1.0, 1.0), Range(0.0, 0.0), 1)
        if name is None or sizes_of(param)[1:2] != (length,):
            return without_positions(values)
        if "float" in dtype_of(param):
            self.input_limit = LARGEST_INPUT
            values = Range(-LARGEST_INPUT, LARGEST_INPUT)
        return split_by_mask(values, values, 1)

    def _read(self, expr: relax.Expr, _values: Any) -> Any:
        if is_const(expr):
            return without_positions(range_of_array(const_value(expr)))
        if isinstance(expr, relax.Var):
            return self._values.get(expr.name)
        if isinstance(expr, relax.Tuple):
            return [self._read(item, _values) for item in expr.fields]
        if isinstance(expr, relax.TupleGetItem):
            whole = self._read(expr.tuple_value, _values)
            return whole[expr.index] if isinstance(whole, list) else whole
        return None

    def _rule_of(self, var: relax.Var, call: relax.Call) -> Function:
        return lambda call, *args: self._apply(var, call, args)

    def _apply(self, var: relax.Var, call: relax.Call, args: tuple[Any, ...]) -> Any:
        flat = [item for arg in args for item in (arg if isinstance(arg, list) else [arg])]
        mixed = next((item for item in flat if isinstance(item, Mixture)), None)
        if mixed is not None:
            return mixed
        result = self._result(call, args, [item for item in flat if isinstance(item, Positions)])
        layer = ", ".join(self._view.sources(var.name)) or var.name
        if isinstance(result, str):
            return Mixture(var.name, f"{op_name(call) or 'tuple'} '{layer}': {result}")
        results = [self._name_place(call, layer, one) for one in (result if isinstance(result, list) else [result])]
        return results if isinstance(result, list) else results[0]

    def _name_place(self, call: relax.Call, layer: str, value: Positions) -> Positions:
        """The value with the layer for which places matter, if this is the one."""
        if value.place not in PLACES:
            return value
        self.needs_first |= value.place in NEED_FIRST
        return replace(value, place=f"{op_name(call)} '{layer}': {PLACES[value.place]}")

    def _result(self, call: relax.Call, args: tuple[Any, ...], tensors: list[Positions]) -> Any:
        name = op_name(call)
        if isinstance(call.ty, relax.TensorType) and call.ty.shape is None:
            return "its shape is not known"
        if not any(value.axes for value in tensors) and not self._depends_on_length(call):
            return _free_of_positions(call, args, tensors)
        if name not in COUNTING and any(self._mentions_length(arg) for arg in call.args):
            return "a number is computed from that of positions"
        rule: Rule | None = MOVE_RULES.get(name) or SUM_RULES.get(name)
        if rule is None and name in OPERATORS and OPERATORS[name].batch in ("same rank", "constants along"):
            rule = self._elementwise
        if rule is None:
            return "its rule for masked positions is not known"
        result = rule(call, *args)
        return self._add_axes(call, result) if isinstance(result, Positions) else result

    def _elementwise(self, call: relax.Call, *args: Any) -> Positions:
        """Values at the same place; scores that are added to a mask are not above the limit."""
        is_mask = [isinstance(value, Positions) and _is_mask(value) for value in args]
        if op_name(call) not in MASKING or not any(is_mask) or math.isinf(self._limit):
            return _elementwise(call, *args)
        bound, clipped = Range(-self._limit, self._limit), list(args)
        for place, arg in enumerate(call.args):
            if isinstance(arg, relax.Var) and not is_mask[place]:
                self.scores.append(arg.name)
                clipped[place] = args[place].each_range(lambda values: clip_range(values, bound))
        return _elementwise(call, *clipped)

    def _depends_on_length(self, call: relax.Call) -> bool:
        if self._length is None:
            return False
        dims = list(call.ty.shape) if isinstance(call.ty, relax.TensorType) else []
        return any(uses(dim, self._length) for dim in dims) or any(mentions(arg, self._length) for arg in call.args)

    def _mentions_length(self, arg: relax.Expr) -> bool:
        """True for a number, other than a size of the result, that is computed from that of positions."""
        return self._length is not None and not isinstance(arg, relax.ShapeExpr) and mentions(arg, self._length)

    def _add_axes(self, call: relax.Call, result: Positions) -> Positions | str:
        """The axes of positions of the result's type; some operators create one."""
        if self._length is None:
            return result
        axes = {axis for axis, dim in enumerate(call.ty.shape) if uses(dim, self._length) and not _is_one(dim)}
        name, created = op_name(call), axes.difference(result.axes)
        is_single = all(isinstance(call.ty.shape[axis], tvm.tirx.Var) for axis in axes)
        if not is_single or set(result.axes) - axes or (created and name not in SHAPED):
            return "a size is computed from the number of positions"
        ranges = {key: range_at(result, key) for key in subsets(tuple(sorted(axes)))}
        is_counted = created and name == "strided_slice"
        return Positions(ranges, result.place or ("counted" if is_counted else ""))


def _is_one(dim: tvm.ir.Expr) -> bool:
    """True for a size that is 1 for any number of positions, as that of a slice of the first."""
    analyzer = Analyzer()
    for var in undefined_vars(dim):
        analyzer.bind(var, tvm.ir.Range(1, 1 << 31))
    return bool(analyzer.can_prove_equal(dim, 1))


def _free_of_positions(call: relax.Call, args: tuple[Any, ...], tensors: list[Positions]) -> Any:
    """A result of tensors that have no positions: the same whatever is masked."""
    place = next((value.place for value in tensors if value.place), "")
    if isinstance(call.ty, tvm.ir.TupleType):
        return [replace(without_positions(range_of_type(str(field.dtype))), place=place) for field in call.ty.fields]
    record = OPERATORS.get(op_name(call))
    if record is not None and record.elementwise and all(isinstance(arg, Positions) for arg in args):
        return _elementwise(call, *args)
    return replace(without_positions(range_of_type(dtype_of(call))), place=place)


def _is_mask(value: Positions) -> bool:
    """True if own and masked positions have a number each, which are not the same."""
    ranges = set(value.ranges.values())
    return len(ranges) > 1 and all(one.low == one.high for one in ranges)


def _elementwise(call: relax.Call, *args: Any) -> Positions:
    """Values at the same place, as tensors broadcast; constants, which have arrays, without their range."""
    rank = rank_of(call)
    moved: list[Any] = []
    for arg, value in zip(call.args, args, strict=True):
        if is_const(arg):
            moved.append(const_value(arg))
        elif isinstance(value, Positions):
            moved.append(value.move_axes(broadcast_axes(arg, rank)))
        else:
            moved.append(Range(float(arg.value), float(arg.value)))  # a number, as of clip
    known = [value for value in moved if isinstance(value, Positions)]
    axes = tuple(sorted({axis for value in known for axis in value.axes}))
    ranges = {
        key: elementwise_range(call, [range_at(v, key) if isinstance(v, Positions) else v for v in moved])
        for key in subsets(axes)
    }
    return Positions(ranges, next((value.place for value in known if value.place), ""))
