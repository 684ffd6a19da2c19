"""The native loop over samples: which modules have it, and its results beside those of main."""

from __future__ import annotations

import numpy as np
import pytest
import tvm
from tvm import relax
from tvm.relax import op as R

from tests.codegen.compile.test_native_main import SHAPE, TARGET, scaled
from tvmq.codegen.compile.build_options import BuildOptions
from tvmq.codegen.compile.native_samples import SampleAxes
from tvmq.codegen.compile.vm_pipeline import compile_module
from tvmq.runtime.call_code import SAMPLES

COUNT = 5
ONE = (1, *SHAPE)


def network(*, dynamic: bool = False) -> tvm.IRModule:
    """main(x, w): a kernel, and sums; the second result has no samples."""
    builder = relax.BlockBuilder()
    x = relax.Var("x", relax.TensorType((tvm.tirx.Var("n", "int64"), *SHAPE) if dynamic else ONE, "float32"))
    w = relax.Var("w", relax.TensorType((16,), "float32"))
    with builder.function("main", [x, w]):
        with builder.dataflow():
            if dynamic:
                ends = [builder.emit(R.exp(builder.emit(R.sum(x, [1])))), builder.emit(R.exp(w))]
            else:
                kernel = builder.add_func(scaled(), "scaled")
                part = builder.emit(R.reshape(x, SHAPE))
                product = builder.emit(relax.call_tir(kernel, [part, w], relax.TensorType(SHAPE, "float32")))
                ends = [builder.emit(R.reshape(builder.emit(R.sum(product, [1, 2])), (1, 2))), builder.emit(R.exp(w))]
            results = [builder.emit_output(end) for end in ends]
        builder.emit_func_output(relax.Tuple(results))
    return builder.get()


def machine_of(module: tvm.IRModule, axes: SampleAxes | None) -> relax.VirtualMachine:
    return relax.VirtualMachine(compile_module(module, TARGET, options=BuildOptions(samples=axes)).code, tvm.cpu())


def test_the_loop_gives_what_main_gives_for_each_sample() -> None:
    machine = machine_of(network(), SampleAxes((True, False), (True, False)))
    x = np.random.default_rng(0).normal(size=(COUNT, *SHAPE)).astype(np.float32)
    w = np.arange(16, dtype=np.float32) / 8
    rows, exponentials = (item.numpy() for item in machine["main" + SAMPLES](*map(tvm.runtime.tensor, (x, w))))
    assert rows.shape == (COUNT, 2)
    for sample in range(COUNT):
        row, same = machine["main"](tvm.runtime.tensor(x[sample : sample + 1]), tvm.runtime.tensor(w))
        np.testing.assert_array_equal(rows[sample], row.numpy()[0])
        np.testing.assert_array_equal(exponentials, same.numpy())


@pytest.mark.parametrize("module,axes", [
    (network(), None), (network(dynamic=True), SampleAxes((True, False), (True, False))),
])  # fmt: skip
def test_other_modules_have_none(module: tvm.IRModule, axes: SampleAxes | None) -> None:
    with pytest.raises(AttributeError):
        machine_of(module, axes)["main" + SAMPLES]
