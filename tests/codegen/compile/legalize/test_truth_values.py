"""Comparisons, maxima and minima of booleans against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from tvm import relax

import tvmq
from tests.support.models.built_modules import build_module
from tvmq.codegen.compile.legalize.truth_values import COMPARISONS

LEFT, RIGHT = (np.random.default_rng(seed).random(shape) > 0.5 for seed, shape in enumerate([(5, 5, 1), (5, 2)]))


@pytest.mark.parametrize("name", [*COMPARISONS, "maximum", "minimum", "max", "min"])
def test_truth_values_are_ordered_as_in_numpy(name: str) -> None:
    feed, options = {"x": LEFT, "y": RIGHT}, {}
    if name in ("max", "min"):
        feed, options = {"x": LEFT}, {"axis": 0, "keepdims": True}
    mod = build_module(feed, lambda _, *arguments: getattr(relax.op, name)(*arguments, **options))
    (ours,) = tvmq.build(mod).run(feed)
    wanted = getattr(np, name)(*feed.values(), **options)
    assert ours.dtype == bool
    np.testing.assert_array_equal(ours, wanted)
