"""Bytes of memory that kernels allocate while they run.

Buffers beyond a kilobyte are no local variables of a kernel: it asks the runtime for them and gives them back. Whoever
has no heap must know the sum before.

Tests: tests/library/test_export_library.py
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import tvm
import tvm_ffi
from tvm import tirx

from tvmq.errors import BuildError

ALLOCATE = "TVMBackendAllocWorkspace"
BYTES = 2  # which of its arguments is the size


@dataclass(frozen=True)
class Scratch:
    """Sizes of the buffers of a kernel: of those that it has once, and of those that each thread has.

    >>> Scratch((100,), (200,)).sum_bytes(64)
    (192, 320)
    """

    shared: tuple[int, ...] = ()
    of_threads: tuple[int, ...] = ()

    def sum_bytes(self, head: int) -> tuple[int, int]:
        """Sums where each buffer begins at a multiple of 64 behind a head of so many bytes."""
        return _sum_bytes(self.shared, head), _sum_bytes(self.of_threads, head)


def _sum_bytes(sizes: tuple[int, ...], head: int) -> int:
    return sum(head + -(-size // 64) * 64 for size in sizes)


def measure_scratch(functions: Mapping[str, Any], compiler: Any) -> dict[str, Scratch]:
    """{function: what it allocates}; called inside of the PassContext in which the functions are compiled.

    raises   BuildError for a size that is no number
    """
    mod = tvm.IRModule(dict(functions))
    mod = tirx.transform.BindTarget(compiler.with_host(compiler))(mod)
    passes, final, _ = tirx.get_tir_pipeline("default")
    lowered = final()(passes(mod))
    return {
        gvar.name_hint: Scratch(*map(tuple, _sizes(gvar.name_hint, func.body)))
        for gvar, func in lowered.functions_items()
    }


def _sizes(name: str, body: Any) -> tuple[list[int], list[int]]:
    """Sizes of the buffers that are outside of parallel loops, and inside."""
    inner: list[int] = []
    for loop in _parallel_loops(body):
        inner += _allocated_sizes(name, loop.body)
    every = _allocated_sizes(name, body)
    for size in inner:
        every.remove(size)
    return every, inner


def _parallel_loops(body: Any) -> list[Any]:
    """Loops that threads share, none of which lies in another."""
    loops: list[Any] = []

    def visit(loop: Any) -> Any:
        if loop.kind != tirx.ForKind.PARALLEL:
            return None
        loops.append(loop)
        return tvm_ffi.WalkResult.SKIP

    tvm_ffi.structural_walk(body, [(tirx.For, visit)], order="pre")
    return loops


def _allocated_sizes(name: str, body: Any) -> list[int]:
    sizes: list[int] = []

    def visit(call: Any) -> None:
        if str(getattr(call.op, "name", "")).endswith(ALLOCATE):
            size = call.args[BYTES]
            if not isinstance(size, tirx.IntImm):
                raise BuildError(
                    f"export_library: kernel '{name}' needs memory of a computed size; fix all sizes of the model"
                )
            sizes.append(int(size))

    tvm_ffi.structural_walk(body, [(tvm.ir.Call, visit)])
    return sizes
