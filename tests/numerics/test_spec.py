"""QuantSpec, QParams, choose_qparams: invariants, messages, corners."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tvmq.errors import ConfigError, RangeError
from tvmq.numerics.spec import SMALLEST_NORMAL, QParams, QuantSpec, choose_qparams

SPECS = [
    QuantSpec(dtype, bits, symmetric)
    for dtype, widest in (("uint8", 8), ("int8", 8), ("int16", 16))
    for bits in range(2, widest + 1)
    for symmetric in (False, True)
    if not (symmetric and dtype == "uint8")
]
PER_CHANNEL = QuantSpec("int8", symmetric=True, per_channel=True)
finite = st.floats(-(2.0**126), 2.0**126, width=32)


@pytest.mark.parametrize(("spec", "low", "high"), [
    (QuantSpec(), 0, 255),
    (QuantSpec("uint8", bits=2), 0, 3),
    (QuantSpec("int8"), -128, 127),
    (QuantSpec("int8", bits=4), -8, 7),
    (QuantSpec("int8", symmetric=True), -127, 127),
    (QuantSpec("int8", bits=2, symmetric=True), -1, 1),
    (QuantSpec("int16", bits=12), -2048, 2047),
    (QuantSpec("int16", bits=16, symmetric=True), -32767, 32767),
])  # fmt: skip
def test_limits(spec, low, high):
    assert (spec.qmin, spec.qmax) == (low, high)


@pytest.mark.parametrize("spec", SPECS)
def test_codes_fit_the_storage(spec):
    limits = np.iinfo(spec.dtype)
    assert limits.min <= spec.qmin < 0 < spec.qmax <= limits.max or (spec.dtype == "uint8" and spec.qmin == 0)
    assert spec.qmax - spec.qmin + 1 == 2**spec.bits - int(spec.symmetric)


@pytest.mark.parametrize(("fields", "message"), [
    ({"dtype": "int4"}, "dtype must be one of int8, uint8, int16. Got 'int4' instead"),
    ({"bits": 1}, r"bits of uint8 must be an int in 2\.\.8. Got 1 instead"),
    ({"bits": 9}, r"2\.\.8. Got 9"),
    ({"dtype": "int16", "bits": 17}, r"2\.\.16. Got 17"),
    ({"bits": 8.0}, "Got 8.0"),
    ({"bits": True}, "Got True"),
    ({"symmetric": True}, "symmetric needs a signed dtype"),
    ({"symmetric": 1}, "symmetric must be True or False. Got 1"),
    ({"per_channel": None}, "per_channel must be True or False. Got None"),
])  # fmt: skip
def test_impossible_specs_are_refused(fields, message):
    with pytest.raises(ConfigError, match=message):
        QuantSpec(**fields)


def test_spec_is_frozen_and_hashable():
    assert QuantSpec("int8", 4) == QuantSpec("int8", 4) and len({QuantSpec(), QuantSpec()}) == 1
    with pytest.raises(AttributeError):
        QuantSpec().bits = 4


def test_spec_from_dict_names_the_unknown_field():
    assert QuantSpec.from_dict(PER_CHANNEL.to_dict()) == PER_CHANNEL
    with pytest.raises(ConfigError, match="unknown field 'bit'"):
        QuantSpec.from_dict({"bit": 4})


@pytest.mark.parametrize(("arguments", "error", "message"), [
    ((0.0, 0, QuantSpec()), RangeError, "scale must be finite and at least .* Got 0 instead"),
    ((-1.0, 0, QuantSpec()), RangeError, "Got -1 instead"),
    ((np.nan, 0, QuantSpec()), RangeError, "Got nan instead"),
    ((np.inf, 0, QuantSpec()), RangeError, "Got inf instead"),
    ((1e300, 0, QuantSpec()), RangeError, "Got inf instead"),
    ((1e-39, 0, QuantSpec()), RangeError, "smallest normal"),
    (([1.0, 0.0], 0, PER_CHANNEL, 0), RangeError, "Got 0 at channel 1 of axis 0 instead"),
    ((1.0, 256, QuantSpec()), RangeError, r"zero_point must lie in 0\.\.255. Got 256"),
    ((1.0, -1, QuantSpec()), RangeError, "Got -1"),
    ((1.0, 16, QuantSpec("uint8", 4)), RangeError, r"0\.\.15. Got 16"),
    ((1.0, 1, QuantSpec("int8", symmetric=True)), RangeError, "symmetric spec must be 0. Got 1"),
    ((1.0, 2**40, QuantSpec()), RangeError, "zero_point must be int32"),
    ((1.0, 0.5, QuantSpec()), ConfigError, "zero_point must be int32. Got float64"),
    (("1", 0, QuantSpec()), ConfigError, "scale must be float32"),
    ((1.0, 0, "uint8"), ConfigError, "spec must be a QuantSpec. Got 'uint8'"),
    (([1.0, 2.0], 0, PER_CHANNEL), ConfigError, "Got axis None with scale of shape"),
    ((1.0, 0, PER_CHANNEL, 1), ConfigError, "Got axis 1 with scale of shape"),
    (([1.0, 2.0], [0, 0, 0], PER_CHANNEL, 1), ConfigError, r"Got \(2,\) and \(3,\)"),
    (([[1.0]], [[0]], PER_CHANNEL, 1), ConfigError, r"Got \(1, 1\)"),
    (([1.0, 2.0], 0, QuantSpec(), 1), ConfigError, "use per_channel=True"),
])  # fmt: skip
def test_impossible_qparams_are_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        QParams(*arguments)


def test_qparams_copies_and_locks_its_arrays():
    scale = np.float32([1.0, 2.0])
    qparams = QParams(scale, 0, PER_CHANNEL, 0)
    scale[0] = 5
    assert qparams.scale.tolist() == [1.0, 2.0] and qparams.zero_point.tolist() == [0, 0]
    assert qparams.scale.dtype == np.float32 and qparams.zero_point.dtype == np.int32
    with pytest.raises(ValueError, match="read-only"):
        qparams.scale[0] = 5
    with pytest.raises(AttributeError):
        qparams.axis = 1


def test_qparams_equality():
    first = QParams([1.0, 2.0], 0, PER_CHANNEL, 0)
    assert first == QParams(np.float64([1.0, 2.0]), [0, 0], PER_CHANNEL, 0)
    for other in (
        QParams([1.0, 3.0], 0, PER_CHANNEL, 0),
        QParams([1.0, 2.0], 0, PER_CHANNEL, 1),
        QParams(1.0, 0, PER_CHANNEL),
        QParams([1.0, 2.0], [0, 1], QuantSpec("int8", per_channel=True), 0),
        "something else",
    ):
        assert first != other
    with pytest.raises(TypeError, match="unhashable"):
        hash(first)


@pytest.mark.slow
@given(finite, finite, st.sampled_from(SPECS))
@settings(deadline=None)
def test_qparams_survive_json(a, b, spec):
    qparams = choose_qparams(min(a, b), max(a, b), spec)
    assert QParams.from_dict(json.loads(json.dumps(qparams.to_dict()))) == qparams


def test_qparams_from_dict_names_the_missing_field():
    fields = QParams(1.0, 0, QuantSpec()).to_dict()
    del fields["scale"]
    with pytest.raises(ConfigError, match="field 'scale' is missing"):
        QParams.from_dict(fields)


def test_real_range_of_the_codes():
    qparams = QParams(0.5, 10, QuantSpec())
    assert (float(qparams.low), float(qparams.high)) == (-5.0, 122.5)


@pytest.mark.parametrize(("low", "high", "spec", "scale", "zero_point"), [
    (0.0, 255.0, QuantSpec(), 1.0, 0),
    (-128.0, 127.0, QuantSpec("int8"), 1.0, 0),
    (-1.0, 3.0, QuantSpec(), np.float32(4 / 255), 64),
    (2.0, 5.1, QuantSpec(), np.float32(0.02), 0),  # widened to contain 0
    (-5.1, -2.0, QuantSpec(), np.float32(0.02), 255),
    (-2.0, 1.0, QuantSpec("int8", symmetric=True), np.float32(2 / 127), 0),
    (0.0, 0.0, QuantSpec(), 1.0, 0),
    (0.0, 0.0, QuantSpec("int8"), 1.0, -128),
    (0.0, 0.0, QuantSpec("int8", symmetric=True), 1.0, 0),
    (np.inf, -np.inf, QuantSpec(), 1.0, 0),  # extremes of no values
    (0.0, 1e-44, QuantSpec(), SMALLEST_NORMAL, 0),
    (-1e-44, 0.0, QuantSpec("int8", symmetric=True), SMALLEST_NORMAL, 0),
    (-0.5, 2.5, QuantSpec("uint8", bits=2), 1.0, 0),  # -low / scale = 0.5: half to even
    (-1.5, 1.5, QuantSpec("uint8", bits=2), 1.0, 2),
])  # fmt: skip
def test_chosen_qparams(low, high, spec, scale, zero_point):
    qparams = choose_qparams(low, high, spec)
    assert qparams == QParams(np.float32(scale), zero_point, spec)


def test_chosen_per_channel_with_an_all_zero_channel():
    qparams = choose_qparams([-1.27, 0.0, 0.0], [0.5, 0.0, 2.54], PER_CHANNEL, axis=0)
    assert qparams == QParams(np.float32([0.01, 1.0, 0.02]), [0, 0, 0], PER_CHANNEL, 0)


@pytest.mark.parametrize(("low", "high", "message"), [
    (np.nan, 1.0, r"Got nan\.\.1 instead"),
    (0.0, np.nan, r"Got 0\.\.nan"),
    (0.0, np.inf, r"Got 0\.\.inf"),
    (1.0, -1.0, r"Got 1\.\.-1"),
    ([0.0, -np.inf], [1.0, 1.0], r"Got -inf\.\.1 at channel 1"),
])  # fmt: skip
def test_impossible_ranges_are_refused(low, high, message):
    with pytest.raises(RangeError, match=message):
        choose_qparams(low, high, PER_CHANNEL, axis=0 if np.ndim(low) else None)


def test_a_scale_beyond_float32_is_refused():
    with pytest.raises(RangeError, match="Got inf"):
        choose_qparams(-1e300, 1e300, QuantSpec())


@pytest.mark.slow
@given(finite, finite, st.sampled_from(SPECS))
@settings(deadline=None, max_examples=300)
def test_chosen_qparams_cover_the_range(a, b, spec):
    low, high = min(a, b, 0.0), max(a, b, 0.0)
    qparams = choose_qparams(min(a, b), max(a, b), spec)
    scale = float(qparams.scale)
    # one step of slack: the zero point is rounded, the scale is rounded to float32
    slack = scale * (0.5 + (spec.qmax - spec.qmin) * 2.0**-24)
    assert float(qparams.low) <= low + slack and high - slack <= float(qparams.high)
    assert scale <= max(
        (high - low) / (spec.qmax - spec.qmin) * (2 if spec.symmetric else 1) * 1.001, SMALLEST_NORMAL
    ) or (low == high == 0 and scale == 1)
