"""Compiled float and integer modules that calibration runs on this CPU.

numerics.rounding.round_weights as compiled code of this CPU: the same bits, a few per cent of the time.

observers.histogram_statistics.count_bins as compiled code of this CPU: equal counts, in less than half the time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import tvm

from tvmq.artifact.native import load_native
from tvmq.compile.build import build_executable
from tvmq.compile.build_options import BRIEF
from tvmq.compile.kernel_objects import native_kernels
from tvmq.compile.vm_pipeline import ONE_AT_A_TIME, OPT_LEVEL, OPTIONS
from tvmq.graph.symbolic import sizes_in
from tvmq.kernels.calibrate import weight_rounding as kernels
from tvmq.kernels.calibrate.histogram import TABLES, histogram
from tvmq.numerics import rounding
from tvmq.observers import histogram_statistics
from tvmq.observers.histogram_statistics import BINS, BLOCK
from tvmq.runtime.call_code import share_memory
from tvmq.runtime.executable import Executable
from tvmq.runtime.inputs import aligned_zeros
from tvmq.target.cpu import resolve_target

Feed = Mapping[str, np.ndarray]


def evaluator(mod: tvm.IRModule) -> Callable[[Feed], Sequence[np.ndarray]]:
    """Compile a float module for this CPU, for calibration to run.

    Free dimensions are compiled as the first batch has them, which is fast, and once more for all other sizes.
    """
    executable_for = _compiler(mod)
    return lambda feed: executable_for(feed).run(feed)


def evaluator_without_copies(mod: tvm.IRModule) -> Callable[[Feed], Sequence[np.ndarray]]:
    """Compile as `evaluator` does, without copies where possible: results are valid until the next run."""
    executable_for = _compiler(mod)
    return lambda feed: executable_for(feed)["main"].look(feed)


def _compiler(mod: tvm.IRModule) -> Callable[[Feed], Executable]:
    """The executable for inputs of these sizes."""
    executables: dict[tuple[tuple[str, int], ...], Executable] = {}

    def executable_for(feed: Feed) -> Executable:
        sizes = sizes_in(mod, feed)
        key = tuple(sizes.items()) if not executables or tuple(sizes.items()) in executables else ()
        if key not in executables:
            executables[key] = build_executable(mod, sizes=dict(key), options=BRIEF)
        return executables[key]

    return executable_for


def compile_with_shared_inputs(
    mod: tvm.IRModule,
) -> tuple[Callable[[Feed], Sequence[np.ndarray]], Mapping[str, np.ndarray]]:
    """Compile a module that writes into its inputs: (run, {input: memory that the code reads and writes})."""
    executable = build_executable(mod, options=BRIEF)
    return executable.run, executable["main"].memory


# Steps (groups * taps^2 * (taps + filters)) that NumPy does in about 30 ms; below, compiling costs more.
FEW_STEPS = 3e7


def round_weights(weight: np.ndarray, moments: np.ndarray, *, qmin: int, qmax: int) -> np.ndarray:
    """As numerics.rounding.round_weights, bit for bit."""
    groups, filters, taps = weight.shape
    if groups * taps * taps * (taps + filters) < FEW_STEPS:
        return rounding.round_weights(weight, moments, qmin=qmin, qmax=qmax)
    return rounding.round_weights(weight, moments, qmin=qmin, qmax=qmax, chosen=choose_codes)


def choose_codes(weight: np.ndarray, matrix: np.ndarray, qmin: int, qmax: int) -> np.ndarray:
    """Codes (groups, taps, filters) as numerics.rounding.chosen_codes gives them, taps in rising order of moments."""
    groups, taps, filters = weight.shape
    factor, walk = _compile_rounding()
    size, front = _whole_steps(taps, kernels.PADDING), _whole_steps(taps, kernels.PADDING) - taps
    upper, lower = (aligned_zeros((groups, size, size), "float64") for _ in range(2))
    diagonal = aligned_zeros((groups, size), "float64")
    upper[:, range(front), range(front)] = 1.0
    upper[:, front:, front:] = matrix
    factor(upper, lower, diagonal)
    padded, codes = (aligned_zeros((groups, size, _whole_steps(filters, kernels.LANES)), "float64") for _ in range(2))
    errors, limits = aligned_zeros((groups, 2, padded.shape[2]), "float64"), aligned_zeros((2,), "float64")
    padded[:, front:, :filters], limits[:] = weight, (qmin, qmax)
    walk(padded, lower, diagonal, limits, codes, errors)
    better = errors[:, 0, :filters] < errors[:, 1, :filters]
    return np.where(better[:, None, :], codes[:, front:, :filters], rounding.nearest_codes(weight, qmin, qmax))


def _whole_steps(count: int, step: int) -> int:
    return -(-count // step) * step


@lru_cache(maxsize=1)
def _compile_rounding() -> tuple[Any, Any]:
    library = compile_functions({"factor_moments": kernels.factor(), "walk_taps": kernels.walk()})
    return library["factor_moments"], library["walk_taps"]


def compile_functions(functions: Mapping[str, Any]) -> Any:
    """A library of functions of loops for this CPU, each from the cache of kernels where it is there."""
    module, target = tvm.IRModule(dict(functions)), resolve_target()
    compiler = target.as_tvm(**OPT_LEVEL)
    with ONE_AT_A_TIME:
        native = native_kernels(module, target, compiler, OPTIONS)
        if native is not None:
            return load_native(native)
        with tvm.transform.PassContext(**OPTIONS):
            return tvm.compile(module, compiler)


# Fewer values, of all tensors together, are counted by NumPy before the code would have been compiled.
FEW_VALUES = 30_000_000
MOST_VALUES = 2**31 - 1  # of one tensor: counts are int32 on the way

_seen = 0
_own = threading.local()


def count_bins(x: np.ndarray, exponent: int, first: int, last: int) -> np.ndarray:
    """As observers.histogram_statistics.count_bins; compiled when it begins to pay."""
    global _seen  # noqa: PLW0603  (a count that may be off by a race does no harm)
    _seen += x.size
    if _seen < FEW_VALUES or x.size > MOST_VALUES:
        return histogram_statistics.count_bins(x, exponent, first, last)
    return count_bins_compiled(x, exponent, first, last)


def count_bins_compiled(x: np.ndarray, exponent: int, first: int, last: int) -> np.ndarray:
    """Counts of the bins by compiled code, whatever the size."""
    flat = x.reshape(-1)
    (values, inverse, place, counts), tensors = _memory()
    inverse[0], place[1] = np.ldexp(np.float32(1), -exponent), first
    counts[...] = 0
    for start in range(0, flat.size, BLOCK):
        part = flat[start : start + BLOCK]
        values[: part.size], place[0] = part, part.size
        _compile_counter()(*tensors)
    return counts[:, : last - first + 1].sum(axis=0, dtype=np.int64)


def _memory() -> tuple[list[np.ndarray], list[Any]]:
    """Arrays of this thread that the code works on; it needs them aligned."""
    if not hasattr(_own, "arrays"):
        shapes = (((BLOCK,), "float32"), ((1,), "float32"), ((2,), "int32"), ((TABLES, BINS), "int32"))
        _own.arrays = [aligned_zeros(shape, dtype) for shape, dtype in shapes]
        _own.tensors = [share_memory(array) for array in _own.arrays]
    return _own.arrays, _own.tensors


@lru_cache(maxsize=1)
def _compile_counter() -> Any:
    return compile_functions({"count_bins": histogram(BLOCK, BINS)})["count_bins"]
