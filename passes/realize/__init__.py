"""Replace every group by integer operators; what stays float gets its inputs dequantized.

Before                                            After
    x_sq = simulated_quantize(x, s, z)                x_q = quantize(x, s, z)
    c = conv2d(x_sq, w_sq)                            c = conv2d(x_q, int8 weight) in int32, bias, requantize
    r = relu(c)                                       r = the codes
    r_sq = simulated_quantize(r, s, z)
    f = softmax(r_sq)                                 f = softmax(dequantize(r))
    m = matmul(x, w)                                  by a rule with scales made at run time: run_time_forms.py

Needs     a calibrated module.
Leaves    float operators, sums and means among them in a defined order (define_floats.py);
          a group whose result is read as floats only is dequantized from its accumulators.
Numerics  the definition of each operator, see tvmq.numerics; the proof that sums fit int32 is made here. A layer of
          scales made at run time whose sums could leave int32 stays float.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import tvm
from tvm import relax

from tvmq import numerics
from tvmq.errors import AccumulatorError, RangeError, StageError
from tvmq.graph import ops
from tvmq.graph.analysis.float_region_costs import note_float_regions
from tvmq.graph.ledger import Ledger, get_ledger, require_stage, with_ledger
from tvmq.graph.rewrite import Rewriter
from tvmq.graph.view import View, dtype_of, leaves, op_name, used_vars
from tvmq.numerics.spec import QParams, QuantSpec
from tvmq.options.config import QConfig, recorded_options
from tvmq.passes.extensions import extension_families
from tvmq.passes.families.absorb import group_names
from tvmq.passes.families.base import RESCALED_SUFFIX, Codes, Group
from tvmq.passes.families.conversions import tensor_qparams
from tvmq.passes.families.weights import qparams_of
from tvmq.passes.partition import integer_groups
from tvmq.passes.partition.residual_streams import is_int16_residual
from tvmq.passes.realize.define_floats import define_floats
from tvmq.passes.realize.run_time_forms import RunTimeForms
from tvmq.passes.realize.weight_codes import RoundingByData, WeightOptions


def realize(mod: tvm.IRModule, *, at_run_time: bool = True) -> tvm.IRModule:
    """Replace groups by integer operators.

    at_run_time  False: layers that rules give scales made at run time stay float
    raises       AccumulatorError naming the layer whose sums could leave int32
    """
    ledger = require_stage(mod, "realize", ("calibrated",))
    realizer = _make_realizer(mod, ledger, at_run_time=at_run_time)
    result = define_floats(realizer.run())
    ledger.stage = "realized"
    ledger.codes = realizer.scales
    for name, options in realizer.at_run_time.items():
        fact = realizer.refused.get(name)
        ledger.layers[name] |= {"why": f"limit: {fact}"} if fact else integer_facts(options.spec)
    for name, facts in realizer.facts.items():
        ledger.layers[name].update(facts)
    note_float_regions(View(result), ledger)
    return with_ledger(result, ledger)


def code_tensors(mod: tvm.IRModule) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """Tensors of the calibrated module whose scales the codes of the integer module have.

    returns  {variable of codes in the module that `realize` gives: tensor}, and pairs of tensors whose scales must stay
             equal: codes of the one are read as those of the other
    """
    ledger = require_stage(mod, "realize", ("calibrated",))
    realizer = _make_realizer(mod, ledger, at_run_time=True)
    realizer.run()
    return realizer.tensors, realizer.equal


def _make_realizer(mod: tvm.IRModule, ledger: Ledger, *, at_run_time: bool) -> ModuleRealizer:
    """The realizer of the groups of a calibrated module, and of the layers that rules give scales at run time."""
    config, layers = recorded_options(ledger.config), {}
    for name, entry in ledger.layers.items():
        if at_run_time and entry.get("dynamic"):
            spec, observer = entry["specs"].get("weights"), entry.get("observers", {}).get("weights")
            layers[name] = WeightOptions(QuantSpec.from_dict(spec) if spec else config.weight_spec, observer)
    return ModuleRealizer(mod, config, layers, groups=integer_groups(ledger.layers))


class ModuleRealizer:
    """Walks the module; offers the families what they need (passes/families/base.py, Realizer).

    at_run_time  {variable: options of its weight} of layers without calibrated scales: run_time_forms.py
    groups       those with calibrated scales
    rounding     of the weights of layers without, by data; None: each to its nearest code

    After `run`, `refused` says of layers of run-time scales why they stayed float.
    """

    def __init__(
        self,
        mod: tvm.IRModule,
        config: QConfig,
        at_run_time: Mapping[str, WeightOptions],
        *,
        groups: Sequence[Group] = (),
        rounding: RoundingByData | None = None,
    ) -> None:
        self.rewriter = Rewriter(mod)
        self.view = self.rewriter.view
        self.mode, self.rounding, self.factors = config.requantize, config.rounding, config.factors
        self._usual, self.accumulator_bits = (self.mode, self.rounding), 32
        self._layers = get_ledger(mod).layers
        self.groups = {group.output: group for group in groups}
        self.inner = {name for group in groups for name in group.members[:-1]}
        self.own = {family.name: family for family in extension_families(config.operators if groups else ())}
        self.at_run_time, self.refused = at_run_time, dict[str, str]()
        self.forms = RunTimeForms(self.rewriter, config, rounding)
        self.facts: dict[str, dict[str, object]] = {}
        self.scales: dict[str, tuple[float, int]] = {}
        self.tensors: dict[str, str] = {}
        self.equal: list[tuple[str, str]] = []
        self._codes: dict[str, Codes] = {}
        self._int16_residuals: dict[str, Codes] = {}  # the int16 codes of tensors, where residual streams have them
        self._reads_residuals = False
        self._floats: dict[str, relax.Expr] = {}
        self._accumulators: dict[str, tuple[relax.Var, float]] = {}

    def run(self) -> tvm.IRModule:
        """Rewrite all bindings; results are floats."""
        for param in self.view.params.values():
            self._floats[param.name] = param
        for var, value in self.view.bindings:
            self.rewriter.at(var.name)
            if var.name in self.groups:
                self._realize_group(self.groups[var.name])
            elif op_name(value) == "tvmq.simulated_quantize":
                self._realize_simulated(var, value)
            elif var.name in self.at_run_time:
                self._realize_at_run_time(var, value)
            elif var.name not in self.inner:
                self._copy_float(var, value)
        for var in leaves(self.view.func.body.body):
            self.rewriter.bind(var, self._as_float(var.name))
        return self.rewriter.finish()

    # ---- what families use

    def codes(self, name: str) -> Codes:
        """Codes of an activation; those behind its simulated_quantize where it has one."""
        codes = self._int16_residuals.get(name) if self._reads_residuals else None
        codes = codes or self._codes.get(name)
        if codes is None:
            raise StageError(f"realize: activation '{name}' has no codes; was the module annotated by tvmq's annotate?")
        return codes

    def output_qparams(self, group: Group) -> QParams | None:
        """Scale and zero point of the group's result, of int16 if it has both; None if nothing reads it as codes."""
        readers = [self.view.value[reader] for reader in self.view.readers[group.output]]
        quantizes = [call for call in readers if op_name(call) == "tvmq.simulated_quantize"]
        quantizes.sort(key=lambda call: call.attrs.kind != "stream")
        return qparams_of(quantizes[0]) if quantizes else None

    def accumulators(self, name: str) -> tuple[relax.Var, float] | None:
        """The int32 sums that a group's result was made of, where these have one scale, and that scale."""
        return self._accumulators.get(name)

    def substitute(self, arg: relax.Expr) -> relax.Expr:
        """Replace variables of the float module in an argument that is no activation."""
        return self._as_float(arg.name) if isinstance(arg, relax.Var) else arg

    def emit(self, value: relax.Expr, name: str) -> relax.Var:
        """Bind a new variable."""
        return self.rewriter.emit(value, name)

    def note(self, group: Group, **facts: object) -> None:
        """Write plain data about a group into the ledger."""
        self.facts.setdefault(group.output, {}).update(facts)

    def code_bounds(self, qparams: QParams, group: Group) -> tuple[int, int]:
        """Lowest and highest code of a result whose real values are clipped to the group's "low" and "high"."""
        return code_bounds(qparams, group.facts.low, group.facts.high)

    def requantize(self, acc: relax.Var, scale: np.ndarray, group: Group, *, axis: int = -1) -> Codes | relax.Var:
        """Requantize accumulators of real scale `scale` to codes of the group's result, or dequantize them."""
        qparams = self.output_qparams(group)
        per_channel = scale.size > 1
        if not per_channel:
            self._accumulators[group.output] = acc, float(scale.reshape(()))
        if qparams is None:
            return self._dequantize(acc, scale, group, axis if per_channel else -1)
        multiplier, shift = self._requantize_constants(self._factor(scale, qparams), group)
        qmin, qmax = self.code_bounds(qparams, group)
        call = ops.requantize(
            acc,
            relax.const(multiplier if per_channel else multiplier.reshape(())),
            relax.const(shift if per_channel else shift.reshape(())),
            zero_point=int(qparams.zero_point),
            axis=axis if per_channel else -1,
            mode=self.mode,
            rounding=self.rounding,
            dtype=qparams.spec.dtype,
            qmin=qmin,
            qmax=qmax,
            negative_slope=1.0 if group.facts.negative_slope is None else group.facts.negative_slope,
        )
        return self._record_scale(Codes(self.emit(call, group.output), qparams))

    def _factor(self, scale: np.ndarray, qparams: QParams) -> np.ndarray:
        """Steps of a scale in steps of a result's: float64, of float32 numbers where the options say so."""
        if self.factors == "float32":
            return np.asarray(scale.astype(np.float32) / qparams.scale, np.float64)
        return np.asarray(scale / np.float64(qparams.scale))

    def _requantize_constants(self, factor: np.ndarray, group: Group) -> tuple[np.ndarray, np.ndarray]:
        """numerics.requantize_constants, refused by name where the factor of a layer has no place in the mode."""
        try:
            return numerics.requantize_constants(factor, self.mode)
        except RangeError as error:
            raise RangeError(f"realize, {group.family} '{group.root}': {error}") from error

    def rescale(self, part: Codes, common: QParams, group: Group) -> Codes:
        """Convert the codes of an activation to another scale, by a table; int16 codes are requantized."""
        if part.qparams == common:
            self.equal.append((part.qparams.tensor, common.tensor))
            return part
        return self._rescale_codes(part, common, f"{group.root}{RESCALED_SUFFIX}")

    def _rescale_codes(self, codes: Codes, qparams: QParams, name: str) -> Codes:
        if codes.qparams.spec.dtype != "int16":
            values = relax.const(numerics.rescale_table(codes.qparams, qparams))
            return self._record_scale(Codes(self.emit(ops.table(codes.var, values, function="rescale"), name), qparams))
        factor = self._factor(np.asarray(codes.scale, np.float64), qparams)
        multiplier, shift = numerics.requantize_constants(factor, self.mode)
        call = ops.requantize(
            codes.var,
            relax.const(multiplier),
            relax.const(shift),
            zero_point=int(qparams.zero_point),
            mode=self.mode,
            rounding=self.rounding,
            dtype=qparams.spec.dtype,
            qmin=qparams.spec.qmin,
            qmax=qparams.spec.qmax,
        )
        return self._record_scale(Codes(self.emit(call, name), qparams))

    # ---- the walk

    def _realize_group(self, group: Group) -> None:
        self.rewriter.sources = group_names(self.view, group)
        self._reads_residuals = is_int16_residual(group)
        family = self.own.get(group.family) or group.strategy
        entry = self._layers[group.output]
        self.mode, self.rounding = entry.get("requantize", self._usual)
        self.accumulator_bits = entry.get("accumulator_bits", 32)
        result = family.realize(self, group)
        self.mode, self.rounding = self._usual
        self.note(group, input=[_scale_facts(self.codes(name).qparams) for name in group.inputs])
        if isinstance(result, Codes):
            self._codes[group.output] = self._record_scale(result)
            self.note(group, output=_scale_facts(result.qparams))
        else:
            self._floats[group.output] = result
            dtype = dtype_of(result)
            source = "the accumulators" if dtype == "float32" else "the codes"
            self.note(group, output=f"{dtype}, straight from {source}")

    def _realize_simulated(self, var: relax.Var, call: relax.Call) -> None:
        """A simulated_quantize: the codes are there already, or the float is quantized here."""
        if call.attrs.kind == "weight":
            return
        source = call.args[0].name
        qparams = qparams_of(call)
        known = self._int16_residuals if call.attrs.kind == "stream" else self._codes
        codes = self._codes_behind(source, qparams) or self._codes.get(source)
        if codes is None or (codes.qparams != qparams and self._is_float(source)):
            x = self._as_float(source)
            quantize = ops.quantize(
                x,
                relax.const(qparams.scale),
                relax.const(qparams.zero_point),
                dtype=qparams.spec.dtype,
                qmin=qparams.spec.qmin,
                qmax=qparams.spec.qmax,
            )
            codes = Codes(self.emit(quantize, f"{source}_q"), qparams)
            known.setdefault(source, codes)
        elif codes.qparams != qparams:
            codes = self._rescale_codes(codes, qparams, var.name)
            # what is rounded itself has readers that want its own codes
            if op_name(self.view.value.get(source)) != "tvmq.simulated_quantize":
                known[source] = codes
        elif known is self._int16_residuals:
            known[source] = codes
        if codes.qparams == qparams:
            self.equal.append((codes.qparams.tensor, qparams.tensor))
        self._codes[var.name] = self._record_scale(codes)

    def _record_scale(self, codes: Codes) -> Codes:
        """Record the scale of codes for the ledger, and return them."""
        self.scales[codes.var.name] = float(codes.qparams.scale), int(codes.qparams.zero_point)
        self.tensors[codes.var.name] = codes.qparams.tensor
        return codes

    def _codes_behind(self, name: str, qparams: QParams) -> Codes | None:
        """The codes that a tensor was dequantized from, if they have this scale: the model was quantized already."""
        call = self.view.value.get(name)
        if call is None or op_name(call) != "tvmq.dequantize" or tensor_qparams(call) != qparams:
            return None
        return Codes(self.rewriter.substitute(call.args[0]), qparams)

    def _is_float(self, name: str) -> bool:
        """True for what is a float tensor in the integer module too."""
        return name in self._floats and name not in self.groups

    def _copy_float(self, var: relax.Var, value: relax.Expr) -> None:
        codes = self._codes.get(value.args[0].name) if op_name(value) == "tvmq.quantize" else None
        if codes is not None and tensor_qparams(value) == codes.qparams:
            self._floats[var.name] = codes.var
            return
        if isinstance(value, relax.TupleGetItem) and value.tuple_value.name in self._codes:
            whole = self._codes[value.tuple_value.name]  # a tuple has no float form: its item has
            item = self.emit(relax.TupleGetItem(whole.var, value.index), f"{var.name}_q")
            self._codes[var.name] = Codes(item, whole.qparams)
            return
        self._define_float(var, self._read_floats(var, value))

    def _realize_at_run_time(self, var: relax.Var, value: relax.Call) -> None:
        """A layer whose codes get scales at run time, or whose weight alone is codes; its result is floats."""
        new = self._read_floats(var, value)
        try:
            new = self.forms.realize(var.name, new, self.at_run_time[var.name])
        except AccumulatorError as error:
            self.refused[var.name] = error.fact
        self._define_float(var, new)

    def _read_floats(self, var: relax.Var, value: relax.Expr) -> relax.Expr:
        """A value with the floats of what it reads."""
        for name in used_vars(value):
            self.rewriter.bind(self.view.var[name], self._as_float(name))
        self.rewriter.at(var.name)
        return self.rewriter.substitute(value)

    def _define_float(self, var: relax.Var, value: relax.Expr) -> None:
        self._floats[var.name] = value if isinstance(value, relax.Var) else self.emit(value, var.name)

    def _as_float(self, name: str) -> relax.Expr:
        """The float tensor of an old variable; codes are dequantized once."""
        codes = self._int16_residuals.get(name) or self._codes.get(name)
        if codes is None or (name in self._floats and not self._has_codes(name)):
            return self._floats[name]
        key = f"{codes.var.name}:dequantized"
        if key not in self._floats:
            self.rewriter.sources = self.view.sources(name)
            call = ops.dequantize(codes.var, relax.const(codes.qparams.scale), relax.const(codes.qparams.zero_point))
            self._floats[key] = self.emit(call, f"{name}_float")
        return self._floats[key]

    def _has_codes(self, name: str) -> bool:
        return name in self._codes and name not in self.view.params and name in self.groups

    def _dequantize(self, acc: relax.Var, scale: np.ndarray, group: Group, axis: int) -> relax.Var:
        """Floats straight from the accumulators; relu and clip are exact comparisons afterwards."""
        real = scale.astype(np.float32)
        real = real if axis >= 0 else real.reshape(())
        zero = relax.const(np.zeros(real.shape, np.int32))
        low, high = group.facts.low, group.facts.high
        slope = group.facts.negative_slope
        bounded = low != -np.inf or high != np.inf
        name = f"{group.output}_float" if bounded or slope is not None else group.output
        y = self.emit(ops.dequantize(acc, relax.const(real), zero, axis=axis), name)
        if slope is not None:
            return self.emit(relax.op.nn.leakyrelu(y, slope), group.output)
        return self.emit(_clamp(y, low, high), group.output) if bounded else y


