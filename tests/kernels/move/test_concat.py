"""Concat kernels against NumPy and numerics.table."""

from __future__ import annotations

import numpy as np
import pytest

from tests.kernels.cases import Case, check, concat_cases
from tests.kernels.harness import levels
from tvmq.errors import BuildError
from tvmq.kernels.isa import isa_named
from tvmq.kernels.move.concat import concat

LEVELS = levels("generic", "avx2", "avx512bw", "avx512vbmi")
CASES = list(
    concat_cases(
        [
            ([(2, 5, 3, 7), (2, 5, 3, 100), (2, 5, 3, 1)], -1),
            ([(1, 4, 4, 64), (1, 4, 4, 32)], 3),
            ([(2, 3, 4), (2, 5, 4)], 1),
            ([(5,), (70,)], 0),
        ]
    )
)


@pytest.mark.thinned(4)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_equals_the_definition(case: Case, level: str) -> None:
    check(case, level)


def test_floats() -> None:
    parts = [np.random.default_rng(i).normal(size=(2, 3, n)).astype(np.float32) for i, n in enumerate((5, 33))]
    shapes = [part.shape for part in parts]
    expected = np.concatenate(parts, 2)
    check(Case("float", lambda isa: concat(shapes, 2, isa, "float32"), tuple(parts), expected), "generic")


def test_what_does_not_fit_is_refused() -> None:
    isa = isa_named("generic")
    with pytest.raises(BuildError, match="shapes must agree but for axis 1"):
        concat([(2, 3), (3, 3)], 1, isa)
    with pytest.raises(BuildError, match="256 entries of uint8, 8 bits each. Got 256 of int8"):
        concat([(2, 3), (2, 3)], 1, isa, "uint8", [None, np.zeros(256, np.int8)])
