"""Inputs that do not begin with the batch, such as the first state of an LSTM: one array for all samples."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import tvmq

STEPS, INPUTS, HIDDEN = 5, 4, 8


@pytest.fixture
def lstm(tmp_path: Path) -> Path:
    """x [batch, steps, inputs], states [1, batch, hidden]; weights are sines. The states are given twice, as two layers."""
    weights = {
        name: np.sin(np.arange(4 * HIDDEN * size) + 1).astype(np.float32).reshape(1, 4 * HIDDEN, size)
        for name, size in (("w", INPUTS), ("r", HIDDEN))
    }
    constants = {**weights, "ones": np.array([1, 1]), "axis": np.array([1])}
    nodes = [
        helper.make_node("Transpose", ["x"], ["turned"], perm=[1, 0, 2]),
        helper.make_node("Split", ["h_first", "ones"], ["h_a", "h_b"], axis=0),
        helper.make_node("Split", ["c_first", "ones"], ["c_a", "c_b"], axis=0),
        helper.make_node("Add", ["h_a", "h_b"], ["h"]),
        helper.make_node("Add", ["c_a", "c_b"], ["c"]),
        helper.make_node("LSTM", ["turned", "w", "r", "", "", "h", "c"], ["steps"], hidden_size=HIDDEN),
        helper.make_node("Squeeze", ["steps", "axis"], ["flat"]),
        helper.make_node("Transpose", ["flat"], ["y"], perm=[1, 0, 2]),
    ]
    states = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [2, "n", HIDDEN]) for n in ("h_first", "c_first")]
    graph = helper.make_graph(
        nodes, "lstm", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", STEPS, INPUTS]), *states],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", STEPS, HIDDEN])],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )  # fmt: skip
    path = tmp_path / "lstm.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def samples(count: int, states: int) -> dict[str, np.ndarray]:
    x = np.cos(np.arange(count * STEPS * INPUTS)).astype(np.float32).reshape(count, STEPS, INPUTS)
    state = np.sin(np.arange(2 * states * HIDDEN)).astype(np.float32).reshape(2, states, HIDDEN) / 2
    return {"x": x, "h_first": state, "c_first": -state}


def test_one_state_belongs_to_all_samples(cli: Any, lstm: Path, tmp_path: Path) -> None:
    arrays = samples(40, 1)
    np.savez(tmp_path / "d.npz", **arrays)
    result = cli("quantize", lstm, "--data", tmp_path / "d.npz", "-o", tmp_path / "m.tvmq", "--no-bench", "--json", "-q")
    assert result.code == 0, result.err
    facts = json.loads(result.out)
    assert facts["inputs"]["h_first"] == f"float32 (2, 1, {HIDDEN})"
    assert facts["comparison"]["outputs"]["y"]["sqnr_db"] > 20
    mod, params = tvmq.from_onnx(str(lstm))
    first = {name: array[:1] if name == "x" else array for name, array in arrays.items()}
    (float_y,), (y,) = tvmq.build(mod, params).run(first), tvmq.load(tmp_path / "m.tvmq").run(first)
    assert 0 < np.abs(y - float_y).max() < 0.1 * np.abs(float_y).max()
    files = tmp_path / "m.tvmq", "--data", tmp_path / "d.npz", "-q"
    assert "exact: yes" in cli("verify", *files, "--samples", 2).out
    assert cli("run", *files, "-o", tmp_path / "r.npz").code == 0
    with np.load(tmp_path / "r.npz") as results:
        assert results["y"].shape == (40, STEPS, HIDDEN)
        assert np.array_equal(results["y"][:1], y)


def test_states_of_many_samples_are_refused_with_the_way_out(cli: Any, lstm: Path, tmp_path: Path) -> None:
    np.savez(tmp_path / "d.npz", **samples(40, 40))
    result = cli("quantize", lstm, "--data", tmp_path / "d.npz", "-o", tmp_path / "m.tvmq", "-q")
    assert result.code == 1
    assert "{'x': 40, 'h_first': 2, 'c_first': 2}; an input whose batch is not the first axis" in result.err
    assert "one array of a batch of 1" in result.err
