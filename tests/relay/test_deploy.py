"""`lib.export_library("deploy.so")`: one C library, which runs as scripts of Relay write it, without TVM."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import warnings

import numpy as np
import pytest
import tvm
from tvm import relax

import tvmq
from tests.library.conftest import quantize_digits
from tvmq import relay
from tvmq.demo import load_demo
from tvmq.errors import ArtifactError, ConfigError, OutputError
from tvmq.relay import graph_executor, nn
from tvmq.relay.executor_factory import ExecutorFactoryModule, load_module
from tvmq.relay.expr import const, var
from tvmq.relay.module import IRModule
from tvmq.runtime.artifact.native_library import runs_linux_x86

pytestmark = pytest.mark.skipif(not runs_linux_x86(), reason="libraries are opened on Linux on x86-64 only")
DEVICE = tvm.cpu(0)
X = np.array([[-1, 2, 3], [4, -5, 6]], "float32")
Y = np.maximum(X, 0) + 1
WITHOUT_TVM = """
import sys
sys.modules.update(tvm=None, tvm_ffi=None)  # an import of them fails
import numpy as np
from tvmq import relay
from tvmq.relay import graph_executor

lib = relay.load_module(sys.argv[1])
module = graph_executor.GraphModule(lib["default"]())
module.set_input("image", np.load(sys.argv[2]))
module.run()
np.save(sys.argv[3], module.get_output(0).numpy())
own = np.empty((1, 10), "float32")
assert module.get_output(0, own) is own and (own == module.get_output(0).asnumpy()).all()
print(module.get_input_info(), module.get_num_outputs(), module.get_output(0).shape)
"""


@pytest.fixture(scope="module")
def built() -> ExecutorFactoryModule:
    """max(x, 0) + 1."""
    return relay.build(IRModule.from_expr(nn.relu(var("x", shape=X.shape)) + const(1.0)), "llvm")


def test_a_library_runs_as_scripts_write_it(built, tmp_path):
    path = tmp_path / "deploy.so"
    digest = built.export_library(str(path))
    assert [one.name for one in tmp_path.iterdir()] == ["deploy.so"]
    assert hashlib.sha256(path.read_bytes()).hexdigest() == digest
    lib = load_module(str(path))
    module = graph_executor.GraphModule(lib["default"](DEVICE))
    module.set_input("x", tvm.runtime.tensor(X))
    module.run()
    result = module.get_output(0)
    assert isinstance(result, tvm.runtime.Tensor)
    np.testing.assert_array_equal(result.numpy(), Y)
    assert (lib.target, module.get_num_inputs(), module.get_input_index("x")) == (None, 1, 0)
    np.testing.assert_array_equal(module.module["get_output"](0).numpy(), Y)
    assert len(module.benchmark(DEVICE, repeat=2, number=1).results) == 2
    np.testing.assert_array_equal(tvmq.load(path)(X), Y)
    other = graph_executor.create(lib.get_graph_json(), lib, DEVICE)
    other.run(x=-X)
    np.testing.assert_array_equal(other.get_output(0).numpy(), np.maximum(-X, 0) + 1)
    np.testing.assert_array_equal(module.get_output(0).numpy(), Y)


def test_another_suffix_is_a_saved_model(built, tmp_path):
    built.export_library(tmp_path / "deploy.tar")
    assert isinstance(load_module(tmp_path / "deploy.tar").executable, tvmq.Executable)


def test_what_a_library_cannot_hold_is_a_saved_model_with_a_warning(tmp_path):
    x, builder = relax.Var("x", relax.TensorType((2, 50), "float32")), relax.BlockBuilder()
    with builder.function("main", [x]):
        with builder.dataflow():
            y = builder.emit_output(relax.op.sort(x))
        builder.emit_func_output(y)
    lib = relay.build(builder.get(), "llvm")
    with pytest.warns(UserWarning, match="deploy.so' will be a saved model, which TVM runs: export_library: "):
        lib.export_library(tmp_path / "deploy.so")
    assert isinstance(load_module(tmp_path / "deploy.so").executable, tvmq.Executable)


def test_refusals(built, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(OutputError, match="export_library: cannot write"):
            built.export_library(tmp_path / "none" / "deploy.so")
        built.export_library(tmp_path / "deploy.so")
    lib = load_module(tmp_path / "deploy.so")
    with pytest.raises(ConfigError, match="the module was loaded from '.*deploy.so'; copy that file"):
        lib.export_library(tmp_path / "copy.so")
    with pytest.raises(ConfigError, match="a .so has no names of layers; export the model with another suffix"):
        graph_executor.GraphModuleDebug(lib["debug_create"]("default", DEVICE)).run(x=X)
    (tmp_path / "other.so").write_bytes(b"\x7fELF")
    with pytest.raises(ArtifactError, match="other.so' is no library of a model"):
        load_module(tmp_path / "other.so")


@pytest.mark.slow
def test_a_quantized_network_without_tvm(tmp_path):
    module, picture = quantize_digits(), load_demo().test[:1]
    relay.build(module, "llvm").export_library(tmp_path / "deploy.so")
    np.save(tmp_path / "in.npy", picture)
    command = [sys.executable, "-c", WITHOUT_TVM, *(tmp_path / name for name in ("deploy.so", "in.npy", "out.npy"))]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert shown.strip() == "({'image': (1, 1, 16, 16)}, {'image': 'float32'}) 1 (1, 10)"
    expected = tvmq.reference.run(module, {"image": picture})[0]
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), expected)
