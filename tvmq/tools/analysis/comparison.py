"""`tvmq.compare`: where two forms of a model diverge, layer by layer.

Tests: tests/tools/analysis/test_compare.py
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, overload

import numpy as np
import tvm

from tvmq.calibration.dataset import Dataset, samples_in
from tvmq.chips.comparison.divergence import Divergence
from tvmq.chips.comparison.on_chip import compare_with_chip
from tvmq.chips.emulation.emulator import Emulator
from tvmq.codegen.compile.build import build
from tvmq.errors import DataError, ModelError
from tvmq.formats.relax import from_relax
from tvmq.graph.analysis.layer_tensors import LayerPair, find_unpaired, integer_names, layer_tensors, pairs
from tvmq.graph.ledger import get_ledger
from tvmq.graph.module_functions import plain_module, unpack_weights
from tvmq.graph.names import merge, output_names
from tvmq.graph.probes import cut, with_outputs
from tvmq.graph.symbolic import dynamic_dimensions, inputs_of, sample_sizes, with_sizes
from tvmq.graph.view import View
from tvmq.numerics.deviation import Deviation, Figures
from tvmq.passes.calibrate.collect import samples_of
from tvmq.passes.prepare import prepare
from tvmq.quantization.meaning.agreement import bound_readings, measure_agreement
from tvmq.quantization.meaning.reading import OutputPairs
from tvmq.runtime.executable import Executable
from tvmq.tools.analysis.comparison_table import Comparison, LayerComparison
from tvmq.tools.analysis.layer_weights import LayerWeights, Weight

Model: TypeAlias = "tvm.IRModule | Executable | tuple[tvm.IRModule, Mapping[str, Any]]"


@overload
def compare(a: Model, b: Model, data: Any, *, advance: Callable[[int], None] | None = None) -> Comparison: ...


@overload
def compare(a: Model, b: Emulator, data: Any, *, advance: Callable[[int], None] | None = None) -> Divergence: ...


def compare(
    a: Model, b: Model | Emulator, data: Any, *, advance: Callable[[int], None] | None = None
) -> Comparison | Divergence:
    """Compare the layers of `b` with those of `a`, which is usually the float model.

    a, b     a float, simulated or integer module each, an executable, or the (module, params) of `from_onnx`
    data     data set as for `quantize`; read a batch at a time
    advance  called with the number of samples after each batch, for a progress bar

    `b` may be the result of `emulate`, the integer module `a` on a chip: then differing values of layers are counted.

    Every layer of both models, matched by names in the source model, has three errors:

    local        each layer of `a` gets the inputs of the same layer of `b`: the error of this layer alone
    accumulated  both compute from the model's input: the error of all layers so far
    weight       error of the weights; None for layers without

    Codes are compared as the real numbers that they represent. Noise and signal are summed over all values of all
    samples.

    returns  a row for each layer, which `print` shows as a table; `worst(8, by="local")` gives the worst
    raises   ModelError for models of different inputs or without a common layer, DataError without samples

        comparison = tvmq.compare((mod, params), qmod, data)
        print(comparison.worst(3, by="local"))
    """
    if isinstance(b, Emulator):
        if isinstance(a, tuple):
            raise ModelError("compare: a chip runs integer modules; give the module that `quantize` returned")
        return compare_with_chip(a, b, data, advance=advance)
    first, second = module_of(a), module_of(b)
    first, second, feeds = _match_inputs(first, second, data)
    tensors = layer_tensors(first), layer_tensors(second)
    layers = pairs(*tensors)
    if not layers:
        raise ModelError(
            "compare: the models have no layer of the same name; they must come from the same source. "
            f"The first has {_some_names(first)}, the second {_some_names(second)}"
        )
    runs = _Runs(first, second, layers)
    samples = 0
    for feed, count in feeds:
        runs.add(feed, count)
        samples += count
        if advance:
            advance(count)
    if samples == 0:
        raise DataError("compare: the data gave 0 samples; give at least one")
    figures = zip(layers, runs.local, runs.accumulated, _weight_figures(first, second, layers), strict=True)
    rows = [_row(pair, local, accumulated, weight) for pair, local, accumulated, weight in figures]
    names = output_names(second["main"], len(runs.outputs))
    outputs = {name: deviation.figures() for name, deviation in zip(names, runs.outputs, strict=True)}
    read = {names[one.outputs[0]]: one for one in measure_agreement(runs.readings, runs.pairs.wanted, runs.pairs.got)}
    return Comparison(tuple(rows), outputs, samples, tuple(tensor.names for tensor in find_unpaired(*tensors)), read)


def module_of(model: Model) -> tvm.IRModule:
    """Module of a model, prepared if it comes directly from an importer."""
    if isinstance(model, Executable):
        return unpack_weights(model.module)
    mod, params = model if isinstance(model, tuple) else (model, None)
    mod = plain_module(mod)
    return prepare(*from_relax(mod, params)) if params or get_ledger(mod).stage == "imported" else unpack_weights(mod)


def _match_inputs(a: tvm.IRModule, b: tvm.IRModule, data: Any) -> tuple[tvm.IRModule, tvm.IRModule, Dataset]:
    """Both modules with the same static shapes, and the batches."""
    names = [[info.name for info in inputs_of(mod)] for mod in (a, b)]
    if sorted(names[0]) != sorted(names[1]):
        raise ModelError(f"compare: the models take different inputs, {names[0]} and {names[1]}")
    dataset = Dataset(data, inputs_of(a))
    if dynamic_dimensions(a) and dynamic_dimensions(b):
        a = with_sizes(a, sample_sizes(a, dataset.first()))
    a, b = _with_sizes_of(a, b), _with_sizes_of(b, a)
    dataset.inputs = inputs_of(a)
    shapes = [{info.name: info.shape for info in inputs_of(mod)} for mod in (a, b)]
    if shapes[0] != shapes[1]:
        raise ModelError(f"compare: the models take inputs of different shapes, {shapes[0]} and {shapes[1]}")
    return a, b, dataset


def _with_sizes_of(mod: tvm.IRModule, other: tvm.IRModule) -> tvm.IRModule:
    """The module with its dynamic dimensions fixed to those of the other."""
    shapes = {info.name: info.shape for info in inputs_of(other)}
    sizes = {name: shapes[param][axis] for name, (param, axis) in dynamic_dimensions(mod).items()}
    return with_sizes(mod, {name: size for name, size in sizes.items() if size is not None})


def _row(pair: LayerPair, local: Deviation, accumulated: Deviation, weight: Figures | None) -> LayerComparison:
    precision = ("int8" if pair.a.integer else "float"), ("int8" if pair.b.integer else "float")
    return LayerComparison(pair.b.names, pair.b.operator, precision, local.figures(), accumulated.figures(), weight)


def _some_names(mod: tvm.IRModule) -> str:
    names = list(dict.fromkeys(name for tensor in layer_tensors(mod) for name in tensor.names))
    return f"{len(names)} names ({', '.join(names[:3])}, ...)"


class _Runs:
    """Both models compiled with their layers as results, and sums over the batches."""

    def __init__(self, a: tvm.IRModule, b: tvm.IRModule, layers: Sequence[LayerPair]) -> None:
        self._layers = layers
        apart, self._given = cut(a, [(pair.a, pair.b) for pair in layers], integer_names(get_ledger(b)))
        codes = {name: step for pair in layers for name, step in pair.b.codes.items()}
        self._b_names = list(dict.fromkeys([*(pair.b.value for pair in layers), *self._given.values()]))
        self._a = build(with_outputs(a, [(pair.a.value, pair.a.codes.get(pair.a.value)) for pair in layers])).run
        self._b = build(with_outputs(b, [(name, codes.get(name)) for name in self._b_names])).run
        self._apart = build(apart).run
        steps = [None if pair.step is None else np.float64(np.max(pair.step.scale)) for pair in layers]
        self.local = [Deviation(step) for step in steps]
        self.accumulated = [Deviation(step) for step in steps]
        self.outputs = [Deviation() for _ in View(b).outputs]
        self.readings = bound_readings(a)
        self.pairs = OutputPairs(self.readings)

    def add(self, feed: Mapping[str, np.ndarray], count: int) -> None:
        """Run one batch, of which the first `count` samples are real."""
        size = samples_in(feed)
        ours, theirs = self._a(feed), self._b(feed)
        values = dict(zip(self._b_names, theirs, strict=False))
        apart = self._apart({**feed, **{param: values[name] for param, name in self._given.items()}})
        for index, pair in enumerate(self._layers):
            b = samples_of(values[pair.b.value], size, count)
            self.accumulated[index].add(samples_of(ours[index], size, count), b)
            self.local[index].add(samples_of(apart[index], size, count), b)
        sides = ours[len(self._layers) :], theirs[len(self._b_names) :]
        outputs, others = ([samples_of(y, size, count) for y in side] for side in sides)
        for deviation, x, y in zip(self.outputs, outputs, others, strict=True):
            deviation.add(x, y)
        self.pairs.add(outputs, others)


def _weight_figures(a: tvm.IRModule, b: tvm.IRModule, layers: Sequence[LayerPair]) -> list[Figures | None]:
    """Errors of the weights of each layer."""
    weights = [LayerWeights(View(mod), get_ledger(mod).layers) for mod in (a, b)]
    figures: list[Figures | None] = []
    for pair in layers:
        names = merge(pair.a.names, pair.b.names)
        sides = [side.of(names) for side in weights]
        same = [len(side) for side in sides] == [len(sides[0])] * 2
        both = list(zip(*sides, strict=True)) if same else []
        fit = bool(both) and all(x.values.shape == y.values.shape for x, y in both)
        figures.append(_weight_figure(both) if fit else None)
    return figures


def _weight_figure(both: Sequence[tuple[Weight, Weight]]) -> Figures:
    deviation = Deviation()
    for x, y in both:
        deviation.step = y.step if y.step is not None else x.step
        deviation.add(x.values, y.values)
    return deviation.figures()
