"""Self-tests of libraries: every code agrees with the definition, and a damaged constant is found where it is."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest
from tvm import relax

import tvmq
from tests.library.conftest import DigitsLibrary
from tvmq.codegen.target.cpu import missing_requirements, resolve_target
from tvmq.library.call_plan import make_plan
from tvmq.library.compile_library import compile_for
from tvmq.library.golden_values import golden_input, hash_array
from tvmq.runtime.artifact.native_library import runs_linux_x86
from tvmq.runtime.c_library import Buffer
from tvmq.runtime.inputs import aligned_zeros

pytestmark = pytest.mark.skipif(not runs_linux_x86(), reason="libraries are opened on Linux on x86-64 only")
TARGETS = [name for name in ("x86-64-v2", "x86-64-v3", "avx512-vnni") if not missing_requirements(resolve_target(name))]
NULL, MISALIGNED, SHORT, NOT_INITIALIZED, DIFFERS, NO_GOLDEN = -1, -3, -4, -8, -13, -14


class Difference(ctypes.Structure):
    """NAME_difference of the header."""

    _fields_ = (("compared", ctypes.c_uint32), ("number", ctypes.c_uint32), ("layer", ctypes.c_char_p))


class SelfTest:
    """The self-test of a library."""

    def __init__(self, path: Path, name: str) -> None:
        self._library, self._name = ctypes.CDLL(str(path)), name
        self.bytes, self.call = self._function("selftest_bytes"), self._function("selftest")
        self.init, self.select_code = self._function("init"), self._function("select_code")
        self.bytes.restype = ctypes.c_int64
        self.call.argtypes = [Buffer, ctypes.c_void_p]

    def _function(self, name: str) -> ctypes._CFuncPtr:
        return self._library[f"{self._name}_{name}"]

    def run(self) -> tuple[int, int, int, bytes | None]:
        """Status, results that are compared, number and name of the layer that differs; in memory of no zeros."""
        memory, difference = aligned_zeros([self.bytes()], "uint8"), Difference()
        memory[...] = 0xA5
        status = self.call(Buffer(memory.ctypes.data, memory.nbytes), ctypes.byref(difference))
        return status, difference.compared, difference.number, difference.layer


@pytest.fixture(scope="module")
def several(digits: DigitsLibrary, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library of the embedded network for all TARGETS."""
    folder = tmp_path_factory.mktemp("selftest") / "digits"
    return tvmq.export_library(digits.exe, folder, target=TARGETS).library


@pytest.mark.slow_cases("x86-64-v2")
@pytest.mark.parametrize("target", TARGETS)
def test_every_code_agrees_with_the_definition(target, several):
    test = SelfTest(several, "digits")
    assert test.select_code(resolve_target(target).name.encode()) == 0
    status, compared, number, layer = test.run()
    assert (status, number, layer) == (0, compared, None)
    assert compared > 20  # of 26 kernels


@pytest.mark.slow
def test_a_changed_weight_is_found_in_its_layer(digits, tmp_path):
    target = resolve_target("x86-64-v3")
    plan = make_plan(compile_for(digits.module, target).module)
    weights = sorted(plan.constants, key=lambda array: -array.nbytes)[:3]
    export = tvmq.export_library(digits.exe, tmp_path / "digits", target=target)
    library = export.library.read_bytes()
    layers = []
    for array in weights:
        data = array.tobytes()
        assert library.count(data) == 1
        changed = bytes(byte ^ 0x10 for byte in data)
        path = tmp_path / f"changed{len(layers)}.so"
        path.write_bytes(library.replace(data, changed))
        test = SelfTest(path, "digits")
        assert test.init() == 0
        status, compared, number, layer = test.run()
        assert status == DIFFERS and number < compared and layer is not None
        layers.append(layer.decode())
    rows = {row[0] for row in tvmq.explain(digits.exe).rows()}  # of the model that was imported
    assert len(set(layers)) == 3 and set(layers) <= rows


def test_wrong_memory_gets_a_status(several, tmp_path):
    path = tmp_path / "fresh.so"
    path.write_bytes(several.read_bytes())
    test = SelfTest(path, "digits")
    assert test.bytes() == NOT_INITIALIZED == test.call(Buffer(None, 0), None)
    assert test.init() == 0
    memory = aligned_zeros([test.bytes() + 64], "uint8")
    begin, size = memory.ctypes.data, test.bytes()
    assert test.call(Buffer(None, size), None) == NULL
    assert test.call(Buffer(begin + 4, size), None) == MISALIGNED
    assert test.call(Buffer(begin, size - 1), None) == SHORT
    assert test.call(Buffer(begin, size), None) == 0


def test_a_library_may_have_no_golden_values(digits, tmp_path):
    export = tvmq.export_library(digits.exe, tmp_path / "digits", selftest=False)
    test = SelfTest(export.library, "digits")
    assert test.init() == 0 and test.run()[0] == NO_GOLDEN


def test_inputs_of_all_types(tmp_path):
    """Inputs that are results: native code makes the values that Python makes."""
    types = ("float32", "int8", "uint8", "bool", "int32", "int64")
    builder = relax.BlockBuilder()
    params = [relax.Var(f"x{number}", relax.TensorType((3, 5), dtype)) for number, dtype in enumerate(types)]
    with builder.function("main", params):
        with builder.dataflow():
            results = [builder.emit_output(relax.op.reshape(param, (15,))) for param in params]
        builder.emit_func_output(relax.Tuple(results))
    test = SelfTest(tvmq.export_library(builder.get(), tmp_path / "types").library, "types")
    assert test.init() == 0 and test.run() == (0, len(types), len(types), None)


def test_types_without_golden_values():
    assert golden_input(0, {"shape": (2,), "dtype": "float64"}) is None


def test_each_byte_counts_in_a_hash():
    data = np.zeros(100, np.uint8)
    hashes = {hash_array(data)}
    for place in range(100):
        changed = data.copy()
        changed[place] = 128
        hashes.add(hash_array(changed))
    assert len(hashes) == 101
