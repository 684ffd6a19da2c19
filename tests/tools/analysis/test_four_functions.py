"""Tools that walk a module give equal answers for one in four functions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import tvm

import tvmq
from tests.support.models.networks import Net, feeds_of
from tvmq.graph.ledger import get_ledger
from tvmq.graph.symbolic import inputs_of
from tvmq.passes.partition_conversions import partition_conversions
from tvmq.quantization.static_quantization import model_hash
from tvmq.reference import Reference


@pytest.fixture(scope="module")
def both() -> tuple[tvm.IRModule, tvm.IRModule, tuple, list]:
    """A module in one function and in four; the float model; data."""
    n = Net((1, 3, 6, 6))
    model = n.model(n.dense(n.op("Flatten", n.op("Relu", n.conv("x", 3, 4))), 144, 5))
    mod, params = tvmq.from_onnx(model)
    with tvmq.qconfig(calibrate_mode="minmax"):
        whole = tvmq.quantize(mod, params, feeds_of(model), guard=None)
    return whole, partition_conversions(whole), (mod, params), feeds_of(model, 2)


@pytest.mark.slow
def test_explain(both) -> None:
    whole, parts, _, _ = both
    a, b = tvmq.explain(whole), tvmq.explain(parts)
    assert (a.rows(), a.undefined, a.int8_share()) == (b.rows(), b.undefined, b.int8_share())
    built = tvmq.explain(tvmq.build(whole)).kernels, tvmq.explain(tvmq.build(parts)).kernels
    assert built[0] == built[1] and built[0]


@pytest.mark.slow
def test_compare(both) -> None:
    whole, parts, (mod, params), feeds = both
    a, b = (tvmq.compare((mod, params), quantized, feeds) for quantized in (whole, parts))
    assert str(a) == str(b)


def test_onnx(both, tmp_path: Path) -> None:
    whole, parts, _, feeds = both
    for name, mod in (("whole", whole), ("parts", parts)):
        tvmq.to_onnx(mod, tmp_path / name)
    assert (tmp_path / "whole").read_bytes() == (tmp_path / "parts").read_bytes()
    session = onnxruntime.InferenceSession(str(tmp_path / "parts"), providers=["CPUExecutionProvider"])
    assert session.run(None, feeds[0])[0].shape == (1, 5)


def test_reference_inputs_ledger_and_hash(both) -> None:
    whole, parts, _, feeds = both
    np.testing.assert_array_equal(Reference(whole).run(feeds[0])[0], Reference(parts).run(feeds[0])[0])
    assert inputs_of(whole) == inputs_of(parts)
    notes = get_ledger(parts).notes
    assert get_ledger(whole).layers == get_ledger(parts).layers and notes[:-1] == get_ledger(whole).notes
    assert len(model_hash(parts)) == len(model_hash(whole)) == 64
