"""Measure tiles of the kernels of a model on this machine, and keep those that are faster than what the model chose.

Each product of the lowered module gets the tiles that the model of cycles ranks next; their kernels are compiled alone
and run by turns with the chosen one on the same data. A tile is kept if its result has the same bits and it is faster
by LEAST_GAIN; the table is written after each product, so that an interrupt loses nothing.
"""

from __future__ import annotations

import contextlib
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
import tvm
from tvm import relax

from tvmq.codegen.compile.llvm_workarounds import with_whole_stores
from tvmq.codegen.compile.vm_pipeline import CONFIG, ONE_AT_A_TIME, OPT_LEVEL
from tvmq.codegen.kernels.parts.kernel_types import NO_TILES, Tile, Tiles
from tvmq.codegen.kernels.parts.tiling import best_tilings, cycles, product_key
from tvmq.codegen.lower.lower_functions import lower_functions
from tvmq.codegen.lower.lowerer import Lowerer
from tvmq.codegen.performance.tuning_table import add_entries, read_entries
from tvmq.codegen.schedule.generic import KERNEL
from tvmq.codegen.target.cpu import CpuTarget
from tvmq.codegen.target.host import missing_features
from tvmq.errors import ConfigError, TargetError
from tvmq.graph.analysis.batch_dimension import batch_dimension
from tvmq.graph.module_functions import inline_functions, unpack_weights
from tvmq.graph.view import const_value, is_const, op_name

CANDIDATES = 6  # tiles of a product, the chosen one included
LEAST_GAIN = 1.03  # less is noise
ROUNDS, BLOCK_SECONDS = 9, 400e-6
Advance = Callable[["Tuning"], None]


