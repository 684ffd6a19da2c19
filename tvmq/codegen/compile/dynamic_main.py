"""Main of dynamic sizes as native code, beside native_main.py, which does it for static ones.

Before (behind StaticPlanBlockMemory)             After
    a = alloc_tensor([rows, 8])                       main as it was
    kernel(x, constants, a)                           main_direct(x):
    y = alloc_tensor([rows // 2, 8])                      memory, y = alloc_tensor([bytes of all]), alloc_tensor(...)
    kernel_1(a, constants, y)                             main_kernels(x, constants, memory, y)
    return y                                              return y

The virtual machine needs 1 to 2 us for a kernel where sizes are dynamic: it computes shapes, allocates the result and
frees it. main_kernels computes all shapes in the beginning, and where each tensor lies in one piece of memory: tensors
whose calls are apart share a slot, which is as large as its largest. What is shared is chosen for sizes of USUAL, and
is right for all.

Needs      functions of loops, reshapes, and sizes that follow from those of the inputs; else the module stays as it is
Numerics   none
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

import numpy as np
import tvm
from tvm import relax, tirx
from tvm.script.ir_builder import IRBuilder
from tvm.script.ir_builder import tirx as T
from tvm.sym import Analyzer
from tvm.tirx.analysis import undefined_vars
from tvm_ffi import structural_equal

from tvmq.base.tvm_internals import DATA, INTEGER, PADDING, SHAPE, SYMBOL, TENSOR, TYPE, VALUE
from tvmq.codegen.compile.native_main import (
    ALIGNMENT,
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
from tvmq.graph.view import flatten_tuples, is_const
from tvmq.runtime.call_code import DIRECT

USUAL = 64  # of each dynamic dimension
LEAST_BYTES = 4096
Size = Any  # an int or an expression of dynamic dimensions


@dataclass(frozen=True)
class Place:
    """Where a tensor lies: a parameter of main_kernels, or (where that is negative) a storage, from a byte on."""

    parameter: int
    storage: int
    offset: int
    shape: tuple[Size, ...]
    dtype: str


@dataclass
class Storage:
    """Memory of intermediate results: bytes, the first and the last call that use it."""

    size: Size
    first: int = -1
    last: int = -1

    def meets(self, other: Storage) -> bool:
        """True if both are used at a time."""
        return self.first <= other.last and other.first <= self.last


@dataclass
class Slot:
    """Memory that storages have one after the other; bytes: at usual sizes."""

    bytes: int
    storages: list[Storage] = field(default_factory=list)

    @property
    def size(self) -> Size:
        """Bytes of the largest, as a multiple of ALIGNMENT."""
        sizes: list[Size] = []
        for storage in self.storages:
            if not any(_same(storage.size, size) for size in sizes):
                sizes.append(storage.size)
        largest = sizes[0]
        for size in sizes[1:]:
            largest = tirx.max(_int64(largest), _int64(size))
        return Analyzer().simplify((_int64(largest) + (ALIGNMENT - 1)) // ALIGNMENT * ALIGNMENT)


class DynamicPlan:
    """The calls of a function, where their tensors lie and of which sizes they are.

    raises  Unfit for what native code cannot do
    """

    def __init__(self, mod: tvm.IRModule, func: relax.Function) -> None:
        self.mod, self.func = mod, func
        self.places: dict[relax.Var, Place] = {}
        self.buffers: list[tuple[tuple[Size, ...], str]] = []
        self.constants: list[relax.Expr] = []
        self.calls: list[tuple[str, list[Place | Size]]] = []
        self.storages: list[Storage] = []
        self._storage_of: dict[relax.Var, int] = {}
        self._tuples: dict[relax.Var, list[Place]] = {}
        self._known: set[str] = set()
        for param in func.params:
            self._known |= {str(size.name) for size in param.ty.shape if isinstance(size, tirx.Var)}
            self.places[param] = self._parameter(*self._tensor(param))
        for block in func.body.blocks:
            for binding in block.bindings:
                if not isinstance(binding, relax.VarBinding):
                    raise Unfit
                self._bind(binding.var, binding.value)
        self.leaves = flatten_tuples([func.body.body])
        self.results = self._give_results()
        self.memory = len(self.buffers)
        self.slots, self.slot_of = share_slots(self.storages)

    def _bind(self, var: relax.Var, value: relax.Expr) -> None:
        if isinstance(value, relax.Var):
            if value in self._storage_of:
                self._storage_of[var] = self._storage_of[value]
            else:
                self.places[var] = self._place(value)
        elif isinstance(value, relax.Tuple):  # what a kernel with several results gives
            self._tuples[var] = [self._place(item) for item in value.fields]
        elif isinstance(value, relax.TupleGetItem) and value.tuple_value in self._tuples:
            self.places[var] = self._tuples[value.tuple_value][value.index]
        elif isinstance(value, relax.Call):
            self._bind_call(var, value)
        else:
            raise Unfit

    def _bind_call(self, var: relax.Var, value: relax.Call) -> None:
        name = str(getattr(value.op, "name", ""))
        if name == "relax.reshape":
            self.places[var] = replace(self._place(value.args[0]), shape=self._tensor(var)[0])
        elif name == "relax.memory.alloc_storage":
            self._storage_of[var] = self._storage(prod(map(self._size, value.args[0].values)))
        elif name == "relax.memory.alloc_tensor":
            storage, offset = self._storage_of[value.args[0]], int(value.args[1].value)
            self.places[var] = Place(-1, storage, offset, *self._tensor(var))
        elif name == "relax.builtin.alloc_tensor":
            shape, dtype = self._tensor(var)
            storage = self._storage(prod(shape) * np.dtype(dtype).itemsize)
            self.places[var] = Place(-1, storage, 0, shape, dtype)
        elif isinstance(value.op, tvm.ir.GlobalVar) and isinstance(self.mod[value.op], tirx.PrimFunc):
            places = [self._argument(arg) for arg in value.args]
            self.calls.append((str(value.op.name_hint), places))
        else:
            raise Unfit

    def _argument(self, expr: Any) -> Place | Size:
        is_size = str(getattr(expr, "ty", "")) == "int64" and expr not in self.places
        place = self._size(expr) if is_size else self._place(expr)
        if isinstance(place, Place) and place.parameter < 0:
            storage = self.storages[place.storage]
            storage.first = len(self.calls) if storage.first < 0 else storage.first
            storage.last = len(self.calls)
        return place

    def _place(self, expr: relax.Expr) -> Place:
        if isinstance(expr, relax.Var) and expr in self.places:
            return self.places[expr]
        if not is_const(expr):
            raise Unfit
        self.constants.append(expr)
        return self._parameter(*self._tensor(expr))

    def _parameter(self, shape: tuple[Size, ...], dtype: str) -> Place:
        self.buffers.append((shape, dtype))
        return Place(len(self.buffers) - 1, -1, 0, shape, dtype)

    def _storage(self, size: Size) -> int:
        self.storages.append(Storage(size))
        return len(self.storages) - 1

    def _give_results(self) -> dict[int, int]:
        """{storage of a result: its parameter}; a result that is an input, or given twice, is Unfit."""
        results: dict[int, int] = {}
        for leaf in self.leaves:
            place = self._place(leaf)
            if place.parameter >= 0 or place.offset or place.storage in results:
                raise Unfit
            results[place.storage] = self._parameter(place.shape, place.dtype).parameter
        if any(place.offset for _, used in self.calls for place in used if isinstance(place, Place)):
            raise Unfit  # a part of a storage, which none of our modules has
        for number in results:
            self.storages[number] = Storage(0)
        return results

    def _tensor(self, expr: relax.Expr) -> tuple[tuple[Size, ...], str]:
        ty = expr.ty
        if not isinstance(ty, relax.TensorType) or not isinstance(ty.shape, relax.ShapeExpr):
            raise Unfit
        return tuple(map(self._size, ty.shape)), str(ty.dtype)

    def _size(self, size: Any) -> Size:
        if isinstance(size, int | tirx.IntImm):
            return int(size)
        if {str(var.name) for var in undefined_vars(size)} - self._known:
            raise Unfit
        return size

    def emit(self, builder: relax.BlockBuilder, name: str) -> None:
        """Add main_direct and what it calls."""
        symbol, count = name + KERNELS, len(self.calls)
        size = count if count <= MOST_CALLS else PART
        parts = []
        for number, first in enumerate(range(0, count, size)):
            part = f"{symbol}_{number}" if number else symbol
            parts.append(builder.add_func(self._kernels(part, self.calls[first : first + size]), part))
        self._emit_direct(builder, name + DIRECT, parts)

    def _kernels(self, symbol: str, calls: Sequence[tuple[str, list[Place | Size]]]) -> Any:
        """The PrimFunc that makes these calls; its parameters are all buffers."""
        builder, frame = IRBuilder(), T.prim_func(s_tir=True)
        with builder:
            with frame:
                T.func_name(symbol)
                T.func_attr({"global_symbol": symbol, "tirx.noalias": True})
                buffers = [T.arg(f"p{i}", T.buffer(shape, dtype)) for i, (shape, dtype) in enumerate(self.buffers)]
                memory = T.arg("memory", T.buffer((tirx.Var("bytes", "int64"),), "uint8"))
                begins = self._bind_begins()
                shapes = _Shapes(place.shape for _, used in calls for place in used if isinstance(place, Place))
                most = max(len(places) for _, places in calls)
                tensors = T.Bind(T.tvm_stack_alloca("array", most))
                arguments, result = (T.Bind(T.tvm_stack_alloca("tvm_ffi_any", count)) for count in (most, 1))
                for number in range(most):
                    set_tensor(tensors, number)
                    set_field(arguments, number, PADDING, tirx.const(0, "int32"))
                for name, places in calls:
                    for number, place in enumerate(places):
                        if not isinstance(place, Place):
                            set_field(arguments, number, TYPE, tirx.const(INTEGER, "int32"))
                            set_field(arguments, number, VALUE, _int64(place))
                            continue
                        set_field(arguments, number, TYPE, tirx.const(TENSOR, "int32"))
                        set_field(arguments, number, VALUE, tensor_address(tensors, number))
                        set_field(tensors, number, SHAPE, shapes.address(place.shape))
                        set_field(tensors, number, DATA, self._data(place, buffers, memory, begins))
                    failed = T.call_extern("int32", SYMBOL + name, nothing(), arguments, len(places), result)
                    with T.If(failed != 0), T.Then():
                        T.evaluate(T.tvm_throw_last_error())
        return builder.get()

    def _bind_begins(self) -> list[Any]:
        """First byte of each slot."""
        begin, begins = tirx.const(0, "int64"), []
        for slot in self.slots:
            begins.append(begin)
            begin = T.Bind(begin + slot.size)
        return begins

    def _data(self, place: Place, buffers: Sequence[Any], memory: Any, begins: Sequence[Any]) -> Any:
        parameter = place.parameter if place.parameter >= 0 else self.results.get(place.storage, -1)
        if parameter >= 0:
            return buffers[parameter].data
        return T.address_of(memory[begins[self.slot_of[place.storage]]])

    def _emit_direct(self, builder: relax.BlockBuilder, symbol: str, parts: Sequence[tvm.ir.GlobalVar]) -> None:
        """The Relax function that allocates memory and results, and calls each part once."""
        params = [relax.Var(param.name, param.ty) for param in self.func.params]
        total = sum((slot.size for slot in self.slots), _int64(ALIGNMENT))
        with builder.function(symbol, params, attrs={"global_symbol": symbol, "relax.force_pure": True}, pure=False):
            owned = {number: _allocate(builder, *self.buffers[number]) for number in self.results.values()}
            memory = _allocate(builder, (Analyzer().simplify(total),), "uint8")
            inputs = iter([*params, *self.constants])
            args = [owned[number] if number in owned else next(inputs) for number in range(len(self.buffers))]
            for kernels in parts:
                builder.emit(relax.Call(kernels, [*args, memory], ty_args=[relax.TupleType([])]))
            leaves = [owned[self.results[self._place(leaf).storage]] for leaf in self.leaves]
            is_tuple = isinstance(self.func.body.body.ty, relax.TupleType)
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
            T.buffer_store(self._buffer, _int64(size), [number])

    def address(self, shape: tuple[Size, ...]) -> Any:
        """Where the sizes of a shape are."""
        return T.address_of(self._buffer[self._places[_key(shape)]]) if shape else nothing()


def share_slots(storages: Sequence[Storage]) -> tuple[list[Slot], dict[int, int]]:
    """Slots, and {storage: number of its slot}, for storages that a call uses.

    >>> share_slots([Storage(100, 0, 1), Storage(64, 1, 2), Storage(10, 2, 3)])[1]
    {0: 0, 1: 1, 2: 0}
    """
    slots: list[Slot] = []
    chosen: dict[int, int] = {}
    usual = [_usual(storage.size) for storage in storages]
    for number in sorted((n for n, one in enumerate(storages) if one.first >= 0), key=lambda n: -usual[n]):
        own = storages[number]
        free = [i for i, slot in enumerate(slots) if not any(own.meets(other) for other in slot.storages)]
        alike = [i for i in free if _same(slots[i].storages[0].size, own.size)]
        if not free:
            slots.append(Slot(usual[number]))
        chosen[number] = (alike or sorted(free, key=lambda i: slots[i].bytes) or [len(slots) - 1])[0]
        slots[chosen[number]].storages.append(own)
    return slots, chosen


def _allocate(builder: relax.BlockBuilder, shape: tuple[Size, ...], dtype: str) -> relax.Var:
    """A tensor on memory of its own, of a power of two of bytes.

    The virtual machine keeps memory that is no longer used, for requests of the same size: of exact sizes it would keep
    as many pieces as it has seen sizes.
    """
    size = relax.ShapeExpr([_power_of_two(prod(shape) * np.dtype(dtype).itemsize)])
    storage = builder.emit(relax.op.memory.alloc_storage(size, 0, "global", "uint8"))
    return builder.emit(relax.op.memory.alloc_tensor(storage, 0, relax.ShapeExpr(list(shape)), dtype))


def _power_of_two(size: Size) -> Any:
    """The next power of two from LEAST_BYTES on."""
    if isinstance(size, int | tirx.IntImm):
        size = int(size)
        return 1 << (max(size, LEAST_BYTES) - 1).bit_length()
    bits = tirx.clz(tirx.max(_int64(size), _int64(LEAST_BYTES)) - 1)
    return tirx.shift_left(_int64(1), _int64(64) - tirx.Cast("int64", bits))


def _usual(size: Size) -> int:
    if isinstance(size, int):
        return size
    analyzer = Analyzer()
    for var in undefined_vars(size):
        analyzer.bind(var, _int64(USUAL))
    return int(analyzer.simplify(size))


def _same(a: Size, b: Size) -> bool:
    return bool(structural_equal(_int64(a), _int64(b)))


def _key(shape: tuple[Size, ...]) -> tuple[str, ...]:
    return tuple(map(str, shape))


def _int64(size: Size) -> Any:
    return tirx.IntImm("int64", size) if isinstance(size, int) else size


def with_dynamic_functions(mod: tvm.IRModule) -> tvm.IRModule:
    """The module with a native `main_direct` beside each main of dynamic sizes that can have one."""
    builder = relax.BlockBuilder(mod)
    names = {str(gvar.name_hint) for gvar in mod.get_global_vars()}
    for gvar, func in mod.functions_items():
        name = str(gvar.name_hint)
        if not isinstance(func, relax.Function) or name + DIRECT in names or name.endswith(DIRECT):
            continue
        try:
            plan = DynamicPlan(mod, func)
        except Unfit:
            continue
        if len(plan.calls) >= FEWEST_CALLS:
            plan.emit(builder, name)
    return builder.get()
