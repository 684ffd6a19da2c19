"""Libraries as operators of onnxruntime: bits of the definition in sessions of Python and C, threads, refusals."""

from __future__ import annotations

import ctypes
import json
import subprocess
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import tvm

import tvmq
from tests.library.test_export_library import STRICT, needs_gcc
from tests.library.test_threads import LAUNCH
from tvmq.errors import BuildError
from tvmq.library.assemble import REGISTER
from tvmq.library.interface import Interface
from tvmq.library.library_export import LibraryExport
from tvmq.library.operator_file import operator_file
from tvmq.library.size_table import SizeTable
from tvmq.runtime.artifact.native_library import runs_linux_x86
from tvmq.runtime.c_structures import Buffer, Threads, buffer_of
from tvmq.runtime.inputs import aligned_zeros

ort = pytest.importorskip("onnxruntime")
pytestmark = [
    pytest.mark.skipif(not runs_linux_x86(), reason="libraries are opened on Linux on x86-64 only"),
    pytest.mark.skipif("emulated" in ort.InferenceSession.__module__, reason="libraries are not registered in an emulator"),
]
SIZE = 192  # enough work that kernels have parallel loops
# Codes in, codes out, two of each
NETWORK = """
<ir_version: 8, opset_import: ["" : 13]>
network (int8[1,3,S,S] x, int8[1,3,S,S] z) => (int8[1,4,S,S] y, int8[1,3,S,S] m)
<int8[4,3,3,3] w = {W}, float ws = {0.02}, float xs = {0.1}, int8 xz = {3}, int8 wz = {0}, float ys = {0.2}, int8 yz = {-7}>
{
    xr = DequantizeLinear(x, xs, xz)
    wr = DequantizeLinear(w, ws, wz)
    c = Conv<pads = [1, 1, 1, 1]>(xr, wr)
    r = Relu(c)
    y = QuantizeLinear(r, ys, yz)
    m = Max(x, z)
}
"""


@dataclass(frozen=True)
class CodeNetwork:
    """NETWORK as a library, and its definition's results for some inputs."""

    module: tvm.IRModule
    export: LibraryExport
    feeds: dict[str, np.ndarray]
    expected: Sequence[np.ndarray]


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> CodeNetwork:
    """The network of codes."""
    rng = np.random.default_rng(0)
    weights = ",".join(map(str, rng.integers(-127, 128, 4 * 3 * 9)))
    text = NETWORK.replace("S", str(SIZE)).replace("{W}", f"{{{weights}}}")
    mod, params = tvmq.from_onnx(onnx.parser.parse_model(text))
    export = tvmq.export_library(mod, tmp_path_factory.mktemp("ort") / "network", params=params, onnxruntime=True)
    feeds = {name: rng.integers(-128, 128, (1, 3, SIZE, SIZE)).astype(np.int8) for name in "xz"}
    return CodeNetwork(mod, export, feeds, tvmq.reference.run(mod, feeds))


@pytest.fixture(scope="module")
def operator(digits, tmp_path_factory) -> LibraryExport:
    """The embedded network as an operator."""
    return tvmq.export_library(digits.exe, tmp_path_factory.mktemp("ort") / "digits", onnxruntime=True)


