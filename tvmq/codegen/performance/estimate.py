"""The estimated time of every call of a module, without compiling it.

What each call of a compiled module does, for the cost model: as its kernel says it, or read from shapes.

Tests: tests/codegen/performance/test_profile.py
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import tvm

from tvmq.codegen.compile.calls import KernelCall, Tensor, calls_of
from tvmq.codegen.cost import Machine, Seconds, Work, seconds
from tvmq.codegen.kernels.parts.kernel_types import Isa
from tvmq.codegen.kernels.parts.work import KernelWork
from tvmq.codegen.lower.lower_functions import lower_functions
from tvmq.codegen.lower.lowerer import Lowerer
from tvmq.codegen.target.cpu import CpuTarget
from tvmq.graph.analysis.batch_dimension import batch_dimension
from tvmq.graph.module_functions import inline_functions, unpack_weights
from tvmq.graph.names import get_names

PLAIN = "plain"  # family of what no template made

PLAIN_MACS = 8.0  # multiply-accumulates in a cycle without a template
# Cycles for 64 bytes of the widest tensor of operators without a template, by the words of what TVM calls them.
PLAIN_CYCLES: dict[str, float] = {
    **dict.fromkeys(("cos", "sin", "log"), 100.0), "exp": 20.0, **dict.fromkeys(("sigmoid", "silu", "tanh"), 30.0),
    **dict.fromkeys(("divide", "mean", "sum", "max", "concatenate"), 4.0), "sqrt": 6.0, "power": 30.0,
    **dict.fromkeys(("gather", "take", "pool", "resize2d", "layernorm"), 16.0), "softmax": 40.0,
    **dict.fromkeys(("erf", "gelu"), 40.0), "prelu": 5.0, "transpose": 6.0,
}  # fmt: skip
PLAIN_STEP = 1.5
GATHERS = {"take", "gather"}  # they read some rows of a table
BYTES = {"float32": 4, "int32": 4, "uint8": 1, "int8": 1, "bool": 1, "int16": 2, "float16": 2, "int64": 8, "float64": 8}


def work_of(call: KernelCall, known: KernelWork | None, isa: Isa, machine: Machine) -> Work:
    """Work of a call.

    known   what its kernel says; None for loops that no template made
    isa     instruction set that the kernels are made for
    """
    moved, weights = sum(map(_bytes, (*call.inputs, *call.outputs))), sum(map(_bytes, call.constants))
    scale = 64 / isa.vector_bytes
    if known is not None:
        total = scale * known.vector_cycles * _vectors(call) + known.cycles(machine, scale)
        return Work(known.family, total, moved, weights, known.macs, known.is_int8)
    if GATHERS.intersection(call.symbol.split("_")):
        return Work(PLAIN, scale * PLAIN_CYCLES["take"] * _bytes(call.outputs[0]) / 64, 2 * _bytes(call.outputs[0]))
    macs = _plain_macs(call)
    if macs:
        return Work(PLAIN, macs / PLAIN_MACS, moved, weights, macs, call.inputs[0][1] != "float32")
    return Work(PLAIN, scale * _plain_cycles(call.symbol) * _vectors(call), moved, weights)


def _plain_macs(call: KernelCall) -> int:
    """Multiply-accumulates of a convolution or product without a template."""
    words = call.symbol.split("_")
    outputs = math.prod(call.outputs[0][0]) if call.outputs else 0
    tensors = [shape for shape, _ in (*call.inputs, *call.constants) if len(shape) > 1]
    if any(word.startswith(("conv2d", "conv1d", "conv3d")) for word in words):
        weight = max((shape for shape in tensors[1:]), key=math.prod, default=(1, 1))
        return outputs * math.prod(weight[1:])
    if any(word.startswith("matmul") for word in words) and tensors:
        return outputs * tensors[0][-1]
    return 0


def _plain_cycles(symbol: str) -> float:
    words = [word.rstrip("0123456789") for word in symbol.replace("layer_norm", "layernorm").split("_")]
    return sum(PLAIN_CYCLES.get(word, PLAIN_STEP) for word in words if word not in ("fused", "reshape", "fence", ""))


def _vectors(call: KernelCall) -> float:
    """Vectors of 64 bytes of the widest tensor that is read or written."""
    return max(map(_bytes, (*call.inputs, *call.outputs)), default=0) / 64


def _bytes(tensor: Tensor) -> int:
    shape, dtype = tensor
    return math.prod(shape) * BYTES.get(dtype, 4)


@dataclass(frozen=True)
class Estimate:
    """Estimate of a call.

    call     what is called
    work     what it does
    time     how long that takes
    sources  names of the operators in the source that it computes
    """

    call: KernelCall
    work: Work
    time: Seconds
    sources: tuple[str, ...]


def estimates(
    mod: tvm.IRModule, target: CpuTarget, machine: Machine, *, threads: int = 1
) -> tuple[list[Estimate], float]:
    """All calls of the compiled module in order, and seconds of a run.

    mod  prepared or realized; a dynamic batch counts as one sample
    """
    walks: list[Lowerer] = []

    def walk(part: tvm.IRModule, shared: Lowerer | None) -> Lowerer:
        walks.append(Lowerer(part, target.isa, shared=shared))
        return walks[-1]

    lowered, *_ = lower_functions(mod, walk, batch_dimension(unpack_weights(inline_functions(mod))))
    known_works, names = walks[0].works, get_names(lowered["main"])
    calls = calls_of(lowered, target)
    works = [work_of(call, known_works.get(call.symbol), target.isa, machine) for call in calls]
    constants = sum(work.weights for work in works)
    times = [seconds(work, machine, model_weights=constants, threads=threads) for work in works]
    results = [
        Estimate(call, work, time, _sources(call, names)) for call, work, time in zip(calls, works, times, strict=True)
    ]
    return results, machine.run + sum(time.total for time in times)


def _sources(call: KernelCall, names: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for member in call.members for name in names.get(member, ())))
