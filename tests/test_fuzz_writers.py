"""Random graphs through every writer and training; `python benchmarks/fuzz.py --writers` runs hundreds."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import numpy_helper

import tvmq
from tests.support.fuzz.writers import options_of, run_writers
from tests.support.random.graphs import random_inputs, random_model
from tests.support.written_layers import Differs, check_onnx
from tvmq.formats.onnx.exporter.dialects import ONNXRUNTIME
from tvmq.formats.onnx.exporter.writer import OnnxWriter
from tvmq.graph.module_functions import plain_module

# pooled 16-bit tables, resized codes, recurrent states given and not, codes of two widths, an integral core
SEEDS = (4, 32, 34, 36, 40)


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_each_writer_gives_the_values_of_the_definition_or_refuses_in_a_sentence(seed: int) -> None:
    outcomes = list(run_writers(seed))
    assert outcomes
    assert not [f"{one.writer} {one.kind}: {one.text}" for one in outcomes if one.failed]


@pytest.mark.slow
def test_a_scale_that_is_wrong_by_two_percent_is_found() -> None:
    source = random_model(5)
    with tvmq.qconfig(**options_of(5)):
        module = tvmq.quantize(*tvmq.from_onnx(source), random_inputs(source, 0, 4), guard=None)
    feed = random_inputs(source, 1, 1)[0]
    model = OnnxWriter(plain_module(module)).run()
    assert check_onnx(module, model, ONNXRUNTIME, feed)
    for scale in [array for array in model.graph.initializer if array.name.endswith("_scale")]:
        right = numpy_helper.to_array(scale)
        scale.CopyFrom(numpy_helper.from_array(right * np.float32(1.02), scale.name))
        with pytest.raises(Differs):
            check_onnx(module, model, ONNXRUNTIME, feed)
        scale.CopyFrom(numpy_helper.from_array(right, scale.name))
