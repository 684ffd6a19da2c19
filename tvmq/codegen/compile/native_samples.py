"""A loop over samples in native code, for models of a dynamic batch whose main computes one sample.

    main_samples(x):                                      x: (samples, ...)
        memory, y = alloc_tensor(...), alloc_tensor((samples, ...))
        for each sample:
            the calls of main_kernels (native_main.py), on the sample's part of x and y
        return y

A call from Python for each sample takes 7 us, as long as the kernels of a small network, and holds Python's lock: here
Python waits once, so that other threads run other samples (runtime/sample_threads.py).

Alignment  kernels take tensors at addresses that are multiples of ALIGNMENT bytes; a sample that is no such multiple is
           copied from and to an aligned tensor
Needs      what native_main.py needs, and at most MOST_CALLS calls
Numerics   none

Tests: tests/codegen/compile/test_native_samples.py
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import tvm
from tvm import relax, tirx
from tvm.script.ir_builder import IRBuilder
from tvm.script.ir_builder import tirx as T

from tvmq.codegen.compile.native_main import ALIGNMENT, MOST_CALLS, MainPlan, TensorPlace, Unfit, emit_calls
from tvmq.runtime.call_code import SAMPLES

MAIN, LOOP = "main", "_loop"


@dataclass(frozen=True)
class SampleAxes:
    """Which inputs and outputs of main have the samples in their first axis; the others have none."""

    inputs: tuple[bool, ...]
    outputs: tuple[bool, ...]

    @classmethod
    def of_shapes(
        cls, batch: str, inputs: Sequence[Sequence[int | str]], outputs: Sequence[Sequence[int | str]]
    ) -> SampleAxes | None:
        """From shapes with names of dynamic dimensions; None without a batch, and where it is elsewhere.

        >>> SampleAxes.of_shapes("n", [("n", 3), (5,)], [("n", 10)])
        SampleAxes(inputs=(True, False), outputs=(True,))
        >>> SampleAxes.of_shapes("n", [(7, "n", 3)], [("n", 10)]) is SampleAxes.of_shapes("", [(3,)], [(3,)]) is None
        True
        """
        sides = [[_is_first(batch, shape) for shape in shapes] for shapes in (inputs, outputs)]
        if not batch or None in (*sides[0], *sides[1]) or not any(sides[0]):
            return None
        return cls(*(tuple(map(bool, side)) for side in sides))


def _is_first(batch: str, shape: Sequence[int | str]) -> bool | None:
    """True for a tensor of samples, False for one without them, None where they are not in the first axis alone."""
    if shape and shape[0] == batch and all(isinstance(size, int) for size in shape[1:]):
        return True
    return False if all(isinstance(size, int) for size in shape) else None


def with_sample_loop(mod: tvm.IRModule, axes: SampleAxes) -> tvm.IRModule:
    """The module with `main_samples` beside main, if main can have native code; mod: any module of planned memory."""
    main = next((func for gvar, func in mod.functions_items() if gvar.name_hint == MAIN), None)
    try:
        plan = MainPlan(mod, main) if isinstance(main, relax.Function) else None
    except Unfit:
        return mod
    if plan is None or not 0 < len(plan.calls) <= MOST_CALLS:
        return mod
    builder = relax.BlockBuilder(mod)
    _SampleLoop(plan, axes).emit(builder)
    return builder.get()


class _SampleLoop:
    """Emits the loop of a plan; parameters are its buffers, then aligned tensors of samples that need them."""

    def __init__(self, plan: MainPlan, axes: SampleAxes) -> None:
        self.plan = plan
        params = [plan.places[param].parameter for param in plan.func.params]
        leaves = [plan.place_of(leaf).parameter for leaf in plan.leaves]
        self.inputs = [number for number, has in zip(params, axes.inputs, strict=True) if has]
        self.outputs = [number for number, has in zip(leaves, axes.outputs, strict=True) if has]
        self.sampled = {*self.inputs, *self.outputs}
        self.staged = [number for number in sorted(self.sampled) if self._bytes(number) % ALIGNMENT]

    def _size(self, number: int) -> int:
        return prod(self.plan.buffers[number][0])

    def _bytes(self, number: int) -> int:
        return self._size(number) * np.dtype(self.plan.buffers[number][1]).itemsize

    def emit(self, builder: relax.BlockBuilder) -> None:
        """Add both functions."""
        loop = builder.add_func(self._loop(MAIN + SAMPLES + LOOP), MAIN + SAMPLES + LOOP)
        count = tirx.Var("samples", "int64")
        plan, symbol = self.plan, MAIN + SAMPLES
        places = [plan.places[param].parameter for param in plan.func.params]
        params = [
            relax.Var(param.name, self._type(number, count) if number in self.sampled else param.ty)
            for param, number in zip(plan.func.params, places, strict=True)
        ]
        attrs = {"global_symbol": symbol, "relax.force_pure": True}
        with builder.function(symbol, params, attrs=attrs, pure=False):
            tensors: dict[int, relax.Expr] = {}
            for param, number in zip(params, places, strict=True):
                tensors[number] = self._flatten(builder, param, number, count) if number in self.sampled else param
            for number in (*plan.results, plan.memory):
                shape = [count, self._size(number)] if number in self.sampled else plan.buffers[number][0]
                tensors[number] = self._allocate(builder, shape, plan.buffers[number][1])
            constants = iter(plan.constants)
            args = [tensors[number] if number in tensors else next(constants) for number in range(len(plan.buffers))]
            args += [self._allocate(builder, [self._size(n)], plan.buffers[n][1]) for n in self.staged]
            builder.emit(relax.Call(loop, args, ty_args=[relax.TupleType([])]))
            leaves = [builder.emit(self._result(leaf, tensors, count)) for leaf in plan.leaves]
            is_tuple = isinstance(plan.func.body.body.ty, relax.TupleType)
            builder.emit_func_output(relax.Tuple(leaves) if is_tuple else leaves[0])

    def _type(self, number: int, count: tirx.Var) -> relax.TensorType:
        shape, dtype = self.plan.buffers[number]
        return relax.TensorType((count, *shape[1:]), dtype)

    def _flatten(self, builder: relax.BlockBuilder, param: relax.Var, number: int, count: tirx.Var) -> relax.Expr:
        return builder.emit(relax.op.reshape(param, relax.ShapeExpr([count, self._size(number)])))

    def _result(self, leaf: relax.Expr, tensors: Mapping[int, relax.Expr], count: tirx.Var) -> relax.Expr:
        place = self.plan.place_of(leaf)
        first: list[Any] = [count, *place.shape[1:]] if place.parameter in self.sampled else list(place.shape)
        return relax.op.reshape(tensors[place.parameter], relax.ShapeExpr(first))

    @staticmethod
    def _allocate(builder: relax.BlockBuilder, shape: Sequence[Any], dtype: str) -> relax.Var:
        return builder.emit(relax.op.builtin.alloc_tensor(relax.ShapeExpr(list(shape)), dtype, 0))

    def _loop(self, symbol: str) -> Any:
        """The PrimFunc of the loop."""
        plan, builder, frame = self.plan, IRBuilder(), T.prim_func(s_tir=True)
        with builder:
            with frame:
                T.func_name(symbol)
                T.func_attr({"global_symbol": symbol, "tirx.noalias": True})
                count = tirx.Var("samples", "int64")
                buffers = [
                    T.arg(f"p{n}", T.buffer((count, self._size(n)) if n in self.sampled else shape, dtype))
                    for n, (shape, dtype) in enumerate(plan.buffers)
                ]
                staged = {
                    n: T.arg(f"staged{n}", T.buffer((self._size(n),), plan.buffers[n][1])) for n in self.staged
                }

                with T.serial(0, count) as sample:
                    for number in set(self.inputs) & set(self.staged):
                        with T.serial(0, self._size(number)) as i:
                            T.buffer_store(staged[number], buffers[number][sample, i], [i])

                    def data_of(place: TensorPlace) -> Any:
                        number = plan.memory if place.parameter < 0 else place.parameter
                        if number in staged:
                            return staged[number].data
                        if number in self.sampled:
                            return T.address_of(buffers[number][sample, 0])
                        if place.parameter < 0:
                            return T.address_of(buffers[number][place.offset])
                        return buffers[number].data

                    emit_calls(plan.calls, data_of)
                    for number in set(self.outputs) & set(self.staged):
                        with T.serial(0, self._size(number)) as i:
                            T.buffer_store(buffers[number], staged[number][i], [sample, i])
        return builder.get()
