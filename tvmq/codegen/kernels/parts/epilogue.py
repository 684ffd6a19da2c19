"""Epilogue of a kernel: int32 sums to codes, then residual adds and tables over codes; or sums to floats.

    sums (int32 vectors in registers) --Requantizer.codes--> codes --store--> output
    sums                              --Requantizer.reals--> int16 codes --store--> output
    sums                              --Dequantizer.reals--> floats --store--> output
    sums                              --FloatChain.reals--> floats or codes --store--> output
    output, a piece at a time while it is in cache --CodeSteps--> output

An epilogue is a tuple: () leaves the sums as int32, (Dequantize,) makes floats of them, on which FloatSteps may work
and make codes of the result; a requantize step to int16
codes (of a residual stream) stands alone; else one requantize step to 8 bits, then any AddStep and TableStep. A
template asks `plan_epilogue` for parameters and constants, so that templates know nothing of single steps. A new way to
requantize is a Scaler like FloatRequantizer and a line in REQUANTIZERS.

Parameters of the PrimFunc, in this order: x, the b of each AddStep, the template's constants (weights, bias),
constants of the requantize step, one table for each TableStep, the output.

Tests: tests/codegen/kernels/conv/test_matmul.py
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.isa.generic import GENERIC, Instructions, add_lanes
from tvmq.codegen.kernels.parts.builder import (
    Buffer,
    Expr,
    Register,
    Shape,
    bind,
    branch,
    flatten_buffer,
    load,
    spread,
    store,
    vector_type,
)
from tvmq.codegen.kernels.parts.fixed_point import FixedRequantizer
from tvmq.codegen.kernels.parts.float_chain import FloatChain
from tvmq.codegen.kernels.parts.kernel_types import (
    AddStep,
    Dequantize,
    Epilogue,
    FixedRequantize,
    FloatSteps,
    Requantize,
    TableStep,
)
from tvmq.codegen.kernels.parts.scaler import LARGEST_INT32, Parameters, Scaler
from tvmq.errors import BuildError

# (codes, their offset in the output, lanes) -> codes; lanes is vector_bytes or 1
CodeStep = Callable[[Expr, Expr, int], Expr]


@dataclass(frozen=True, eq=False)
class FloatRequantizer(Scaler):
    """numerics.requantize in mode "float": rint(float32(sum) * multiplier) + zero_point, clipped.

    Where negative sums have a slope of their own, the larger of both products is the right one: the slope is at most
    1, and rounding keeps the order. Codes of 16 bits are clipped before they are rounded, which gives the same, as both
    limits are integers; so no product needs more room than it has.

    may_overflow  True if |sum * multiplier| can reach 2^31, which costs one more instruction
    """

    may_overflow: bool

    @classmethod
    def plan(cls, step: Requantize, largest_sum: int) -> FloatRequantizer:
        """largest_sum: a bound on |sum|."""
        multiplier = np.asarray(step.multiplier, np.float32)
        # both factors round once each; 2^-22 covers that
        reach = float(np.abs(multiplier).max(initial=0.0)) * min(largest_sum, LARGEST_INT32)
        return cls(step, step.dtype != "int16" and not reach * (1 + 2.0**-22) < LARGEST_INT32)

    @property
    def key(self) -> tuple[Any, ...]:
        step = self.step
        return "float", step.zero_point, step.qmin, step.qmax, step.dtype, step.negative_slope, self.may_overflow

    @cached_property
    def arrays(self) -> dict[str, np.ndarray]:
        return {"multiplier": np.asarray(self.step.multiplier, np.float32)}

    def load(self, buffers: Sequence[Buffer], offset: Expr, lanes: int) -> tuple[Expr, ...]:
        (multiplier,) = super().load(buffers, offset, lanes)
        if self.step.negative_slope == 1:
            return (multiplier,)
        return multiplier, bind(multiplier * spread(self.step.negative_slope, lanes, "float32"))

    def round_sum(self, ins: Instructions, total: Expr, constants: tuple[Expr, ...]) -> Expr:
        multiplier, *shrunk = constants
        real = T.Cast(vector_type("float32", ins.lanes), total)
        value = T.max(real * multiplier, real * shrunk[0]) if shrunk else real * multiplier
        return bind(ins.to_int32_saturated(value) if self.may_overflow else ins.to_int32(value))

    def reals(self, total: Expr, constants: tuple[Expr, ...], lanes: int) -> Expr:
        step = self.step
        low, high = (spread(float(limit - step.zero_point), lanes, "float32") for limit in (step.qmin, step.qmax))
        real = T.Cast(vector_type("float32", lanes), total) * constants[0]
        rounded = GENERIC.to_int32(T.min(T.max(real, low), high), lanes)
        return bind(T.Cast(vector_type("int16", lanes), rounded + spread(step.zero_point, lanes)))


@dataclass(frozen=True, eq=False)
class Dequantizer(Scaler):
    """numerics.dequantize of sums without zero point: float32(sum) * scale."""

    dtype = "float32"
    key = ("real",)

    @cached_property
    def arrays(self) -> dict[str, np.ndarray]:
        return {"scale": np.asarray(self.step.scale, np.float32)}

    def reals(self, total: Expr, constants: tuple[Expr, ...], lanes: int) -> Expr:
        return bind(T.Cast(vector_type("float32", lanes), total) * constants[0])


REQUANTIZERS: dict[type, Any] = {Requantize: FloatRequantizer, FixedRequantize: FixedRequantizer}


@dataclass(frozen=True, eq=False)
class EpiloguePlan:
    """An epilogue as a template uses it.

    requantizer  None if the sums stay int32, or become floats or int16 codes
    steps        Add and Table steps over codes
    dequantizer  None unless the sums become floats or int16 codes
    """

    requantizer: Any
    steps: tuple[Any, ...]
    dequantizer: Scaler | None = None

    @property
    def scaler(self) -> Any:
        """Step with constants for each channel: the requantizer or the dequantizer, or None."""
        return self.requantizer or self.dequantizer

    def reals(self, totals: Sequence[Expr], constants: Sequence[tuple[Expr, ...]], ins: Instructions) -> list[Expr]:
        """Bound vectors of floats or wide codes of vectors of sums; these themselves if they stay as they are."""
        if isinstance(self.dequantizer, FloatChain):
            return self.dequantizer.all_reals(totals, constants, ins)
        if self.dequantizer is None:
            return list(totals)
        return [self.dequantizer.reals(*pair, ins.lanes) for pair in zip(totals, constants, strict=True)]

    def finish(self, ins: Instructions, total: Expr, constants: tuple[Expr, ...]) -> Expr:
        """Vector of results of one vector of sums: codes, floats, or the sums as they are."""
        if self.dequantizer is not None:
            return self.dequantizer.reals(total, constants, ins.lanes)
        return total if self.requantizer is None else self.requantizer.codes(ins, [total], [constants])

    @property
    def out_dtype(self) -> str:
        """Type of the output."""
        return self.dtypes[-1]

    @property
    def dtypes(self) -> tuple[str, ...]:
        """Type before each of the steps, and of the result."""
        if self.dequantizer is not None:
            return (self.dequantizer.dtype,)
        first = "int32" if self.requantizer is None else self.requantizer.dtype
        return (first, *(step_dtype(step) for step in self.steps))

    @property
    def key(self) -> tuple[Any, ...]:
        """Hashable; epilogues of equal key have equal code."""
        if self.dequantizer is not None:
            return self.dequantizer.key
        first = None if self.requantizer is None else self.requantizer.key
        return (
            first,
            *(step if isinstance(step, AddStep) else ("table", step_dtype(step)) for step in self.steps),
        )

    def data_parameters(self, shape: Shape) -> Parameters:
        """Further data inputs: the b of each AddStep, of the output's shape."""
        adds = [step for step in self.steps if isinstance(step, AddStep)]
        return {f"b{index}": (shape, step.b_dtype) for index, step in enumerate(adds)}

    def constant_parameters(self, channels: int) -> Parameters:
        """Constants of the requantize step for so many channels (as packed), then the tables."""
        parameters = {} if self.scaler is None else self.scaler.parameters(channels)
        tables = [step for step in self.steps if isinstance(step, TableStep)]
        return parameters | {f"table{i}": ((256,), step_dtype(step)) for i, step in enumerate(tables)}

    def constants(self, pack: Callable[[np.ndarray], np.ndarray]) -> tuple[np.ndarray, ...]:
        """Arrays of `constant_parameters`; pack pads and permutes an array of the template's channels."""
        first = () if self.scaler is None else self.scaler.constants(pack)
        return first + tuple(
            bits_table(step.values, dtype)
            for step, dtype in zip(self.steps, self.dtypes, strict=False)
            if isinstance(step, TableStep)
        )

    def code_steps(self, ins: Instructions, buffers: dict[str, Buffer]) -> CodeSteps:
        """The steps over codes; buffers: those of the PrimFunc by parameter name."""
        return CodeSteps(ins, self.steps, self.dtypes, buffers)


