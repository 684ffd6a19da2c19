"""Fixtures of all tests: the zoo of real models, golden texts, the `isa` marker, the cache of compiled kernels."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import re
import shutil
import signal
import time
from collections import Counter
from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.support.cpu_times import CpuTimes
from tests.support.run_folder import end_as_by_ctrl_c, make_run_folder
from tests.support.thinning import is_kept, is_slow_case
from tests.support.time_limit import TimeLimit, begin_run

# Jobs in the background inherit an ignored SIGINT, and so would the programs that tests interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
os.environ.setdefault("TVM_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ["TVMQ_CHECK_STAGES"] = "1"  # each pass of `quantize` gives a legal module (tvmq/graph/legal_forms.py)

# How long examples take to draw depends on what else the machine does
settings.register_profile("tvmq", suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("tvmq")

GOLDEN = Path(__file__).parent / "golden"
ZOO = Path(os.environ.get("TVMQ_ZOO", Path(__file__).parents[1].parent / "shared" / "zoo"))


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--update-golden` rewrites the golden texts, `--most-minutes` limits the run (tests/support/time_limit.py)."""
    parser.addoption("--update-golden", action="store_true", help="rewrite the golden texts")
    parser.addoption("--most-minutes", type=float, help="skip the tests that would begin later")


def pytest_configure(config: pytest.Config) -> None:
    """Register our marker; one cache folder for all processes of this run, new and empty."""
    config.addinivalue_line("markers", "slow: not part of `make test`, but of `make slow`, which CI runs as well")
    config.addinivalue_line("markers", "isa(name): run only on a CPU (see TVMQ_CPU) with this flag of /proc/cpuinfo")
    config.addinivalue_line("markers", "thinned(n): `make test` runs one in n of the cases, by turns; the rest is slow")
    config.addinivalue_line("markers", "slow_cases(*patterns): cases whose names match one of these patterns are slow")
    config.pluginmanager.register(CpuTimes(), "cpu_times")
    if not hasattr(config, "workerinput"):
        begin_run(os.environ, time.time())
    if config.getoption("--most-minutes") is not None:
        config.pluginmanager.register(TimeLimit(config.getoption("--most-minutes")), "time_limit")
    if hasattr(config, "workerinput"):
        return  # a worker of xdist inherits the folder
    # What is compiled here is what is tested, each kernel once. Tests that tune set a folder of their own.
    folder = make_run_folder("tvmq_tests_")
    os.environ["TVMQ_CACHE"] = str(folder)
    config.add_cleanup(lambda: _remove_cache(folder))
    end_as_by_ctrl_c()


def _remove_cache(folder: Path) -> None:
    # `tvmq inspect` measures the machine once: a test of all commands may be the first
    others = sorted(p.name for p in folder.glob("*") if p.name != "kernels" and not p.match("machine-*.json"))
    shutil.rmtree(folder, ignore_errors=True)
    assert not others, f"a test left {others} in the cache folder of all tests; set TVMQ_CACHE to one of its own"


def cpu_flags() -> set[str]:
    """Features of this CPU, or of TVMQ_CPU, in names of /proc/cpuinfo; empty where it is no x86."""
    from tvmq.codegen.target.host import X86_CODE, host_features

    return {X86_CODE[name] for name in host_features() if name in X86_CODE}


