"""Explanations of the core of a module in four functions."""

from __future__ import annotations

import pytest

import tvmq
from tests.support.models.networks import Net, feeds_of


def explained(**options: object) -> tvmq.Explanation:
    """A network with a softmax in its middle and a float layer by a rule."""
    n = Net((1, 8))
    y = n.op("Softmax", n.dense("x", 8, 8), axis=-1)
    y = n.dense(n.op("Relu", n.dense(y, 8, 8)), 8, 4)
    model = n.model(y)
    with tvmq.qconfig(calibrate_mode="minmax", **options):
        return tvmq.explain(tvmq.quantize(*tvmq.from_onnx(model), feeds_of(model), guard=None))


@pytest.mark.slow
def test_it_lists_what_keeps_the_core_from_being_integral() -> None:
    found = explained(partition_conversions="enabled")
    lines = [line.strip() for line in found.summary().splitlines()]
    start = lines.index(next(line for line in lines if line.startswith("note: partition_conversions: ")))
    assert lines[start].startswith("note: partition_conversions: quantized_main is not fully integral: tvmq.softmax")
    assert lines[start + 1].startswith("not integral: layer '/softmax_1': tvmq.softmax in float32 (")
    assert "use qconfig(requantize='fixed_point')" in lines[start + 2]
    core = found.to_dict()["core"]
    assert not core["integral"] and len(core["reasons"]) == len(lines) - start - 1
    assert core["entry"] == {"x_q": "uint8"} and core["operators"]["float32"] > 0


@pytest.mark.slow
def test_modules_in_one_function_are_told_as_before() -> None:
    found = explained()
    assert found.core is None and "core" not in found.to_dict() and "integral" not in str(found)
