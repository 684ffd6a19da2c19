"""A program that loads and runs a saved model loads the runtime, not the compiler."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import tvmq
from tests.support.models.networks import parse, text_of

MODEL = text_of('x: R.Tensor((2, 3), "float32"), y: R.Tensor((2, 3), "float32")', "z = R.add(x, y)")
LOAD = """
import sys
import numpy as np
import tvmq
inputs = {name: np.ones((2, 3), np.float32) for name in "xy"}
model = tvmq.load(sys.argv[1])
"""
RUN = """
(result,) = model.run(inputs)
assert (result == 2).all()
assert "tvm" not in sys.modules, "the runtime library is enough"
print(*sorted(name for name in sys.modules if name == "tvmq" or name.startswith("tvmq.")))
"""
ASK = """
print(model.ledger.stage, len(model.profile(inputs, repeat=1).layers), "R.add" in str(model.module))
(result,) = model.run(inputs)
assert (result == 2).all()
"""
MOST = 45  # two of them are heads of rooms, without code
COMPILER = tuple(
    f"tvmq.{place}"
    for place in ("codegen.compile", "codegen.lower", "codegen.schedule", "codegen.performance", "codegen.kernels")
    + ("passes", "graph", "numerics")
)


def printed(tmp_path: Path, program: str) -> list[str]:
    """Output of a fresh Python that has loaded a saved model."""
    path = tmp_path / "m.tvmq"
    tvmq.build(parse(MODEL)).save(path)
    command = [sys.executable, "-c", LOAD + program, str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


@pytest.mark.slow
@pytest.mark.usefixtures("whole_cpu")
def test_load_and_run_import_the_runtime_only(tmp_path: Path) -> None:
    modules = printed(tmp_path, RUN)
    assert len(modules) <= MOST, f"{len(modules)} modules: {modules}; import inside a function what no run needs"
    assert not [name for name in modules if name.startswith(COMPILER)]


RESIDENT = """
from pathlib import Path
model.run(inputs)
print(next(line.split()[1] for line in Path("/proc/self/status").read_text().splitlines() if "VmRSS" in line))
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="Linux tells how much memory is resident")
@pytest.mark.skipif(bool(find_spec("torch")), reason="tvm_ffi imports torch where it is installed")
@pytest.mark.usefixtures("whole_cpu")
def test_a_serving_process_is_small(tmp_path: Path) -> None:
    """190 MiB with TVM's compiler, about 50 without."""
    (kilobytes,) = printed(tmp_path, RESIDENT)
    assert int(kilobytes) < 80 * 1024


@pytest.mark.slow
def test_what_needs_the_compiler_loads_it_when_asked(tmp_path: Path) -> None:
    assert printed(tmp_path, ASK) == ["prepared", "1", "True"]
