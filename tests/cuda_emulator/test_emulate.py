"""Functions that TVM schedules and generates for a GPU, emulated on the CPU, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax
from tvm.s_tir import dlight
from tvm.script import ir as I  # noqa: E741,N812
from tvm.script import relax as R
from tvm.script import tirx as T

from tests.cuda_emulator.emulate import FORWARD, REVERSE, SHUFFLED, Emulated
from tests.cuda_emulator.library import EmulationError, missing_compiler
from tests.support.models.built_modules import build_module

pytestmark = pytest.mark.skipif(bool(missing_compiler()), reason=missing_compiler())
TARGET = tvm.target.Target({"kind": "cuda", "arch": "sm_80"}, host={"kind": "llvm", "mcpu": "generic"})
ORDERS = (FORWARD, REVERSE, SHUFFLED)


def scheduled(mod: tvm.IRModule) -> tvm.IRModule:
    """The module with TVM's own schedules for GPUs."""
    gpu = dlight.gpu
    rules = (gpu.Matmul(), gpu.GEMV(), gpu.Reduction(), gpu.GeneralReduction(), gpu.Fallback())
    passes = [
        relax.transform.LegalizeOps(),
        relax.transform.AnnotateTIROpPattern(),
        relax.transform.FuseOps(),
        relax.transform.FuseTIR(),
        dlight.ApplyDefaultSchedule(*rules),
    ]
    with TARGET:
        return tvm.transform.Sequential(passes)(mod)


def results(mod: tvm.IRModule, inputs: list[np.ndarray], **options: Any) -> list[np.ndarray]:
    """Results of a run in each order, which must agree bit for bit."""
    emulated = Emulated(mod, TARGET, **options)
    runs = [emulated.run(inputs, order=order) for order in ORDERS]
    for other in runs[1:]:
        for a, b in zip(runs[0], other, strict=True):
            np.testing.assert_array_equal(a, b)
    return runs[0]


@I.ir_module
class Elementwise:
    @R.function
    def main(x: R.Tensor((3, 5, 7), "float32"), y: R.Tensor((7,), "float32")):
        with R.dataflow():
            a = R.nn.relu(R.subtract(x, y))
            b = R.astype(R.clip(R.round(R.divide(a, R.const(0.1, "float32"))), 0, 255), "uint8")
            c = R.reshape(b, (15, 7))
            R.output(a, c)
        return (a, c)


@pytest.mark.slow
def test_elementwise():
    random = np.random.default_rng(0)
    x, y = random.normal(size=(3, 5, 7)).astype(np.float32), random.normal(size=7).astype(np.float32)
    a, c = results(scheduled(Elementwise), [x, y])
    expected = np.maximum(x - y, np.float32(0))
    np.testing.assert_array_equal(a, expected)
    codes = np.clip(np.rint(expected / np.float32(0.1)), 0, 255).astype(np.uint8)
    np.testing.assert_array_equal(c, codes.reshape(15, 7))


@I.ir_module
class Sums:
    @R.function
    def main(q: R.Tensor(("n", 33, 50), "int32"), x: R.Tensor((4, 80), "float32")):
        with R.dataflow():
            a = R.sum(q, axis=[1])
            b = R.max(x, axis=[-1])
            R.output(a, b)
        return (a, b)


@pytest.mark.slow
@pytest.mark.parametrize("batch", [1, 3])
def test_reductions_of_a_dynamic_size(batch):
    random = np.random.default_rng(0)
    q = random.integers(-(2**20), 2**20, (batch, 33, 50)).astype(np.int32)
    x = random.normal(size=(4, 80)).astype(np.float32)
    mod = scheduled(Sums)
    source = Emulated(mod, TARGET).source
    assert "__syncthreads" in source
    a, b = results(mod, [q, x])
    np.testing.assert_array_equal(a, q.sum(1, dtype=np.int32))
    np.testing.assert_array_equal(b, x.max(-1))


