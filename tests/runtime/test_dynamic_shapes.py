"""Executables with dynamic dimensions: the definition's bits at any size, and refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

import tvmq
from tests.support.models.dynamic_models import LONGEST, branches, encoder, pictures, random_batches, reader, texts
from tests.support.models.networks import parse
from tests.support.random.graphs import random_inputs, random_model
from tvmq.codegen.compile import build
from tvmq.errors import DataError
from tvmq.graph.ledger import get_ledger
from tvmq.numerics.deviation import unequal_bits
from tvmq.runtime.threads import with_threads


def images(*shape: int) -> dict[str, np.ndarray]:
    return {"x": np.random.default_rng(sum(shape)).random(shape, np.float32)}


MODELS: dict[str, tuple[Any, list[dict[str, np.ndarray]], list[dict[str, np.ndarray]]]] = {
    "encoder": (
        encoder(),
        [texts(3, length, length) for length in (4, 9, 16)],
        [texts(1, 1), texts(2, 7), texts(3, 40), texts(5, LONGEST)],
    ),
    "pictures": (
        pictures(),
        [images(2, 3, 16, 16), images(2, 3, 12, 20)],
        [images(1, 3, 2, 2), images(2, 3, 20, 14), images(1, 3, 6, 30)],
    ),
    "branches": (
        branches(),
        [images(2, 3, 16, 16), images(2, 3, 12, 20)],
        [images(1, 3, 2, 2), images(2, 3, 20, 14), images(1, 3, 6, 30)],
    ),
    "reader": (
        reader(),
        [images(2, 1, 8, 16), images(1, 1, 8, 12)],
        [images(1, 1, 8, 2), images(3, 1, 8, 20), images(2, 1, 8, 30)],
    ),
}


@pytest.fixture(scope="module", params=MODELS)
def model(request: pytest.FixtureRequest) -> tuple[tvm.IRModule, list[dict[str, np.ndarray]]]:
    """The integer module, quantized once with data of several sizes, and inputs of others."""
    float_model, calibration, inputs = MODELS[request.param]
    return tvmq.quantize(*tvmq.from_onnx(float_model), calibration, guard=None), inputs


def assert_defined(exe: tvmq.Executable, module: tvm.IRModule, feed: dict[str, np.ndarray]) -> None:
    found, defined = exe.run(feed), tvmq.reference.run(module, feed)
    for a, b in zip(found, map(np.asarray, defined), strict=True):
        assert a.shape == b.shape and not unequal_bits(a, b).any(), feed


@pytest.mark.thinned(3)
@pytest.mark.slow
def test_one_executable_takes_all_sizes(model: Any, tmp_path: Any) -> None:
    module, inputs = model
    exe = tvmq.build(module)
    exe.save(tmp_path / "m.tvmq")
    loaded = tvmq.load(tmp_path / "m.tvmq")
    assert loaded.input_info == exe.input_info and str(exe.input_info[0].shape[0]) == "batch"
    for feed in inputs:
        assert_defined(exe, module, feed)
        assert_defined(loaded, module, feed)


@pytest.mark.slow
@pytest.mark.parametrize(
    "target", ["llvm -mcpu=core-avx2", pytest.param("llvm -mcpu=skylake-avx512", marks=[pytest.mark.isa("avx512bw")])]
)
def test_other_instruction_sets(model: Any, target: str) -> None:
    module, inputs = model
    exe = tvmq.build(module, target)
    for feed in inputs[:2]:
        assert_defined(exe, module, feed)


@pytest.mark.slow
def test_sizes_fixed_at_the_build_give_the_same(model: Any) -> None:
    module, inputs = model
    names = [name for name in tvmq.build(module).input_info[0].shape[1:] if isinstance(name, str)]
    first = next(iter(inputs[1].values()))
    sizes = {
        name: size
        for name, size in zip(tvmq.build(module).input_info[0].shape, first.shape, strict=True)
        if name in names
    }
    fixed = tvmq.build(module, sizes=sizes)
    assert_defined(fixed, module, inputs[1])
    assert set(fixed.kernels.values()) - set(tvmq.build(module).kernels.values())  # others than for any size


@pytest.mark.thinned(3)
@pytest.mark.slow_cases("encoder")
def test_no_samples_give_none(model: Any) -> None:
    module, inputs = model
    results = tvmq.build(module).run({name: value[:0] for name, value in inputs[0].items()})
    assert [y.size for y in results] == [0]


@pytest.mark.slow
def test_all_layers_are_integers(model: Any) -> None:
    ledger = get_ledger(model[0])
    heavy = [entry for entry in ledger.layers.values() if entry.get("macs")]
    assert heavy and all(entry["precision"] == "int8" for entry in heavy)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 3, 5, 14])
@pytest.mark.parametrize("peeled", [True, False])
def test_random_graphs_of_any_batch(seed: int, peeled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sample by sample, or by code for a dynamic number of them, where the proof is withheld."""
    if not peeled:
        monkeypatch.setattr(build, "batch_dimension", lambda _mod: None)
    base = random_inputs(random_model(seed), 1, 3)
    module = tvmq.quantize(*tvmq.from_onnx(random_batches(seed)), base, guard=None)
    exe = tvmq.build(module)
    assert exe.input_info[0].shape[0] == "batch"
    for count in (1, 3):
        feed = {name: np.concatenate([f[name][:1] for f in base[:count]]) for name in base[0]}
        assert_defined(exe, module, feed)


