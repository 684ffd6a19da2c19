"""recurrent: LSTM, GRU and RNN in one direction on NVIDIA GPUs: all steps in one kernel.

Computes   numerics.recurrent and recurrent_codes, bit for bit
Layouts    as the operator has them; float weights [depth][column], codes [depth / 4][column][4]
Threads    a block has a sample, whose state stands in shared memory; a thread has every `threads`-th hidden unit with
           all its gates, so that neighbouring threads read neighbouring columns. Codes: dp4a of four of the depth
Steps      scale and codes of the state, products, cells, new state; barriers part them, as all threads read all of it
Bytes      the weight is read once a step and sample, from the second cache

Tests: tests/cuda_emulator/test_recurrent.py
"""

from __future__ import annotations

from typing import Any

import numpy as np
from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.cuda.builder import (
    WARP,
    CudaFunction,
    allocate_registers,
    allocate_shared,
    call,
    put,
    synchronize,
    unroll,
    value_of,
    view_as_int32,
    where,
)
from tvmq.codegen.kernels.cuda.tile import STATIC_SHARED
from tvmq.codegen.kernels.parts.builder import Buffer, Expr, bind, const
from tvmq.codegen.kernels.parts.kernel_types import Kernel
from tvmq.codegen.kernels.parts.scaler import Parameters
from tvmq.codegen.kernels.parts.symbols import TirSymbol
from tvmq.codegen.kernels.recurrent.recurrent import Recurrent
from tvmq.codegen.kernels.recurrent.state_product import LARGEST, LARGEST_CODE, NORMAL, pad
from tvmq.numerics.recurrent import activate, reset_state

MOST_THREADS = 256


def recurrent(layer: Recurrent, weight: np.ndarray, terms: np.ndarray, scale: np.ndarray | None = None) -> Kernel:
    """Kernel gates, state, [lengths,] constants, y; arrays as those of kernels.recurrent."""
    constants = [_by_fours(weight) if layer.is_codes else np.ascontiguousarray(weight, np.float32).reshape(-1)]
    if scale is not None:
        constants.append(np.asarray(scale, np.float32))
    if layer.cell.terms:
        constants.append(np.asarray(terms, np.float32))
    name = f"{layer.kind}_{'codes_dp4a' if layer.is_codes else 'float'}"
    return Kernel(name, _CudaRecurrentTemplate(layer).prim_func(name), tuple(constants), ("cuda", "recurrent", layer))


def fits_shared(layer: Recurrent) -> bool:
    """True where a sample's state fits a block.

    >>> from dataclasses import replace
    >>> layer = Recurrent("gru", "sigmoid,tanh", 0.0, False, False, 5, 1, 5, 4096, False, "all", True)
    >>> fits_shared(layer), fits_shared(replace(layer, hidden=8192))
    (True, False)
    """
    return _shared_bytes(layer) <= STATIC_SHARED


def _shared_bytes(layer: Recurrent) -> int:
    """Shared memory of a block: the state, r * h, codes, and a word more of each (see builder.allocate_shared)."""
    line = pad(layer.hidden, 4)
    return (4 * line + 4) * (2 if layer.cell.late else 1) + (line + 4) * layer.is_codes


def _by_fours(weight: np.ndarray) -> np.ndarray:
    """int8 [depth, columns] -> [depth / 4][column][4], zero beyond the depth."""
    depth, columns = weight.shape
    padded = np.zeros((pad(depth, 4), columns), np.int8)
    padded[:depth] = weight
    return np.ascontiguousarray(padded.reshape(-1, 4, columns).transpose(0, 2, 1)).reshape(-1)


