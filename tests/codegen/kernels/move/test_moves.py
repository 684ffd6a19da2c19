"""Kernels that move values: other ranks and types against NumPy, and refusals."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from tests.codegen.kernels.cases import SCALE, Case, check, codes
from tvmq.codegen.kernels.isa import isa_named
from tvmq.codegen.kernels.move.concat import concat
from tvmq.codegen.kernels.move.constant_pad import pad
from tvmq.codegen.kernels.move.repeat_pixels import repeat_pixels
from tvmq.codegen.kernels.move.transpose import dequantize_to_nchw, quantize_to_nhwc, to_nchw, to_nhwc
from tvmq.errors import BuildError


def test_factors_that_repeat_nothing_are_refused() -> None:
    with pytest.raises(BuildError, match=r"factors must be at least 1. Got \(2, 0\)"):
        repeat_pixels((1, 3, 4, 5), (2, 0), isa_named("generic"))


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


def test_floats() -> None:
    parts = [np.random.default_rng(i).normal(size=(2, 3, n)).astype(np.float32) for i, n in enumerate((5, 33))]
    shapes = [part.shape for part in parts]
    expected = np.concatenate(parts, 2)
    check(Case("float", lambda isa: concat(shapes, 2, isa, "float32"), tuple(parts), expected), "generic")


def test_what_does_not_fit_is_refused_by_concat() -> None:
    isa = isa_named("generic")
    with pytest.raises(BuildError, match="shapes must agree but for axis 1"):
        concat([(2, 3), (3, 3)], 1, isa)
    with pytest.raises(BuildError, match="256 entries of uint8, 8 bits each. Got 256 of int8"):
        concat([(2, 3), (2, 3)], 1, isa, "uint8", [None, np.zeros(256, np.int8)])


def test_what_does_not_fit_is_refused_by_transpose() -> None:
    isa = isa_named("generic")
    with pytest.raises(BuildError, match="takes rank 4 and int8, uint8"):
        to_nhwc((2, 3, 4), isa)
    with pytest.raises(BuildError, match="of float16 instead"):
        to_nchw((1, 2, 3, 4), isa, "float16")
    with pytest.raises(BuildError, match="takes one scale"):
        quantize_to_nhwc((1, 2, 3, 4), [SCALE, 1], 0, isa)
    with pytest.raises(BuildError, match="one zero point. Got uint8 and 2 of them"):
        dequantize_to_nchw((1, 2, 3, 4), "uint8", SCALE, [0, 1], isa)
