"""Kernels of quantize, dequantize and requantize: ties at any scale, views, keys, refusals."""

from __future__ import annotations

import numpy as np
import pytest

from tests.codegen.kernels.cases import WIDTHS, Case, check
from tvmq import numerics
from tvmq.codegen.kernels.elementwise.convert import dequantize, quantize, quantize_view, requantize
from tvmq.codegen.kernels.isa import isa_named
from tvmq.codegen.kernels.parts.kernel_types import Requantize
from tvmq.errors import BuildError


@pytest.mark.thinned(3)
@pytest.mark.parametrize("level", WIDTHS)
@pytest.mark.parametrize("scale", [1.1754944e-38, 0.1, 1 / 3, 1e30, 3e38])
def test_quantize_divides_at_any_scale(level: str, scale: float) -> None:
    """Around every tie between two codes, where a product with 1 / scale would round otherwise."""
    scale = np.float32(scale)
    with np.errstate(over="ignore"):
        ties = (np.arange(-140, 140) + np.float32(0.5)).astype(np.float32) * scale
    x = np.concatenate([ties, np.nextafter(ties, np.float32(np.inf)), np.nextafter(ties, np.float32(-np.inf))])
    expected = numerics.quantize(x, scale, 3, dtype="int8")
    check(Case("ties", lambda isa: quantize(x.shape, scale, 3, isa, dtype="int8"), (x,), expected), level)


@pytest.mark.parametrize("level", WIDTHS)
@pytest.mark.parametrize("sizes", [(2, 5, 3, 4, 24), (1, 9, 3, 2, 70), (1, 1, 3, 1, 1)])
def test_quantize_reads_views(level: str, sizes: tuple[int, ...]) -> None:
    """Views: a third of the channels, heads in front of rows, as attention slices and transposes them."""
    x = np.random.default_rng(3).normal(size=sizes).astype(np.float32)
    view = x.transpose(2, 0, 3, 1, 4)[1]
    strides = tuple(step // 4 for step in view.strides)
    place = (sizes[3] * sizes[4], view.shape, strides)
    expected = numerics.quantize(view, np.float32(0.03), 7, dtype="uint8", qmin=0, qmax=255)
    made = lambda isa: quantize_view(sizes, place, 0.03, (7, 0, 255, "uint8"), isa)  # noqa: E731
    check(Case("view", made, (x,), expected), level)


def test_scales_are_constants_and_no_part_of_the_key() -> None:
    isa = isa_named("avx2")
    assert quantize((4,), 0.5, 3, isa).key == quantize((4,), 0.25, 3, isa).key
    assert quantize((4,), 0.5, 3, isa).key != quantize((4,), 0.5, 4, isa).key
    assert dequantize((4,), "uint8", 0.5, 3, isa).key == dequantize((4,), "uint8", 0.1, 9, isa).key
    steps = [Requantize(np.float32([m]), 0, 0, 255) for m in (1e-3, 2e-3)]
    assert requantize((4,), steps[0], isa).key == requantize((4,), steps[1], isa).key


def test_what_does_not_fit_is_refused() -> None:
    isa = isa_named("generic")
    with pytest.raises(BuildError, match="codes must be one of uint8, int8, int16. Got int32 instead"):
        quantize((4,), 0.5, 0, isa, dtype="int32")
    with pytest.raises(BuildError, match="takes one scale. Got 2 different ones"):
        quantize((2,), [0.5, 0.25], 0, isa)
    with pytest.raises(BuildError, match="takes uint8, int8, int16 or int32. Got float32"):
        dequantize((2,), "float32", 0.5, 0, isa)
    with pytest.raises(BuildError, match=r"the last axis of \(4, 2\). Got 3 instead"):
        dequantize((4, 2), "uint8", [0.5, 0.25, 1], 0, isa)
    with pytest.raises(BuildError, match="3 scales do not go with 2 zero points"):
        dequantize((4, 3), "uint8", [0.5, 0.25, 1], [0, 1], isa)
