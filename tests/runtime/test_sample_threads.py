"""Samples of a batch on several threads and in calls of the native loop: the bits of samples run one by one."""

import os
import threading

import numpy as np
import pytest

import tvmq
from tests.support.models.networks import Net
from tvmq.errors import DataError
from tvmq.runtime import dynamic_shapes
from tvmq.runtime.sample_threads import SampleThreads, share_out


def network():
    """Two inputs of samples; results of 5 and of 3x3x5 numbers, none of which fill 64 bytes."""
    n = Net(("batch", 3, 7, 7))
    y = n.op("Relu", n.conv("x", 3, 5))
    pooled = n.op("Flatten", n.op("GlobalAveragePool", y))
    return n.model(n.dense(pooled, 5, 5), n.op("MaxPool", y, kernel_shape=[2, 2], strides=[2, 2]))


@pytest.fixture(scope="module")
def models():
    """The model with two threads; with one; and for one sample alone."""
    samples = np.random.default_rng(0).normal(size=(6, 3, 7, 7)).astype(np.float32)
    module = tvmq.quantize(*tvmq.from_onnx(network()), {"x": samples}, guard=None)
    free = [tvmq.build(module, num_threads=count) for count in (2, 1)]
    return [*free, tvmq.build(module, sizes={str(free[0].input_info[0].shape[0]): 1}, num_threads=1)]


def batch(count):
    return np.random.default_rng(count).normal(size=(count, 3, 7, 7)).astype(np.float32)


@pytest.mark.parametrize("count", [1, 2, 3, 5, 64, 131])
def test_any_number_of_samples_has_the_bits_of_each_alone(models, monkeypatch, count):
    monkeypatch.setattr(dynamic_shapes, "LEAST_SECONDS", 0.0)
    *free, single = models
    x = batch(count)
    rows = [single.run({"x": x[i : i + 1]}) for i in range(count)]
    expected = [np.concatenate(parts) for parts in zip(*rows, strict=True)]
    for exe in free:
        for _ in range(dynamic_shapes.TRIALS + 2):  # one after another first, then on threads
            for result, known in zip(exe.run({"x": x}), expected, strict=True):
                np.testing.assert_array_equal(result, known)


def test_threads_are_used_once_it_pays(models, monkeypatch):
    shares = []
    run = SampleThreads.run
    monkeypatch.setattr(SampleThreads, "run", lambda self, jobs: shares.append(len(jobs)) or run(self, jobs))
    two, one, _ = models
    monkeypatch.setattr(dynamic_shapes, "LEAST_SECONDS", 0.0)
    for _ in range(dynamic_shapes.TRIALS + 1):
        one.run({"x": batch(9)})
    assert not shares
    for _ in range(dynamic_shapes.TRIALS + 1):
        two.run({"x": batch(9)})
    used = len(shares)
    monkeypatch.setattr(dynamic_shapes, "LEAST_SECONDS", 1e9)
    two.run({"x": batch(9)})
    assert used and len(shares) == used and set(shares) == {2}


def test_a_saved_model_has_the_loop(models, tmp_path):
    models[0].save(tmp_path / "m.tvmq")
    loaded = tvmq.load(tmp_path / "m.tvmq", num_threads=2)
    np.testing.assert_array_equal(loaded.run({"x": batch(70)})[0], models[1].run({"x": batch(70)})[0])


def test_results_stay_when_another_batch_runs(models):
    first = models[1].run({"x": batch(4)})
    kept = [array.copy() for array in first]
    models[1].run({"x": batch(40)})
    for array, known in zip(first, kept, strict=True):
        np.testing.assert_array_equal(array, known)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_child_process_starts_threads_of_its_own(models, monkeypatch):
    monkeypatch.setattr(dynamic_shapes, "LEAST_SECONDS", 0.0)
    for _ in range(dynamic_shapes.TRIALS + 1):
        expected = models[0].run({"x": batch(9)})[0]
    child = os.fork()
    if child == 0:
        os._exit(0 if (models[0].run({"x": batch(9)})[0] == expected).all() else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_all_shares_end_before_an_error_is_raised():
    ended = threading.Event()

    def fail():
        raise DataError("first")

    with pytest.raises(DataError, match="first"):
        SampleThreads().run([fail, ended.set])
    assert ended.is_set()


@pytest.mark.parametrize(("widths", "count"), [([1] * 7, 3), ([32, 8, 1, 1], 2), ([1, 1, 1, 5], 4)])
def test_shares_are_neighbours_and_none_is_empty(widths, count):
    shares = share_out(widths, count)
    assert [number for share in shares for number in share] == list(range(len(widths)))
    assert len(shares) == count and all(map(len, shares))
