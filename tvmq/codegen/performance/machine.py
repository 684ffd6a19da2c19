"""Facts about the CPU of a target that the cost model needs; of this CPU, the clock is measured.

How the kernels of this CPU compare with the model's is measured once (tvmq/tools/analysis/machine_speed.py) and kept as
machine-<CPU>.json in the cache folder, which is read here.

Tests: tests/quantization/test_float_or_int8.py
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import tvm
from tvm.script.ir_builder import tirx as T

from tvmq.base.cache import replace_file, trusted_folder
from tvmq.base.cpus import ALLOWED_CPUS
from tvmq.codegen.cost import Machine, read_caches, with_caches
from tvmq.codegen.kernels.parts.builder import FunctionBuilder, Register, bind, flatten_buffer, load, store
from tvmq.codegen.target.cpu import CpuTarget, resolve_target

# Cycles of a multiplication (3 on x86 since 2008 and most of Arm), an `and` and an addition that wait for each other.
TURNS, LATENCY = 200_000, 5
MASK = 0xFFFF  # keeps the square within 64 bits
USUAL_CLOCK = 3.0e9  # of a CPU that is not here


def machine_of(target: CpuTarget, clock: float | None = None) -> Machine:
    """The machine that code for a target runs on.

    target  this CPU: its caches are read and its clock is measured, once in a process (about 0.1 s); any other:
            usual ones of a server
    clock   cycles a second instead
    """
    is_here = target.mcpu == resolve_target().mcpu
    used = clock or (measured_clock() if is_here else USUAL_CLOCK)
    machine = Machine(target.mcpu, used, len(ALLOWED_CPUS) if is_here else 1, target.isa.vector_bytes)
    if not is_here:
        return machine
    machine = with_caches(machine, read_caches())
    return machine if clock else with_speed(machine, known_speed() or {})


def machine_here(target: CpuTarget) -> Machine:
    """This machine, as it runs code for a target that may be a lesser CPU than it."""
    return replace(machine_of(resolve_target()), vector_bytes=target.isa.vector_bytes)


Speed = Mapping[str, Any]  # {"factors": {kind of work: factor}, "run": seconds}


def with_speed(machine: Machine, speed: Speed) -> Machine:
    """The machine with what was measured of it."""
    factors = tuple(sorted(speed.get("factors", {}).items()))
    return replace(machine, factors=factors, run=speed.get("run", machine.run))


def known_speed() -> Speed | None:
    """Speed that was measured of this CPU now or in an earlier process; None if nothing was, or it cannot be read."""
    path = _speed_path()
    if path is None:
        return _measured
    try:
        speed = json.loads(path.read_text(encoding="utf-8"))
        numbers = [*speed["factors"].values(), speed["run"]]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return _measured
    is_sane = all(isinstance(number, float) and math.isfinite(number) and number > 0 for number in numbers)
    return speed if is_sane else None


def keep_speed(speed: Speed) -> None:
    """For this process, and in the cache folder if there is one."""
    global _measured
    _measured, path = speed, _speed_path()
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, json.dumps(speed, indent=1).encode())


_measured: Speed | None = None


def _speed_path() -> Path | None:
    folder = trusted_folder()
    return folder / f"machine-{resolve_target().mcpu}.json" if folder is not None else None


@lru_cache(maxsize=1)
def measured_clock() -> float:
    """Cycles a second of this CPU while it computes: a chain of operations, each waits for the one before.

    What the operating system tells is the base clock on many machines, and nothing at all on others.
    """
    run = tvm.compile(tvm.IRModule({"chain": _chain()}), target=resolve_target().as_tvm())["chain"]
    numbers = tvm.runtime.tensor(np.array([3, 5], np.int64))
    best = min(_seconds(run, numbers) for _ in range(7))
    return LATENCY * TURNS / best


def _seconds(run: Any, numbers: Any) -> float:
    start = time.perf_counter()
    run(numbers)
    return time.perf_counter() - start


def _chain() -> Any:
    with FunctionBuilder("chain", {"numbers": ((2,), "int64")}) as function:
        numbers = flatten_buffer(function.buffers[0])
        addend, value = load(numbers, 1, "int64"), Register("int64", 1)
        value.set(load(numbers, 0, "int64"))
        with T.serial(0, TURNS):
            now = bind(value.get())
            value.set(T.bitwise_and(now * now, T.int64(MASK)) + addend)
        store(numbers, 0, value.get(), 1)
    return function.prim_func
