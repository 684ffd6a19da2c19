"""Codes two to a byte: packing and unpacking, and the position of each code."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from tvmq import numerics
from tvmq.errors import RangeError

CODES = arrays(np.int8, array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=7), elements=st.integers(-8, 7))


@pytest.mark.slow
@given(CODES)
def test_there_and_back(codes: np.ndarray) -> None:
    packed = numerics.pack_int4(codes)
    assert packed.dtype == np.uint8 and packed.shape == ((codes.size + 1) // 2,)
    back = numerics.unpack_int4(packed, codes.shape)
    assert back.dtype == np.int8
    np.testing.assert_array_equal(back, codes)


@pytest.mark.slow
@given(CODES)
def test_each_code_has_its_half(codes: np.ndarray) -> None:
    packed = numerics.pack_int4(codes)
    for i, code in enumerate(codes.ravel().tolist()):
        assert packed[i // 2] >> 4 * (i % 2) & 15 == code % 16
    if codes.size % 2:
        assert packed[-1] >> 4 == 0


@pytest.mark.slow
@given(arrays(np.uint8, st.integers(0, 20)))
def test_all_bytes_mean_codes(packed: np.ndarray) -> None:
    codes = numerics.unpack_int4(packed, (2 * packed.size,))
    np.testing.assert_array_equal(numerics.pack_int4(codes), packed)


def test_equals_onnx() -> None:
    onnx = pytest.importorskip("onnx")
    codes = np.arange(-8, 7, dtype=np.int8).reshape(3, 5)
    tensor = onnx.helper.make_tensor("w", onnx.TensorProto.INT4, codes.shape, codes.ravel().tolist())
    data = onnx.helper.make_tensor(
        "w", onnx.TensorProto.INT4, codes.shape, numerics.pack_int4(codes).tobytes(), raw=True
    )
    np.testing.assert_array_equal(onnx.numpy_helper.to_array(data), onnx.numpy_helper.to_array(tensor))


def test_other_integers_and_types() -> None:
    np.testing.assert_array_equal(numerics.pack_int4(np.int64([-8, 7, 0])), np.uint8([0x78, 0]))
    assert not numerics.fits_int4(np.float32([1.0]))
    assert numerics.fits_int4(np.zeros((0, 3), np.int8))


@pytest.mark.parametrize("bad", [8, -9, 127])
def test_refuses_codes_of_more_bits(bad: int) -> None:
    with pytest.raises(RangeError, match=rf"pack_int4: codes must be integers in -8..7. Got {bad} instead"):
        numerics.pack_int4(np.int8([0, bad]))


def test_refuses_another_number_of_bytes() -> None:
    with pytest.raises(RangeError, match=r"3 codes of shape \(3,\) take 2 bytes. Got 3 instead"):
        numerics.unpack_int4(np.zeros(3, np.uint8), (3,))