def open_session(model: Any, *libraries: Path, threads: int = 1) -> Any:
    """A session of a file or a model with libraries of operators."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 4
    for library in libraries:
        options.register_custom_ops_library(str(library))
    content = model.read_bytes() if isinstance(model, Path) else model.SerializeToString()
    return ort.InferenceSession(content, options, providers=["CPUExecutionProvider"])


def change_model(export: LibraryExport, change: Callable[[onnx.ModelProto], Any]) -> onnx.ModelProto:
    """The file of an export, changed."""
    model = onnx.load(export.onnx)
    change(model)
    return model


def set_attribute(model: onnx.ModelProto, name: str, value: Any) -> None:
    """Give the node another value of an attribute, or none."""
    (node,) = model.graph.node
    kept = [attribute for attribute in node.attribute if attribute.name != name]
    del node.attribute[:]
    node.attribute.extend(kept if value is None else [*kept, onnx.helper.make_attribute(name, value)])


@pytest.mark.parametrize("offset", [0, 4, 60])
def test_bits_of_the_definition_for_inputs_at_any_address(offset, digits, operator):
    session = open_session(operator.onnx, operator.library)
    picture = aligned_zeros([offset + digits.pictures[0].nbytes], "uint8")[offset:].view("float32").reshape(1, 1, 16, 16)
    for values, expected in zip(digits.pictures, digits.expected, strict=True):
        picture[...] = values
        (scores,) = session.run(None, {"image": picture})
        np.testing.assert_array_equal(scores.view(np.int32), expected.view(np.int32))


@pytest.mark.parametrize("offset", [0, 4, 60])
def test_results_are_written_to_any_address(offset, digits, operator):
    session = open_session(operator.onnx, operator.library)
    memory = aligned_zeros([offset + digits.expected[0].nbytes + 4], "uint8")
    scores = memory[offset:-4].view("float32")
    binding = session.io_binding()
    binding.bind_cpu_input("image", digits.pictures[:1])
    binding.bind_output("scores", "cpu", 0, np.float32, (1, 10), scores.ctypes.data)
    session.run_with_iobinding(binding)
    np.testing.assert_array_equal(scores, digits.expected[0][0])
    assert not memory[:offset].any() and not memory[-4:].any()


def test_codes_in_and_out(network):
    onnx.checker.check_model(onnx.load(network.export.onnx), full_check=True)
    session = open_session(network.export.onnx, network.export.library)
    assert [value.type for value in (*session.get_inputs(), *session.get_outputs())] == ["tensor(int8)"] * 4
    results = session.run(None, network.feeds)
    for result, expected in zip(results, network.expected, strict=True):
        np.testing.assert_array_equal(result, expected)
    (sums,) = session.run(["y"], network.feeds)
    np.testing.assert_array_equal(sums, network.expected[0])


def has_parallel_loops(network: CodeNetwork) -> bool:
    """Does a run on several threads give them tasks?"""
    library, launches = ctypes.CDLL(str(network.export.library)), []

    def launch(_pool: int, task: Any, job: int, count: int) -> None:
        launches.append(count)
        for number in range(count):
            task(job, number)

    callback = LAUNCH(launch)
    threads = Threads(2, ctypes.cast(callback, ctypes.c_void_p), None)
    library.network_workspace_bytes.restype = ctypes.c_int64
    library.network_run.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, Buffer, ctypes.c_void_p]
    assert library.network_init() == 0
    tensors = [aligned_zeros(array.shape, "int8") for array in (*network.feeds.values(), *network.expected)]
    workspace = aligned_zeros([library.network_workspace_bytes(None, 2)], "uint8")
    inputs, outputs = ((Buffer * 2)(*map(buffer_of, pair)) for pair in (tensors[:2], tensors[2:]))
    assert library.network_run(None, inputs, outputs, buffer_of(workspace), ctypes.byref(threads)) == 0
    return bool(launches)


@pytest.mark.parametrize("tasks", [1, 3, 8])
@pytest.mark.parametrize("threads", [1, 3])
def test_threads_of_the_session_share_loops(threads, tasks, network):
    assert has_parallel_loops(network)
    model = change_model(network.export, lambda model: set_attribute(model, "tasks", tasks))
    session = open_session(model, network.export.library, threads=threads)
    for _ in range(5):
        for result, expected in zip(session.run(None, network.feeds), network.expected, strict=True):
            np.testing.assert_array_equal(result, expected)


def test_eight_threads_run_one_session(digits, operator):
    session = open_session(operator.onnx, operator.library, threads=2)

    def run(number: int) -> bool:
        picture = number % len(digits.pictures)
        (scores,) = session.run(None, {"image": digits.pictures[picture : picture + 1]})
        return np.array_equal(scores, digits.expected[picture])

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(run, range(400)))


def test_two_libraries_in_one_process_and_in_one_session(digits, operator, network):
    alone = open_session(operator.onnx, operator.library), open_session(network.export.onnx, network.export.library)

    def add_network(model: onnx.ModelProto) -> None:
        other = onnx.load(network.export.onnx)
        for name in ("node", "input", "output"):
            getattr(model.graph, name).extend(getattr(other.graph, name))
        model.opset_import.extend(other.opset_import)

    both = open_session(change_model(operator, add_network), operator.library, network.export.library)
    feeds = {"image": digits.pictures[:1], **network.feeds}
    expected = [digits.expected[0], *network.expected]
    apart = [*alone[0].run(None, {"image": digits.pictures[:1]}), *alone[1].run(None, network.feeds)]
    for result, other, codes in zip(both.run(None, feeds), apart, expected, strict=True):
        np.testing.assert_array_equal(result, codes)
        np.testing.assert_array_equal(other, codes)


def test_the_node_inside_a_larger_graph(digits, operator):
    def surround(model: onnx.ModelProto) -> None:
        (node,), (scores,) = model.graph.node, model.graph.output
        node.input[0] = "picture"
        scores.CopyFrom(onnx.helper.make_tensor_value_info("label", onnx.TensorProto.INT64, [1]))
        model.graph.node.insert(0, onnx.helper.make_node("Identity", ["image"], ["picture"]))
        model.graph.node.append(onnx.helper.make_node("ArgMax", ["scores"], ["label"], axis=1, keepdims=0))
        model.opset_import.append(onnx.helper.make_opsetid("", 13))

    session = open_session(change_model(operator, surround), operator.library)
    for number, scores in enumerate(digits.expected):
        (label,) = session.run(None, {"image": digits.pictures[number : number + 1]})
        np.testing.assert_array_equal(label, scores.argmax(1))


def test_sessions_come_and_go(digits, operator):
    for _ in range(20):
        session = open_session(operator.onnx, operator.library)
        np.testing.assert_array_equal(session.run(None, {"image": digits.pictures[:1]})[0], digits.expected[0])
        del session


def any_shapes(model: onnx.ModelProto) -> None:
    """Declare inputs and outputs of any shape, so that onnxruntime leaves the check to the operator."""
    for value in (*model.graph.input, *model.graph.output):
        value.type.tensor_type.ClearField("shape")


@pytest.mark.parametrize("shape, words", [
    ((2, 1, 16, 16), "[2, 1, 16, 16]"), ((16, 16), "[16, 16]"), ((), "[]"), ((1, 1, 16, 0), "[1, 1, 16, 0]"),
    ((1,) * 9, "[1, 1, 1, 1, 1, 1, 1, 1, ...]"),
])  # fmt: skip
def test_wrong_shapes_are_refused(shape, words, digits, operator):
    session = open_session(change_model(operator, any_shapes), operator.library)
    with pytest.raises(Exception) as caught:
        session.run(None, {"image": np.zeros(shape, np.float32)})
    assert f"digits: input 'image' has shape {words} and the model takes [1, 1, 16, 16]" in str(caught.value)
    np.testing.assert_array_equal(session.run(None, {"image": digits.pictures[:1]})[0], digits.expected[0])


def test_onnxruntime_checks_declared_types_and_shapes(operator):
    session = open_session(operator.onnx, operator.library)
    with pytest.raises(Exception, match="Unexpected input data type"):
        session.run(None, {"image": np.zeros((1, 1, 16, 16))})
    with pytest.raises(Exception, match="Got invalid dimensions for input: image"):
        session.run(None, {"image": np.zeros((2, 1, 16, 16), np.float32)})


@pytest.mark.parametrize("value", ["0" * 64, "0" * 1000, None], ids=["other", "long", "none"])
def test_a_file_of_another_export_is_refused(value, operator):
    model = change_model(operator, lambda model: set_attribute(model, "model_hash", value))
    with pytest.raises(Exception, match="digits: the ONNX file and the library are of different exports, or the node"):
        open_session(model, operator.library)


@pytest.mark.parametrize("tasks, words", [
    (0, "the number 0"), (-3, "the number -3"), (65, "the number 65"), (1.5, "no integer"), (None, "no integer"),
])  # fmt: skip
def test_wrong_tasks_are_refused(tasks, words, operator):
    model = change_model(operator, lambda model: set_attribute(model, "tasks", tasks))
    with pytest.raises(Exception, match=f"digits: the node has {words} as attribute tasks; give it one from 1 to 64"):
        open_session(model, operator.library)


def test_code_for_another_cpu_says_so(network, tmp_path):
    # no CPU has instructions of both: xop was AMD's until 2017, avx512fp16 Intel's of 2023 and AMD's after
    target = "llvm -mcpu=x86-64 -mattr=+xop,+avx512fp16"
    export = tvmq.export_library(network.module, tmp_path / "network", target=target, onnxruntime=True)
    with pytest.raises(Exception, match="network: this processor lacks instructions that the code needs; export it for"):
        open_session(export.onnx, export.library)


class ApiBase(ctypes.Structure):
    """OrtApiBase."""

    _fields_ = (
        ("get_api", ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_uint32)),
        ("get_version", ctypes.CFUNCTYPE(ctypes.c_size_t)),
    )


@pytest.mark.parametrize("version", [b"1.16.3", b"1.9.0", b"0.5", b""])
def test_an_older_onnxruntime_gets_a_sentence(version, operator):
    texts, asked, memory = [], [], ctypes.create_string_buffer(version)
    create_status = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_int, ctypes.c_char_p)(
        lambda _code, text: texts.append(text.decode()) or 7
    )
    table = (ctypes.c_void_p * 1)(ctypes.cast(create_status, ctypes.c_void_p))
    base = ApiBase(
        ApiBase._fields_[0][1](lambda number: asked.append(number) or ctypes.addressof(table)),
        ApiBase._fields_[1][1](lambda: ctypes.addressof(memory)),
    )
    assert getattr(ctypes.CDLL(str(operator.library)), REGISTER)(None, ctypes.byref(base)) == 7
    assert asked == [1]
    assert texts == [f"digits: the library needs onnxruntime 1.17 or newer, and this is {version.decode()}"]


def test_files_are_written_when_asked_for(digits, operator, tmp_path):
    assert not hasattr(ctypes.CDLL(str(digits.export.library)), REGISTER)
    assert digits.export.onnx is None and not list(digits.export.library.parent.glob("*.onnx"))
    assert hasattr(ctypes.CDLL(str(operator.library)), REGISTER)
    assert json.loads(operator.facts.read_text())["functions"][-1] == REGISTER
    assert operator.undefined == digits.export.undefined
    np.testing.assert_array_equal(tvmq.load(operator.library.parent)(digits.pictures[:1]), digits.expected[0])
    again = tvmq.export_library(digits.exe, tmp_path / "digits", onnxruntime=True)
    for path in (operator.onnx, operator.library, operator.facts):
        assert (tmp_path / "digits" / path.name).read_bytes() == path.read_bytes()
    assert again.onnx == tmp_path / "digits" / "digits.onnx"


def test_a_type_that_onnxruntime_has_not_is_refused():
    tensor = {"name": "x", "shape": [2], "dtype": "complex64"}
    with pytest.raises(BuildError, match="'x' is of type complex64, which no operator of onnxruntime takes; export"):
        operator_file(Interface("m", "0", "0", [tensor], [], [], [], [], SizeTable(())))


@needs_gcc
def test_a_c_program_of_onnxruntime(digits, operator, tmp_path):
    """Inputs and results at odd addresses, four threads, sessions that come and go; the program declares what it calls."""
    libraries = sorted(Path(ort.__file__).parent.glob("capi/libonnxruntime.so.*"))
    if not libraries:
        pytest.skip("this onnxruntime has no library for C")
    source, program = Path(__file__).with_name("onnxruntime.c"), tmp_path / "program"
    flags = ["-std=c11", "-D_POSIX_C_SOURCE=200809L", *STRICT]
    subprocess.run(["gcc", *flags, source, "-o", program, "-ldl", "-pthread"], check=True)
    digits.pictures[0].astype(np.float32).tofile(tmp_path / "in")
    digits.expected[0].tofile(tmp_path / "out")
    arguments = [libraries[-1], operator.library, operator.onnx, tmp_path / "in", tmp_path / "out"]
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stdout) == (0, "equal\n"), done.stdout + done.stderr


def test_a_result_that_is_an_input_and_one_that_is_given_twice(tmp_path):
    """Names of a file's values are unique."""
    text = "<ir_version: 8, opset_import: ['' : 13]> g (float[4] x) => (float[4] y, float[4] x) { y = Relu(x) }"
    mod, _ = tvmq.from_onnx(onnx.parser.parse_model(text.replace("'", '"')))
    export = tvmq.export_library(mod, tmp_path / "twice", onnxruntime=True)
    onnx.checker.check_model(onnx.load(export.onnx), full_check=True)
    x = np.array([-1, 2, -3, 4], np.float32)
    results = open_session(export.onnx, export.library).run(None, {"x": x})
    np.testing.assert_array_equal(results, [np.maximum(x, 0), x])
