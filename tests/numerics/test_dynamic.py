"""Dynamic quantization: scales made at run time."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.numerics.strategies import quick
from tvmq import numerics

VALUES = st.lists(st.floats(width=32), min_size=1, max_size=12)


@pytest.mark.slow
@given(st.lists(VALUES, min_size=1, max_size=4), st.sampled_from([127, 7]))
@quick
def test_every_row_by_the_slow_definition(rows, largest_code):
    for row in rows:
        x = np.float32(row)
        scale = numerics.dynamic_scale(x[None], axes=[1], largest_code=largest_code)
        codes = numerics.dynamic_quantize(x[None], scale, largest_code=largest_code)[0]
        seen = [min(abs(float(v)), 3.4028234663852886e38) for v in x if not np.isnan(v)]
        step = np.float32(np.float32(max(seen, default=0.0)) / np.float32(largest_code))
        step = step if step >= 2.0**-126 else np.float32(1)
        assert scale.tolist() == [[step]]
        for value, code in zip(x, codes, strict=True):
            ratio = float(value / step) if not np.isnan(value) else -np.inf
            assert code == max(-largest_code, min(largest_code, round(ratio) if np.isfinite(ratio) else ratio))


@pytest.mark.slow
@given(st.lists(st.floats(-(2.0**100), 2.0**100, width=32), min_size=1, max_size=20))
@quick
def test_the_error_is_at_most_half_a_step(values):
    x = np.float32(values)[None]
    scale = numerics.dynamic_scale(x, axes=[1])
    back = numerics.dynamic_dequantize(numerics.dynamic_quantize(x, scale), scale, np.float32(1))
    assert (np.abs(back.astype(np.float64) - x) <= 0.5001 * scale).all()


def test_axes_and_golden_values():
    x = np.arange(-6, 6, dtype=np.float32).reshape(2, 3, 2)
    assert numerics.dynamic_scale(x, axes=[1, 2], largest_code=1).ravel().tolist() == [6, 5]
    assert numerics.dynamic_scale(x, axes=[2], largest_code=1).shape == (2, 3, 1)
    assert numerics.dynamic_scale(x, axes=[1], largest_code=2).ravel().tolist() == [3, 2.5, 2, 2.5]
    assert numerics.dynamic_scale(np.zeros((2, 0), np.float32), axes=[1]).tolist() == [[1], [1]]


def test_both_scales_are_multiplied_first():
    x_scale, w_scale, acc = np.float32(0.1), np.float32(0.3), np.int32([16777217, -5])
    expected = acc.astype(np.float32) * np.float32(x_scale * w_scale)
    assert numerics.dynamic_dequantize(acc, x_scale, w_scale).tolist() == expected.tolist()
