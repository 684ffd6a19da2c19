"""A real transformer: every layer norm and softmax is our own, and nothing undefined is left after quantizing."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import onnx
import pytest

import tvmq
from tvmq.graph.view import View, op_name
from tvmq.reference import Reference


@pytest.mark.slow
def test_a_vision_transformer_is_defined_throughout(zoo: Path) -> None:
    path = zoo / "vit_cifar10.onnx"
    written = Counter(node.op_type for node in onnx.load(path).graph.node)
    mod, params = tvmq.from_onnx(str(path))
    data = [{"input": x} for x in np.random.default_rng(0).standard_normal((3, 1, 3, 32, 32)).astype(np.float32)]
    quantized = tvmq.quantize(mod, params, data, config=tvmq.QConfig(calibrate_mode="minmax"), guard=None)
    found = Counter(op_name(value) for _, value in View(quantized).bindings)
    assert found["tvmq.layer_norm"] == written["LayerNormalization"] == 11
    assert found["tvmq.softmax"] == written["Softmax"] == 5
    assert found["tvmq.table"] >= written["Erf"] == 5
    assert Reference(quantized).islands == []
    verification = tvmq.verify(tvmq.build(quantized), data[:2])
    assert verification.exact and not verification.islands, str(verification)
