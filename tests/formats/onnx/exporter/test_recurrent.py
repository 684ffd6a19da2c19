"""Recurrent layers in ONNX files: the loop in floats, with the codes of its weight."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import tvm
from tvm import relax

import tvmq
from tests.support.fuzz.writers import QUICKLY, recurrent_model
from tests.support.models.networks import run_onnx
from tests.support.random.graphs import random_inputs
from tvmq.errors import BackendWarning, UnsupportedOpError
from tvmq.formats.onnx.exporter.to_onnx import _check
from tvmq.graph import ops
from tvmq.graph.rewrite import Rewriter, rewrite
from tvmq.graph.view import const_value, op_name

CODES, FLOATS = "tvmq.recurrent_codes", ("kind", "activations", "clip", "reverse", "ends")


def with_float_states(module: tvm.IRModule) -> tvm.IRModule:
    """The module whose loops keep the codes of their weights, and no codes of their states."""

    def loop(_rewriter: Rewriter, _var: relax.Var, value: relax.Expr) -> relax.Expr | None:
        if op_name(value) != CODES:
            return None
        gates, codes, terms, state, lengths, scale = value.args
        weight = relax.const(const_value(codes).astype(np.float32) * const_value(scale))
        return ops.recurrent(gates, weight, terms, state, lengths, **{k: getattr(value.attrs, k) for k in FLOATS})

    return rewrite(module, loop)


@pytest.mark.thinned(4)
@pytest.mark.parametrize("activations", ["static", None])
@pytest.mark.parametrize("seed", range(12))
def test_files_compute_the_loop_of_the_module(seed: int, activations: str | None, tmp_path: Path) -> None:
    """Cells, directions, biases, first states that are inputs or zeros, and lengths vary with the seed."""
    source = recurrent_model(seed)
    data, feed = random_inputs(source, 0, 4), random_inputs(source, 1, 1)[0]
    with tvmq.qconfig(activations=activations, **QUICKLY):
        module = tvmq.quantize(*tvmq.from_onnx(source), data if activations else None, guard=None)
    tvmq.to_onnx(module, tmp_path / "loop.onnx")
    written = onnx.load(tmp_path / "loop.onnx")
    onnx.checker.check_model(written, full_check=True)
    assert [value.name for value in written.graph.input] == list(feed)
    wanted = tvmq.reference.run(with_float_states(module), feed)
    for found, defined in zip(run_onnx(written, feed), wanted, strict=True):
        np.testing.assert_allclose(found, defined, rtol=1e-4, atol=2e-5)


def test_a_loop_with_codes_as_states_is_said_not_to_be_exact(tmp_path: Path) -> None:
    source = recurrent_model(4)
    with tvmq.qconfig(**QUICKLY):
        module = tvmq.quantize(*tvmq.from_onnx(source), random_inputs(source, 0, 4), guard=None)
    with pytest.warns(
        BackendWarning, match=r"^to_onnx, layer 'loop': the states of recurrent layers \(2 here\) .* differ .* \(55 to 68 dB"
    ) as said:
        tvmq.to_onnx(module, tmp_path / "loop.onnx")
    assert said[0].filename == __file__


def test_scales_that_are_made_at_run_time_are_refused(tmp_path: Path) -> None:
    source = recurrent_model(1)
    with tvmq.qconfig(activations="dynamic"):
        module = tvmq.quantize(*tvmq.from_onnx(source), guard=None)
    with pytest.raises(UnsupportedOpError, match=r"^to_onnx, layer 'loop.*': tvmq.dynamic_scale has no equivalent in ONNX"):
        tvmq.to_onnx(module, tmp_path / "loop.onnx")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("fault", ["unknown input", "type"])
def test_a_file_that_the_checker_refuses_is_not_written(fault: str) -> None:
    node: Any = onnx.helper.make_node("Relu", ["y" if fault == "unknown input" else "x"], ["z"], "relu")
    kind = onnx.TensorProto.FLOAT
    ends = [onnx.helper.make_tensor_value_info(name, kind, [2]) for name in "xz"]
    if fault == "type":
        ends[1] = onnx.helper.make_tensor_value_info("z", onnx.TensorProto.INT64, [2])
    graph = onnx.helper.make_graph([node], "g", ends[:1], ends[1:])
    with pytest.raises(
        UnsupportedOpError, match=r"^to_onnx: the model cannot be written as valid ONNX, so no file was written"
    ):
        _check(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8))
