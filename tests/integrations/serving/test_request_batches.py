"""Requests that wait together run together, each with the outputs that it gets alone; a wrong one spoils no other."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

import tvmq
from tests.support.models.networks import parse, text_of
from tvmq.errors import DataError
from tvmq.integrations.serving.request_batches import RequestBatches, check_names, form_of, has_apart_samples
from tvmq.runtime.inputs import TensorInfo


class Model:
    """Doubles; refuses negative numbers."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def run(self, feed):
        self.sizes.append(len(feed["x"]) if feed["x"].ndim else 0)
        if (feed["x"] < 0).any():
            raise DataError("negative")
        return [2 * feed["x"], feed["x"].reshape(len(feed["x"]), -1).sum(axis=1)] if feed["x"].ndim else [feed["x"]]


def answers(model, feeds, most):
    """Answers to requests that come at once."""

    async def ask():
        batches = RequestBatches(model.run, most)
        results = await asyncio.gather(*(batches.run({"x": feed}) for feed in feeds), return_exceptions=True)
        again = await batches.run({"x": feeds[0]})  # after a pause it works on
        batches.close()
        return results, again, batches.runs

    return asyncio.run(ask())


def test_requests_share_runs_and_get_their_own_rows():
    feeds = [np.full((rows, 3), value, np.float32) for value, rows in enumerate((1, 2, 1, 3, 1))]
    model = Model()
    results, again, runs = answers(model, feeds, 4)
    assert model.sizes == [4, 4, 1] and runs == 3
    for feed, (double, total) in zip([*feeds, feeds[0]], [*results, again], strict=True):
        np.testing.assert_array_equal(double, 2 * feed)
        np.testing.assert_array_equal(total, feed.sum(axis=1))


def test_one_at_a_time():
    model = Model()
    answers(model, [np.zeros((1, 3), np.float32)] * 4, 1)
    assert model.sizes == [1] * 5


def test_other_forms_are_not_joined():
    feeds = [np.zeros((1, 3), np.float32), np.zeros((1, 4), np.float32), np.zeros((1, 3), np.float64), np.float32(1),
             np.zeros((1, 3), np.float32)]  # fmt: skip
    model = Model()
    results, _, _ = answers(model, feeds, 8)
    assert sorted(model.sizes) == [0, 1, 1, 1, 2]
    assert [result[0].shape for result in results] == [np.shape(feed) for feed in feeds]


def test_a_wrong_request_spoils_no_other():
    feeds = [np.full((1, 3), value, np.float32) for value in (1, 2, -1, 3)]
    results, _, _ = answers(Model(), feeds, 8)
    assert isinstance(results[2], DataError)
    for place in (0, 1, 3):
        np.testing.assert_array_equal(results[place][0], 2 * feeds[place])


def test_which_models_are_batched():
    """A dynamic batch whose samples are proved to be apart; no fixed one, and none that mixes samples."""
    apart = tvmq.build(parse(text_of('x: R.Tensor(("n", 3), "float32")', "y = R.add(x, x)\nreturn (y,)")))
    fixed = tvmq.build(parse(text_of('x: R.Tensor((2, 3), "float32")', "y = R.add(x, x)\nreturn (y,)")))
    mixed = tvmq.build(
        parse(text_of('x: R.Tensor(("n", 3), "float32")', "y = R.sum(x, axis=[0])\nreturn (y,)"))
    )
    assert [has_apart_samples(exe) for exe in (apart, fixed, mixed)] == [True, False, False]

    async def ask():
        batches = RequestBatches(apart.run, 8)
        feeds = [{"x": np.random.default_rng(i).standard_normal((i + 1, 3)).astype(np.float32)} for i in range(6)]
        results = await asyncio.gather(*map(batches.run, feeds))
        batches.close()
        return feeds, results

    feeds, results = asyncio.run(ask())
    for feed, (result,) in zip(feeds, results, strict=True):
        assert result.tobytes() == apart.run(feed)[0].tobytes()


def test_names():
    assert form_of({"x": np.zeros((1, 3)), "y": np.zeros((2, 3))}) is None and form_of({}) is None
    infos = [TensorInfo("x", (1,), "float32"), TensorInfo("y", (1,), "float32")]
    with pytest.raises(DataError, match="input 'y' is missing; the model takes x, y"):
        check_names({"x": np.zeros(1)}, infos)
