"""Changes of layout against NumPy, alone and with a conversion."""

from __future__ import annotations

import pytest

from tests.kernels.cases import SCALE, WIDTHS, Case, check, copy_cases
from tvmq.errors import BuildError
from tvmq.kernels.isa import isa_named
from tvmq.kernels.move.transpose import dequantize_to_nchw, quantize_to_nhwc, to_nchw, to_nhwc

SHAPES = [
    # few rows; fewer pixels than a vector
    *((2, 5, 7, 3), (1, 4, 9, 2), (1, 6, 6, 4), (1, 2, 2, 3)),
    # squares with and without rest, one channel, one pixel
    *((2, 4, 4, 16), (1, 3, 7, 33), (1, 5, 5, 1), (3, 1, 1, 20)),
]
CASES = [case for case in copy_cases(SHAPES) if "nchw" in case.name or "nhwc" in case.name]


@pytest.mark.thinned(3)
@pytest.mark.parametrize("level", WIDTHS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_equals_the_definition(case: Case, level: str) -> None:
    check(case, level)


def test_what_does_not_fit_is_refused() -> None:
    isa = isa_named("generic")
    with pytest.raises(BuildError, match="takes rank 4 and uint8"):
        to_nhwc((2, 3, 4), isa)
    with pytest.raises(BuildError, match="of float16 instead"):
        to_nchw((1, 2, 3, 4), isa, "float16")
    with pytest.raises(BuildError, match="takes one scale"):
        quantize_to_nhwc((1, 2, 3, 4), [SCALE, 1], 0, isa)
    with pytest.raises(BuildError, match="one zero point. Got uint8 and 2 of them"):
        dequantize_to_nchw((1, 2, 3, 4), "uint8", SCALE, [0, 1], isa)
