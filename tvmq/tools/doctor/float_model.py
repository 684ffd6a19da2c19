"""Checks of the float model: equality with onnxruntime, dead channels, NaN and infinite values, its classes.

Tests: tests/tools/doctor/test_model_checks.py
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tvmq.calibration.dataset import Dataset
from tvmq.codegen.compile.build import build
from tvmq.graph.analysis.layer_tensors import LayerTensor, layer_tensors
from tvmq.graph.probes import with_outputs
from tvmq.graph.view import View
from tvmq.options.rules import short_names
from tvmq.passes.prepare import prepare
from tvmq.quantization.meaning.agreement import sorted_readings, worst_decibels
from tvmq.tools.analysis.work import float_macs
from tvmq.tools.doctor.check_context import CheckContext, accuracy, first_samples
from tvmq.tools.doctor.findings import Finding, note, ok, problem
from tvmq.tools.doctor.label_order import describe_numbers, find_other_numbers

SAME, NEAR = 60.0, 30.0  # dB: another order of summation leaves 90 and more; below NEAR the models differ
COMPARED, LOOKED_AT = 8, 32
SMALL = 5_000_000  # multiply-accumulates that onnx's own evaluator, plain NumPy, does in a second or two
# Bottlenecks of squeeze-and-excite blocks lose half of their channels in healthy networks
DEAD, SPIKE = 0.8, 50.0
# Their channels are factors, of which some are nearly 0
GATES = ("sigmoid", "nn.softmax", "tvmq.softmax", "multiply", "tanh")
LEAST_CHANNELS = 4
LISTED = 3


def check_import(context: CheckContext) -> Iterator[Finding]:
    """Compare the outputs of the float build with onnxruntime, or with the evaluator of onnx."""
    if context.proto is None:
        return
    arrays = first_samples(context.arrays, COMPARED)
    by, run = _find_peer(context)
    if run is None:
        yield note("float model", "not compared: onnxruntime is not installed", "pip install onnxruntime")
        return
    wanted = context.outputs(run, arrays)
    got = context.outputs(context.float_run, arrays)
    if not all(np.isfinite(y).all() for y in wanted if y.dtype.kind == "f"):
        what = f"{by} itself gives NaN or infinite outputs"
        yield problem("float model", what, "the layer checks below show where they begin", peer=by)
        return
    sqnr = worst_decibels(sorted_readings(context.mod), wanted, got)
    text = f"our float build is {'equal to' if np.isinf(sqnr) else f'{sqnr:.0f} dB from'} {by}"
    if sqnr >= SAME:
        yield ok("float model", text, sqnr=sqnr, peer=by)
    elif sqnr >= NEAR:
        yield note("float model", text, "more than the order of summation explains, but less than int8 errs", sqnr=sqnr)
    else:
        yield problem("float model", text, "the import is wrong: report it, with the model if you can", sqnr=sqnr)


def _find_peer(context: CheckContext) -> tuple[str, Callable[[Mapping[str, Any]], list[np.ndarray]] | None]:
    """Name of another runtime and a function that runs the model in it; None if there is none."""
    try:
        import onnxruntime
    except ImportError:
        if sum(float_macs(View(prepare(context.mod, context.params))).values()) > SMALL:
            return "", None
        from onnx.reference import ReferenceEvaluator

        evaluator = ReferenceEvaluator(context.proto)
        return "onnx's evaluator", lambda feed: [np.asarray(y) for y in evaluator.run(None, dict(feed))]
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(context.proto.SerializeToString(), options, ["CPUExecutionProvider"])
    return "onnxruntime", lambda feed: [np.asarray(y) for y in session.run(None, dict(feed))]


@dataclass
class ChannelRanges:
    """Ranges of the channels of a layer over all samples so far, and whether all values were finite."""

    layer: LayerTensor
    low: np.ndarray = field(default_factory=lambda: np.array(np.inf))
    high: np.ndarray = field(default_factory=lambda: np.array(-np.inf))
    is_finite: bool = True

    def add(self, values: np.ndarray, axis: int) -> None:
        """Update the ranges with the values of a batch."""
        rows = np.moveaxis(values, axis, 0).reshape(values.shape[axis], -1)
        self.is_finite = self.is_finite and bool(np.isfinite(rows).all())
        self.low = np.minimum(self.low, rows.min(axis=1, initial=np.inf))
        self.high = np.maximum(self.high, rows.max(axis=1, initial=-np.inf))

    @property
    def name(self) -> str:
        """Display name of the layer."""
        return short_names(self.layer.names)

    @property
    def dead_channels(self) -> np.ndarray:
        """Indices of channels whose value never changed."""
        return np.flatnonzero(self.low == self.high)

    def spike(self) -> tuple[int, float]:
        """(channel of the largest magnitude, its ratio to the median channel)."""
        largest = np.maximum(np.abs(self.low), np.abs(self.high))
        usual = float(np.median(largest[largest > 0])) if (largest > 0).any() else 0.0
        return int(largest.argmax()), float(largest.max()) / usual if usual else 0.0


def channel_ranges(context: CheckContext) -> list[ChannelRanges]:
    """Ranges of every float result of the prepared model, on the first samples."""
    prepared = prepare(context.mod, context.params)
    view = View(prepared)
    inner = [tensor for tensor in layer_tensors(prepared) if tensor.operator != "input"]
    layers = [tensor for tensor in inner if str(view.var[tensor.unrounded].ty.dtype) == "float32"]
    run = build(with_outputs(prepared, [(tensor.unrounded, None) for tensor in layers])).run
    statistics = [ChannelRanges(tensor) for tensor in layers]
    for feed, _ in Dataset(first_samples(context.arrays, LOOKED_AT), context.inputs):
        for channels, values in zip(statistics, run(feed), strict=False):
            if values.ndim and values.size:
                channels.add(values, channel_axis(channels.layer.operator, values.ndim))
    return [channels for channels in statistics if channels.low.ndim]


def channel_axis(operator: str, rank: int) -> int:
    """Axis of the channels of a layer: 1 for images and convolutions, the last one for rows of features.

    >>> channel_axis("nn.relu", 4), channel_axis("nn.conv1d", 3), channel_axis("matmul", 3), channel_axis("matmul", 2)
    (1, 1, -1, -1)
    """
    return 1 if rank >= 4 or "conv" in operator else -1


def check_layers(context: CheckContext) -> Iterator[Finding]:
    """NaN and infinite values, outputs that never change, dead channels, channels far larger than the others."""
    layers = channel_ranges(context)
    context.channels = layers
    broken = next((channels for channels in layers if not channels.is_finite), None)
    if broken is not None:
        context.is_fatal = True
        what = f"layer '{broken.name}' ({broken.layer.operator}) is the first that gives NaN or infinite values"
        yield problem(
            "layers", what, "check its inputs for an overflow, a division by 0 or the logarithm of 0", layer=broken.name
        )
        return
    constant = _constant_outputs(context)
    if constant:
        what = f"output {constant} is the same for all samples"
        yield problem("outputs", what, "the model ignores these samples: see the dead channels and the preprocessing")
    yield from _check_dead_channels(layers)
    yield from _check_spikes(layers)


def _constant_outputs(context: CheckContext) -> list[int]:
    """Indices of outputs that do not depend on the sample."""
    arrays = first_samples(context.arrays, LOOKED_AT)
    if context.samples < 2:
        return []
    outputs = context.outputs(context.float_run, arrays)
    return [index for index, y in enumerate(outputs) if len(y) > 1 and y.size and (y == y[:1]).all()]


def _check_dead_channels(layers: Sequence[ChannelRanges]) -> Iterator[Finding]:
    """Report layers with channels that never change on these samples."""
    rows = [(layer, len(layer.dead_channels)) for layer in layers if len(layer.dead_channels) and layer.low.size > 1]
    total, dead = sum(layer.low.size for layer in layers), sum(count for _, count in rows)
    if not rows:
        yield ok("layers", f"{len(layers)} float results, all finite; no dead channels")
        return
    rows.sort(key=lambda row: -row[1] / row[0].low.size)
    listed = ", ".join(f"'{layer.name}' {count} of {layer.low.size}" for layer, count in rows[:LISTED])
    what = f"{len(layers)} float results, all finite; {dead} of {total} channels never change: {listed}"
    worst, count = rows[0]
    if count > DEAD * worst.low.size and worst.low.size >= LEAST_CHANNELS:
        yield problem("layers", what, "most channels of a layer are dead: wrong preprocessing, or failed training")
    elif dead > 0.01 * total:
        yield note("layers", what, "they cost time and add nothing here; other samples may activate them")
    else:
        yield ok("layers", what)


def _check_spikes(layers: Sequence[ChannelRanges]) -> Iterator[Finding]:
    """Report layers with a channel far larger than the others, which leaves these few of the 256 codes."""
    wide = [c for c in layers if c.low.size >= LEAST_CHANNELS and c.layer.operator not in GATES]
    rows = [(channels, *channels.spike()) for channels in wide]
    rows = sorted((row for row in rows if row[2] > SPIKE), key=lambda row: -row[2])
    if not rows:
        return
    listed = "; ".join(
        f"'{channels.name}' channel {channel}: {ratio:.0f} times" for channels, channel, ratio in rows[:LISTED]
    )
    what = f"single channels are far larger than the median channel of their layer: {listed}"
    remedy = "the checks below measure whether this costs accuracy"
    yield note("activations", what, remedy, layers=[row[0].name for row in rows])


def check_labels(context: CheckContext) -> Iterator[Finding]:
    """Yield a problem if labels number the classes otherwise than the float model."""
    if context.labels is None:
        return
    outputs = context.outputs(context.float_run, context.arrays)
    numbers = {} if accuracy(outputs, context.labels) is None else find_other_numbers(outputs[0], context.labels)
    if numbers:
        remedy = "number labels as the model does; class folders, sorted by name, must be in the order of its classes"
        yield problem("labels", describe_numbers(numbers), remedy, numbers={str(k): v for k, v in numbers.items()})
