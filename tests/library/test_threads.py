"""Threads of libraries: results of one to four, of the program's, of a pool, and of models that `tvmq.load` gave."""

from __future__ import annotations

import ctypes
import gc
import os
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import tvmq
from tests.library.conftest import quantize_digits
from tests.library.test_export_library import STRICT, needs_gcc
from tvmq.demo import load_demo
from tvmq.errors import ConfigError
from tvmq.library.assemble import OPTIONAL
from tvmq.runtime.artifact.native_library import runs_linux_x86
from tvmq.runtime.c_structures import Buffer, Threads, buffer_of
from tvmq.runtime.inputs import aligned_zeros

pytestmark = pytest.mark.skipif(not runs_linux_x86(), reason="libraries are opened on Linux on x86-64 only")
BATCH = 32  # enough work that kernels have parallel loops
NULL, MISALIGNED, SHORT, WRONG_THREADS, NO_THREADS = -1, -3, -4, -9, -12
TASK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint32)
LAUNCH = ctypes.CFUNCTYPE(None, ctypes.c_void_p, TASK, ctypes.c_void_p, ctypes.c_uint32)


@dataclass(frozen=True)
class BatchedLibrary:
    """The embedded network of BATCH pictures at once, and what it gives for them."""

    folder: Path
    library: ctypes.CDLL
    pictures: np.ndarray
    expected: np.ndarray

    def run(self, threads: Threads | None) -> np.ndarray:
        """Scores of the pictures, with a workspace and results of its own."""
        count = threads.count if threads is not None else 1
        workspace = aligned_zeros([self.library.digits_workspace_bytes(None, count)], "uint8")
        scores = aligned_zeros(self.expected.shape, "float32")
        images, results, memory = (buffer_of(array) for array in (self.pictures, scores, workspace))
        options = None if threads is None else ctypes.byref(threads)
        assert not self.library.digits_run(None, ctypes.byref(images), ctypes.byref(results), memory, options)
        return scores


@pytest.fixture(scope="module")
def batched(tmp_path_factory: pytest.TempPathFactory) -> BatchedLibrary:
    """The network of BATCH pictures."""
    module = quantize_digits(BATCH)
    folder = tmp_path_factory.mktemp("batched") / "digits"
    library = ctypes.CDLL(str(tvmq.export_library(module, folder).library))
    library.digits_workspace_bytes.restype = library.digits_pool_bytes.restype = ctypes.c_int64
    library.digits_run.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, Buffer, ctypes.c_void_p]
    library.digits_pool_start.argtypes = [Buffer, ctypes.c_uint32, ctypes.c_void_p]
    assert library.digits_init() == 0
    pictures = aligned_zeros((BATCH, 1, 16, 16), "float32")
    pictures[...] = load_demo().test[:BATCH]
    return BatchedLibrary(folder, library, pictures, tvmq.reference.run(module, {"image": pictures})[0])


@pytest.mark.slow
@needs_gcc
def test_a_c_program_with_threads(batched, tmp_path):
    source, program = Path(__file__).with_name("threads.c"), tmp_path / "threads"
    library = ["-I", batched.folder, "-L", batched.folder, "-ldigits", f"-Wl,-rpath,{batched.folder}", "-pthread"]
    flags = ["-std=c99", "-D_POSIX_C_SOURCE=200809L", *STRICT]
    subprocess.run(["gcc", *flags, source, *library, "-o", program], check=True)
    batched.pictures.tofile(tmp_path / "in")
    batched.expected.tofile(tmp_path / "out")
    subprocess.run([program, tmp_path / "in", tmp_path / "out"], check=True, timeout=60)


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_threads_of_the_program(count, batched):
    launches = []

    def launch(_pool: int, task: TASK, job: int, tasks: int) -> None:
        launches.append(tasks)
        own = [threading.Thread(target=task, args=(job, number)) for number in range(tasks)]
        for thread in own:
            thread.start()
        for thread in own:
            thread.join()

    callback = LAUNCH(launch)
    threads = Threads(count, ctypes.cast(callback, ctypes.c_void_p), None)
    np.testing.assert_array_equal(batched.run(threads), batched.expected)
    assert set(launches) == ({count} if count > 1 else set())


@pytest.mark.parametrize("count", [1, 2, 4])
def test_eight_threads_share_a_pool(count, batched):
    memory, threads = aligned_zeros([batched.library.digits_pool_bytes(count)], "uint8"), Threads()
    assert batched.library.digits_pool_start(buffer_of(memory), count, ctypes.byref(threads)) == 0
    assert threads.count == count
    with ThreadPoolExecutor(8) as callers:
        results = list(callers.map(lambda _: batched.run(threads), range(40)))
    assert all(np.array_equal(result, batched.expected) for result in results)
    assert batched.library.digits_pool_stop(ctypes.byref(threads)) == 0
    assert (threads.count, threads.launch, threads.pool) == (1, None, None)


