"""Passes over the lowered Relax module.

Long dataflow blocks are cut before FuseOps, which recurses over their paths.

Functions that compute dynamic sizes: stores in a fixed order, left alone where one reads what another writes.

Inputs that are read where they are: which ones, and the same bits at any address.
"""

from __future__ import annotations

import numpy as np
import pytest
import tvm
from tvm import relax, tirx
from tvm.script import tirx as T

import tvmq
from tests.support.models.dynamic_models import pictures
from tests.support.models.networks import Net, feeds_of
from tvmq.base.tvm_internals import HOST_FUNCTION
from tvmq.codegen.compile import vm_pipeline
from tvmq.codegen.compile.vm_passes import cut_dataflow_blocks, with_ordered_stores
from tvmq.codegen.compile.vm_pipeline import legalize
from tvmq.runtime.call_code import LEAST_SHARED

FEED = {"x": np.array([[0.5, -0.25, 1.5, 0.75]], np.float32)}


def network(length: int = 12) -> tuple[object, dict[str, np.ndarray]]:
    """A chain whose first value is read at its end again, two results, a view."""
    n = Net((1, 4))
    first = value = n.op("Sigmoid", "x")
    for number in range(length):
        value = n.op("Add", value, n.constant(np.float32(0.5))) if number % 3 else n.op("Sin", value)
    value = n.op("Reshape", value, n.constant(np.array([4, 1])))
    return tvmq.from_onnx(n.model(n.op("Add", value, first), first))


@pytest.mark.parametrize("most", [1, 2, 5])
def test_blocks_are_short_and_kept_apart(most: int) -> None:
    whole = legalize(network()[0])
    count = sum(len(block.bindings) for block in whole["main"].body.blocks)
    cut = cut_dataflow_blocks(whole, most)
    relax.analysis.check_well_formed(cut)
    blocks = cut["main"].body.blocks
    inside = [len(block.bindings) for block in blocks if isinstance(block, relax.DataflowBlock)]
    between = [len(block.bindings) for block in blocks if not isinstance(block, relax.DataflowBlock)]
    assert max(inside) == most and set(between) == {1}
    assert sum(inside) + sum(between) == count


def test_a_short_block_is_left_alone() -> None:
    whole = legalize(network()[0])
    assert cut_dataflow_blocks(whole) is whole


@pytest.mark.slow
@pytest.mark.parametrize("most", [1, 4])
def test_results_are_the_same(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    mod, params = network()
    expected = tvmq.build(mod, params=params).run(FEED)
    monkeypatch.setattr(vm_pipeline, "cut_dataflow_blocks", lambda whole: cut_dataflow_blocks(whole, most))
    results = tvmq.build(mod, params=params).run(FEED)
    assert all(np.array_equal(result, wanted) for result, wanted in zip(results, expected, strict=True))
    quantized = tvmq.quantize(mod, params, [FEED], guard=None)
    assert tvmq.verify(tvmq.build(quantized), [FEED]).exact


def places(func: tirx.PrimFunc) -> list[int]:
    return [int(store.indices[0]) for store in func.body.seq]


@pytest.mark.slow
def test_stores_of_a_build_are_in_order(monkeypatch):
    lowered = []

    def lower(mod, **options):
        lowered.append(original(mod, **options))
        return lowered[-1]

    original = vm_pipeline.lower
    monkeypatch.setattr(vm_pipeline, "lower", lower)
    tvmq.build(*tvmq.from_onnx(pictures()))
    functions = [f for mod in lowered for _, f in mod.functions_items() if HOST_FUNCTION in (f.attrs or {})]
    stores = [places(func) for func in functions if isinstance(func.body, tirx.SeqStmt)]
    assert max(map(len, stores)) > 5 and all(numbers == sorted(numbers) for numbers in stores)


@T.prim_func(s_tir=True)
def apart(H: T.Buffer((T.int64(4),), "int64")):
    T.func_attr({"tirx.is_host_func": True})
    H[T.int64(3)] = H[T.int64(0)] * T.int64(2)
    H[T.int64(1)] = H[T.int64(0)] + T.int64(1)


@T.prim_func(s_tir=True)
def chained(H: T.Buffer((T.int64(4),), "int64")):
    T.func_attr({"tirx.is_host_func": True})
    H[T.int64(3)] = H[T.int64(0)] * T.int64(2)
    H[T.int64(1)] = H[T.int64(3)] + T.int64(1)


@T.prim_func(s_tir=True)
def kernel(H: T.Buffer((T.int64(4),), "int64")):
    H[T.int64(3)] = H[T.int64(0)] * T.int64(2)
    H[T.int64(1)] = H[T.int64(0)] + T.int64(1)


def test_only_what_is_apart_is_ordered():
    mod = with_ordered_stores(tvm.IRModule({"apart": apart, "chained": chained, "kernel": kernel}))
    assert [places(mod[name]) for name in ("apart", "chained", "kernel")] == [[1, 3], [3, 1], [3, 1]]


def executable(kind: str) -> tuple[tvmq.Executable, np.ndarray]:
    """A network of one convolution whose input is read by others too, and a picture for it."""
    n = Net((1, 3, 64, 64))
    y = n.conv("x", 3, 4)
    outputs = {"alone": [y], "shared": [y, n.op("Softmax", "x")]}[kind]
    model = n.model(*outputs)
    mod, params = tvmq.from_onnx(model)
    return tvmq.build(tvmq.quantize(mod, params, feeds_of(model), guard=None)), feeds_of(model, 1, seed=3)[0]["x"]


def at(x: np.ndarray, address: int) -> np.ndarray:
    """The array at an address of this remainder by 64."""
    memory = np.zeros(x.nbytes + 128, np.uint8)
    begin = (address - memory.ctypes.data) % 64
    moved = memory[begin : begin + x.nbytes].view(x.dtype).reshape(x.shape)
    moved[...] = x
    return moved


@pytest.mark.slow
def test_the_same_bits_at_any_address(monkeypatch: pytest.MonkeyPatch) -> None:
    exe, x = executable("alone")
    assert exe["main"]._call._unaligned == {0} and x.nbytes >= LEAST_SHARED
    copies = [x.copy() for _ in range(2)]
    copies[1].flags.writeable = False
    transposed = np.ascontiguousarray(x.transpose(0, 1, 3, 2)).transpose(0, 1, 3, 2)
    (expected,) = exe.run({"x": x.astype(np.float64)})  # becomes another array on the way
    monkeypatch.setattr("tvmq.runtime.call_code.LEAST_SHARED", 2**40)
    np.testing.assert_array_equal(exe.run({"x": x})[0], expected)
    monkeypatch.undo()
    for array in (*copies, transposed, *(at(x, address) for address in (0, 4, 20, 60)), at(x, 2)):
        np.testing.assert_array_equal(exe.run({"x": array})[0], expected)


@pytest.mark.slow
def test_what_other_operators_read_is_copied() -> None:
    exe, x = executable("shared")
    assert exe["main"]._call._unaligned == frozenset()
    for result, other in zip(exe.run({"x": at(x, 4)}), exe.run({"x": x}), strict=True):
        np.testing.assert_array_equal(result, other)
