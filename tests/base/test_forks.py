"""Forked processes: runs, loads and builds in the child, whatever other threads did at the fork. Nothing may hang."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tvmq
from tests.support.models.networks import parse, text_of
from tvmq.base import forks
from tvmq.base.forks import RUNNING, ForkLock
from tvmq.errors import BuildError

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
LONGEST = 60.0  # seconds that a child may take on a busy machine
# Large enough for parallel regions.
CONV = text_of(
    'x: R.Tensor((1, 16, 40, 40), "float32"), w: R.Tensor((32, 16, 3, 3), "float32")',
    "y = R.nn.conv2d(x, w)\nz = R.nn.relu(y)",
    inputs=1,
)
X = np.random.default_rng(0).normal(size=(1, 16, 40, 40)).astype(np.float32)


def build() -> tvmq.Executable:
    weight = np.random.default_rng(1).normal(size=(32, 16, 3, 3)).astype(np.float32)
    return tvmq.build(parse(CONV), params={"w": weight}, num_threads=2)


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forking a process that has threads
        yield


@pytest.fixture(scope="module")
def exe() -> tvmq.Executable:
    return build()


@pytest.fixture(scope="module")
def saved(exe: tvmq.Executable, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("forks") / "m.tvmq"
    exe.save(path)
    return path


def in_child(work: Callable[[], bool], *, leave: Callable[[int], object] = os._exit) -> int:
    """Exit code of a child that does some work: 0 where it gives True; fails where the child hangs."""
    child = os.fork()
    if child == 0:
        code = 9
        try:
            code = 0 if work() else 8
        finally:
            leave(code)
    end = time.monotonic() + LONGEST
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(child, 9)
    os.waitpid(child, 0)
    pytest.fail("the child hangs")


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2, 7])
def test_the_child_runs_loads_and_builds_what_the_parent_ran(saved: Path, threads: int) -> None:
    exe = tvmq.load(saved, num_threads=threads)
    expected = exe(X)

    def work() -> bool:
        return all(np.array_equal(other(X), expected) for other in (exe, tvmq.load(saved, num_threads=2), build()))

    assert in_child(work) == 0
    assert np.array_equal(exe(X), expected)
    assert in_child(work) == 0


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system binds no process to CPUs")
def test_a_process_bound_to_one_cpu_by_now_forks(exe: tvmq.Executable) -> None:
    expected, cpus = exe(X), os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(cpus)})
        assert in_child(lambda: np.array_equal(exe(X), expected) and os.sched_getaffinity(0) == {min(cpus)}) == 0
        assert os.sched_getaffinity(0) == {min(cpus)} and np.array_equal(exe(X), expected)
    finally:
        os.sched_setaffinity(0, cpus)


@pytest.mark.slow
def test_a_child_of_a_child(exe: tvmq.Executable) -> None:
    expected = exe(X)

    def equal() -> bool:
        return np.array_equal(exe(X), expected)

    assert in_child(lambda: equal() and in_child(equal) == 0 and equal()) == 0


@pytest.mark.slow
@pytest.mark.parametrize("spins", ["0", "50", "300000"])
def test_a_child_with_threads_ends_as_usual(saved: Path, spins: str) -> None:
    """TVM's pool joins its threads at the end of the process: there must be none that are the parent's, whether they
    were looking for work at the fork or slept. In a process of its own, since pytest's would end with the child."""
    code = (
        "import os, sys, threading, time, numpy as np, tvmq\n"
        f"exe = tvmq.load({str(saved)!r}, num_threads=2)\n"
        "x = np.ones((1, 16, 40, 40), np.float32)\n"
        "y = exe(x); time.sleep(0.1)\n"
        "if os.fork() == 0:\n"
        "    thread = threading.Thread(target=lambda: exe(x)); thread.start(); thread.join()\n"
        "    sys.exit(0 if (exe(x) == y).all() else 8)\n"
        "sys.exit(os.waitstatus_to_exitcode(os.wait()[1]))\n"
    )
    env = dict(os.environ, TVM_THREAD_POOL_SPIN_COUNT=spins)
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, timeout=LONGEST, env=env)


