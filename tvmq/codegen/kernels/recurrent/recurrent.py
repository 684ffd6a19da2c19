"""LSTM, GRU and RNN in one direction: all steps in one kernel.

Computes   numerics.recurrent and recurrent_codes, bit for bit
Layouts    as the operator has them; weights packed (see state_product)
Loops      parallel tiles of samples; steps, one after the other; products of the tile's states; then the cells, vectors
           of hidden units, by the text of the definition (numerics.recurrent.CELLS)
Sizes      steps and batch may be dynamic
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.isa import instructions
from tvmq.codegen.kernels.isa.generic import Instructions
from tvmq.codegen.kernels.parts.builder import (
    Buffer,
    Expr,
    FunctionBuilder,
    Register,
    bind,
    const,
    fence,
    load,
    store,
    vector_type,
    workspace,
)
from tvmq.codegen.kernels.parts.kernel_types import Isa, Kernel
from tvmq.codegen.kernels.parts.loops import make_opaque, over_rows
from tvmq.codegen.kernels.parts.scaler import Parameters
from tvmq.codegen.kernels.parts.symbols import TirSymbol
from tvmq.codegen.kernels.parts.template import Template
from tvmq.codegen.kernels.parts.work import KernelWork
from tvmq.codegen.kernels.recurrent.state_product import StateProduct, filters_of, pad
from tvmq.numerics.recurrent import CELLS, Cell, activate, reset_state

ROWS = 4  # samples of a tile, which share each weight that is read
GRAIN = 1_000_000  # multiply-accumulates in about 10 us
CELL_CYCLES = 60.0  # of a vector of hidden units
Size = int | str


@dataclass(frozen=True)
class Recurrent:
    """Static description of a recurrent layer in one direction.

    kind, activations, clip, reverse, ends   as of numerics.recurrent
    steps, batch, rows                       numbers or names of dynamic sizes; rows of the result
    shared_state                             all samples begin with one state
    lengths                                  "all" steps, "one" length for all samples, or "each" its own
    is_codes                                 the weight is int8
    """

    kind: str
    activations: str
    clip: float
    reverse: bool
    ends: bool
    steps: Size
    batch: Size
    rows: Size
    hidden: int
    shared_state: bool
    lengths: str
    is_codes: bool

    @property
    def cell(self) -> Cell:
        """Cell that a step computes."""
        return CELLS[self.kind]

    @property
    def tile(self) -> int:
        """Samples of a tile."""
        return min(ROWS, self.batch) if isinstance(self.batch, int) else 1


def recurrent(
    layer: Recurrent, isa: Isa, weight: np.ndarray, terms: np.ndarray, scale: np.ndarray | None = None
) -> Kernel:
    """Kernel gates, state, [lengths,] constants, y.

    weight   [hidden, gates * hidden] of floats, or of codes with their scales
    """
    ins, cell = instructions(isa), layer.cell
    late = (cell.gates - cell.late) * layer.hidden
    spans = [(0, late), (late, cell.gates * layer.hidden)][: 2 if cell.late else 1]
    products = [StateProduct(ins, layer.tile, layer.hidden, end - begin, layer.is_codes) for begin, end in spans]
    constants: list[np.ndarray] = []
    for product, (begin, end) in zip(products, spans, strict=True):
        constants += product.constants(weight[:, begin:end], None if scale is None else scale[begin:end])
    if cell.terms:
        constants.append(np.asarray(terms, np.float32))
    packed = (filters_of(weight), products[0].recipe()) if len(products) == 1 else None
    return _RecurrentTemplate(layer, ins, products).kernel(constants, _work(layer, ins), packed_from=packed)


def _work(layer: Recurrent, ins: Instructions) -> KernelWork:
    """Work of a run whose dynamic sizes are all 1."""
    states = (layer.steps if isinstance(layer.steps, int) else 1) * (layer.batch if isinstance(layer.batch, int) else 1)
    macs = states * layer.hidden**2 * layer.cell.gates
    taps = ins.taps if layer.is_codes else 0.5
    cycles = macs / (ins.lanes * taps) + states * CELL_CYCLES * layer.hidden / ins.lanes
    return KernelWork("recurrent", 0.0, macs, layer.is_codes, lambda *_: cycles)


class _RecurrentTemplate(Template):
    """Layer in one direction; see the head of this file."""

    def __init__(self, layer: Recurrent, ins: Instructions, products: Sequence[StateProduct]) -> None:
        self.layer, self.ins, self.products = layer, ins, products
        self.hidden, self.pitch = layer.hidden, pad(layer.hidden, ins.lanes)
        self.name = f"{layer.kind}_{'codes' if layer.is_codes else 'float'}_{ins.name}"
        self.key = ("recurrent", layer, ins.name)

    def parameters(self) -> Parameters:
        layer, cell = self.layer, self.layer.cell
        parameters: Parameters = {
            "gates": ((layer.steps, layer.batch, cell.gates * layer.hidden), "float32"),
            "state": ((cell.states, 1 if layer.shared_state else layer.batch, layer.hidden), "float32"),
        }
        if layer.lengths != "all":
            parameters["lengths"] = ((layer.batch if layer.lengths == "each" else 1,), "int32")
        for index, product in enumerate(self.products):
            parameters |= product.parameters(str(index))
        if cell.terms:
            parameters["terms"] = ((cell.terms * layer.hidden,), "float32")
        return parameters | {"y": ((layer.rows, layer.batch, layer.hidden), "float32")}

    def body(self, function: FunctionBuilder) -> None:
        # the last tile is shifted back: what is computed twice is equal
        tile, layer = self.layer.tile, self.layer
        self.steps, self.batch = (function.count((size,)) for size in (layer.steps, layer.batch))
        cost = layer.hidden**2 * layer.cell.gates * tile

        def start() -> Callable[[Expr], None]:
            return lambda number: self._tile(make_opaque(T.min(number * tile, self.batch - tile)))

        if isinstance(self.steps, int) and isinstance(self.batch, int):
            over_rows(-(-self.batch // tile), self.steps * cost, GRAIN, start)
        else:
            tiles = -(-self.batch // tile) if isinstance(self.batch, int) else self.batch
            over_rows(tiles, self.steps, max(GRAIN // cost, 1), start)

    def _tile(self, first: Expr) -> None:
        """All steps of a few samples."""
        layer, tile, cell = self.layer, self.layer.tile, self.layer.cell
        self.states = [workspace(tile * self.pitch, "float32") for _ in range(cell.states)]
        self.reset = workspace(tile * self.pitch, "float32") if cell.late else None
        self.sums = [workspace(tile * product.pitch, "float32") for product in self.products]
        codes = workspace(tile * self.products[0].code_pitch, self.ins.x_dtype if layer.is_codes else "int8")
        scales = workspace(tile, "float32")
        for index, state in enumerate(self.states):
            self._load_state(index, state, first)
        if self.reset is not None:
            self._clear(self.reset)
        with T.serial(0, self.steps) as turn:
            step = make_opaque(self.steps - 1 - turn if layer.reverse else turn)
            self.products[0].emit(self.states[0], self.pitch, codes, scales, self._constants(0), self.sums[0])
            if self.reset is not None:
                self._each_row(step, first, self._reset_row, always=True)
                self.products[1].emit(self.reset, self.pitch, codes, scales, self._constants(1), self.sums[1])
            self._each_row(step, first, self._cell_row)
        if layer.ends:
            for index, state in enumerate(self.states):
                self._store_state(index, state, first)

    def _constants(self, index: int) -> list[Buffer]:
        return [self.buffers[key] for key in self.products[index].parameters(str(index))]

    def _clear(self, buffer: Buffer) -> None:
        with T.serial(0, self.layer.tile * self.pitch) as i:
            store(buffer, i, const(0.0, "float32"), 1)

    def _load_state(self, index: int, target: Buffer, first: Expr) -> None:
        self._clear(target)
        with T.serial(0, self.layer.tile) as row:
            sample = make_opaque(index if self.layer.shared_state else index * self.batch + first + row)
            with T.serial(0, self.hidden) as i:
                value = load(self.buffers["state"], sample * self.hidden + i, "float32")
                store(target, row * self.pitch + i, value, 1)

    def _store_state(self, index: int, source: Buffer, first: Expr) -> None:
        with T.serial(0, self.layer.tile) as row:
            place = make_opaque(((self.steps + index) * self.batch + first + row) * self.hidden)
            with T.serial(0, self.hidden) as i:
                store(self.buffers["y"], place + i, load(source, row * self.pitch + i, "float32"), 1)

    def _each_row(self, step: Expr, first: Expr, emit: Callable[[Expr, Expr], None], *, always: bool = False) -> None:
        """emit(row, place of the sample at this step, in samples) for the samples that have this step."""
        with T.serial(0, self.layer.tile) as index:
            row = make_opaque(index)
            place = make_opaque(step * self.batch + first + row)
            if always or self.layer.lengths == "all":
                emit(row, place)
                return
            length = self.buffers["lengths"][first + row if self.layer.lengths == "each" else 0]
            with T.If(step < length):
                with T.Then():
                    emit(row, place)
                with T.Else(), T.serial(0, self.hidden) as i:
                    store(self.buffers["y"], place * self.hidden + i, const(0.0, "float32"), 1)

    def _cell_row(self, row: Expr, place: Expr) -> None:
        """The cells of a sample: its new states, and its part of y."""
        cell, states = self.layer.cell, self.states

        def piece(at: Expr, lanes: int) -> None:
            old = [self._symbol(state, row * self.pitch + at, lanes) for state in states]
            terms = [self._symbol(self.buffers["terms"], i * self.hidden + at, lanes) for i in range(cell.terms)]
            x, p = self._gates(row, place, at, lanes, cell.gates)
            new = cell.step(x, p, old[0], old[-1], terms, self._act)
            for state, value in zip(states, new, strict=True):
                store(state, row * self.pitch + at, value.exprs[0], lanes)
            store(self.buffers["y"], place * self.hidden + at, new[0].exprs[0], lanes)

        self._over_units(piece)

    def _reset_row(self, row: Expr, place: Expr) -> None:
        """r * h of a sample."""

        def piece(at: Expr, lanes: int) -> None:
            h = self._symbol(self.states[0], row * self.pitch + at, lanes)
            x, p = self._gates(row, place, at, lanes, self.layer.cell.gates - self.layer.cell.late)
            store(self.reset, row * self.pitch + at, reset_state(x, p, h, self._act).exprs[0], lanes)

        self._over_units(piece)

    def _gates(
        self, row: Expr, place: Expr, at: Expr, lanes: int, count: int
    ) -> tuple[list[TirSymbol], list[TirSymbol]]:
        """The parts of the input and of the state in the first gates."""
        hidden, early = self.hidden, self.layer.cell.gates - self.layer.cell.late
        width = self.layer.cell.gates * hidden
        x = [self._symbol(self.buffers["gates"], place * width + i * hidden + at, lanes) for i in range(count)]
        p = []
        for i in range(count):
            index, gate = (0, i) if i < early else (1, i - early)
            begin = row * self.products[index].pitch + gate * hidden
            p.append(self._symbol(self.sums[index], begin + at, lanes))
        return x, p

    def _act(self, index: int, value: TirSymbol, *, clips: bool = True) -> TirSymbol:
        """An activation; both ends are kept in memory, behind which TVM's passes do not look."""
        kept = self._keep(value)
        return self._keep(activate(self.layer.activations, self.layer.clip, index, kept, clips=clips))

    def _keep(self, value: TirSymbol) -> TirSymbol:
        (expr,) = value.exprs
        lanes = expr.ty.dtype.lanes if hasattr(expr, "ty") else expr.dtype.lanes
        register = Register("float32", lanes)
        register.set(expr)
        return _symbol_of(bind(register.get()), lanes)

    def _symbol(self, buffer: Buffer, offset: Expr, lanes: int) -> TirSymbol:
        return _symbol_of(load(buffer, offset, vector_type("float32", lanes)), lanes)

    def _over_units(self, piece: Callable[[Expr, int], None]) -> None:
        """piece(first unit, lanes); none is covered twice, since states are replaced in place."""
        lanes = self.ins.lanes
        whole = self.hidden // lanes
        if whole:
            with T.serial(0, whole) as i:
                piece(make_opaque(i * lanes), lanes)
        done = whole * lanes
        while done < self.hidden:
            size = 1 << ((self.hidden - done).bit_length() - 1)
            piece(const(done), size)
            done += size


def _symbol_of(value: Expr, lanes: int) -> TirSymbol:
    return TirSymbol([value], "float32", lambda v, dtype: bind(fence(v) if dtype == "float32" else v), lanes)


def choose_recurrent(
    layer: Recurrent, weight: np.ndarray, terms: np.ndarray, scale: np.ndarray | None, isa: Isa
) -> Kernel:
    """The kernel."""
    return recurrent(layer, isa, weight, terms, scale)
