"""Who loads a saved model and runs it imports the runtime, not the compiler."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np

import tvmq
from tests.models import block

MOST_MODULES = 40
SCRIPT = """
import sys
import numpy as np
import tvmq
exe = tvmq.load(sys.argv[1])
exe.run({"x": np.load(sys.argv[2])})
print("\\n".join(name for name in sys.modules if name.split(".")[0] == "tvmq"))
"""


def test_load_and_run_import_the_runtime_alone(tmp_path: Path) -> None:
    exe = tvmq.build(block('x: R.Tensor((2, 8), "float32")', "y = R.nn.relu(x)"))
    np.save(tmp_path / "x.npy", np.zeros((2, 8), np.float32))
    exe.save(tmp_path / "m.tvmq")
    call = [sys.executable, "-c", SCRIPT, str(tmp_path / "m.tvmq"), str(tmp_path / "x.npy")]
    loaded = subprocess.run(call, capture_output=True, text=True, check=True).stdout.split()
    assert len(loaded) <= MOST_MODULES, loaded
    rooms = {name.split(".")[1] for name in loaded if "." in name}
    assert rooms.isdisjoint(("compile", "lower", "schedule", "passes", "kernels", "numerics", "graph")), rooms
