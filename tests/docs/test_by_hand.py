"""The stages called one by one give the result of `quantize`; docs/by-hand.md itself is run by test_docs.py."""

from __future__ import annotations

from typing import Any

import pytest
import tvm

import tvmq
from tests.passes.calibrate.test_outliers import transformer
from tests.support.models.networks import feeds_of
from tvmq.demo import load_demo
from tvmq.quantization.stages import DECISIONS, INTEGERS, PREPARATION, ROUNDING, SCALING, StageContext, run_stages


@pytest.mark.slow
@pytest.mark.parametrize("options", [
    {"nbit_weight": 4, "equalization": True}, {"calibrate_mode": "percentile", "weight_rounding": "nearest"},
    {"rules": [tvmq.Rule("/head/*", activations="dynamic")]}, {"residual_streams": "int16", "bias_correction": False},
])  # fmt: skip
def test_stages_with_options_give_the_module_of_quantize(options: dict[str, Any]) -> None:
    demo = load_demo()
    mod, params = tvmq.from_onnx(demo.model, shape={"image": (1, 1, 16, 16)})
    data = demo.calibration[:16]
    with tvmq.qconfig(weight_scale="lanes", **options) as config:
        annotated = run_stages(mod, PREPARATION + SCALING + DECISIONS, StageContext(config, params=params))
        found = tvmq.run_calibration(annotated, dataset=data)
        integers = run_stages(annotated, ROUNDING + INTEGERS, StageContext(config, calibration=found))
        tvm.ir.assert_structural_equal(integers, tvmq.quantize(mod, params, data, guard=None))


@pytest.mark.slow
def test_channels_that_stand_out_are_found_by_hand_too() -> None:
    n, output = transformer(30.0)
    model = n.model(output)
    mod, params = tvmq.from_onnx(model)
    feeds, config = feeds_of(model), tvmq.qconfig(weight_scale="lanes")
    prepared = run_stages(mod, PREPARATION + SCALING, StageContext(config, params=params))
    outliers = tvmq.find_outliers(prepared, feeds)
    assert len(outliers) >= 2
    annotated = run_stages(prepared, DECISIONS, StageContext(config, outliers=outliers))
    found = tvmq.run_calibration(annotated, dataset=feeds)
    integers = run_stages(annotated, ROUNDING + INTEGERS, StageContext(config, calibration=found))
    tvm.ir.assert_structural_equal(integers, tvmq.quantize(mod, params, feeds, guard=None))
