"""Sums and means that stayed float: compiled code has the bits of the definition. Before and after: tests/passes/cases."""

from __future__ import annotations

import numpy as np
import pytest

import tvmq
from tests.passes.test_cases import CASES
from tests.support.models.networks import Net, drive
from tests.support.pass_cases import Case
from tvmq.graph.view import View, shape_of
from tvmq.passes.realize.define_floats import define_floats
from tvmq.reference import Reference


@pytest.mark.slow_cases("sums and means")
@pytest.mark.parametrize(
    "case", [c for c in CASES if c.path.stem == "define_floats" and c.lines.get("After")], ids=lambda case: case.title
)
def test_compiled_sums_are_the_definition(case: Case) -> None:
    found, random = define_floats(case.module("Before")), np.random.default_rng(0)
    feed = {name: random.standard_normal(shape_of(var)).astype(np.float32) for name, var in View(found).params.items()}
    for ours, defined in zip(tvmq.build(found).run(feed), tvmq.reference.run(found, feed), strict=True):
        np.testing.assert_array_equal(ours, defined)


@pytest.mark.slow
def test_a_float_mean_behind_integers_is_defined() -> None:
    net = Net((1, 3, 6, 6))
    x = net.op("Softmax", net.conv("x", 3, 4), axis=1)
    road = drive(net.model(net.op("ReduceMean", net.op("Exp", x), axes=[2, 3])))
    assert "tvmq.float_sum" in road.operators()
    assert not any("sum" in name for name in Reference(road.quantized).islands)
