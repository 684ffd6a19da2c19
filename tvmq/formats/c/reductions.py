"""Sums, means, maxima and places of maxima along axes, in C.

Tests: tests/formats/c/test_operators.py
"""

from __future__ import annotations

from collections.abc import Callable

from tvm import relax

from tvmq.formats.c import rescale
from tvmq.formats.c.kernels.norm import MASKED_MEAN
from tvmq.formats.c.loops import block, emit_loops, index, nest
from tvmq.formats.c.tensor import C_TYPES, CTensor, Ints, broadcast, strides_of
from tvmq.formats.c.writer import CWriter, Epilogue, Form, literal
from tvmq.formats.exporting.binding_writer import ints
from tvmq.graph.view import op_name, shape_of


def _emit_reduction(writer: CWriter, x: CTensor, result: CTensor, axes: Ints, texts: tuple[str, str, str]) -> None:
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
    emit_loops(writer, sizes, body, result, a=x)


def total(writer: CWriter, var: relax.Var, call: relax.Call) -> CTensor:
    """tvmq.sum, with the requantize that makes a mean of it."""
    x = writer.array(call.args[0])
    axes = tuple(sorted(a % len(x.shape) for a in ints(call.attrs.axes)))
    epilogue = _find_epilogue(writer, var)
    result = writer.result(epilogue.var)
    function, parameters = rescale.finish(writer, epilogue.call)
    channel = "0"
    if epilogue.call is not None and rescale.constants_of(epilogue.call)[0].size > 1:
        kept = [a for a in range(len(x.shape)) if a not in axes]
        position = int(epilogue.call.attrs.axis) % len(result.shape)
        channel = f"{{{kept.index(position) if call.attrs.keepdims else position}}}"
    texts = (
        "int32_t sum = 0;",
        f"sum += {{a}} - {literal(int(call.attrs.zero_point))};",
        f"{function}({parameters}, &sum, 1, {channel}, 0, y + {{y}});",
    )
    _emit_reduction(writer, x, result, axes, texts)
    return writer.store_result(epilogue, result)


def _find_epilogue(writer: CWriter, var: relax.Var) -> Epilogue:
    """The requantize that reads the sums, if any, along whichever axis."""
    reader = writer.view.only_reader(var.name)
    epilogue = Epilogue(var)
    if reader is not None and op_name(writer.view.value[reader]) == "tvmq.requantize":
        epilogue.call = writer.view.value[reader]
        epilogue.follow(writer.view.var[reader])
    return epilogue


def _axes(writer: CWriter, call: relax.Call) -> Ints:
    rank = len(shape_of(call.args[0]))
    axis = call.attrs.axis
    if axis is None:
        return tuple(range(rank))
    return tuple(sorted(a % rank for a in (ints(axis) if hasattr(axis, "__len__") else (int(axis),))))


def reduction_form(texts: Callable[[str, str], tuple[str, str, str]]) -> Form:
    """Form of a reduction whose texts, as of `_emit_reduction`, are made of the types of elements and of results."""

    def form(writer: CWriter, var: relax.Var, call: relax.Call) -> CTensor:
        x, result = writer.array(call.args[0]), writer.result(var)
        _emit_reduction(writer, x, result, _axes(writer, call), texts(C_TYPES[x.type], C_TYPES[result.type]))
        return result

    return form


def extreme(symbol: str) -> Form:
    """max, min."""
    inside = f"best = {{a}} {symbol} best ? {{a}} : best;"
    return reduction_form(lambda kind, _: (f"{kind} best = {{first}};", inside, "y[{y}] = best;"))


def place_of(symbol: str) -> Form:
    """argmax, argmin: the first of equal ones."""
    inside = f"if ({{a}} {symbol} best) {{{{ best = {{a}}; place = {{at}}; }}}}"
    return reduction_form(
        lambda kind, place: (f"{kind} best = {{first}}; {place} place = 0;", inside, "y[{y}] = place;")
    )


def _sum_texts(kind: str, result: str) -> tuple[str, str, str]:
    """sum of integers, which wraps round."""
    unsigned = "uint64_t" if result == "int64_t" else "uint32_t"
    return f"{unsigned} sum = 0;", f"sum += ({unsigned}){{a}};", f"y[{{y}}] = ({result})sum;"


def masked_mean(writer: CWriter, var: relax.Var, call: relax.Call) -> CTensor:
    """tvmq.masked_mean: the mean over the elements that a mask keeps."""
    a, x, result = call.attrs, writer.array(call.args[0]), writer.result(var)
    mask, axis = writer.array(call.args[1]), int(call.attrs.axis)
    name = writer.library.use(MASKED_MEAN, X=x.type, M=mask.type, Y=result.type)
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
    writer.write(text, [x, mask], [result])
    return result


FORMS: dict[str, Form] = {
    "tvmq.sum": total,
    "tvmq.masked_mean": masked_mean,
    "max": extreme(">"),
    "min": extreme("<"),
    "argmax": place_of(">"),
    "argmin": place_of("<"),
    "sum": reduction_form(_sum_texts),
}