def test_pools_are_checked(batched):
    library, threads = batched.library, Threads()
    assert library.digits_pool_bytes(0) == WRONG_THREADS == library.digits_pool_bytes(257)
    memory = aligned_zeros([library.digits_pool_bytes(2) + 64], "uint8")
    begin, size = memory.ctypes.data, library.digits_pool_bytes(2)
    options = ctypes.byref(threads)
    assert library.digits_pool_start(Buffer(None, size), 2, options) == NULL
    assert library.digits_pool_start(Buffer(begin, size), 2, None) == NULL
    assert library.digits_pool_start(Buffer(begin + 8, size), 2, options) == MISALIGNED
    assert library.digits_pool_start(Buffer(begin, size - 1), 2, options) == SHORT
    assert library.digits_pool_start(Buffer(begin, size), 0, options) == WRONG_THREADS
    assert library.digits_pool_stop(None) == NULL == library.digits_pool_stop(options)
    foreign = Threads(2, None, begin)
    assert library.digits_pool_stop(ctypes.byref(foreign)) == WRONG_THREADS


@pytest.fixture
def without_threads(batched: BatchedLibrary, tmp_path: Path) -> Path:
    """The library with other names of pthread_create and pthread_join, which the loader finds nowhere, as in a static
    program without threads."""
    library = (batched.folder / "libdigits.so").read_bytes()
    for name in OPTIONAL:
        library = library.replace(name.encode(), name.encode().upper())
    (tmp_path / "libdigits.so").write_bytes(library)
    (tmp_path / "digits.json").write_bytes((batched.folder / "digits.json").read_bytes())
    return tmp_path


def test_a_program_without_threads_gets_a_status(without_threads):
    alone = ctypes.CDLL(str(without_threads / "libdigits.so"))
    alone.digits_pool_start.argtypes = [Buffer, ctypes.c_uint32, ctypes.c_void_p]
    memory, threads = aligned_zeros([4096], "uint8"), Threads()
    assert alone.digits_pool_start(buffer_of(memory), 2, ctypes.byref(threads)) == NO_THREADS
    assert alone.digits_pool_start(buffer_of(memory), 1, ctypes.byref(threads)) == 0
    assert alone.digits_pool_stop(ctypes.byref(threads)) == 0


def list_threads() -> set[str]:
    """Numbers of this process's threads. One that has been joined may stand there a moment longer."""
    return set(os.listdir("/proc/self/task"))


def wait_for_end(threads: set[str]) -> set[str]:
    """Those of the threads that do not end."""
    end = time.monotonic() + 20
    while threads & list_threads() and time.monotonic() < end:
        time.sleep(0.001)
    return threads & list_threads()


def test_loaded_models_give_equal_results_for_all_numbers_of_threads(batched, monkeypatch):
    for count in (1, 2, 4):
        before = list_threads()
        model = tvmq.load(batched.folder, num_threads=count)
        own = list_threads() - before
        assert (model.num_threads, len(own)) == (count, count - 1)
        with ThreadPoolExecutor(4) as callers:
            results = list(callers.map(model, [batched.pictures] * 8))
        assert all(np.array_equal(result, batched.expected) for result in results)
        del model
        assert wait_for_end(own) == set()
    monkeypatch.setenv("TVMQ_NUM_THREADS", "3")
    assert tvmq.load(batched.folder).num_threads == 3


@pytest.mark.slow
def test_many_models_leave_no_threads(batched):
    before = list_threads()
    for _ in range(200):
        tvmq.load(batched.folder, num_threads=3)
    gc.collect()
    assert wait_for_end(list_threads() - before) == set()


def test_a_child_starts_threads_of_its_own(batched):
    model = tvmq.load(batched.folder, num_threads=3)
    child = os.fork()
    if not child:
        before = list_threads()
        is_equal = np.array_equal(model(batched.pictures), batched.expected)
        os._exit(0 if is_equal and len(list_threads() - before) == 2 else 1)
    np.testing.assert_array_equal(model(batched.pictures), batched.expected)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.slow
def test_forks_while_another_thread_runs_the_model(batched):
    model, stop = tvmq.load(batched.folder, num_threads=2), threading.Event()

    def run_on() -> None:
        while not stop.is_set():
            model(batched.pictures)

    thread = threading.Thread(target=run_on)
    thread.start()
    statuses = []
    for _ in range(5):
        child = os.fork()
        if not child:
            os._exit(0 if np.array_equal(model(batched.pictures), batched.expected) else 1)
        statuses.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    stop.set()
    thread.join()
    assert statuses == [0] * 5


@pytest.mark.slow
def test_numbers_of_threads_are_checked(batched, without_threads):
    for count in (0, True, "2"):
        with pytest.raises(ConfigError, match="load: num_threads must be an integer of at least 1. Got "):
            tvmq.load(batched.folder, num_threads=count)
    with pytest.raises(ConfigError, match="starts no 257 threads: the number of threads is 0, .* a smaller num_threads"):
        tvmq.load(batched.folder, num_threads=257)
    with pytest.raises(ConfigError, match="starts no 2 threads: the program has no function PTHREAD_CREATE"):
        tvmq.load(without_threads, num_threads=2)
    np.testing.assert_array_equal(tvmq.load(without_threads, num_threads=1)(batched.pictures), batched.expected)