@dataclass
class Tuning:
    """Progress of the measurements so far.

    products   of the model
    left       those of them that had not been measured before
    measured   those that were measured now
    faster     {product: gain} of those that got another tile
    seconds    that it took
    """

    products: int
    left: int
    measured: int = 0
    faster: dict[str, float] = field(default_factory=dict)
    seconds: float = 0.0

    def __str__(self) -> str:
        gains = sorted(self.faster.values(), reverse=True)
        best = f", up to {gains[0]:.2f} times" if gains else ""
        return (
            f"{self.measured} of {self.left} products measured in {self.seconds:.0f} s "
            f"({self.products - self.left} were known), {len(gains)} got a faster tile{best}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Dictionary for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class _Subject:
    """A product of the module.

    var     a variable of main that its kernel computes
    weight  cycles of all calls
    tiles   to be measured; first the one that the model of cycles chooses
    """

    key: str
    var: str
    weight: float
    tiles: tuple[Tile, ...]


@contextlib.contextmanager
def progress_line() -> Iterator[Advance]:
    """A function for `advance` that tells on a terminal's stderr, in one line, how far tuning is."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    yield lambda done: print(f"\r\x1b[2Ktune: {done}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)


def tune(mod: tvm.IRModule, target: CpuTarget, seconds: float, advance: Advance = lambda _: None) -> Tuning:
    """Measure for about so many seconds, the products that take most time first; what was measured before is left out.

    mod      prepared or realized
    advance  called after each product
    raises   ConfigError for a time below 0, TargetError for a CPU that is not here
    """
    _check(target, seconds)
    start = time.perf_counter()
    known = read_entries(target)
    walk, lowered = _lower_with(mod, target, NO_TILES)
    subjects = _subjects(walk, lowered)
    modules, result = _Modules(mod, target, subjects, lowered), Tuning(len(subjects), 0)
    unknown = [subject for subject in subjects if subject.key not in known]
    result.left = len(unknown)
    for subject in unknown:
        if time.perf_counter() - start > seconds:
            break
        tile, gain = _best_tile(subject, modules, target)
        result.measured += 1
        if gain > 1:
            result.faster[subject.key] = gain
        add_entries(target, {subject.key: {"tile": list(tile), "gain": round(gain, 4)}})
        result.seconds = time.perf_counter() - start
        advance(result)
    result.seconds = time.perf_counter() - start
    return result


def _check(target: CpuTarget, seconds: float) -> None:
    if not seconds >= 0:
        raise ConfigError(f"tune: seconds must be a number of at least 0. Got {seconds!r} instead")
    lacking = missing_features(target.needs)
    if lacking:
        raise TargetError(
            f"tune: kernels for {target.name} need {', '.join(lacking)}, which this CPU lacks; tune on such a CPU"
        )


def _lower_with(mod: tvm.IRModule, target: CpuTarget, tiles: Tiles) -> tuple[Lowerer, tvm.IRModule]:
    """The walk over main, and the module that it made with these tiles."""
    walks, isa = list[Lowerer](), replace(target.isa, tiles=tiles)

    def walk(part: tvm.IRModule, shared: Lowerer | None) -> Lowerer:
        walks.append(Lowerer(part, isa, shared=shared))
        return walks[-1]

    lowered = lower_functions(mod, walk, batch_dimension(unpack_weights(inline_functions(mod)))).module
    return walks[0], lowered


def _subjects(walk: Lowerer, lowered: tvm.IRModule) -> list[_Subject]:
    """The different products of main with a choice of tiles, those that take most cycles first."""
    subjects: dict[str, _Subject] = {}
    for name, call in _calls(lowered):
        work = walk.works.get(str(call.args[0].name_hint))
        if work is None or work.tiled is None:
            continue
        product, ins = work.tiled
        tilings = best_tilings(product, ins, CANDIDATES)
        key, weight = product_key(product, ins), cycles(product, tilings[0], ins)
        before = subjects.get(key)
        tiles = tuple(dict.fromkeys((tiling.rows, tiling.columns) for tiling in tilings))
        subjects[key] = _Subject(key, before.var if before else name, weight + (before.weight if before else 0), tiles)
    several = [subject for subject in subjects.values() if len(subject.tiles) > 1]
    return sorted(several, key=lambda subject: -subject.weight)


class _Run:
    """A kernel compiled alone, on random data; calling it runs it once."""

    def __init__(self, module: tvm.IRModule, var: str, target: CpuTarget) -> None:
        call = dict(_calls(module))[var]
        func = module[call.args[0]].with_attr("global_symbol", "kernel")
        with ONE_AT_A_TIME:
            compiler = target.as_tvm(**OPT_LEVEL)
            with compiler, tvm.transform.PassContext(opt_level=3, config=CONFIG):
                library = tvm.tirx.build(tvm.IRModule({"kernel": func}), target=compiler)
            self._code = with_whole_stores(library, target)["kernel"]
        random = np.random.default_rng(0)
        arrays = [const_value(arg) if is_const(arg) else _random(arg.ty, random) for arg in call.args[1].fields]
        arrays.append(np.zeros(_shape(call.ty), str(call.ty.dtype)))
        self._tensors = [tvm.runtime.tensor(np.ascontiguousarray(array)) for array in arrays]

    def __call__(self) -> None:
        self._code(*self._tensors)

    def result(self) -> np.ndarray:
        """Output that it computes."""
        self()
        return self._tensors[-1].numpy()


class _Modules:
    """The module lowered with the tiles of each rank, for all products at once: walking is cheap, and done once."""

    def __init__(self, mod: tvm.IRModule, target: CpuTarget, subjects: list[_Subject], first: tvm.IRModule) -> None:
        self._mod, self._target, self._subjects = mod, target, subjects
        self._made = {0: first}

    def __getitem__(self, rank: int) -> tvm.IRModule:
        if rank not in self._made:
            tiles = {one.key: one.tiles[min(rank, len(one.tiles) - 1)] for one in self._subjects}
            self._made[rank] = _lower_with(self._mod, self._target, tiles)[1]
        return self._made[rank]


def _best_tile(subject: _Subject, modules: _Modules, target: CpuTarget) -> tuple[Tile, float]:
    """The fastest tile, and how much faster than the chosen one it is."""
    runs = {tile: _Run(modules[rank], subject.var, target) for rank, tile in enumerate(subject.tiles)}
    first = subject.tiles[0]
    bits = {tile: run.result().tobytes() for tile, run in runs.items()}
    gains = _gains({tile: run for tile, run in runs.items() if bits[tile] == bits[first]}, first)
    best = max(gains, key=lambda tile: gains[tile])
    return (best, gains[best]) if gains[best] >= LEAST_GAIN else (first, 1.0)


def _gains(runs: dict[Tile, _Run], first: Tile) -> dict[Tile, float]:
    """Time of the first one by that of each, the runs taking turns."""
    begin = time.perf_counter()
    runs[first]()
    calls = max(1, round(BLOCK_SECONDS / max(time.perf_counter() - begin, 1e-7)))
    times: dict[Tile, list[float]] = {tile: [] for tile in runs}
    for _ in range(ROUNDS):
        for tile, run in runs.items():
            begin = time.perf_counter()
            for _ in range(calls):
                run()
            times[tile].append(time.perf_counter() - begin)
    return {
        tile: statistics.median(a / b for a, b in zip(times[first], own, strict=True)) for tile, own in times.items()
    }


def _calls(lowered: tvm.IRModule) -> list[tuple[str, relax.Call]]:
    """(variable, call) of every kernel in main."""
    bindings = [(b.var.name, b.value) for block in lowered["main"].body.blocks for b in block.bindings]
    return [(name, value) for name, value in bindings if op_name(value) == "call_tir" and _is_kernel(lowered, value)]


def _is_kernel(lowered: tvm.IRModule, call: relax.Call) -> bool:
    attrs = lowered[call.args[0]].attrs
    return bool(attrs) and KERNEL in attrs


def _random(ty: Any, random: np.random.Generator) -> np.ndarray:
    """Data for a tensor: any codes, floats around zero."""
    dtype = str(ty.dtype)
    if dtype.startswith("float"):
        return random.standard_normal(_shape(ty)).astype(dtype)
    limits = np.iinfo(dtype)
    return random.integers(limits.min, limits.max, _shape(ty), dtype=dtype, endpoint=True)


def _shape(ty: Any) -> tuple[int, ...]:
    """Sizes of a tensor; what only a run tells counts as 1."""
    return tuple(int(dim) if isinstance(dim, tvm.tirx.IntImm) else 1 for dim in ty.shape)
