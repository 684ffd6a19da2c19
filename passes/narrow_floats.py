"""Round what float operators read and give to float16 or bfloat16, where the backend computes them in it.

Before                                            After, "computes": "float16"
    y = sigmoid(x)                                    y_wide = sigmoid(x_narrow)
                                                      y = astype(astype(y_wide, "float16"), "float32")
                                                  After, "computes": "bfloat16"
                                                      y = tvmq.round_floats(y_wide, dtype="bfloat16")

Needs     a realized module.
Leaves    operators on integers, and the scales of quantize and dequantize; those that a backend computes in float32.
Numerics  numerics/narrow_float_types.py for constants, inputs, results; the operators are those of float32. Casts to
          float16 are instructions where the CPU has them (vcvtps2ph of F16C, vcvtps2phx of AVX512-FP16); TVM's casts
          to bfloat16 do not compile, and an operator of ours rounds the bits.
"""

from __future__ import annotations

from typing import Any

import tvm
from tvm import relax

from tvmq.backends import backend_named
from tvmq.backends.description import Backend
from tvmq.graph import ops
from tvmq.graph.ledger import get_ledger, require_stage, with_ledger
from tvmq.graph.rewrite import Rewriter
from tvmq.graph.view import View, const_value, dtype_of, is_const, op_name, sizes_of
from tvmq.numerics.narrow_float_types import NARROW, round_floats

CONVERSIONS = ("tvmq.quantize", "tvmq.dequantize")
CONVOLUTIONS = ("nn.conv1d", "nn.conv2d", "nn.conv3d")


def narrow_floats(mod: tvm.IRModule, backend: Backend | None = None) -> tvm.IRModule:
    """The module with roundings for the operators that a backend computes in 16 bits; itself where there are none.

    backend  None: the portable CPU, which computes in float32
    """
    ledger = require_stage(mod, "narrow_floats", ("realized",))
    backend = backend or backend_named(None)
    if not {backend.float_type, *(entry.computes for entry in backend.operators)} & set(NARROW):
        return mod
    narrowing = _Narrowing(mod, backend)
    result = narrowing.run()
    for dtype, count in sorted(narrowing.counts.items()):
        ledger.notes.append(f"narrow_floats: backend {backend.name}: {count} operators in {dtype}, by roundings")
    return with_ledger(result, ledger)


class _Narrowing:
    """Rewrites a module; `counts` says how many operators compute in a narrower type."""

    def __init__(self, mod: tvm.IRModule, backend: Backend) -> None:
        self.rewriter, self.backend = Rewriter(mod), backend
        self.view: View = self.rewriter.view
        self.operators: dict[tuple[str, ...], str] = {}  # of the layers of these names the first
        for entry in get_ledger(mod).layers.values():
            self.operators.setdefault(tuple(entry.get("layers", ())), str(entry["op"]))
        self.calls: dict[tuple[str, ...], list[relax.Expr]] = {}
        for var, value in self.view.bindings:
            self.calls.setdefault(self.view.sources(var.name), []).append(value)
        self.counts: dict[str, int] = {}
        self._rounded: dict[tuple[str, str], relax.Expr] = {}  # (new variable, type): the same, rounded
        self._in: dict[str, str] = {}  # type that a new variable is rounded to

    def run(self) -> tvm.IRModule:
        """Rewrite all bindings."""
        for var, value in self.view.bindings:
            self.rewriter.at(var.name)
            new = self.rewriter.substitute(value)
            dtype = self._type_of(var, value) if isinstance(value, relax.Call) else "float32"
            if dtype not in NARROW:
                self.rewriter.bind(var, self.rewriter.emit(new, var.name))
                continue
            self.counts[dtype] = self.counts.get(dtype, 0) + 1
            if op_name(value) not in CONVERSIONS:
                args = [self._round_argument(arg, dtype) for arg in new.args]
                new = relax.Call(new.op, args, new.attrs, new.ty_args, new.span)
            if not _is_float(var):
                self.rewriter.bind(var, self.rewriter.emit(new, var.name))
                continue
            wide = self.rewriter.emit(new, f"{var.name}_wide")
            self.rewriter.bind(var, self._round_to_type(wide, dtype, var.name))
        return self.rewriter.finish()

    def _type_of(self, var: relax.Var, value: relax.Call) -> str:
        """Float type that the backend computes a layer in; float32 for what reads and gives no floats."""
        touches = [arg for arg in (var, *value.args) if _is_float(arg)]
        if not touches or (op_name(value) in CONVERSIONS and not _is_float(var)):
            return "float32"
        names = self.view.sources(var.name)
        same = self.calls[names]
        operator = self.operators.get(names) or op_name(same[-1])
        entry = self.backend.entry(operator, depthwise=any(map(_is_depthwise, same)))
        return entry.computes if entry is not None and entry.computes != "integer" else self.backend.float_type

    def _round_argument(self, expr: relax.Expr, dtype: str) -> relax.Expr:
        """An argument, rounded unless it is already."""
        if isinstance(expr, relax.Tuple):
            return relax.Tuple([self._round_argument(item, dtype) for item in expr.fields])
        if not _is_float(expr):
            return expr
        if is_const(expr):
            return relax.const(round_floats(const_value(expr), dtype))
        if self._in.get(expr.name) == dtype:
            return expr
        if (expr.name, dtype) not in self._rounded:
            self._rounded[expr.name, dtype] = self._round_to_type(expr, dtype, f"{expr.name}_rounded")
        return self._rounded[expr.name, dtype]

    def _round_to_type(self, expr: relax.Expr, dtype: str, name: str) -> relax.Var:
        """float32 rounded to the type."""
        if dtype == "bfloat16":
            rounded = ops.round_floats(expr, dtype=dtype)
        else:
            rounded = relax.op.astype(self.rewriter.emit(relax.op.astype(expr, dtype), f"{name}_{dtype}"), "float32")
        result = self.rewriter.emit(rounded, name)
        self._in[result.name] = dtype
        return result


def _is_float(expr: Any) -> bool:
    return isinstance(getattr(expr, "ty", None), relax.TensorType) and dtype_of(expr) == "float32"


def _is_depthwise(call: relax.Expr) -> bool:
    return op_name(call) in CONVOLUTIONS and int(call.attrs.groups) > 1 and sizes_of(call.args[1])[1] == 1
