"""quantize_tensor: the definition by known scales, and the ranges of observers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tests.numerics.strategies import floats, quick
from tests.tensors.strategies import qtensors
from tvmq import numerics
from tvmq.calibration.observers import OBSERVERS, WEIGHT_OBSERVERS
from tvmq.calibration.observers.base import usable_range
from tvmq.errors import ConfigError, DataError, RangeError
from tvmq.numerics.spec import QParams, QuantSpec, choose_qparams
from tvmq.tensors.quantize_tensor import quantize_tensor

WEIGHTS = QuantSpec("int8", symmetric=True, per_channel=True)
X = np.random.default_rng(0).normal(size=(4, 6)).astype(np.float32)


@quick
@given(qtensors(), st.data())
def test_by_known_scales(q, data):
    x = data.draw(hnp.arrays(np.float32, q.shape, elements=floats))
    result, spec = quantize_tensor(x, q.qparams), q.qparams.spec
    codes = numerics.quantize(
        x, q.scale, q.zero_point, axis=q.axis, dtype=spec.dtype, qmin=spec.qmin, qmax=spec.qmax
    )
    np.testing.assert_array_equal(result.codes, codes)
    assert result.qparams == q.qparams


@quick
@given(qtensors())
def test_codes_come_back(q):
    np.testing.assert_array_equal(quantize_tensor(q.dequantize(), q.qparams).codes, q.codes)


@pytest.mark.parametrize("name", OBSERVERS)
def test_observers_of_activations(name):
    q = quantize_tensor(X, name)
    assert q.qparams.axis is None and q.dtype == np.uint8
    if name == "minmax":
        assert q.qparams == choose_qparams(X.min(), X.max(), QuantSpec())


@pytest.mark.parametrize("name", WEIGHT_OBSERVERS)
def test_observers_of_weights(name):
    q = quantize_tensor(X, name, WEIGHTS, axis=1)
    assert q.axis == 1 and q.scale.shape == (6,)
    if name == "max":
        assert q.qparams == choose_qparams(-abs(X).max(0), abs(X).max(0), WEIGHTS, axis=1)
    assert quantize_tensor(X, name, QuantSpec("int8", 4, symmetric=True)).scale.shape == ()


class Halves:
    """An observer of one's own."""

    def thresholds(self, statistics, spec):
        return usable_range(statistics.ranges.low / 2, statistics.ranges.high / 2, spec)


def test_an_observer_of_ones_own():
    assert quantize_tensor(X, Halves()).qparams == choose_qparams(X.min() / 2, X.max() / 2, QuantSpec())


class OneEnd:
    """An observer that gives no range."""

    def thresholds(self, statistics, spec):
        return statistics.ranges.high


@pytest.mark.parametrize(("args", "error", "message"), [
    ((X, OneEnd()), ConfigError, "observer OneEnd: thresholds must give two values, low and high of the range. Got float"),
    ((X, 0.5), ConfigError, "params must be QParams, the name of an observer or an object with thresholds. Got float"),
    ((X, "minmx"), ConfigError, "did you mean 'minmax'"),
    ((X, "minmax", WEIGHTS), ConfigError, "an observer of activations chooses one range; take one of weights for chan"),
    ((X, QParams(0.5, 3, QuantSpec()), WEIGHTS), ConfigError, "QParams have a spec and an axis already"),
    ((X, "max", WEIGHTS), ConfigError, "axis=None with a spec that is per_channel; give both or neither"),
    (("abc", "minmax"), DataError, "x must be real numbers: could not convert"),
    ((X[:0], "minmax"), DataError, "an observer needs values, x has none; give QParams"),
    ((X * np.nan, "minmax"), RangeError, "NaN"),
    ((X * np.nan, "max"), RangeError, "NaN"),
])  # fmt: skip
def test_what_does_not_fit(args, error, message):
    with pytest.raises(error, match=message):
        quantize_tensor(*args)


def test_an_axis_without_channels():
    with pytest.raises(ConfigError, match="axis=0 with a spec that is not per_channel; give both or neither"):
        quantize_tensor(X, "max", QuantSpec("int8"), axis=0)
