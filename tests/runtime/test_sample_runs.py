"""Several samples for a model of one: run one by one, joined, said once; other shapes are still refused."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import tvmq
from tests.support.models.networks import parse, text_of
from tvmq.errors import DataError
from tvmq.runtime.inputs import TensorInfo
from tvmq.runtime.sample_runs import batch_size, count_samples, run_many

ONE = text_of(
    'x: R.Tensor((1, 3), "float32"), k: R.Tensor((), "float32")',
    "y = R.multiply(x, k)\nz = R.sum(x, axis=[1])\nreturn (y, z)",
)
WHOLE = text_of('x: R.Tensor((1, 3), "float32")', "y = R.reshape(x, (3,))\nreturn (y,)")
X, K = np.arange(12, dtype=np.float32).reshape(4, 3), np.float32(2)


@pytest.fixture(scope="module")
def one():
    """Model of one sample, with a number beside it and two outputs."""
    return tvmq.build(parse(ONE))


def test_samples_run_one_by_one_and_it_is_said_at_the_line_of_the_user(one):
    with pytest.warns(UserWarning, match="run: 4 samples for a model of one sample run one by one") as seen:
        y, z = one.run({"x": X, "k": K})
    assert seen[0].filename == __file__
    np.testing.assert_array_equal(y, 2 * X)
    np.testing.assert_array_equal(z, X.sum(axis=1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        many = one.run_many({"x": X, "k": K})
        np.testing.assert_array_equal(one.run({"x": X[:1], "k": K})[0], y[:1])
    for ours, theirs in zip(many, (y, z), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    with pytest.warns(UserWarning, match="one by one"):
        np.testing.assert_array_equal(one(X, K)[0], y)


@pytest.mark.parametrize("inputs", [
    {"x": X[:, :2], "k": K}, {"x": X.T, "k": K}, {"x": X[None], "k": K}, {"x": X, "k": X[0]}, {"x": X}, {"x": [[1], [2, 3]], "k": K},
    {"x": X[:0], "k": K},
])  # fmt: skip
def test_other_shapes_are_refused(one, inputs):
    with pytest.raises(DataError, match="run: input '[xk]'"):
        one.run(inputs)


def test_numbers_that_are_not_finite_are_still_refused(one):
    bad = X.copy()
    bad[2, 1] = np.nan
    with pytest.raises(DataError, match="input 'x' holds 1 NaN"), pytest.warns(UserWarning, match="one by one"):
        one.run({"x": bad, "k": K}, check_finite=True)


def test_an_output_without_samples_is_refused():
    exe = tvmq.build(parse(WHOLE))
    with (
        pytest.raises(DataError, match=r"output '\w+' of shape \(3,\) does not have one row per sample; give exactly 1"),
        pytest.warns(UserWarning, match="one by one"),
    ):
        exe.run({"x": X})


def test_a_batch_is_filled_up_and_the_filling_is_dropped():
    x = TensorInfo("x", (3, 2), "float32")
    seen, steps = [], []

    def run(feed):
        seen.append(feed["x"][:, 0].tolist())
        return [2 * feed["x"]]

    array = np.arange(10, dtype=np.float32).reshape(5, 2)
    (y,) = run_many(run, {"x": array}, [x], [x], advance=lambda: steps.append(1))
    np.testing.assert_array_equal(y, 2 * array)
    assert seen == [[0, 2, 4], [6, 8, 0]] and len(steps) == 2
    for wrong in ({"x": array, "z": array[:2]}, {"x": array[:0]}):
        with pytest.raises(DataError, match="must hold equally many samples, at least 1"):
            run_many(run, wrong, [x], [x])
    with pytest.raises(DataError, match="run: input 'x' is a list that makes no array"):
        run_many(run, {"x": [[1], [2, 3]]}, [x], [x])


def test_which_inputs_are_samples():
    x, mask, free = (TensorInfo("x", (1, 3), "float32"), TensorInfo("m", (1, 1, 3), "int32"),
                     TensorInfo("f", (1, "rows", 2), "float32"))  # fmt: skip
    assert count_samples({"x": X, "m": np.zeros((4, 1, 3))}, [x, mask]) == 4
    assert count_samples({"x": X, "m": np.zeros((1, 1, 3))}, [x, mask]) is None  # whose mask is it?
    assert count_samples({"f": np.zeros((2, 7, 2))}, [free]) == 2
    assert count_samples({"y": X}, [x]) is None and count_samples([X], [x]) is None
    assert batch_size([TensorInfo("x", ("n", 3), "float32")]) == 1 and batch_size([]) == 1 and batch_size([x]) == 1
