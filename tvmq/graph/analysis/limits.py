"""Limits of the dynamic dimensions of a model: sizes between which it is right.

Sums of products over a dynamic dimension must stay in int32; a slice must stay inside of what it is cut from, since
TVM's reads whatever lies behind; kernels of convolutions, pools, products and norms compute at least one value.

Tests: tests/graph/test_resolve_shapes.py
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import tvm
from tvm import relax
from tvm.sym import Analyzer
from tvm.tirx.analysis import undefined_vars

from tvmq.errors import ModelError
from tvmq.graph.indices import index_operands
from tvmq.graph.ledger import get_ledger
from tvmq.graph.multiples import multiples_of
from tvmq.graph.operators import record, where
from tvmq.graph.size_proofs import is_at_most
from tvmq.graph.size_text import size_text
from tvmq.graph.sizes import least_positive
from tvmq.graph.state_pairs import appended_dimensions
from tvmq.graph.symbolic import dynamic_dimensions
from tvmq.graph.view import View, op_name

ENDLESS = 2**31 - 1
# Operators whose kernels take no tensors without elements
EXTREMES = {"max", "min", "argmax", "argmin"}
NEVER_EMPTY = EXTREMES | where(
    kind=(
        record.CONVOLUTION, record.TRANSPOSED, record.PRODUCT, record.POOL, record.RESIZE, record.REDUCTION,
        record.SCAN, record.NORMALIZATION, record.SOFTMAX, record.RECURRENT,
    )
)  # fmt: skip


@dataclass(frozen=True)
class Limit:
    """A dynamic dimension may be least .. most, and a multiple of a number; `why` says what asks for it."""

    least: int = 0
    most: int = ENDLESS
    why: str = ""
    multiple: int = 1

    def tighten(self, least: int, most: int, why: str) -> Limit:
        """Limit with another demand too; the reason is that of the last one that narrowed anything."""
        if least <= self.least and most >= self.most:
            return self
        return replace(self, least=max(self.least, least), most=min(self.most, most), why=why)


def size_limits(mod: tvm.IRModule) -> dict[str, Limit]:
    """{dynamic dimension: limit}; one that is neither the first axis of an input nor a cache's has an element or more.

    raises  ModelError for a slice that is not proved to stay inside for any sizes, and for unknown sizes
    """
    dynamic = dynamic_dimensions(mod)
    if not dynamic:
        return {}
    may_be_empty = appended_dimensions(mod) | {name for name, (_, axis) in dynamic.items() if axis == 0}
    limits = {name: Limit(least=int(name not in may_be_empty)) for name in dynamic}
    for layer, entry in get_ledger(mod).layers.items():
        for name, most in (entry.get("most") or {}).items():
            if name in limits:
                limits[name] = limits[name].tighten(0, most, f"longer sums of '{layer}' could leave int32")
    view = View(mod)
    limits |= {name: replace(limits[name], least=0) for name in _empty_at_first(view, dynamic)}
    for var, value in view.bindings:
        _require_shape(view, var)
        for demand in _demands(value, ", ".join(view.sources(var.name))):
            limits[demand[0]] = limits[demand[0]].tighten(*demand[1:])
        for name, multiple in multiples_of(value).items():
            limits[name] = replace(limits[name], multiple=math.lcm(limits[name].multiple, multiple))
    for name, least, why in _least_sizes(view):
        limits[name] = limits[name].tighten(least, ENDLESS, why)
    return limits


def _empty_at_first(view: View, names: Iterable[str]) -> list[str]:
    """Dimensions that may all be 0 together."""
    empty: list[str] = []
    for name in names:
        if _may_be_empty(view, name, empty):
            empty.append(name)
    return empty


def _may_be_empty(view: View, name: str, others: Sequence[str]) -> bool:
    """True for the length of a cache before the first call: nothing, or what appends rows alone, reads inputs of it."""
    for param in view.params.values():
        axes = [axis for axis, dim in enumerate(_dims(param)) if _is_named(dim, name)]
        for reader in view.readers[param.name] if axes else ():
            call = view.value[reader]
            if op_name(call) != "concat" or axes != [int(call.attrs.axis or 0) % len(_dims(param))]:
                return False
    read = [param for param in view.params.values() if not any(_is_named(dim, name) for dim in _dims(param))]
    sizes = [dim for var in (*read, *(var for var, _ in view.bindings)) for dim in _dims(var)]
    symbolic = [dim for dim in sizes if not isinstance(dim, tvm.tirx.IntImm)]
    named = [dim for dim in symbolic if any(_is_named(var, name) for var in undefined_vars(dim))]
    return all(_is_positive_without(dim, (name, *others)) for dim in named)


def _is_named(dim: Any, name: str) -> bool:
    return isinstance(dim, tvm.ir.Var) and str(dim.name) == name


def _is_positive_without(dim: Any, names: Sequence[str]) -> bool:
    """True for a size that is at least 1 where these dimensions are 0 and all others are 1 or more."""
    analyzer = Analyzer()
    for var in undefined_vars(dim):
        if str(var.name) in names:
            analyzer.bind(var, tvm.tirx.IntImm(str(var.ty.dtype), 0))
    least = least_positive(analyzer.simplify(dim))
    return least is not None and all(size <= 1 for size in least.values())


def _require_shape(view: View, var: relax.Var) -> None:
    """ModelError for a result whose sizes do not follow from those of the inputs, or only by a condition."""
    where = f"layer '{', '.join(view.sources(var.name))}'"
    if isinstance(var.ty, relax.TensorType) and var.ty.shape is None:
        raise ModelError(
            f"{where}: sizes of what it reads are not proved to fit each other, so that those of its result are not "
            "known; fix the input shapes with shape="
        )
    for dim in map(str, _dims(var)):
        if "if_then_else(" in dim:  # of a pool whose strides are longer than its windows; TVM compiles no such size
            raise ModelError(f"{where}: a size of {dim} depends on a condition; fix the input shapes with shape=")


def _least_sizes(view: View) -> Iterator[tuple[str, int, str]]:
    """(dynamic dimension, least, reason) of what operators of NEVER_EMPTY read and give."""
    known = set()
    for var, value in view.bindings:
        if op_name(value) not in NEVER_EMPTY:
            continue
        for dim in (dim for tensor in (var, *value.args) for dim in _dims(tensor)):
            if isinstance(dim, tvm.tirx.IntImm | tvm.ir.Var) or str(dim) in known:
                continue
            known.add(str(dim))
            layer = ", ".join(view.sources(var.name))
            least = least_positive(dim)
            if least is None:
                raise ModelError(
                    f"layer '{layer}': a size of {size_text(dim)} is not proved to be positive for all sizes; fix the "
                    "input shapes with shape="
                )
            yield from ((name, n, f"layer '{layer}' would have no values") for name, n in least.items() if n > 1)


def _dims(tensor: relax.Expr) -> list[Any]:
    shape = getattr(tensor.ty, "shape", None) if isinstance(tensor.ty, relax.TensorType) else None
    return [*shape] if isinstance(shape, relax.ShapeExpr) else []


def _demands(value: relax.Expr, where: str) -> Iterator[tuple[str, int, int, str]]:
    """(dynamic dimension, least, most, reason) of a slice, of axes that indices count, and of a topk."""
    for small, large in _bounds(value):
        if isinstance(small, tvm.tirx.IntImm) and (isinstance(large, tvm.tirx.IntImm) or int(small) <= 0):
            continue
        if is_at_most(small, large):
            continue
        if isinstance(small, tvm.ir.Var) and isinstance(large, tvm.tirx.IntImm):
            yield str(small.name)[:], 0, int(large), f"layer '{where}' takes so many of {int(large)}"
        elif isinstance(small, tvm.tirx.IntImm) and isinstance(large, tvm.ir.Var):
            yield str(large.name)[:], int(small), ENDLESS, f"layer '{where}' takes {int(small)} of them"
        elif isinstance(small, tvm.tirx.IntImm) and (least := least_positive(large - int(small) + 1)):
            yield from ((name, n, ENDLESS, f"layer '{where}' takes {int(small)} of them") for name, n in least.items())
        else:
            what = "a slice" if op_name(value) == "strided_slice" else op_name(value)
            raise ModelError(
                f"layer '{where}': {what} up to {size_text(small)} of {size_text(large)} is not proved to stay inside "
                "for all sizes; fix the input shapes with shape="
            )


def _bounds(value: relax.Expr) -> Iterator[tuple[Any, Any]]:
    """(a, b) of sizes and places for which a <= b must hold."""
    name = op_name(value)
    if name == "strided_slice":
        yield from _slice_bounds(value)
        return
    operands = index_operands(value)
    sizes = [*value.args[0].ty.shape] if operands or name == "topk" else []
    if name == "topk":
        yield tvm.tirx.const(int(value.attrs.k), "int64"), sizes[int(value.attrs.axis)]
    for axis in (axis for operand in operands for axis in operand.axes):
        if isinstance(sizes[axis], tvm.ir.Var):
            yield tvm.tirx.const(1, "int64"), sizes[axis]
    if name in ("gather_elements", "scatter_elements"):
        pairs = list(zip(value.args[1].ty.shape, sizes, strict=True))
        yield from (pair for axis, pair in enumerate(pairs) if axis != int(value.attrs.axis) % len(pairs))


def _slice_bounds(value: relax.Expr) -> Iterator[tuple[Any, Any]]:
    if not all(isinstance(arg, relax.Tuple) for arg in value.args[1:4]):
        return
    axes, begins, ends = (list(arg.fields) for arg in value.args[1:4])
    dims = list(value.args[0].ty.shape)
    for axis, begin, end in zip(axes, begins, ends, strict=True):
        if not value.attrs.assume_inbound and isinstance(begin, tvm.tirx.IntImm) and isinstance(end, tvm.tirx.IntImm):
            continue  # TVM clips numbers to the size, and counts negative ones from the end
        yield begin, end
        yield end, dims[int(axis) % len(dims)]
