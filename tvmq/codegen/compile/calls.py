"""Which calls the compiled main function makes, one after the other, and what each of them reads and writes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import tvm
from tvm import relax

from tvmq.codegen.compile.fused_origins import bindings, match_operators
from tvmq.codegen.compile.vm_pipeline import OPT_LEVEL, group_operators, legalize
from tvmq.codegen.schedule.generic import KERNEL
from tvmq.codegen.target.cpu import CpuTarget
from tvmq.graph.view import flatten_tuples, is_const

Tensor = tuple[tuple[int, ...], str]
DYNAMIC_SIZE = 1  # what a dimension that only a run tells counts as


@dataclass(frozen=True)
class KernelCall:
    """A call of one function of machine code.

    var        variable of the lowered module that it computes
    members    all variables of the lowered module that it computes, in order; those before the last are never stored
    symbol     of the function before loops are fused; calls of one symbol do the same work
    kernel     name of the template's kernel; "" for the generic schedule
    inputs     shape and type of each tensor that is read, constants apart
    constants  of weights and the like
    outputs    of the results
    """

    var: str
    members: tuple[str, ...]
    symbol: str
    kernel: str
    inputs: tuple[Tensor, ...]
    constants: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]


def calls_of(lowered: tvm.IRModule, target: CpuTarget) -> list[KernelCall]:
    """The calls of main, in the order of execution; views of memory are none.

    lowered  as `lower_functions` gives it
    """
    with target.as_tvm(**OPT_LEVEL), tvm.transform.PassContext(opt_level=3):
        plain = legalize(lowered)
        fused = group_operators(plain)
    members = match_operators(plain, fused)
    return [
        _call(fused, var, value, members.get(var.name, (var.name,)))
        for var, value in bindings(fused["main"])
        if _symbol(fused, value)
    ]


def _call(fused: tvm.IRModule, var: relax.Var, value: relax.Call, members: tuple[str, ...]) -> KernelCall:
    symbol = _symbol(fused, value)
    kernel = _kernel(fused, symbol)
    args = _arguments(value)
    constants = [_tensor(arg.ty) for arg in args if is_const(arg)]
    inputs = [_tensor(arg.ty) for arg in args if isinstance(arg, relax.Var)]
    if not _is_call_tir(value):  # constants stand inside of the fused function
        constants += _constants_inside(fused[value.op])
    return KernelCall(
        members[-1],
        members,
        symbol,
        kernel,
        tuple(t for t in inputs if t is not None),
        tuple(t for t in constants if t is not None),
        tuple(_tensors(var.ty)),
    )


def _constants_inside(func: relax.Function) -> list[Tensor | None]:
    args = [arg for _, value in bindings(func) if _is_call_tir(value) for arg in _arguments(value)]
    return [_tensor(arg.ty) for arg in args if is_const(arg)]


def _is_call_tir(value: relax.Expr) -> bool:
    return isinstance(value, relax.Call) and isinstance(value.op, tvm.ir.Op) and value.op.name == "relax.call_tir"


def _symbol(fused: tvm.IRModule, value: relax.Expr) -> str:
    """Name of the called function of loops, or of a group of them; "" for views and projections."""
    if _is_call_tir(value):
        return str(value.args[0].name_hint)
    if isinstance(value, relax.Call) and isinstance(value.op, tvm.ir.GlobalVar):
        return str(value.op.name_hint)
    return ""


def _kernel(fused: tvm.IRModule, symbol: str) -> str:
    attrs = fused[symbol].attrs
    return str(attrs[KERNEL]) if attrs and KERNEL in attrs else ""


def _arguments(value: relax.Call) -> list[relax.Expr]:
    """Tensors that a call reads."""
    return flatten_tuples([value.args[1]] if _is_call_tir(value) else value.args)


def _tensors(ty: Any) -> list[Tensor]:
    fields = getattr(ty, "fields", None)
    types = fields if fields is not None else [ty]
    return [tensor for tensor in map(_tensor, types) if tensor is not None]


def _tensor(ty: Any) -> Tensor | None:
    if not isinstance(ty, relax.TensorType) or ty.shape is None:
        return None
    return tuple(int(d) if isinstance(d, tvm.tirx.IntImm) else DYNAMIC_SIZE for d in ty.shape), str(ty.dtype)
