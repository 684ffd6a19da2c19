"""The estimated time of every call of a module, without compiling it."""

from __future__ import annotations

from dataclasses import dataclass

import tvm

from tvmq.compile.calls import Call, calls_of
from tvmq.cost import RUN, Machine, Seconds, Work, seconds
from tvmq.graph.batch_dimension import batch_dimension
from tvmq.graph.functions import inline_functions, unpack_weights
from tvmq.graph.names import get_names
from tvmq.lower.lower_functions import lower_functions
from tvmq.lower.lowerer import Lowerer
from tvmq.performance.work import work_of
from tvmq.target.cpu import CpuTarget


@dataclass(frozen=True)
class Estimate:
    """Of one call.

    call     what is called
    work     what it does
    time     how long that takes
    sources  names of the operators in the source that it computes
    """

    call: Call
    work: Work
    time: Seconds
    sources: tuple[str, ...]


def estimates(
    mod: tvm.IRModule, target: CpuTarget, machine: Machine, *, threads: int = 1
) -> tuple[list[Estimate], float]:
    """All calls of the compiled module in order, and seconds of a run.

    mod  prepared or realized; a free batch counts as one sample
    """
    walks: list[Lowerer] = []

    def walk(part: tvm.IRModule, shared: Lowerer | None) -> Lowerer:
        walks.append(Lowerer(part, target.isa, shared=shared))
        return walks[-1]

    lowered, *_ = lower_functions(mod, walk, batch_dimension(unpack_weights(inline_functions(mod))))
    keys, names = walks[0].kernel_keys, get_names(lowered["main"])
    calls = calls_of(lowered, target)
    works = [work_of(call, keys, target.isa, machine) for call in calls]
    constants = sum(work.weights for work in works)
    times = [seconds(work, machine, model_weights=constants, threads=threads) for work in works]
    found = [
        Estimate(call, work, time, _sources(call, names)) for call, work, time in zip(calls, works, times, strict=True)
    ]
    return found, RUN + sum(time.total for time in times)


def _sources(call: Call, names: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for member in call.members for name in names.get(member, ())))
