"""Fingerprints of data are equal for any order and any sharding."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tvmq.calibration.observers.samples import Fingerprint


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 20), st.data())
def test_fingerprint_ignores_order_and_batches(count: int, data: st.DataObject) -> None:
    x = np.random.default_rng(count).integers(0, 3, (count, 4))
    y = np.arange(count, dtype=np.float32)

    def fingerprint(*pieces: list[int]) -> Fingerprint:
        made = Fingerprint()
        for piece in pieces:
            made.update({"y": y[piece], "x": x[piece]})
        return made

    order = data.draw(st.permutations(range(count)))
    cut = data.draw(st.integers(0, count))
    whole = fingerprint(list(range(count)))
    assert fingerprint(order[:cut], order[cut:]).hexdigest() == whole.hexdigest()
    assert fingerprint(order[:cut]).merge(fingerprint(order[cut:])).hexdigest() == whole.hexdigest()


def test_fingerprint_tells_data_apart() -> None:
    def digest(batch: dict[str, np.ndarray]) -> str:
        made = Fingerprint()
        made.update(batch)
        return made.hexdigest()

    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    variants = [
        {"x": x}, {"y": x}, {"x": x.astype(np.float64)}, {"x": x.reshape(3, 2)}, {"x": x[:1]}, {"x": x + 1},
        {"x": x, "y": x}, {"x": x, "table": x[:1]}, {"x": np.concatenate([x, x])}, {"x": np.float32(1)},
    ]  # fmt: skip
    assert len({digest(variant) for variant in variants}) == len(variants)
    assert Fingerprint().hexdigest() not in {digest(variant) for variant in variants}
