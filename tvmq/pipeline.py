"""The road: from a float module to an integer one.

    prepare -> tame_outliers -> partition -> annotate -> unify_scales -> calibrate -> methods -> realize ->
    quantize_dynamic_layers -> fold_constants -> pack_weights

A module that brings scales of its own (imported quantize and dequantize operators) takes the short road

    prepare -> adopt -> realize -> fold_constants -> pack_weights

`partition_conversions` stands behind both where the options ask for it.

`quantize` walks it whole. `run_calibration` stops before `calibrate` and gives the thresholds, which can be saved
and handed to `quantize` later.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import tvm

from tvmq.backends import backend_named
from tvmq.backends.description import Backend
from tvmq.codegen.evaluators import evaluator, observing
from tvmq.codegen.target import CpuTarget, resolve_target
from tvmq.codegen.weight_rounding import round_weights as compiled_rounding
from tvmq.config import QConfig, current_qconfig
from tvmq.dataset import Dataset
from tvmq.errors import CalibrationError, ConfigError
from tvmq.faster import Decision, decide, with_decision
from tvmq.frontends.relax import from_relax
from tvmq.graph.symbolic import inputs_of
from tvmq.graph.view import View, const_value, is_const
from tvmq.guard import guarded, why_not
from tvmq.guard.bound import Guard, guard_of
from tvmq.guard.judge import Judge
from tvmq.guard.kept import Batch, Kept
from tvmq.kernels.isa import instructions
from tvmq.methods.bias_correction import correct_bias
from tvmq.methods.weight_rounding import choose_rounding, round_weights
from tvmq.observers.result import CalibrationResult, TensorResult
from tvmq.observers.rounding import Rounding
from tvmq.passes.accumulators import check_accumulators
from tvmq.passes.adopt import adopt, brings_scales, with_own_sums
from tvmq.passes.annotate import annotate
from tvmq.passes.calibrate import calibrate
from tvmq.passes.collect import watched
from tvmq.passes.equalize import equalize
from tvmq.passes.fold_constants import fold_constants
from tvmq.passes.outliers import find_outliers
from tvmq.passes.own import run_passes
from tvmq.passes.pack_weights import pack_weights
from tvmq.passes.partition import partition
from tvmq.passes.partition_conversions import partition_conversions
from tvmq.passes.prepare import prepare
from tvmq.passes.quantize_dynamic import quantize_dynamic
from tvmq.passes.quantize_dynamic_layers import quantize_dynamic_layers
from tvmq.passes.reader_errors import widen_for_readers
from tvmq.passes.realize import realize
from tvmq.passes.round_biases import round_biases
from tvmq.passes.second_moments import second_moments
from tvmq.passes.tame_outliers import tame_outliers
from tvmq.passes.thresholds import choose_ranges
from tvmq.passes.unify_scales import unify_scales
from tvmq.rules import Rule

Params = Mapping[str, np.ndarray]
Outliers = Mapping[str, Mapping[str, Any]]
CPUS = ("cpu", "cpu_without_vnni")
USUAL_GUARD = "sqnr >= 20"
# Observers that read ranges alone; the others also need histograms.
RANGES_ONLY = frozenset(("minmax", "moving_average", "global_scale"))
# What a warning says where there are no data
WITHOUT_DATA = (
    "Scales of activations are made at run time, for each row or sample (activations='dynamic'), and only convolutions "
    "and matrix products become integers. With 100 to 500 samples (dataset=) scales are chosen before: whole chains of "
    "layers stay in int8, which is faster, and weights and biases are rounded by what the data show"
)


def quantize(
    mod: tvm.IRModule,
    params: Params | None = None,
    dataset: Any = None,
    *,
    target: Any = None,
    config: QConfig | None = None,
    calibration: CalibrationResult | None = None,
    tune: float | None = None,
    guard: Guard | str | None = USUAL_GUARD,
) -> tvm.IRModule:
    """The integer module of a float one.

    mod, params   as `from_onnx` and `from_torch` give them; a plain Relax module goes through `from_relax`
    dataset       calibration data: an iterable of {input: array}, tuples or arrays with the batch first, a path to
                  .npz or
                  .npy, an object with get_next(); not needed with `calibration`, with calibrate_mode "global_scale",
                  or for a model that is quantized already: its own scales are taken. Without any of these scales of
                  activations are made at run time, activations="dynamic", and a warning says what data would bring
    target        name of a backend description (tvmq.backends), a tvmq.Backend, or "module:object" that holds one; or
                  a CPU as `build` takes it ("llvm -mcpu=haswell"), of which one without VNNI gets weights of 7 bits.
                  None is "cpu", portable: nothing of this machine goes in. Options that nobody gave follow it
    config        options; by default those of the qconfig around, or of `calibration` where there is none around
    calibration   thresholds from `run_calibration` of the same model and options, instead of data
    tune          so many seconds are spent on running layers on this machine in int8 and in float: what is faster in
                  float, conversions counted, stays float. The ledger has the figures; a warning if the whole int8
                  model is slower than the float one
    guard         what the outputs must keep beside float's: "sqnr >= 20" (dB), a tvmq.Guard, or None. Where 8 bits do
                  not, layers get more precision, and the ledger says which and why; an AccuracyWarning where even that
                  does not suffice. It judges by data: without `dataset`, and by scales made at run time, it is off
    raises        CalibrationError without data where an option or the target needs them, or with stale thresholds,
                  DataError for data that do not fit the model,
                  ConfigError for rules that match nothing and for options that the target cannot express,
                  AccumulatorError where a sum could leave int32, IntegralError for a core that was to have no floats
    """
    backend, bound = backend_of(target), guard_of(guard)
    asked = config or _options(calibration)
    config = asked.for_backend(backend)
    decision = None if tune is None else _measured(mod, params, target, config, calibration, tune)
    if decision is not None:
        asked = replace(asked, rules=(*asked.rules, *decision.rules()))
    needs_data = "tune= measures layers with calibrated scales" if decision is not None else why_data(asked, backend)
    quantized = _quantized(mod, params, dataset, backend, asked, calibration, needs_data, bound)
    if decision is not None:
        quantized = with_decision(quantized, decision, _cpu_of(target).name)
    if backend.accumulator_bits < 32 and not config.do_simulation:
        check_accumulators(quantized, backend)
    return quantized if config.partition_conversions == "disabled" else partition_conversions(quantized)


def _options(calibration: CalibrationResult | None) -> QConfig:
    """The options around, or if nobody gave any, those of a calibration."""
    around = current_qconfig()
    kept = {} if calibration is None else calibration.settings.get("config", {})
    unreadable = any("function" in rule for rule in kept.get("rules", ()))  # of functions only the name is kept
    return around if around.given or unreadable else QConfig.from_dict(kept)


def backend_of(target: Any) -> Backend:
    """The description of a target: of a backend by name, as `backend_named` takes it, or of a CPU to build for.

    raises  ConfigError for an unknown name, TargetError for a CPU that LLVM does not know

    >>> backend_of("llvm -mcpu=haswell").name, backend_of("llvm -mcpu=cascadelake").name, backend_of(None).name
    ('cpu_without_vnni', 'cpu', 'cpu')
    """
    if target is None or isinstance(target, Backend):
        return backend_named(target)
    if isinstance(target, str) and target.split()[:1] != ["llvm"]:
        return backend_named(target)
    isa = resolve_target(target).isa
    return backend_named("cpu_without_vnni" if instructions(isa).lane_form else "cpu")


def _measured(
    mod: tvm.IRModule,
    params: Params | None,
    target: Any,
    config: QConfig,
    calibration: CalibrationResult | None,
    seconds: float,
) -> Decision:
    """Which layers are faster in float on this machine."""
    backend = backend_of(target)
    if calibration is not None or config.activations != "static" or backend.name not in CPUS:
        raise ConfigError(
            "quantize: tune= decides for this CPU which layers get codes, so it needs the target 'cpu', "
            f"activations 'static' and no calibration made before. Got '{backend.name}', '{config.activations}'"
        )
    if not seconds >= 0:
        raise ConfigError(f"quantize: tune must be a number of seconds of at least 0. Got {seconds!r} instead")
    floats = _prepared(mod, params, None, config)[0]
    return decide(
        floats,
        lambda chosen: _quantized(mod, params, None, backend, chosen, None, None),
        config,
        seconds,
        target=_cpu_of(target),
    )


def _cpu_of(target: Any) -> CpuTarget:
    """The CPU that a target of `quantize` names; this one where it names a backend, or nothing."""
    is_backend = target is None or isinstance(target, Backend)
    is_name = isinstance(target, str) and target.split()[:1] != ["llvm"]
    return resolve_target("llvm" if is_backend or is_name else target)


def _quantized(
    mod: tvm.IRModule,
    params: Params | None,
    dataset: Any,
    backend: Backend,
    asked: QConfig,
    calibration: CalibrationResult | None,
    needs_data: str | None,
    guard: Guard | None = None,
) -> tvm.IRModule:
    """The module in one function.

    asked       options as they were given, those of the backend not filled in
    needs_data  why it does not go without calibration data, None where it does
    """
    config = asked.for_backend(backend)
    prepared, data = _prepared(mod, params, dataset, config)
    if data is None and calibration is None and is_calibrated(config) and not brings_scales(prepared):
        if needs_data is not None:
            raise _missing_data(config, f"; scales made at run time need none, but {needs_data}")
        warnings.warn(f"quantize: no calibration data. {WITHOUT_DATA}", stacklevel=3)
        config = asked.at_run_time().for_backend(backend)
    if config.activations != "static":
        return pack_weights(quantize_dynamic(prepared, config))
    if brings_scales(prepared):
        return with_own_sums(_realized(adopt(prepared, config, backend), config))
    prepared = equalize(prepared) if config.equalization else prepared
    outliers = _outliers(prepared, data, config) if calibration is None else calibration.settings.get("outliers", {})
    tamed = tame_outliers(prepared, outliers)
    if calibration is not None:
        annotated = _annotated(tamed, config, backend)
        if calibration.model_hash != model_hash(annotated):
            raise CalibrationError(
                "quantize: the calibration was made for another model or other options (its hash differs); calibrate "
                "this model anew"
            )
        return _calibrated(annotated, calibration, config)
    kept = Kept()

    def parts(rules: Sequence[Rule] = ()) -> tuple[tvm.IRModule, CalibrationResult, QConfig]:
        chosen = replace(config, rules=(*rules, *config.rules))
        annotated = _annotated(tamed, chosen, backend)
        return annotated, _calibration(annotated, data, chosen, outliers, kept), chosen

    annotated, found, _ = parts()
    module = _calibrated(annotated, found, config)
    if guard is None or data is None or not is_calibrated(config) or config.do_simulation:
        return module
    judge = Judge(prepared, module, _judged_batches(guard, kept, data), evaluator, guard)
    return guarded(
        module,
        judge,
        lambda rules: _calibrated(*parts(rules)),
        guard,
        simulated=lambda: calibrate(annotated, found.ranges()),
        evaluator=evaluator,
        dynamic=backend.refuses_dynamic() is None,
        refusal=why_not(config, backend),
    )


def _judged_batches(guard: Guard, kept: Kept, data: Dataset) -> list[Batch]:
    """The batches that a guard judges by: its own data, or those kept of the calibration's."""
    if guard.data is None:
        return kept.batches()
    return [Batch(*one) for one in Dataset(guard.data, data.inputs)]


