"""Native code for main of dynamic sizes: the virtual machine's bits at all sizes, memory that stays, and what is unfit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax, tirx
from tvm.relax import op as R

from tvmq.codegen.compile import dynamic_main
from tvmq.codegen.compile.memory_slots import SharedStorage, power_of_two, share_slots
from tvmq.codegen.compile.vm_pipeline import compile_module
from tvmq.codegen.target.cpu import resolve_target
from tvmq.runtime.call_code import entry

TARGET = resolve_target("llvm")
SIZES = ((1, 1), (2, 7), (40, 3), (7, 300), (2, 7))


def network(kind: str) -> tvm.IRModule:
    """x [rows, columns] through functions of loops that are not fused, put together in several ways."""
    bb = relax.BlockBuilder()
    rows, columns = tirx.Var("rows", "int64"), tirx.Var("columns", "int64")
    x = relax.Var("x", relax.TensorType((rows, columns), "float32"))
    with bb.function("main", [x]):
        with bb.dataflow():
            a = bb.emit(R.cumsum(x, axis=0)) if kind == "packed" else bb.emit(R.sum(x, [0], keepdims=True))
            b = bb.emit(R.max(bb.emit(R.concat([x, bb.emit(R.exp(x))], axis=1)), [1], keepdims=True))
            c = bb.emit(R.matmul(b, a if kind != "packed" else bb.emit(R.sum(a, [0], keepdims=True))))
            d = bb.emit(R.reshape(bb.emit(R.nn.softmax(c)), (rows * columns,)))
            ends = {"one": [d], "two": [d, b], "same": [d, d], "input": [d, x], "static": [bb.emit(R.sum(d, []))]}
            results = [bb.emit_output(end) for end in ends.get(kind, [d])]
        bb.emit_func_output(results[0] if len(results) == 1 else relax.Tuple(results))
    return bb.get()


def arrays_of(result: Any) -> list[np.ndarray]:
    return [one.numpy() for one in (result if isinstance(result, tvm.ir.Array | list | tuple) else [result])]


def machine(kind: str) -> relax.VirtualMachine:
    return relax.VirtualMachine(compile_module(network(kind), TARGET).code, tvm.cpu())


@pytest.mark.parametrize("kind", ["one", "two", "static"])
def test_native_code_gives_the_bits_of_the_machine(kind: str) -> None:
    vm = machine(kind)
    direct, fresh = entry(vm, "main")
    assert fresh
    random = np.random.default_rng(0)
    kept = []
    for sizes in SIZES:
        x = tvm.runtime.tensor(random.standard_normal(sizes).astype(np.float32))
        found, expected = arrays_of(direct(x)), arrays_of(vm["main"](x))
        assert [one.shape for one in found] == [one.shape for one in expected]
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, other)
        kept.append((found, expected))
    for found, expected in kept:  # no later run wrote into the results of an earlier one
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("kind", ["same", "input"])
def test_results_that_share_memory_are_left_to_the_machine(kind: str) -> None:
    assert entry(machine(kind), "main")[1] is False


def test_a_long_main_is_cut_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dynamic_main, "MOST_CALLS", 2)
    monkeypatch.setattr(dynamic_main, "PART", 2)
    vm = machine("one")
    x = tvm.runtime.tensor(np.random.default_rng(0).standard_normal((3, 5)).astype(np.float32))
    np.testing.assert_array_equal(entry(vm, "main")[0](x).numpy(), vm["main"](x).numpy())


def test_slots_hold_what_is_not_used_at_a_time() -> None:
    rows = tirx.Var("rows", "int64")
    storages = [SharedStorage(rows * 8, 0, 1), SharedStorage(100, 1, 1), SharedStorage(rows * 8, 2, 3), SharedStorage(rows * 9, 3, 4), SharedStorage(5)]
    slots, chosen = share_slots(storages)
    assert set(chosen) == {0, 1, 2, 3}  # the last one is used by no call
    for one in chosen:
        for other in chosen:
            if one < other and chosen[one] == chosen[other]:
                assert not storages[one].meets(storages[other])
    assert len(slots) == 2 and chosen[0] == chosen[3] != chosen[1]


@pytest.mark.parametrize(("size", "expected"), [(1, 4096), (4096, 4096), (4097, 8192), (100_000, 131_072)])
def test_memory_is_asked_for_in_powers_of_two(size: int, expected: int) -> None:
    assert power_of_two(size) == expected
