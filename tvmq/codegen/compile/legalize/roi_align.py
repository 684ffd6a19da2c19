"""RoiAlign where the boxes say how many samples are taken: neither without end nor none at all.

A corner farther than FARTHEST sides of the picture is moved there, since a box of 1e30 would take 1e30 samples. A box
without height or width takes none, and TVM's loops then leave the result as the memory was; it is 0, as in onnxruntime.

Tests: tests/codegen/compile/legalize/test_bounds_checks.py
"""

from __future__ import annotations

from typing import Any

from tvm import relax, te, tirx

Expr = Any
FARTHEST = 16
LEAST = 2.0**-64  # height or width in pixels; less could round to nothing


def roi_align(builder: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    """Legalization of relax.vision.roi_align: with bounded boxes, and 0 for those without height or width."""
    rule, scale = call.op.get_attr("FLegalize"), float(call.attrs.spatial_scale)
    if int(call.attrs.sample_ratio) > 0:
        return rule(builder, call)
    side = max((int(size) for size in call.args[0].ty.shape if isinstance(size, tirx.IntImm)), default=1)
    boxes = call.args[1]
    near = builder.emit(builder.call_te(_clamp_corners, boxes, FARTHEST * side / scale, primfunc_name_hint="near"))
    if not call.attrs.aligned:  # they have at least one pixel
        return rule(builder, _with_boxes(builder, call, near))
    whole = builder.emit(builder.call_te(_widen_empty, near, scale, primfunc_name_hint="whole"))
    result = builder.emit(rule(builder, _with_boxes(builder, call, whole)))
    return builder.call_te(_without_empty, result, near, scale, primfunc_name_hint="boxes")


def _with_boxes(builder: relax.BlockBuilder, call: relax.Call, boxes: relax.Var) -> relax.Call:
    return builder.normalize(relax.Call(call.op, [call.args[0], boxes], call.attrs, call.ty_args))


def _clamp_corners(boxes: te.Tensor, end: float) -> te.Tensor:
    low, high = tirx.const(-end, boxes.dtype), tirx.const(end, boxes.dtype)

    def corner(i: tirx.Var, j: tirx.Var) -> Expr:
        return tirx.Select(j == 0, boxes(i, j), tirx.max(tirx.min(boxes(i, j), high), low))

    return te.compute(boxes.shape, corner, name="near")


def _is_empty(boxes: te.Tensor, i: tirx.Var, scale: float) -> Expr:
    factor, least = tirx.const(scale, boxes.dtype), tirx.const(LEAST, boxes.dtype)
    return tirx.any(*(boxes(i, end) * factor - boxes(i, end - 2) * factor < least for end in (3, 4)))


def _widen_empty(boxes: te.Tensor, scale: float) -> te.Tensor:
    """The boxes, empty ones as one pixel."""
    pixel = tirx.const(1 / scale, boxes.dtype)

    def corner(i: tirx.Var, j: tirx.Var) -> Expr:
        first = boxes(i, tirx.max(j - 2, 0))
        return tirx.Select(tirx.all(j > 2, _is_empty(boxes, i, scale)), first + pixel, boxes(i, j))

    return te.compute(boxes.shape, corner, name="whole")


def _without_empty(result: te.Tensor, boxes: te.Tensor, scale: float) -> te.Tensor:
    def value(i: tirx.Var, *rest: tirx.Var) -> Expr:
        return tirx.Select(_is_empty(boxes, i, scale), tirx.const(0, result.dtype), result(i, *rest))

    return te.compute(result.shape, value, name="boxes")


RULES: dict[str, Any] = {"relax.vision.roi_align": roi_align}
