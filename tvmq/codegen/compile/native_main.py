"""Main as native code: one function that calls the kernels one after the other, on one piece of memory.

Before (behind StaticPlanBlockMemory)             After
    storage = alloc_storage([n])                      main as it was
    a = alloc_tensor(storage, shape)                  main_direct(x):
    kernel(x, constants, a)                               memory, y = alloc_tensor(...), alloc_tensor(...)
    y = alloc_tensor(shape)                               main_kernels(x, constants, memory, y)
    kernel_1(a, constants, y)                             return y

The virtual machine needs about 0.2 us for a kernel (its call, its result's memory, the end of that), which is a tenth
of small networks; main_kernels needs 0.03. Both call the same functions: `main` remains for profiles.

Of a long main, main_kernels makes the first calls, main_kernels_1 those behind them, and so on.

Needs      functions of loops and reshapes of static shapes alone; else the module stays as it is
Numerics   none
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import tvm
from tvm import relax, tirx
from tvm.script.ir_builder import IRBuilder
from tvm.script.ir_builder import tirx as T

from tvmq.base.tvm_internals import (
    ADDRESS,
    BYTE_OFFSET,
    CPU,
    DATA,
    DEVICE_ID,
    DEVICE_TYPE,
    PADDING,
    RANK,
    SHAPE,
    STRIDES,
    SYMBOL,
    TENSOR,
    TYPE,
    VALUE,
)
from tvmq.graph.view import flatten_tuples, is_const
from tvmq.runtime.call_code import DIRECT

KERNELS = "_kernels"  # behind the name of a function
ALIGNMENT = 64
FEWEST_CALLS = 2
# Compile time grows with the square of the calls in one function (400: 6 s, 800: 22 s); more of them are cut in parts.
MOST_CALLS, PART = 512, 64


@dataclass(frozen=True)
class TensorPlace:
    """Where a tensor lies: in a parameter of `main_kernels`, from a byte on."""

    parameter: int
    offset: int
    shape: tuple[int, ...]
    dtype: str

    def seen_as(self, shape: tuple[int, ...]) -> TensorPlace:
        """Place of the same bytes as a tensor of another shape."""
        return TensorPlace(self.parameter, self.offset, shape, self.dtype)


Call = tuple[str, list[TensorPlace]]  # a kernel, and where its arguments lie


class Unfit(Exception):
    """The function holds what native code cannot do."""


def with_direct_functions(mod: tvm.IRModule) -> tvm.IRModule:
    """The module with a native `main_direct` beside each main that can have one; mod: any module of planned memory."""
    builder = relax.BlockBuilder(mod)
    for gvar, func in mod.functions_items():
        if not isinstance(func, relax.Function):
            continue
        try:
            plan = MainPlan(mod, func)
        except Unfit:
            continue
        if len(plan.calls) >= FEWEST_CALLS:
            plan.emit(builder, str(gvar.name_hint))
    return builder.get()


class MainPlan:
    """The calls of a function, and where their tensors lie. Parameters: inputs, constants, results, memory."""

    def __init__(self, mod: tvm.IRModule, func: relax.Function) -> None:
        self.func = func
        # by variable: passes of TVM give several one name
        self.places: dict[relax.Var, TensorPlace] = {}
        self.buffers: list[tuple[tuple[int, ...], str]] = []
        self.constants: list[relax.Expr] = []
        self.results: list[int] = []
        self.calls: list[Call] = []
        self._storages: dict[relax.Var, int] = {}
        self._tuples: dict[relax.Var, list[TensorPlace]] = {}
        self._size = 0
        for param in func.params:
            self.places[param] = self._parameter(*_tensor(param))
        for block in func.body.blocks:
            for binding in block.bindings:
                if not isinstance(binding, relax.VarBinding):
                    raise Unfit
                self._bind(mod, binding.var, binding.value)
        self.memory = len(self.buffers)
        self.buffers.append(((max(self._size, ALIGNMENT),), "uint8"))
        self.leaves = flatten_tuples([func.body.body])
        outputs = [self.place_of(leaf).parameter for leaf in self.leaves]
        if sorted(outputs) != sorted(self.results):  # an input, or a result given twice
            raise Unfit

    def _parameter(self, shape: tuple[int, ...], dtype: str) -> TensorPlace:
        self.buffers.append((shape, dtype))
        return TensorPlace(len(self.buffers) - 1, 0, shape, dtype)

    def _bind(self, mod: tvm.IRModule, var: relax.Var, value: relax.Expr) -> None:
        if isinstance(value, relax.Var):
            self._bind_alias(var, value)
            return
        if isinstance(value, relax.Tuple):  # what a kernel with several results gives
            self._tuples[var] = [self.place_of(field) for field in value.fields]
            return
        if isinstance(value, relax.TupleGetItem):
            self.places[var] = self._item(value)
            return
        name = str(getattr(value.op, "name", "")) if isinstance(value, relax.Call) else ""
        if name == "relax.reshape":
            self.places[var] = self.place_of(value.args[0]).seen_as(_tensor(var)[0])
        elif name == "relax.memory.alloc_storage":
            self._storages[var] = self._size
            self._size += -(-int(prod(map(int, value.args[0].values))) // ALIGNMENT) * ALIGNMENT
        elif name == "relax.memory.alloc_tensor":
            begin = self._storages[value.args[0]] + int(value.args[1].value)
            self.places[var] = TensorPlace(-1, begin, *_tensor(var))
        elif name == "relax.builtin.alloc_tensor":
            self.places[var] = self._parameter(*_tensor(var))
            self.results.append(self.places[var].parameter)
        elif isinstance(value, relax.Call) and isinstance(value.op, tvm.ir.GlobalVar):
            if not isinstance(mod[value.op], tirx.PrimFunc):
                raise Unfit
            self.calls.append((str(value.op.name_hint), [self.place_of(arg) for arg in value.args]))
        else:
            raise Unfit

    def _bind_alias(self, var: relax.Var, value: relax.Var) -> None:
        if value in self._storages:
            self._storages[var] = self._storages[value]
        else:
            self.places[var] = self.place_of(value)

    def _item(self, value: relax.TupleGetItem) -> TensorPlace:
        if value.tuple_value not in self._tuples:
            raise Unfit
        return self._tuples[value.tuple_value][value.index]

    def place_of(self, expr: relax.Expr) -> TensorPlace:
        """Where a tensor of the function lies. raises Unfit for what is none"""
        if isinstance(expr, relax.Var) and expr in self.places:
            return self.places[expr]
        if not is_const(expr):
            raise Unfit
        self.constants.append(expr)
        return self._parameter(*_tensor(expr))

    def emit(self, builder: relax.BlockBuilder, name: str) -> None:
        """Add both functions."""
        symbol, size = name + KERNELS, len(self.calls) if len(self.calls) <= MOST_CALLS else PART
        parts = []
        for number, first in enumerate(range(0, len(self.calls), size)):
            calls, part = self.calls[first : first + size], f"{symbol}_{number}" if number else symbol
            used = self._used(calls) if size < len(self.calls) else list(range(len(self.buffers)))
            parts.append((builder.add_func(self._kernels(part, calls, used), part), used))
        self._emit_direct(builder, name + DIRECT, parts)

    def _used(self, calls: Sequence[Call]) -> list[int]:
        """The buffers that some of the calls read or write."""
        used = {place.parameter for _, places in calls for place in places}
        return sorted(self.memory if index < 0 else index for index in used)

    def _kernels(self, symbol: str, calls: Sequence[Call], used: Sequence[int]) -> Any:
        """The PrimFunc that makes these calls; its parameters are the buffers that they use."""
        builder, frame = IRBuilder(), T.prim_func(s_tir=True)
        with builder:
            with frame:
                T.func_name(symbol)
                T.func_attr({"global_symbol": symbol, "tirx.noalias": True})
                buffers = {index: T.arg(f"p{i}", T.buffer(*self.buffers[index])) for i, index in enumerate(used)}
                emit_calls(calls, lambda place: self._data(place, buffers))
        return builder.get()

    def _data(self, place: TensorPlace, buffers: Mapping[int, Any]) -> Any:
        """Where a tensor begins."""
        buffer = buffers[self.memory if place.parameter < 0 else place.parameter]
        return T.address_of(buffer[place.offset]) if place.parameter < 0 else buffer.data

    def _emit_direct(
        self, builder: relax.BlockBuilder, symbol: str, parts: Sequence[tuple[tvm.ir.GlobalVar, list[int]]]
    ) -> None:
        """The Relax function that allocates memory and results, and calls each part of `_kernels` once."""
        params = [relax.Var(param.name, param.ty) for param in self.func.params]
        with builder.function(symbol, params, attrs={"global_symbol": symbol, "relax.force_pure": True}, pure=False):
            allocated = {index: self._allocate(builder, index) for index in (*self.results, self.memory)}
            inputs = iter([*params, *self.constants])
            args = [allocated[index] if index in allocated else next(inputs) for index in range(len(self.buffers))]
            for kernels, used in parts:
                builder.emit(relax.Call(kernels, [args[index] for index in used], ty_args=[relax.TupleType([])]))
            leaves = [builder.emit(self._result(leaf, allocated)) for leaf in self.leaves]
            result = relax.Tuple(leaves) if isinstance(self.func.body.body.ty, relax.TupleType) else leaves[0]
            builder.emit_func_output(result)

    def _allocate(self, builder: relax.BlockBuilder, index: int) -> relax.Var:
        shape, dtype = self.buffers[index]
        return builder.emit(relax.op.builtin.alloc_tensor(relax.ShapeExpr(shape), dtype, 0))

    def _result(self, leaf: relax.Expr, allocated: dict[int, relax.Var]) -> relax.Expr:
        place = self.place_of(leaf)
        tensor = allocated[place.parameter]
        return tensor if place.shape == self.buffers[place.parameter][0] else relax.op.reshape(tensor, place.shape)


def emit_calls(calls: Sequence[Call], data_of: Callable[[TensorPlace], Any]) -> None:
    """Emit these calls of kernels; data_of: where a tensor begins."""
    most = max(len(places) for _, places in calls)
    tensors = T.Bind(T.tvm_stack_alloca("array", most))
    arguments, result = (T.Bind(T.tvm_stack_alloca("tvm_ffi_any", count)) for count in (most, 1))
    for number in range(most):
        set_tensor(tensors, number)
        set_field(arguments, number, TYPE, tirx.const(TENSOR, "int32"))
        set_field(arguments, number, PADDING, tirx.const(0, "int32"))
        set_field(arguments, number, VALUE, tensor_address(tensors, number))
    for name, places in calls:
        for number, place in enumerate(places):
            set_field(tensors, number, DATA, data_of(place))
        failed = T.call_extern("int32", SYMBOL + name, nothing(), arguments, len(places), result)
        with T.If(failed != 0), T.Then():
            T.evaluate(T.tvm_throw_last_error())


def nothing() -> Any:
    """A null pointer."""
    return tirx.reinterpret("handle", tirx.const(0, "uint64"))


def tensor_address(tensors: Any, number: int) -> Any:
    """Where a tensor of an array begins."""
    return T.tvm_struct_get(tensors, number, ADDRESS, "handle")


def set_field(struct: Any, number: int, field: int, value: Any) -> None:
    """Set a field of an item of an array."""
    T.evaluate(T.tvm_struct_set(struct, number, field, value))


def set_tensor(tensors: Any, number: int) -> None:
    """All but the data; kernels of static shapes look at nothing else."""
    for field in (SHAPE, STRIDES):
        set_field(tensors, number, field, nothing())
    for field, value in ((RANK, 0), (DEVICE_ID, 0), (DEVICE_TYPE, CPU)):
        set_field(tensors, number, field, tirx.const(value, "int32"))
    set_field(tensors, number, BYTE_OFFSET, tirx.const(0, "uint64"))


def _tensor(expr: relax.Expr) -> tuple[tuple[int, ...], str]:
    """Shape and type of a tensor of static shape."""
    ty = expr.ty
    if not isinstance(ty, relax.TensorType) or not isinstance(ty.shape, relax.ShapeExpr):
        raise Unfit
    if not all(isinstance(size, tirx.IntImm) for size in ty.shape):
        raise Unfit
    return tuple(int(size) for size in ty.shape), str(ty.dtype)
