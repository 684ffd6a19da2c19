"""Comparisons, maxima and minima of booleans against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from tvm import relax

import tvmq
from tvmq.codegen.compile.legalize.truth_values import COMPARISONS

LEFT, RIGHT = (np.random.default_rng(seed).random(shape) > 0.5 for seed, shape in enumerate([(5, 5, 1), (5, 2)]))


@pytest.mark.parametrize("name", [*COMPARISONS, "maximum", "minimum", "max", "min"])
def test_truth_values_are_ordered_as_in_numpy(name: str) -> None:
    builder = relax.BlockBuilder()
    params = [relax.Var(key, relax.TensorType(value.shape, "bool")) for key, value in (("x", LEFT), ("y", RIGHT))]
    arguments = params[:1] if name in ("max", "min") else params
    options = {"axis": 0, "keepdims": True} if name in ("max", "min") else {}
    with builder.function("main", params, {"num_input": 2}):
        with builder.dataflow():
            result = builder.emit_output(getattr(relax.op, name)(*arguments, **options))
        builder.emit_func_output(result)
    (ours,) = tvmq.build(builder.get()).run({"x": LEFT, "y": RIGHT})
    wanted = getattr(np, name)(*(LEFT, RIGHT)[: len(arguments)], **options)
    assert ours.dtype == bool
    np.testing.assert_array_equal(ours, wanted)
