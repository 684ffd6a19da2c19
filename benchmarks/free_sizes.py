"""Speed of code for any size beside code for the one size that is run: by layer kind, and whole networks.

    python benchmarks/free_sizes.py [--kinds depthwise,pool | none] [--networks yolo | none] [--level avx2] [--quick]
                                    [--texts minilm.onnx --words texts.npz] [--rounds 5]
    python benchmarks/free_sizes.py --memory 10000 [--networks yolo] [--threads 2]

Layers    of pictures of free rows and columns, lines and texts of free length (harness/free_kinds.py), each between two
          products, in int8 and some in float; both codes are built from the same quantized module
  Columns fixed, free: microseconds of the layer and of what converts its operands, least of the medians of rounds by
          turns; ratio: free / fixed; run: the same of whole runs, products around it, shapes and calls included
Networks  PP-OCR's detector and recogniser (of the wheel of rapidocr-onnxruntime), a small YOLO, networks of the zoo,
          and the encoder of --texts with the ids of --words, at ten random sizes (harness/free_networks.py)
  Columns milliseconds of our int8, geometric mean; free / fixed: at three of the sizes; then geometric means of the
          times of others / ours: our float of free size, the best of onnxruntime's and OpenVINO's int8 and float with
          the same dynamic model; first: the first run of a size / a later one
--memory  instead: every network at so many random sizes, each run twice; milliseconds of first and second runs,
          medians; resident MiB after a tenth of the sizes and after all
--level   compile for a lesser CPU; networks then have no peers
Bounds    1. results of free and fixed code are equal, bit for bit
          2. a layer's ratio <= 1.10 where the fixed code takes 10 us and more    3. a network's <= 1.15
          4. all others' / ours > 1    5. memory grows by 5 % at most, and first runs take 1.2 of second ones
Exit code 1 where a bound is missed.
"""

from __future__ import annotations

import subprocess
import sys
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from harness import set_threads
from harness.command import Command, argument, run_fresh
from harness.free_calls import measure_layers
from harness.free_kinds import KINDS
from harness.free_layers import Kind
from harness.free_networks import NETWORKS, chosen_networks
from harness.report import cells_of, columns

from tvmq.errors import TvmqError

LEVELS = {"": "llvm", "avx2": "x86-64-v3"}
MOST, LEAST = 1.10, 10.0  # a ratio; microseconds
MOST_OF_NETWORK = 1.15
GROWTH, FIRST = 0.05, 1.2
OTHERS = ("our_float", "ort_int8", "ov_int8", "ort_float", "ov_float")

COLUMNS = columns(
    "layer {name} | type {type} | sizes {sizes} | fixed {fixed:.1f} | free {free:.1f} | ratio {ratio:.2f}",
    "run, fixed {run_fixed:.1f} | run, free {run_free:.1f} | run, ratio {run_ratio:.2f}",
)
NETWORK_COLUMNS = columns(
    "network {network} | int8 {ours:.3f} | free / fixed {free_fixed:.2f} | our float {our_float:.2f}",
    "ort int8 {ort_int8:.2f} | ov int8 {ov_int8:.2f} | ort float {ort_float:.2f} | ov float {ov_float:.2f}",
    "first {first:.2f}",
)


MEMORY_COLUMNS = columns(
    "network {network} | threads {threads} | sizes {runs} | distinct {distinct} | first {first:.3f}",
    "second {second:.3f} | MiB, a tenth {early:.0f} | MiB, all {late:.0f}",
)


def measure(options: Namespace) -> Iterator[dict[str, Any] | str]:
    """A row of each kind, type and size, then of each network; the error of one that is refused."""
    yield from measure_layer_kinds(options)
    for name in [] if options.quick else chosen_networks(options):
        environment = {"TVM_NUM_THREADS": str(options.threads), "OMP_NUM_THREADS": str(options.threads)}
        row = run_fresh(__file__, *sys.argv[1:], "--child", name, environment=environment)
        if "left_out" in row:
            print(row["left_out"])
        else:
            yield row["failed"] if "failed" in row else row


