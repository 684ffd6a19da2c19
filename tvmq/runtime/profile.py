"""`exe.profile(inputs)`: where the time of a run goes, layer by layer.

One run is recorded: every function that main calls, with its arguments. Then these calls are repeated in their order,
on the same memory, with a look at the clock between them, by turns with whole runs. So every kernel finds the caches
as it finds them in a run, and the clock costs the same for each call: it is measured with a function that does
nothing on the same arguments, and taken off (0.2 to 0.4 us a call).

Tests: tests/codegen/performance/test_profile.py
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

import tvm
from tvm import relax

from tvmq.base.tvm_internals import DO_NOTHING, global_function
from tvmq.codegen.cost import START
from tvmq.codegen.kernels.parts.peak import peak
from tvmq.codegen.lower.lower_functions import of_sizes
from tvmq.codegen.performance.estimate import estimates
from tvmq.codegen.performance.machine import machine_here
from tvmq.codegen.target.cpu import CpuTarget
from tvmq.runtime.artifact.model_description import CallDescription
from tvmq.runtime.call_code import entry
from tvmq.runtime.compiled_function import CompiledFunction
from tvmq.runtime.executable import Parts
from tvmq.runtime.profile_table import LayerTime, Profile

BUILTIN = "vm."  # memory and shapes, which belong to no layer
SHAPES = "shape_func"  # what TVM calls the functions that compute dynamic sizes; they belong to no layer either
WARM_UP = 2
PEAK_SECONDS = 0.01
# What kernels that only move or convert data are called: rows of their own, never the work of a product.
MOVERS = ("to_nhwc", "to_nchw", "transpose", "quantize", "dequantize", "pad", "frame", "concat", "copy", "stack_depth")
PREFIX = "kernel_"
SUMS = "int32"

Call = tuple[str, Callable[..., Any], tuple[Any, ...]]
clock = time.perf_counter


def profile_model(
    parts: Parts, main: CompiledFunction, module: tvm.IRModule, inputs: Mapping[str, Any], repeat: int
) -> Profile:
    """The profile of an executable for a CPU, with as many threads as models use in this thread.

    parts    the executable's; `main` and `module` are its function and what was compiled
    raises   what a run raises
    """
    calls, name = parts.description.calls, main.function_for(inputs)
    calls = calls if name == "main" else calls.common[name]
    forecast: Callable[[int], Sequence[float]] = partial(_forecast, parts, module, name)
    if name == "main" and main.has_free_sizes:  # counts and forecasts take a dynamic dimension as 1
        calls = replace(calls, origins=[{**origin, "macs": 0} for origin in calls.origins])
        forecast = lambda threads: ()  # noqa: E731
    assert isinstance(parts.target, CpuTarget)
    return profile_calls(
        parts.executable,
        lambda code: partial(main.with_code(code, name).run, inputs),
        calls,
        parts.target,
        repeat,
        forecast,
        name,
    )


def _forecast(parts: Parts, module: tvm.IRModule, name: str, threads: int) -> list[float]:
    """Seconds that the cost model expects of every call of main for a sample, or of its code for common sizes."""
    target = parts.target
    assert isinstance(target, CpuTarget)
    sizes = {one.function: one.sizes for one in parts.description.common}
    mod = of_sizes(module, sizes[name]) if name in sizes else module
    expected, _ = estimates(mod, target, machine_here(target), threads=threads)
    return [estimate.time.total - START for estimate in expected]


def profile_calls(
    code: relax.VMExecutable,
    prepared: Callable[[Callable[..., Any]], Callable[[], object]],
    description: CallDescription,
    target: CpuTarget,
    repeat: int,
    forecast: Callable[[int], Sequence[float]],
    function: str = "main",
) -> Profile:
    """The profile, with as many threads as models use in this thread.

    code         the compiled functions
    prepared     gives for a function in main's place a run on the inputs
    description  of the calls
    forecast     with so many threads: seconds that the cost model expects of every call of a sample
    function     main, or its name for common sizes
    """
    machine = relax.VirtualMachine(code, tvm.cpu())
    calls = record_calls(machine, lambda code: prepared(code)(), function)
    main, _ = entry(relax.VirtualMachine(code, tvm.cpu()), function)
    whole, seconds = _measure(prepared(main), calls, repeat)
    overhead = clock_seconds(calls, repeat)
    threads = tvm.runtime.num_threads()
    rows = _rows(calls, [max(second - overhead, 0.0) for second in seconds], description, forecast(threads))
    rates = {dtype: _peak_rate(target, dtype) for dtype in sorted({row.dtype for row in rows if row.macs})}
    peaks = {dtype: threads * rate for dtype, rate in rates.items() if rate is not None}
    layers = tuple(replace(row, peak=peaks.get(row.dtype)) for row in rows)
    return Profile(layers, whole, overhead, len(calls), threads, repeat)


def clock_seconds(calls: Sequence[Call], repeat: int) -> float:
    """Seconds of a call that go into looking at the clock: its time with a function that does nothing."""
    idle = [(name, global_function(DO_NOTHING), args) for name, _, args in calls]
    return statistics.median(statistics.median(time_calls(idle)) for _ in range(repeat))


def record_calls(
    machine: relax.VirtualMachine, run: Callable[[Callable[..., Any]], object], function: str = "main"
) -> list[Call]:
    """(name, function, arguments) of every call of a kernel in one run."""
    calls: list[Call] = []

    def record_call(called: Any, name: str, before: bool, _result: Any, *args: Any) -> int:
        if before and not name.startswith(BUILTIN):
            calls.append((name, called, args))
        return 0  # go on

    machine.set_instrument(record_call)
    run(machine[function])
    return calls


def record_main_calls(parts: Parts, main: CompiledFunction, inputs: Mapping[str, Any]) -> list[Call]:
    """The calls of main on the first samples of these inputs."""
    machine = relax.VirtualMachine(parts.executable, tvm.cpu())
    return record_calls(machine, lambda code: main.with_code(code, "main").run(inputs))


def _measure(run: Callable[[], object], calls: Sequence[Call], repeat: int) -> tuple[float, list[float]]:
    """Median seconds of a whole run, and of each call, by turns."""
    whole: list[float] = []
    rounds: list[list[float]] = []
    for turn in range(WARM_UP + repeat):
        begin = clock()
        run()
        end = clock()
        times = time_calls(calls)
        if turn >= WARM_UP:
            whole.append(end - begin)
            rounds.append(times)
    return statistics.median(whole), [statistics.median(times) for times in zip(*rounds, strict=True)]


def time_calls(calls: Sequence[Call]) -> list[float]:
    """Seconds of each call, one after the other."""
    stamps = [clock()]
    for _, function, args in calls:
        function(*args)
        stamps.append(clock())
    return [end - begin for begin, end in zip(stamps, stamps[1:], strict=False)]


def _rows(
    calls: Sequence[Call], seconds: Sequence[float], description: CallDescription, forecast: Sequence[float]
) -> list[LayerTime]:
    """Rows: one for the calls of an origin that compute, and one for each call that moves data, in order."""
    functions = description.functions
    known = [name for name, _ in functions]
    called = [name for name, _, _ in calls if not name.startswith(SHAPES)]
    # A dynamic batch runs main once for each sample.
    fits = bool(known) and called == known * (len(called) // len(known))
    samples = len(called) // len(known) if fits else 1
    rows: dict[object, LayerTime] = {}
    forecasts = forecast if fits and len(forecast) == len(known) else ()
    index = -1
    for (name, _, args), second in zip(calls, seconds, strict=True):
        if name.startswith(SHAPES):
            rows[SHAPES] = _add_shapes(rows.get(SHAPES), second)
            continue
        index += 1
        number = functions[index % len(known)][1] if fits else None
        origin = {} if number is None else description.origins[number]
        kernel = name.removeprefix(PREFIX)
        moves = kernel.startswith(MOVERS)
        macs = 0 if moves else samples * origin.get("macs", 0)
        key = (index % len(known), kernel) if moves and fits else index if number is None else number
        row = rows.get(key) or LayerTime(tuple(origin.get("layers", ())), (), 0.0, macs, origin.get("dtype", ""), None)
        kernels = row.kernels if kernel in row.kernels else (*row.kernels, kernel)
        expected = (row.forecast or 0.0) + forecasts[index % len(known)] if forecasts else None
        sums = row.sums or (not moves and str(args[-1].dtype) == SUMS)
        rows[key] = replace(row, kernels=kernels, seconds=row.seconds + second, forecast=expected, sums=sums)
    return [row if row.macs else replace(row, dtype="") for row in rows.values()]


def _add_shapes(row: LayerTime | None, seconds: float) -> LayerTime:
    """The row of all computations of dynamic sizes, with one more of them."""
    return LayerTime((), (SHAPES,), seconds + (row.seconds if row else 0.0), 0, "", None)


def _peak_rate(target: CpuTarget, dtype: str) -> float | None:
    """Multiply-accumulates in a second that one core reaches at most, measured now; None where nothing is known."""
    if dtype not in ("int8", "float32"):
        return None
    run, macs = _peak_loop(target, dtype)
    times: list[float] = []
    end = clock() + PEAK_SECONDS
    while not times or clock() < end:
        begin = clock()
        run()
        times.append(clock() - begin)
    return macs / statistics.median(times)


@lru_cache(maxsize=16)
def _peak_loop(target: CpuTarget, dtype: str) -> tuple[Callable[[], None], int]:
    """The compiled loop on its arguments, and its multiply-accumulates."""
    loop = peak(target.isa, dtype)
    function = tvm.compile(tvm.IRModule({"peak": loop.kernel.func}), target.as_tvm())["peak"]
    tensors = [tvm.runtime.tensor(array) for array in loop.arrays]
    return (lambda: function(*tensors)), loop.macs
