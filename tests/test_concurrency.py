"""Several threads: one model in many, two models at once, importing and quantizing meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import onnx
import pytest

import tvmq
from tests.support.models.networks import Net, feeds_of


def model_of(seed: int) -> onnx.ModelProto:
    net = Net((1, 3, 8, 8), seed=seed)
    y = net.op("Relu", net.conv("x", 3, 4 + seed))
    y = net.op("Sigmoid", net.conv(y, 4 + seed, 4))
    return net.model(net.op("Softmax", net.dense(net.op("Flatten", y, axis=1), 256, 5), axis=-1))


def built(seed: int) -> tvmq.Executable:
    model = model_of(seed)
    mod, params = tvmq.from_onnx(model)
    return tvmq.build(tvmq.quantize(mod, params, feeds_of(model, 4)))


@pytest.fixture(scope="module")
def executables() -> list[tvmq.Executable]:
    return [built(0), built(1)]


def together(jobs: list[Callable[[], object]]) -> list[object]:
    """All at the same time; an error of one is raised here."""
    barrier = threading.Barrier(len(jobs))

    def run(job: Callable[[], object]) -> object:
        barrier.wait()
        return job()

    with ThreadPoolExecutor(len(jobs)) as pool:
        return [future.result() for future in [pool.submit(run, job) for job in jobs]]


@pytest.mark.slow
def test_two_models_in_two_threads(executables):
    feeds = feeds_of(model_of(0), 40)
    alone = [[exe.run(feed)[0] for feed in feeds] for exe in executables]
    jobs = [lambda exe=exe: [exe.run(feed)[0] for feed in feeds] for exe in executables]
    for found, expected in zip(together(jobs), alone, strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.slow
def test_one_model_in_many_threads(executables):
    """Every thread has inputs of its own; what it gets must be of those."""
    (exe, _), threads = executables, 8
    feeds = [feeds_of(model_of(0), 15, seed=10 + thread) for thread in range(threads)]
    alone = [[exe.run(feed)[0] for feed in own] for own in feeds]
    found = together([lambda own=own: [exe.run(feed)[0] for feed in own] for own in feeds])
    for mine, expected in zip(found, alone, strict=True):
        np.testing.assert_array_equal(mine, expected)


@pytest.mark.slow
def test_results_of_one_thread_survive_the_next_run_of_another(executables):
    exe, feeds = executables[0], feeds_of(model_of(0), 30)
    expected = [exe.run(feed)[0].copy() for feed in feeds]
    kept = together([lambda part=part: [exe.run(f)[0] for f in feeds[part::3]] for part in range(3)])
    for part in range(3):
        np.testing.assert_array_equal(kept[part], expected[part::3])


@pytest.mark.slow
def test_models_are_made_in_threads(executables, uncached):
    """Import, quantize and build twice at once, with options of their own, while a third thread runs a model."""
    feeds = feeds_of(model_of(0), 50)
    expected = [executables[0].run(feed)[0] for feed in feeds]

    def make(bits: int) -> tuple[int, np.ndarray]:
        model = model_of(1)
        with tvmq.qconfig(nbit_weight=bits):
            qmod = tvmq.quantize(*tvmq.from_onnx(model), feeds_of(model, 4))
            return tvmq.current_qconfig().nbit_weight, tvmq.build(qmod).run(feeds[0])[0]

    four, eight, ran = together(
        [lambda: make(4), lambda: make(8), lambda: [executables[0].run(feed)[0] for feed in feeds]]
    )
    assert (four[0], eight[0]) == (4, 8) and tvmq.current_qconfig().nbit_weight == 8
    np.testing.assert_array_equal(ran, expected)
    np.testing.assert_array_equal(eight[1], executables[1].run(feeds[0])[0])
    assert not np.array_equal(four[1], eight[1])
