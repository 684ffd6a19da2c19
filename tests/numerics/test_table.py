"""table, make_table, rescale_table."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.numerics.strategies import codes, quick
from tvmq import numerics
from tvmq.errors import ConfigError, RangeError
from tvmq.numerics.spec import QParams, QuantSpec

FUNCTIONS = {
    "relu": lambda x: max(x, 0.0),
    "leaky relu": lambda x: x if x > 0 else 0.01 * x,
    "square": lambda x: x * x,
    "identity": lambda x: x,
}
SPECS = [QuantSpec(), QuantSpec("int8"), QuantSpec("int8", symmetric=True), QuantSpec("uint8", bits=4)]


@st.composite
def qparams(draw: st.DrawFn, specs: list[QuantSpec] = SPECS) -> QParams:
    spec = draw(st.sampled_from(specs))
    zero_point = (
        0
        if spec.symmetric
        else draw(st.one_of(st.sampled_from([spec.qmin, spec.qmax]), st.integers(spec.qmin, spec.qmax)))
    )
    return QParams(draw(st.floats(2.0**-30, 2.0**30, width=32)), zero_point, spec)


@pytest.mark.slow
@pytest.mark.thinned(2)
@pytest.mark.parametrize("dtype", ["uint8", "int8"])
@pytest.mark.parametrize("out", ["uint8", "int8", "int16", "float32"])
@given(st.data())
@quick
def test_table_equals_indexing(dtype, out, data):
    values = np.random.default_rng(0).integers(0, 128, 256).astype(out)
    q = data.draw(codes(dtype, (2, 3)))
    result = numerics.table(q, values)
    assert result.dtype == out and result.shape == q.shape
    assert result.tolist() == [[values[int(c) - int(np.iinfo(dtype).min)].item() for c in row] for row in q]


def test_table_takes_views_and_scalars():
    q = np.arange(12, dtype=np.int8).reshape(3, 4)
    values = np.arange(256).astype(np.uint8)
    assert numerics.table(q.T[::2], values).tolist() == (q.T[::2].astype(int) + 128).tolist()
    assert numerics.table(np.int8(-1), values).shape == () and numerics.table(q[:0], values).shape == (0, 4)


@pytest.mark.slow
@pytest.mark.thinned(2)
@pytest.mark.parametrize("name", FUNCTIONS)
@given(qparams(), qparams())
@quick
def test_make_table_equals_the_slow_definition(name, x, y):
    function = FUNCTIONS[name]
    values = numerics.make_table(np.vectorize(function, otypes=[float]), x, y)
    low = int(np.iinfo(x.spec.dtype).min)
    assert values.dtype == y.spec.dtype and values.shape == (256,)
    for index, value in enumerate(values):
        real = float(np.float32(low + index - int(x.zero_point)) * np.float32(x.scale))
        steps = round(float(np.float32(function(real)) / np.float32(y.scale))) + int(y.zero_point)
        assert int(value) == min(max(steps, y.spec.qmin), y.spec.qmax)


def test_a_tie_is_that_of_the_float32_quotient():
    """3.0 lies between codes 127 and 128 of 6 / 255: in float32 at 127.5, in float64 at 127.4999997."""
    x, y = QParams(0.1, 10, QuantSpec()), QParams(np.float32(6 / 255), 0, QuantSpec())
    values = numerics.make_table(lambda real: real + 3.0, x, y)
    assert np.float64(3.0) / np.float64(y.scale) < 127.5
    assert values[10] == numerics.quantize(np.float32(3.0), y.scale, 0, dtype="uint8") == 128


@pytest.mark.slow
@given(qparams(SPECS[:3]))
@quick
def test_rescaling_to_the_same_parameters_keeps_every_code(x):
    limits = np.iinfo(x.spec.dtype)
    codes_in_use = np.arange(x.spec.qmin, x.spec.qmax + 1)
    values = numerics.rescale_table(x, x)
    assert np.array_equal(values[codes_in_use - limits.min], codes_in_use)


def test_sigmoid_golden():
    x, y = QParams(0.0625, 128, QuantSpec()), QParams(np.float32(1 / 255), 0, QuantSpec())
    values = numerics.make_table(lambda real: 1 / (1 + np.exp(-real)), x, y)
    assert values[[0, 64, 112, 128, 144, 192, 255]].tolist() == [0, 5, 69, 127, 186, 250, 255]
    # 127 and not 128 in the middle: float32(1 / 255) lies above 1 / 255, so 0.5 is just below 127.5 steps


def test_infinities_clip_and_nan_is_refused():
    x, y = QParams(1.0, 128, QuantSpec()), QParams(1.0, 0, QuantSpec("int8"))
    values = numerics.make_table(lambda real: np.exp(real * 100), x, y)
    assert values[0] == 0 and values[255] == 127
    with pytest.raises(RangeError, match=r"the function gives NaN at -128 \(code 0\)"):
        numerics.make_table(np.sqrt, x, y)


@pytest.mark.parametrize(("call", "message"), [
    (lambda: numerics.table(np.zeros(1, np.int16), np.zeros(256)), "codes must be uint8 or int8. Got int16"),
    (lambda: numerics.table(np.zeros(1, np.int8), np.zeros(255)), r"shape \(256,\). Got \(255,\)"),
    (
        lambda: numerics.rescale_table(QParams(1.0, 0, QuantSpec("int16", 16)), QParams(1.0, 0, QuantSpec())),
        "the input must be uint8 or int8. Got int16",
    ),
    (
        lambda: numerics.rescale_table(
            QParams(1.0, 0, QuantSpec()), QParams([1.0], 0, QuantSpec("int8", per_channel=True), 0)
        ),
        "the output must be quantized per tensor. Got 1 scales",
    ),
    (
        lambda: numerics.make_table(lambda x: x[:3], QParams(1.0, 0, QuantSpec()), QParams(1.0, 0, QuantSpec())),
        r"must give 256 values. Got shape \(3,\)",
    ),
])  # fmt: skip
def test_bad_tables_are_refused(call, message):
    with pytest.raises(ConfigError, match=message):
        call()
