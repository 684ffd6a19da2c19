"""Table of kernels: how cases are made, sizes around the length of vectors, sizes with work for several threads.

Its readers: test_table_of_kernels.py compares every case with the definition, bit for bit, with guard bytes around the
output; guarded_cases.py runs the large ones with two threads on memory that ends at an unreadable page; test_arm.py
runs cases on emulated CPUs; `benchmarks/kernels.py --functions` counts the cycles of the large ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tests.codegen.kernels.cases import (
    EDGES,
    LEVELS,
    WIDTHS,
    Case,
    add_cases,
    attention_cases,
    batch_matmul_cases,
    concat_cases,
    conv_cases,
    convert_cases,
    copy_cases,
    depthwise_cases,
    global_sum_cases,
    multiply_cases,
    norm_cases,
    pool_cases,
    softmax_cases,
    table_cases,
)
from tests.codegen.kernels.harness import levels
from tvmq.codegen.kernels.norm.group_norm import GroupNorm
from tvmq.codegen.kernels.parts.kernel_types import Conv2d
from tvmq.codegen.kernels.pool_windows import Pool2d


@dataclass(frozen=True)
class Entry:
    """A function, or a few that are made alike.

    make    cases of sizes; with an edge, of inputs as `EDGES` names them
    sizes   around the length of vectors
    large   with work for several parallel chunks; buffers of data fill whole cache lines
    levels  instruction sets that it is compiled for in its own way
    edges   named edge cases, tried at the first size
    """

    make: Callable[..., Iterator[Case]]
    sizes: Sequence[Any]
    large: Sequence[Any]
    levels: Sequence[Any] = tuple(WIDTHS)
    edges: Sequence[str] = tuple(EDGES)

    def cases(self) -> Iterator[Case]:
        """All sizes, then the edge cases."""
        yield from self.make(self.sizes)
        for edge in self.edges:
            for case in self.make(self.sizes[:1], edge=edge):
                yield case._replace(name=f"{case.name} of {edge}")


# a table is looked up in another way with VBMI
LOOKUPS = levels("generic", "avx2", "avx512bw", "avx512vbmi")
PICTURE = (2, 56, 56, 64)

TABLE: dict[str, Entry] = {
    "add": Entry(
        add_cases,
        [(3, 5), (1,), (1, 63), (64,), (65,), (2, 3, 5, 7), (1, 1, 128), (129,)],
        [PICTURE, (1, 64, 64, 99)],
        LEVELS,
    ),
    "table": Entry(
        table_cases,
        [(63,), (1,), (2, 32), (5, 13), (2, 3, 5, 7), (127,), (4, 256), (300,)],
        [(1, 64, 64, 99), PICTURE],
        LOOKUPS,
    ),
    "multiply": Entry(
        multiply_cases,
        [
            ((2, 5, 3, 24), (2, 1, 1, 24)), ((1, 4, 4, 70), (1, 1, 1, 70)), ((2, 3, 3, 17), (1, 1, 1, 17)),
            # rows that are repeated until they fill whole vectors, and tails of a vector
            ((2, 6, 7, 88), (2, 1, 1, 88)), ((1, 7, 9, 8), (1, 1, 1, 8)), ((1, 5, 7, 40), (1, 1, 1, 40)),
            ((1, 40, 200), (200,)), ((2, 3, 5, 7), (2, 3, 5, 7)), ((2, 3, 5, 33), (2, 3, 5, 1)), ((2, 3, 5, 5), (1,)),
            ((3, 64), (1, 64)), ((4, 3, 2), (1, 3, 1)), ((1,), (1,)),
        ],
        [(PICTURE, (2, 1, 1, 64)), ((1, 64, 64, 33), (1, 64, 64, 33))],
    ),
    "convert": Entry(convert_cases, [(3, 40), (1,), (2, 67)], [(64, 64, 72)]),
    "pool": Entry(
        pool_cases,
        [
            Pool2d(1, 9, 8, 64, (3, 3), (2, 2), (1, 1, 1, 1)),
            Pool2d(2, 7, 9, 30, (3, 2), (2, 3), (1, 1, 0, 0), ceil_mode=True),
            Pool2d(1, 6, 7, 70, (2, 3), (1, 1), (3, 2, 2, 4), (3, 2)),
            # the last windows lie wholly outside
            Pool2d(1, 4, 4, 5, (2, 2), (3, 3), (1, 1, 1, 1), ceil_mode=True),
            Pool2d(1, 2, 2, 17, (2, 2), (1, 1), (3, 3, 3, 3)),
            Pool2d(1, 2, 3, 8, (3, 2), (1, 1), (5, 0, 5, 0), (5, 1)),
            Pool2d(1, 4, 4, 128, (2, 2), (2, 2)),
            Pool2d(1, 5, 5, 1, (5, 5)),
            # too many taps to unroll
            Pool2d(1, 6, 5, 20, (5, 5), (1, 1), (2, 2, 2, 2)),
            Pool2d(1, 3, 3, 9, (13, 9), (2, 2), (6, 4, 6, 8)),
        ],
        [Pool2d(2, 64, 64, 20, (3, 3), (2, 2), (1, 1, 1, 1)), Pool2d(1, 64, 64, 64, (2, 2), (1, 1), (0, 1, 1, 0))],
    ),
    "global_sum": Entry(global_sum_cases, [(2, 7, 7, 100), (1, 1, 1, 3), (1, 3, 2, 64)], [(64, 16, 16, 37)]),
    "softmax": Entry(
        softmax_cases,
        [((5, 10), -1), ((3, 7, 5), 1), ((4, 16), 0), ((2, 33, 3), 1), ((6, 1), 1), ((3, 15), -1), ((7, 128), -1)],
        [((512, 100), -1), ((2, 33, 512), 1)],
    ),
    "norm": Entry(
        norm_cases,
        [
            *(GroupNorm(3, length, epsilon=1e-12) for length in (1, 2, 7, 15, 16, 17, 31, 33, 100, 384)),
            *(GroupNorm(3, length, centred=False) for length in (1, 5, 16, 47, 128)),
            GroupNorm(2, 6, 5, 3), GroupNorm(3, 4, 3 * 7, 1, 0.1), GroupNorm(1, 8, 16, 2), GroupNorm(2, 5, 33, 5),
            GroupNorm(2, 12, 1, 3), GroupNorm(2, 3, 1, 3),
        ],
        [GroupNorm(512, 112), GroupNorm(512, 112, centred=False), GroupNorm(8, 12, 1024, 3), GroupNorm(2, 64, 512, 64)],
        edges=(),
    ),
    "move": Entry(
        copy_cases,
        [
            (2, 3, 4, 5), (1, 2, 2, 17), (1, 3, 2, 100), (1, 1, 2, 64),
            # few rows; fewer pixels than a vector
            (2, 5, 7, 3), (1, 4, 9, 2), (1, 6, 6, 4), (1, 2, 2, 3),
            # squares with and without rest, one channel, one pixel
            (2, 4, 4, 16), (1, 3, 7, 33), (1, 5, 5, 1), (3, 1, 1, 20),
        ],
        [(1, 64, 64, 3), (1, 64, 64, 33)],
    ),
    "concat": Entry(
        concat_cases,
        [
            ([(5,), (70,)], 0), ([(2, 5, 3, 7), (2, 5, 3, 100), (2, 5, 3, 1)], -1),
            ([(1, 4, 4, 64), (1, 4, 4, 32)], 3), ([(2, 3, 4), (2, 5, 4)], 1),
        ],
        [([(1, 64, 64, 40), (1, 64, 64, 100)], 3)],
        LOOKUPS,
    ),
    # weights hold whole filters of -128 and of 127, inputs whole rows of 255; few sizes are multiples of anything
    "conv2d": Entry(
        conv_cases,
        [
            (Conv2d(1, 9, 9, 3, 5, (7, 7), (2, 2), (3, 3, 3, 3)), "codes"),  # a stem
            (Conv2d(1, 5, 7, 17, 33, (3, 3), (1, 1), (1, 1, 1, 1)), "all"),
            (Conv2d(2, 6, 5, 20, 24, (3, 3), (2, 2), (0, 1, 1, 0), x_dtype="int8"), "int8 codes"),
            (Conv2d(1, 1, 13, 64, 40), "add"),  # a product of 13 rows
            (Conv2d(1, 1, 1, 37, 19, x_dtype="int8"), "table"),  # and of one
            (Conv2d(1, 6, 6, 12, 8, (3, 3), (1, 1), (2, 2, 2, 2), (2, 2), groups=2), "sums"),
            (Conv2d(1, 25, 40, 64, 100), "all"),  # several chunks
        ],
        [(Conv2d(1, 64, 64, 64, 64, (3, 3), (1, 1), (1, 1, 1, 1)), "codes")],
        LEVELS,
        edges=(),
    ),
    "depthwise": Entry(
        depthwise_cases,
        [
            Conv2d(1, 9, 8, 4, 4, (3, 3), (1, 1), (1, 1, 1, 1), groups=4),
            Conv2d(1, 9, 8, 8, 8, (3, 3), (2, 2), (1, 1, 1, 1), groups=8, x_dtype="int8"),
            Conv2d(1, 9, 8, 21, 21, (5, 5), (1, 1), (2, 2, 2, 2), groups=21),
            Conv2d(1, 8, 7, 40, 40, (3, 3), (1, 1), (2, 2, 2, 2), (2, 2), groups=40),
        ],
        [Conv2d(1, 64, 64, 72, 72, (3, 3), (1, 1), (1, 1, 1, 1), groups=72)],
        LEVELS,
        edges=(),
    ),
    "batch_matmul": Entry(
        batch_matmul_cases,
        [(2, 5, 7, 9), (1, 16, 32, 20)],
        [(12, 64, 65, 128), (12, 64, 64, 65), (12, 64, 66, 64)],
        LEVELS,
        edges=(),
    ),
    "attention": Entry(attention_cases, [(2, 9, 21, 12, 10)], [(12, 65, 67, 21, 23)], LEVELS, edges=()),
}  # fmt: skip


def large_cases() -> list[Case]:
    """Cases of each function with work for several threads."""
    return [case for entry in TABLE.values() for case in entry.make(entry.large)]
