"""Operators that a lowering of the user's takes, as calls of its function, symbol or generated code.

Before                                            After
    a = nn.conv2d(x, w)                               y = call_tir(own_function, (x, w, b, m, s))      or
    b = add(a, bias)                                  y = call_dps_packed("symbol", (x, ...))
    y = tvmq.requantize(b, m, s)

The module that rules see has one opaque call in the place of these operators, so that no chain takes a part of them.

Tests: tests/codegen/custom_lowering/test_libraries.py
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import tvm
import tvm_ffi
from tvm import relax, tirx

from tvmq.codegen.custom_lowering.generated_functions import generated_function
from tvmq.codegen.custom_lowering.lowering import Codegen, Extern, Lowering
from tvmq.codegen.custom_lowering.selection import LoweringMatch, Selection, select
from tvmq.codegen.kernels.parts.kernel_types import Kernel
from tvmq.codegen.kernels.parts.work import KernelWork
from tvmq.codegen.lower.main_calls import CallOrigin, origin_of
from tvmq.codegen.schedule.generic import is_scheduled, schedule_function
from tvmq.graph.rewrite import Rewriter, rewrite
from tvmq.graph.view import View, dtype_of

if TYPE_CHECKING:
    from tvmq.codegen.lower.lowerer import Lowerer

OPAQUE = "tvmq.lowered"


@dataclass(frozen=True, eq=False)
class CustomCall:
    """Operators of one lowering of the user, and the layer and work that they stand for."""

    hit: LoweringMatch
    origin: CallOrigin


def with_lowerings(
    mod: tvm.IRModule, lowerings: Sequence[Lowering], composites: Sequence[tuple[Lowering, Sequence[str]]] = ()
) -> tuple[tvm.IRModule, dict[str, CustomCall], Selection]:
    """The module for the rules; {variable: what it stands for}; and the selection.

    composites  see selection.select
    """
    view = View(mod)
    selection = select(view, lowerings, composites)
    custom_calls = {name: CustomCall(hit, origin_of(view, hit.members)) for name, hit in selection.matches.items()}

    def visit(_rewriter: Rewriter, var: relax.Var, _value: relax.Expr) -> relax.Expr | None:
        hit = selection.matches.get(var.name)
        if hit is None:
            return None
        inputs = relax.Tuple([_rewriter.substitute(x) for x in hit.match.inputs])
        return relax.op.call_dps_packed(OPAQUE, inputs, var.ty)

    return (rewrite(mod, visit) if custom_calls else mod), custom_calls, selection


def lower_custom_call(lowerer: Lowerer, name: str, custom_call: CustomCall) -> None:
    """Emit the call that computes `name`."""
    hit, match = custom_call.hit, custom_call.hit.match
    inputs = [lowerer.logical(var.name) for var in match.inputs]
    to, out = hit.lowering.to, match.result.ty
    if hit.loops is not None:
        kernel = _kernel(lowerer, custom_call)
        value = lowerer.call(kernel, inputs, list(out.shape), dtype_of(match.result), name)
        symbol = str(lowerer.functions[kernel.key].name_hint)
    else:
        if isinstance(to, Codegen):
            symbol = lowerer.new_symbol(f"{to.name}_{hit.lowering.symbol}")
            lowerer.generated[symbol] = generated_function(hit, symbol)
        else:
            assert isinstance(to, Extern)
            symbol = to.symbol
            inputs += [lowerer.constant(array) for array in match.constants]
        value = lowerer.emit(relax.op.call_dps_packed(symbol, relax.Tuple(inputs), out), name)
        lowerer.kernel_names[value.name] = hit.lowering.name
    lowerer.give_logical(name, value)
    lowerer.lowered_calls.append({**describe(hit), "symbol": symbol})


def describe(hit: LoweringMatch) -> dict[str, Any]:
    """Plain data for the manifest: what explain lists and verify compares."""
    match = hit.match
    return {
        "lowering": hit.lowering.name,
        "kind": hit.lowering.kind,
        "layers": list(match.layers),
        "operators": list(match.operators),
        "inputs": [var.name for var in match.inputs],
        "result": match.result.name,
    }


def _kernel(lowerer: Lowerer, custom_call: CustomCall) -> Kernel:
    """The user's function as one of our kernels; its loops are scheduled where it does not say that they are."""
    hit = custom_call.hit
    assert hit.loops is not None
    func = hit.loops.func
    key = ("lowering", hit.lowering.name, int(tvm_ffi.structural_hash(func)))
    if key not in lowerer.functions and isinstance(func, tirx.PrimFunc) and not is_scheduled(func):
        func = schedule_function(func, lowerer.isa.vector_bytes)
    work = KernelWork(hit.lowering.name, macs=custom_call.origin.macs, is_int8=custom_call.origin.dtype == "int8")
    return Kernel(hit.lowering.symbol, func, hit.loops.constants, key, hit.lowering.kind, work=work)
