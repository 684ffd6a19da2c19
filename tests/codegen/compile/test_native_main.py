"""Native code for main: the virtual machine's bits, memory of its own, and fallback for functions it cannot compile."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax
from tvm.relax import op as R
from tvm.script.ir_builder import tirx as T

from tvmq.codegen.compile import native_main
from tvmq.codegen.compile.vm_pipeline import compile_module
from tvmq.codegen.kernels.parts import builder
from tvmq.codegen.schedule.generic import mark_kernel
from tvmq.codegen.target.cpu import resolve_target
from tvmq.runtime.call_code import entry

TARGET = resolve_target("llvm")
SHAPE = (2, 3, 16)
X = np.random.default_rng(0).normal(size=SHAPE).astype(np.float32)


def scaled() -> Any:
    """A kernel y = x * w, w being a vector of 16."""
    shapes: dict[str, tuple[builder.Shape, str]] = {"x": (SHAPE, "float32"), "w": ((16,), "float32")}
    with builder.FunctionBuilder("scaled", {**shapes, "y": (SHAPE, "float32")}) as function:
        x, w, y = (builder.flatten_buffer(buffer) for buffer in function.buffers)
        with T.serial(0, 6) as i:
            value = builder.load(x, i * 16, "float32x16") * builder.load(w, 0, "float32x16")
            builder.store(y, i * 16, value, 16)
    return mark_kernel(function.prim_func, "scaled")


def network(kind: str) -> tvm.IRModule:
    """Calls of one kernel, with another constant each, that are put together in several ways."""
    bb = relax.BlockBuilder()
    shape = (tvm.tirx.Var("n", "int64"), 3, 16) if kind == "dynamic" else SHAPE
    x = relax.Var("x", relax.TensorType(shape, "float32"))
    with bb.function("main", [x]):
        with bb.dataflow():
            kernel, out = bb.add_func(scaled(), "scaled"), relax.TensorType(SHAPE, "float32")

            def call(value: relax.Expr, factor: float) -> relax.Expr:
                constant = relax.const(np.arange(1, 17, dtype=np.float32) * np.float32(factor))
                return bb.emit(relax.call_tir(kernel, [value, constant], out))

            if kind == "dynamic":
                ends = [bb.emit(R.exp(bb.emit(R.sum(x, [1]))))]
            else:
                a = call(x, 0.5)
                b = call(call(bb.emit(R.reshape(bb.emit(R.nn.relu(a)), SHAPE)), 2.0), 3.0)
                c = bb.emit(R.reshape(call(b, 0.25), (6, 16)))
                ends = {"one": [c], "two": [c, a], "same": [c, c], "input": [c, x]}[kind]
            results = [bb.emit_output(end) for end in ends]
        bb.emit_func_output(results[0] if len(results) == 1 else relax.Tuple(results))
    return bb.get()


def arrays(result: Any) -> list[np.ndarray]:
    return [result.numpy()] if isinstance(result, tvm.runtime.Tensor) else [item.numpy() for item in result]


@pytest.mark.slow_cases("one-True", "two-True", "dynamic-True")
@pytest.mark.parametrize(
    "kind,direct", [("one", True), ("two", True), ("same", False), ("input", False), ("dynamic", True)]
)
def test_native_code_gives_what_the_virtual_machine_gives(kind: str, direct: bool) -> None:
    machine = relax.VirtualMachine(compile_module(network(kind), TARGET).code, tvm.cpu())
    function, fresh = entry(machine, "main")
    assert fresh == direct
    expected, found = arrays(machine["main"](tvm.runtime.tensor(X))), arrays(function(tvm.runtime.tensor(X)))
    assert len(expected) == len(found) == (1 if kind in ("one", "dynamic") else 2)
    for a, b in zip(expected, found, strict=True):
        np.testing.assert_array_equal(a, b)
    if kind != "dynamic":
        vector = np.arange(1, 17, dtype=np.float32)
        first = X * (vector * np.float32(0.5))
        last = np.maximum(first, 0) * (vector * np.float32(2)) * (vector * np.float32(3)) * (vector * np.float32(0.25))
        np.testing.assert_array_equal(found[0], last.reshape(6, 16))


@pytest.mark.slow
def test_long_functions_are_compiled_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = relax.VirtualMachine(compile_module(network("two"), TARGET).code, tvm.cpu())
    monkeypatch.setattr(native_main, "MOST_CALLS", 2)
    monkeypatch.setattr(native_main, "PART", 2)
    compiled = compile_module(network("two"), TARGET)
    machine = relax.VirtualMachine(compiled.code, tvm.cpu())
    assert "main_kernels_1" in str(compiled.code.as_text())
    expected, found = (arrays(entry(vm, "main")[0](tvm.runtime.tensor(X))) for vm in (whole, machine))
    for a, b in zip(expected, found, strict=True):
        np.testing.assert_array_equal(a, b)


def test_results_of_two_runs_are_apart() -> None:
    machine = relax.VirtualMachine(compile_module(network("one"), TARGET).code, tvm.cpu())
    function, _ = entry(machine, "main")
    first = np.from_dlpack(function(tvm.runtime.tensor(X)))
    kept = first.copy()
    second = np.from_dlpack(function(tvm.runtime.tensor(2 * X)))
    np.testing.assert_array_equal(first, kept)
    np.testing.assert_array_equal(second, 2 * kept)
    assert first.flags.writeable


def test_other_shapes_are_refused_as_before() -> None:
    machine = relax.VirtualMachine(compile_module(network("one"), TARGET).code, tvm.cpu())
    function, _ = entry(machine, "main")
    with pytest.raises((ValueError, RuntimeError), match="x"):
        function(tvm.runtime.tensor(X[:1]))
