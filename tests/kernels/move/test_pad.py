"""Padding kernels against NumPy."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from tests.kernels.cases import WIDTHS, Case, check, codes, copy_cases
from tvmq.errors import BuildError
from tvmq.kernels.isa import isa_named
from tvmq.kernels.move.concat import pad

CASES = [
    case for case in copy_cases([(2, 3, 4, 5), (1, 2, 2, 17), (1, 3, 2, 100), (1, 1, 2, 64)]) if "pad" in case.name
]


@pytest.mark.thinned(3)
@pytest.mark.parametrize("level", WIDTHS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_pictures(case: Case, level: str) -> None:
    check(case, level)


@pytest.mark.parametrize(
    "shape,width", [((5,), ((2, 70),)), ((3, 4), ((0, 0), (0, 0))), ((2, 3, 4), ((1, 2), (0, 0), (3, 1)))]
)
@pytest.mark.parametrize("value", [-128, 5])
def test_other_ranks(shape: tuple[int, ...], width: tuple, value: int) -> None:
    x = codes(shape, "int8")
    expected = np.pad(x, width, constant_values=value)
    check(Case("pad", partial(pad, shape, width, value, dtype="int8"), (x,), expected), "generic")


def test_what_does_not_fit_is_refused() -> None:
    isa = isa_named("generic")
    with pytest.raises(BuildError, match=r"\(\(1, -1\),\) does not pad"):
        pad((4,), ((1, -1),), 0, isa)
    with pytest.raises(BuildError, match="does not pad an array of shape"):
        pad((4, 4), ((1, 1),), 0, isa)
    with pytest.raises(BuildError, match="uint8 does not hold -1"):
        pad((4,), ((1, 1),), -1, isa)