class _CudaRecurrentTemplate:
    """The PrimFunc; see the head of this file."""

    def __init__(self, layer: Recurrent) -> None:
        self.layer, self.cell, self.hidden = layer, layer.cell, layer.hidden
        self.width = self.cell.gates * self.hidden
        self.threads = min(MOST_THREADS, pad(self.hidden, WARP))
        self.turns = -(-self.hidden // self.threads)
        self.line = pad(self.hidden, 4)  # of floats, from the state to r * h, and to the codes

    def prim_func(self, name: str) -> Any:
        """The function."""
        layer, cell = self.layer, self.cell
        parameters: Parameters = {
            "gates": ((layer.steps, layer.batch, self.width), "float32"),
            "state": ((cell.states, 1 if layer.shared_state else layer.batch, self.hidden), "float32"),
        }
        if layer.lengths != "all":
            parameters["lengths"] = ((layer.batch if layer.lengths == "each" else 1,), "int32")
        parameters["w"] = ((self.line * self.width,), "int8") if layer.is_codes else (
            (self.hidden * self.width,), "float32")  # fmt: skip
        if layer.is_codes:
            parameters["scale"] = ((self.width,), "float32")
        if cell.terms:
            parameters["terms"] = ((cell.terms * self.hidden,), "float32")
        parameters["y"] = ((layer.rows, layer.batch, self.hidden), "float32")
        with CudaFunction(name, parameters, (layer.batch, 1), self.threads) as function:
            self.buffers = function.flat_views(parameters)
            self.sample, self.thread = function.block[0], function.thread
            self.steps, self.batch = function.count((layer.steps,)), function.count((layer.batch,))
            self._all_steps()
        return function.prim_func

    def _all_steps(self) -> None:
        self.state = self._floats("state")
        self.reset = self._floats("reset") if self.cell.late else None
        self.codes = allocate_shared("codes", self.line + 4) if self.layer.is_codes else None
        self.states = [allocate_registers(f"state_{i}", self.turns, "float32") for i in range(self.cell.states)]
        self.products = allocate_registers("products", self.turns * self.cell.gates, "float32")
        self._load_states()
        with T.serial(0, self.steps) as turn:
            step = value_of("step", self.steps - 1 - turn if self.layer.reverse else turn)
            self._step(step)
        if self.layer.ends:
            for index, own in enumerate(self.states):
                with unroll(self.turns, "turn") as turn, self._unit(turn) as unit:
                    place = ((self.steps + index) * self.batch + self.sample) * self.hidden + unit
                    put(self.buffers["y"], place, own[turn])

    def _floats(self, name: str) -> Buffer:
        """Shared memory of a state; a buffer of its own for each, lest TVM part its reads and writes by barriers."""
        memory = allocate_shared(name, 4 * self.line + 4)
        return T.decl_buffer((self.line + 1,), "float32", data=memory.data, scope=memory.scope())

    def _unit(self, turn: Expr) -> _Unit:
        return _Unit(value_of("unit", turn * self.threads + self.thread), self.hidden)

    def _load_states(self) -> None:
        for index, own in enumerate(self.states):
            sample = index if self.layer.shared_state else index * self.batch + self.sample
            with unroll(self.turns, "turn") as turn, self._unit(turn) as unit:
                put(own, turn, self.buffers["state"][sample * self.hidden + unit])
        if self.layer.is_codes and self.hidden % 4:
            with where(self.thread < self.line - self.hidden):
                put(self.codes, self.hidden + self.thread, const(0, "int8"))
        self._share_state()

    def _share_state(self) -> None:
        with unroll(self.turns, "turn") as turn, self._unit(turn) as unit:
            put(self.state, unit, self.states[0][turn])
        synchronize()

    def _step(self, step: Expr) -> None:
        early = self.cell.gates - self.cell.late
        self._product(self.state, 0, early)
        place = value_of("place", step * self.batch + self.sample)
        if self.cell.late:
            with unroll(self.turns, "turn") as turn, self._unit(turn) as unit:
                x, p = self._gates(place, turn, unit, early)
                put(self.reset, unit, reset_state(x, p, self._state(0, turn), self._act).exprs[0])
            synchronize()
            self._product(self.reset, early, self.cell.gates)
        with unroll(self.turns, "turn") as turn, self._unit(turn) as unit:
            self._update(step, place, turn, unit)
        synchronize()
        self._share_state()

    def _update(self, step: Expr, place: Expr, turn: Expr, unit: Expr) -> None:
        """The new states of a unit, and its part of y."""
        old = [self._state(i, turn) for i in range(self.cell.states)]
        terms = [self._symbol(self.buffers["terms"][i * self.hidden + unit]) for i in range(self.cell.terms)]
        x, p = self._gates(place, turn, unit, self.cell.gates)
        new = [value.exprs[0] for value in self.cell.step(x, p, old[0], old[-1], terms, self._act)]
        y = new[0]
        if self.layer.lengths != "all":
            runs = value_of("runs", step < self.buffers["lengths"][self.sample if self.layer.lengths == "each" else 0])
            y = T.Select(runs, y, const(0.0, "float32"))
            new = [T.Select(runs, *pair) for pair in zip(new, (value.exprs[0] for value in old), strict=True)]
        put(self.buffers["y"], place * self.hidden + unit, y)
        for own, value in zip(self.states, new, strict=True):
            put(own, turn, value)

    def _product(self, source: Buffer, begin: int, end: int) -> None:
        """Gates begin .. end of a state in shared memory, of the thread's units."""
        scale = self._quantize(source) if self.layer.is_codes else None
        count, gates = end - begin, self.cell.gates
        sums = allocate_registers("sums", count, "int32" if scale is not None else "float32")
        with unroll(self.turns, "turn") as turn, self._unit(turn) as unit:
            for gate in range(count):
                put(sums, gate, const(0, str(sums.dtype)))
            with T.serial(0, self.line // 4 if scale is not None else self.hidden) as k:
                for gate in range(count):
                    column = k * self.width + (begin + gate) * self.hidden + unit
                    put(sums, gate, self._dot(sums[gate], source, k, column))
            for gate in range(count):
                value = sums[gate]
                if scale is not None:
                    both = bind(scale * self.buffers["scale"][(begin + gate) * self.hidden + unit])
                    value = T.Cast("float32", value) * both
                put(self.products, turn * gates + begin + gate, value)

    def _dot(self, total: Expr, source: Buffer, k: Expr, column: Expr) -> Expr:
        if not self.layer.is_codes:
            return total + bind(source[k] * self.buffers["w"][column])
        weight = view_as_int32(self.buffers["w"], self.line * self.width // 4)
        return call("int32", "tvmq_dp4a_s8s8", view_as_int32(self.codes, self.line // 4 + 1)[k], weight[column], total)

    def _quantize(self, source: Buffer) -> Expr:
        """The scale of a state in shared memory (numerics.dynamic_scale), whose codes stand there behind this."""
        largest = allocate_registers("largest", 1, "float32")
        put(largest, 0, const(0.0, "float32"))
        with T.serial(0, self.hidden) as i:
            # the order of the operands leaves NaN out
            magnitude = bind(T.min(const(LARGEST, "float32"), T.abs(source[i])))
            put(largest, 0, T.max(magnitude, largest[0]))
        step = bind(largest[0] / const(float(LARGEST_CODE), "float32"))
        scale = bind(T.Select(step >= const(NORMAL, "float32"), step, const(1.0, "float32")))
        low, high = (const(float(sign * LARGEST_CODE), "float32") for sign in (-1, 1))
        with unroll(self.turns, "turn") as turn, self._unit(turn) as unit:
            # NaN becomes the lowest code
            steps = bind(T.min(T.max(bind(source[unit] / scale), low), high))
            put(self.codes, unit, T.Cast("int8", T.Cast("int32", T.nearbyint(steps))))
        synchronize()
        return scale

    def _gates(self, place: Expr, turn: Expr, unit: Expr, count: int) -> tuple[list[TirSymbol], list[TirSymbol]]:
        """The parts of the input and of the state in the first gates."""
        x = [self.buffers["gates"][place * self.width + i * self.hidden + unit] for i in range(count)]
        p = [self.products[turn * self.cell.gates + i] for i in range(count)]
        return [self._symbol(value) for value in x], [self._symbol(value) for value in p]

    def _state(self, index: int, turn: Expr) -> TirSymbol:
        return self._symbol(self.states[index][turn])

    def _act(self, index: int, value: TirSymbol, *, clips: bool = True) -> TirSymbol:
        return activate(self.layer.activations, self.layer.clip, index, value, clips=clips)

    def _symbol(self, value: Expr) -> TirSymbol:
        return TirSymbol([bind(value)], "float32", _hold_in_register)


def _hold_in_register(value: Expr, dtype: str) -> Expr:
    """The value in a register of the thread: TVM writes variables out wherever they stand, twice in each step."""
    register = allocate_registers("t", 1, dtype)
    put(register, 0, value)
    return register[0]


class _Unit:
    """Statements about a hidden unit, where it exists."""

    def __init__(self, unit: Expr, hidden: int) -> None:
        self.unit, self._condition = unit, where(unit < hidden)

    def __enter__(self) -> Expr:
        self._condition.__enter__()
        return self.unit

    def __exit__(self, *error: Any) -> None:
        self._condition.__exit__(*error)
