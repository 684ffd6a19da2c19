"""Static quantization of one float model: the data are read once, and serve all modules that are made of it.

Statistics of tensors say what the data are, not what was chosen from them: other rules, other roundings of weights and
the modules that the guard tries cost no second calibration.

Tests: tests/quantization/search/test_workers.py
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import tvm

from tvmq.backends.description import Backend
from tvmq.base.stage_progress import observed_stage
from tvmq.calibration.dataset import Dataset
from tvmq.calibration.observers import needs_histogram
from tvmq.calibration.observers.base import TensorStatistics
from tvmq.calibration.observers.result import CalibrationResult, TensorResult
from tvmq.calibration.observers.rounding import Rounding
from tvmq.codegen.compile.compiled_rounding import round_weights
from tvmq.codegen.compile.evaluators import Runner, check_evaluator, evaluator
from tvmq.codegen.compile.window_sums import sum_windows
from tvmq.errors import CalibrationError, RangeError
from tvmq.graph.ledger import check_module, get_ledger
from tvmq.graph.state_pairs import state_pairs
from tvmq.graph.symbolic import inputs_of
from tvmq.graph.view import View, const_value, is_const, op_name
from tvmq.numerics.moments import Moments
from tvmq.options.config import QConfig
from tvmq.options.rules import Rule
from tvmq.passes.calibrate import calibrate
from tvmq.passes.calibrate.collect import watched_tensors
from tvmq.passes.calibrate.outliers import find_outliers as find_outlying_channels
from tvmq.passes.calibrate.reader_errors import widen_for_readers
from tvmq.passes.calibrate.second_moments import roots_to_round, second_moments
from tvmq.passes.calibrate.thresholds import choose_ranges
from tvmq.passes.families.shared_weights import layers_by_weight
from tvmq.passes.round_weights import choose_rounding
from tvmq.quantization.guard import guard_module
from tvmq.quantization.guard.bound import Guard
from tvmq.quantization.guard.calibration_cache import Batch, CalibrationCache
from tvmq.quantization.guard.judge import Judge
from tvmq.quantization.guard.regions import regions
from tvmq.quantization.meaning.agreement import bound_readings
from tvmq.quantization.sequence_play import StatePlayer, UnrolledData, unroll
from tvmq.quantization.stages import DECISIONS, INTEGERS, ROUNDING, SCALING, StageContext, run_stages
from tvmq.reference.not_finite import first_not_finite

Outliers = Mapping[str, Mapping[str, Any]]


class StaticQuantization:
    """Quantized modules of one float model, with calibrated scales.

    prepared  the float module, after `prepare` and the user's passes
    data      calibration data; None: thresholds come from elsewhere, or need none
    config    options; how channels are scaled (equalization, outlier_channels) is settled by these, the rest may
              change from module to module
    outliers  channels that stand out, where they are known from a calibration before
    """

    def __init__(
        self,
        prepared: tvm.IRModule,
        data: Dataset | None,
        config: QConfig,
        backend: Backend,
        outliers: Outliers | None = None,
    ) -> None:
        self.prepared = run_stages(prepared, SCALING if config.equalization else (), StageContext(config))
        self.data, self.config, self.backend = data, config, backend
        self.outliers = self._outliers() if outliers is None else outliers
        self._kept = CalibrationCache()
        self._last_roundings: dict[tuple[Any, ...], Rounding] = {}
        self._reuses_roundings = False
        self._foresees_floats = False

    def with_config(self, config: QConfig) -> StaticQuantization:
        """Quantization of the same model and data by other options of its layers; nothing is read again."""
        other = copy.copy(self)
        other.config = config
        return other

    def foresee_floats(self) -> None:
        """Prepare for modules of more precision: one reading of the data serves those with floats between products.

        What reads a concat of floats has a range of its own, while codes that are joined share the range of the parts.
        """
        self._foresees_floats = True

    def _foreseen_tensors(self, annotated: tvm.IRModule, config: QConfig) -> list[str]:
        """Tensors that need a range where all that lies between products is float; none where no float is foreseen."""
        if not self._foresees_floats:
            return []
        between = [Rule(key, None) for keys in regions(get_ledger(annotated).layers) for key in keys]
        floats = self.annotate_model(replace(config, rules=(*between, *config.rules)))
        known = View(annotated).var
        return [w.source for w in watched_tensors(View(floats)) if w.source in known]

    def annotate_model(self, config: QConfig | None = None) -> tvm.IRModule:
        """The module after the stages up to unify_scales."""
        context = StageContext(config or self.config, self.backend, outliers=self.outliers)
        return run_stages(self.prepared, DECISIONS, context)

    def calibration(self, annotated: tvm.IRModule, config: QConfig | None = None) -> CalibrationResult:
        """Thresholds of an annotated module, chosen from the data.

        raises  CalibrationError where the observers need data and there are none
        """
        config, kept = config or self.config, self._kept
        if config.observers != {"global_scale"}:
            if self.data is None:
                raise missing_data(config)
            self._collect(
                kept, annotated, self.data,
                with_histogram=any(map(needs_histogram, config.observers)),
                momentum=config.momentum if "moving_average" in config.observers else None,
                besides=() if kept.statistics else self._foreseen_tensors(annotated, config),
            )  # fmt: skip
        chosen = choose_ranges(annotated, kept.statistics, config, kept.choices)
        if "auto" in config.observers:
            seen = {name: (known.ranges.low, known.ranges.high) for name, known in kept.statistics.items()}
            samples = [(batch.feed, batch.count) for batch in kept.all_batches()]
            mode = config.calibrate_mode
            chosen = widen_for_readers(annotated, chosen, seen, samples, evaluator, mode, kept.widened)
        settings = {"config": config.to_dict(), "outliers": self.outliers}
        tensors = self._tensor_results(annotated, chosen)
        data_hash = kept.fingerprint.hexdigest() if kept.fingerprint.samples else ""
        result = CalibrationResult(tensors, model_hash(annotated), data_hash, settings)
        if config.weight_rounding == "nearest" or not kept.statistics:
            return result
        return replace(result, roundings=self._roundings(calibrate(annotated, result.ranges()), config))

    def collect_shard(self, shard: Dataset) -> dict[str, TensorStatistics]:
        """Statistics of a part of the data, by tensor; those of all parts merge to those of the whole.

        raises  CalibrationError where the order of the data matters (momentum)
        """
        annotated, kept = self.annotate_model(), CalibrationCache(has_results=False)
        if self.config.momentum is not None and "moving_average" in self.config.observers:
            raise CalibrationError("calibrate: running averages depend on the order of the data; leave out momentum")
        with_histogram = any(map(needs_histogram, self.config.observers))
        self._collect(kept, annotated, shard, with_histogram=with_histogram)
        return kept.statistics

    def _collect(self, kept: CalibrationCache, annotated: tvm.IRModule, data: Dataset, **options: Any) -> None:
        """Collect statistics into `kept`; RangeError naming the first layer that computes NaN or infinities."""
        try:
            with observed_stage("statistics of the data"):
                kept.collect(annotated, data, evaluator, compile_in_place=Runner, **options)
        except RangeError as error:
            layer = first_not_finite(self.prepared, data)
            if not layer:
                raise
            raise RangeError(
                f"calibrate: {layer}; the data are finite, so the model makes them: bound what this layer reads, such "
                "as by a Clip, or keep the model in float"
            ) from error

    def adopt(self, statistics: Mapping[str, TensorStatistics]) -> None:
        """Take over merged statistics of all data: the float model is not run for them again."""
        if self.data is not None:
            self._kept.adopt(statistics, self.data)

    def module(self, rules: Sequence[Rule] = (), *, config: QConfig | None = None) -> tvm.IRModule:
        """The integer module, or a simulation where the options ask for one.

        rules  before those of the options, so that the user's own win
        """
        config = config or self.config
        config = replace(config, rules=(*rules, *config.rules))
        annotated = self.annotate_model(config)
        return round_module(annotated, self.calibration(annotated, config), config)

    def apply_guard(self, module: tvm.IRModule, guard: Guard) -> tvm.IRModule:
        """The integer module `module()`, or one of more precision where it does not keep the bound; see guard/."""
        if self.data is None:
            return module
        with observed_stage("guard"):
            player = StatePlayer(self.prepared) if state_pairs(self.prepared) else None
            judge = Judge(self.prepared, module, self._judged_batches(guard), evaluator, guard, player, check_evaluator)
            return guard_module(module, judge, self)

    def equalize(self) -> StaticQuantization | None:
        """Quantization of the same model and data with channels of one size; None where that changes nothing.

        The data are read again.
        """
        if self.config.equalization:
            return None
        other = StaticQuantization(self.prepared, self.data, replace(self.config, equalization=True), self.backend)
        return other if other.prepared is not self.prepared else None

    def reuse_roundings(self) -> StaticQuantization:
        """Quantization of the same model and data whose layers keep the rounded weights of its first module.

        The data are not read again for them, so that modules of many choices of precision take little time.
        """
        other = copy.copy(self)
        other._reuses_roundings = True
        return other

    def simulation(self) -> tvm.IRModule:
        """The float module with simulated quantization, rounded to the nearest."""
        annotated = self.annotate_model()
        return calibrate(
            annotated, self.calibration(annotated, replace(self.config, weight_rounding="nearest")).ranges()
        )

    def _outliers(self) -> Outliers:
        """Channels that stand out in the data, where the options let the data decide."""
        data, config = self.data, self.config
        if data is None or not config.outlier_channels or config.calibrate_mode == "global_scale":
            return {}
        return find_outliers(self.prepared, data)

    def _tensor_results(self, annotated: tvm.IRModule, chosen: Mapping[str, Any]) -> dict[str, TensorResult]:
        """Results of each tensor for a saved calibration."""
        view, statistics = View(annotated), self._kept.statistics
        tensors, source = {}, {w.key: w.source for w in watched_tensors(view)}
        for name, choice in chosen.items():
            ranges = statistics[source[name]].ranges if source[name] in statistics else None
            tensors[name] = TensorResult(
                choice.low,
                choice.high,
                choice.name,
                choice.errors,
                seen=(ranges.low, ranges.high) if ranges else (0.0, 0.0),
                channel_means=ranges.channel_means if ranges else None,
                samples=ranges.samples if ranges else 0,
                layers=tuple(view.sources(source[name])) if name in source else (),
            )
        return tensors

    def _roundings(self, calibrated: tvm.IRModule, config: QConfig) -> dict[str, Rounding]:
        """Roundings of the weights; the data run through the integer module with its nearest weights."""
        keys = rounding_keys(calibrated, bias=config.bias_correction)
        first = self._last_roundings if self._reuses_roundings else {}
        together = layers_by_weight(View(calibrated), keys)  # layers that share a weight keep it together, or not
        kept = {root: first[keys[root]] for roots in together if all(keys[r] in first for r in roots) for root in roots}
        moments = self._moments(calibrated, kept)
        fresh = choose_rounding(calibrated, moments, bias=config.bias_correction, rounded=round_weights)
        if not (self._reuses_roundings and self._last_roundings):
            self._last_roundings = {keys[root]: rounding for root, rounding in fresh.items()}
        return {root: kept.get(root) or fresh[root] for root in keys if root in kept or root in fresh}

    def moments(self) -> dict[str, Moments]:
        """{root: moments} of what the integer layers read, by which other weights than theirs can be rounded."""
        calibrated = self.simulation()
        return self._moments(calibrated) if self._kept.statistics else {}

    def _moments(self, calibrated: tvm.IRModule, without: Container[str] = ()) -> dict[str, Moments]:
        data = self.data
        assert data is not None
        samples = max(known.ranges.samples for known in self._kept.statistics.values())
        with observed_stage("moments for the rounding of weights"):
            return second_moments(
                calibrated, lambda: iter(data), lambda mod: Runner(mod).run_without_copies, samples, sum_windows,
                without,
            )  # fmt: skip

    def _judged_batches(self, guard: Guard) -> list[Batch]:
        """The batches that a guard judges by: its own data, or those kept of the calibration's.

        Of boxes and peaks, of which a sample has one or none, all that are kept: a few of them say nothing.
        """
        data = self.data if guard.data is None else read_data(self.prepared, guard.data)
        if isinstance(data, UnrolledData):
            return data.sequences
        if guard.data is None and guard.metric is None and bound_readings(self.prepared, guard.outputs):
            return self._kept.all_batches()
        if guard.data is None:
            return self._kept.batches()
        assert data is not None
        return [Batch(*one) for one in data]


def read_data(prepared: tvm.IRModule, dataset: Any) -> Dataset:
    """Data of a user for a prepared module: samples, or sequences of calls where it hands a state to its next call.

    raises  DataError for data that do not fit the model
    """
    if state_pairs(prepared):
        return unroll(prepared, dataset, evaluator)
    return Dataset(dataset, inputs_of(prepared))


def rounding_keys(calibrated: tvm.IRModule, *, bias: bool) -> dict[str, tuple[Any, ...]]:
    """{root: what the rounding of its weight hangs on besides the data}: layer, bits, scale, where the error goes."""
    view = View(calibrated)
    keys: dict[str, tuple[Any, ...]] = {}
    for root in roots_to_round(calibrated):
        weight = view.value.get(getattr(view.value[root].args[1], "name", ""))
        if weight is not None and op_name(weight) == "tvmq.simulated_quantize":
            scale = const_value(weight.args[1])
            keys[root] = (root, int(weight.attrs.bits), scale.shape, scale.tobytes(), bias)
    return keys


def find_outliers(mod: tvm.IRModule, dataset: Any) -> Outliers:
    """Channels that are far larger in the data than the others of their tensor, for the pass `scale_outliers`.

    mod      at the stage "prepared", its constants folded
    dataset  calibration data in any form that `quantize` takes
    returns  {tensor: {"factors": {channel: power of two}} or {"split": [channels]}}; empty without such channels
    raises   DataError for data that do not fit the model

        floats = fold_constants(prepare(mod, params))
        floats = scale_outliers(floats, tvmq.find_outliers(floats, data))
    """
    data = dataset if isinstance(dataset, Dataset) else read_data(check_module(mod), dataset)
    return find_outlying_channels(mod, lambda: iter(data), evaluator)


def round_module(annotated: tvm.IRModule, calibration: CalibrationResult, config: QConfig) -> tvm.IRModule:
    """The module with these thresholds and roundings: integers, or a simulation of them."""
    context = StageContext(config, calibration=calibration)
    simulated = run_stages(annotated, ROUNDING, context)
    return simulated if config.do_simulation else run_stages(simulated, INTEGERS, context)


def missing_data(config: QConfig, why: str = "") -> CalibrationError:
    """Error for ranges that are to be chosen from data where there are none."""
    mode = min(config.observers - {"global_scale"}, key=lambda name: (name != config.calibrate_mode, name))
    return CalibrationError(
        f"quantize: calibrate_mode '{mode}' chooses ranges from data and there are none; "
        f"give dataset=, or use qconfig(calibrate_mode='global_scale'){why}"
    )


def model_hash(mod: tvm.IRModule) -> str:
    """Hash of a module: its text and its constants."""
    digest = hashlib.sha256(mod.script().encode())
    for _, value in View(mod).bindings:
        for arg in getattr(value, "args", ()):
            if is_const(arg):
                digest.update(np.ascontiguousarray(const_value(arg)).tobytes())
    return digest.hexdigest()