def plan_epilogue(epilogue: Epilogue, largest_sum: int = LARGEST_INT32) -> EpiloguePlan:
    """Plan of an epilogue; largest_sum: a bound on |sum| of any channel, if one is known.

    raises  BuildError for a step that integer kernels do not have, or steps out of order
    """
    if not epilogue:
        return EpiloguePlan(None, ())
    if isinstance(epilogue[0], Dequantize):
        if len(epilogue) == 1:
            return EpiloguePlan(None, (), Dequantizer(epilogue[0]))
        if len(epilogue) > 2 or not isinstance(epilogue[1], FloatSteps):
            last = type(epilogue[-1]).__name__
            raise BuildError(f"kernels: {last} cannot follow a dequantize step; float steps can, and nothing else")
        return EpiloguePlan(None, (), FloatChain(epilogue[0], epilogue[1]))
    maker = REQUANTIZERS.get(type(epilogue[0]))
    if maker is None:
        raise BuildError(
            f"kernels: an epilogue starts with a requantize step. Got {type(epilogue[0]).__name__} instead"
        )
    requantizer = maker.plan(epilogue[0], largest_sum)
    if requantizer.dtype == "int16":
        if len(epilogue) > 1 or getattr(epilogue[0], "negative_slope", 1) != 1:
            raise BuildError("kernels: codes of 16 bits are stored as they are; no step and no slope goes with them")
        return EpiloguePlan(None, (), requantizer)
    check_code_steps(epilogue[1:])
    return EpiloguePlan(requantizer, tuple(epilogue[1:]))


