"""Operators that move numbers, in TOSA.

Tests: tests/formats/tosa/test_to_tosa.py
"""

from __future__ import annotations

from dataclasses import replace

from tvm import relax

from tvmq.formats.exporting.binding_writer import Table
from tvmq.formats.exporting.core import CoreConcat, CoreTensor, RepeatPixels, Slice
from tvmq.formats.tosa.writer import TosaWriter
from tvmq.graph.view import shape_of


def print_concat(writer: TosaWriter, node: CoreConcat, var: relax.Var) -> CoreTensor:
    """CONCAT."""
    return writer.emit("CONCAT", node.parts, replace(node.parts[0], shape=shape_of(var)), node.axis)


def print_slice(writer: TosaWriter, node: Slice, var: relax.Var) -> CoreTensor:
    """SLICE; steps are refused."""
    if any(step != 1 and size > 1 for (_, _, step), size in zip(node.bounds, node.shape, strict=True)):
        raise writer.unsupported_error("a slice with a step")
    return writer.cut(node.x, [begin for begin, _, _ in node.bounds], node.shape)


def print_repeated(writer: TosaWriter, node: RepeatPixels, var: relax.Var) -> CoreTensor:
    """RESHAPE, TILE, RESHAPE for the rows, then for the columns."""
    pixels = node.x
    batch, channels, rows, columns = pixels.shape
    down, across = node.shape[2] // rows, node.shape[3] // columns
    for shape, repeats, after in (
        ((batch, rows, 1, columns * channels), (1, 1, down, 1), (batch, channels, rows * down, columns)),
        ((batch * rows * down, columns, 1, channels), (1, 1, across, 1), node.shape),
    ):
        tiled = writer.reshape_elements(pixels, shape)
        result = replace(tiled, shape=tuple(n * r for n, r in zip(shape, repeats, strict=True)))
        copies = writer.emit("TILE", [tiled, writer.graph.numbers(repeats)], result)
        whole = replace(node.x, shape=after)
        pixels = replace(whole, place=writer.reshape_elements(copies, whole.sizes).place)
    return pixels


PRINTERS: Table = {CoreConcat: print_concat, Slice: print_slice, RepeatPixels: print_repeated}
