"""Which functions main calls, in order, and what each of them is there for: what a profile needs to name its rows.

Tests: tests/codegen/lower/cuda/test_select.py
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any

import tvm
from tvm import relax

from tvmq.graph.analysis.float_region_costs import multiply_accumulates
from tvmq.graph.names import merge
from tvmq.graph.view import View, dtype_of, op_name
from tvmq.numerics.code_type import CODES_8
from tvmq.runtime.artifact.model_description import CallDescription

CALLS = ("call_tir", "call_dps_packed")


@dataclass(frozen=True)
class CallOrigin:
    """Operators that were lowered together.

    layers  their names in the source
    macs    multiply-accumulates, of one sample where the batch is dynamic
    dtype   of the operands of the product: "int8", "int16" or "float32"; empty where nothing is multiplied
    """

    layers: tuple[str, ...]
    macs: int
    dtype: str


@dataclass(frozen=True)
class MainCall:
    """A call: name of the function, and the variables of the module whose operators it computes."""

    function: str
    variables: tuple[str, ...]


def origin_of(view: View, members: Sequence[str]) -> CallOrigin:
    """Layers, work and element type of a chain of bindings."""
    values = [view.value[name] for name in members]
    counts = [multiply_accumulates(value) for value in values]
    head = values[counts.index(max(counts))]
    dtype = dtype_of(head.args[0]) if max(counts) else ""
    dtype = "int8" if dtype in CODES_8 else dtype
    return CallOrigin(merge(*(view.sources(name) for name in members)), sum(counts), dtype)


def main_calls(
    mod: tvm.IRModule, members: Mapping[str, tuple[str, ...]], function: str = "main"
) -> tuple[MainCall, ...]:
    """The calls of main in order, of a module whose operators are functions of loops.

    members  {variable of main: variables that its call computes}, see fused_origins.py
    """
    return tuple(
        MainCall(_callee(call), members.get(var.name, (var.name,)))
        for var, call in _bindings(mod[function])
        if isinstance(call, relax.Call) and op_name(call) in CALLS
    )


def describe_calls(
    calls: Sequence[MainCall],
    origins: Mapping[str, CallOrigin],
    unaligned: Sequence[int],
    common: Mapping[str, CallDescription] = MappingProxyType({}),
) -> CallDescription:
    """The calls of main for a profile; origins: by variables of the lowered module."""
    known: dict[CallOrigin, int] = {}
    functions = []
    for call in calls:
        origin = _join_origins([origins[name] for name in call.variables if name in origins])
        functions.append([call.function, known.setdefault(origin, len(known))])
    return CallDescription(functions, [asdict(origin) for origin in known], unaligned, common)


def _join_origins(origins: Sequence[CallOrigin]) -> CallOrigin:
    """Join origins: the names of all, the work of the heaviest, of which the others are the tail."""
    distinct = list(dict.fromkeys(origins))
    if len(distinct) == 1:
        return distinct[0]
    heaviest = max(distinct, key=lambda origin: origin.macs, default=CallOrigin((), 0, ""))
    return CallOrigin(merge(*(origin.layers for origin in distinct)), heaviest.macs, heaviest.dtype)


def _bindings(func: Any) -> Iterator[tuple[relax.Var, relax.Expr]]:
    if isinstance(func, relax.Function) and isinstance(func.body, relax.SeqExpr):
        for block in func.body.blocks:
            for binding in block.bindings:
                yield binding.var, getattr(binding, "value", None)


def _callee(call: relax.Call) -> str:
    """Name of the function that call_tir or call_dps_packed calls."""
    callee = call.args[0]
    return str(callee.name_hint if isinstance(callee, tvm.ir.GlobalVar) else callee.global_symbol)
