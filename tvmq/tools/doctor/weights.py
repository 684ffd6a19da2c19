"""Checks of the weights of an ONNX model: NaN and infinite values, and outliers within a channel.

Tests: tests/tools/doctor/test_model_checks.py
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tvmq.graph.analysis.infinities import misused_at, misused_constants
from tvmq.graph.view import View
from tvmq.tools.doctor.check_context import CheckContext
from tvmq.tools.doctor.findings import Finding, note, ok, problem

# A normal distribution reaches 5 to 7 times its median magnitude; at 100 times, 8 bits leave the median weight one step
OUTLIER = 100.0
LEAST = 16  # weights of a channel, for a meaningful median
WEIGHTED = ("Conv", "ConvTranspose", "Gemm", "MatMul")
LISTED = 3


def weights_of(proto: Any) -> Iterator[tuple[str, str, np.ndarray]]:
    """(name of the weight, layer that reads it, values) of all float weights; constants of nodes too."""
    from onnx import numpy_helper

    readers: dict[str, str] = {}
    for node in proto.graph.node:
        for name in node.input:
            readers.setdefault(name, node.name)
    tensors = [(tensor.name, tensor) for tensor in proto.graph.initializer]
    for node in proto.graph.node:
        tensors += [(node.output[0], a.t) for a in node.attribute if node.op_type == "Constant" and a.name == "value"]
    for name, tensor in tensors:
        values = numpy_helper.to_array(tensor)
        if values.dtype.kind == "f":
            yield name, readers.get(name, ""), values


def check_weights(context: CheckContext) -> Iterator[Finding]:
    """Report outliers, and NaN or infinities without a meaning, which are fatal."""
    if context.proto is None:
        return
    count, meant = 0, 0
    for name, layer, values in weights_of(context.proto):
        count += values.size
        bad = ~np.isfinite(values)
        if bad.any() and _are_meant(context, values):
            meant += int(bad.sum())
        elif bad.any():
            context.is_fatal = True
            yield _not_finite(name, layer, values, bad)
    outliers = sorted(_outliers(context.proto), key=lambda outlier: -outlier[2])
    context.outliers = {layer: (place, ratio) for layer, place, ratio in reversed(outliers)}
    if not outliers:
        if not context.is_fatal:
            kinds = f"all finite but {meant} infinities that bound or mask" if meant else "all finite"
            yield ok("weights", f"{count:,} float weights, {kinds}, no outliers", count=count, meant=meant)
        return
    listed = "\n".join(f"'{layer}', {place}: {ratio:.0f} times the median" for layer, place, ratio in outliers[:LISTED])
    more = f"\nand {len(outliers) - LISTED} more channels" if len(outliers) > LISTED else ""
    yield note(
        "weights",
        f"single weights are far larger than the rest of their channel, which shares a scale\n{listed}{more}",
        "the checks below measure whether this costs accuracy", layers=[layer for layer, _, _ in outliers],
    )  # fmt: skip


def _are_meant(context: CheckContext, values: np.ndarray) -> bool:
    """True if all readers accept these infinities as operands (graph/analysis/infinities.py).

    They are matched by value, since the importer renames weights and binds small ones as constants.
    """
    if np.isnan(values).any():
        return False
    view = View(context.mod)
    arrays = {
        name: np.asarray(param.numpy() if hasattr(param, "numpy") else param) for name, param in context.params.items()
    }
    same = [name for name, array in arrays.items() if np.array_equal(array, values)]
    if any(misused_at(view, name, values) for name in same):
        return False
    return not any(
        array.size == values.size and (array.ravel() == values.ravel()).all() for _, array in misused_constants(view)
    )


def _not_finite(name: str, layer: str, values: np.ndarray, bad: np.ndarray) -> Finding:
    at = [int(i) for i in np.argwhere(bad)[0]]
    kinds = "NaN" if np.isnan(values[bad]).all() else "infinite" if np.isinf(values[bad]).all() else "NaN or infinite"
    what = f"layer '{layer}': weight '{name}' has {int(bad.sum())} {kinds} of {values.size} values, the first at {at}"
    remedy = "the training diverged or the export broke: export it again from the last good checkpoint"
    if kinds == "infinite":
        remedy += "\n(infinities that bound a maximum or mask a softmax are fine; these reach other operators)"
    return problem("weights", what, remedy, layer=layer, weight=name, count=int(bad.sum()), first=at)


def _outliers(proto: Any) -> Iterator[tuple[str, str, float]]:
    """Outliers: (layer, place, ratio to the median magnitude of its output channel)."""
    layers = {node.input[1]: node for node in proto.graph.node if node.op_type in WEIGHTED and len(node.input) > 1}
    for name, _, values in weights_of(proto):
        node = layers.get(name)
        if node is None or values.ndim < 2 or not np.isfinite(values).all():
            continue
        rows = np.abs(np.moveaxis(values, output_axis(node), 0)).reshape(values.shape[output_axis(node)], -1)
        if rows.shape[1] < LEAST:
            continue
        # of those that are not 0: pruned networks have more zeros than weights
        usual = np.array([np.median(row[row > 0]) if row.any() else np.inf for row in rows])
        ratios = rows.max(1) / usual
        for channel in np.flatnonzero(ratios > OUTLIER):
            shape = np.moveaxis(values, output_axis(node), 0).shape[1:]
            at = np.unravel_index(int(rows[channel].argmax()), shape)
            place = f"output channel {channel} at {[int(i) for i in at]}"
            yield node.name, place, float(ratios[channel])


def output_axis(node: Any) -> int:
    """Axis of the output channels of the weight of an ONNX node."""
    if node.op_type == "Conv":
        return 0
    if node.op_type == "ConvTranspose":
        return 1
    transposed = any(a.name == "transB" and a.i for a in node.attribute)
    return 0 if transposed else -1
