"""token_attention: attention over codes in which each query and each token has a scale of its own, as one kernel.

Computes   dynamic_dequantize of numerics.matmul, times a number, (+ mask), softmax, times the scales of the values,
           dynamic_scale and dynamic_quantize of each row, numerics.matmul, dynamic_dequantize; bit for bit
Layouts    as dynamic_attention. Rows of q are those of all heads that share keys: row r has the mask of query
           r % queries
Loops      as dynamic_attention; softmax of a row in three passes over scratch memory
Rounding   each operation by itself, as the definition says; quotients by division
Needs      int8 codes without zero point; what a cache holds for a token is one row of codes and its scale
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.attention.dynamic_attention import (
    MOST_TILE,
    DynamicAttentionTemplate,
    choose_dynamic_cut,
)
from tvmq.codegen.kernels.attention.shape import MOST_DEPTH, Attention, attention_work, known_size
from tvmq.codegen.kernels.isa import instructions
from tvmq.codegen.kernels.isa.generic import GENERIC, Instructions
from tvmq.codegen.kernels.norm.softmax import exp_negative
from tvmq.codegen.kernels.parts.builder import (
    Expr,
    FunctionBuilder,
    Register,
    bind,
    ceildiv,
    const,
    fence,
    load,
    spread,
    store,
    store_first,
    vector_type,
    workspace,
)
from tvmq.codegen.kernels.parts.float_vectors import (
    FLOAT,
    LANES,
    CodeLimits,
    quantize_vector,
    spread_float,
    sum_halves,
)
from tvmq.codegen.kernels.parts.kernel_types import Dequantize, Isa, Kernel
from tvmq.codegen.kernels.parts.loops import copy_lanes, fill_lanes, make_opaque
from tvmq.codegen.kernels.parts.packing import PanelRun
from tvmq.codegen.kernels.parts.scaler import Parameters
from tvmq.numerics.softmax import LARGEST

LARGEST_CODE = 127
NORMAL = float(np.finfo(np.float32).smallest_normal)


@dataclass(frozen=True)
class TokenAttention:
    """Static description.

    shape    batch, sizes and operands; all codes are int8 without zero point, y is float32
    queries  rows that differ in their mask: a number or the name of a dynamic size
    factor   of the scores; 1 for none
    """

    shape: Attention
    queries: Any
    factor: float


class _RowLengths:
    """Keys of a row, and elements from one row of scores to the next: whole vectors."""

    def __init__(self, keys: Expr) -> None:
        self.keys = keys
        self.has_dynamic_keys = not isinstance(keys, int)
        self.vectors = ceildiv(keys, LANES)
        self.pitch = self.vectors * LANES


def token_attention(attention: TokenAttention, isa: Isa) -> Kernel:
    """Kernel; parameters q, k, v, the mask if there is one, q_scale, k_scale, v_scale, y.

    Scales are float32 [*batch, rows or keys, 1].
    """
    template = _TokenAttentionTemplate(attention, instructions(isa))
    return template.kernel((), attention_work(template.shape, template.ins))


class _TokenAttentionTemplate(DynamicAttentionTemplate):
    """Attention with a scale for each row and token; see the head of this file."""

    def __init__(self, attention: TokenAttention, ins: Instructions) -> None:
        shape, self.attention = attention.shape, attention
        codes = CodeLimits(0, 0, LARGEST_CODE, ins.x_dtype if ins.takes_bytes else "uint8")
        rows = shape.rows if isinstance(shape.rows, int) and shape.rows <= MOST_TILE else None
        cut = choose_dynamic_cut(shape.depth, shape.columns, ins, rows)
        super().__init__(replace(shape, codes=codes), Dequantize(np.ones(1, np.float32)), ins, cut)
        self.name = f"token_attention_{ins.name}_{cut.scores.rows}"
        self.key = (self.name, attention, cut)

    def parameters(self) -> Parameters:
        shape = self.shape
        operands = {"q": shape.q, "k": shape.k, "v": shape.v}
        parameters: Parameters = {key: (operand.shape, operand.dtype) for key, operand in operands.items()}
        if shape.mask is not None:
            parameters["mask"] = (shape.mask.shape, "float32")
        for name, size in (("q_scale", shape.rows), ("k_scale", shape.keys), ("v_scale", shape.keys)):
            parameters[name] = ((*shape.batch, size, 1), "float32")
        return parameters | {"y": (shape.y.shape, "float32")}

    def body(self, function: FunctionBuilder) -> None:
        self.mask_rows = function.count((self.attention.queries,))
        super().body(function)

    def _softmax_of(self, keys: Expr) -> _RowLengths:
        return _RowLengths(keys)

    # ---- scratch memory

    def _allocate(self) -> None:
        super()._allocate()
        pitch = self.softmax.pitch
        self.scales = {name: workspace(pitch, "float32") for name in ("k_scale", "v_scale")}
        self.row_scales = workspace(self.memory_rows, "float32")
        for scratch in self.scales.values():
            fill_lanes(scratch, 0, 0.0, pitch, LANES)

    def _chunk(self, index: Expr, blocks: Expr, chunks: Expr, *, is_job: bool) -> None:
        matrix = make_opaque(T.floordiv(index, chunks))
        for name, scratch in self.scales.items():
            copy_lanes(scratch, 0, self.buffers[name], matrix * self.softmax.keys, self.softmax.keys, LANES)
        super()._chunk(index, blocks, chunks, is_job=is_job)

    def _copy_mask(self, matrix: Expr, row: Expr, place: int) -> None:
        super()._copy_mask(matrix, T.floormod(row, self.mask_rows), place)

    # ---- blocks of rows

    def _block(self, matrix: Expr, first: Expr, rows: Expr) -> None:
        q, y = self.operands["q"], self.operands["y"]
        self.first_scale = make_opaque(matrix * self.rows + first)
        self._copy_queries(make_opaque(q.begin(matrix, self.batch) + first * q.row), rows)
        self._tiles(self.keys, matrix, (self.copied, self.queries.pitch, 0), rows, self._store_scores)
        self._softmax(matrix, first, rows)
        target = make_opaque(y.begin(matrix, self.batch) + first * y.row)

        def finish(sums: list[list[Register]], row: Expr, vector: Expr, run: PanelRun) -> None:
            places = self._places(target, row, len(sums))
            for i, (begin, line) in enumerate(zip(places, sums, strict=True)):
                self._store_row(line, begin, bind(self.row_scales[row + i]), vector, run)

        self._tiles(self.values, matrix, (self.weights, self.weight_pitch, self.cut.block), rows, finish)

    def _store_scores(self, sums: list[list[Register]], row: Expr, vector: Expr, run: PanelRun) -> None:
        lanes = self.ins.lanes
        kind = vector_type("float32", lanes)
        for i, line in enumerate(sums):
            place = make_opaque((row + i) * self.softmax.pitch + vector * lanes)
            scale = bind(spread(self.buffers["q_scale"][self.first_scale + self._row_of_block(row + i)], lanes))
            for column, register in enumerate(line):
                of_keys = load(self.scales["k_scale"], (vector + column) * lanes, kind)
                score = bind(fence(T.Cast(kind, register.get()) * bind(fence(scale * of_keys))))
                if self.attention.factor != 1:
                    score = bind(fence(score * spread(self.attention.factor, lanes, "float32")))
                store(self.scores, place + column * lanes, score, lanes)

    def _store_row(self, line: list[Register], begin: Expr, scale: Expr, vector: Expr, run: PanelRun) -> None:
        """Floats of a row of a tile of the result."""
        lanes = self.ins.lanes
        for column in range(run.columns):
            value = T.Cast(vector_type("float32", lanes), line[column].get()) * spread(scale, lanes)
            valid = min(lanes, run.channels - column * lanes)
            store_first(self.buffers["y"], begin + (vector + column) * lanes, value, lanes, valid)

    # ---- softmax

    def _softmax(self, matrix: Expr, first: Expr, rows: Expr) -> None:
        mask = self.shape.mask

        with T.serial(0, rows) as number:
            row = make_opaque(number)
            if mask is not None and mask.row != 0:
                self._copy_mask(matrix, make_opaque(first + self._row_of_block(row)), 0)
            self._weights_of_row(row)

    def _weights_of_row(self, row: Expr) -> None:
        """Weights of the values by a row of scores, as codes of a scale of their own."""
        begin, lengths = make_opaque(row * self.softmax.pitch), self.softmax
        highest = self._mask_row(begin, lengths)
        divisor = self._powers_of_row(begin, lengths, highest)
        largest = Register("float32", LANES)
        largest.set(spread_float(0.0))
        with T.serial(0, lengths.vectors) as i:
            power = load(self.scores, begin + i * LANES, FLOAT)
            weight = bind(fence(bind(power / divisor) * load(self.scales["v_scale"], i * LANES, FLOAT)))
            store(self.scores, begin + i * LANES, weight, LANES)
            largest.set(T.max(largest.get(), weight))
        step = bind(sum_halves(bind(largest.get()), T.max) / const(float(LARGEST_CODE), "float32"))
        scale = bind(T.Select(step >= const(NORMAL, "float32"), step, const(1.0, "float32")))
        store(self.row_scales, row, scale, 1)
        spread_scale = T.alloc_buffer((LANES,), "float32")
        store(spread_scale, 0, scale, 1)
        place, dtype = make_opaque(row * self.weight_pitch), self.ins.x_dtype
        with T.serial(0, lengths.vectors) as i:
            weight = load(self.scores, begin + i * LANES, FLOAT)
            codes = quantize_vector(GENERIC, weight, spread_scale, LANES, 0, (0, LARGEST_CODE), dtype)
            store(self.weights, place + i * LANES, codes, LANES)

    def _mask_row(self, begin: Expr, lengths: _RowLengths) -> Expr:
        """Add the mask, make scores finite, and return the highest in all lanes; keys behind the last are lowest."""
        highest = Register("float32", LANES)
        highest.set(spread_float(-LARGEST))
        with T.serial(0, lengths.vectors) as i:
            score = load(self.scores, begin + i * LANES, FLOAT)
            if self.shape.mask is not None:
                score = bind(score + load(self.mask, i * LANES, FLOAT))
            # the order of operands makes NaN the lowest number
            score = bind(T.min(T.max(score, spread_float(-LARGEST)), spread_float(LARGEST)))
            score = bind(T.Select(self._are_keys(i, lengths), score, spread_float(-LARGEST)))
            store(self.scores, begin + i * LANES, score, LANES)
            highest.set(T.max(highest.get(), score))
        return bind(spread(sum_halves(bind(highest.get()), T.max), LANES))

    def _powers_of_row(self, begin: Expr, lengths: _RowLengths, highest: Expr) -> Expr:
        """Powers in place of the scores; their sum in all lanes."""
        total = Register("float32", LANES)
        total.set(spread_float(0.0))
        with T.serial(0, lengths.vectors) as i:
            power = exp_negative(bind(load(self.scores, begin + i * LANES, FLOAT) - highest))
            power = bind(T.Select(self._are_keys(i, lengths), power, spread_float(0.0)))
            store(self.scores, begin + i * LANES, power, LANES)
            total.set(total.get() + power)
        return bind(spread(sum_halves(bind(total.get()), lambda a, b: a + b), LANES))

    def _are_keys(self, vector: Expr, lengths: _RowLengths) -> Expr:
        return T.ramp(vector * LANES, 1, LANES) < spread(lengths.keys, LANES)


def choose_token_attention(attention: TokenAttention, isa: Isa) -> Kernel | None:
    """The kernel; None for shapes that do not fit."""
    shape = attention.shape
    sizes = (*shape.batch, shape.rows, shape.keys, shape.depth, shape.columns)
    if min(map(known_size, sizes)) < 1 or max(shape.depth, known_size(shape.keys)) > MOST_DEPTH:
        return None
    if {shape.q.dtype, shape.k.dtype, shape.v.dtype} != {"int8"} or any(shape.zeros):
        return None
    neighbours = shape.q.column == shape.y.column == 1 and all(1 in (b.row, b.column) for b in (shape.k, shape.v))
    if not neighbours or (shape.mask is not None and shape.mask.column != 1):
        return None
    return token_attention(attention, isa)
