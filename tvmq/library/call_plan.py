"""A function whose memory is planned as a list of steps: which kernel is called, and where its arguments lie.

Before (behind StaticPlanBlockMemory)             After
    storage = alloc_storage([n])                      call kernel    (input 0, constant 0, storage + 0)
    a = alloc_tensor(storage, shape)                  call kernel_1  (storage + 0, constant 1, output 0)
    kernel(x, constants, a)
    y = alloc_tensor(shape)
    kernel_1(a, constants, y)
    return y

A result that is an input, a constant, or given twice is copied to its output in the end.

Tests: tests/library/test_call_plan.py
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import prod
from typing import NoReturn

import numpy as np
import tvm
from tvm import relax, tirx

from tvmq.errors import BuildError
from tvmq.graph.view import const_value, is_const, results_of

ALIGNMENT = 64
INPUT, OUTPUT, STORAGE, CONSTANT, FRESH = "input", "output", "storage", "constant", "fresh"


@dataclass(frozen=True)
class TensorLocation:
    """Where a tensor lies: `offset` bytes from the begin of input, output or constant `number`, or of the storage."""

    memory: str
    number: int
    offset: int
    shape: tuple[int, ...]
    dtype: str

    @property
    def size(self) -> int:
        """Bytes of the tensor."""
        return prod(self.shape) * np.dtype(self.dtype).itemsize


@dataclass(frozen=True)
class Call:
    """Call of a kernel."""

    kernel: str
    places: tuple[TensorLocation, ...]


@dataclass(frozen=True)
class Copy:
    """Copy of a tensor's bytes."""

    source: TensorLocation
    target: TensorLocation


@dataclass
class CallPlan:
    """Steps, the constants that they read, bytes of intermediate results."""

    steps: list[Call | Copy] = field(default_factory=list)
    constants: list[np.ndarray] = field(default_factory=list)
    storage_bytes: int = 0


def make_plan(mod: tvm.IRModule, name: str = "main") -> CallPlan:
    """Steps of a function of a module whose memory is planned.

    raises   BuildError naming what no step can do
    """
    return _PlanReader(mod, mod[name]).read()