def check_code_steps(steps: Epilogue) -> None:
    """Refuse what cannot follow a requantize step, with a BuildError."""
    for step in steps:
        if not isinstance(step, (AddStep, TableStep)):
            raise BuildError(
                f"kernels: {type(step).__name__} cannot follow a requantize step; only AddStep and TableStep can"
            )


def step_dtype(step: Any) -> str:
    """Type of the codes after a step."""
    return str(np.asarray(step.values).dtype) if isinstance(step, TableStep) else str(step.dtype)


def bits_table(values: np.ndarray, dtype: str) -> np.ndarray:
    """Table in the order of the codes' bits: entry of int8 code q at q & 255."""
    values = np.ascontiguousarray(values)
    return np.roll(values, 128) if dtype == "int8" else values


class CodeSteps:
    """Add and Table steps in the code of a kernel. Make it outside of loops: it loads tables."""

    def __init__(
        self, ins: Instructions, steps: Sequence[Any], dtypes: Sequence[str], buffers: dict[str, Buffer]
    ) -> None:
        self._ins = ins
        self._dtypes = dtypes
        self._steps: list[CodeStep] = []
        adds = tables = 0
        for step, dtype in zip(steps, dtypes, strict=False):
            if isinstance(step, AddStep):
                self._steps.append(add_step(ins, step, dtype, flatten_buffer(buffers[f"b{adds}"])))
                adds += 1
            else:
                self._steps.append(table_step(ins, flatten_buffer(buffers[f"table{tables}"]), dtype, step_dtype(step)))
                tables += 1

    def run(self, output: Buffer, begin: Expr, count: Expr, at_least: int) -> None:
        """All steps in place over `count` codes of the output (any shape) from `begin`; see `map_codes`.

        A loop for each step: LLVM takes seconds over the byte shuffles of a table and an add in one loop.
        """
        for step, before, after in zip(self._steps, self._dtypes[:-1], self._dtypes[1:], strict=True):
            source, target = flatten_buffer(output, before), flatten_buffer(output, after)

            def value(
                offset: Expr, lanes: int, step: CodeStep = step, source: Buffer = source, dtype: str = before
            ) -> Expr:
                return step(load(source, offset, vector_type(dtype, lanes)), offset, lanes)

            map_codes(self._ins, target, after, begin, count, at_least, value)

    def run_any(self, output: Buffer, begin: Expr, count: Expr) -> None:
        """`run` over a count that only a run tells, of whole vectors or fewer codes."""
        size = self._ins.vector_bytes
        branch(count >= size, lambda: self.run(output, begin, count, size), lambda: self.run(output, begin, count, 1))