def pytest_report_header() -> str:
    """The CPU that the tests run for: what it lacks is skipped."""
    from tvmq.codegen.target.cpu import resolve_target

    target = resolve_target()
    return f"CPU: {target.mcpu}, level {target.isa.name}" + (" (TVMQ_CPU)" if os.environ.get("TVMQ_CPU") else "")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip tests whose `isa` this CPU lacks."""
    for mark in item.iter_markers("isa"):
        if mark.args[0] not in cpu_flags():
            pytest.skip(f"this CPU lacks {mark.args[0]}")


def _skip_names_of_others(error: Exception) -> None:
    """Skip a test of a CPU of x86, named without a triple, on another architecture; on x86 no failure is a skip."""
    from tvmq.codegen.target.cpu import TRIPLES, X86, host_arch, resolve_target
    from tvmq.errors import TargetError

    if host_arch() == X86:
        return
    unknown = re.search(r"LLVM knows no CPU (feature )?'([^']+)'", str(error))
    for arch, triple in TRIPLES.items() if unknown else ():
        with contextlib.suppress(TargetError):
            option = f"-mattr={unknown[2]}" if unknown[1] else f"-mcpu={unknown[2]}"
            if arch != host_arch() and resolve_target(f"llvm -mtriple={triple} {option}"):
                pytest.skip(f"{unknown[2]} is of {arch}, this machine is {host_arch()}")


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup() -> Generator[None, Any, Any]:
    """Skip what builds for a CPU of another architecture, see pytest_runtest_call."""
    return (yield from _for_this_architecture())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None, Any, Any]:
    """Skip a test that fails since it names a CPU of another architecture; a misspelled name fails everywhere."""
    return (yield from _for_this_architecture())


def _for_this_architecture() -> Generator[None, Any, Any]:
    from tvmq.errors import TargetError

    try:
        return (yield)
    except TargetError as error:
        _skip_names_of_others(error)
        raise


_cases: Counter[str] = Counter()


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark the cases slow that a test marked `thinned(n)` or `slow_cases(*patterns)` leaves out (tests/support/thinning.py)."""
    if not isinstance(item, pytest.Function):
        return
    if any(is_slow_case(item.nodeid, mark.args) for mark in item.iter_markers("slow_cases")):
        item.add_marker(pytest.mark.slow)
    mark = item.get_closest_marker("thinned")
    if mark is None:
        return
    test = item.nodeid.split("[")[0]
    if not is_kept(_cases[test], *mark.args):
        item.add_marker(pytest.mark.slow)
    _cases[test] += 1


@pytest.fixture
def uncached(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test compiles all of its kernels itself, for what it says of compiling them."""
    monkeypatch.setenv("TVMQ_CACHE", "")


@pytest.fixture
def whole_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without TVMQ_CPU: to know another CPU's features, a fresh process would load LLVM, and with it the compiler."""
    monkeypatch.delenv("TVMQ_CPU", raising=False)


@pytest.fixture(scope="session")
def zoo() -> Path:
    """Folder of the real models and their data; tests that need it are skipped where it is absent."""
    if not (ZOO / "tasks.json").exists():
        pytest.skip(f"no zoo of models at {ZOO}; set TVMQ_ZOO to its folder")
    return ZOO


@pytest.fixture(scope="session")
def zoo_task(zoo: Path) -> Callable[[str], Any]:
    """Gives a task of the zoo by name; the test is skipped where its model is absent."""
    spec = importlib.util.spec_from_file_location("zoo_tasks", zoo / "tasks.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    tasks = module.tasks(str(zoo))

    def task(name: str) -> Any:
        if name not in tasks:
            pytest.skip(f"{name} is not in the zoo; make_minilm.py writes it, set ZOO_CACHE to its folder")
        return tasks[name]

    return task


@dataclass(frozen=True)
class Digits:
    """Stages of the embedded network: data, float and integer module, executable, saved file."""

    example: Any
    mod: Any
    params: Any
    quantized: Any
    exe: Any
    path: Path
    sha256: str

    def pictures(self, count: int) -> dict[str, Any]:
        """The first test pictures."""
        return {"image": self.example.test[:count]}


@pytest.fixture(scope="session")
def digits(tmp_path_factory: pytest.TempPathFactory) -> Digits:
    """Quantized and built once for all tests."""
    import tvmq
    from tvmq.demo import load_demo

    example = load_demo()
    mod, params = tvmq.from_onnx(example.model, shape={"image": (1, *example.test.shape[1:])})
    quantized = tvmq.quantize(mod, params, {"image": example.calibration[:32]})
    exe = tvmq.build(quantized)
    path = tmp_path_factory.mktemp("digits") / "digits.tvmq"
    return Digits(example, mod, params, quantized, exe, path, exe.save(path))


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str], None]:
    """Compare a text with tests/golden/<test file>/<test name>.txt."""
    path = GOLDEN / request.path.stem / f"{request.node.name}.txt"

    def check(text: str) -> None:
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        assert path.exists(), f"no {path.relative_to(GOLDEN.parent)}; run pytest --update-golden"
        assert text == path.read_text()

    return check
