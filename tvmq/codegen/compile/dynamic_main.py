"""Main of dynamic sizes as native code, beside native_main.py, which does it for static ones.

Before (behind StaticPlanBlockMemory)             After
    a = alloc_tensor([rows, 8])                       main as it was
    kernel(x, constants, a)                           main_direct(x):
    y = alloc_tensor([rows // 2, 8])                      memory, y = alloc_tensor([bytes of all]), alloc_tensor(...)
    kernel_1(a, constants, y)                             main_kernels(x, constants, memory, y)
    return y                                              return y

The virtual machine needs 1 to 2 us for a kernel where sizes are dynamic: it computes shapes, allocates the result and
frees it. main_kernels computes all shapes in the beginning, and where each tensor lies in one piece of memory: tensors
whose calls are apart share a slot, which is as large as its largest (memory_slots.py).

Needs      functions of loops, reshapes, and sizes that follow from those of the inputs; else the module stays as it is
Numerics   none
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
import tvm
from tvm import relax, tirx
from tvm.script.ir_builder import IRBuilder
from tvm.script.ir_builder import tirx as T
from tvm.sym import Analyzer

from tvmq.base.tvm_internals import DATA, INTEGER, PADDING, SHAPE, SYMBOL, TENSOR, TYPE, VALUE
from tvmq.codegen.compile.dynamic_plan import NO_PARAMETER, Call, DynamicPlan, SizedPlace
from tvmq.codegen.compile.memory_slots import ALIGNMENT, Size, Slot, int64_of, power_of_two
from tvmq.codegen.compile.native_main import (
    FEWEST_CALLS,
    KERNELS,
    MOST_CALLS,
    PART,
    Unfit,
    nothing,
    set_field,
    set_tensor,
    tensor_address,
)
from tvmq.runtime.call_code import DIRECT, SAMPLES


def with_dynamic_functions(mod: tvm.IRModule) -> tvm.IRModule:
    """The module with a native `main_direct` beside each main of dynamic sizes that can have one."""
    builder = relax.BlockBuilder(mod)
    names = {str(gvar.name_hint) for gvar in mod.get_global_vars()}
    for gvar, func in mod.functions_items():
        name = str(gvar.name_hint)
        if not isinstance(func, relax.Function) or name + DIRECT in names or name.endswith((DIRECT, SAMPLES)):
            continue
        try:
            plan = DynamicPlan(mod, func)
        except Unfit:
            continue
        if len(plan.calls) >= FEWEST_CALLS:
            emit_direct(plan, builder, name)
    return builder.get()


def emit_direct(plan: DynamicPlan, builder: relax.BlockBuilder, name: str) -> None:
    """Add main_direct and what it calls."""
    symbol, count = name + KERNELS, len(plan.calls)
    size = count if count <= MOST_CALLS else PART
    parts = []
    for number, first in enumerate(range(0, count, size)):
        part, calls = f"{symbol}_{number}" if number else symbol, plan.calls[first : first + size]
        used = _find_buffers(plan, calls)
        parts.append((builder.add_func(_kernels(plan, part, calls, used), part), used))
    _emit_main(plan, builder, name + DIRECT, parts)


def _find_buffers(plan: DynamicPlan, calls: Sequence[Call]) -> list[int]:
    """Buffers that some of the calls read or write, and those that tell the sizes: each costs a check in every part."""
    places = (place for _, used in calls for place in used if isinstance(place, SizedPlace))
    return sorted({plan.parameter_of(place) for place in places} - {NO_PARAMETER} | plan.size_givers)


def _kernels(plan: DynamicPlan, symbol: str, calls: Sequence[Call], used: Sequence[int]) -> Any:
    """The PrimFunc that makes these calls; its parameters are the buffers that they use."""
    builder, frame = IRBuilder(), T.prim_func(s_tir=True)
    with builder:
        with frame:
            T.func_name(symbol)
            T.func_attr({"global_symbol": symbol, "tirx.noalias": True})
            buffers = {number: T.arg(f"p{i}", T.buffer(*plan.buffers[number])) for i, number in enumerate(used)}
            memory = T.arg("memory", T.buffer((tirx.Var("bytes", "int64"),), "uint8"))
            begins = _bind_begins(plan.slots)
            shapes = _Shapes(place.shape for _, used in calls for place in used if isinstance(place, SizedPlace))
            most = max(len(places) for _, places in calls)
            tensors = T.Bind(T.tvm_stack_alloca("array", most))
            arguments, result = (T.Bind(T.tvm_stack_alloca("tvm_ffi_any", count)) for count in (most, 1))
            for number in range(most):
                set_tensor(tensors, number)
                set_field(arguments, number, PADDING, tirx.const(0, "int32"))
            for name, places in calls:
                for number, place in enumerate(places):
                    if not isinstance(place, SizedPlace):
                        set_field(arguments, number, TYPE, tirx.const(INTEGER, "int32"))
                        set_field(arguments, number, VALUE, int64_of(place))
                        continue
                    set_field(arguments, number, TYPE, tirx.const(TENSOR, "int32"))
                    set_field(arguments, number, VALUE, tensor_address(tensors, number))
                    set_field(tensors, number, SHAPE, shapes.address(place.shape))
                    set_field(tensors, number, DATA, _data(plan, place, buffers, memory, begins))
                failed = T.call_extern("int32", SYMBOL + name, nothing(), arguments, len(places), result)
                with T.If(failed != 0), T.Then():
                    T.evaluate(T.tvm_throw_last_error())
    return builder.get()


def _bind_begins(slots: Sequence[Slot]) -> list[Any]:
    """First byte of each slot."""
    begin, begins = tirx.const(0, "int64"), []
    for slot in slots:
        begins.append(begin)
        begin = T.Bind(begin + slot.size)
    return begins


def _data(
    plan: DynamicPlan, place: SizedPlace, buffers: Mapping[int, Any], memory: Any, begins: Sequence[Any]
) -> Any:
    parameter = plan.parameter_of(place)
    if parameter != NO_PARAMETER:
        return buffers[parameter].data
    return T.address_of(memory[begins[plan.slot_of[place.storage]]])


def _emit_main(
    plan: DynamicPlan,
    builder: relax.BlockBuilder,
    symbol: str,
    parts: Sequence[tuple[tvm.ir.GlobalVar, Sequence[int]]],
) -> None:
    """The Relax function that allocates memory and results, and calls each part once."""
    params = [relax.Var(param.name, param.ty) for param in plan.func.params]
    total = sum((slot.size for slot in plan.slots), int64_of(ALIGNMENT))
    with builder.function(symbol, params, attrs={"global_symbol": symbol, "relax.force_pure": True}, pure=False):
        owned = {number: _allocate(builder, *plan.buffers[number]) for number in plan.results.values()}
        memory = _allocate(builder, (Analyzer().simplify(total),), "uint8")
        inputs = iter([*params, *plan.constants])
        args = [owned[number] if number in owned else next(inputs) for number in range(len(plan.buffers))]
        for kernels, used in parts:
            tensors = [args[number] for number in used]
            builder.emit(relax.Call(kernels, [*tensors, memory], ty_args=[relax.TupleType([])]))
        leaves = [owned[plan.results[plan.place_of(leaf).storage]] for leaf in plan.leaves]
        is_tuple = isinstance(plan.func.body.body.ty, relax.TupleType)
        builder.emit_func_output(relax.Tuple(leaves) if is_tuple else leaves[0])


class _Shapes:
    """All shapes, computed once and kept one behind the other."""

    def __init__(self, shapes: Iterator[tuple[Size, ...]]) -> None:
        self._places: dict[tuple[str, ...], int] = {}
        sizes: list[Size] = []
        for shape in shapes:
            if _key(shape) not in self._places:
                self._places[_key(shape)] = len(sizes)
                sizes += shape
        self._buffer = T.alloc_buffer((max(len(sizes), 1),), "int64")
        for number, size in enumerate(sizes):
            T.buffer_store(self._buffer, int64_of(size), [number])

    def address(self, shape: tuple[Size, ...]) -> Any:
        """Where the sizes of a shape are."""
        return T.address_of(self._buffer[self._places[_key(shape)]]) if shape else nothing()


def _allocate(builder: relax.BlockBuilder, shape: tuple[Size, ...], dtype: str) -> relax.Var:
    """A tensor on memory of its own, of a power of two of bytes.

    The virtual machine keeps memory that is no longer used, for requests of the same size: of exact sizes it would keep
    as many pieces as it has seen sizes.
    """
    size = relax.ShapeExpr([power_of_two(prod(shape) * np.dtype(dtype).itemsize)])
    storage = builder.emit(relax.op.memory.alloc_storage(size, 0, "global", "uint8"))
    return builder.emit(relax.op.memory.alloc_tensor(storage, 0, relax.ShapeExpr(list(shape)), dtype))


def _key(shape: tuple[Size, ...]) -> tuple[str, ...]:
    return tuple(map(str, shape))
