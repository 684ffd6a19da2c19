"""Sums, means, maxima and places of maxima along axes, in C."""

from __future__ import annotations

from tvm import relax

from tvmq.exporters.c import rescale
from tvmq.exporters.c.kernels.norm import MASKED_MEAN
from tvmq.exporters.c.loops import block, index, nest
from tvmq.exporters.c.products import ints
from tvmq.exporters.c.tensor import C_TYPES, SIZES, Ints, Tensor, broadcast, strides_of
from tvmq.exporters.c.walk import Ending, Form, Walk, literal
from tvmq.graph.view import op_name, shape_of


def _emit_reduction(
    walk: Walk, x: Tensor, result: Tensor, axes: Ints, texts: tuple[str, str, str], more: list[Tensor]
) -> None:
    """Append a step: for each place of the result, `texts` before, inside and after the loops over the axes.

    In the texts {a} is an element, {y} the place of the result, {at} the number of the element in its loops and
    {0}, {1}, ... are the counters of the result's axes.
    """
    own = strides_of(x.shape)
    kept = [axis for axis in range(len(own)) if axis not in axes]
    counters = [f"i{k}" for k in range(len(kept))]
    inner = [f"j{k}" for k in range(len(axes))]
    first = index(counters, tuple(own[axis] for axis in kept))
    rest = index(inner, tuple(own[axis] for axis in axes))
    sizes = tuple(x.shape[axis] for axis in kept)
    places = {
        "a": f"a[{first} + {rest}]",
        "y": index(counters, strides_of(sizes)),
        "at": index(inner, strides_of(tuple(x.shape[axis] for axis in axes))),
        "first": f"a[{first}]",
    }
    before, inside, behind = (text.format(*counters, **places) for text in texts)
    loops = nest(tuple(x.shape[axis] for axis in axes), inside, counter="j", indent="    ")
    body = "{\n    " + before + "\n" + loops + "    " + behind + "\n}"
    declared = [f"const {x.type} *a = {x.mark};", f"{result.type} *y = {result.mark};"]
    walk.write(block(declared, nest(sizes, body)), [x, *more], [result])


def total(walk: Walk, var: relax.Var, call: relax.Call) -> Tensor:
    """tvmq.sum, with the requantize that makes a mean of it."""
    x = walk.array(call.args[0])
    axes = tuple(sorted(a % len(x.shape) for a in ints(call.attrs.axes)))
    ending = _find_ending(walk, var)
    result = walk.result(ending.var)
    function, parameters = rescale.finish(walk, ending.call)
    channel = "0"
    if ending.call is not None and rescale.constants_of(ending.call)[0].size > 1:
        kept = [a for a in range(len(x.shape)) if a not in axes]
        position = int(ending.call.attrs.axis) % len(result.shape)
        channel = f"{{{kept.index(position) if call.attrs.keepdims else position}}}"
    texts = (
        "int32_t sum = 0;",
        f"sum += {{a}} - {literal(int(call.attrs.zero_point))};",
        f"{function}({parameters}, &sum, 1, {channel}, 0, y + {{y}});",
    )
    _emit_reduction(walk, x, result, axes, texts, [])
    return walk.end(ending, result)


def _find_ending(walk: Walk, var: relax.Var) -> Ending:
    """The requantize that reads the sums, if any, along whichever axis."""
    reader = walk.view.only_reader(var.name)
    ending = Ending(var)
    if reader is not None and op_name(walk.view.value[reader]) == "tvmq.requantize":
        ending.call = walk.view.value[reader]
        ending.follow(walk.view.var[reader])
    return ending


def _axes(walk: Walk, call: relax.Call) -> Ints:
    rank = len(shape_of(call.args[0]))
    axis = call.attrs.axis
    if axis is None:
        return tuple(range(rank))
    return tuple(sorted(a % rank for a in (ints(axis) if hasattr(axis, "__len__") else (int(axis),))))


def extreme(symbol: str) -> Form:
    """max, min."""

    def form(walk: Walk, var: relax.Var, call: relax.Call) -> Tensor:
        x, result = walk.array(call.args[0]), walk.result(var)
        kind = C_TYPES[x.type]
        texts = (f"{kind} best = {{first}};", f"best = {{a}} {symbol} best ? {{a}} : best;", "y[{y}] = best;")
        _emit_reduction(walk, x, result, _axes(walk, call), texts, [])
        return result

    return form


def place_of(symbol: str) -> Form:
    """argmax, argmin: the first of equal ones."""

    def form(walk: Walk, var: relax.Var, call: relax.Call) -> Tensor:
        x, result = walk.array(call.args[0]), walk.result(var)
        kind = C_TYPES[x.type]
        texts = (
            f"{kind} best = {{first}}; {C_TYPES[result.type]} place = 0;",
            f"if ({{a}} {symbol} best) {{{{ best = {{a}}; place = {{at}}; }}}}",
            "y[{y}] = place;",
        )
        _emit_reduction(walk, x, result, _axes(walk, call), texts, [])
        return result

    return form


def plain_sum(walk: Walk, var: relax.Var, call: relax.Call) -> Tensor:
    """sum of integers, which wraps round."""
    x, result = walk.array(call.args[0]), walk.result(var)
    unsigned = "uint64_t" if SIZES[result.type] == 8 else "uint32_t"
    texts = (f"{unsigned} sum = 0;", f"sum += ({unsigned}){{a}};", f"y[{{y}}] = ({C_TYPES[result.type]})sum;")
    _emit_reduction(walk, x, result, _axes(walk, call), texts, [])
    return result


def masked_mean(walk: Walk, var: relax.Var, call: relax.Call) -> Tensor:
    """tvmq.masked_mean: the mean over the elements that a mask keeps."""
    a, x, result = call.attrs, walk.array(call.args[0]), walk.result(var)
    mask, axis = walk.array(call.args[1]), int(call.attrs.axis)
    name = walk.library.use(MASKED_MEAN, X=x.type, M=mask.type, Y=result.type)
    own, other = strides_of(x.shape), broadcast(mask, x.shape).strides
    kept = [i for i in range(len(own)) if i != axis]
    counters = [f"i{k}" for k in range(len(kept))]
    at, masked = (index(counters, tuple(steps[i] for i in kept)) for steps in (own, other))
    low, high, zero = rescale.limits(call)
    numbers = f"{int(a.multiplier)}, {int(a.shift)}, {int(a.x_zero)}, {low}, {high}, {zero}"
    body = (
        f"y[{index(counters, strides_of(result.shape))}] = ({result.type}){name}({x.mark} + {at}, {own[axis]}, "
        f"{mask.mark} + {masked}, {other[axis]}, {x.shape[axis]}, {numbers});"
    )
    text = block([f"{result.type} *y = {result.mark};"], nest(tuple(x.shape[i] for i in kept), body))
    walk.write(text, [x, mask], [result])
    return result


FORMS: dict[str, Form] = {
    "tvmq.sum": total,
    "tvmq.masked_mean": masked_mean,
    "max": extreme(">"),
    "min": extreme("<"),
    "argmax": place_of(">"),
    "argmin": place_of("<"),
    "sum": plain_sum,
}
