"""Speed of the int8 conv2d, Winograd, depthwise and matmul kernels as a share of the peak of their dot product.

    python benchmarks/kernels.py [--levels avx512vnni,avx2] [--shapes 1x1,stem] [--tiles 6x4,4x4] [--peers]
        [--networks resnet50,unet256] [--bits 7]
    python benchmarks/kernels.py --functions add,softmax [--levels avx512vnni,avx2]

With --functions the rows are the large cases of these functions (or all) in tests/codegen/kernels/table.py, the calls
that the tests compare with the definition; cycles are of the clock that is measured here.
With --networks the rows are the distinct convolutions of these networks (harness/network_shapes.py).
Columns   us: median of interleaved runs, requantize to uint8 included; GMAC/s; share of the peak of the
          instruction set's dot product, measured between the runs of the same row by a loop over registers;
          s: seconds of compilation; gain: OpenVINO's time for the same int8 layer / ours, with --peers, measured
          between our runs (harness/openvino_layers.py); only on the best level that this CPU has
The share counts true multiply-accumulates: padding of channels, taps and tiles counts as loss.
Weights are uniform in -128..127; with --bits they are normally distributed, the largest of a filter being the largest
code of so many bits: on CPUs without VNNI there is a row for int16 lanes (conv2d_int16) then, which may pass 100 %.
With --tiles every tile is timed, beside the one that the cost model chooses (*). Shapes that Winograd can compute,
proved exact for the random weights, have a row for it beside the direct kernel, with a * where the cost model takes it;
it alone may pass 100 %. Every kernel is first compared with the definition, bit for bit.

Bounds    1. kernels of depth 128 and more reach 90 % of the peak, on the best level
          2. depthwise kernels are 1.4 times as fast as OpenVINO's, with --peers
          3. Winograd is 1.4 times as fast as the direct kernel on 56x56x64 and 28x28x128
Exit code 1 where a bound is missed.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import tvm
from harness.network_shapes import network_shapes
from harness.report import finish, machine, print_table
from tvm.script.ir_builder import tirx as T

from tests.codegen.kernels.cases import check
from tests.codegen.kernels.harness import compile_unchecked, expected_conv
from tests.codegen.kernels.table import TABLE
from tvmq.codegen.kernels import isa
from tvmq.codegen.kernels.conv.conv2d import instructions_for, make_kernel
from tvmq.codegen.kernels.conv.conv2d_int16 import lane_gain, lane_kernel
from tvmq.codegen.kernels.conv.shape import ConvShape
from tvmq.codegen.kernels.depthwise.depthwise import depthwise
from tvmq.codegen.kernels.parts import builder
from tvmq.codegen.kernels.parts.kernel_types import Conv2d, Kernel, Requantize
from tvmq.codegen.kernels.parts.tiling import choose_tiling, cut_tiles
from tvmq.codegen.kernels.winograd import winograd
from tvmq.codegen.kernels.winograd.scheme import F4, refusal
from tvmq.codegen.kernels.winograd.winograd import choose_winograd
from tvmq.codegen.performance.machine import measured_clock
from tvmq.codegen.target.host import host_features

SAME3, SAME7 = (1, 1, 1, 1), (3, 3, 3, 3)
SHAPES = {
    "1x1 56x56x64->64": Conv2d(1, 56, 56, 64, 64),
    "1x1 14x14x256->1024": Conv2d(1, 14, 14, 256, 1024),
    "1x1 112x112x16->96": Conv2d(1, 112, 112, 16, 96),
    "1x1 56x56x144->24": Conv2d(1, 56, 56, 144, 24),
    "1x1 7x7x960->160": Conv2d(1, 7, 7, 960, 160),
    "3x3 56x56x64->64": Conv2d(1, 56, 56, 64, 64, (3, 3), (1, 1), SAME3),
    "3x3 28x28x128->128": Conv2d(1, 28, 28, 128, 128, (3, 3), (1, 1), SAME3),
    "3x3 14x14x256->256": Conv2d(1, 14, 14, 256, 256, (3, 3), (1, 1), SAME3),
    "3x3 7x7x512->512": Conv2d(1, 7, 7, 512, 512, (3, 3), (1, 1), SAME3),
    "3x3 s2 28x28x256->256": Conv2d(1, 28, 28, 256, 256, (3, 3), (2, 2), SAME3),
    "stem 3x3 s2 224x224x3->32": Conv2d(1, 224, 224, 3, 32, (3, 3), (2, 2), SAME3),
    "stem 7x7 s2 224x224x3->64": Conv2d(1, 224, 224, 3, 64, (7, 7), (2, 2), SAME7),
    "matmul 128x768->768": Conv2d(1, 1, 128, 768, 768),
    "matmul 1x1280->1000": Conv2d(1, 1, 1, 1280, 1000),
    **{
        f"depthwise {k}x{k} s{stride} {size}x{size}x{c}": Conv2d(
            1, size, size, c, c, (k, k), (stride, stride), (k // 2,) * 4, groups=c
        )
        for k, stride, size, c in (
            *((3, 1, 112, 32), (3, 1, 56, 144), (3, 1, 28, 192), (3, 1, 14, 384), (3, 1, 7, 960)),
            *((3, 2, 112, 96), (3, 2, 56, 144), (3, 2, 28, 192), (5, 1, 28, 240), (5, 1, 14, 480)),
        )
    },
}
DEEP, SHARE, GAIN = 128, 0.9, 1.4  # bounds
WINOGRAD_SHAPES = ("3x3 56x56x64->64", "3x3 28x28x128->128")
X_ZERO, NAN = 7, float("nan")
PEAK_ROUNDS, PEAK_UNROLL = 1000, 2
HEADERS = ("shape", "level", "kernel", "us", "GMAC/s", "of peak", "s", "OpenVINO us", "gain")
CYCLE_HEADERS = ("case", "level", "kernel", "us", "cycles", "cycles for 64 bytes")


@dataclass(frozen=True)
class Row:
    """A kernel of one shape; peer: seconds of OpenVINO's, NaN where it was not measured."""

    title: str
    level: str
    label: str
    seconds: float
    rate: float
    share: float
    compilation: float
    peer: float

    def cells(self) -> tuple[str, ...]:
        """Cells of the printed table."""
        peer, gain = 1e6 * self.peer, self.peer / self.seconds
        figures = (
            f"{1e6 * self.seconds:.1f}",
            f"{1e-9 * self.rate:.0f}",
            f"{self.share:.0%}",
            f"{self.compilation:.2f}",
        )
        return (self.title, self.level, self.label, *figures, f"{peer:.1f}", f"{gain:.2f}")


