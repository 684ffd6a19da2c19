"""Pairs of quantize and dequantize as simulated_quantize; dequantized constants as float constants that know their
scale.

Before                                                After
    x_q = quantize(x, s, z)                               x_sq = simulated_quantize(x, s, z)
    p_q = max_pool2d(x_q)                                 p = max_pool2d(x_sq)
    p = dequantize(p_q, s, z)                             c = conv2d(p, float weight)
    w = dequantize(int8 constant, s_w, z_w)
    c = conv2d(p, w)

Every tensor of codes keeps a twin in float. A result that stays codes is the quantized twin: rounding what is rounded
already gives the same codes, so nothing changes in value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import tvm
from tvm import relax
from tvm.ir import GenericConst

from tvmq import numerics
from tvmq.errors import RangeError
from tvmq.graph import ops
from tvmq.graph.operators import where
from tvmq.graph.operators.record import RESHAPE, TRANSPOSE
from tvmq.graph.rewrite import Rewriter
from tvmq.graph.view import const_value, is_const, make_const, op_name
from tvmq.numerics.code_type import CODES_16
from tvmq.numerics.codes import along_axis
from tvmq.numerics.spec import QParams, QuantSpec
from tvmq.passes import OPS
from tvmq.passes.families.conversions import clipped_spec, tensor_qparams
from tvmq.passes.families.weights import qparams_of
from tvmq.passes.fold_constants import fold

BOUNDS = ("maximum", "minimum")
# Operators on codes that copy or compare them and have a family, whatever their rank
MOVES = where(commutes_with_quantize=True) & OPS.keys()


@dataclass(frozen=True, eq=False)
class Twin:
    """The float tensor whose codes another variable holds."""

    var: relax.Var
    qparams: QParams


@dataclass(frozen=True, eq=False)
class Bias:
    """An int32 constant of the model: codes in order, and their scale."""

    codes: np.ndarray
    scale: np.ndarray


class Pairs:
    """Rewrites one module.

    weights  {variable: QParams of its constant second argument} of the result
    biases   {variable: int32 codes and scale of its constant second argument}
    """

    def __init__(self, mod: tvm.IRModule) -> None:
        self.weights: dict[str, QParams] = {}
        self.biases: dict[str, Bias] = {}
        self._rewriter = Rewriter(mod)
        self._twins: dict[str, Twin] = {}
        self._known: dict[GenericConst, QParams] = {}
        self._integers: dict[GenericConst, Bias] = {}
        self._rounded: dict[str, list[Twin]] = {}

    def run(self) -> tvm.IRModule:
        """Rewrite the module as the head of this file shows."""
        view = self._rewriter.view
        for var, value in view.bindings:
            self._rewriter.at(var.name)
            try:
                self._rewriter.bind(var, self._import_value(var.name, self._rewriter.substitute(value)))
            except RangeError as error:
                raise RangeError(f"import_qdq, layer '{', '.join(view.sources(var.name))}': {error}") from error
        return self._rewriter.finish()

    def _import_value(self, name: str, value: relax.Expr) -> relax.Expr:
        if op_name(value) == "tvmq.quantize":
            return self._import_quantize(name, value)
        if op_name(value) == "tvmq.dequantize":
            return self._import_dequantize(name, value)
        folded = self._fold_constant(value)
        if folded is not None:
            return folded
        if self._moves_codes(value):
            return self._move_codes(name, value)
        new = value if isinstance(value, relax.Var) else self._rewriter.emit(value, name)
        if isinstance(value, relax.Call) and len(value.args) > 1 and is_const(value.args[1]):
            known, integers = self._known.get(value.args[1]), self._integers.get(value.args[1])
            if known is not None:
                self.weights[new.name] = known
            if integers is not None:
                self.biases[new.name] = integers
        return new

    # ---- constants

    def _fold_constant(self, value: relax.Expr) -> relax.Expr | None:
        folded = fold(value)
        if folded is not None and is_const(value.args[0]):
            known = self._known.get(value.args[0])
            moved = moved_qparams(known, value) if known is not None else None
            if moved is not None:
                self._known[folded] = moved
            if value.args[0] in self._integers and op_name(value) in where(form=RESHAPE):
                self._integers[folded] = self._integers[value.args[0]]
        return folded

    def _constant(self, call: relax.Call) -> relax.Expr:
        """A dequantized constant as floats; its codes minus the zero point are known where they fit int8."""
        codes, scale, zero = (const_value(arg) for arg in call.args)
        axis = int(call.attrs.axis) if int(call.attrs.axis) >= 0 else None
        result = make_const(numerics.dequantize(codes, scale, zero, axis=axis))
        if codes.dtype == np.int32 and not zero.any():
            self._integers[result] = Bias(codes.reshape(-1), scale)
        centred = codes.astype(np.int64) - along_axis(zero, axis, codes.shape)
        if codes.dtype.name in CODES_16 and (abs(2 * centred + 1) <= 255).all():
            spec = QuantSpec("int8", per_channel=axis is not None)
            self._known[result] = QParams(scale, np.zeros_like(zero), spec, axis)
        return result

    # ---- activations

    def _import_quantize(self, name: str, call: relax.Call) -> relax.Expr:
        attrs = call.attrs
        if all(is_const(arg) for arg in call.args):
            x, scale, zero = (const_value(arg) for arg in call.args)
            axis = int(attrs.axis) if int(attrs.axis) >= 0 else None
            return make_const(numerics.quantize(x, scale, zero, axis=axis, dtype=attrs.dtype))
        qparams = tensor_qparams(call)
        if qparams is None:
            return self._rewriter.emit(call, name)
        x, qparams = self._strip_clip(call.args[0], self._narrow_moved_spec(call.args[0], qparams))
        return self._codes(self._round(x, qparams), qparams, name)

    def _narrow_moved_spec(self, x: relax.Var, qparams: QParams) -> QParams:
        """QParams of fewer codes where the tensor is moved from one of this grid: a quantize behind a move omits it."""
        below: Any = self._rewriter.value_of(x)
        bounds = list[np.ndarray]()
        while op_name(below) in (*MOVES, *BOUNDS) and isinstance(below.args[0], relax.Var):
            if op_name(below) in BOUNDS:
                if not is_const(below.args[1]):
                    return qparams
                bounds.append(const_value(below.args[1]))
            below = self._rewriter.value_of(below.args[0])
        known = qparams_of(below) if op_name(below) == "tvmq.simulated_quantize" else None
        if known is None or not _are_one_grid(known, qparams):
            return qparams
        return known if all(_has_codes(known, bound) for bound in bounds) else qparams

    def _strip_clip(self, x: relax.Var, qparams: QParams) -> tuple[relax.Var, QParams]:
        """Strip a clip that ends at codes of fewer bits, as ONNX files write them: the spec says the same."""
        below: Any = self._rewriter.value_of(x)
        if op_name(below) != "clip":
            return x, qparams
        clip = clipped_spec(qparams, *(float(bound.value) for bound in below.args[1:]))
        if clip is None:
            return x, qparams
        spec, is_whole = clip
        narrower = QParams(qparams.scale, qparams.zero_point, spec, qparams.axis, qparams.tensor)
        return below.args[0] if is_whole else x, narrower

    def _import_dequantize(self, name: str, call: relax.Call) -> relax.Expr:
        q = call.args[0]
        if is_const(q):
            return self._constant(call)
        qparams = tensor_qparams(call)
        twin = self._twins.get(q.name)
        if twin is not None and qparams is not None and _are_one_grid(twin.qparams, qparams):
            return twin.var
        x = self._rewriter.emit(call, name)
        return x if qparams is None else self._round(x, qparams)

    def _round(self, x: relax.Var, qparams: QParams) -> relax.Var:
        """`x` behind a simulated_quantize, one for each scale."""
        below = self._rewriter.value_of(x)
        if op_name(below) == "tvmq.simulated_quantize" and qparams_of(below) == qparams:
            return x
        for twin in self._rounded.get(x.name, []):
            if twin.qparams == qparams:
                return twin.var
        call = ops.simulated_quantize(
            x,
            relax.const(qparams.scale),
            relax.const(qparams.zero_point),
            kind="input" if x.name in self._rewriter.view.params else "activation",
            tensor=x.name,
            dtype=qparams.spec.dtype,
            bits=qparams.spec.bits,
            symmetric=qparams.spec.symmetric,
        )
        var = self._rewriter.emit(call, f"{x.name}_sq")
        self._rounded.setdefault(x.name, []).append(Twin(var, qparams))
        return var

    def _codes(self, x: relax.Var, qparams: QParams, name: str) -> relax.Var:
        """The codes of a rounded tensor."""
        spec = qparams.spec
        scale, zero = relax.const(qparams.scale), relax.const(qparams.zero_point)
        call = ops.quantize(x, scale, zero, dtype=spec.dtype, qmin=spec.qmin, qmax=spec.qmax)
        var = self._rewriter.emit(call, name)
        self._twins[var.name] = Twin(x, qparams)
        return var

    # ---- operators that move codes

    def _sources(self, value: relax.Expr) -> list[relax.Expr]:
        """The tensors that a moving operator reads."""
        if isinstance(value, relax.TupleGetItem):
            return [value.tuple_value]
        if op_name(value) not in MOVES:
            return []
        data = value.args[0]
        return list(data.fields) if isinstance(data, relax.Tuple) else [data]

    def _moves_codes(self, value: relax.Expr) -> bool:
        """True if all it reads are codes of one scale, and it only moves them."""
        source_twins = [self._twins.get(getattr(source, "name", "")) for source in self._sources(value)]
        twins = [twin for twin in source_twins if twin is not None]
        if not twins or len(twins) < len(source_twins) or any(twin.qparams != twins[0].qparams for twin in twins):
            return False
        if op_name(value) != "nn.pad" or value.attrs.pad_mode != "constant":
            return True
        return float(value.attrs.pad_value) == float(twins[0].qparams.zero_point)

    def _move_codes(self, name: str, value: relax.Expr) -> relax.Expr:
        """The operator on the twins, and on the codes for whoever reads those."""
        twins = [self._twins[source.name] for source in self._sources(value)]
        moved = self._rewriter.emit(_rebuild_on_floats(value, [twin.var for twin in twins]), name)
        if not isinstance(moved.ty, tvm.ir.TupleType):
            return self._codes(moved, twins[0].qparams, f"{name}_codes")
        codes = self._rewriter.emit(value, f"{name}_codes")
        self._twins[codes.name] = Twin(moved, twins[0].qparams)
        return codes


def _has_codes(qparams: QParams, values: np.ndarray) -> bool:
    """True where all values lie between those of the lowest and the highest code."""
    steps = np.rint(values / np.float32(qparams.scale)) + int(qparams.zero_point)
    return bool(((steps >= qparams.spec.qmin) & (steps <= qparams.spec.qmax)).all())


def _are_one_grid(codes: QParams, floats: QParams) -> bool:
    """True where codes, of fewer bits perhaps, are turned into floats by their own scale and zero point."""
    same = codes.scale == floats.scale and codes.zero_point == floats.zero_point
    return bool(same) and codes.spec.dtype == floats.spec.dtype


def _rebuild_on_floats(value: relax.Expr, sources: list[relax.Var]) -> relax.Expr:
    if isinstance(value, relax.TupleGetItem):
        return relax.TupleGetItem(sources[0], value.index)
    if op_name(value) == "nn.pad" and value.attrs.pad_mode == "constant":
        return relax.op.nn.pad(sources[0], [int(w) for w in value.attrs.pad_width], pad_value=0.0)
    data = relax.Tuple(sources) if isinstance(value.args[0], relax.Tuple) else sources[0]
    return relax.Call(value.op, [data, *value.args[1:]], value.attrs)


def moved_qparams(known: QParams, call: relax.Call) -> QParams | None:
    """Scales of a weight after its transposition or reshape; None where they do not follow one axis any more."""
    if op_name(call) not in where(form=(RESHAPE, TRANSPOSE)):
        return None
    if known.axis is None:
        return known
    axis = moved_axis(call, known.axis)
    return None if axis is None else QParams(known.scale, known.zero_point, known.spec, axis)


def moved_axis(call: relax.Call, axis: int) -> int | None:
    """Position of an axis of a constant after the operator."""
    old, new = list(const_value(call.args[0]).shape), [int(d) for d in call.ty.shape]
    if op_name(call) == "permute_dims":
        axes = call.attrs.axes
        order = [int(a) for a in axes] if axes is not None else list(range(len(old)))[::-1]
        return order.index(axis)
    before = int(np.prod(old[:axis]))
    for position, size in enumerate(new):
        if size == old[axis] and int(np.prod(new[:position])) == before:
            return position
    return None
