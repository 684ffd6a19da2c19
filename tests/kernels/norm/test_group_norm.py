"""Norm kernels against the definition: equal bits, rows around the length of vectors, one position and several."""

from __future__ import annotations

import numpy as np
import pytest

from tests.kernels.cases import WIDTHS, Case, check, norm_cases
from tvmq import numerics
from tvmq.kernels.norm.group_norm import Norm, group_norm

NORMS = [
    *(Norm(3, length, epsilon=1e-12) for length in (1, 2, 7, 15, 16, 17, 31, 33, 100, 384)),
    *(Norm(3, length, centred=False) for length in (1, 5, 16, 47, 128)),
    Norm(2, 6, 5, 3),
    Norm(3, 4, 3 * 7, 1, 0.1),
    Norm(1, 8, 16, 2),
    Norm(2, 5, 33, 5),
    Norm(2, 12, 1, 3),
    Norm(2, 3, 1, 3),
]
CASES = list(norm_cases(NORMS))


@pytest.mark.thinned(6)
@pytest.mark.parametrize("level", WIDTHS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_equals_the_definition(case: Case, level: str) -> None:
    check(case, level)


@pytest.mark.thinned(3)
@pytest.mark.parametrize("level", WIDTHS)
@pytest.mark.parametrize("centred", [True, False])
def test_rows_of_special_values(level: str, centred: bool) -> None:
    x = np.tile(np.float32([[0.0], [-0.0], [7], [1e-45], [3e38], [np.nan], [np.inf]]), 35)
    x[4:6, 1::2] *= np.float32(-1)
    gamma, beta = np.random.default_rng(0).normal(size=(2, 35)).astype(np.float32)
    gamma[0] = 0.0
    inputs = (x[..., None], gamma, beta) if centred else (x[..., None], gamma)
    expected = numerics.layer_norm(x, gamma, beta) if centred else numerics.rms_norm(x, gamma)
    norm = Norm(7, 35, centred=centred)
    check(Case("special", lambda isa: group_norm(norm, isa), inputs, expected[..., None]), level)
