"""A function whose memory is planned as a list of steps: which kernel is called, and where its arguments lie.

Before (behind StaticPlanBlockMemory)             After
    storage = alloc_storage([n])                      call kernel    (input 0, constant 0, storage + 0)
    a = alloc_tensor(storage, shape)                  call kernel_1  (storage + 0, constant 1, output 0)
    kernel(x, constants, a)
    y = alloc_tensor(shape)
    kernel_1(a, constants, y)
    return y

A result that is an input, a constant, or given twice is copied to its output in the end. Shapes, places and bytes are
numbers of a table of sizes (size_table.py), so that dynamic ones are computed in the beginning of a run.

Tests: tests/library/test_call_plan.py
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

import numpy as np
import tvm
from tvm import relax, tirx

from tvmq.codegen.compile.kernel_scratch import Scratch
from tvmq.errors import BuildError
from tvmq.graph.view import const_value, is_const, results_of
from tvmq.library.scratch_sizes import ScratchSizes
from tvmq.library.size_expressions import Unknown, number_of
from tvmq.library.size_table import SizeTable
from tvmq.library.storage_plan import Span, share_storages

INPUT, OUTPUT, STORAGE, CONSTANT, NUMBER = "input", "output", "storage", "constant", "number"


@dataclass(frozen=True)
class TensorLocation:
    """Where a tensor lies: `offset` bytes from the begin of input, output or constant `number`, or of the storage.

    Sizes and offset are numbers of the plan's table. An argument of the memory NUMBER is the offset itself.
    """

    memory: str
    number: int
    offset: int
    shape: tuple[int, ...]
    dtype: str


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

    @property
    def places(self) -> tuple[TensorLocation, ...]:
        """Both."""
        return self.source, self.target


@dataclass
class CallPlan:
    """Steps, the constants that they read, and numbers of bytes.

    outputs             places of the outputs
    storage_bytes       of intermediate results
    scratch_bytes       that a kernel asks for while it runs, of all the most
    task_scratch_bytes  that each thread of a kernel asks for
    sizes               the table of all numbers below 0
    """

    steps: list[Call | Copy] = field(default_factory=list)
    constants: list[np.ndarray] = field(default_factory=list)
    outputs: list[TensorLocation] = field(default_factory=list)
    storage_bytes: int = 0
    scratch_bytes: int = 0
    task_scratch_bytes: int = 0
    sizes: SizeTable = field(default_factory=SizeTable)


def make_plan(
    mod: tvm.IRModule,
    name: str = "main",
    *,
    sizes: SizeTable | None = None,
    usual: Mapping[str, int] | None = None,
    scratch: Mapping[str, Scratch] | None = None,
) -> CallPlan:
    """Steps of a function of a module whose memory is planned.

    sizes    the table, to which numbers of this function are added; its dimensions are those of the function
    usual    sizes of them at which little memory is needed
    scratch  {kernel: what it allocates}
    raises   BuildError naming what no step can do
    """
    return _PlanReader(mod, mod[name], sizes or SizeTable()).read(usual or {}, scratch or {})


class _PlanReader:
    """A walk over the bindings of a function."""

    def __init__(self, mod: tvm.IRModule, func: relax.Function, sizes: SizeTable) -> None:
        self.mod, self.func, self.plan = mod, func, CallPlan(sizes=sizes)
        # by variable: passes of TVM give several one name
        self.places: dict[relax.Var, TensorLocation] = {}
        self._storages: dict[relax.Var, int] = {}
        self._storage_bytes: list[int] = []
        self._tuples: dict[relax.Var, list[TensorLocation]] = {}
        self._numbers: dict[relax.Expr, int] = {}  # of constants
        self._fresh: set[int] = set()  # storages of one tensor, which may be an output's memory

    def read(self, usual: Mapping[str, int], scratch: Mapping[str, Scratch]) -> CallPlan:
        """The plan."""
        for number, param in enumerate(self.func.params):
            self.places[param] = TensorLocation(INPUT, number, 0, *self._tensor(param))
        for block in self.func.body.blocks:
            for binding in block.bindings:
                if not isinstance(binding, relax.VarBinding):
                    _refuse(binding.var, "a check of sizes")
                self._bind(binding.var, binding.value)
        self._give_outputs([place for leaf in results_of(self.func) for place in self._places(leaf)])
        self._place_storages(usual)
        calls = [(step.kernel, step.places) for step in self.plan.steps if isinstance(step, Call)]
        sums = ScratchSizes(self.plan.sizes, scratch).most(calls)
        self.plan.scratch_bytes, self.plan.task_scratch_bytes = sums
        return self.plan

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
            self._bind_reshape(var, self._place(value.args[0]))
        elif name == "relax.memory.alloc_storage":
            factors = [self._number(var, size) for size in value.args[0].values]
            self._storages[var] = self._add_storage(self.plan.sizes.multiply(factors))
        elif name == "relax.memory.alloc_tensor":
            storage, offset = self._storages[value.args[0]], self._number(var, value.args[1])
            self.places[var] = TensorLocation(STORAGE, storage, offset, *self._tensor(var))
        elif name == "relax.builtin.alloc_tensor":
            shape, dtype = self._tensor(var)
            storage = self._add_storage(self.plan.sizes.tensor_bytes(shape, dtype))
            self._fresh.add(storage)
            self.places[var] = TensorLocation(STORAGE, storage, 0, shape, dtype)
        elif isinstance(value.op, tvm.ir.GlobalVar) and isinstance(self.mod[value.op], tirx.PrimFunc):
            places = tuple(self._place(arg) for arg in value.args)
            self.plan.steps.append(Call(str(value.op.name_hint), places))
        else:
            _refuse(var, f"'{name or value.op}', which only a virtual machine runs")

    def _bind_reshape(self, var: relax.Var, place: TensorLocation) -> None:
        shape, table = self._tensor(var)[0], self.plan.sizes
        table.require_same(table.multiply(place.shape), table.multiply(shape))
        self.places[var] = replace(place, shape=shape)

    def _add_storage(self, size: int) -> int:
        self._storage_bytes.append(size)
        return len(self._storage_bytes) - 1

    def _places(self, result: relax.Expr) -> list[TensorLocation]:
        return self._tuples[result] if result in self._tuples else [self._place(result)]

    def _place(self, expr: Any) -> TensorLocation:
        if isinstance(expr, tvm.ir.Var) and expr in self.places:
            return self.places[expr]
        if str(expr.ty) == "int64":
            return TensorLocation(NUMBER, 0, self._number(expr, expr), (), "int64")
        if not is_const(expr):
            _refuse(expr, "a value that is no tensor")
        if expr not in self._numbers:
            self._numbers[expr] = len(self.plan.constants)
            self.plan.constants.append(const_value(expr))
        return TensorLocation(CONSTANT, self._numbers[expr], 0, *self._tensor(expr))

    def _give_outputs(self, results: list[TensorLocation]) -> None:
        """Results in the memory of the outputs: written there, or copied in the end."""
        outputs: dict[int, int] = {}
        copies = []
        for number, result in enumerate(results):
            self.plan.outputs.append(TensorLocation(OUTPUT, number, 0, result.shape, result.dtype))
            if result.memory == STORAGE and result.number in self._fresh and result.number not in outputs:
                outputs[result.number] = number
            else:
                copies.append(Copy(result, self.plan.outputs[-1]))

        def move(place: TensorLocation) -> TensorLocation:
            if place.memory != STORAGE or place.number not in outputs:
                return place
            return replace(place, memory=OUTPUT, number=outputs[place.number])

        steps = [Call(step.kernel, tuple(map(move, step.places))) for step in self.plan.steps if isinstance(step, Call)]
        self.plan.steps = [*steps, *(Copy(move(copy.source), copy.target) for copy in copies)]

    def _place_storages(self, usual: Mapping[str, int]) -> None:
        """Storages side by side, and one behind the other in time where they share memory."""
        spans: dict[int, Span] = {}
        for number, step in enumerate(self.plan.steps):
            for place in step.places:
                if place.memory == STORAGE:
                    first = spans[place.number].first if place.number in spans else number
                    spans[place.number] = Span(self._storage_bytes[place.number], first, number)
        table = self.plan.sizes
        begins, self.plan.storage_bytes = share_storages(spans, table, usual)

        def move(place: TensorLocation) -> TensorLocation:
            if place.memory != STORAGE:
                return place
            return replace(place, number=0, offset=table.apply("add", begins[place.number], place.offset))

        self.plan.steps = [
            Call(step.kernel, tuple(map(move, step.places)))
            if isinstance(step, Call)
            else Copy(move(step.source), step.target)
            for step in self.plan.steps
        ]

    def _tensor(self, expr: relax.Expr) -> tuple[tuple[int, ...], str]:
        """Shape and type of a tensor."""
        ty = expr.ty
        if not isinstance(ty, relax.TensorType) or not isinstance(ty.shape, relax.ShapeExpr):
            _refuse(expr, f"of type {ty}, no tensor of known shape")
        return tuple(self.plan.sizes.length(self._number(expr, size)) for size in ty.shape), str(ty.dtype)

    def _number(self, expr: relax.Expr, size: Any) -> int:
        """Number of a size that an expression has."""
        try:
            return number_of(self.plan.sizes, size, lambda var: self.plan.sizes.dimension(str(var.name)))
        except (Unknown, KeyError) as error:
            _refuse(expr, f"of a size that is not computed from those of the inputs, {error.args[0]}")


def _refuse(expr: relax.Expr, what: str) -> NoReturn:
    name = expr.name if isinstance(expr, relax.Var) else "a result"
    raise BuildError(f"export_library: '{name}' is {what}; `tvmq.build` and `save` take the model")
