"""Blocks of samples: which models have them, the bits of samples one by one at any batch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tvm
from onnx import TensorProto, helper, numpy_helper

import tvmq
from tvmq.codegen.compile.sample_blocks import SIZES
from tvmq.graph.ledger import get_ledger

DEPTH, HIDDEN, CLASSES = 40, 48, 10
PLAIN = {"batch": [1]}  # no code but for one sample


def normal(count: int, *shape: int) -> dict[str, np.ndarray]:
    return {"x": np.random.default_rng(count).standard_normal((count, *shape)).astype(np.float32)}


def perceptron() -> Any:
    weights = normal(1, HIDDEN * DEPTH + CLASSES * HIDDEN)["x"].ravel()
    nodes = [
        helper.make_node("MatMul", ["x", "first"], ["sums"]),
        helper.make_node("Relu", ["sums"], ["h"]),
        helper.make_node("MatMul", ["h", "second"], ["y"], "last"),
    ]
    constants = {
        "first": weights[: DEPTH * HIDDEN].reshape(DEPTH, HIDDEN),
        "second": weights[DEPTH * HIDDEN :].reshape(HIDDEN, CLASSES),
    }
    return onnx_network(nodes, ["batch", DEPTH], constants)


def convolution() -> Any:
    nodes = [helper.make_node("Conv", ["x", "w"], ["y"], kernel_shape=[3, 3])]
    return onnx_network(nodes, ["batch", 3, 12, 12], {"w": normal(8, 3, 3, 3)["x"]})


def onnx_network(nodes: list[Any], shape: list[Any], constants: dict[str, np.ndarray]) -> Any:
    given = helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    arrays = [numpy_helper.from_array(array, name) for name, array in constants.items()]
    graph = helper.make_graph(nodes, "network", [given], [result], arrays)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.fixture(scope="module")
def module() -> tvm.IRModule:
    return tvmq.quantize(*tvmq.from_onnx(perceptron()), [normal(5, DEPTH)], guard=None)


@pytest.fixture(scope="module")
def exe(module: tvm.IRModule) -> tvmq.Executable:
    return tvmq.build(module)


def test_dense_layers_have_blocks(exe: tvmq.Executable, module: tvm.IRModule) -> None:
    assert exe.sizes == tuple({"batch": size} for size in SIZES)
    assert tvmq.build(module, sizes=PLAIN).sizes == ()
    assert "specialized code for batch 32; batch 8; batch 2" in str(tvmq.explain(exe))


def test_a_batch_runs_in_few_calls(exe: tvmq.Executable) -> None:
    pieces = exe["main"]._dynamic_run._pieces({"batch": 109})
    assert [size for _, size in pieces] == [32, 32, 32, 8, 2, 2, 1]


def test_pictures_and_floats_run_sample_by_sample() -> None:
    """Convolutions have rows enough; floats are summed by other kernels in blocks, and have no definition."""
    pictures = tvmq.quantize(*tvmq.from_onnx(convolution()), [normal(2, 3, 12, 12)], guard=None)
    mod, params = tvmq.from_onnx(perceptron())
    assert tvmq.build(pictures).sizes == tvmq.build(mod, params).sizes == ()


def test_a_float_layer_behind_integers_has_no_blocks() -> None:
    with tvmq.qconfig(rules=[tvmq.Rule("last", None)]):
        mixed = tvmq.quantize(*tvmq.from_onnx(perceptron()), [normal(5, DEPTH)], guard=None)
    assert [entry["precision"] for entry in get_ledger(mixed).layers.values() if entry.get("macs")] == ["int8", "float"]
    assert tvmq.build(mixed).sizes == ()


@pytest.mark.parametrize("count", [0, 1, 2, 3, 7, 8, 9, 31, 32, 33, 100])
def test_rows_are_those_of_samples_alone(exe: tvmq.Executable, count: int) -> None:
    feed = {"x": normal(max(count, 1), DEPTH)["x"][:count]}
    (rows,) = exe.run(feed)
    assert rows.shape == (count, CLASSES)
    for number in range(count):
        (alone,) = exe.run({"x": feed["x"][number : number + 1]})
        assert alone.tobytes() == rows[number : number + 1].tobytes()


@pytest.mark.parametrize("target", [
    "llvm", "llvm -mcpu=core-avx2", "llvm -mcpu=nehalem",
    pytest.param("llvm -mcpu=cascadelake", marks=[pytest.mark.isa("avx512_vnni")]),
])  # fmt: skip
@pytest.mark.slow_cases("llvm -*")
def test_blocks_give_the_bits_of_the_definition(module: tvm.IRModule, target: str) -> None:
    exe, feed = tvmq.build(module, target), normal(43, DEPTH)
    assert exe.sizes
    (defined,) = tvmq.reference.run(exe.module, feed)
    np.testing.assert_array_equal(exe.run(feed)[0].view(np.int32), np.asarray(defined).view(np.int32))


def test_invariance_is_proved(exe: tvmq.Executable) -> None:
    batches = tvmq.check_invariance(exe, normal(8, DEPTH), runs=4).checks[0]
    assert batches.proved and batches.runs and not batches.differing


def test_saved_models_keep_them(exe: tvmq.Executable, tmp_path: Path) -> None:
    exe.save(tmp_path / "blocks.tvmq")
    loaded, feed = tvmq.load(tmp_path / "blocks.tvmq"), normal(43, DEPTH)
    assert loaded.sizes == exe.sizes and loaded.run(feed)[0].tobytes() == exe.run(feed)[0].tobytes()