@pytest.fixture(scope="module")
def reader() -> tvmq.Executable:
    return tvmq.build(tvmq.quantize(*tvmq.from_onnx(encoder()), [texts(2, 8)], guard=None))


@pytest.mark.slow_cases("change0-*", "change1-*")
@pytest.mark.parametrize("change, message", [
    (
        {"mask": np.ones((2, 9), np.int64)},
        r"input 'mask' has 9 for 'sequence' \(axis 1\), input 'ids' has 8; they must be equal",
    ),
    ({"mask": np.ones((1, 8), np.int64)}, r"input 'mask' has 1 for 'batch' \(axis 0\), input 'ids' has 2"),
    ({"ids": np.ones((2, 8, 1), np.int64)}, r"shape \(2, 8, 1\), the model takes \(batch, sequence\)"),
    (
        texts(1, LONGEST + 1),
        r"has 65 for 'sequence' \(axis 1\), the model takes 1 to 64: layer '.*' takes so many of 64",
    ),
    (
        dict.fromkeys(("ids", "mask"), np.ones((2, 0), np.int64)),
        r"has 0 for 'sequence' \(axis 1\), the model takes 1 to 64",
    ),
])  # fmt: skip
def test_inputs_that_are_refused(reader: tvmq.Executable, change: dict[str, np.ndarray], message: str) -> None:
    with pytest.raises(DataError, match=message):
        reader.run({**texts(2, 8), **change})
    assert reader.run(texts(2, 8))[0].shape == (2, 32)


def test_sums_that_could_leave_int32_are_refused() -> None:
    """Products of rows with each other; so many codes of both factors fit."""
    text = """
# from tvm.script import ir as I
# from tvm.script import relax as R
# from tvm.script import tirx as T
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 4, "n"), "float32")) -> R.Tensor((1, 4, 4), "float32"):
        n = T.int64()
        with R.dataflow():
            y = R.matmul(x, R.permute_dims(x, [0, 2, 1]))
            R.output(y)
        return y
"""
    module = tvmq.quantize(parse(text), dataset=[np.random.default_rng(0).random((1, 4, 20), np.float32)], guard=None)
    exe = tvmq.build(module)
    assert_defined(exe, module, {"x": np.ones((1, 4, 999), np.float32)})
    with pytest.raises(DataError, match=r"has 40000 for 'n' \(axis 2\), the model takes 1 to 33025: longer sums of"):
        exe.run({"x": np.zeros((1, 4, 40000), np.float32)})
    with pytest.raises(DataError, match="'n' is 40000, the model takes 1 to 33025"):
        tvmq.reference.run(module, {"x": np.zeros((1, 4, 40000), np.float32)})


@pytest.mark.slow
def test_the_definition_refuses_what_does_not_fit() -> None:
    module = tvmq.quantize(*tvmq.from_onnx(encoder()), [texts(2, 8)], guard=None)
    with pytest.raises(DataError, match="reference: 'sequence' is 65, the model takes 1 to 64"):
        tvmq.reference.run(module, texts(1, LONGEST + 1))


def test_an_input_of_several_rows_a_sample() -> None:
    """The second input has four rows of each sample of the batch."""
    batch, random = tvm.tirx.Var("batch", "int64"), np.random.default_rng(0)
    weight = relax.const(random.standard_normal((8, 8)).astype(np.float32))
    x, z = (relax.Var(name, relax.TensorType(shape, "float32")) for name, shape in
            (("x", (batch, 4, 8)), ("z", (batch * 4, 8))))  # fmt: skip
    builder = relax.BlockBuilder()
    with builder.function("main", [x, z]):
        with builder.dataflow():
            rows = builder.emit(relax.op.reshape(z, relax.ShapeExpr([batch, 4, 8])))
            hidden = builder.emit(relax.op.add(builder.emit(relax.op.matmul(x, weight)), rows))
            y = builder.emit_output(relax.op.matmul(hidden, weight))
        builder.emit_func_output(y)
    with tvmq.qconfig(activations="dynamic"):
        qmod = tvmq.quantize(builder.get())
    exe, reference = tvmq.build(qmod), tvmq.reference.Reference(qmod)
    for count in (1, 3, 70, 0):
        shapes = {"x": (count, 4, 8), "z": (4 * count, 8)}
        feed = {name: random.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}
        for threads in (1, 2):
            for _ in range(5):  # samples are shared out when their time is known
                (result,) = with_threads(threads, lambda: exe.run(feed))  # noqa: B023  called at once
            np.testing.assert_array_equal(result, np.asarray(reference.run(feed)[0]))
