"""Comparison of a module with a described chip or a device's dumps: `tvmq.verify(backend=)`, `tvmq.compare_dumps`.

Tests: tests/tools/cli/test_conformance.py
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import tvm
from tvm import relax

from tvmq.backends.description import Backend
from tvmq.calibration.dataset import Dataset
from tvmq.chips.comparison.divergence import Divergence, LayerDivergence, layer_names
from tvmq.chips.comparison.dumps import Dumps
from tvmq.chips.emulation.counts import proof
from tvmq.chips.emulation.emulator import Emulator, emulate
from tvmq.errors import DataError
from tvmq.graph.symbolic import inputs_of
from tvmq.graph.view import sizes_of
from tvmq.numerics.deviation import unequal_bits
from tvmq.reference import Reference
from tvmq.runtime.executable import Executable


@dataclass
class _LayerTally:
    """Running sums of the figures of a layer."""

    values: int = 0
    differing: int = 0
    own_count: int = 0
    largest_error: float = 0.0

    def add(self, ours: Any, theirs: Any) -> None:
        """Compare two results of the layer."""
        for a, b in zip(_arrays(ours), _arrays(theirs), strict=True):
            unequal = unequal_bits(a, b)
            self.values += a.size
            self.differing += int(unequal.sum())
            if unequal.any() and a.shape == b.shape:
                with np.errstate(invalid="ignore"):
                    self.largest_error = max(self.largest_error, float(np.abs(a.astype(np.float64) - b).max()))


def compare_with_chip(
    model: tvm.IRModule | Executable, chip: Emulator, data: Any, *, advance: Callable[[int], None] | None = None
) -> Divergence:
    """Compare an integer module, or its compiled form, with the same module on a chip: every value of every layer.

    model    an executable gives its results; its layers are those of the definition, which `verify` proves it to equal
    chip     as `tvmq.emulate` gives it
    data     anything that `quantize` takes as a data set
    advance  called with the number of samples after each batch
    raises   DataError without samples, AccumulatorError for sums that leave accumulators that were said to be proved
    """
    mod = model.module if isinstance(model, Executable) else model
    reference, tallies = Reference(mod), dict[tuple[str, ...], _LayerTally]()
    samples = values = differing = 0
    chip.clear()
    for feed, count in Dataset(data, inputs_of(mod)):
        defined: dict[str, Any] = {}
        names: Mapping[str, tuple[str, ...]] = {}
        results = reference.run(feed, watch=defined.__setitem__)
        names = layer_names(reference.view)
        emulated = chip.run(feed, beside=_compare_variables(chip, tallies, names, defined))
        for ours, theirs in zip(model.run(feed) if isinstance(model, Executable) else results, emulated, strict=True):
            values += ours.size
            differing += int(unequal_bits(ours, np.asarray(theirs)).sum())
        samples += count
        if advance:
            advance(count)
    if samples == 0:
        raise DataError("compare: the data gave 0 samples; give at least one")
    counts = {layer.names: layer for layer in chip.layers}
    layers = []
    for names_of, tally in tallies.items():
        operator = chip.operator_of(names_of)
        row = LayerDivergence(names_of, operator, tally.values, tally.differing, tally.own_count, tally.largest_error)
        if names_of in counts:
            c = counts[names_of]
            reach, proved = (c.reach, c.proved) if c.sums else (0, True)
            row = replace(row, overflows=c.overflows, saturated=c.saturated, reach=reach, proved=proved)
        layers.append(row)
    sentences = (proof(chip.layers, chip.accumulators),) if any(layer.sums for layer in chip.layers) else ()
    return Divergence(f"backend {chip.name}", samples, values, differing, tuple(layers), sentences)


def _compare_variables(
    chip: Emulator,
    tallies: dict[tuple[str, ...], _LayerTally],
    names: Mapping[str, tuple[str, ...]],
    defined: Mapping[str, Any],
) -> Callable[[str, Any, Callable[[], Any]], Any]:
    """Compares what the chip computes, variable by variable."""

    def compare_value(variable: str, result: Any, define: Callable[[], Any]) -> None:
        layer = names.get(variable)
        if layer is not None:
            tallies.setdefault(layer, _LayerTally()).add(defined[variable], result)
        if variable in chip.touched:
            tally = tallies.setdefault(chip.view.sources(variable), _LayerTally())
            pairs = zip(_arrays(define()), _arrays(result), strict=True)
            tally.own_count += sum(int(unequal_bits(a, b).sum()) for a, b in pairs)

    return compare_value


def compare_dumps(
    model: tvm.IRModule | Executable, folder: str | Path, data: Any, *, backend: str | Backend | None = None
) -> Divergence:
    """Compare the layers that a device dumped with the integer module: which one differs first.

    folder   an .npz with an array for each layer, or a folder of .npy files, each named as a layer (dumps.py says how
             names are read); layers without a dump are taken as computed
    data     the samples that the device got, in the batches of the dumps
    backend  what the device is said to compute; None: what the module says
    raises   DataError for dumps of no layer, of other shapes or types

    Each layer is computed from the device's own inputs, where these were dumped: a layer that differs does so by
    itself.
    """
    mod = model.module if isinstance(model, Executable) else model
    chip, dumps = emulate(mod, backend), Dumps(Path(folder))
    tallies: dict[tuple[str, ...], _LayerTally] = {}
    samples = 0
    for feed, count in Dataset(data, inputs_of(mod)):
        tensors = {name: var for name, var in chip.view.var.items() if isinstance(var.ty, relax.TensorType)}
        names = {name: names for name, names in layer_names(chip.view).items() if name in tensors}
        dumps.match(names, {name: sizes_of(tensors[name]) for name in names})

        def take_dump(
            variable: str, result: Any, _define: Callable[[], Any], names: Mapping[str, tuple[str, ...]] = names
        ) -> Any:
            dump = dumps.of(variable, result) if variable in names else None
            if dump is None:
                return None
            tallies.setdefault(names[variable], _LayerTally()).add(result, dump)
            return dump

        chip.run(feed, beside=take_dump)
        samples += count
        dumps.next_batch(count)
    if samples == 0:
        raise DataError("compare: the data gave 0 samples; give at least one")
    layers = tuple(
        LayerDivergence(names, chip.operator_of(names), t.values, t.differing, t.differing, t.largest_error)
        for names, t in tallies.items()
    )
    missing = len(layer_names(chip.view)) - len(tallies)
    says = f"{len(tallies)} layers have a dump, {missing} have none and were taken as computed"
    return Divergence(f"the dumps of {folder}", samples, 0, 0, layers, (says,))


def _arrays(value: Any) -> list[np.ndarray]:
    return [np.asarray(item) for item in value] if isinstance(value, list | tuple) else [np.asarray(value)]
