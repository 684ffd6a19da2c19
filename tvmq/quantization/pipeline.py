"""From a float module to an integer one: `quantize` runs the stages of stages.py, `run_calibration` the first half.

The arguments become a `Request`, which selects one of five sequences of stages for the prepared model:

    activations="dynamic", or no data  AT_RUN_TIME: quantize_dynamic -> pack_weights
    a model that is quantized already  OWN_SCALES: import_qdq -> INTEGERS
    calibration=, thresholds           SCALING -> DECISIONS -> ROUNDING -> INTEGERS
    finetune=                          as with thresholds, which are chosen from the data; then the integers are trained
    all others                         as with thresholds, which are chosen from the data

The guard judges the last two. `partition_conversions` follows each of them where the options ask for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
import tvm

from tvmq.backends.consistency import emulation_alone, why_not_compiled
from tvmq.backends.description import Backend
from tvmq.base.deprecation import warn_user
from tvmq.base.stage_progress import Callback, observed_work
from tvmq.calibration.dataset import Dataset
from tvmq.calibration.observers.result import CalibrationResult
from tvmq.codegen.compile.compiled_rounding import round_weights
from tvmq.codegen.compile.evaluators import evaluator
from tvmq.codegen.target.backend import backend_of, cpu_of
from tvmq.codegen.target.cpu import CpuTarget
from tvmq.errors import CalibrationError, ConfigError
from tvmq.formats.relax import from_relax
from tvmq.graph.ledger import MAY_DIFFER, get_ledger, mark_emulated
from tvmq.graph.state_pairs import state_pairs
from tvmq.graph.symbolic import inputs_of
from tvmq.options.config import QConfig, current_qconfig
from tvmq.passes.calibrate.token_factors import find_token_factors
from tvmq.passes.import_qdq import is_prequantized, with_own_sums
from tvmq.passes.narrow_floats import narrow_floats
from tvmq.passes.partition_conversions import partition_conversions
from tvmq.passes.quantize_dynamic import products_in_groups
from tvmq.passes.realize.accumulators import check_accumulators
from tvmq.passes.realize.weight_codes import RoundingByData
from tvmq.passes.scale_outliers import scale_outliers
from tvmq.quantization.float_or_int8 import Verdict, decide, with_decision
from tvmq.quantization.guard.bound import Guard, guard_of
from tvmq.quantization.meaning.agreement import bound_readings
from tvmq.quantization.stages import AT_RUN_TIME, INTEGERS, OWN_SCALES, PREPARATION, StageContext, run_stages
from tvmq.quantization.static_quantization import (
    StaticQuantization,
    missing_data,
    model_hash,
    read_data,
    round_module,
)

Params = Mapping[str, np.ndarray]


class Finetuning(Protocol):
    """Protocol of objects that train the integer module instead of only rounding it: `tvmq.training.Distill`."""

    def check_config(self, config: QConfig) -> None:
        """raises  ConfigError for options that training does not support"""

    def module(self, quantization: StaticQuantization) -> tvm.IRModule:
        """The integer module."""

    def repeatable_module(self, quantization: StaticQuantization) -> tvm.IRModule:
        """The integer module, whatever the number of threads; equal ones for equal identities."""

    @property
    def identity(self) -> str:
        """Text of all settings that the integers depend on besides model, data and options."""


@dataclass(frozen=True)
class Request:
    """Arguments of `quantize` other than model and data: as the user gave them, and what they resolve to.

    user_config              options as the user gave them
    backend                  that the integers are for
    calibration              thresholds that are taken instead of data
    guard                    bound that the outputs must keep; None: they are not judged
    finetune                 makes the integers; None: rounding alone does
    reason_data_is_required  why scales cannot be made at run time; None where they can
    config                   options with those of the backend where the user gave none
    """

    user_config: QConfig
    backend: Backend
    calibration: CalibrationResult | None = None
    guard: Guard | None = None
    finetune: Finetuning | None = None
    reason_data_is_required: str | None = None
    config: QConfig = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "config", self.user_config.for_backend(self.backend))


CPUS = ("cpu", "cpu_with_dot_product", "cpu_without_vnni")
USUAL_GUARD = "sqnr >= 20"
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
    finetune: Finetuning | None = None,
    callback: Callback | None = None,
) -> tvm.IRModule:
    """The integer module of a float one.

    mod, params   as `from_onnx` and `from_torch` give them; a plain Relax module goes through `from_relax`
    dataset       calibration data: an iterable of {input: array}, tuples or arrays with the batch first, a path to
                  .npz or
                  .npy, an object with get_next(); not needed with `calibration`, with calibrate_mode "global_scale",
                  or for a model that is quantized already: its own scales are taken. Without any of these scales of
                  activations are made at run time, activations="dynamic", and a warning says what data would bring
    target        name of a backend description (tvmq.backends), a tvmq.Backend, or "module:object" that holds one; or
                  a CPU as `build` takes it ("llvm -mcpu=haswell"): one without VNNI gets weights of 7 bits, a little
                  faster there than portable ones and 0.4 dB less accurate on every CPU, one with VNNI gets the finest
                  scales (docs/speed.md). None is "cpu", portable: nothing of this machine goes in, and its weights
                  are fast with and without VNNI. Options that were not given follow the target
    config        options; by default those of the qconfig around, or of `calibration` where there is none around
    calibration   thresholds from `run_calibration` of the same model and options, instead of data
    tune          so many seconds are spent on running layers on this machine in int8 and in float: what is faster in
                  float, conversions counted, stays float. The ledger has the figures; a warning if the whole int8
                  model is slower than the float one
    guard         what the outputs must keep of float's: "sqnr >= 20" (dB), a tvmq.Guard, or None. Where 8 bits do
                  not, layers get more precision, and the ledger says which and why; an AccuracyWarning where even that
                  does not suffice. It judges by data: without `dataset`, and by scales made at run time, it is off
    finetune      a `tvmq.training.Distill`: the integers learn the float model's tensors on these data before the guard
                  judges; see docs/training.md. Needs torch
    callback      called with a StageProgress (work, stage, seconds, elapsed) when a stage ends; what it raises ends the
                  work. The logger "tvmq" has a line for each as well
    raises        CalibrationError without data where an option or the target needs them, or with stale thresholds,
                  DataError for data that do not fit the model,
                  ConfigError for rules that match nothing and for options that the target cannot express,
                  AccumulatorError where a sum could leave int32, IntegralError for a core that was to have no floats
    """
    with observed_work("quantize", callback):
        return _quantize(mod, params, dataset, target, config, calibration, tune, guard_of(guard), finetune)


def _quantize(
    mod: tvm.IRModule, params: Params | None, dataset: Any, target: Any, config: QConfig | None,
    calibration: CalibrationResult | None, tune: float | None, bound: Guard | None, finetune: Finetuning | None,
) -> tvm.IRModule:  # fmt: skip
    """`quantize`, whose stages are reported."""
    backend = backend_of(target)
    user_config = config or _options(calibration)
    reason = explain_required_data(user_config, backend)
    request = Request(user_config, backend, calibration, bound, finetune, reason)
    if finetune is not None:
        _check_finetuning(request, dataset)
    if tune is not None:
        _check_tuning(request, tune)
    prepared, data = prepare_model(mod, params, dataset, request.config)
    if finetune is not None:
        refuse_state(prepared, "quantize: finetune=")
    decision = None if tune is None else _measure_layers(request, prepared, cpu_of(target), tune)
    if decision is not None:  # the layers that were faster in float stay float
        reason = "tune= measures layers with calibrated scales"
        with_floats = replace(user_config, rules=(*user_config.rules, *decision.rules()))
        request = replace(request, user_config=with_floats, reason_data_is_required=reason)
    quantized = _quantize_prepared(request, prepared, data)
    if decision is not None:
        quantized = with_decision(quantized, decision, cpu_of(target).name)
    config = request.config
    if backend.proves_sums and not config.do_simulation and config.activations == "static":
        check_accumulators(quantized, backend)
    if not config.do_simulation:
        quantized = narrow_floats(quantized, backend)
    if config.partition_conversions != "disabled":
        quantized = partition_conversions(quantized)
    return quantized if config.do_simulation else _mark_if_emulated(quantized, backend)


def _mark_if_emulated(quantized: tvm.IRModule, backend: Backend) -> tvm.IRModule:
    """The module, marked where compiled code does not compute what the backend does."""
    if (why := why_not_compiled(backend)) is not None:
        return mark_emulated(quantized, f"backend {backend.name}: {why}")
    if (why := emulation_alone(backend)) is not None:
        return mark_emulated(quantized, f"backend {backend.name}: {why}", MAY_DIFFER)
    return quantized


def _options(calibration: CalibrationResult | None) -> QConfig:
    """Options of the enclosing qconfig; those of the calibration where there is none."""
    around = current_qconfig()
    kept = {} if calibration is None else calibration.settings.get("config", {})
    unreadable = any("function" in rule for rule in kept.get("rules", ()))  # of functions only the name is kept
    return around if around.given or unreadable else QConfig.from_dict(kept)


def _check_finetuning(request: Request, dataset: Any) -> None:
    """raises  ConfigError for an object that is no Finetuning, and beside thresholds; CalibrationError without data"""
    finetune = request.finetune
    assert finetune is not None
    if not hasattr(finetune, "check_config"):
        raise ConfigError(
            f"quantize: finetune must be a tvmq.training.Distill. Got {type(finetune).__name__} instead; use "
            "finetune=Distill(steps=1000)"
        )
    if request.calibration is not None:
        raise ConfigError("quantize: finetune= chooses scales from the data itself; leave calibration out")
    if dataset is None:
        raise CalibrationError("quantize: finetune= learns from data and there are none; give dataset=")
    finetune.check_config(request.config)


def refuse_state(prepared: tvm.IRModule, what: str) -> None:
    """ConfigError for a model that hands a state to its next call, of which `what` knows nothing."""
    if pairs := state_pairs(prepared):
        raise ConfigError(
            f"{what} plays single calls, and the model hands a state to its next call ({pairs[0].input}); leave it "
            "out, or import the model with state=None and give the states as data"
        )


def _check_tuning(request: Request, seconds: float) -> None:
    """raises  ConfigError where layers cannot be measured on this CPU, or not for so many seconds"""
    config, backend = request.config, request.backend
    if request.calibration is not None or config.activations != "static" or backend.name not in CPUS:
        raise ConfigError(
            "quantize: tune= decides for this CPU which layers get codes, so it needs the target 'cpu', "
            f"activations 'static' and no calibration made before. Got '{backend.name}', '{config.activations}'"
        )
    if not seconds >= 0:
        raise ConfigError(f"quantize: tune must be a number of seconds of at least 0. Got {seconds!r} instead")


def _measure_layers(request: Request, prepared: tvm.IRModule, cpu: CpuTarget, seconds: float) -> Verdict:
    """Measure which layers are faster in float on this machine."""
    plain = replace(request, guard=None, finetune=None, reason_data_is_required=None)
    return decide(
        prepared,
        lambda config: _quantize_prepared(replace(plain, user_config=config), prepared, None),
        request.config,
        seconds,
        target=cpu,
    )


def _quantize_prepared(request: Request, prepared: tvm.IRModule, data: Dataset | None) -> tvm.IRModule:
    """Quantize the prepared model by the sequence of stages that request, model and data select."""
    has_own_scales = is_prequantized(prepared)
    if data is None and request.calibration is None and is_calibrated(request.config) and not has_own_scales:
        request = _do_without_data(request)
    if request.config.activations != "static":
        return _quantize_at_run_time(request, prepared, None if has_own_scales else data)
    if has_own_scales:
        return _quantize_by_own_scales(request, prepared, data)
    if request.calibration is not None:
        return _quantize_by_thresholds(request, request.calibration, prepared)
    quantization = StaticQuantization(prepared, data, request.config, request.backend)
    if request.finetune is not None:
        return _apply_guard(request, quantization, request.finetune.module(quantization))
    if request.guard is not None and bound_readings(prepared, request.guard.outputs):
        quantization.foresee_floats()
    return _apply_guard(request, quantization, quantization.module())


def _do_without_data(request: Request) -> Request:
    """Change the request to dynamic quantization, with a warning; CalibrationError where that is not possible."""
    if request.reason_data_is_required is not None:
        why = f"; scales made at run time need none, but {request.reason_data_is_required}"
        raise missing_data(request.config, why)
    warn_user(f"quantize: no calibration data. {WITHOUT_DATA}")
    return replace(request, user_config=request.user_config.at_run_time())


def _quantize_at_run_time(request: Request, prepared: tvm.IRModule, data: Dataset | None) -> tvm.IRModule:
    """Quantize with scales of activations made at run time; data, if any, make channels alike and round weights."""
    config, outliers, rounding = request.config, dict[str, Any](), None
    if data is not None and config.activations == "dynamic" and config.outlier_channels:
        outliers = find_token_factors(prepared, lambda: iter(data), evaluator, products_in_groups(prepared, config))
        prepared = scale_outliers(prepared, outliers)
    if data is not None and config.weight_rounding == "calibrated":
        rounding = _rounding(prepared, data)
    return run_stages(prepared, AT_RUN_TIME, StageContext(config, rounding=rounding))


def _quantize_by_own_scales(request: Request, prepared: tvm.IRModule, data: Dataset | None) -> tvm.IRModule:
    """Quantize with the scales that the model has already; data are not read."""
    config = request.config
    if request.finetune is not None:
        raise ConfigError("quantize: finetune= begins with a float model, this one brings scales of its own")
    imported = run_stages(prepared, OWN_SCALES, StageContext(config, request.backend))
    if data is not None:
        _warn_of_unused_data(imported)
    return with_own_sums(imported if config.do_simulation else run_stages(imported, INTEGERS, StageContext(config)))


def _quantize_by_thresholds(request: Request, calibration: CalibrationResult, prepared: tvm.IRModule) -> tvm.IRModule:
    """Quantize with thresholds of an earlier `run_calibration`; CalibrationError for those of another model."""
    outliers = calibration.settings.get("outliers", {})
    annotated = StaticQuantization(prepared, None, request.config, request.backend, outliers).annotate_model()
    if calibration.model_hash != model_hash(annotated):
        raise CalibrationError(
            "quantize: the calibration was made for another model or other options (its hash differs); calibrate "
            "this model anew"
        )
    return round_module(annotated, calibration, request.config)


def _apply_guard(request: Request, quantization: StaticQuantization, module: tvm.IRModule) -> tvm.IRModule:
    """The module, or one of more precision where it does not keep the bound that was asked for."""
    if request.guard is None or not is_calibrated(request.config) or request.config.do_simulation:
        return module
    return quantization.apply_guard(module, request.guard)


def _warn_of_unused_data(imported: tvm.IRModule) -> None:
    """Warn about layers that stay in float although data were given: the model has its own scales."""
    layers = [(key, entry) for key, entry in get_ledger(imported).layers.items() if entry.get("macs")]
    floats = [(entry.get("layers") or [key])[0] for key, entry in layers if entry["precision"] == "float"]
    if floats:
        warn_user(
            f"quantize: the model brings scales of its own, so the calibration data are not used and {len(floats)} of "
            f"{len(layers)} layers with multiply-accumulates stay in float, first '{floats[0]}'; take its "
            "QuantizeLinear and DequantizeLinear (quantize and dequantize) out to have the whole model calibrated"
        )


def _rounding(prepared: tvm.IRModule, data: Dataset) -> RoundingByData:
    """Rounding of weights by data for activations without calibrated scales: by the moments of 8-bit codes."""
    config = QConfig(calibrate_mode="minmax", outlier_channels=False)  # all weights as they are
    moments = StaticQuantization(prepared, data, config, backend_of(None)).moments()
    return RoundingByData(moments, round_weights)


def is_calibrated(config: QConfig) -> bool:
    """True for options by which scales are chosen from data."""
    return config.activations == "static" and config.observers != {"global_scale"}


def explain_required_data(user_config: QConfig, backend: Backend) -> str | None:
    """Why scales of these options must be chosen from data; None where they can be made at run time.

    >>> explain_required_data(QConfig(), backend_of("cpu"))
    >>> explain_required_data(QConfig(nbit_input=4), backend_of("cpu"))
    "'nbit_input' asks for calibrated ones"
    """
    option = user_config.wants_data()
    if option is not None:
        return f"'{option}' asks for calibrated ones"
    refused = backend.refuses_dynamic()
    return f"backend {backend.name} {refused}" if refused else None


def static_quantization(
    mod: tvm.IRModule,
    params: Params | None = None,
    dataset: Any = None,
    *,
    target: Any = None,
    config: QConfig | None = None,
) -> StaticQuantization:
    """The model with its data, which are read once for all modules that are made of it; arguments as `quantize`."""
    backend = backend_of(target)
    config = (config or current_qconfig()).for_backend(backend)
    return StaticQuantization(*prepare_model(mod, params, dataset, config), config, backend)


def run_calibration(
    mod: tvm.IRModule,
    params: Params | None = None,
    dataset: Any = None,
    *,
    target: Any = None,
    config: QConfig | None = None,
) -> CalibrationResult:
    """The thresholds that `quantize` would choose, to be saved and used again; arguments as there.

    mod      also a module at the stage "annotated", made by the passes one by one: thresholds for it, unchanged
    returns  a range for each tensor that is held in codes, and the roundings of weights, for `quantize(calibration=)`
    raises   CalibrationError without data where an option or the target needs them,
             DataError for data that do not fit the model, ConfigError for options that the target cannot express

        result = tvmq.run_calibration(mod, params, data)
        result.save("model.calibration.npz")
        qmod = tvmq.quantize(mod, params, calibration=result)
    """
    if get_ledger(mod).stage == "annotated":
        return _of_annotated(mod, dataset, backend_of(target), config or current_qconfig())
    quantization = static_quantization(mod, params, dataset, target=target, config=config)
    return quantization.calibration(quantization.annotate_model())


def _of_annotated(mod: tvm.IRModule, dataset: Any, backend: Backend, config: QConfig) -> CalibrationResult:
    """Thresholds for an annotated module, whose channels are not scaled again whatever the options say."""
    data = Dataset(dataset, inputs_of(mod)) if dataset is not None else None
    config = replace(config.for_backend(backend), equalization=False)
    return StaticQuantization(mod, data, config, backend, outliers={}).calibration(mod)


def prepare_model(
    mod: tvm.IRModule, params: Params | None, dataset: Any, config: QConfig
) -> tuple[tvm.IRModule, Dataset | None]:
    """The prepared module, behind the passes that the options name, and the data."""
    mod, params = from_relax(mod, params)  # a plain module gets its names
    prepared = run_stages(mod, PREPARATION, StageContext(config, params=params))
    return prepared, read_data(prepared, dataset) if dataset is not None else None
