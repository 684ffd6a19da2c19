"""Commands that need no torch start without it, and can still use it later."""

import subprocess
import sys

import pytest

from tvmq.tools.cli.exit_codes import import_tvm, needs_torch

WITHOUT = """
import importlib.util, sys
from tvmq.tools.cli.exit_codes import import_tvm
import_tvm(["net.onnx", "samples.npz"])
assert "tvm" in sys.modules and "torch" not in sys.modules
importlib.util.find_spec("torch")  # raises ValueError for a module that is blocked
import numpy, tvm
print(tvm.runtime.tensor(numpy.float32([1, 2])).numpy().sum())
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="torch comes first there")
def test_tvm_without_torch():
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ("3.0\n", 0), done.stderr


@pytest.mark.parametrize("arguments, needs", [
    (["net.pt2"], True), (["net.onnx", "data.py:batches"], True), (["net.onnx", ["a.npz", "b.pth"]], True),
    (["net.onnx", "data.npz", None, 3, ("a=float",)], False), ([], False),
])  # fmt: skip
def test_what_needs_torch(arguments, needs):
    assert needs_torch(arguments) is needs


def test_nothing_is_done_where_tvm_is_there(monkeypatch):
    import tvm_ffi

    monkeypatch.setitem(sys.modules, "torch", torch := object())
    import_tvm(["net.onnx"])
    assert sys.modules["torch"] is torch and sys.modules["tvm_ffi"] is tvm_ffi
