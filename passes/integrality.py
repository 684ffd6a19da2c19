"""Is the core of a module integer only? What is not, why, and what would make it so.

A core is fully integral if no operator in it reads or gives a float, constants included, if each is one that this
file knows to compute in integers, and if what enters and leaves it are integers (or booleans). Behind the core may
stand what makes results of its codes one by one: dequantize, tables, what moves values, and the last functions of a
network (softmax, sigmoid, argmax, ...), as long as no sum or product of tensors is among them.

Tests: tests/passes/test_partition_conversions.py
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import tvm
from tvm import relax

from tvmq.graph.analysis.integer_core import MOVES, element_types, regions
from tvmq.graph.ledger import get_ledger
from tvmq.graph.names import merge
from tvmq.graph.operators import where
from tvmq.graph.operators.record import CONVERSION, MOVE, ORDER, SOFTMAX
from tvmq.graph.view import View, is_const, op_name, used_vars
from tvmq.options.config import OPTION_HELP

CONVERSIONS = ("tvmq.quantize", "tvmq.dequantize")
# Standard operators that compute in integers if all that they read and give is integer; ours (tvmq.*) all do.
INTEGER = where(integer=True, is_own=False)
# What may stand behind the core: functions of one tensor.
LAST = where(elementwise=True) | where(kind=(MOVE, SOFTMAX, ORDER)) | {"tvmq.dequantize", "tvmq.table"}


@dataclass(frozen=True)
class FloatOperator:
    """An operator that keeps a core from being integral.

    variable    that it computes
    layers      names in the source
    op, dtype   operator, and the floats that it reads or gives
    place       "core", or "suffix" for what stands behind the core
    why         what decided, as the ledger says it
    remedy      what would make it integer
    """

    variable: str
    layers: tuple[str, ...]
    op: str
    dtype: str
    place: str
    why: str
    remedy: str

    def __str__(self) -> str:
        where = "" if self.place == "core" else " behind the core"
        return f"layer '{', '.join(self.layers)}'{where}: {self.op} in {self.dtype} ({self.why}); {self.remedy}"


@dataclass(frozen=True)
class Integrality:
    """Composition of the integer core.

    floats       the operators that keep it from being integral, in the order of the module
    conversions  quantize and dequantize inside of the core
    operators    {element type of the result: how many operators of the core}; "float..." for all that reads floats
    entry, exit  {variable: element type} of what the core takes and gives
    last         operators of the suffix that are more than conversions: (operator, layers)
    """

    floats: tuple[FloatOperator, ...]
    conversions: int
    operators: Mapping[str, int]
    entry: Mapping[str, str]
    exit: Mapping[str, str]
    last: tuple[tuple[str, tuple[str, ...]], ...]

    @property
    def is_integral(self) -> bool:
        """True if the core has no float, entry and exit included."""
        ends = (*self.entry.values(), *self.exit.values())
        return not self.floats and not self.conversions and not any("float" in dtype for dtype in ends)

    def reasons(self) -> list[str]:
        """Reasons why the core is not integral, one line for each operator, input and output."""
        sides = (("takes", self.entry), ("gives", self.exit))
        ends = [f"'{n}': the core {verb} {d}" for verb, side in sides for n, d in side.items() if "float" in d]
        return [*map(str, self.floats), *ends]

    def to_dict(self) -> dict[str, Any]:
        """Fields as JSON can hold them."""
        return {
            "integral": self.is_integral,
            "operators": dict(self.operators),
            "entry": dict(self.entry),
            "exit": dict(self.exit),
            "reasons": self.reasons(),
        }

    def __str__(self) -> str:
        ends = " to ".join(", ".join(dict.fromkeys(side.values())) or "nothing" for side in (self.entry, self.exit))
        count = sum(self.operators.values())
        if self.is_integral:
            names = ", ".join(f"{op.split('.')[-1]} '{', '.join(layers)}'" for op, layers in self.last)
            behind = f"; dequantize_outputs ends with {names} in floats" if names else ""
            return f"quantized_main computes in integers only: {count} operators, {ends}{behind}"
        kinds = Counter(f.op for f in self.floats)
        listed = ", ".join(f"{op} ({n})" if n > 1 else op for op, n in kinds.items())
        plural = "s" if self.conversions > 1 else ""
        around = f" and {self.conversions} conversion{plural} around them" if self.conversions else ""
        return f"quantized_main is not fully integral: {listed or 'its ends'}{around}, {ends}"


def integrality(mod: tvm.IRModule) -> Integrality:
    """Composition of the core of a realized module, in one function or in four.

    mod      an integer module, as `quantize` returns it
    returns  what is float in it and why, and the types that it reads and returns; `print` shows a sentence
    """
    view = View(mod)
    core_regions, layers = regions(view), get_ledger(mod).layers
    tell = _FloatReasons(view, layers, get_ledger(mod).config)
    inside = [name for name in core_regions.core if _is_not_integer(view, name)]
    behind = [name for name in core_regions.suffix if not _may_be_last(view, name)]
    floats = [tell.float_operator(name, "core") for name in inside if not _converts(view, name)]
    floats += [tell.float_operator(name, "suffix") for name in behind]
    last = [name for name in core_regions.suffix if name not in behind and op_name(view.value[name]) not in _SILENT]
    return Integrality(
        tuple(floats),
        sum(_converts(view, name) for name in core_regions.core),
        Counter(_kind(view, name) for name in core_regions.core),
        {name: _dtype(view.var[name]) for name in core_regions.entries},
        {name: _dtype(view.var[name]) for name in core_regions.exits},
        tuple((op_name(view.value[name]), view.sources(name)) for name in last),
    )


_SILENT = where(kind=(MOVE, CONVERSION)) | {"tvmq.table", ""}


def _converts(view: View, name: str) -> bool:
    return op_name(view.value[name]) in CONVERSIONS


def _dtype(expr: relax.Expr) -> str:
    return ", ".join(dict.fromkeys(element_types(expr)))


def _kind(view: View, name: str) -> str:
    """Element type of a result, or the floats that make it."""
    return _float_type(view.value[name], view.var[name]) or _dtype(view.var[name]) or "shape"


def _float_type(value: relax.Expr, var: relax.Var) -> str:
    """The float type that an operator gives or reads; "" if there is none."""
    for expr in (var, *_parts(value)):
        for dtype in element_types(expr):
            if "float" in dtype:
                return dtype
    return ""


def _parts(value: relax.Expr) -> list[relax.Expr]:
    """All tensors that an expression reads."""
    if isinstance(value, relax.Call):
        return [part for arg in value.args for part in _parts(arg)]
    if isinstance(value, relax.Tuple):
        return [part for item in value.fields for part in _parts(item)]
    if isinstance(value, relax.TupleGetItem):
        return [value.tuple_value]
    return [value] if isinstance(value, relax.Var) or is_const(value) else []


def _is_not_integer(view: View, name: str) -> bool:
    """True for a float operator, and for one that is not known to compute in integers."""
    value = view.value[name]
    op = op_name(value)
    if _float_type(value, view.var[name]):
        return True
    if op == "image.resize2d":
        return str(value.attrs.method) != "nearest_neighbor"
    return isinstance(value, relax.Call) and not (op in INTEGER or op.startswith("tvmq."))


def _may_be_last(view: View, name: str) -> bool:
    """True for functions of one tensor behind the core."""
    value = view.value[name]
    if not isinstance(value, relax.Call):
        return True
    op = op_name(value)
    return op in LAST and (len(used_vars(value)) <= 1 or op in MOVES)


class _FloatReasons:
    """Reasons why operators are float, from the ledger."""

    def __init__(self, view: View, layers: Mapping[str, Mapping[str, Any]], options: Mapping[str, Any]) -> None:
        self.view, self.options = view, options
        self.own = {name: str(entry["why"]) for name, entry in layers.items() if entry["precision"] == "float"}
        self.by_source = {source: why for name, why in self.own.items() for source in merge(layers[name]["layers"])}

    def float_operator(self, name: str, place: str) -> FloatOperator:
        """The line about the operator that computes a variable."""
        value, sources = self.view.value[name], self.view.sources(name)
        op, dtype = op_name(value), _float_type(value, self.view.var[name]) or "an unknown way"
        why = self.own.get(name) or next((self.by_source[s] for s in sources if s in self.by_source), "")
        if op == "tvmq.requantize":
            why = "option requantize='float': the sums are scaled by a float32 product"
        remedy = _remedy(op, why, self.options)
        option = _open_option(op, self.options)
        unsaid = f"option {option[0]} is not set to {option[1]!r}" if option else "no layer that was decided about"
        return FloatOperator(name, sources, op, dtype, place, why or unsaid, remedy)


# Operator -> the option that gives it an integer form, and its value; those that exist and are not given are named.
OPTIONS = {
    "softmax": ("integer_softmax", True),
    "layer_norm": ("integer_layer_norm", True),
    "rms_norm": ("integer_layer_norm", True),
    "requantize": ("requantize", "fixed_point"),
}
STREAM = ("residual_streams", "int16")
NOTHING = "it has no integer form: replace it in the model, or use partition_conversions='enabled'"


def _open_option(op: str, options: Mapping[str, Any]) -> tuple[str, Any] | None:
    """The option that would give an operator an integer form; None where there is none, or it is given."""
    option = OPTIONS.get(op.split(".")[-1])
    return option if option and option[0] in OPTION_HELP and options.get(option[0]) != option[1] else None


def _remedy(op: str, why: str, options: Mapping[str, Any]) -> str:
    """Advice that makes an operator integer; `options` are those of the quantization."""
    option = _open_option(op, options)
    if "reads this sum" in why or "stays float for the normalization" in why:
        option = STREAM if options.get(STREAM[0]) != STREAM[1] else None
    if why.startswith("rule "):
        return f"take the {why} out"
    if option:
        return f"use qconfig({option[0]}={option[1]!r})"
    if why.startswith("limit: backend "):
        return "replace it in the model, or quantize for a backend that has it"
    if why.startswith("option "):
        return f"leave {why.partition(':')[0]} out"
    if why.startswith("default: ") and options.get("partition_conversions") != "fully_integral":
        return "qconfig(partition_conversions='fully_integral') makes it integer"
    if why.startswith("default: "):
        return "it follows what stands beside it"
    return NOTHING
