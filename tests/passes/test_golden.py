"""Printed text of each stage of three tiny networks, against golden files."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import tvmq
from tests.passes.nets import NETS
from tests.passes.stages import every_stage
from tests.support.models.networks import bare

STAGES = ["prepare", "annotate", "calibrate", "fold_constants"]


@pytest.mark.slow_cases("squeeze_excite-prepare", "squeeze_excite-calibrate", "squeeze_excite-fold_constants")
@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("name", ["conv_relu", "residual", "squeeze_excite"])
def test_printed_stage(golden: Callable[[str], None], name: str, stage: str) -> None:
    made, outputs = NETS[name]()
    mod, params = tvmq.from_onnx(made.model(*outputs))
    golden(bare(every_stage(mod, params)[stage]).script() + "\n")
