"""Schedule of one loop nest: what runs in parallel, what becomes vectors.

    elementwise          outer loops parallel; inner loops along memory become one, in vectors where LLVM does
                         not find them by itself
    transposes           squares of 8 x 8: whole cache lines are read and written
    concatenation, pad   along the last axis: one loop for each side of the condition
    sums of neighbours   the loop over neighbours inside of the sum, in vectors
    other long sums      eight sums side by side

The terms of a sum of floats keep their order.

Tests: tests/codegen/schedule/test_generic.py
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tvmq.codegen.schedule.accesses import LoopBlock

PARALLEL_WORK = 1_000_000  # operations in vectors: about 20 us of one core
SCALAR = 10  # operations in vectors that one scalar operation is worth
ENOUGH_TURNS = 24  # of a parallel loop
SHORTEST_VECTOR = 4  # lanes
LONG_SUM = 64  # terms
SIDE_BY_SIDE = 8  # sums that hide each other's latency
SQUARE = 8  # side of what a transpose moves at a time
MOST_CUTS = 8


class NestScheduler:
    """Schedule of the nest of one block."""

    def __init__(self, schedule: Any, block: Any, facts: LoopBlock, vector_bytes: int) -> None:
        self.schedule, self.block, self.facts = schedule, block, facts
        self.loops, self.vector_bytes = list(schedule.get_loops(block)), vector_bytes

    def run(self) -> None:
        """Schedule of the nest."""
        facts = self.facts
        spatial = [i for i, reduced in enumerate(facts.reduced) if not reduced]
        inner = facts.contiguous_tail(spatial)
        inner = inner if facts.extent(inner) >= SHORTEST_VECTOR else []
        outer = spatial[: len(spatial) - len(inner)]
        if not any(facts.reduced):
            self._elementwise(outer, inner)
        elif inner:
            self._neighbouring_sums(outer, inner)
        else:
            self._separate_sums(outer)

    def _elementwise(self, outer: list[int], inner: list[int]) -> None:
        facts, loops = self.facts, self.loops
        if not inner and (self._transpose() or self._cut_loops()):
            return
        large = self._is_large(bool(inner))
        alone = facts.extent(outer) == 1
        if large and not alone:
            self._parallel([loops[i] for i in outer], [facts.extents[i] for i in outer])
        if inner:
            loop = self._fuse([loops[i] for i in inner])
            # LLVM vectorises plain arithmetic by itself, but not across fences
            if facts.has_fence and facts.takes_vectors:
                loop = self._vectors(loop, facts.extent(inner), self._lanes())
            if large and alone:
                self.schedule.parallel(loop)

    def _transpose(self) -> bool:
        """Squares, where output and input run along different variables; False for other nests."""
        facts, loops = self.facts, self.loops
        along, last = facts.input_variable, len(loops) - 1
        if along is None or not facts.takes_vectors or facts.dynamic & {along, last}:
            return False
        sides = [_power(facts.extents[i], SQUARE) for i in (along, last)]
        if min(sides) < SHORTEST_VECTOR:
            return False
        rows, row = self.schedule.split(loops[along], [None, sides[0]])
        columns, column = self.schedule.split(loops[last], [None, sides[1]])
        rest = [i for i in range(last) if i != along]
        self.schedule.reorder(*(loops[i] for i in rest), rows, columns, column, row)
        self.schedule.vectorize(row)
        if self._is_large(True):
            counts = [*(facts.extents[i] for i in rest), facts.extents[along] // sides[0]]
            self._parallel([*(loops[i] for i in rest), rows], counts)
        return True

    def _cut_loops(self) -> bool:
        """A loop for each side of the conditions on the last variable; False for other nests."""
        facts, loops = self.facts, self.loops
        last = len(loops) - 1
        extent, cuts = facts.extents[last], facts.cuts[last]
        if last in facts.dynamic or last not in facts.bare or cuts is None or not 0 < len(cuts) <= MOST_CUTS:
            return False
        if facts.binds:  # a variable that is constant on one side (padding) would be so on the others, its copies
            return False
        if self._is_large(True):
            self._parallel(loops[:last], list(facts.extents[:last]))
        bounds = [0, *(cut for cut in cuts if 0 < cut < extent), extent]
        lengths = [high - low for low, high in zip(bounds[:-1], bounds[1:], strict=True)]
        if len(lengths) > 1:
            self.schedule.loop_partition(loops[last], [*lengths[:-1], None])
        return True

    def _vectors(self, loop: Any, length: int, most: int) -> Any:
        """Vectors along a loop, and a loop of its own for what remains; returns the loop over vectors."""
        lanes = _power(length, most)
        if lanes < min(most, SHORTEST_VECTOR):
            lanes = min(most, 1 << (length.bit_length() - 1))
            loop, _rest = self.schedule.loop_partition(loop, [length - length % lanes, None])
        vectors, lane = self.schedule.split(loop, [None, lanes])
        self.schedule.vectorize(lane)
        return vectors

    def _neighbouring_sums(self, outer: list[int], inner: list[int]) -> None:
        """Sums of neighbours in memory are added as vectors."""
        facts, loops = self.facts, self.loops
        lanes = _power(facts.extent(inner), self._lanes())
        vectors, lane = self.schedule.split(self._fuse([loops[i] for i in inner]), [None, lanes])
        outside = [*(loops[i] for i in outer), vectors]
        counts = [*(facts.extents[i] for i in outer), facts.extent(inner) // lanes]
        finish = self.schedule.vectorize if facts.takes_vectors else self.schedule.unroll
        self._sums(outside, counts, lane, finish)

    def _separate_sums(self, outer: list[int]) -> None:
        """Long sums of floats run several at a time, to hide the latency of each; LLVM sees to the others."""
        facts, loops = self.facts, self.loops
        long = facts.extent([i for i, reduced in enumerate(facts.reduced) if reduced]) >= LONG_SUM
        wide = [i for i in outer if facts.extents[i] > 1 and i not in facts.dynamic]
        if not (long and facts.latent and wide):
            if self._is_large(False):
                self._parallel([loops[i] for i in outer], [facts.extents[i] for i in outer])
            return
        count = _divisor(facts.extents[wide[-1]], SIDE_BY_SIDE)
        groups, lane = self.schedule.split(loops[wide[-1]], [None, count])
        outside = [groups if i == wide[-1] else loops[i] for i in outer]
        counts = [facts.extents[i] // (count if i == wide[-1] else 1) for i in outer]
        self._sums(outside, counts, lane, self.schedule.unroll)

    def _sums(self, outside: list[Any], counts: list[int], lane: Any, finish: Callable[[Any], None]) -> None:
        """Loops outside, then the sum, then the loop of independent sums, which `finish` takes."""
        schedule = self.schedule
        sums = [loop for loop, reduced in zip(self.loops, self.facts.reduced, strict=True) if reduced]
        schedule.reorder(*outside, *sums, lane)
        finish(lane)
        if self._is_large(True):
            self._parallel(outside, counts)
        schedule.decompose_reduction(self.block, sums[0])

    def _is_large(self, vectors: bool) -> bool:
        """True if the nest is worth several threads; of dynamic sizes none is."""
        facts = self.facts
        return not facts.dynamic and facts.iterations * facts.operations * (1 if vectors else SCALAR) >= PARALLEL_WORK

    def _parallel(self, loops: list[Any], counts: list[int]) -> None:
        """As many of the loops as give each thread enough turns become one parallel loop."""
        depth, turns = 0, 1
        while depth < len(loops) and turns < ENOUGH_TURNS:
            turns *= counts[depth]
            depth += 1
        if turns > 1:
            self.schedule.parallel(self._fuse(loops[:depth]))

    def _lanes(self) -> int:
        return max(1, self.vector_bytes // self.facts.widest_bytes)

    def _fuse(self, loops: list[Any]) -> Any:
        return loops[0] if len(loops) == 1 else self.schedule.fuse(*loops)


def _divisor(number: int, limit: int) -> int:
    """Largest divisor that is at most `limit`."""
    return next(divisor for divisor in range(min(number, limit), 0, -1) if number % divisor == 0)


def _power(number: int, limit: int) -> int:
    """Largest power of two that divides the number and is at most `limit`."""
    return min(number & -number, limit)
