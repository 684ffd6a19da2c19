"""Padding that is inferred from the number of windows of a pool."""

from __future__ import annotations

import itertools

import pytest

from tests.support.models.networks import block
from tvmq.graph.sizes import covering_padding
from tvmq.graph.view import View, shape_of


@pytest.mark.slow
@pytest.mark.thinned(2)
@pytest.mark.parametrize("ceil_mode", [False, True])
def test_windows_are_as_many_as_tvm_says(ceil_mode: bool) -> None:
    """Rounded down with the padding found, whatever the rule that TVM used; what lies before the picture stays."""
    cases = 0
    for size, kernel, stride, dilation, before, behind in itertools.product(
        (4, 7), (1, 2, 3), (1, 2, 3), (1, 2), (0, 1), (0, 1)
    ):
        span = (kernel - 1) * dilation + 1
        if before >= kernel or behind >= kernel or size + before + behind < span:
            continue
        call = f"R.nn.max_pool2d(x, ({kernel}, 1), ({stride}, 1), ({before}, 0, {behind}, 0), ({dilation}, 1), {ceil_mode})"
        rows = (size + before + behind - span + (stride - 1 if ceil_mode else 0)) // stride + 1
        if ceil_mode and (rows - 1) * stride >= size + before:  # a window that begins behind the picture is left out
            rows -= 1
        mod = block(f'x: R.Tensor((1, 1, {size}, 2), "float32")', f"y = {call}", f'(1, 1, {rows}, 2), "float32"')
        out = shape_of(View(mod).bindings[0][0])
        found = covering_padding((before, 0, behind, 0), (size, 2), out[2:], (kernel, 1), (stride, 1), (dilation, 1))
        assert found[:2] == (before, 0) and found[2] >= 0 and found[3] == 0
        assert (size + found[0] + found[2] - span) // stride + 1 == rows
        if not ceil_mode:
            assert found == (before, 0, behind, 0)
        cases += 1
    assert cases > 50
