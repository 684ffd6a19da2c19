"""Quantization without data: weights alone, or activations by scales that are made at run time.

Before                                            After, activations="dynamic"
    m = matmul(x, w)                                  s = dynamic_scale(x), a scale for each row
                                                      q = dynamic_quantize(x, s)
                                                      m = dynamic_dequantize(matmul(q, int8 w) in int32, s, s_w)
                                                  After, activations=None
                                                      m = matmul(x, dequantize(int8 w, s_w))
                                                  With group_size, dynamic and not
                                                      m = group_matmul(q, s, int4 w, s_w)
                                                      m = matmul(x, group_dequantize(int8 w, s_w))

Needs     a prepared module.
Leaves    a realized one. Everything without weights stays float; dynamic turns products of two activations into
          integers as well. Embedding tables are int8 with one scale a row, in both.
Numerics  numerics.dynamic; weights as in `realize`, to the nearest code or, with data, as in `round_weights` without a
          change of the bias, in groups each group by itself. Convolutions take one scale for each sample.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import tvm
from tvm import relax

from tvmq import numerics
from tvmq.errors import AccumulatorError, ConfigError
from tvmq.graph import ops
from tvmq.graph.analysis.float_region_costs import multiply_accumulates
from tvmq.graph.ledger import require_stage, with_ledger
from tvmq.graph.operators import OPERATORS, where
from tvmq.graph.operators.record import CONVOLUTION, PRODUCT, TRANSPOSED
from tvmq.graph.rewrite import Rewriter
from tvmq.graph.view import const_value, dtype_of, is_const, op_name, sizes_of
from tvmq.numerics.moments import Moments
from tvmq.numerics.spec import QuantSpec
from tvmq.options.config import QConfig, current_qconfig
from tvmq.options.rules import Decision, LayerFacts, resolve
from tvmq.passes.families.base import family_of_call
from tvmq.passes.families.conv_transpose import per_output_channel
from tvmq.passes.families.float_options import why_switched_off
from tvmq.passes.families.weight_scales import constant_qparams, reduce_weight_bits
from tvmq.passes.families.weights import weight_axis
from tvmq.passes.round_weights import round_groups, round_shared

# What gets scales at run time
WEIGHTED = where(kind=(CONVOLUTION, TRANSPOSED, PRODUCT), is_own=False)
LOOP = "tvmq.recurrent"
TRANSPOSED_CONVOLUTIONS = where(kind=TRANSPOSED)
LARGEST_CODE = 127


@dataclass(frozen=True, eq=False)
class RoundingByData:
    """Weights rounded by what their layers read.

    moments  {variable of a convolution or product: its moments}
    rounded  numerics.rounding.round_weights, or compiled code of equal bits
    """

    moments: Mapping[str, Moments]
    rounded: Callable[..., np.ndarray]


def quantize_dynamic(
    mod: tvm.IRModule, config: QConfig | None = None, rounding: RoundingByData | None = None
) -> tvm.IRModule:
    """Quantize without data; a layer whose sums could leave int32 stays float.

    rounding  None: each weight to its nearest code
    """
    config = config or current_qconfig()
    ledger = require_stage(mod, "quantize_dynamic", ("prepared",))
    realizer = DynamicRealizer(mod, config, is_dynamic=config.activations == "dynamic", rounding=rounding)
    result = realizer.run()
    ledger.stage, ledger.config, ledger.layers = "realized", config.to_dict(), realizer.entries
    return with_ledger(result, ledger)


def why_float(value: relax.Expr, activations: str | None) -> str | None:
    """Why an operator stays as it is with activations "dynamic" or None; None if it has a form."""
    name = op_name(value)
    if name == "take" and is_const(value.args[0]) and len(value.args[0].ty.shape) == 2:
        if not np.isfinite(const_value(value.args[0])).all():
            return "limit: a table of numbers that are not finite"
        plain = int(value.attrs.axis or 0) == 0 and dtype_of(value.args[0]) == "float32"
        return None if plain else "limit: only rows of a float32 table are looked up as codes"
    if name == LOOP:
        return None
    if name not in WEIGHTED:
        return f"option activations={activations!r}: only layers with weights are quantized"
    data, weight = value.args
    if any(dtype_of(arg) != "float32" for arg in (data, weight)):
        return "limit: the operands are not float32"
    if is_const(weight):
        return None if name != "matmul" or len(weight.ty.shape) >= 2 else "limit: the weight is a vector"
    if name != "matmul" or activations != "dynamic" or is_const(data):
        return "limit: the weight is computed in the graph, not constant"
    return None if min(len(data.ty.shape), len(weight.ty.shape)) >= 2 else "limit: a product with a vector"


def integer_facts(weight: QuantSpec) -> dict[str, Any]:
    """Ledger facts of a layer in integers; pack_weights reads the bits."""
    narrow = {"weight_bits": weight.bits} if weight.bits <= numerics.PACKED_BITS else {}
    return {"precision": "int8", **narrow}


def _weight_use(call: relax.Call) -> tuple[Any, ...]:
    """Key of the layers whose weights are rounded together."""
    return op_name(call), int(getattr(call.attrs, "groups", 1)), call.args[1]


class DynamicRealizer:
    """Rewrites the module; `entries` are those of the ledger.

    is_dynamic  activations get scales at run time; else weights alone are quantized
    """

    def __init__(
        self, mod: tvm.IRModule, config: QConfig, *, is_dynamic: bool, rounding: RoundingByData | None = None
    ) -> None:
        self.rewriter = Rewriter(mod)
        self.view = self.rewriter.view
        self.config, self.dynamic = config, is_dynamic
        self.entries: dict[str, dict[str, Any]] = {}
        self._weights: dict[Any, tuple[relax.Expr, np.ndarray]] = {}
        self._groups: dict[Any, tuple[relax.Expr, relax.Expr]] = {}
        self._observer: str | None = None  # of the weight of the layer at hand, where a rule gives one
        self._rounding = rounding
        self._call: tuple[str, relax.Call] | None = None  # the layer at hand
        self._by_data: set[str] = set()  # layers whose weights the data rounded
        self._rounded: set[relax.Expr] = set()  # codes of these weights
        self._codes: dict[tuple[str, int, int], tuple[relax.Var, relax.Var]] = {}

    def run(self) -> tvm.IRModule:
        """Rewrite all bindings."""
        decisions = self._decide_layers()
        for var, value in self.view.bindings:
            self.rewriter.at(var.name)
            decision = decisions.get(var.name)
            by_rule = decision.why if decision and decision.is_float else None
            reason = why_float(value, self.config.activations) or by_rule
            new = self.rewriter.substitute(value)
            if reason is None:
                observer = decision.rule.weight_observer if decision and decision.rule else None
                try:
                    new = self.realize_layer(var, value, new, self._spec(decision), observer)
                except AccumulatorError as error:
                    reason = f"limit: {error.fact}"
            self.rewriter.bind(var, new if isinstance(new, relax.Var) else self.rewriter.emit(new, var.name))
            self._add_entry(var, value, reason, decision)
        return self.rewriter.finish()

    def _decide_layers(self) -> dict[str, Decision]:
        """Decisions of the rules for every operator; indices count operators of one type."""
        count: dict[str, int] = {}
        facts = []
        for var, value in self.view.bindings:
            op = op_name(value) or "tuple"
            index = count[op] = count.get(op, -1) + 1
            macs = multiply_accumulates(value)
            weight = sizes_of(value.args[1]) if macs else ()
            shape = tuple(getattr(var.ty, "shape", None) or ())
            facts.append(LayerFacts(var.name, self.view.sources(var.name), op, macs, weight, shape, index))
        decided = resolve(facts, self.config.rules)
        return {fact.key: self._decide_layer(fact, decided[fact.key]) for fact in facts}

    def _decide_layer(self, layer: LayerFacts, decision: Decision) -> Decision:
        """Decision of the rules for a layer, and of the options where no rule decides."""
        family = family_of_call(self.view.value[layer.key])
        option = why_switched_off(layer, family, self.config) if decision.rule is None else None
        if option is not None and layer.op in WEIGHTED:
            return Decision(None, is_float=True, why=option)
        return reduce_weight_bits(decision, family, layer.weight_shape, self.config)

    def realize_layer(
        self, var: relax.Var, value: relax.Call, new: relax.Call, spec: QuantSpec, observer: str | None = None
    ) -> relax.Expr:
        """A layer with a form here; `new` is its value with new arguments, `spec` and `observer` are its weight's."""
        self._observer, self._call = observer, (var.name, value)
        name = op_name(value)
        if name == "take":
            return self._realize_embedding(var, value, new, spec)
        if name == LOOP and self.dynamic:
            return self._realize_loop(value, new, spec)
        if not is_const(value.args[1]):
            return self._realize_product(var, value, new)
        if not self.dynamic:
            return relax.Call(new.op, [new.args[0], self._dequantize_weight(value, spec), *new.args[2:]], new.attrs)
        return (self._realize_dense if name == "matmul" else self._realize_convolution)(var, value, new, spec)

    def _spec(self, decision: Decision | None) -> QuantSpec:
        return (decision.weights if decision else None) or self.config.weight_spec

    # ---- forms

    def _dequantize_weight(self, value: relax.Call, spec: QuantSpec) -> relax.Expr:
        """The weight as floats, from its codes, at run time."""
        axis = weight_axis(value) if spec.per_channel else -1
        size = self.config.group_size
        if size is not None and op_name(value) in ("matmul", LOOP):
            codes, scale = self._quantize_groups(value.args[1], spec, len(value.args[1].ty.shape) - 2, size)
            return ops.group_dequantize(codes, scale, axis=len(value.args[1].ty.shape) - 2, group_size=size)
        codes, scale = self._quantize_weight(value.args[1], spec, axis)
        zero = relax.const(np.zeros(scale.shape, np.int32))
        return ops.dequantize(codes, relax.const(scale), zero, axis=axis)

    def _realize_embedding(self, var: relax.Var, value: relax.Call, new: relax.Call, spec: QuantSpec) -> relax.Expr:
        """Rows of codes and their scales."""
        rows = QuantSpec(spec.dtype, spec.bits, symmetric=True, per_channel=True)
        size = self.config.group_size
        if size is not None:
            codes, scales = self._quantize_groups(value.args[0], rows, 1, size)
            row_codes = self.rewriter.emit(relax.op.take(codes, new.args[1], axis=0), f"{var.name}_codes")
            scales = self.rewriter.emit(relax.op.take(scales, new.args[1], axis=0), f"{var.name}_scale")
            return ops.group_dequantize(row_codes, scales, axis=len(row_codes.ty.shape) - 1, group_size=size)
        codes, scale = self._quantize_weight(value.args[0], rows, 0)
        row_codes = self.rewriter.emit(relax.op.take(codes, new.args[1], axis=0), f"{var.name}_codes")
        scales = relax.op.take(relax.const(scale.reshape(-1, 1)), new.args[1], axis=0)
        scales = self.rewriter.emit(scales, f"{var.name}_scale")
        return ops.dynamic_dequantize(row_codes, scales, relax.const(np.float32(1)))

    def _realize_dense(self, var: relax.Var, value: relax.Call, new: relax.Call, spec: QuantSpec) -> relax.Expr:
        size = self.config.group_size
        if size is not None and spec.bits <= numerics.PACKED_BITS and len(value.args[1].ty.shape) == 2:
            codes, scale = self._quantize_groups(value.args[1], spec, 0, size)
            x, x_scale = self._quantize_activation(new.args[0], len(new.args[0].ty.shape) - 1, 1)
            return ops.group_matmul(x, x_scale, codes, scale, group_size=size)
        axis = weight_axis(value) if spec.per_channel else -1
        codes, scale = self._quantize_weight(value.args[1], spec, axis)
        self._check_sums(codes, weight_axis(value))
        rank = len(new.args[0].ty.shape)
        x, x_scale = self._quantize_activation(new.args[0], rank - 1, 1)
        sums = self.rewriter.emit(relax.op.matmul(x, codes, out_dtype="int32"), f"{var.name}_sums")
        return ops.dynamic_dequantize(sums, x_scale, relax.const(scale))

    def _realize_product(self, var: relax.Var, _value: relax.Call, new: relax.Call) -> relax.Expr:
        """Two activations: a scale for each row of the left and each column of the right one."""
        a, b = new.args
        left, left_scale = self._quantize_activation(a, len(a.ty.shape) - 1, 1)
        right, right_scale = self._quantize_activation(b, len(b.ty.shape) - 2, 1)
        sums = self.rewriter.emit(ops.matmul(left, right, a_zero=0, b_zero=0), f"{var.name}_sums")
        return ops.dynamic_dequantize(sums, left_scale, right_scale)

    def _realize_loop(self, value: relax.Call, new: relax.Call, spec: QuantSpec) -> relax.Expr:
        """A recurrent layer: codes of the state in each step, a scale for each gate of each hidden unit."""
        codes, scale = self._quantize_weight(value.args[1], spec, 1 if spec.per_channel else -1)
        self._check_sums(codes, 1)
        scales = relax.const(np.ascontiguousarray(np.broadcast_to(scale, int(codes.ty.shape[1]))))
        attributes = {name: getattr(value.attrs, name) for name in OPERATORS[LOOP].attributes}
        return ops.recurrent_codes(new.args[0], codes, *new.args[2:], scales, **attributes)

    def _realize_convolution(self, var: relax.Var, value: relax.Call, new: relax.Call, spec: QuantSpec) -> relax.Expr:
        axis = weight_axis(value) if spec.per_channel else -1
        codes, scale = self._quantize_weight(value.args[1], spec, axis)
        self._check_sums(codes, weight_axis(value))
        spatial = len(value.args[1].ty.shape) - 2
        x, x_scale = self._quantize_activation(new.args[0], 1, spatial + 1)
        sums = self.rewriter.emit(self._sum_convolution(value, x, codes, spatial), f"{var.name}_sums")
        if op_name(value) in TRANSPOSED_CONVOLUTIONS:
            scale = per_output_channel(scale, const_value(value.args[1]).shape, int(value.attrs.groups))
        shape = (1, -1) + (1,) * spatial
        return ops.dynamic_dequantize(sums, x_scale, relax.const(scale.reshape(shape) if scale.ndim else scale))

    def _sum_convolution(self, value: relax.Call, x: relax.Var, codes: relax.Expr, spatial: int) -> relax.Call:
        """int32 sums of a convolution, plain or transposed; padding with 0 is right without zero points."""
        attrs = value.attrs
        whole = {name: [int(v) for v in getattr(attrs, name)] for name in ("strides", "padding", "dilation")}
        if op_name(value) in TRANSPOSED_CONVOLUTIONS:
            outer = [int(v) for v in attrs.output_padding]
            return ops.conv_transpose(x, codes, **whole, output_padding=outer, groups=int(attrs.groups), zero_point=0)
        make = getattr(relax.op.nn, f"conv{spatial}d")
        return make(x, codes, **whole, groups=int(attrs.groups), out_dtype="int32")

    # ---- pieces

    def _quantize_weight(self, weight: relax.Expr, spec: QuantSpec, axis: int) -> tuple[relax.Expr, np.ndarray]:
        """Codes as a constant, and the scale; a weight that several layers share is one constant."""
        key = (weight, spec, axis, self._observer)
        if key not in self._weights:
            channel = axis if axis >= 0 else None
            array = const_value(weight)
            layer = ", ".join(self.rewriter.sources)
            known = constant_qparams(array, spec, channel, self.config, layer, self._observer)
            codes = self._round_by_moments(array, known.scale, spec, grouped=False)
            if codes is None:
                codes = numerics.quantize(
                    array, known.scale, known.zero_point, axis=channel,
                    dtype=spec.dtype, qmin=spec.qmin, qmax=spec.qmax,
                )  # fmt: skip
            self._weights[key] = relax.const(codes), np.asarray(known.scale)
        self._note_rounding(self._weights[key][0])
        return self._weights[key]

    def _quantize_groups(
        self, weight: relax.Expr, spec: QuantSpec, axis: int, size: int
    ) -> tuple[relax.Expr, relax.Expr]:
        """Codes and scales as constants: a scale for each `size` neighbours along an axis."""
        shape, layer = [int(d) for d in weight.ty.shape], ", ".join(self.rewriter.sources)
        if shape[axis] % size:
            raise ConfigError(
                f"quantize_dynamic, layer '{layer}': axis {axis} of its weight {shape} has {shape[axis]} entries, "
                f"which group_size={size} does not divide; use a divisor, or Rule(..., None) to keep the layer in float"
            )
        key = (weight, spec, axis, size, self._observer)
        if key not in self._groups:
            array = np.moveaxis(const_value(weight), axis, -1)
            rows = array.reshape(-1, size)
            known = constant_qparams(rows, spec, 0, self.config, layer, self._observer)
            codes = numerics.quantize(
                rows, known.scale, known.zero_point, axis=0, dtype=spec.dtype, qmin=spec.qmin, qmax=spec.qmax
            )
            scale = known.scale.reshape(*array.shape[:-1], -1)
            both = [np.moveaxis(part, -1, axis) for part in (codes.reshape(array.shape), scale)]
            by_data = self._round_by_moments(const_value(weight), both[1], spec, grouped=True)
            both[0] = both[0] if by_data is None else by_data
            codes, scale = (relax.const(np.ascontiguousarray(part)) for part in both)
            self._groups[key] = codes, scale
        self._note_rounding(self._groups[key][0])
        return self._groups[key]

    def _round_by_moments(
        self, weight: np.ndarray, scale: np.ndarray, spec: QuantSpec, *, grouped: bool
    ) -> np.ndarray | None:
        """Codes of the weight of the layer at hand as its data ask for them; None where nothing is known of them."""
        name, call = self._call or ("", None)
        if self._rounding is None or name not in self._rounding.moments or spec.dtype != "int8":
            return None
        uses, rounded = self._moments_of_weight(call), self._rounding.rounded
        steps = np.asarray(scale, np.float64)
        if grouped:
            codes = round_groups(weight, steps, spec, uses, rounded=rounded)
        else:
            codes = round_shared(call, weight, steps, spec, uses, bias=False, rounded=rounded)[0].codes
        self._by_data |= set() if codes is None else {name}
        return codes

    @cached_property
    def _layers_by_weight(self) -> dict[Any, list[str]]:
        """Layers of known moments that use the same weight."""
        by_weight: dict[Any, list[str]] = {}
        for name in self._rounding.moments if self._rounding is not None else ():
            by_weight.setdefault(_weight_use(self.view.value[name]), []).append(name)
        return by_weight

    def _moments_of_weight(self, call: relax.Call) -> list[Moments]:
        """Moments of the layers that use the weight of a call."""
        assert self._rounding is not None
        return [self._rounding.moments[name] for name in self._layers_by_weight[_weight_use(call)]]

    def _note_rounding(self, codes: relax.Expr) -> None:
        """Note whether data rounded these codes of the layer at hand, if only when another layer got them."""
        name, _ = self._call or ("", None)
        if name in self._by_data:
            self._rounded.add(codes)
        elif codes in self._rounded:
            self._by_data.add(name)

    def _quantize_activation(self, x: relax.Expr, first: int, count: int) -> tuple[relax.Var, relax.Var]:
        """Codes and scale of an activation; readers that reduce the same axes share them."""
        key = (x.name, first, count)
        if key not in self._codes:
            emit = self.rewriter.emit
            scale = emit(ops.dynamic_scale(x, first=first, count=count, largest_code=LARGEST_CODE), f"{x.name}_scale")
            codes = emit(ops.dynamic_quantize(x, scale, largest_code=LARGEST_CODE), f"{x.name}_q")
            self._codes[key] = codes, scale
        return self._codes[key]

    def _check_sums(self, codes: relax.Expr, axis: int) -> None:
        """Refuse weights whose sums could leave int32."""
        array = np.abs(const_value(codes).astype(np.int64))
        largest = int(array.sum(axis=tuple(a for a in range(array.ndim) if a != axis)).max(initial=0)) * LARGEST_CODE
        if largest >= 2**31:
            raise AccumulatorError.of_layer(
                "quantize_dynamic",
                ", ".join(self.rewriter.sources),
                f"sums can reach {largest}, int32 ends at {2**31 - 1}",
                "use fewer bits for its weight, or Rule(..., None) to keep it in float",
            )

    def _add_entry(self, var: relax.Var, value: relax.Expr, reason: str | None, decision: Decision | None) -> None:
        """Add the ledger entry of one operator."""
        name, macs = op_name(value) or "tuple", multiply_accumulates(value)
        entry: dict[str, Any] = {"op": name, "layers": list(self.view.sources(var.name)), "macs": macs}
        integer = reason is None and self.dynamic and name != "take"
        why = reason or (decision.why if decision and decision.rule is not None else None)
        if why is None:
            what = "codes made at run time" if integer else f"int{self._spec(decision).bits} weights, float arithmetic"
            why = f"option activations={self.config.activations!r}: {what}"
        if reason is None:
            entry |= integer_facts(self._spec(decision))
        if var.name in self._by_data:
            entry["weight_rounding"] = "calibrated"
        self.entries[var.name] = entry | {"precision": "int8" if integer else "float", "why": why}
