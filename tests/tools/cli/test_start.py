"""Commands load TVM only if they need it, and without torch unless they need that, too."""

import subprocess
import sys

import pytest

from tests.support.models.linear_digits import linear_digits
from tvmq.demo import load_demo
from tvmq.tools.cli.exit_codes import needs_torch, torch_hidden

WITHOUT = """
import importlib.util, sys
from tvmq.tools.cli.exit_codes import torch_hidden
with torch_hidden(["net.onnx", "samples.npz"]):
    assert "tvm_ffi" not in sys.modules
    import tvm
assert "torch" not in sys.modules and len([f for f in sys.meta_path if "Torch" in type(f).__name__]) == 0
importlib.util.find_spec("torch")  # raises ValueError for a module that is blocked
import numpy
print(tvm.runtime.tensor(numpy.float32([1, 2])).numpy().sum())
"""
LIGHT = """
import sys
from tvmq.tools.cli.main import main
sys.argv = ["tvmq", *sys.argv[1:]]
try:
    main()
except SystemExit as end:
    assert end.code in (0, None), end.code
print(sorted({"tvm", "torch", "onnx"} & sys.modules.keys()))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="torch comes first there")
def test_tvm_without_torch():
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ("3.0\n", 0), done.stderr


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="kernels are a library on Linux alone")
def test_run_and_bench_need_no_tvm(tmp_path, cli, monkeypatch):
    import numpy as np

    monkeypatch.chdir(tmp_path)
    example = load_demo()
    (tmp_path / "digits.onnx").write_bytes(linear_digits(example))
    np.save("x.npy", example.test[:60])
    made = cli("quantize", "digits.onnx", "--data", "x.npy", "--calibrate-mode", "minmax", "--no-bench", "-q")
    assert made.code == 0, made.err
    for arguments in (("run", "digits.tvmq", "--data", "x.npy"), ("bench", "digits.tvmq", "--repeat", "3")):
        done = subprocess.run([sys.executable, "-c", LIGHT, *arguments], capture_output=True, text=True)
        assert done.returncode == 0 and done.stdout.splitlines()[-1] == "[]", done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [
    ("quantize", "nope.onnx"), ("inspect", "nope.onnx"), ("explain", "nope.tvmq"), ("verify", "nope.tvmq", "--data", "no.npz"),
    ("compare", "nope.onnx", "nope.tvmq", "--data", "no.npz"), ("report", "nope.onnx"),
    ("search", "nope.onnx", "--data", "no.npz"), ("doctor", "nope.onnx", "--data", "no.npz"),
    ("export-c", "nope.onnx", "-o", "c"), ("tune", "nope.tvmq"),
])  # fmt: skip
def test_a_wrong_path_costs_no_import_of_tvm(arguments, tmp_path):
    code = LIGHT.replace("assert end.code in (0, None), end.code", "assert end.code == 1, end.code")
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0 and done.stdout.splitlines()[-1] == "[]", done.stdout + done.stderr
    assert any(words in done.stderr for words in ("check the path", "does not exist", "there is no such file")), done.stderr


@pytest.mark.parametrize("arguments, needs", [
    (["net.pt2"], True), (["net.onnx", "data.py:batches"], True), (["net.onnx", ["a.npz", "b.pth"]], True),
    (["net.onnx", "data.npz", None, 3, ("a=float",)], False), ([], False),
])  # fmt: skip
def test_what_needs_torch(arguments, needs):
    assert needs_torch(arguments) is needs


def test_nothing_is_done_where_tvm_is_there(monkeypatch):
    import tvm_ffi

    monkeypatch.setitem(sys.modules, "torch", torch := object())
    with torch_hidden(["net.onnx"]):
        assert "Torch" not in type(sys.meta_path[0]).__name__
    assert sys.modules["torch"] is torch and sys.modules["tvm_ffi"] is tvm_ffi
