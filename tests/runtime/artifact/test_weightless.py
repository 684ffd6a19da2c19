"""Weights bound to functions: results equal those with constants, in branches, nested calls and dynamic sizes."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
import tvm
import tvm_ffi
from tvm import relax

import tvmq
from tests.support.models.networks import Net, parse
from tvmq.runtime.artifact import loaded_code, weightless
from tvmq.runtime.artifact.bytecode import Bytecode, read_bytecode
from tvmq.runtime.artifact.loaded_code import LoadedCode
from tvmq.runtime.artifact.memory_file import read_written_file
from tvmq.runtime.artifact.quiet import without_noise
from tvmq.runtime.artifact.weightless import BIND, without_weights

MODEL = """
# from tvm.script import ir as I
# from tvm.script import relax as R
@I.ir_module
class Module:
    @R.function
    def weighted(x: R.Tensor(("n", 3), "float32"), v: R.Tensor((3,), "float32")):
        y = R.multiply(x, v)
        return y

    @R.function
    def main(x: R.Tensor(("n", 3), "float32"), c: R.Tensor((), "bool"), w: R.Tensor((3,), "float32"),
             v: R.Tensor((3,), "float32")):
        n = T.int64()
        cls = Module
        if c:
            y = cls.weighted(x, w)
        else:
            y = R.add(R.multiply(x, w), v)
        z = R.add(y, v)
        return z
"""
W, V = np.float32([1, 2, 3]), np.float32([10, 20, 30])


@pytest.fixture(scope="module")
def executable() -> relax.VMExecutable:
    return tvm.compile(relax.transform.LegalizeOps()(parse(MODEL, w=W, v=V)), "llvm")


@pytest.fixture
def code(executable) -> Bytecode:
    with without_noise():
        data = read_written_file(lambda path: executable.mod.write_to_file(path, ""))
    found = read_bytecode(io.BytesIO(data), len(data))
    assert found is not None
    return found


def results(code: Bytecode, executable: relax.VMExecutable) -> list[np.ndarray]:
    machine = LoadedCode(code, executable.mod.imports[0]).machine()
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    given = [[tvm.runtime.tensor(x), tvm.runtime.tensor(np.array(chosen))] for chosen in (True, False)]
    return [np.from_dlpack(machine["main"](*arguments)).copy() for arguments in given]


@pytest.mark.slow
@pytest.mark.parametrize("least", [1, 2**20])
def test_branches_and_calls(code, executable, monkeypatch, least):
    monkeypatch.setattr(weightless, "LARGE", least)
    monkeypatch.setattr(weightless, "WORTH", least)
    bound = without_weights(code).weights
    assert {name: len(weights) for name, weights in bound.items()} == ({"main": 2} if least == 1 else {})
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    chosen, other = results(code, executable)
    assert np.array_equal(chosen, x * W + V) and np.array_equal(other, x * W + V + V)


@pytest.mark.slow
def test_a_function_passes_on_what_another_needs(code, executable, monkeypatch):
    """Weights pass through main to the functions of a partitioned model."""
    monkeypatch.setattr(weightless, "LARGE", 1)
    monkeypatch.setattr(weightless, "WORTH", 1)
    names = [function.name for function in code.functions]
    main, callee = names.index("main"), names.index("weighted")
    tensors = [n for n, value in enumerate(code.constants) if isinstance(value, tvm_ffi.Tensor)]
    number = tensors[-1]
    body = range(code.functions[callee].begin, code.functions[callee].end)
    assert weightless._uses(code, set(tensors)) == {main: tensors}
    # the callee uses a constant of its own where it took its argument
    for place in body:
        words = code.instructions[place]
        code.instructions[place] = words[:4] + [
            weightless.CONSTANT_KIND << weightless.KIND_SHIFT | number if w == 1 else w for w in words[4:]
        ]
    uses = weightless._uses(code, {number})
    assert uses is not None and uses.keys() == {main, callee}
    value = np.from_dlpack(code.constants[number])
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert np.array_equal(results(code, executable)[0], x * value + V)


def test_functions_that_are_values_keep_their_constants(code, monkeypatch):
    monkeypatch.setattr(weightless, "WORTH", 0)
    words = next(words for words in code.instructions if words[0] == weightless.CALL and words[3])
    words[4] = weightless.FUNCTION_KIND << weightless.KIND_SHIFT
    parts = without_weights(code)
    assert parts.weights == {} and BIND.encode() not in parts.code


@pytest.mark.slow
def test_a_model_with_large_weights_is_there_once(tmp_path: Path):
    """Both ways, with the compiler's virtual machine as well."""
    weights = np.random.default_rng(0).normal(size=(1200, 1200)).astype(np.float32)
    mod = parse(
        "@I.ir_module\nclass Module:\n    @R.function\n"
        '    def main(x: R.Tensor((2, 1200), "float32"), w: R.Tensor((1200, 1200), "float32")):\n'
        "        y = R.matmul(x, w)\n        return y\n",
        w=weights,
    )
    exe = tvmq.build(mod)
    exe.save(tmp_path / "m.tvmq")
    loaded, x = tvmq.load(tmp_path / "m.tvmq"), np.random.default_rng(1).normal(size=(2, 1200)).astype(np.float32)
    assert without_weights(loaded._parts.code._code).weights
    assert np.array_equal(loaded(x), exe(x))
    again = relax.VirtualMachine(loaded._parts.executable, tvm.cpu())["main"](tvm.runtime.tensor(x))
    assert np.array_equal(again.numpy(), exe(x))


