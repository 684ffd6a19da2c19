"""Product kernels against the definition."""

from __future__ import annotations

import numpy as np
import pytest

from tests.kernels.cases import WIDTHS, Case, check, multiply_cases
from tvmq import numerics
from tvmq.errors import BuildError
from tvmq.kernels.elementwise.multiply import multiply
from tvmq.kernels.isa import isa_named
from tvmq.kernels.parts.types import Requantize

CASES = list(
    multiply_cases(
        [
            ((2, 5, 3, 24), (2, 1, 1, 24)),
            ((1, 4, 4, 70), (1, 1, 1, 70)),
            ((2, 3, 3, 17), (1, 1, 1, 17)),
            # rows that are repeated until they fill whole vectors, and tails of a vector
            ((2, 6, 7, 88), (2, 1, 1, 88)),
            ((1, 7, 9, 8), (1, 1, 1, 8)),
            ((1, 5, 7, 40), (1, 1, 1, 40)),
            ((1, 40, 200), (200,)),
            ((2, 3, 5, 7), (2, 3, 5, 7)),
            ((2, 3, 5, 33), (2, 3, 5, 1)),
            ((2, 3, 5, 5), (1,)),
            ((3, 64), (1, 64)),
            ((4, 3, 2), (1, 3, 1)),
            ((1,), (1,)),
        ]
    )
)


@pytest.mark.thinned(3)
@pytest.mark.parametrize("level", WIDTHS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_equals_the_definition(case: Case, level: str) -> None:
    check(case, level)


@pytest.mark.parametrize("level", WIDTHS)
def test_all_pairs_of_codes(level: str) -> None:
    bits = np.arange(256, dtype=np.uint8)
    a, b = np.repeat(bits, 256), np.tile(bits, 256)
    step = Requantize(np.float32(1 / 256), 128, 0, 255)
    expected = numerics.requantize(
        numerics.multiply(a, b, a_zero=100, b_zero=200), step.multiplier, zero_point=128, dtype="uint8"
    )
    make = lambda isa: multiply(a.shape, b.shape, step, isa, a_zero=100, b_zero=200)  # noqa: E731
    check(Case("all", make, (a, b), expected), level)


def test_what_does_not_fit_is_refused() -> None:
    isa, step = isa_named("generic"), Requantize(np.float32(0.5), 0, 0, 255)
    with pytest.raises(BuildError, match=r"\(1, 5\) does not broadcast to \(1, 1\); swap"):
        multiply((1, 1), (1, 5), step, isa, a_zero=0, b_zero=0)
    with pytest.raises(BuildError, match="Got int16, uint8"):
        multiply((4,), (4,), step, isa, a_zero=0, b_zero=0, a_dtype="int16")
    with pytest.raises(BuildError, match="one multiplier. Got uint8, uint8 and 2"):
        multiply((2,), (2,), Requantize(np.float32([1, 2]), 0, 0, 255), isa, a_zero=0, b_zero=0)