def map_codes(
    ins: Instructions,
    target: Buffer,
    dtype: str,
    begin: Expr,
    count: Expr,
    at_least: int,
    value: Callable[[Expr, int], Expr],
) -> None:
    """target[begin : begin + count] = value(offset, lanes), by whole vectors; target is flat, of type dtype.

    value     codes at offset, `lanes` of them: vector_bytes or 1; may read the target at the same offsets
    at_least  a lower bound of count, known at compile time; below vector_bytes the loop is scalar
    The last vector ends at the end and overlaps its neighbour; it is computed first, so that it sees the old
    contents of the target as all others do. Nothing outside of the range is read or written.
    """
    size = ins.vector_bytes
    if at_least < size:
        with T.serial(0, count) as i:
            store(target, begin + i, value(begin + i, 1), 1)
        return
    even = isinstance(count, int) and count % size == 0
    last = bind(begin + count - size)
    tail = Register(dtype, size)
    if not even:
        tail.set(value(last, size))
    with T.serial(0, count // size if isinstance(count, int) else T.floordiv(count, size)) as i:
        offset = bind(begin + i * size)
        store(target, offset, value(offset, size), size)
    if not even:
        store(target, last, tail.get(), size)


def add_step(ins: Instructions, step: AddStep, dtype: str, other: Buffer) -> CodeStep:
    """The step that adds the codes of a flat buffer to codes of type dtype."""

    def add(codes: Expr, offset: Expr, lanes: int) -> Expr:
        b = load(other, offset, vector_type(step.b_dtype, lanes))
        return add_lanes(codes, b, step, 1) if lanes == 1 else ins.add(codes, b, step, dtype)

    return add


def table_step(ins: Instructions, table: Buffer, dtype: str, out_dtype: str) -> CodeStep:
    """The step that looks codes of type dtype up in a flat table in the order of `bits_table`."""
    find = ins.lookup(table, out_dtype)

    def lookup(codes: Expr, _offset: Expr, lanes: int) -> Expr:
        bits = codes if dtype == "uint8" else T.reinterpret(vector_type("uint8", lanes), codes)
        return table[T.Cast("int32", bits)] if lanes == 1 else find(bits)

    return lookup
