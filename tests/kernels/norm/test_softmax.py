"""Softmax kernels against the definition: equal bits, also for infinities, NaN and denormals."""

from __future__ import annotations

import numpy as np
import pytest

from tests.kernels.cases import WIDTHS, Case, check, softmax_cases
from tvmq import numerics
from tvmq.kernels.norm.softmax import softmax

SHAPES = [
    ((5, 10), -1),
    ((3, 7, 5), 1),
    ((4, 16), 0),
    ((2, 33, 3), 1),
    ((6, 1), 1),
    ((3, 15), -1),
    ((7, 128), -1),
]
CASES = list(softmax_cases(SHAPES))


@pytest.mark.thinned(3)
@pytest.mark.parametrize("level", WIDTHS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_equals_the_definition(case: Case, level: str) -> None:
    check(case, level)


@pytest.mark.parametrize("level", WIDTHS)
def test_exp_over_its_whole_range(level: str) -> None:
    """Rows that begin with 0, the largest: the others are exp of what stands there, over the sum."""
    x = np.linspace(-90, 0, 40_000, dtype=np.float32).reshape(200, 200)
    x[:, 0] = 0
    check(Case("exp", lambda isa: softmax(x.shape, isa), (x,), numerics.softmax(x)), level)


@pytest.mark.parametrize("level", WIDTHS)
def test_rows_of_special_values(level: str) -> None:
    inf, nan, most = np.inf, np.nan, np.finfo(np.float32).max
    x = np.float32([[-inf] * 3, [nan] * 3, [inf, inf, 0], [nan, 0, 1], [most, -most, inf], [-0.0, 0.0, 1e-45]])
    check(Case("special", lambda isa: softmax(x.shape, isa), (x,), numerics.softmax(x)), level)
