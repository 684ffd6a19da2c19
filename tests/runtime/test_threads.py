"""How many threads a model uses, beside other models and Python threads."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import tvm

import tvmq
from tests.models import parse
from tvmq.errors import ConfigError
from tvmq.runtime import threads as module
from tvmq.runtime.threads import default_threads, in_threads

# Large enough for parallel regions.
CONV = """
# from tvm.script import ir as I
# from tvm.script import relax as R
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 16, 40, 40), "float32"), w: R.Tensor((FILTERS, 16, 3, 3), "float32")):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            y = R.nn.conv2d(x, w)
            z = R.nn.relu(y)
            R.output(z)
        return z
"""


def conv(filters: int, num_threads: int | None) -> tvmq.Executable:
    weight = np.random.default_rng(filters).normal(size=(filters, 16, 3, 3)).astype(np.float32)
    text = CONV.replace("FILTERS", str(filters))
    return tvmq.build(parse(text), params={"w": weight}, num_threads=num_threads)


@pytest.fixture(scope="module")
def models() -> list[tvmq.Executable]:
    return [conv(32, 1), conv(48, 2)]


def seen(exe: tvmq.Executable) -> int:
    """Threads that TVM has where a run of the model is."""
    function, counts = exe["main"], []
    code = function.code
    watched = function.with_code(lambda *args: (counts.append(tvm.runtime.num_threads()), code(*args))[1])
    watched.run({"x": np.zeros((1, 16, 40, 40), np.float32)})
    return counts[0]


@pytest.mark.slow
def test_two_models_in_three_python_threads(models: list[tvmq.Executable]) -> None:
    inputs = [np.random.default_rng(i).random((1, 16, 40, 40)).astype(np.float32) for i in range(6)]
    expected = [[exe(x) for x in inputs] for exe in models]
    wrong: list[str] = []
    start = threading.Barrier(3)

    def work(first: int) -> None:
        start.wait()
        for turn in range(40):
            model, place = (first + turn) % 2, (first + turn) % len(inputs)
            if not np.array_equal(models[model](inputs[place]), expected[model][place]):
                wrong.append(f"model {model}, input {place}")

    with ThreadPoolExecutor(3) as pool:
        for done in [pool.submit(work, first) for first in range(3)]:
            done.result()
    assert not wrong


@pytest.mark.slow
def test_each_model_has_its_own_number(models: list[tvmq.Executable]) -> None:
    assert [exe.num_threads for exe in models] == [1, 2]
    with ThreadPoolExecutor(1) as fresh:  # this thread's pool may be smaller
        for _ in range(2):
            assert fresh.submit(lambda: [seen(exe) for exe in models]).result() == [1, 2]


@pytest.mark.slow
def test_a_small_pool_is_no_limit(models: list[tvmq.Executable], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TVMQ_NUM_THREADS", "1")
    with ThreadPoolExecutor(1) as fresh:
        assert fresh.submit(lambda: in_threads(1, tvm.runtime.num_threads)).result() == 1
        assert fresh.submit(lambda: [seen(exe) for exe in reversed(models)]).result() == [2, 1]


def test_the_calling_thread_stays_free_to_move(models: list[tvmq.Executable]) -> None:
    if not hasattr(os, "sched_getaffinity"):
        pytest.skip("the system does not tell which CPUs a thread may use")
    seen(models[1])
    assert os.sched_getaffinity(0) == module.ALLOWED_CPUS


def test_loaded_models(models: list[tvmq.Executable], tmp_path: Path) -> None:
    models[1].save(tmp_path / "m.tvmq")
    assert tvmq.load(tmp_path / "m.tvmq", num_threads=3).num_threads == 3
    with pytest.raises(ConfigError, match="load: num_threads must be an integer of at least 1. Got 0 instead"):
        tvmq.load(tmp_path / "m.tvmq", num_threads=0)


def test_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TVMQ_NUM_THREADS", "5")
    monkeypatch.setenv("TVM_NUM_THREADS", "4")
    assert default_threads() == 5
    monkeypatch.delenv("TVMQ_NUM_THREADS")
    assert default_threads() == 4
    monkeypatch.delenv("TVM_NUM_THREADS")
    assert 1 <= default_threads() <= len(module.ALLOWED_CPUS)
    for bad in ("0", "two", "-1"):
        monkeypatch.setenv("TVMQ_NUM_THREADS", bad)
        with pytest.raises(ConfigError, match=f"TVMQ_NUM_THREADS must be an integer of at least 1. Got '{bad}'"):
            default_threads()


@pytest.mark.parametrize("count", [0, 2.0, True])
def test_wrong_numbers(count: object) -> None:
    with pytest.raises(ConfigError, match="build: num_threads must be an integer of at least 1"):
        conv(8, count)  # type: ignore[arg-type]