def measure_here(options: Namespace) -> dict[str, Any]:
    """The figures of the network `--child`, in this very process."""
    set_threads(options.threads)
    from harness.free_memory import memory_row
    from harness.free_timing import network_row

    network, target = find_network(options), LEVELS[options.level]
    if isinstance(network, str):
        return {"left_out": network}
    try:
        if options.memory:
            return memory_row(network, options.memory, options.threads, target)
        return network_row(network, options, target)
    except TvmqError as error:
        return {"failed": f"{options.child}: {error}"}


def find_network(options: Namespace) -> Any:
    """The network `--child`; a text that says why it is left out where the zoo or its wheel is not at hand."""
    try:
        return NETWORKS[options.child](options)
    except (SystemExit, OSError, subprocess.CalledProcessError) as error:
        return f"{options.child} left out: {' '.join(str(error).split())}"


def measure_layer_kinds(options: Namespace) -> Iterator[dict[str, Any] | str]:
    """A row of each kind, type and size; the error of a kind that is refused."""
    if options.kinds == "none" or options.memory:
        return
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
            "free": 1e6 * a.layer, "ratio": a.layer / b.layer if b.layer else float("nan"),
            "run_fixed": 1e6 * b.run, "run_free": 1e6 * a.run, "run_ratio": a.run / b.run,
            "kernels": " ".join(a.kernels), "fixed_kernels": " ".join(b.kernels),
            "differing": sum(int(np.count_nonzero(one != other)) for one, other in pairs),
        }  # fmt: skip


def missed(rows: list[dict[str, Any]], options: Any = None) -> list[str]:
    """Bounds that do not hold."""
    networks, layers = ([row for row in rows if ("network" in row) is which] for which in (True, False))
    misses = missed_memory if options and options.memory else missed_network
    return missed_layers(layers) + [text for row in networks for text in misses(row)]


def missed_memory(row: dict[str, Any]) -> Iterator[str]:
    """Bounds that a network at many sizes misses."""
    if row["growth"] > GROWTH * row["early"]:
        yield f"{row['network']}: memory grows from {row['early']:.0f} to {row['late']:.0f} MiB"
    if row["first"] > FIRST * row["second"]:
        yield f"{row['network']}: first runs take {row['first']:.3f} ms, second ones {row['second']:.3f}"


def missed_network(row: dict[str, Any]) -> Iterator[str]:
    """Bounds that a network misses."""
    name = row["network"]
    if row["differing"]:
        yield f"{name}: {row['differing']} values differ"
    if not row["free_fixed"] <= MOST_OF_NETWORK:
        yield f"{name}: free / fixed {row['free_fixed']:.2f}"
    for other in OTHERS:
        if row.get(other) is not None and not row[other] > 1:
            yield f"{name}: {other.replace('_', ' ')} takes {row[other]:.2f} of our int8"


def missed_layers(rows: list[dict[str, Any]]) -> list[str]:
    """Bounds that layers miss."""
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


def more(rows: list[dict[str, Any]], options: Namespace) -> Iterator[tuple[str, list[str], list[list[str]]]]:
    """The table of networks."""
    networks = [row for row in rows if "network" in row]
    table = MEMORY_COLUMNS if options.memory else NETWORK_COLUMNS
    if networks:
        yield "networks", [title for title, _ in table], [cells_of(table, row) for row in networks]


main = Command(
    __doc__ or "", COLUMNS, measure, missed, tasks=(), judges_quick=False, more=more, child=measure_here,
    table=lambda rows: [row for row in rows if "network" not in row],
    head=lambda options: set_threads(options.threads) or (),
    arguments=[
        argument("--kinds", default="", help="parts of the names of layers, separated by commas; none"),
        argument("--networks", default="all", help="names separated by commas, all, or none"),
        argument("--level", default="", choices=LEVELS, help="compile for a lesser CPU than this one"),
        argument("--texts", type=Path, help="ONNX model of ids and a mask, of any number and length"),
        argument("--words", type=Path, help=".npz of ids"),
        argument("--memory", type=int, default=0, help="random sizes of each network, to watch the memory"),
        argument("--threads", type=int, default=1),
        argument("--rounds", type=int, default=5),
    ],
)  # fmt: skip

if __name__ == "__main__":
    main()
