"""Functions that compute free sizes: stores in a fixed order, left alone where one reads what another writes."""

from __future__ import annotations

import tvm
from tvm import tirx
from tvm.script import tirx as T

import tvmq
from tests.free_models import pictures
from tvmq.compile import vm_pipeline
from tvmq.compile.shape_functions import with_ordered_stores
from tvmq.tvm_internals import HOST_FUNCTION


def places(func: tirx.PrimFunc) -> list[int]:
    return [int(store.indices[0]) for store in func.body.seq]


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
