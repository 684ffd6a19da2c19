"""Roundings to arrays and back; arrays that do not fit are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tvmq.calibration.observers.rounding import Rounding, describe_roundings, pack_roundings, unpack_roundings

ROUNDINGS = {
    "conv": Rounding(np.int8([[1, -2], [3, 4]]), np.array([0.5, -0.25])),
    "plain": Rounding(np.int8([7])),
    "dense": Rounding(np.int8([[5], [6]]), np.array([1.5])),
}


def test_round_trip() -> None:
    arrays = pack_roundings(ROUNDINGS)
    again = unpack_roundings(describe_roundings(ROUNDINGS), arrays)
    assert again == ROUNDINGS and list(again) == list(ROUNDINGS)
    assert unpack_roundings([], pack_roundings({})) == {}


def test_equality() -> None:
    one = ROUNDINGS["conv"]
    assert one == Rounding(one.codes.copy(), one.shift.copy()) and one != "conv"
    assert (
        one != Rounding(one.codes)
        and one != Rounding(one.codes, one.shift * 2)
        and one != Rounding(-one.codes, one.shift)
    )


@pytest.mark.parametrize("change, match", [
    ({"weight_codes": np.zeros(7, np.int16)}, "of other types"),
    ({"shifts": np.array([0.0, np.nan, 1.0])}, "not finite"),
    ({"weight_codes": np.zeros(8, np.int8)}, "7 codes and 3 shifts expected, found"),
    ({"weight_codes": np.zeros(6, np.int8)}, "reshape|codes"),
    ({"shifts": np.zeros(2)}, "7 codes and 3 shifts expected, found"),
])  # fmt: skip
def test_arrays_that_do_not_fit(change: dict[str, Any], match: str) -> None:
    with pytest.raises(ValueError, match=match):
        unpack_roundings(describe_roundings(ROUNDINGS), pack_roundings(ROUNDINGS) | change)
