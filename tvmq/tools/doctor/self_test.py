"""Self-test: quantize and build a model of three layers, and compare it with the NumPy definition.

Tests: tests/tools/doctor/test_installation.py
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from tvmq.tools.doctor.findings import Finding, ok, problem

SHAPE = (1, 4, 8, 8)
LEAST_DECIBELS = 20.0  # 30 and more are usual; below this the codes hardly represent the values


def tiny_model() -> Any:
    """An ONNX model of a convolution, a ReLU and a matrix product, with fixed pseudo-random weights."""
    from onnx import TensorProto, helper, numpy_helper

    arrays = {"kernel": _wave(8, 4, 3, 3), "bias": _wave(8), "matrix": _wave(8 * 64, 5)}
    nodes = [
        helper.make_node("Conv", ["x", "kernel", "bias"], ["a"], "conv", kernel_shape=[3, 3], pads=[1] * 4),
        helper.make_node("Relu", ["a"], ["b"], "relu"), helper.make_node("Flatten", ["b"], ["c"], "flatten"),
        helper.make_node("MatMul", ["c", "matrix"], ["y"], "dense"),
    ]  # fmt: skip
    model_input = helper.make_tensor_value_info("x", TensorProto.FLOAT, SHAPE)
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, (1, 5))
    weights = [numpy_helper.from_array(array, name) for name, array in arrays.items()]
    graph = helper.make_graph(nodes, "tiny", [model_input], [result], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def _wave(*shape: int) -> np.ndarray:
    """Deterministic numbers in -1..1, equal on every machine up to rounding."""
    return np.sin(np.arange(np.prod(shape)) * 1.7 + len(shape)).reshape(shape).astype(np.float32)


def run_self_test() -> Iterator[Finding]:
    """Quantize, build and run a tiny model; compare it bit for bit with the definition, and with float in dB."""
    from tvmq.codegen.compile.build import build
    from tvmq.formats.onnx.importer.from_onnx import from_onnx
    from tvmq.numerics.deviation import Deviation
    from tvmq.options.config import QConfig
    from tvmq.quantization.pipeline import quantize
    from tvmq.tools.analysis.verification import verify

    start = time.perf_counter()
    mod, params = from_onnx(tiny_model())
    data = [{"x": _wave(*SHAPE) * np.float32(scale)} for scale in (0.5, 1.0, 2.0)]
    exe = build(quantize(mod, params, data, config=QConfig()))
    verified = verify(exe, data)
    deviation = Deviation()
    for feed in data:
        deviation.add(build(mod, params=params).run(feed)[0], exe.run(feed)[0])
    seconds, sqnr = time.perf_counter() - start, deviation.figures().sqnr
    figures = {"exact": verified.exact, "sqnr": sqnr, "seconds": seconds}
    remedy = "report it, with the output of `tvmq doctor --json`; until then do not trust int8 models on this machine"
    if not verified.exact:
        yield problem("self-test", f"compiled code differs from its definition: {verified}", remedy, **figures)
    elif sqnr < LEAST_DECIBELS:
        yield problem("self-test", f"int8 is only {sqnr:.1f} dB from float", remedy, **figures)
    else:
        exact = f"equals the NumPy definition bit for bit, {sqnr:.0f} dB from float"
        yield ok("self-test", f"quantized, built, run in {seconds:.1f} s; {exact}", **figures)
