"""Multiply-accumulates against counts by hand."""

from __future__ import annotations

import pytest

from tests.support.models.networks import block
from tvmq.graph.analysis.float_region_costs import multiply_accumulates
from tvmq.graph.view import View


@pytest.mark.parametrize("x, w, call, result, expected", [
    ((2, 4, 5, 6), (8, 4, 3, 3), "R.nn.conv2d(x, w, padding=1)", (2, 8, 5, 6), 2 * 8 * 30 * 4 * 9),
    ((1, 4, 5, 6), (4, 1, 3, 3), "R.nn.conv2d(x, w, groups=4)", (1, 4, 3, 4), 4 * 12 * 9),
    ((1, 4, 9), (6, 2, 3), "R.nn.conv1d(x, w, strides=2, groups=2)", (1, 6, 4), 6 * 4 * 2 * 3),
    ((1, 2, 3, 3, 3), (5, 2, 2, 2, 2), "R.nn.conv3d(x, w)", (1, 5, 2, 2, 2), 5 * 8 * 2 * 8),
    ((1, 4, 3, 3), (4, 5, 2, 2), "R.nn.conv2d_transpose(x, w, strides=2)", (1, 5, 6, 6), 36 * 5 * 4),
    ((2, 3, 4), (4, 5), "R.matmul(x, w)", (2, 3, 5), 2 * 3 * 5 * 4),
    ((2, 3, 4), (2, 4, 7), "R.matmul(x, w)", (2, 3, 7), 2 * 3 * 7 * 4),
    ((2, 3), (2, 3), "R.add(x, w)", (2, 3), 0),
])  # fmt: skip
def test_counts(x: tuple, w: tuple, call: str, result: tuple, expected: int) -> None:
    mod = block(f'x: R.Tensor({x}, "float32"), w: R.Tensor({w}, "float32")', f"y = {call}", f'{result}, "float32"')
    assert multiply_accumulates(View(mod).bindings[0][1]) == expected
