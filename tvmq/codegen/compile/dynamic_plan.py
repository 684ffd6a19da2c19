"""The calls of a function of dynamic sizes: of which sizes its tensors are, and which of them share memory.

Tests: tests/codegen/compile/test_dynamic_main.py
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np
import tvm
from tvm import relax, tirx
from tvm.tirx.analysis import undefined_vars

from tvmq.codegen.compile.memory_slots import SharedStorage, Size, share_slots
from tvmq.codegen.compile.native_main import Unfit
from tvmq.graph.view import flatten_tuples, is_const


@dataclass(frozen=True)
class SizedPlace:
    """Where a tensor lies: a parameter of main_kernels, or (where that is negative) a storage, from a byte on."""

    parameter: int
    storage: int
    offset: int
    shape: tuple[Size, ...]
    dtype: str


Call = tuple[str, list[SizedPlace | Size]]  # a kernel, and its arguments
NO_PARAMETER = -1


class DynamicPlan:
    """The calls of a function, where their tensors lie and of which sizes they are.

    raises  Unfit for what native code cannot do
    """

    def __init__(self, mod: tvm.IRModule, func: relax.Function) -> None:
        self.mod, self.func = mod, func
        self.places: dict[relax.Var, SizedPlace] = {}
        self.buffers: list[tuple[tuple[Size, ...], str]] = []
        self.constants: list[relax.Expr] = []
        self.calls: list[Call] = []
        self.size_givers: set[int] = set()  # parameters, one for each dynamic size, of which it is an axis
        self.storages: list[SharedStorage] = []
        self._storage_of: dict[relax.Var, int] = {}
        self._tuples: dict[relax.Var, list[SizedPlace]] = {}
        self._known: set[str] = set()
        for number, param in enumerate(func.params):
            sizes = {str(size.name) for size in param.ty.shape if isinstance(size, tirx.Var)}
            self.size_givers |= {number} if sizes - self._known else set()
            self._known |= sizes
            self.places[param] = self._parameter(*self._tensor(param))
        for block in func.body.blocks:
            for binding in block.bindings:
                if not isinstance(binding, relax.VarBinding):
                    raise Unfit
                self._bind(binding.var, binding.value)
        self.leaves = flatten_tuples([func.body.body])
        self.results = self._give_results()
        self.slots, self.slot_of = share_slots(self.storages)

    def _bind(self, var: relax.Var, value: relax.Expr) -> None:
        if isinstance(value, relax.Var):
            if value in self._storage_of:
                self._storage_of[var] = self._storage_of[value]
            else:
                self.places[var] = self.place_of(value)
        elif isinstance(value, relax.Tuple):  # what a kernel with several results gives
            self._tuples[var] = [self.place_of(item) for item in value.fields]
        elif isinstance(value, relax.TupleGetItem) and value.tuple_value in self._tuples:
            self.places[var] = self._tuples[value.tuple_value][value.index]
        elif isinstance(value, relax.Call):
            self._bind_call(var, value)
        else:
            raise Unfit

    def _bind_call(self, var: relax.Var, value: relax.Call) -> None:
        name = str(getattr(value.op, "name", ""))
        if name == "relax.reshape":
            self.places[var] = replace(self.place_of(value.args[0]), shape=self._tensor(var)[0])
        elif name == "relax.memory.alloc_storage":
            self._storage_of[var] = self._storage(prod(map(self._size, value.args[0].values)))
        elif name == "relax.memory.alloc_tensor":
            storage, offset = self._storage_of[value.args[0]], int(value.args[1].value)
            self.places[var] = SizedPlace(-1, storage, offset, *self._tensor(var))
        elif name == "relax.builtin.alloc_tensor":
            shape, dtype = self._tensor(var)
            storage = self._storage(prod(shape) * np.dtype(dtype).itemsize)
            self.places[var] = SizedPlace(-1, storage, 0, shape, dtype)
        elif isinstance(value.op, tvm.ir.GlobalVar) and isinstance(self.mod[value.op], tirx.PrimFunc):
            places = [self._argument(arg) for arg in value.args]
            self.calls.append((str(value.op.name_hint), places))
        else:
            raise Unfit

    def _argument(self, expr: Any) -> SizedPlace | Size:
        is_size = str(getattr(expr, "ty", "")) == "int64" and expr not in self.places
        place = self._size(expr) if is_size else self.place_of(expr)
        if isinstance(place, SizedPlace) and place.parameter < 0:
            storage = self.storages[place.storage]
            storage.first = len(self.calls) if storage.first < 0 else storage.first
            storage.last = len(self.calls)
        return place

    def place_of(self, expr: relax.Expr) -> SizedPlace:
        """Where a variable or a constant lies."""
        if isinstance(expr, relax.Var) and expr in self.places:
            return self.places[expr]
        if not is_const(expr):
            raise Unfit
        self.constants.append(expr)
        return self._parameter(*self._tensor(expr))

    def parameter_of(self, place: SizedPlace) -> int:
        """The parameter that a tensor is, or NO_PARAMETER."""
        return place.parameter if place.parameter >= 0 else self.results.get(place.storage, NO_PARAMETER)

    def _parameter(self, shape: tuple[Size, ...], dtype: str) -> SizedPlace:
        self.buffers.append((shape, dtype))
        return SizedPlace(len(self.buffers) - 1, -1, 0, shape, dtype)

    def _storage(self, size: Size) -> int:
        self.storages.append(SharedStorage(size))
        return len(self.storages) - 1

    def _give_results(self) -> dict[int, int]:
        """{storage of a result: its parameter}; a result that is an input, or given twice, is Unfit."""
        results: dict[int, int] = {}
        for leaf in self.leaves:
            place = self.place_of(leaf)
            if place.parameter >= 0 or place.offset or place.storage in results:
                raise Unfit
            results[place.storage] = self._parameter(place.shape, place.dtype).parameter
        if any(place.offset for _, used in self.calls for place in used if isinstance(place, SizedPlace)):
            raise Unfit  # a part of a storage, which none of our modules has
        for number in results:
            self.storages[number] = SharedStorage(0)
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
