"""dynamic_scores: from the sums of queries and keys to the codes of their softmax, for sizes that only a run tells.

Computes   numerics.quantize(numerics.softmax(sums * score_scale [+ mask])) along the last axis, bit for bit
Layouts    sums int32 [*batch, rows, keys], mask float32 that broadcasts to it, y of its shape; any size may be dynamic
Loops      parallel chunks of groups of GROUP rows; a group is brought to scratch memory, whole vectors a row, and back
           the last group has the last row several times: what is computed twice is equal
Rounding   see softmax_codes.py
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.attention.softmax_codes import LEAST_SCALE, SoftmaxCodes, is_proved
from tvmq.codegen.kernels.parts.builder import (
    Buffer,
    Expr,
    FunctionBuilder,
    Shape,
    bind,
    ceildiv,
    const,
    load,
    spread,
    vector_type,
    workspace,
)
from tvmq.codegen.kernels.parts.float_vectors import LANES, CodeLimits
from tvmq.codegen.kernels.parts.kernel_types import Isa, Kernel
from tvmq.codegen.kernels.parts.loops import copy_elements, make_opaque, over_rows, reader
from tvmq.codegen.kernels.parts.scaler import Parameters
from tvmq.codegen.kernels.parts.template import Template
from tvmq.codegen.kernels.parts.work import KernelWork
from tvmq.errors import BuildError

GROUP = 4
GRAIN = 10_000  # scores in about 10 us


@dataclass(frozen=True)
class DynamicScores:
    """Static description: softmax of scores over the last axis, to codes.

    shape   of the sums and codes: numbers, and names of dynamic sizes
    mask    sizes of what is added to the scores, of as many axes: that of the scores, or 1; None for nothing
    codes   of the softmax
    """

    shape: Shape
    mask: Shape | None
    codes: CodeLimits


def dynamic_scores(scores: DynamicScores, score_scale: float, code_scale: float, isa: Isa) -> Kernel:
    """Kernel; parameters sums, [mask,] both scales, y.

    raises  BuildError for scales and codes that the guess is not proved for
    """
    if not is_proved(scores.codes, score_scale, code_scale):
        raise BuildError(
            f"kernels, dynamic_scores: scales must be positive, that of softmax within {LEAST_SCALE} and 1, and codes "
            f"must go up from the zero point. Got {score_scale}, {code_scale} and {scores.codes}"
        )
    constants = (np.array([scale], np.float32) for scale in (score_scale, code_scale))
    return _DynamicScoresTemplate(scores, isa).kernel(constants, KernelWork("dynamic_scores", 40.0))


class _DynamicScoresTemplate(Template):
    """Codes of the softmax; see the head of this file."""

    def __init__(self, scores: DynamicScores, isa: Isa) -> None:
        self.scores, self.name = scores, f"dynamic_scores_{isa.name}"
        self.key = (self.name, scores)

    def parameters(self) -> Parameters:
        scores = self.scores
        mask: Parameters = {} if scores.mask is None else {"mask": (scores.mask, "float32")}
        scales: Parameters = {"score_scale": ((1,), "float32"), "code_scale": ((1,), "float32")}
        return {"sums": (scores.shape, "int32"), **mask, **scales, "y": (scores.shape, scores.codes.dtype)}

    def body(self, function: FunctionBuilder) -> None:
        self.sizes = [function.count((size,)) for size in self.scores.shape]
        self.keys = self.sizes[-1]
        rows = bind(prod(self.sizes[:-1], start=const(1)))
        codes = self.scores.codes
        softmax = SoftmaxCodes(bind(self.keys + 0), codes, self.buffers["code_scale"], codes.dtype, 0)

        def start() -> Callable[[Expr], None]:
            kinds = {"scores": "float32", "codes": codes.dtype} | ({"mask": "float32"} if self.scores.mask else {})
            spaces = {key: workspace(GROUP * softmax.pitch, kind) for key, kind in kinds.items()}
            spaces["powers"] = workspace(GROUP * softmax.pitch, "float32")

            def group(number: Expr) -> None:
                self._group([make_opaque(T.min(number * GROUP + i, rows - 1)) for i in range(GROUP)], softmax, spaces)

            return group

        over_rows(ceildiv(rows, GROUP), GROUP * self.keys, GRAIN, start)

    def _group(self, rows: Sequence[Expr], softmax: SoftmaxCodes, spaces: dict[str, Buffer]) -> None:
        places = [make_opaque(i * softmax.pitch) for i in range(GROUP)]
        begins = [make_opaque(row * self.keys) for row in rows]
        scale = self.buffers["score_scale"][0]

        def score(begin: Expr) -> Callable[[Expr, int], Expr]:
            sums = reader(self.buffers["sums"], begin)
            return lambda i, lanes: T.Cast(vector_type("float32", lanes), sums(i, lanes)) * spread(scale, lanes)

        masks = []
        for row, begin, place in zip(rows, begins, places, strict=True):
            self._copy(spaces["scores"], place, score(begin))
            if self.scores.mask is not None:
                self._copy_mask(row, spaces["mask"], place)
                masks.append((spaces["mask"], place))
        softmax.rows(spaces["scores"], places, masks, spaces["codes"], places, (spaces["powers"], 0))
        for begin, place in zip(begins, places, strict=True):
            self._copy(self.buffers["y"], begin, reader(spaces["codes"], place))

    def _copy_mask(self, row: Expr, to: Buffer, place: Expr) -> None:
        """Copy what the mask adds to a row; one number for all keys is spread."""
        mask = self.scores.mask
        assert mask is not None
        begin, stride = const(0), const(1)
        for axis in reversed(range(len(mask))):
            if mask[axis] == 1:
                continue
            if axis < len(mask) - 1:
                inner = prod(self.sizes[axis + 1 : -1], start=const(1))
                begin = begin + T.floormod(T.floordiv(row, inner), self.sizes[axis]) * stride
            stride = stride * self.sizes[axis]
        begin = make_opaque(begin)
        if mask[-1] == 1:
            value = load(self.buffers["mask"], begin, "float32")
            self._copy(to, place, lambda _, lanes: spread(value, lanes))
        else:
            self._copy(to, place, reader(self.buffers["mask"], begin))

    def _copy(self, target: Buffer, place: Expr, read: Callable[[Expr, int], Expr]) -> None:
        """A row to target[place:]."""
        copy_elements(target, place, self.keys, LANES, read)


def choose_dynamic_scores(scores: DynamicScores, score_scale: float, code_scale: float, isa: Isa) -> Kernel | None:
    """The kernel; None for scales that have no proof."""
    proved = is_proved(scores.codes, score_scale, code_scale)
    return dynamic_scores(scores, score_scale, code_scale, isa) if proved else None
