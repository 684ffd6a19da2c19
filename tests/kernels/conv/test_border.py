"""The kernel that puts a pixel around pictures, against NumPy."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from tests.kernels.cases import WIDTHS, Case, check, codes
from tvmq.errors import BuildError
from tvmq.kernels.conv.stack_depth import add_border
from tvmq.kernels.isa import isa_named

SHAPES = [((1, 3, 5, 70), (1, 1, 1, 1)), ((2, 2, 1, 7), (0, 2, 1, 0)), ((1, 1, 1, 3), (2, 0, 0, 1))]


@pytest.mark.parametrize("level", WIDTHS)
@pytest.mark.parametrize("shape,padding", SHAPES)
def test_equals_numpy(shape: tuple[int, ...], padding: tuple[int, int, int, int], level: str) -> None:
    top, left, bottom, right = padding
    x, pixel = codes(shape, "uint8"), codes(shape[-1:], "uint8", 1)
    expected = np.empty((shape[0], shape[1] + top + bottom, shape[2] + left + right, shape[3]), np.uint8)
    expected[:] = pixel
    expected[:, top : top + shape[1], left : left + shape[2]] = x
    check(Case("frame", partial(add_border, shape, padding, pixel), (x,), expected), level)


def test_another_pixel_is_refused() -> None:
    with pytest.raises(BuildError, match=r"pixel of 4 channels .* Got \(3,\) and \(1, 1, 1, 1\)"):
        add_border((1, 2, 2, 4), (1, 1, 1, 1), np.zeros(3, np.uint8), isa_named("generic"))