@I.ir_module
class Product:
    @R.function
    def main(q: R.Tensor((20, 30), "int8"), w: R.Tensor((30, 17), "int8")):
        with R.dataflow():
            c = R.matmul(q, w, out_dtype="int32")
            R.output(c)
        return c


@pytest.mark.slow
def test_product_in_shared_memory():
    random = np.random.default_rng(0)
    q, w = (random.integers(-128, 128, shape, dtype=np.int8) for shape in ((20, 30), (30, 17)))
    mod = scheduled(Product)
    assert "__shared__" in Emulated(mod, TARGET).source
    np.testing.assert_array_equal(results(mod, [q, w])[0], q.astype(np.int32) @ w.astype(np.int32))


@T.prim_func(s_tir=True)
def shifted(x: T.Buffer((64,), "int32"), y: T.Buffer((64,), "int32")):
    with T.sblock("root"):
        kept = T.sblock_alloc_buffer((64,), "int32")
        for i in T.thread_binding(64, thread="threadIdx.x"):
            with T.sblock("double"):
                v = T.axis.spatial(64, i)
                kept[v] = x[v] * 2
        for i in T.thread_binding(64, thread="threadIdx.x"):
            with T.sblock("shift"):
                v = T.axis.spatial(64, i)
                y[v] = kept[(v + 1) % 64]


def called(func: Any) -> tvm.IRModule:
    """A module whose main function calls a function of loops on 64 integers."""
    kind = relax.TensorType((64,), "int32")
    return build_module(
        {"x": ((64,), "int32")}, lambda builder, x: relax.call_tir(builder.add_func(func, "shifted"), (x,), kind)
    )


@pytest.mark.slow
def test_memory_between_the_kernels_of_a_function():
    x = np.arange(64, dtype=np.int32)
    np.testing.assert_array_equal(results(called(shifted), [x])[0], 2 * np.roll(x, -1))


@pytest.mark.slow
def test_a_write_past_the_end_is_an_error():
    @T.prim_func(s_tir=True)
    def past(x: T.Buffer((64,), "int32"), y: T.Buffer((64,), "int32")):
        with T.sblock("root"):
            for i in T.thread_binding(64, thread="threadIdx.x"):
                with T.sblock("write"):
                    v = T.axis.spatial(64, i)
                    y[v + 2] = x[v]

    with pytest.raises(EmulationError, match=r"shifted: 8 bytes behind 'output 0' \(64,\) were written"):
        Emulated(called(past), TARGET).run([np.arange(64, dtype=np.int32)])


@pytest.mark.slow
def test_a_write_to_an_input_is_an_error():
    @T.prim_func(s_tir=True)
    def back(x: T.Buffer((64,), "int32"), y: T.Buffer((64,), "int32")):
        with T.sblock("root"):
            for i in T.thread_binding(64, thread="threadIdx.x"):
                with T.sblock("write"):
                    v = T.axis.spatial(64, i)
                    x[v] = y[v]

    with pytest.raises(EmulationError, match="shifted: input 0 was changed"):
        Emulated(called(back), TARGET).run([np.arange(64, dtype=np.int32)])


@I.ir_module
class Affine:
    @R.function
    def main(x: R.Tensor((100,), "float32"), y: R.Tensor((100,), "float32")):
        with R.dataflow():
            a = R.add(R.multiply(x, x), y)
            R.output(a)
        return a


@pytest.mark.slow
@pytest.mark.isa("fma")
def test_what_nvcc_may_contract_is_contracted_on_demand():
    random = np.random.default_rng(0)
    x, y = (random.normal(size=100).astype(np.float32) for _ in range(2))
    mod = scheduled(Affine)
    np.testing.assert_array_equal(results(mod, [x, y])[0], x * x + y)
    assert not np.array_equal(results(mod, [x, y], contract=True)[0], x * x + y)
