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
    """Sizes of the buffers of a function, by the body that it was lowered to."""
    shared, of_threads = _sizes(body)
    if all(isinstance(size, int) for size in (*shared, *of_threads)):
        return Scratch(tuple(shared), tuple(of_threads))
    bound: dict[tirx.Var, Any] = {}
    sources = _sources(func)

    def visit(bind: Any) -> None:
        place = _place_of(bind.value, bound)
        if place is not None:
            sources.setdefault(bind.var, place)
        elif bind.var not in sources:
            bound[bind.var] = bind.value

    tvm_ffi.structural_walk(body, [(tirx.Bind, visit)], order="pre")
    return Scratch(tuple(shared), tuple(of_threads), sources, bound)


# Fields of tvm_struct_get: pointer to the sizes of a tensor, element of an array of int64, argument of a function
SIZES, ELEMENT, ARGUMENT = 2, 17, 15


def _place_of(value: Any, bound: Mapping[tirx.Var, Any]) -> tuple[int, int] | None:
    """(argument, axis) of a size that the code reads from a tensor: it names some sizes by variables of its own."""
    element = _field(value, ELEMENT)
    shape = _field(bound.get(element[0]), SIZES) if element is not None else None
    if element is None or shape is None or shape[0] not in bound:
        return None
    numbers: list[int] = []

    def visit(call: Any) -> None:
        found = _field(call, ARGUMENT)
        numbers.extend([] if found is None else [found[1]])

    tvm_ffi.structural_walk(bound[shape[0]], [(tvm.ir.Call, visit)], order="pre")
    return (numbers[0], element[1]) if numbers else None


def _field(value: Any, kind: int) -> tuple[Any, int] | None:
    """(what it is read from, index) of a field that code reads; None for anything else."""
    if not str(getattr(getattr(value, "op", None), "name", "")).endswith("tvm_struct_get"):
        return None
    return (value.args[0], int(value.args[1])) if int(value.args[2]) == kind else None


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