@pytest.mark.slow
@pytest.mark.parametrize("what", ["run", "load", "build"])
def test_forks_while_another_thread_is_at_it(exe: tvmq.Executable, saved: Path, what: str) -> None:
    expected, stop = exe(X), threading.Event()
    others: dict[str, Callable[[], object]] = {"run": lambda: exe(X), "load": lambda: tvmq.load(saved), "build": build}
    other = others[what]

    def always() -> None:
        while not stop.is_set():
            other()

    thread = threading.Thread(target=always)
    thread.start()
    try:
        for _ in range(5):
            time.sleep(0.01)
            both = lambda: np.array_equal(exe(X), expected) and np.array_equal(tvmq.load(saved)(X), expected)  # noqa: E731
            assert in_child(both) == 0
    finally:
        stop.set()
        thread.join()
    assert np.array_equal(exe(X), expected)


def quantize() -> Any:
    weight = np.random.default_rng(1).normal(size=(32, 16, 3, 3)).astype(np.float32)
    mod, params = tvmq.from_relax(parse(CONV), {"w": weight})
    return tvmq.quantize(mod, params, [{"x": X}])


@pytest.mark.slow
def test_forks_while_another_thread_quantizes_and_builds(uncached: None) -> None:
    """The child does the same, with kernels that it compiles itself."""
    expected, stop, done = tvmq.build(quantize())(X), threading.Event(), 0

    def always() -> None:
        nonlocal done
        while not stop.is_set():
            tvmq.build(quantize())
            done += 1

    thread = threading.Thread(target=always)
    thread.start()
    try:
        for turn in range(4):
            time.sleep(0.03 * turn)
            assert in_child(lambda: np.array_equal(tvmq.build(quantize())(X), expected)) == 0
    finally:
        stop.set()
        thread.join()
    assert done and np.array_equal(tvmq.build(quantize())(X), expected)


@pytest.mark.slow
def test_a_fork_waits_for_an_import(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "slow_to_import.py").write_text("import time\ntime.sleep(0.3)\nvalue = 5\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    thread = threading.Thread(target=__import__, args=("slow_to_import",))
    thread.start()
    time.sleep(0.05)
    assert in_child(lambda: __import__("slow_to_import").value == 5) == 0
    thread.join()


@pytest.mark.slow
def test_a_thread_that_does_not_come_back_is_an_error_in_the_child(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forks, "PATIENCE", 0.05)
    lock, entered, stop = ForkLock("running the model", RUNNING), threading.Event(), threading.Event()

    def hold() -> None:
        with lock:
            entered.set()
            stop.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    entered.wait()

    def refused() -> bool:
        with pytest.raises(BuildError, match=r"^fork: .* while another thread was running the model .*'spawn'$"), lock:
            pass
        return True

    assert in_child(lambda: refused() and in_child(refused) == 0) == 0
    stop.set()
    thread.join()
    assert in_child(lambda: lock.lock.acquire(timeout=0)) == 0
    with lock:
        pass


def _worker(exe: tvmq.Executable, rows: list[int], results: Any) -> None:
    results.put([(row, exe(X * row)) for row in rows])


@pytest.mark.slow
def test_workers_as_those_of_a_data_loader(exe: tvmq.Executable) -> None:
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    workers = [context.Process(target=_worker, args=(exe, [2 * i, 2 * i + 1], results)) for i in range(2)]
    for worker in workers:
        worker.start()
    pairs = [pair for _ in workers for pair in results.get(timeout=LONGEST)]
    for worker in workers:
        worker.join(LONGEST)
        assert worker.exitcode == 0
    assert len(pairs) == 4
    assert all(np.array_equal(y, exe(X * row)) for row, y in pairs)