def _calibrated(annotated: tvm.IRModule, calibration: CalibrationResult, config: QConfig) -> tvm.IRModule:
    """The module with these thresholds and roundings: integers, or a simulation of them."""
    calibrated = round_weights(calibrate(round_biases(annotated), calibration.ranges()), calibration.roundings)
    if config.bias_correction:
        tensors = calibration.tensors.items()
        means = {n.removesuffix(":stream"): r.channel_means for n, r in tensors if r.channel_means is not None}
        calibrated = correct_bias(calibrated, means)
    return _realized(calibrated, config)


def is_calibrated(config: QConfig) -> bool:
    """True for options by which scales are chosen from data."""
    return config.activations == "static" and config.observers != {"global_scale"}


def why_data(asked: QConfig, backend: Backend) -> str | None:
    """Why scales of these options must be chosen from data; None where they can be made at run time.

    >>> why_data(QConfig(), backend_of("cpu")), why_data(QConfig(nbit_input=4), backend_of("cpu"))
    (None, "'nbit_input' asks for calibrated ones")
    """
    option = asked.wants_data()
    if option is not None:
        return f"'{option}' asks for calibrated ones"
    refused = backend.refuses_dynamic()
    return f"backend {backend.name} {refused}" if refused else None


def _missing_data(config: QConfig, why: str = "") -> CalibrationError:
    mode = min(config.observers - {"global_scale"}, key=lambda name: (name != config.calibrate_mode, name))
    return CalibrationError(
        f"quantize: calibrate_mode '{mode}' chooses ranges from data and there are none; "
        f"give dataset=, or use qconfig(calibrate_mode='global_scale'){why}"
    )


