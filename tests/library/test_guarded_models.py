"""Many models between guard pages: codes as inputs, which kernels read where the caller has them, and random graphs."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import tvmq
from tests.library.test_export_library import needs_gcc
from tests.library.test_selftest import TARGETS
from tests.support.guarded_library import ADDRESSES, compile_program, run_guarded
from tests.support.random.graphs import random_inputs, random_model
from tvmq.runtime.artifact.native_library import runs_linux_x86

pytestmark = [
    pytest.mark.skipif(not runs_linux_x86(), reason="libraries are opened on Linux on x86-64 only"), needs_gcc,
    pytest.mark.slow,
]  # fmt: skip
PRODUCTS = [(1, 1), (1, 15), (1, 65), (3, 33), (3, 100), (1, 257)]
PICTURES = [(1, 5, 5), (3, 7, 9), (7, 9, 12), (33, 2, 2)]


def coded_model(shape: Sequence[int], weights: Sequence[int], operator: str, dtype: str, **attrs: Any) -> bytes:
    """An operator from codes to codes: dequantized x and weights, quantized y."""
    codes = np.random.default_rng(0).integers(-127, 128, weights).astype(np.int8)
    zero = np.zeros((), dtype)
    values = {"s": np.float32(0.02), "zx": zero + zero.dtype.type(3), "w": codes, "zw": np.int8(0), "zy": zero}
    nodes = [
        helper.make_node("DequantizeLinear", ["x", "s", "zx"], ["xf"]),
        helper.make_node("DequantizeLinear", ["w", "s", "zw"], ["wf"]),
        helper.make_node(operator, ["xf", "wf"], ["yf"], **attrs),
        helper.make_node("QuantizeLinear", ["yf", "s", "zy"], ["y"]),
    ]
    kind = TensorProto.UINT8 if dtype == "uint8" else TensorProto.INT8
    inputs, outputs = ([helper.make_tensor_value_info(name, kind, size)] for name, size in (("x", shape), ("y", None)))
    initializers = [numpy_helper.from_array(np.asarray(value), name) for name, value in values.items()]
    graph = helper.make_graph(nodes, "codes", inputs, outputs, initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return onnx.shape_inference.infer_shapes(model).SerializeToString()


def check_codes(model: bytes, program: Path, folder: Path) -> None:
    """A model with one input of codes, by each code of its library."""
    module = tvmq.quantize(*tvmq.from_onnx(model))
    export = tvmq.export_library(module, folder / "model", target=TARGETS)
    (tensor,) = json.loads(export.facts.read_text())["inputs"]
    assert tensor["dtype"] in ("int8", "uint8")
    codes = np.random.default_rng(1).integers(0, 256, [2, *tensor["shape"]]).astype(np.uint8).view(tensor["dtype"])
    expected = [tvmq.reference.run(module, {"x": sample}) for sample in codes]
    for code in export.targets:
        found = run_guarded(program, export.library, [[sample] for sample in codes], expected, code=code)
        assert found.values > 0 and (found.differing, found.changed_bytes) == (0, 0)


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
def test_products_of_codes(dtype, tmp_path):
    program = compile_program("guarded", tmp_path / "guarded")
    for rows, columns in PRODUCTS:
        check_codes(coded_model([rows, columns], [columns, 5], "MatMul", dtype), program, tmp_path)


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
def test_convolutions_of_codes(dtype, tmp_path):
    program = compile_program("guarded", tmp_path / "guarded")
    for channels, *sizes in PICTURES:
        shape, pads = [1, channels, *sizes], [1, 1, 1, 1]
        check_codes(coded_model(shape, [6, channels, 1, 1], "Conv", dtype), program, tmp_path)
        check_codes(coded_model(shape, [6, channels, 3, 3], "Conv", dtype, pads=pads), program, tmp_path)
        depthwise = coded_model(shape, [channels, 1, 3, 3], "Conv", dtype, pads=pads, group=channels)
        check_codes(depthwise, program, tmp_path)


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="no valgrind")
def test_random_graphs_under_valgrind(tmp_path):
    program = compile_program("guarded", tmp_path / "guarded")
    for seed in range(6):
        model = random_model(seed)
        module = tvmq.quantize(*tvmq.from_onnx(model), random_inputs(model, 0, 8), guard=None)
        export = tvmq.export_library(module, tmp_path / "model", target="x86-64-v3")
        tensors = json.loads(export.facts.read_text())["inputs"]
        feeds = random_inputs(model, 1, 1)
        samples = [[np.asarray(feed[tensor["name"]], tensor["dtype"]) for tensor in tensors] for feed in feeds]
        expected = [tvmq.reference.Reference(module, target="x86-64-v3").run(feed) for feed in feeds]
        found = run_guarded(program, export.library, samples, expected, threads=2, wrapper=ADDRESSES)
        assert found.values > 0 and (found.differing, found.changed_bytes) == (0, 0)
