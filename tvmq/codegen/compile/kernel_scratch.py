"""Bytes of memory that kernels allocate while they run.

Buffers beyond a kilobyte are no local variables of a kernel: it asks the runtime for them and gives them back. Whoever
has no heap must know the sum before.

Tests: tests/library/test_export_library.py
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import tvm
import tvm_ffi
from tvm import tirx

ALLOCATE = "TVMBackendAllocWorkspace"
BYTES = 2  # which of its arguments is the size


@dataclass(frozen=True, eq=False)
class Scratch:
    """Sizes of the buffers of a kernel: of those that it has once, and of those that each thread has.

    A size that depends on shapes is an expression of variables.

    shared, of_threads  numbers and expressions
    sources             {variable: (number of an argument, its axis; None for an argument that is a number)}
    bound               {variable: expression}
    """

    shared: tuple[Any, ...] = ()
    of_threads: tuple[Any, ...] = ()
    sources: Mapping[tirx.Var, tuple[int, int | None]] = field(default_factory=dict)
    bound: Mapping[tirx.Var, Any] = field(default_factory=dict)


def measure_scratch(functions: Mapping[str, Any], compiler: Any) -> dict[str, Scratch]:
    """{function: what it allocates}; called inside of the PassContext in which the functions are compiled."""
    mod = tvm.IRModule(dict(functions))
    mod = tirx.transform.BindTarget(compiler.with_host(compiler))(mod)
    passes, final, _ = tirx.get_tir_pipeline("default")
    lowered = final()(passes(mod))
    return {gvar.name_hint: _measure(functions[gvar.name_hint], func.body) for gvar, func in lowered.functions_items()}


def _measure(func: Any, body: Any) -> Scratch:
    """What the body allocates that was made of a function."""
    shared, of_threads = _sizes(body)
    if all(isinstance(size, int) for size in (*shared, *of_threads)):
        return Scratch(tuple(shared), tuple(of_threads))
    bound: dict[tirx.Var, Any] = {}
    sources = _sources(func)

    def visit(bind: Any) -> None:
        if bind.var not in sources:
            bound[bind.var] = bind.value

    tvm_ffi.structural_walk(body, [(tirx.Bind, visit)])
    return Scratch(tuple(shared), tuple(of_threads), sources, bound)


def _sources(func: Any) -> dict[tirx.Var, tuple[int, int | None]]:
    """Where the variables of a function's shapes come from."""
    sources: dict[tirx.Var, tuple[int, int | None]] = {}
    for number, param in enumerate(func.params):
        shape = getattr(param.ty, "shape", None)
        if shape is None:
            sources[param] = number, None
        for axis, size in enumerate(shape or ()):
            if isinstance(size, tvm.ir.Var):
                sources.setdefault(size, (number, axis))
    return sources


def _sizes(body: Any) -> tuple[list[Any], list[Any]]:
    """Sizes of the buffers that are outside of parallel loops, and inside."""
    inner = [size for loop in _parallel_loops(body) for size in _allocated_sizes(loop.body)]
    return _allocated_sizes(body, outside=True), inner


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


def _allocated_sizes(body: Any, *, outside: bool = False) -> list[Any]:
    """Sizes of the buffers of a body; outside: but for those in parallel loops."""
    sizes: list[Any] = []

    def visit(call: Any) -> None:
        if str(getattr(call.op, "name", "")).endswith(ALLOCATE):
            size = call.args[BYTES]
            sizes.append(int(size) if isinstance(size, tirx.IntImm) else size)

    def skip(loop: Any) -> Any:
        return tvm_ffi.WalkResult.SKIP if outside and loop.kind == tirx.ForKind.PARALLEL else None

    tvm_ffi.structural_walk(body, [(tirx.For, skip), (tvm.ir.Call, visit)], order="pre")
    return sizes