def _realized(calibrated: tvm.IRModule, config: QConfig) -> tvm.IRModule:
    if config.do_simulation:
        return calibrated
    return pack_weights(fold_constants(quantize_dynamic_layers(realize(calibrated))))


def run_calibration(
    mod: tvm.IRModule,
    params: Params | None = None,
    dataset: Any = None,
    *,
    target: Any = None,
    config: QConfig | None = None,
) -> CalibrationResult:
    """The thresholds that `quantize` would choose, to be saved and used again; arguments as there."""
    backend = backend_of(target)
    config = (config or current_qconfig()).for_backend(backend)
    prepared, data = _prepared(mod, params, dataset, config)
    prepared = equalize(prepared) if config.equalization else prepared
    outliers = _outliers(prepared, data, config)
    annotated = _annotated(tame_outliers(prepared, outliers), config, backend)
    return _calibration(annotated, data, config, outliers)


def _prepared(
    mod: tvm.IRModule, params: Params | None, dataset: Any, config: QConfig
) -> tuple[tvm.IRModule, Dataset | None]:
    """The prepared module, behind the passes that the options name, and the data."""
    prepared = prepare(*from_relax(mod, params))  # a plain module gets its names
    data = Dataset(dataset, inputs_of(prepared)) if dataset is not None else None
    prepared = run_passes(fold_constants(prepared), config.passes)
    if data is not None:
        data.inputs = inputs_of(prepared)
    return prepared, data


