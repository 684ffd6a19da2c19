"""Scatters of several values to one place: applied in order, for any number of threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax
from tvm.relax import op as R

import tvmq
from tests.support.models.built_modules import build_module
from tvmq.errors import UnsupportedOpError

RANDOM = np.random.default_rng(0)
MANY = 40_000  # beyond what one thread has done before another one has begun
UFUNCS = {"add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum}
FEED = {
    "x": RANDOM.normal(size=(3, 4)).astype(np.float32),
    "i": RANDOM.integers(0, 3, MANY),
    "j": RANDOM.integers(-4, 4, MANY),
    "v": RANDOM.choice(np.float32([0.5, -1, 1, 2, 1e-3, 1e4]), MANY),
    "at": RANDOM.integers(0, 3, (MANY // 4, 4)),
    "u": RANDOM.choice(np.float32([0.5, -1, 1, 2, 1e-3, 1e4]), (MANY // 4, 4)),
}


def module(body: Callable[..., list[relax.Expr]], feed: dict[str, np.ndarray]) -> tvm.IRModule:
    return tvmq.from_relax(build_module(feed, body))[0]


def scattered(x: np.ndarray, places: tuple[np.ndarray, ...], values: Any, how: str) -> np.ndarray:
    """Scatter the values one after the other."""
    result = x.copy()
    if how != "update":
        UFUNCS[how].at(result, places, values)
        return result
    places = tuple(np.broadcast_arrays(*places))
    for *place, value in zip(
        *(p.ravel() for p in places), np.broadcast_to(values, places[0].shape).ravel(), strict=True
    ):
        result[tuple(place)] = value
    return result


@pytest.mark.slow
def test_repeated_places() -> None:
    def body(builder: Any, x: Any, i: Any, j: Any, v: Any, at: Any, u: Any) -> list[relax.Expr]:
        points = builder.emit(R.stack([i, j], axis=1))
        return [
            *(R.index_put(x, relax.Tuple([i, j]), v, accumulate) for accumulate in (True, False)),
            *(R.scatter_nd(x, points, v, how) for how in ("update", *UFUNCS)),
            *(R.scatter_elements(x, at, u, 0, how) for how in ("update", *UFUNCS)),
        ]

    mod = module(body, FEED)
    x, i, j, v, at, u = FEED.values()
    with np.errstate(all="ignore"):
        expected = [scattered(x, (i, j), v, how) for how in ("add", "update")]
        expected += [scattered(x, (i, j), v, how) for how in ("update", *UFUNCS)]
        expected += [scattered(x, (at, np.arange(4)), u, how) for how in ("update", *UFUNCS)]
    for threads in (1, 2):
        exe = tvmq.build(mod, num_threads=threads)
        for _ in range(3):
            for number, (result, wanted) in enumerate(zip(exe.run(FEED), expected, strict=True)):
                np.testing.assert_array_equal(result, wanted, err_msg=f"{number}, {threads} threads")
    for result, wanted in zip(tvmq.reference.run(mod, FEED), expected, strict=True):
        np.testing.assert_array_equal(result, wanted)


@pytest.mark.slow
@pytest.mark.parametrize(("rows", "columns", "values"), [
    ((3,), (3,), (1,)), ((3,), (3,), ()), ((3, 1), (1, 2), (3, 2)), ((3, 1), (1, 2), (2,)), ((3, 1), (1, 2), (6,)),
    ((1,), (3,), (3,)), ((3,), (1,), (1, 3)),
])  # fmt: skip
def test_places_and_values_that_broadcast(rows: Any, columns: Any, values: Any) -> None:
    """And values that are as many as the places, laid out otherwise."""
    feed = {
        "x": FEED["x"],
        "i": RANDOM.integers(-3, 3, rows),
        "j": RANDOM.integers(-4, 4, columns),
        "v": RANDOM.normal(size=values).astype(np.float32),
    }
    mod = module(lambda _, x, i, j, v: [R.index_put(x, relax.Tuple([i, j]), v, how) for how in (True, False)], feed)
    places = np.broadcast_arrays(feed["i"], feed["j"])
    given = feed["v"].reshape(places[0].shape) if feed["v"].size == places[0].size else feed["v"]
    results = tvmq.build(mod).run(feed)
    for result, how in zip(results, ("add", "update"), strict=True):
        np.testing.assert_array_equal(result, scattered(feed["x"], (feed["i"], feed["j"]), given, how))


def test_values_that_fit_no_places_are_refused() -> None:
    feed = {"x": FEED["x"], "i": np.zeros(3, int), "v": np.zeros(2, np.float32)}
    sentence = r"index_put: values of shape \(2,\) for places of shape \(3,\); give one for each place, or one for all$"
    with pytest.raises(UnsupportedOpError, match=sentence):
        module(lambda _, x, i, v: [R.index_put(x, relax.Tuple([i, i]), v)], feed)


@pytest.mark.slow
def test_dynamic_sizes() -> None:
    inputs = {"x": (4,), "i": (("n",), "int64"), "v": ("n",)}
    mod = build_module(inputs, lambda _, x, i, v: R.index_put(x, relax.Tuple([i]), v, True))
    exe = tvmq.build(tvmq.from_relax(mod)[0])
    feed = {"x": np.float32([1, 2, 3, 4]), "i": np.array([3, 3, 0, -1, 1]), "v": np.float32([1, 1e8, 5, -1e8, 1])}
    np.testing.assert_array_equal(exe.run(feed)[0], scattered(feed["x"], (feed["i"],), feed["v"], "add"))
