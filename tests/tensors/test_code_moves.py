"""The axis of the scales after a move."""

import numpy as np
import pytest

from tvmq.errors import ConfigError
from tvmq.numerics.spec import QParams, QuantSpec
from tvmq.tensors.code_moves import join_codes, move_codes
from tvmq.tensors.qtensor import QTensor


def channels(shape, axis):
    scale = np.float32(2.0 ** np.arange(shape[axis]))
    qparams = QParams(scale, 0, QuantSpec("int8", symmetric=True, per_channel=True), axis)
    return QTensor(np.arange(np.prod(shape), dtype=np.int8).reshape(shape), qparams)


@pytest.mark.parametrize(("function", "axis", "scales"), [
    (lambda a: np.moveaxis(a, 1, 0), 0, [1, 2, 4]),
    (lambda a: a.reshape(1, 2, 3, 2), 2, [1, 2, 4]),
    (lambda a: a[:, [2, 0]], 1, [4, 1]),
    (lambda a: a[:, 1], None, 2),
    (lambda a: a[:, 1:2], 1, [2]),
    (lambda a: a[0, :, 0], 0, [1, 2, 4]),
    (lambda a: a[0].reshape(6), 0, [1, 1, 2, 2, 4, 4]),
    (lambda a: np.tile(a, (1, 2, 1)), 1, [1, 2, 4, 1, 2, 4]),
    (lambda a: a[:0], 1, [1, 2, 4]),
    (lambda a: a[:, :0], None, 1),
])  # fmt: skip
def test_place_of_the_channels(function, axis, scales):
    q = channels((2, 3, 2), 1)
    moved = move_codes(q, "move", function)
    assert moved.axis == axis
    np.testing.assert_array_equal(moved.scale, np.float32(scales))
    np.testing.assert_array_equal(moved.dequantize(), function(q.dequantize()))


def test_mixed_channels():
    with pytest.raises(ConfigError, match="QTensor: move would mix channels of axis 1"):
        move_codes(channels((2, 3, 2), 1), "move", lambda a: a.reshape(4, 3))


def test_parts_of_other_specs_are_not_joined():
    q = channels((2, 3), 1)
    with pytest.raises(ConfigError, match="part 1 of what is joined"):
        join_codes([q, QTensor(q.codes, QParams(q.scale, 0, QuantSpec("int8", per_channel=True), 1))], axis=1)
    assert join_codes([q, q], axis=-1).shape == (2, 6)