def peak_run(level: str) -> tuple[Callable[[], None], int]:
    """A loop of dot products of registers, and its multiply-accumulates."""
    ins = isa.level(level)
    # sums and as many weights; the activations come from memory, or LLVM would multiply once for all
    count, reads = (ins.registers - 4) // 2, PEAK_ROUNDS * PEAK_UNROLL
    size = ins.lanes * ins.taps
    lengths = {
        "x": (reads * ins.taps, ins.x_dtype),
        "w": (count * size, ins.w_dtype),
        "y": (count * ins.lanes, "int32"),
    }
    with builder.FunctionBuilder("peak", {k: ((length,), dtype) for k, (length, dtype) in lengths.items()}) as function:
        x, w, y = function.buffers
        kind = builder.vector_type(ins.w_dtype, size)
        weights = [builder.load(w, i * size, kind) for i in range(count)]
        sums = [builder.Register("int32", ins.lanes) for _ in range(count)]
        for register in sums:
            register.set(builder.spread(0, ins.lanes))
        with T.serial(0, PEAK_ROUNDS) as i:
            for turn in range(PEAK_UNROLL):
                activations = ins.broadcast(x, (i * PEAK_UNROLL + turn) * ins.taps)
                for register, weight in zip(sums, weights, strict=True):
                    register.set(ins.dot(register.get(), activations, weight))
        for i, register in enumerate(sums):
            builder.store(y, i * ins.lanes, register.get(), ins.lanes)
    run = compile_unchecked("peak", function.prim_func, level)
    tensors = [tvm.runtime.tensor(np.zeros(length, dtype)) for length, dtype in lengths.values()]
    return (lambda: run(*tensors)), reads * count * size


def kernel_run(conv: Conv2d, kernel: Kernel, level: str, operands: Any) -> tuple[Callable[[], None], float]:
    """A call of the compiled kernel, checked once against the definition; and seconds of compilation."""
    x, weight, bias, step = operands
    begin = time.perf_counter()
    function = compile_unchecked(kernel.name, kernel.func, level)
    seconds = time.perf_counter() - begin
    y = np.zeros(conv.out_shape, np.uint8)
    tensors = [tvm.runtime.tensor(array) for array in (x, *kernel.constants, y)]
    function(*tensors)
    if not np.array_equal(tensors[-1].numpy(), expected_conv(conv, (x, weight, bias), X_ZERO, (step,), ())):
        raise SystemExit(f"{kernel.name} differs from the definition")
    return (lambda: function(*tensors)), seconds