class _PlanReader:
    """A walk over the bindings of a function."""

    def __init__(self, mod: tvm.IRModule, func: relax.Function) -> None:
        self.mod, self.func, self.plan = mod, func, CallPlan()
        # by variable: passes of TVM give several one name
        self.places: dict[relax.Var, TensorLocation] = {}
        self._storages: dict[relax.Var, int] = {}
        self._tuples: dict[relax.Var, list[TensorLocation]] = {}
        self._numbers: dict[relax.Expr, int] = {}  # of constants
        self._fresh = 0  # results are allocated apart from the storage

    def read(self) -> CallPlan:
        """The plan."""
        for number, param in enumerate(self.func.params):
            self.places[param] = TensorLocation(INPUT, number, 0, *_tensor(param))
        for block in self.func.body.blocks:
            for binding in block.bindings:
                if not isinstance(binding, relax.VarBinding):
                    _refuse(binding.var, "a check of sizes")
                self._bind(binding.var, binding.value)
        results = [place for leaf in results_of(self.func) for place in self._places(leaf)]
        return self._with_outputs(results)

    def _bind(self, var: relax.Var, value: relax.Expr) -> None:
        if isinstance(value, relax.Var):
            self._bind_alias(var, value)
        elif isinstance(value, relax.Tuple):  # what a kernel with several results gives
            self._tuples[var] = [self._place(item) for item in value.fields]
        elif isinstance(value, relax.TupleGetItem):
            if value.tuple_value not in self._tuples:
                _refuse(var, "a part of a tuple that is no result of one kernel")
            self.places[var] = self._tuples[value.tuple_value][value.index]
        elif isinstance(value, relax.Call):
            self._bind_call(var, value)
        else:
            _refuse(var, f"a value of the kind {type(value).__name__}")

    def _bind_alias(self, var: relax.Var, value: relax.Var) -> None:
        if value in self._storages:
            self._storages[var] = self._storages[value]
        else:
            self.places[var] = self._place(value)

    def _bind_call(self, var: relax.Var, value: relax.Call) -> None:
        name = str(getattr(value.op, "name", ""))
        if name == "relax.reshape":
            self.places[var] = replace(self._place(value.args[0]), shape=_tensor(var)[0])
        elif name == "relax.memory.alloc_storage":
            sizes = value.args[0].values
            if not all(isinstance(size, tirx.IntImm) for size in sizes):
                _refuse(var, "memory of a dynamic size")
            self._storages[var] = self.plan.storage_bytes
            self.plan.storage_bytes += _align(prod(map(int, sizes)))
        elif name == "relax.memory.alloc_tensor":
            begin = self._storages[value.args[0]] + int(value.args[1].value)
            self.places[var] = TensorLocation(STORAGE, 0, begin, *_tensor(var))
        elif name == "relax.builtin.alloc_tensor":
            self.places[var] = TensorLocation(FRESH, self._fresh, 0, *_tensor(var))
            self._fresh += 1
        elif isinstance(value.op, tvm.ir.GlobalVar) and isinstance(self.mod[value.op], tirx.PrimFunc):
            places = tuple(self._place(arg) for arg in value.args)
            self.plan.steps.append(Call(str(value.op.name_hint), places))
        else:
            _refuse(var, f"'{name or value.op}', which only a virtual machine runs")

    def _places(self, result: relax.Expr) -> list[TensorLocation]:
        return self._tuples[result] if result in self._tuples else [self._place(result)]

    def _place(self, expr: relax.Expr) -> TensorLocation:
        if isinstance(expr, relax.Var) and expr in self.places:
            return self.places[expr]
        if not is_const(expr):
            _refuse(expr, "a value that is no tensor")
        if expr not in self._numbers:
            self._numbers[expr] = len(self.plan.constants)
            self.plan.constants.append(const_value(expr))
        return TensorLocation(CONSTANT, self._numbers[expr], 0, *_tensor(expr))

    def _with_outputs(self, results: list[TensorLocation]) -> CallPlan:
        """The plan with results in the memory of the outputs; what is allocated and no result goes to the storage."""
        outputs: dict[int, TensorLocation] = {}
        copies = []
        for number, result in enumerate(results):
            target = TensorLocation(OUTPUT, number, 0, result.shape, result.dtype)
            if result.memory == FRESH and result.number not in outputs:
                outputs[result.number] = target
            else:
                copies.append((result, target))
        moved = {number: ("", 0) for number in range(self._fresh)}

        def move(place: TensorLocation) -> TensorLocation:
            if place.memory != FRESH:
                return place
            if place.number in outputs:
                return replace(place, memory=OUTPUT, number=outputs[place.number].number)
            if not moved[place.number][0]:
                moved[place.number] = STORAGE, self.plan.storage_bytes
                self.plan.storage_bytes += _align(place.size)
            return replace(place, memory=STORAGE, number=0, offset=moved[place.number][1])

        steps = [Call(step.kernel, tuple(map(move, step.places))) for step in self.plan.steps if isinstance(step, Call)]
        self.plan.steps = [*steps, *(Copy(move(source), target) for source, target in copies)]
        return self.plan


def _align(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


def _refuse(expr: relax.Expr, what: str) -> NoReturn:
    name = expr.name if isinstance(expr, relax.Var) else "a result"
    raise BuildError(f"export_library: '{name}' is {what}; a library takes models of fixed sizes alone")


def _tensor(expr: relax.Expr) -> tuple[tuple[int, ...], str]:
    """Shape and type of a tensor of static shape."""
    ty = expr.ty
    if not isinstance(ty, relax.TensorType) or not isinstance(ty.shape, relax.ShapeExpr):
        _refuse(expr, f"of type {ty}, no tensor of known shape")
    if not all(isinstance(size, tirx.IntImm) for size in ty.shape):
        _refuse(expr, f"a tensor of dynamic shape {ty.shape}")
    return tuple(int(size) for size in ty.shape), str(ty.dtype)
