"""relay.quantize.calibrate: Relay's thresholds and scales, put in by tvmq's own pass.

    threshold T of what layers read   global_scale, or from the data by kl_divergence or percentile (thresholds.py)
    threshold T of weights, biases    power2: the next power of two; max: the largest magnitude
    scale                             float32(T / 2^(bits - 1)); codes -(2^(bits-1) - 1) .. 2^(bits-1) - 1

The data are read twice, and no activation is kept: thresholds are those of all samples at once nevertheless.

Tests: tests/relay/quantize/test_quantize.py
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import tvm

from tvmq.errors import CalibrationError
from tvmq.extension import (
    View,
    bias_spec,
    bias_variables,
    const_value,
    drop_uncalibrated,
    dtype_of,
    evaluator,
    is_const,
    range_of_threshold,
    return_intermediates,
    sizes_of,
    spec_of,
    stage_of,
    used_vars,
    watched_tensors,
    weights_of,
)
from tvmq.passes.calibrate import calibrate as put_scales
from tvmq.passes.round_biases import round_biases
from tvmq.relay.module import match_view
from tvmq.relay.quantize.qconfig import QConfig, check, current_qconfig
from tvmq.relay.quantize.stages import annotate_module, plain_module
from tvmq.relay.quantize.thresholds import (
    Extent,
    KlCount,
    PercentileCount,
    _find_scale_by_kl,  # noqa: F401 scripts import it from here
    relay_max,
    relay_percentile,
    relay_power2,
)
from tvmq.relay.quantize.translate import to_tvmq

Batch = Mapping[str, Any]
Thresholds = dict[str, float]


def calibrate(dataset: Iterable[Batch] | None = None) -> Callable[..., tvm.IRModule]:
    """The function (mod, ctx) -> mod that chooses scales, to be wrapped by tvm.transform.module_pass or called.

    dataset  batches {input: array}, of the shapes of the model; what can be read once only is kept in memory. Inputs
             that reach no layer may be missing, names that the model does not have are ignored
    raises   CalibrationError where data are needed and there are none, ConfigError, the ValueError of old, for an
             unknown mode
    """

    def run(mod: tvm.IRModule, _context: Any = None) -> tvm.IRModule:
        return match_view(mod, calibrate_module(mod, dataset))

    return run


def calibrate_module(mod: tvm.IRModule, dataset: Iterable[Batch] | None = None) -> tvm.IRModule:
    """The module with the scales of `current_qconfig()`; one that nothing annotated is annotated first."""
    config = current_qconfig()
    check(config)
    mod = plain_module(mod)
    mod = mod if stage_of(mod) == "annotated" else annotate_module(mod)
    weight_scale = {"power2": relay_power2, "max": relay_max}[config.weight_scale]
    return with_thresholds(mod, input_thresholds(mod, dataset, config), weight_thresholds(mod, weight_scale))


def with_thresholds(mod: tvm.IRModule, inputs: Thresholds, weights: Thresholds) -> tvm.IRModule:
    """An annotated module with the scales of thresholds by tensor name."""
    config, view = to_tvmq(current_qconfig()), View(mod)
    ranges = {w.key: range_of_threshold(inputs[w.key], w.spec) for w in watched_tensors(view)}
    calls = weights_of(view).values()
    ranges |= {str(c.attrs.tensor): range_of_threshold(weights[str(c.attrs.tensor)], spec_of(c.attrs)) for c in calls}
    ranges |= {name: range_of_threshold(weights[name], bias_spec(config)) for name in bias_variables(mod)}
    return put_scales(round_biases(mod, ranges), ranges)


def input_thresholds(mod: tvm.IRModule, dataset: Iterable[Batch] | None, config: QConfig) -> Thresholds:
    """{tensor: threshold} of what layers read, by the mode of the options."""
    names = list(dict.fromkeys(w.key for w in watched_tensors(View(mod))))
    if config.calibrate_mode == "global_scale":
        return dict.fromkeys(names, float(config.global_scale))
    if not names:
        return {}
    if dataset is None:
        raise CalibrationError(
            f"relay.quantize: calibrate_mode '{config.calibrate_mode}' chooses thresholds from data and there are "
            "none; give dataset="
        )
    counter = KlCount if config.calibrate_mode == "kl_divergence" else PercentileCount
    run = _Samples(mod, names, dataset)
    extents = dict.fromkeys(names, Extent())
    for name, samples in run:
        extents[name] = extents[name].with_values(samples, name)
    if not all(extent.values for extent in extents.values()):
        raise CalibrationError(
            f"relay.quantize: the data gave 0 samples for '{names[0]}'; give a data set with batches"
        )
    counted = {name: counter(extent) for name, extent in extents.items()}
    for name, samples in run:
        counted[name].update(samples)
    return {name: one.threshold() for name, one in counted.items()}


def weight_thresholds(mod: tvm.IRModule, rule: Callable[[np.ndarray], float]) -> Thresholds:
    """{tensor: threshold} of weights and biases by a rule for one array."""
    view = View(mod)
    thresholds = {str(call.attrs.tensor): rule(const_value(call.args[0])) for call in weights_of(view).values()}
    return thresholds | {name: rule(const_value(view.value[var].args[1])) for name, var in bias_variables(mod).items()}


class _Samples:
    """(tensor, its values) of all batches, each time it is iterated."""

    def __init__(self, mod: tvm.IRModule, names: list[str], dataset: Iterable[Batch]) -> None:
        self._names, self._view = names, View(mod)
        self._needed = _find_inputs(self._view, names)
        self._data = dataset if iter(dataset) is not dataset else list(dataset)
        self._run = evaluator(drop_uncalibrated(return_intermediates(mod, names)))

    def __iter__(self) -> Iterator[tuple[str, np.ndarray]]:
        for batch in self._data:
            for name, value in zip(self._names, self._run(self._feed(batch)), strict=True):
                yield name, np.asarray(value, np.float32)

    def _feed(self, batch: Batch) -> dict[str, np.ndarray]:
        """The inputs of the model in its types; zeros for those that no layer reads."""
        feed = {}
        for name, param in self._view.params.items():
            if name in batch:
                value = batch[name]
                feed[name] = np.asarray(value.numpy() if hasattr(value, "numpy") else value).astype(dtype_of(param))
            elif name in self._needed:
                raise CalibrationError(
                    f"relay.quantize: a batch of the data has no input '{name}', it has {sorted(batch)}; add it"
                )
            else:
                shape = [size if isinstance(size, int) else 1 for size in sizes_of(param)]
                feed[name] = np.zeros(shape, dtype_of(param))
        return feed


def _find_inputs(view: View, names: Iterable[str]) -> set[str]:
    """The inputs of which these tensors are made."""
    reached: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting.extend(used_vars(view.value[name]) if name in view.value else ())
    return reached & set(view.params)


# ---- names that scripts import


def _find_scale_by_percentile(arr: np.ndarray, percentile: float = 0.99999) -> float:
    """The k-th smallest of |arr|, k = int(size * percentile).

    >>> _find_scale_by_percentile(np.float32([1, -3, 2]))
    3.0
    >>> _find_scale_by_percentile(np.arange(10, dtype="float32"), 0.5)
    5.0
    """
    if percentile == 0.99999:
        return relay_percentile(arr)
    magnitudes = np.abs(np.asarray(arr, np.float32)).ravel()
    return float(np.partition(magnitudes, int(magnitudes.size * percentile))[int(magnitudes.size * percentile)])


def collect_stats(mod: tvm.IRModule, dataset: Iterable[Batch], chunk_by: int = -1) -> Iterator[list[np.ndarray]]:
    """Lists of all samples, flattened, of `chunk_by` tensors of an annotated module at a time (-1: of all).

    For scripts; it keeps the samples in memory, which `calibrate` does not.
    """
    mod = plain_module(mod)
    names = list(dict.fromkeys(w.key for w in watched_tensors(View(mod))))
    size = len(names) if chunk_by == -1 else chunk_by
    data = dataset if iter(dataset) is not dataset else list(dataset)
    for first in range(0, len(names), max(size, 1)):
        chunk = names[first : first + size]
        samples: dict[str, list[np.ndarray]] = {name: [] for name in chunk}
        for name, value in _Samples(mod, chunk, data):
            samples[name].append(value.ravel())
        yield [np.concatenate(samples[name]) for name in chunk]


def _set_params(
    mod: tvm.IRModule, input_scale_func: Callable[[Any], float], weight_scale_func: Callable[[Any], float]
) -> tvm.IRModule:
    """The annotated module with the scales of these functions of a simulated_quantize call, each giving a threshold."""
    plain_mod = plain_module(mod)
    view = View(plain_mod)
    inputs = {w.key: float(input_scale_func(view.value[w.name])) for w in watched_tensors(view)}
    weights = {str(c.attrs.tensor): float(weight_scale_func(c)) for c in weights_of(view).values()}
    biases = {
        name: float(weight_scale_func(_Bias(view.value[var].args[1:])))
        for name, var in bias_variables(plain_mod).items()
    }
    return match_view(mod, with_thresholds(plain_mod, inputs, weights | biases))


class _Bias:
    """A bias as a weight_scale_func sees it: args[0] is the constant."""

    def __init__(self, args: Any) -> None:
        self.args = list(args)


def _power2_scale(sq_call: Any) -> float:
    """power2 of the constant behind a simulated_quantize; AssertionError where there is none."""
    return relay_power2(_constant(sq_call))


def _max_scale(sq_call: Any) -> float:
    """max of the constant behind a simulated_quantize; AssertionError where there is none."""
    return relay_max(_constant(sq_call))


def _global_scale(sq_call: Any) -> float:
    """The option global_scale, whatever is asked."""
    return float(current_qconfig().global_scale)


def _constant(sq_call: Any) -> np.ndarray:
    assert is_const(sq_call.args[0]), "relay.quantize: the scale of a weight needs a constant"
    return const_value(sq_call.args[0])