def depth_of(conv: Conv2d) -> int:
    """Multiply-accumulates of one output."""
    return conv.channels // conv.groups * conv.kernel[0] * conv.kernel[1]


def operands_of(conv: Conv2d, bits: int = 0) -> Any:
    """x, weight, bias, and a requantize step that spreads the sums over the codes; bits: of normal weights."""
    random = np.random.default_rng(0)
    x = random.integers(0, 256, (conv.batch, conv.height, conv.width, conv.channels)).astype(np.uint8)
    shape = (conv.filters, conv.channels // conv.groups, *conv.kernel)
    weight = random.integers(-128, 128, shape).astype(np.int8)
    if bits:
        normal = random.standard_normal(shape)
        largest = np.abs(normal).max(axis=(1, 2, 3), keepdims=True)
        weight = np.rint(normal / largest * (2 ** (bits - 1) - 1)).astype(np.int8)
    bias = random.integers(-20000, 20000, conv.filters).astype(np.int32)
    depth = depth_of(conv)
    multiplier = (random.uniform(0.5, 1.5, conv.filters) / (220 * depth**0.5)).astype(np.float32)
    return x, weight, bias, Requantize(multiplier, 3, 0, 255)


def interleaved(
    runs: dict[str, Callable[[], None]], seconds: float, peer: Callable[[], float] | None
) -> tuple[dict[str, float], float]:
    """Median seconds of a call of each, in turns, for so long in all; and what `peer` gives in between (or NaN)."""
    counts, times, others = {}, {name: [] for name in runs}, []  # type: ignore[var-annotated]
    for name, run in runs.items():
        run()
        begin = time.perf_counter()
        run()
        counts[name] = max(1, int(3e-4 / (time.perf_counter() - begin)))
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(next(iter(times.values()))) < 5:
        for name, run in runs.items():
            begin = time.perf_counter()
            for _ in range(counts[name]):
                run()
            times[name].append((time.perf_counter() - begin) / counts[name])
        if peer is not None:
            others.append(peer())
    return {name: statistics.median(values) for name, values in times.items()}, statistics.median(others or [NAN])


def candidates(conv: Conv2d, level: str, tiles: list[tuple[int, int]], operands: Any) -> dict[str, Kernel]:
    """Kernels of one shape by their label; * is the one that the cost model chooses."""
    _, weight, bias, step = operands
    if conv.groups > 1:
        kernel = depthwise(conv, weight, bias, X_ZERO, (step,), isa.isa_named(level))
        return {f"{kernel.name} *": kernel}
    shape = ConvShape(conv, instructions_for(conv, isa.isa_named(level)), X_ZERO)
    product = shape.product
    tilings = [choose_tiling(product, shape.ins)]
    tilings += [cut_tiles(product, *tile) for tile in tiles if tile[0] <= product.pixels]
    kernels = [make_kernel("conv2d", shape, tiling, weight, bias, (step,)) for tiling in tilings]
    found = {
        kernel.name.removeprefix("conv2d_") + ("" if number else " *"): kernel for number, kernel in enumerate(kernels)
    }
    lanes, _ = lane_kernel("conv2d", conv, weight, bias, X_ZERO, (step,), isa.isa_named(level))
    if lanes is not None:
        found = {label.removesuffix(" *"): kernel for label, kernel in found.items()}
        found[lanes.name.removeprefix("conv2d_") + " *"] = lanes
    if not winograd.why_unsuited(conv, isa.isa_named(level)) and not refusal(weight, 0, 255, F4):
        direct = lane_gain(conv, weight, X_ZERO, isa.isa_named(level))
        chosen = choose_winograd(conv, weight, X_ZERO, isa.isa_named(level), direct=direct).shape is not None
        kernel = winograd.winograd(conv, weight, bias, X_ZERO, (step,), isa.isa_named(level))
        found[kernel.name + (" *" if chosen else "")] = kernel
    return found


def measure(title: str, conv: Conv2d, level: str, tiles: list[tuple[int, int]], options: Any) -> list[Row]:
    """Rows of the table for one shape on one level."""
    operands = operands_of(conv, options.bits)
    peak, peak_macs = peak_run(level)
    runs, notes = {"peak": peak}, {}
    for label, kernel in candidates(conv, level, tiles, operands).items():
        runs[label], notes[label] = kernel_run(conv, kernel, level, operands)
    peer = None
    if options.peers and level == options.best:
        from harness.openvino_layers import layer_seconds

        try:
            peer, _ = layer_seconds(conv)
        except RuntimeError as error:  # limited to AVX2 it cannot compile some of its own rewrites
            print(f"{title}: no figure of OpenVINO: {str(error).strip().splitlines()[-1]}", file=sys.stderr)
    times, beside = interleaved(runs, options.seconds, peer)
    rate = peak_macs / times.pop("peak")
    macs = conv.batch * conv.out_shape[1] * conv.out_shape[2] * conv.filters * depth_of(conv)
    return [
        Row(title, level, label, time, macs / time, macs / time / rate, notes[label], beside)
        for label, time in times.items()
    ]


def function_rows(names: str, level: str, seconds: float) -> list[tuple[str, ...]]:
    """Rows of the large cases of these functions, each compared with the definition first."""
    rows, clock = [], measured_clock()
    for entry in (entry for name, entry in TABLE.items() if names == "all" or name in names.split(",")):
        for case in entry.make(entry.large):
            check(case, level)
            kernel = case.make(isa.isa_named(level))
            arrays = (*case.inputs, *kernel.constants, np.zeros_like(case.expected))
            tensors = [tvm.runtime.tensor(np.ascontiguousarray(array)) for array in arrays]
            function = compile_unchecked(kernel.name, kernel.func, level)
            times, _ = interleaved({"kernel": lambda: function(*tensors)}, seconds, None)  # noqa: B023
            cycles, lines = times["kernel"] * clock, max(array.nbytes for array in arrays) / 64
            figures = f"{1e6 * times['kernel']:.1f}", f"{cycles:.0f}", f"{cycles / lines:.2f}"
            rows.append((case.name, level, kernel.name, *figures))
    return rows


def missed(rows: list[Row], best: str, shapes: Mapping[str, Conv2d] = SHAPES) -> list[str]:
    """The bounds that kernels chosen by the cost model miss on the best level."""
    failures = []
    starred = [row for row in rows if row.label.endswith("*") and not row.label.startswith("winograd")]
    direct = {(row.title, row.level): row.seconds for row in starred}
    for row in rows:
        gain = direct[row.title, row.level] / row.seconds
        if row.label.startswith("winograd") and row.title in WINOGRAD_SHAPES and gain < GAIN:
            failures.append(f"{row.title}, {row.level}: {gain:.2f} x the direct kernel, at least {GAIN} asked")
        if row.level != best or not row.label.endswith("*"):
            continue
        if depth_of(shapes[row.title]) >= DEEP and shapes[row.title].out_shape[2] > 1 and row.share < SHARE:
            failures.append(f"{row.title}: {row.share:.0%} of the peak, at least {SHARE:.0%} asked")
        if row.title.startswith("depthwise") and row.peer / row.seconds < GAIN:
            failures.append(f"{row.title}: {row.peer / row.seconds:.2f} x OpenVINO, at least {GAIN} asked")
    return failures


def main() -> None:
    """Command line; see the head of this file."""
    parser = argparse.ArgumentParser(description="speed of int8 conv2d and matmul kernels")
    parser.add_argument("--levels", default="", help="instruction sets; default: all that this CPU has")
    parser.add_argument("--shapes", default="", help="parts of the names of shapes, separated by commas")
    parser.add_argument("--networks", default="", help="rows of networks instead: names, or all")
    parser.add_argument("--functions", default="", help="functions of the tests' table: names, or all")
    parser.add_argument("--tiles", default="", help="further tiles, such as 6x4,4x4")
    parser.add_argument("--bits", type=int, default=0, help="of normally distributed weights; default: uniform, 8")
    parser.add_argument("--peers", action="store_true", help="also OpenVINO's time for the same layer")
    parser.add_argument("--seconds", type=float, default=1.0, help="time for each row")
    options = parser.parse_args()
    tiles = [tuple(map(int, tile.split("x"))) for tile in options.tiles.split(",") if tile]
    present = host_features()
    levels = [level for level in options.levels.split(",") if level] or [
        level for level in isa.LEVELS if set(isa.features(level)) <= present
    ]
    wanted = options.shapes.split(",")
    print(machine(), flush=True)
    if options.functions:
        rows_of = (function_rows(options.functions, level, options.seconds) for level in levels)
        print_table(CYCLE_HEADERS, [row for rows in rows_of for row in rows])
        return
    options.best = levels[0]
    shapes = network_shapes(options.networks) or SHAPES
    rows: list[Row] = []
    for level in levels:
        for title, conv in shapes.items():
            if any(part in title for part in wanted):
                rows += measure(title, conv, level, tiles, options)
                print(".", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    print_table(HEADERS, [row.cells() for row in rows])
    finish(missed(rows, options.best, shapes))


if __name__ == "__main__":
    main()
