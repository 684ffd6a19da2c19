"""Speed of code for any size beside code for the one size that is run: by layer kind, and whole networks.

    python benchmarks/free_sizes.py [--kinds depthwise,pool] [--level avx2] [--rounds 5] [--quick]

Layers    of pictures of free rows and columns, lines and texts of free length (harness/free_kinds.py), each between two
          products, in int8 and some in float; both codes are built from the same quantized module
--level   compile for a lesser CPU
Columns   fixed, free: microseconds of the layer and of what converts its operands, least of the medians of rounds by
          turns; ratio: free / fixed; run: the same of whole runs, products around it, shapes and calls included
Bounds    1. results of free and fixed code are equal, bit for bit
          2. ratio <= 1.10 where the fixed code takes 10 us and more
Exit code 1 where a bound is missed.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from typing import Any

import numpy as np
from harness import set_threads
from harness.command import Command, argument
from harness.free_calls import measure_layers
from harness.free_kinds import KINDS
from harness.free_layers import Kind
from harness.report import columns

from tvmq.errors import TvmqError

LEVELS = {"": "llvm", "avx2": "x86-64-v3"}
MOST, LEAST = 1.10, 10.0  # a ratio; microseconds

COLUMNS = columns(
    "layer {name} | type {type} | sizes {sizes} | fixed {fixed:.1f} | free {free:.1f} | ratio {ratio:.2f}",
    "run, fixed {run_fixed:.1f} | run, free {run_free:.1f} | run, ratio {run_ratio:.2f} | kernels {kernels}",
)


def measure(options: Namespace) -> Iterator[dict[str, Any] | str]:
    """A row of each kind, type and size; the error of a kind that is refused."""
    wanted = [part for part in options.kinds.split(",") if part]
    for kind in KINDS:
        if not wanted or any(part in kind.name for part in wanted):
            for kind_type in kind.types:
                try:
                    yield from layer_rows(kind, kind_type, options)
                except TvmqError as error:
                    yield f"{kind.name}, {kind_type}: {error}"


def layer_rows(kind: Kind, kind_type: str, options: Namespace) -> Iterator[dict[str, Any]]:
    """Rows of a kind, one for each of its sizes."""
    import tvmq

    mod, params = tvmq.from_onnx(kind.model())
    if kind_type == "int8":
        mod, params = tvmq.quantize(mod, params, [kind.feed(sizes) for sizes in kind.sizes], guard=None), {}
    target, rounds, repeat = LEVELS[options.level], *((1, 2) if options.quick else (options.rounds, 20))
    free = tvmq.build(mod, target=target, params=params)
    for sizes in kind.sizes[:1] if options.quick else kind.sizes:
        feed, known = kind.feed(sizes), dict(zip(kind.free, sizes, strict=True))
        fixed = tvmq.build(mod, target=target, params=params, sizes=known)
        times = measure_layers({"free": free, "fixed": fixed}, feed, rounds, repeat)
        a, b = times["free"], times["fixed"]
        pairs = zip(free.run(feed), fixed.run(feed), strict=True)
        yield {
            "name": kind.name, "type": kind_type, "sizes": " x ".join(map(str, sizes)), "fixed": 1e6 * b.layer,
            "free": 1e6 * a.layer, "ratio": a.layer / b.layer, "run_fixed": 1e6 * b.run, "run_free": 1e6 * a.run,
            "run_ratio": a.run / b.run, "kernels": " ".join(a.kernels), "fixed_kernels": " ".join(b.kernels),
            "differing": sum(int(np.count_nonzero(one != other)) for one, other in pairs),
        }  # fmt: skip


def missed(rows: list[dict[str, Any]], _options: Any = None) -> list[str]:
    """Bounds that do not hold."""
    slow = [
        f"{row['name']}, {row['type']}, {row['sizes']}: free / fixed {row['ratio']:.2f}"
        for row in rows
        if row["fixed"] >= LEAST and row["ratio"] > MOST
    ]
    return slow + [
        f"{row['name']}, {row['type']}, {row['sizes']}: {row['differing']} values differ"
        for row in rows
        if row["differing"]
    ]


main = Command(
    __doc__ or "", COLUMNS, measure, missed, tasks=None, judges_quick=False,
    head=lambda options: set_threads(options.threads) or (),
    arguments=[
        argument("--kinds", default="", help="parts of the names of layers, separated by commas"),
        argument("--level", default="", choices=LEVELS, help="compile for a lesser CPU than this one"),
        argument("--threads", type=int, default=1),
        argument("--rounds", type=int, default=5),
    ],
)  # fmt: skip

if __name__ == "__main__":
    main()
