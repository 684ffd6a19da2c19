"""compare_table: thresholds against a comparison of all pairs of codes in exact fractions."""

from __future__ import annotations

import operator
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tvmq import numerics
from tvmq.errors import ConfigError
from tvmq.numerics.spec import QParams, QuantSpec

RESULTS = {
    "greater": (np.greater_equal, operator.lt),  # y >= t where x < y
    "greater_equal": (np.greater_equal, operator.le),
    "equal": (np.equal, operator.eq),
}


@st.composite
def sides(draw: st.DrawFn) -> QParams:
    spec = QuantSpec(draw(st.sampled_from(["uint8", "int8"])))
    limits = np.iinfo(spec.dtype)
    scale = draw(st.sampled_from([0.5, 1.0, 0.25, 3.0]) | st.floats(2.0**-10, 2.0**10, width=32))
    return QParams(np.float32(scale), np.int32(draw(st.integers(limits.min, limits.max))), spec)


def real(qparams: QParams) -> tuple[np.ndarray, list[Fraction]]:
    limits = np.iinfo(qparams.spec.dtype)
    codes = np.arange(limits.min, limits.max + 1)[::5]
    return codes.astype(qparams.spec.dtype), [
        (int(c) - int(qparams.zero_point)) * Fraction(float(qparams.scale)) for c in codes
    ]


@pytest.mark.slow
@pytest.mark.parametrize("kind", RESULTS)
@given(sides(), sides())
@settings(deadline=None, max_examples=25)
def test_all_pairs(kind: str, x: QParams, y: QParams) -> None:
    on_codes, on_reals = RESULTS[kind]
    (x_codes, x_reals), (y_codes, y_reals) = real(x), real(y)
    thresholds = numerics.table(x_codes, numerics.compare_table(kind, x, y))
    found = on_codes(y_codes.astype(np.int16)[None], thresholds[:, None])
    expected = [[on_reals(a, b) for b in y_reals] for a in x_reals]
    np.testing.assert_array_equal(found, expected)


def test_refusals() -> None:
    side, wide = QParams(0.5, 0, QuantSpec()), QParams(0.5, 0, QuantSpec("int16", 16))
    with pytest.raises(ConfigError, match="must be one of greater, greater_equal, equal. Got less"):
        numerics.compare_table("less", side, side)
    with pytest.raises(ConfigError, match="8-bit codes of one scale. Got int16"):
        numerics.compare_table("equal", side, wide)
