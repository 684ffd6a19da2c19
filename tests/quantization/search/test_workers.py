"""Any number of workers gives the same bytes, and a killed search is resumed."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.quantization.search.small_search import search_unsteady

ROOT = Path(__file__).parents[3]
FILES = ("front.json", "best.json", "best.tvmq", "front.svg")


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of a search by this process."""
    folder = tmp_path_factory.mktemp("alone")
    search_unsteady(folder)
    return files(folder)


def files(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in FILES}


def start(folder: Path, workers: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.quantization.search.small_search", str(folder), str(workers)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def finish(folder: Path, workers: int) -> dict[str, bytes]:
    process = start(folder, workers)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    return files(folder)


@pytest.mark.slow
def test_threads_of_an_executor(alone, tmp_path):
    with ThreadPoolExecutor(1) as executor:
        search_unsteady(tmp_path, executor=executor)
    assert files(tmp_path) == alone


@pytest.mark.slow
@pytest.mark.parametrize("workers", [2, 4])
def test_processes(alone, tmp_path, workers):
    assert finish(tmp_path, workers) == alone


@pytest.mark.slow
def test_killed_ten_times_it_goes_on(alone, tmp_path):
    """kill -9 at random moments, then once to the end."""
    chance = random.Random(5)
    for _ in range(10):
        process = start(tmp_path, 1)
        time.sleep(chance.uniform(0.5, 3.5))
        process.kill()
        process.communicate()
    assert finish(tmp_path, 1) == alone


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_a_worker_killed_in_the_middle(alone, tmp_path, seed):
    """The first of two processes is killed; the search ends, with the same answer."""
    chance = random.Random(seed)
    process = start(tmp_path, 2)
    killed = False
    for _ in range(300):
        time.sleep(0.1)
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        own = [int(pid) for pid in children.read_text().split()] if children.exists() else []
        spawned = [pid for pid in own if b"spawn_main" in command_line(pid)]
        if spawned:
            time.sleep(chance.uniform(0.5, 2.5))
            os.kill(spawned[0], signal.SIGKILL)
            killed = True
            break
        if process.poll() is not None:
            break
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    assert killed and files(tmp_path) == alone


def command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


@pytest.mark.slow
def test_dask(alone, tmp_path):
    distributed = pytest.importorskip("distributed", reason="in the extra dask")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            search_unsteady(
                tmp_path,
                executor=client.get_executor(),
                shared=lambda problem: client.scatter(problem, broadcast=True),
            )
    assert files(tmp_path) == alone
