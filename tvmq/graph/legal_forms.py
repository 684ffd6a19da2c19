"""Legal forms of a module as data: which operators, types and annotations may stand in it after each stage.

    PREPARED     operators on floats; what a quantized model brought along keeps its types
    PARTITIONED  the same module; every member of a group in the ledger is one of its variables
    ANNOTATED    simulated_quantize of unknown scale at activations and constant weights
    CALIBRATED   each of these has its scale
    REALIZED     operators on codes; no simulated_quantize is left

A law is a sentence and a predicate of one call. `check_form` runs after each pass: its error names the pass that broke
a law, not the kernel that met the call later.

Tests: tests/quantization/test_stages.py
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import tvm
from tvm import relax

from tvmq.errors import StageError
from tvmq.graph.ledger import get_ledger
from tvmq.graph.operators import OPERATORS, where
from tvmq.graph.operators.record import CONVOLUTION, PRODUCT, RESIZE, SCATTER
from tvmq.graph.view import View, const_value, dtype_of, is_const, op_name
from tvmq.numerics.code_type import CODES_8

Law = tuple[str, Callable[[relax.Call], bool]]
Laws = Mapping[str, tuple[Law, ...]]

SIMULATED = frozenset({"tvmq.simulated_quantize"})
FLOAT = where(is_own=True, integer=False) | where(is_own=True, kind=(RESIZE, SCATTER))
OWN = where(is_own=True) - SIMULATED


@dataclass(frozen=True)
class LegalForm:
    """Form that a module has after a stage.

    stage       of its ledger
    laws        {operator: what holds of each call of it}
    has_groups  members of the ledger's groups are variables of the module
    interface   inputs and results keep their types; those of states become codes in one stage
    """

    stage: str
    laws: Laws
    has_groups: bool = False
    interface: bool = True


def _has_constants(call: relax.Call) -> bool:
    """True for a constant scale and zero point (or multiplier and shift), one or one a channel."""
    axis = int(call.attrs.axis)
    shape = (int(call.args[0].ty.shape[axis]),) if axis >= 0 else ()
    return all(is_const(arg) and const_value(arg).shape == shape for arg in call.args[1:])


def _is_within_type(call: relax.Call) -> bool:
    limits = np.iinfo(call.attrs.dtype)
    return bool(limits.min <= call.attrs.qmin <= call.attrs.qmax <= limits.max)


def _is_integer(expr: relax.Expr) -> bool:
    return "int" in dtype_of(expr)


def _is_table(call: relax.Call) -> bool:
    q, values = call.args
    return dtype_of(q) in CODES_8 and [int(size) for size in values.ty.shape] == [256]


def _scales(call: relax.Call) -> np.ndarray:
    return const_value(call.args[1])


WITHIN_TYPE: Law = ("qmin..qmax lie in their type, in this order", _is_within_type)
CONSTANTS: Law = ("both constants have one value, or one a channel", _has_constants)
ON_CODES: Laws = {
    **{name: (WITHIN_TYPE,) for name in OWN if "qmin" in OPERATORS[name].attributes},
    "tvmq.quantize": (WITHIN_TYPE, ("it reads float32", lambda call: dtype_of(call.args[0]) == "float32")),
    "tvmq.dequantize": (("it reads integers", lambda call: _is_integer(call.args[0])),),
    "tvmq.requantize": (WITHIN_TYPE, CONSTANTS, ("it reads integers", lambda call: _is_integer(call.args[0]))),
    "tvmq.table": (("it has 256 entries and reads 8-bit codes", _is_table),),
    **dict.fromkeys(
        where(kind=(CONVOLUTION, PRODUCT), is_own=False),
        (("products of integers are int32", lambda c: not _is_integer(c.args[0]) or "int8" not in dtype_of(c)),),
    ),
}
WATCHED: tuple[Law, ...] = (
    CONSTANTS,
    ("it reads float32", lambda call: dtype_of(call.args[0]) == "float32"),
    ("its codes fit into their type", lambda call: 1 <= call.attrs.bits <= np.iinfo(call.attrs.dtype).bits),
    ("that of a weight reads a constant", lambda call: call.attrs.kind != "weight" or is_const(call.args[0])),
)
UNKNOWN: Law = ("its scale is unknown, 0", lambda call: not _scales(call).any())
KNOWN: Law = ("its scale is positive and finite", lambda c: bool(((_scales(c) > 0) & np.isfinite(_scales(c))).all()))
REPLACED: Law = ("none is left", lambda call: False)

PREPARED = LegalForm("prepared", ON_CODES)
PARTITIONED = LegalForm("partitioned", ON_CODES, has_groups=True)
ANNOTATED = LegalForm("annotated", {**ON_CODES, **dict.fromkeys(SIMULATED, (*WATCHED, UNKNOWN))}, has_groups=True)
CALIBRATED = LegalForm("calibrated", {**ON_CODES, **dict.fromkeys(SIMULATED, (*WATCHED, KNOWN))}, has_groups=True)
REALIZED = LegalForm("realized", {**ON_CODES, **dict.fromkeys(SIMULATED, (REPLACED,))})
REALIZED_STATE = replace(REALIZED, interface=False)


def check_form(caller: str, before: tvm.IRModule, after: Any, form: LegalForm, adds: frozenset[str] = OWN) -> None:
    """Check the module that a pass returned; calls that were illegal in the one it was given are not its fault.

    caller  beginning of the messages
    adds    operators of ours that the pass may add; others have been there before
    raises  StageError, whose message names the pass, the variable and the law that it breaks
    """
    if not isinstance(after, tvm.IRModule):
        raise StageError(f"{caller}: it gave a {type(after).__name__}; return the IRModule")
    ledger = get_ledger(after)
    if ledger.stage != form.stage:
        raise StageError(
            f"{caller}: it gave a module that is '{ledger.stage}', not '{form.stage}'; "
            "keep the attributes of the module it was given, as tvmq.extension.rewrite does"
        )
    if after is before:
        return
    try:
        relax.analysis.well_formed(after)
    except Exception as error:  # TVM raises errors of many classes
        raise StageError(f"{caller}: its module is not well formed: {error}") from error
    view, known = View(after), View(before)
    was, now = _interface(known), _interface(view)
    if form.interface and was != now and get_ledger(before).stage != "imported":
        raise StageError(f"{caller}: inputs and results were {was}, now they are {now}; keep them")
    legal = adds | {op_name(value) for _, value in known.bindings}
    same_laws = get_ledger(before).stage == form.stage
    for var, value in view.bindings:
        name = op_name(value)
        if name.startswith("tvmq.") and name not in legal:
            raise StageError(f"{caller}: '{var.name}' is a {name}, which this pass must not add; leave it to its stage")
        for sentence, holds in form.laws.get(name, ()):
            old = known.value.get(var.name) if same_laws else None
            was_illegal = isinstance(old, relax.Call) and op_name(old) == name and not holds(old)
            if not holds(value) and not was_illegal:
                raise StageError(
                    f"{caller}: '{var.name}' is no legal {name} of a '{form.stage}' module, where {sentence}; "
                    "this pass broke it"
                )
    members = {m for entry in ledger.layers.values() for m in entry.get("members", ()) if entry["precision"] == "int8"}
    if form.has_groups and (missing := sorted(members - view.value.keys())):
        raise StageError(f"{caller}: '{missing[0]}' is in a group of the ledger and not in the module; keep its name")


def _interface(view: View) -> str:
    """Types of inputs and results."""
    return f"{', '.join(str(param.ty) for param in view.func.params)} -> {view.func.body.ty}"