def test_what_the_runtime_lacks_is_taken_from_the_compiler(code, executable, monkeypatch):
    """A function of TVM that only its compiler's library has, a sort for instance."""
    asked: list[str] = []
    start = loaded_code.start_machine

    def started(module: object) -> object:
        if not asked:
            raise AttributeError("there is no function 'sort'")
        return start(module)

    monkeypatch.setattr(loaded_code, "start_machine", started)
    monkeypatch.setattr(loaded_code, "is_compiler_loaded", lambda: bool(asked))
    monkeypatch.setattr(loaded_code, "load_compiler", lambda: asked.append("compiler"))
    assert len(results(code, executable)) == 2 and asked == ["compiler"]
    asked.clear()
    monkeypatch.setattr(loaded_code, "is_compiler_loaded", lambda: True)
    with pytest.raises(AttributeError, match="sort"):
        LoadedCode(code, executable.mod.imports[0]).machine()


@pytest.mark.slow
def test_weights_of_several_layers_are_there_once(tmp_path: Path):
    """Weights are stored once in the file, and in memory when it is loaded; the module has them all."""
    net = Net((4, 128))
    weight = np.random.default_rng(0).normal(size=(128, 128)).astype(np.float32) / 12
    shared = net.constant(weight)
    y = "x"
    for _ in range(5):
        y = net.op("Relu", net.op("MatMul", y, shared))
    module, params = tvmq.from_onnx(net.model(y))
    feeds = [{"x": np.random.default_rng(i).normal(size=(4, 128)).astype(np.float32)} for i in range(3)]
    exe = tvmq.build(tvmq.quantize(module, params, feeds, guard=None))
    exe.save(tmp_path / "m.tvmq")
    loaded = tvmq.load(tmp_path / "m.tvmq")
    large = [value for value in loaded._parts.code._code.constants if weightless.byte_size(value) >= weight.size]
    distinct = {np.from_dlpack(value).tobytes() for value in large}
    assert len(large) == len(distinct) < 5  # the first layer takes other codes, and may have weights of its own
    for feed in feeds:
        assert np.array_equal(loaded.run(feed)[0], exe.run(feed)[0])
    assert np.array_equal(tvmq.build(loaded.module).run(feeds[0])[0], exe.run(feeds[0])[0])
