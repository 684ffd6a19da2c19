"""Numbers of threads that a model uses, beside other models and Python threads."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import tvm

import tvmq
from tests.support.models.networks import parse, text_of
from tvmq.base import tvm_runtime
from tvmq.base.cpus import ALLOWED_CPUS, default_threads
from tvmq.base.tvm_runtime import BIND_VARIABLE, NOT_BOUND, SPIN_COUNT, SPIN_VARIABLE
from tvmq.errors import ConfigError
from tvmq.runtime.threads import in_threads

# Large enough for parallel regions.
CONV = text_of(
    'x: R.Tensor((1, 16, 40, 40), "float32"), w: R.Tensor((FILTERS, 16, 3, 3), "float32")',
    "y = R.nn.conv2d(x, w)\nz = R.nn.relu(y)",
    inputs=1,
)


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
    assert os.sched_getaffinity(0) == ALLOWED_CPUS


@pytest.fixture
def two_cpus() -> list[int]:
    if not hasattr(os, "sched_getaffinity") or len(os.sched_getaffinity(0)) < 2:
        pytest.skip("this process may use one CPU alone, or the system does not tell")
    return sorted(os.sched_getaffinity(0))


def test_a_thread_with_fewer_cpus_keeps_them(models: list[tvmq.Executable], two_cpus: list[int]) -> None:
    def run() -> list[set[int]]:
        os.sched_setaffinity(0, two_cpus[1:2])
        return [(seen(exe), os.sched_getaffinity(0))[1] for exe in models]

    with ThreadPoolExecutor(1) as fresh:
        assert fresh.submit(run).result() == [{two_cpus[1]}] * 2


@pytest.mark.slow
def test_taskset_holds_for_all_threads(models: list[tvmq.Executable], two_cpus: list[int], tmp_path: Path) -> None:
    """TVM's library imports torch where it is installed, whose MKL may take all CPUs; a module here imitates it."""
    (tmp_path / "torch.py").write_text(f"import os\nos.sched_setaffinity(0, {two_cpus})\nraise ImportError('no torch')")
    models[1].save(tmp_path / "m.tvmq")
    code = (
        "import os, tvmq, numpy as np\n"
        "masks = lambda: {cpu for task in os.listdir('/proc/self/task') for cpu in os.sched_getaffinity(int(task))}\n"
        "took = [masks()]\n"
        "for threads in (1, 2):\n"
        f"    exe = tvmq.load({str(tmp_path / 'm.tvmq')!r}, num_threads=threads); took.append(masks())\n"
        "    exe.run({'x': np.zeros((1, 16, 40, 40), np.float32)}); took.append(masks())\n"
        "tvmq.build; took.append(masks()); print(*took)"
    )
    start = f"import os; os.sched_setaffinity(0, {two_cpus[1:2]})\n"
    env = dict(os.environ, PYTHONPATH=os.pathsep.join([str(tmp_path), *filter(None, sys.path)]), TVM_NUM_THREADS="2")
    ran = subprocess.run([sys.executable, "-c", start + code], env=env, check=True, capture_output=True, text=True)
    assert ran.stdout.split() == [f"{{{two_cpus[1]}}}"] * 6


def test_a_thread_without_work_soon_sleeps(models: list[tvmq.Executable], two_cpus: list[int]) -> None:
    """300,000 looks for work, TVM's default, take 0.06 s and more, and on a busy machine as many turns of others."""
    if os.environ[SPIN_VARIABLE] != SPIN_COUNT or not Path("/proc/self/schedstat").exists():
        pytest.skip("the environment says how often, or the system does not tell what threads use")
    before = {*os.listdir("/proc/self/task")}

    def run() -> list[float]:
        seen(models[1])
        workers = {*os.listdir("/proc/self/task")} - before - {str(threading.get_native_id())}
        time.sleep(0.2)
        return [int(Path(f"/proc/self/task/{w}/schedstat").read_text().split()[0]) / 1e9 for w in workers]

    with ThreadPoolExecutor(1) as fresh:
        seconds = fresh.submit(run).result()
    assert seconds and max(seconds) < 0.02


@pytest.mark.slow
def test_a_script_ends_on_a_busy_machine(models: list[tvmq.Executable], two_cpus: list[int], tmp_path: Path) -> None:
    models[1].save(tmp_path / "m.tvmq")
    code = (
        "import time, tvmq, numpy as np\n"
        f"exe = tvmq.load({str(tmp_path / 'm.tvmq')!r}, num_threads=2)\n"
        "exe.run({'x': np.zeros((1, 16, 40, 40), np.float32)}); print(time.time())"
    )
    env = {name: text for name, text in os.environ.items() if name != "TVM_THREAD_POOL_SPIN_COUNT"}
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in two_cpus]
    try:
        ran = subprocess.run([sys.executable, "-c", code], env=env, check=True, stdout=subprocess.PIPE, timeout=120)
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()
    assert time.time() - float(ran.stdout) < 30


@pytest.mark.parametrize("own", ["7", None])
@pytest.mark.parametrize("name, default", [(SPIN_VARIABLE, SPIN_COUNT), (BIND_VARIABLE, NOT_BOUND)])
def test_what_the_user_says_of_threads_stays(
    name: str, default: str, own: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, own or "")
    if own is None:
        monkeypatch.delenv(name)
    tvm_runtime.library.__wrapped__()
    assert os.environ[name] == (own or default)


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
    assert 1 <= default_threads() <= len(ALLOWED_CPUS)
    for bad in ("0", "two", "-1"):
        monkeypatch.setenv("TVMQ_NUM_THREADS", bad)
        with pytest.raises(ConfigError, match=f"TVMQ_NUM_THREADS must be an integer of at least 1. Got '{bad}'"):
            default_threads()


@pytest.mark.parametrize("count", [0, 2.0, True])
def test_wrong_numbers(count: object) -> None:
    with pytest.raises(ConfigError, match="build: num_threads must be an integer of at least 1"):
        conv(8, count)  # type: ignore[arg-type]
