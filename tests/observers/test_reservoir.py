"""Reservoir and fingerprint: the same whatever the order and the sharding."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tvmq.errors import ConfigError, DataError
from tvmq.observers.fingerprint import Fingerprint
from tvmq.observers.reservoir import Reservoir


@settings(max_examples=80, deadline=None)
@given(st.integers(1, 6), st.integers(1, 25), st.booleans(), st.data())
def test_order_and_sharding_change_no_byte(size: int, count: int, keyed: bool, data: st.DataObject) -> None:
    x = np.random.default_rng(count).integers(0, 9, (count, 2, 3)).astype(np.float32)

    def reservoir(order: list[int]) -> Reservoir:
        made = Reservoir(size, "x")
        made.update(x[order], keys=order if keyed else None)
        return made

    whole = reservoir(list(range(count)))
    order = data.draw(st.permutations(range(count)))
    cut = data.draw(st.integers(0, count))
    merged = reservoir(order[:cut]).merge(reservoir(order[cut:]))
    for key, array in whole.to_dict().items():
        assert array.tobytes() == merged.to_dict()[key].tobytes()
    assert len(whole.samples) == min(size, count)
    again = Reservoir.from_dict(whole.to_dict(), "x")
    np.testing.assert_array_equal(again.merge(merged).samples, whole.merge(whole).samples)


def test_keys_choose_the_same_samples_of_every_tensor() -> None:
    inputs = np.arange(40, dtype=np.float32).reshape(20, 2)
    first, second = Reservoir(5), Reservoir(5)
    first.update(inputs, keys=range(20))
    for start in range(0, 20, 3):
        second.update(inputs[start : start + 3] * 10, keys=[str(key) for key in range(20)[start : start + 3]])
    np.testing.assert_array_equal(np.array(first.samples) * 10, np.array(second.samples))


def test_equal_keys_are_told_apart_by_content() -> None:
    x = np.arange(8, dtype=np.float32)[:, None]
    kept = set()
    for order in ([0, 1, 2, 3, 4, 5, 6, 7], [7, 6, 5, 4, 3, 2, 1, 0], [3, 0, 7, 1, 6, 2, 5, 4]):
        reservoir = Reservoir(2)
        for index in order:
            reservoir.update(x[index : index + 1], keys=["same"])
        kept.add(tuple(float(sample[0]) for sample in reservoir.samples))
    assert len(kept) == 1


def test_it_chooses_fairly() -> None:
    reservoir = Reservoir(200)
    reservoir.update(np.arange(2000, dtype=np.float32)[:, None], keys=range(2000))
    kept = np.array(reservoir.samples).ravel()
    assert 800 < kept.mean() < 1200 and len(set(kept)) == 200


def test_it_keeps_copies() -> None:
    x = np.ones((1, 3), np.float32)
    reservoir = Reservoir(1)
    reservoir.update(x)
    x[:] = 7
    assert reservoir.samples[0].tolist() == [1, 1, 1] and reservoir.samples[0].base is None


def test_bad_use() -> None:
    with pytest.raises(ConfigError, match="size must be at least 1"):
        Reservoir(0)
    with pytest.raises(DataError, match="'x': 1 keys for 2 samples"):
        Reservoir(3, "x").update(np.zeros((2, 1)), keys=[4])
    with pytest.raises(DataError, match="'x': the shards were taken with different settings"):
        Reservoir(3, "x").merge(Reservoir(4, "x"))
    mixed = Reservoir(3, "x")
    mixed.update(np.zeros((1, 2)))
    mixed.update(np.zeros((1, 3)))
    with pytest.raises(DataError, match=r"'x': shapes \[\(2,\), \(3,\)\] do not make one array"):
        mixed.to_dict()


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
        {"x": x},
        {"y": x},
        {"x": x.astype(np.float64)},
        {"x": x.reshape(3, 2)},
        {"x": x[:1]},
        {"x": x + 1},
        {"x": x, "y": x},
        {"x": x, "table": x[:1]},
        {"x": np.concatenate([x, x])},
        {"x": np.float32(1)},
    ]
    assert len({digest(variant) for variant in variants}) == len(variants)
    assert Fingerprint().hexdigest() not in {digest(variant) for variant in variants}
