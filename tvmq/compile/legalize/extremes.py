"""Maxima and minima along axes, right for infinities: of nothing, or of infinities alone, TVM's give +-3.4e38."""

from __future__ import annotations

from typing import Any

from tvm import relax, te, tirx, topi
from tvm.tirx import const


def extreme(builder: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    """Legalization of relax.max and relax.min: floats begin at -inf and inf, as in NumPy."""
    name = call.op.name.removeprefix("relax.")
    data, keepdims = call.args[0], bool(call.attrs.keepdims)
    axes = None if call.attrs.axis is None else [int(axis) for axis in call.attrs.axis]
    if not str(data.ty.dtype).startswith("float"):
        return builder.call_te(getattr(topi, name), data, axes, keepdims, primfunc_name_hint=name)
    return builder.call_te(_reduced, data, name, axes, keepdims, primfunc_name_hint=name)


def _reduced(data: te.Tensor, name: str, axes: list[int] | None, keepdims: bool) -> te.Tensor:
    """One compute over the reduced axes, which lie innermost in the order of the loops."""
    rank = len(data.shape)
    reduced = set(range(rank)) if axes is None else {axis % rank for axis in axes}
    loops = {axis: te.reduce_axis((0, data.shape[axis]), f"k{axis}") for axis in sorted(reduced)}
    kept = [axis for axis in range(rank) if keepdims or axis not in reduced]

    def value(*indices: Any) -> Any:
        place = dict(zip(kept, indices, strict=True))
        return _REDUCERS[name](data(*[loops.get(axis, place.get(axis)) for axis in range(rank)]), list(loops.values()))

    shape = [1 if axis in reduced else data.shape[axis] for axis in kept]
    return te.compute(shape, value, name=f"{name}_reduced")


_REDUCERS = {
    "max": te.comm_reducer(lambda a, b: tirx.Max(a, b), lambda dtype: const(float("-inf"), dtype), name="max"),
    "min": te.comm_reducer(lambda a, b: tirx.Min(a, b), lambda dtype: const(float("inf"), dtype), name="min"),
}
