"""Workers of a search end with their parent, for any way in which it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

PARENT = """
import multiprocessing, os, time
from concurrent.futures import ProcessPoolExecutor
from tvmq.quantization.search.parent import end_with_parent

if __name__ == "__main__":
    pool = ProcessPoolExecutor(2, multiprocessing.get_context("spawn"), end_with_parent)
    busy = [pool.submit(time.sleep, 60)]
    print(*{pool.submit(os.getpid).result(timeout=60)} | set(pool._processes), flush=True)
    time.sleep(60)
"""


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    with open(f"/proc/{process}/stat") as file:
        return file.read().rpartition(") ")[2][0] != "Z"


@pytest.mark.slow
@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="processes are looked up where Linux lists them")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_search_leaves_no_workers(tmp_path, number):
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True) as parent:
        workers = [int(word) for word in parent.stdout.readline().split()]
        assert len(workers) == 2 and all(map(is_alive, workers))
        parent.send_signal(number)
        parent.wait()
        for _ in range(100):
            if not any(map(is_alive, workers)):
                break
            time.sleep(0.05)
        assert not any(map(is_alive, workers))
