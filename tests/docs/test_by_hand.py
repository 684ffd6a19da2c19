"""docs/by-hand.md: the passes one after the other give what `quantize` gives."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import tvm

import tvmq
from project import ROOT
from tvmq.demo import load_demo
from tvmq.stages import DECISIONS, INTEGERS, PREPARATION, ROUNDING, SCALING, Choices, run_stages


def test_the_page_gives_the_module_of_quantize() -> None:
    """Its last line compares the two; what it says about floats in between holds."""
    space: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "by-hand.md").read_text(), re.DOTALL):
        exec(block, space)
    feed = {"image": load_demo().calibration[:1]}
    floats = tvmq.build(space["rounded"]).run(feed)[0]
    assert np.abs(floats - tvmq.build(space["integers"]).run(feed)[0]).max() < 0.1 * np.abs(floats).max()


@pytest.mark.parametrize("options", [
    {"nbit_weight": 4, "equalization": True}, {"calibrate_mode": "percentile", "weight_rounding": "nearest"},
    {"rules": [tvmq.Rule("/head/*", activations="dynamic")]}, {"residual_streams": "int16", "bias_correction": False},
])  # fmt: skip
def test_stages_with_options_give_the_module_of_quantize(options: dict[str, Any]) -> None:
    demo = load_demo()
    mod, params = tvmq.from_onnx(demo.model, shape={"image": (1, 1, 16, 16)})
    data = demo.calibration[:16]
    with tvmq.qconfig(**options) as config:
        annotated = run_stages(mod, PREPARATION + SCALING + DECISIONS, Choices(config, params=params))
        found = tvmq.run_calibration(annotated, dataset=data)
        integers = run_stages(annotated, ROUNDING + INTEGERS, Choices(config, calibration=found))
        tvm.ir.assert_structural_equal(integers, tvmq.quantize(mod, params, data, guard=None))