def _annotated(prepared: tvm.IRModule, config: QConfig, backend: Backend) -> tvm.IRModule:
    """The module up to unify_scales."""
    return unify_scales(annotate(partition(prepared, config, backend)))


def _outliers(prepared: tvm.IRModule, data: Dataset | None, config: QConfig) -> Outliers:
    """Channels that stand out in the data, where the options let the data decide."""
    if data is None or not config.outlier_channels or config.calibrate_mode == "global_scale":
        return {}
    return find_outliers(prepared, lambda: iter(data), evaluator)


def _calibration(
    annotated: tvm.IRModule,
    data: Dataset | None,
    config: QConfig,
    outliers: Outliers,
    kept: Kept | None = None,
) -> CalibrationResult:
    """Run the data through the module and choose thresholds.

    kept  statistics of a run of the same data before, which are not taken again; those that are taken are added
    """
    kept = kept or Kept()
    if config.observers != {"global_scale"}:
        if data is None:
            raise _missing_data(config)
        kept.collect(
            annotated,
            data,
            evaluator,
            with_histogram=not config.observers.issubset(RANGES_ONLY),
            observing=observing,
            momentum=config.momentum if "moving_average" in config.observers else None,
        )
    statistics = kept.statistics
    chosen = choose_ranges(annotated, statistics, config, kept.choices)
    if "auto" in config.observers:
        seen = {name: (known.ranges.low, known.ranges.high) for name, known in statistics.items()}
        samples = [(batch.feed, batch.count) for batch in kept.all_batches()]
        chosen = widen_for_readers(annotated, chosen, seen, samples, evaluator, config.calibrate_mode, kept.widened)
    view = View(annotated)
    tensors, source = {}, {w.key: w.source for w in watched(view)}
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
    settings = {"config": config.to_dict(), "outliers": outliers}
    result = CalibrationResult(tensors, model_hash(annotated), kept.fingerprint.hexdigest(), settings)
    if config.weight_rounding == "nearest" or not statistics:
        return result
    return replace(result, roundings=_roundings(calibrate(annotated, result.ranges()), data, config))


def _roundings(calibrated: tvm.IRModule, data: Dataset | None, config: QConfig) -> dict[str, Rounding]:
    """How the weights are rounded; the data run through the integer module with its nearest weights."""
    assert data is not None
    moments = second_moments(calibrated, lambda: iter(data), evaluator)
    return choose_rounding(calibrated, moments, bias=config.bias_correction, rounded=compiled_rounding)


def model_hash(mod: tvm.IRModule) -> str:
    """Hash of a module: its text and its constants."""
    digest = hashlib.sha256(mod.script().encode())
    for _, value in View(mod).bindings:
        for arg in getattr(value, "args", ()):
            if is_const(arg):
                digest.update(np.ascontiguousarray(const_value(arg)).tobytes())
    return digest.hexdigest()
