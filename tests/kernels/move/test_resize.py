"""Nearest resize kernels (see copy_cases), and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest

from tests.kernels.cases import WIDTHS, Case, check, copy_cases
from tvmq.errors import BuildError
from tvmq.kernels.isa import isa_named
from tvmq.kernels.move.depth_to_space import resize

CASES = [
    case for case in copy_cases([(2, 3, 4, 5), (1, 2, 2, 17), (1, 3, 2, 100), (1, 1, 2, 64)]) if "resize" in case.name
]


@pytest.mark.thinned(3)
@pytest.mark.parametrize("level", WIDTHS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_copies_pixels(case: Case, level: str) -> None:
    check(case, level)


def test_indices_outside_of_the_picture_are_refused() -> None:
    with pytest.raises(BuildError, match=r"columns must be indices in 0..3. Got \[4\]"):
        resize((1, 3, 4, 5), np.array([2]), np.array([4]), isa_named("generic"))
    with pytest.raises(BuildError, match="rows must be indices in 0..2"):
        resize((1, 3, 4, 5), np.array([-1]), np.array([0]), isa_named("generic"))
