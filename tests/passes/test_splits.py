"""Splits of every kind: equal and uneven parts, one part, by indices; definition, compiled code and exported file agree."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper

import tvmq
from tests.formats.importing.frontend_models import make_model
from tests.support.float_products import run_in_float
from tvmq.graph.evaluate import split_indices

WEIGHT = np.random.default_rng(0).standard_normal((4, 7)).astype(np.float32)
SAMPLES = np.random.default_rng(1).standard_normal((32, 4)).astype(np.float32)


def split_model(opset: int, outputs: int, sizes: list[int] | None = None, **attributes: int) -> onnx.ModelProto:
    """x (1, 4) times a weight of 7 columns, split, each part doubled."""
    names = [f"part{i}" for i in range(outputs)]
    constants = {"w": WEIGHT, "two": np.float32(2)}
    inputs = ["m"]
    if sizes is not None:
        constants["sizes"] = np.int64(sizes)
        inputs.append("sizes")
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["m"], "product"),
        helper.make_node("Split", inputs, names, "split", axis=1, **attributes),
        *(helper.make_node("Mul", [name, "two"], [f"y{i}"], f"double{i}") for i, name in enumerate(names)),
    ]
    return make_model(nodes, {"x": ("float32", (1, 4))}, [f"y{i}" for i in range(outputs)], constants, opset)


CASES = {
    "7 in 3": split_model(18, 3, num_outputs=3),
    "7 in 4": split_model(18, 4, num_outputs=4),
    "7 in 1": split_model(18, 1, num_outputs=1),
    "7 as 7": split_model(13, 1, [7]),
    "7 as 2, 1, 4": split_model(13, 3, [2, 1, 4]),
}


@pytest.mark.slow_cases("7 in 3", "7 in 4")
@pytest.mark.parametrize("name", CASES)
def test_definition_and_compiled_code_agree(name: str, tmp_path: Path) -> None:
    model = CASES[name]
    mod, params = tvmq.from_onnx(model)
    feed = {"x": SAMPLES[:1]}
    for ours, theirs in zip(tvmq.build(mod, params=params).run(feed), run_in_float(model, feed), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5)
    integer = tvmq.quantize(mod, params, {"x": SAMPLES}, guard=None)
    assert tvmq.verify(tvmq.build(integer), {"x": SAMPLES[:4]}).exact
    tvmq.to_onnx(integer, tmp_path / "m.onnx")
    written = onnx.load(tmp_path / "m.onnx")
    for ours, theirs in zip(tvmq.reference.run(integer, feed), run_in_float(written, feed), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=0.1)


@pytest.mark.parametrize(
    "sections, size, indices", [(3, 7, [3, 6]), (4, 7, [2, 4, 6]), (1, 7, []), (2, 6, [3]), (5, 7, [2, 4, 6, 7])]
)
def test_first_parts_are_the_longer_ones(sections: int, size: int, indices: list[int]) -> None:
    assert split_indices(sections, size) == indices


def test_one_part_is_the_tensor_itself() -> None:
    mod, params = tvmq.from_onnx(CASES["7 in 1"])
    assert "split" not in tvmq.passes.prepare.prepare(mod, params).script()
