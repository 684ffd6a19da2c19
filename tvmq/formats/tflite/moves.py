"""Operators that move codes.

Tests: tests/formats/tflite/test_to_tflite.py
"""

from __future__ import annotations

from tvm import relax

from tvmq.formats.exporting.binding_writer import Table
from tvmq.formats.exporting.core import CoreConcat, CoreTensor, RepeatPixels, Slice
from tvmq.formats.tflite.writer import NONE, TfliteWriter


def print_concat(writer: TfliteWriter, node: CoreConcat, var: relax.Var) -> CoreTensor:
    """CONCATENATION of parts of one scale."""
    if len({(part.scale, part.zero) for part in node.parts}) != 1:
        raise writer.unsupported_error("concat of codes with different scales")
    result = writer.codes_of(var, node.parts[0].order, node.parts[0])
    return writer.emit("CONCATENATION", node.parts, result, table="ConcatenationOptions", axis=node.axis,
                       fused_activation_function=NONE)  # fmt: skip


def print_slice(writer: TfliteWriter, node: Slice, var: relax.Var) -> CoreTensor:
    """STRIDED_SLICE."""
    if any(step < 0 for _, _, step in node.bounds):
        raise writer.unsupported_error("a slice with a negative step")
    result = writer.tensor_like(node.x, node.shape, node.x.order, node.hint)
    numbers = [
        writer.numbers([fill if axis is None else node.bounds[axis][place] for axis in node.x.order], name)
        for place, (name, fill) in enumerate((("begin", 0), ("end", 1), ("steps", 1)))
    ]
    return writer.emit(
        "STRIDED_SLICE", [node.x, *numbers], result, table="StridedSliceOptions",
        begin_mask=0, end_mask=0, ellipsis_mask=0, new_axis_mask=0, shrink_axis_mask=0,
    )  # fmt: skip


def print_repeated(writer: TfliteWriter, node: RepeatPixels, var: relax.Var) -> CoreTensor:
    """RESIZE_NEAREST_NEIGHBOR."""
    result = writer.codes_of(var, node.x.order, node.x)
    size = writer.numbers(node.shape[2:], "size")
    return writer.emit("RESIZE_NEAREST_NEIGHBOR", [node.x, size], result, table="ResizeNearestNeighborOptions",
                       align_corners=False, half_pixel_centers=False)  # fmt: skip


PRINTERS: Table = {CoreConcat: print_concat, Slice: print_slice, RepeatPixels: print_repeated}
