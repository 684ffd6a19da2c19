"""Generic schedules: equal bits with and without them, the form of their loops, and functions that they leave alone.

Flat tensors: no quotients in vectors, original parameters, equal bits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tvm
import tvm_ffi
from tvm import relax, te, tirx
from tvm.ir.prim.expr import Let
from tvm.relax import op as R

from tests.support.models.built_modules import build_module
from tvmq.codegen.compile.vm_pipeline import fuse
from tvmq.codegen.kernels.parts.memoize import forget
from tvmq.codegen.schedule import generic
from tvmq.codegen.schedule.accesses import describe, walk
from tvmq.codegen.schedule.generic import KERNEL, SCHEDULED, is_scheduled, schedule_function, schedule_generic
from tvmq.codegen.target.cpu import resolve_target
from tvmq.graph import ops
from tvmq.graph.operators.loops import fence

TARGET = resolve_target("llvm")
F32 = "float32"


def const(value: Any, dtype: str = F32) -> relax.Expr:
    """A constant."""
    return relax.const(np.asarray(value, dtype), dtype)


def functions(body: Callable[..., relax.Expr], *inputs: tuple[tuple[int, ...], str]) -> tvm.IRModule:
    """The fused functions of a network of the inputs."""
    mod = build_module({f"x{i}": kind for i, kind in enumerate(inputs)}, lambda _, *params: body(*params))
    with TARGET.as_tvm():
        return fuse(mod)


def prim_funcs(mod: tvm.IRModule) -> list[Any]:
    """The functions of loops of a module."""
    return [func for _, func in mod.functions_items() if isinstance(func, tirx.PrimFunc)]


def run(func: Any, arrays: list[np.ndarray]) -> np.ndarray:
    """Result of a function whose last parameter is the output."""
    func = func.with_attr("global_symbol", "main")
    library = tvm.compile(tvm.IRModule({"main": func}), TARGET.as_tvm())
    output = func.params[-1]
    shape = [int(extent) for extent in output.shape]
    tensors = [tvm.runtime.tensor(array) for array in arrays]
    result = tvm.runtime.tensor(np.full(shape, 77, str(output.dtype)))
    library["main"](*tensors, result)
    return result.numpy()


def arrays_for(func: Any) -> list[np.ndarray]:
    """Random inputs of a function."""
    random, arrays = np.random.default_rng(0), []
    for param in func.params[:-1]:
        shape, dtype = [int(extent) for extent in param.shape], str(param.dtype)
        values = random.normal(size=shape) * 3 if "float" in dtype else random.integers(0, 50, shape)
        arrays.append(values.astype(dtype))
    return arrays


def quantize(x: relax.Expr) -> relax.Expr:
    return ops.quantize(x, const(0.05), const(3, "int32"), axis=-1, dtype="uint8", qmin=0, qmax=255)


NETWORKS: dict[str, tuple[Any, ...]] = {
    "chain": (lambda x: R.nn.relu(R.add(R.multiply(x, const(1.3)), const(0.7))), ((2, 5, 7, 24), F32)),
    "large chain": (lambda x: R.subtract(R.multiply(x, x), const(0.1)), ((300_001,), F32)),
    "leaky relu of a product": (lambda x: R.add(R.nn.leakyrelu(R.multiply(x, x), 0.1), x), ((3, 33), F32)),
    "gated": (lambda x, s: R.multiply(R.multiply(x, R.sigmoid(x)), s), ((1, 9, 9, 40), F32), ((1, 1, 1, 40), F32)),
    "gelu": (lambda x: R.nn.gelu(x), ((3, 50), F32)),
    "functions of functions": (lambda x: R.log(R.tanh(R.nn.relu(R.log(R.sigmoid(x))))), ((3, 50), F32)),
    "ragged and fenced": (
        lambda x, s: R.add(ops.fence(R.multiply(x, s)), const(1.0)), ((28, 28, 23), F32), ((1, 1, 23), F32)
    ),
    "max pool": (lambda x: R.nn.max_pool2d(x, (3, 3), (2, 2), (1, 1, 1, 1)), ((1, 12, 19, 19), F32)),
    "max pool nhwc": (
        lambda x: R.nn.max_pool2d(x, (3, 3), (2, 2), (1, 1, 1, 1), layout="NHWC"), ((1, 30, 30, 64), "uint8")
    ),
    "average pool": (lambda x: R.nn.avg_pool2d(x, (3, 3), (1, 1), (1, 1, 1, 1), layout="NHWC"), ((1, 9, 9, 17), F32)),
    "mean of pictures": (lambda x: R.mean(x, [2, 3], True), ((1, 30, 16, 16), F32)),
    "mean of pictures nhwc": (lambda x: R.mean(x, [1, 2], True), ((2, 16, 16, 40), F32)),
    "sum of one row": (lambda x: R.sum(x, [0]), ((500,), F32)),
    "softmax": (lambda x: R.nn.softmax(x), ((4, 12, 65), F32)),
    "layer norm": (lambda x, a, b: R.nn.layer_norm(x, a, b, axes=[-1]), ((1, 13, 96), F32), ((96,), F32), ((96,), F32)),
    "concat": (lambda a, b: R.nn.relu(R.concat([a, b], 3)), ((1, 14, 14, 24), F32), ((1, 14, 14, 40), F32)),
    "large concat": (lambda a, b: R.concat([a, b], 3), ((1, 99, 99, 24), F32), ((1, 99, 99, 40), F32)),
    "pad along the last axis": (lambda x: R.nn.pad(x, [0, 0, 2, 3], pad_value=0.0), ((9, 21), F32)),
    "to nhwc": (lambda x: quantize(R.permute_dims(x, [0, 2, 3, 1])), ((1, 3, 20, 24), F32)),
    "to nchw": (lambda x: R.permute_dims(R.multiply(x, x), [0, 3, 1, 2]), ((1, 8, 16, 64), F32)),
    "odd transpose": (lambda x: R.permute_dims(x, [0, 3, 1, 2]), ((1, 13, 13, 10), "int8")),
    "resize": (lambda x: R.image.resize2d(x, relax.ShapeExpr([16, 24]), method="linear"), ((1, 3, 8, 12), F32)),
    "slice and reshape": (
        lambda x: R.add(R.reshape(R.strided_slice(x, [1], [1], [9], [2]), (4, 60)), const(1.0)),
        ((5, 9, 12), F32),
    ),
    "take": (lambda x, i: R.take(x, i, axis=0), ((50, 33), F32), ((7,), "int64")),
    "convolution without a template": (
        lambda x, w: R.nn.conv3d(x, w, padding=1), ((1, 3, 6, 6, 6), F32), ((4, 3, 3, 3, 3), F32)
    ),
    "integer product": (
        lambda a, b: ops.multiply(a, b, a_zero=3, b_zero=5),
        ((1, 9, 9, 40), "uint8"), ((1, 1, 1, 40), "uint8"),
    ),
    "integer sum": (lambda q: ops.sum(q, axes=[1, 2], keepdims=True, zero_point=3), ((1, 12, 12, 40), "uint8")),
    "scalar": (lambda x: R.multiply(x, const(2.0)), ((), F32)),
    "argmax": (lambda x: R.argmax(x, 1), ((5, 70), F32)),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.thinned(9)
@pytest.mark.parametrize("name", NETWORKS)
def test_equal_bits_with_and_without(name):
    for func in prim_funcs(functions(*NETWORKS[name])):
        arrays = arrays_for(func)
        scheduled = schedule_function(func, TARGET.isa.vector_bytes)
        np.testing.assert_array_equal(run(scheduled, arrays), run(func, arrays))


@pytest.mark.slow_cases("functions of functions")
@pytest.mark.parametrize("name", [name for name in NETWORKS if name != "argmax"])
def test_every_form_of_the_operator_library_is_scheduled(name):
    for func in prim_funcs(functions(*NETWORKS[name])):
        assert SCHEDULED in schedule_function(func, 64).attrs


def text_of(name: str, vector_bytes: int = 64) -> str:
    """Script of the one scheduled function of a network."""
    (func,) = prim_funcs(schedule_generic(functions(*NETWORKS[name]), vector_bytes))
    return str(func.script())


@pytest.mark.parametrize("name, words, absent", [
    ("chain", ["arithmetic.fence", "T.vectorized"], ["sblock_alloc_buffer", "T.parallel"]),
    ("large chain", ["T.parallel"], ["sblock_alloc_buffer"]),
    ("leaky relu of a product", ["arithmetic.fence"], ["sblock_alloc_buffer"]),
    ("max pool nhwc", ["T.vectorized(T.int64(64))"], []),
    ("mean of pictures", ["T.unroll(T.int64(6))"], []),
    ("mean of pictures nhwc", ["T.vectorized(T.int64(8))"], []),
    ("to nchw", ["T.vectorized(T.int64(8))"], ["sblock_alloc_buffer"]),
    ("concat", ["compute_i30_partition", "compute_i31_partition"], []),
    ("gelu", ["where="], ["sblock_alloc_buffer", "T.parallel", "T.erf"]),
])  # fmt: skip
def test_form_of_the_loops(name, words, absent):
    text = text_of(name)
    assert [word for word in words if word not in text] == []
    assert [word for word in absent if word in text] == []


@pytest.mark.slow
def test_a_function_of_a_function_reads_it_from_memory():
    # TVM's code generator writes a bound value out in all that is computed from it: log(log(x)) took 23 s, now 0.1
    (func,) = prim_funcs(schedule_generic(functions(*NETWORKS["functions of functions"]), 64))
    bound: list[Any] = []
    tvm_ffi.structural_walk(func.body, (Let, lambda node: bound.append(node.value)))
    assert bound and not any(isinstance(node, Let) for value in bound for node in walk(value))


def test_vectors_have_the_width_of_the_target():
    assert "T.vectorized(T.int64(8))" in text_of("chain", 32)
    assert "T.vectorized(T.int64(16))" in text_of("chain", 64)


def test_what_is_scheduled_is_left_alone():
    x = te.placeholder((100,), name="x")
    func = te.create_prim_func([x, te.compute((100,), lambda i: x[i] * 2.0)])
    assert not is_scheduled(func)
    for attribute in (KERNEL, SCHEDULED):
        marked = func.with_attr(attribute, "yes")
        assert is_scheduled(marked)
        mod = tvm.IRModule({"main": marked})
        assert schedule_generic(mod, 64)["main"].same_as(marked)


def test_loops_that_were_scheduled_before_are_not_again(monkeypatch):
    forget()
    widths: list[int] = []
    plain = generic.schedule_function
    monkeypatch.setattr(generic, "schedule_function", lambda func, width: widths.append(width) or plain(func, width))
    one, other = (prim_funcs(functions(*NETWORKS["functions of functions"]))[0] for _ in range(2))
    other = other.with_attr("global_symbol", "other")
    results = [prim_funcs(schedule_generic(tvm.IRModule({"loops": func}), 64))[0] for func in (one, other)]
    assert widths == [64] and results[1].attrs["global_symbol"] == "other"
    tvm.ir.assert_structural_equal(*(func.without_attr("global_symbol") for func in results))
    schedule_generic(tvm.IRModule({"loops": one}), 32)
    assert widths == [64, 32]


def test_input_module_is_untouched():
    mod = functions(*NETWORKS["chain"])
    before = mod.script()
    assert schedule_generic(mod, 64).script() != before
    assert mod.script() == before


def test_strides_and_uses_are_described():
    x = te.placeholder((4, 6, 8), name="x")
    place = lambda i, j: tirx.if_then_else(j < 3, x[1, j, i], tirx.Cast("float32", i))  # noqa: E731
    y = te.compute((8, 6), place, name="y")
    schedule = tvm.s_tir.Schedule(te.create_prim_func([x, y]))
    facts = describe(schedule.get(schedule.get_sblock("y")))
    assert facts.extents == (8, 6) and facts.reduced == (False, False)
    assert [access.strides for access in facts.accesses] == [(6, 1), (1, 8)]
    assert facts.bare == {0, 1} and facts.cuts == (None, (3,))
    assert not facts.is_contiguous([1]) and facts.iterations == 48 and facts.takes_vectors


def test_address_through_a_table_is_unknown():
    x, i = te.placeholder((50, 8), name="x"), te.placeholder((7,), "int32", name="i")
    y = te.compute((7, 8), lambda r, c: x[i[r], c], name="y")
    schedule = tvm.s_tir.Schedule(te.create_prim_func([x, i, y]))
    facts = describe(schedule.get(schedule.get_sblock("y")))
    assert (None, 1) in [access.strides for access in facts.accesses]
    assert facts.is_contiguous([1]) and not facts.is_contiguous([0, 1])


FLATTEN_TARGET = resolve_target("llvm")


def chain(shape, other):
    """(x + b) * x, each rounded; b broadcasts."""
    x, b = te.placeholder(shape, name="x"), te.placeholder(other, name="b")
    at = [slice(None) if extent > 1 else 0 for extent in other]

    def plus(*index):
        return fence(x(*index) + b(*(i if kept == slice(None) else 0 for i, kept in zip(index, at, strict=True))))

    total = te.compute(shape, plus, name="total")
    return te.create_prim_func([x, b, te.compute(shape, lambda *i: fence(total(*i) * x(*i)), name="y")])


CASES = [((1, 2, 9, 40), (1, 2, 9, 40)), ((3, 5, 7), (3, 1, 1)), ((4, 6, 35), (1, 1, 35)), ((2, 3, 13), (1, 1, 1))]


@pytest.mark.slow_cases("shape1-other1", "shape2-other2")
@pytest.mark.parametrize("shape, other", CASES)
def test_equal_bits(shape, other):
    random = np.random.default_rng(0)
    x, b = (random.normal(size=size).astype(np.float32) for size in (shape, other))
    func = schedule_function(chain(shape, other), 64)
    assert [tuple(map(int, param.shape)) for param in func.params] == [shape, other, shape]
    library = tvm.compile(tvm.IRModule({"main": func.with_attr("global_symbol", "main")}), FLATTEN_TARGET.as_tvm())
    y = tvm.runtime.tensor(np.zeros(shape, np.float32))
    library["main"](tvm.runtime.tensor(x), tvm.runtime.tensor(b), y)
    np.testing.assert_array_equal(y.numpy(), (x + b) * x)


def test_vectors_across_rows_have_no_quotients():
    text = schedule_function(chain((1, 2, 9, 40), (1, 2, 9, 40)), 64).script()
    assert "T.vectorized(16)" in text and "//" not in text and "%" not in text


@pytest.mark.parametrize("shape, lanes", [((2, 9, 48), 64), ((2, 9, 40), 32)])
def test_rows_of_whole_vectors_stay_as_they_are(shape, lanes):
    assert "view(" not in schedule_function(chain(shape, shape), lanes).script()
    assert "view(" in schedule_function(chain((2, 9, 41), (2, 9, 41)), lanes).script()


def test_code_is_one_load_for_a_vector():
    func = schedule_function(chain((1, 2, 9, 40), (1, 2, 9, 40)), 64)
    target = tvm.target.Target({"kind": "llvm", "mcpu": "skylake-avx512"})
    compiled = tvm.compile(tvm.IRModule({"main": func.with_attr("global_symbol", "main")}), target)
    assembly = compiled.mod.inspect_source("asm")
    assert "vmulps" in assembly and "vmulss" not in assembly
