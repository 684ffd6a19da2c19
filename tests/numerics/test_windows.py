"""Options, sizes and padding of sliding windows; codes and their limits."""

import numpy as np
import pytest

from tvmq.errors import ConfigError
from tvmq.numerics.codes import largest_code
from tvmq.numerics.windows import both_sides, make_windows, pad, per_axis


@pytest.mark.parametrize(("value", "message"), [
    (0, "strides must be an int of at least 1, or 2 of them. Got 0 instead"),
    ((1, 2, 3), r"Got \(1, 2, 3\)"),
    ((1, 0), r"Got \(1, 0\)"),
])  # fmt: skip
def test_bad_options_are_refused(value, message):
    with pytest.raises(ConfigError, match=message):
        per_axis(value, 2, "strides")


def test_padding_forms():
    assert both_sides(1, 2) == both_sides([1, 1], 2) == both_sides(np.int64([1, 1, 1, 1]), 2) == ((1, 1), (1, 1))
    assert both_sides((1, 2, 3, 4), 2) == ((1, 3), (2, 4))
    assert both_sides((1, 2), 1) == ((1, 2),)
    for padding in ((1, 2, 3), -1, (0, 0, 0, -1)):
        with pytest.raises(ConfigError, match="padding must be an int of at least 0"):
            both_sides(padding, 2)


def test_a_window_that_does_not_fit_is_refused():
    assert make_windows((5,), 3, dilation=2).sizes == (1,)
    with pytest.raises(ConfigError, match="a window of 5 does not fit a spatial size of 3 with padding 0 and 1"):
        make_windows((3,), 3, dilation=2, padding=(0, 1))


def test_taps_are_dilated():
    assert list(make_windows((9, 9), (1, 2), dilation=3).taps()) == [((0, 0), (0, 0)), ((0, 1), (0, 3))]


def test_pad():
    x = np.uint8([[1, 2]])
    assert pad(x, ((1, 2),), 7, np.float32).tolist() == [[7, 1, 2, 7, 7]]
    assert pad(x, ((0, 0),), 7, np.uint8) is not None and np.shares_memory(pad(x, ((0, 0),), 7, np.uint8), x)


def test_largest_code():
    assert [largest_code(np.zeros(1, t)) for t in ("uint8", "int8", "int16")] == [255, 128, 32768]
    with pytest.raises(ConfigError, match="codes must be integers. Got an array of float32"):
        largest_code(np.zeros(1, np.float32))