def code_bounds(qparams: QParams, low: float, high: float) -> tuple[int, int]:
    """Lowest and highest code of real values that are clipped to low..high, infinities where nothing clips."""
    scale, zero, spec = float(qparams.scale), int(qparams.zero_point), qparams.spec
    qmin = spec.qmin if low == -np.inf else max(spec.qmin, _step_of(low / scale) + zero)
    qmax = spec.qmax if high == np.inf else min(spec.qmax, _step_of(high / scale) + zero)
    return min(qmin, spec.qmax), max(qmax, spec.qmin)


def _step_of(steps: float) -> int:
    """The nearest whole step, within what any code reaches."""
    return int(np.clip(np.rint(steps), -(2**17), 2**17))


def _clamp(y: relax.Expr, low: float, high: float) -> relax.Expr:
    if low == 0.0 and high == np.inf:
        return relax.op.nn.relu(y)
    limit = float(np.finfo(np.float32).max)
    return relax.op.clip(y, max(low, -limit), min(high, limit))


def _scale_facts(qparams: QParams) -> dict[str, object]:
    """Scale and zero point for the ledger."""
    return {
        "scale": float(qparams.scale),
        "zero_point": int(qparams.zero_point),
        "dtype": qparams.spec.dtype,
        "bits": qparams.spec.bits,
    }


def integer_facts(weight: QuantSpec) -> dict[str, object]:
    """Ledger facts of a layer in integers whose scales are made at run time; pack_weights reads the bits."""
    narrow = {"weight_bits": weight.bits} if weight.bits <= numerics.PACKED_BITS else {}
    return {"precision": "int8", **narrow}


__all__ = ["ModuleRealizer", "code_bounds", "code_tensors", "integer_facts", "realize"]
