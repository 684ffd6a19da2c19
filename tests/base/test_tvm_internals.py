"""Private facts of TVM that tvmq depends on, each checked against the installed TVM; a failure says what broke."""

from __future__ import annotations

import ctypes
import io
import json
import re
import struct
from pathlib import Path

import numpy as np
import pytest
import tvm
import tvm_ffi
from tvm import relax, tirx
from tvm.script.ir_builder import IRBuilder
from tvm.script.ir_builder import tirx as T

from tests.support.models.networks import parse, text_of
from tests.support.project import ROOT, source_files
from tvmq.base import tvm_internals as internals
from tvmq.codegen.compile.vm_pipeline import compile_module
from tvmq.codegen.target.cpu import resolve_target
from tvmq.runtime import threads
from tvmq.runtime.artifact.bytecode import read_bytecode
from tvmq.runtime.threads import with_threads

MODEL = text_of('x: R.Tensor((2, 3), "float32")', 'y = R.add(x, R.const([1.5, 2.5, 3.5], "float32"))')
CHAIN = MODEL.replace("R.output(y)", "z = R.exp(y)\n            R.output(z)").replace("return y", "return z")
VALUES = np.array([1.5, 2.5, 3.5], np.float32)


@pytest.fixture(scope="module")
def module() -> tvm.IRModule:
    return parse(MODEL)


@pytest.fixture(scope="module")
def code(module: tvm.IRModule, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The bytecode as TVM writes it."""
    path = tmp_path_factory.mktemp("code") / "vm.bin"
    compile_module(module, resolve_target()).code.mod.write_to_file(str(path), "")
    return path.read_bytes()


def test_nodes_stand_behind_what_they_hold(module: tvm.IRModule) -> None:
    broken = "TVM writes the nodes of a module in another order: artifact/module_bytes.py would refuse every saved module"
    graph = json.loads(tvm.ir.save_json(module))
    internals.check_references(graph)
    assert internals._literal_fields("ir.IntImm") == {"value"}, broken
    assert internals._literal_fields("relax.TensorType") == {"ndim"}, broken
    kinds = {node["type"] for node in graph["nodes"]}
    assert {"ffi.Array", "ffi.Map", "relax.expr.Function"} <= kinds and set(internals.CONTAINERS) & kinds, broken


def test_tensors_are_written_as_before(code: bytes) -> None:
    broken = "TVM writes tensors in another form: artifact/shared_constants.py and bytecode.py would not find constants"
    head = internals.TENSOR_HEAD.pack(*struct.unpack("<Q", internals.TENSOR_MARK), 0, internals.CPU, 0, 1, 2, 32, 1)
    whole = head + internals.TENSOR_SIZE.pack(3) + internals.TENSOR_SIZE.pack(12) + VALUES.tobytes()
    assert whole in code, broken


def test_bytecode_has_the_form_that_we_read(code: bytes) -> None:
    broken = "TVM writes bytecode in another form: tvmq.load falls back to TVM's reader, slower (artifact/bytecode.py)"
    version = internals.BYTECODE_VERSION.encode()
    assert code.startswith(internals.BYTECODE_MARK + struct.pack("<q", len(version)) + version), broken
    read = read_bytecode(io.BytesIO(code), len(code))
    assert read is not None, broken
    codes = {words[0] for words in read.instructions}
    assert {internals.CALL, internals.RETURN} <= codes <= {*internals.INSTRUCTION_WORDS, internals.CALL}, broken
    kinds = {function.kind for function in read.functions}
    assert kinds == {internals.PACKED_FUNCTION, internals.BYTECODE_FUNCTION}, broken


def test_constants_have_the_numbers_that_we_read(tmp_path: Path) -> None:
    broken = "TVM numbers constants of bytecode otherwise: artifact/bytecode.py would not read them"
    values = {
        internals.TEXT_CONSTANT: "text",
        internals.SHAPE_CONSTANT: tvm_ffi.Shape([3]),
        internals.DATA_TYPE_CONSTANT: tvm.DataType("int8"),
        internals.TENSOR_CONSTANT: tvm.runtime.tensor(VALUES),
    }
    for number, value in values.items():
        builder = relax.ExecBuilder()
        assert builder.convert_constant(value) == internals.CONSTANT, broken
        builder.get().mod.write_to_file(str(tmp_path / "vm.bin"), "")
        data = (tmp_path / "vm.bin").read_bytes()
        behind_header = len(internals.BYTECODE_MARK) + 8 + len(internals.BYTECODE_VERSION) + 2 * 8
        assert struct.unpack_from("<qi", data, behind_header) == (1, number), f"{broken}: {type(value).__name__}"


def test_json_holds_constants_as_before(module: tvm.IRModule) -> None:
    broken = "TVM's JSON holds constants in another form: artifact/module_bytes.py could not take them out"
    (node,) = internals.tensor_nodes(json.loads(tvm.ir.save_json(module)))
    data = internals.decode_tensor(node["data"])
    assert data.startswith(internals.TENSOR_MARK) and data.endswith(VALUES.tobytes()), broken
    assert internals.encode_tensor(data) == node["data"], broken


def test_bytecode_is_made_without_kernels() -> None:
    broken = "relax.build has no step of its own for bytecode: compile/vm_pipeline.py cannot leave out the kernels"
    lowered = relax.get_default_pipeline(tvm.target.Target("llvm"))(parse(MODEL))
    executable = internals.bytecode_of(lowered)
    assert "main" in executable.as_text() and not list(executable.mod.imports), broken


def _read(kind: int, dtype: str, rank: int) -> int:
    """A field of a tensor argument, read by compiled code as compile/native_main.py writes it."""
    builder, frame = IRBuilder(), T.prim_func(s_tir=True)
    with builder, frame:
        T.func_name("kernel")
        T.func_attr({"global_symbol": "kernel"})
        T.arg("x", T.buffer((4,) * rank, "float32"))
        y = T.arg("y", T.buffer((1,), "int64"))
        tensors = T.Bind(T.tvm_stack_alloca("array", 1))
        T.evaluate(T.tvm_struct_set(tensors, 0, kind, tirx.const(rank, dtype)))
        T.buffer_store(y, T.tvm_struct_get(tensors, 0, kind, dtype).astype("int64"), [0])
    library = tvm.compile(tvm.IRModule({"kernel": builder.get()}), "llvm")
    result = tvm.runtime.tensor(np.zeros(1, np.int64))
    library["kernel"](tvm.runtime.tensor(np.zeros((4,) * rank, np.float32)), result)
    return int(result.numpy()[0])


@pytest.mark.parametrize("field", [internals.RANK, internals.DEVICE_ID, internals.DEVICE_TYPE])
def test_fields_of_tensors_have_their_numbers(field: int) -> None:
    broken = "TVM numbers the fields of a tensor otherwise: compile/native_main.py would pass broken tensors"
    assert _read(field, "int32", 3) == 3, broken


@pytest.mark.parametrize("name", [
    internals.LOAD_BYTECODE, internals.LOAD_BITCODE, internals.LOAD_LIBRARY, internals.PACK_IMPORTS,
    internals.SET_THREADS, internals.DO_NOTHING,
])  # fmt: skip
def test_global_functions_have_their_names(name: str) -> None:
    found = tvm_ffi.get_global_func(name, allow_missing=True)
    assert found is not None, f"TVM has no function {name!r}: see who takes it from tvmq/base/tvm_internals.py"


def test_threads_that_work_at_a_task_are_counted_where_a_fork_looks() -> None:
    broken = "TVM counts the threads of a task elsewhere: a forked child could not use its pool (runtime/threads.py)"
    counts = []

    def count(_number: int, group: int, _data: int | None) -> int:
        counts.append(ctypes.c_int32.from_address(group + internals.PENDING_TASKS).value)
        return 0

    def launch() -> None:
        assert threads._launch()(threads._TASK(count), None, 1) == 0

    if with_threads(2, tvm.runtime.num_threads) < 2:
        pytest.skip("this process may use one CPU alone")
    with_threads(2, launch)  # in a thread of its own, whose pool is started here
    assert counts == [1], broken


def test_functions_have_their_symbols() -> None:
    broken = "TVM names compiled functions otherwise: compile/native_main.py and kernel_objects.py would not find them"
    builder, frame = IRBuilder(), T.prim_func(s_tir=True)
    with builder, frame:
        T.func_name("kernel")
        T.func_attr({"global_symbol": "kernel"})
        y = T.arg("y", T.buffer((1,), "int64"))
        T.buffer_store(y, tirx.const(1, "int64"), [0])
    with tvm.target.Target("llvm"):
        library = tvm.tirx.build(tvm.IRModule({"kernel": builder.get()}), target=tvm.target.Target("llvm"))
    host = library if library.kind == "llvm" else next(iter(library.imports))
    assert f"@{internals.SYMBOL}kernel(" in host.inspect_source("ll"), broken


@pytest.mark.parametrize("pattern, groups", [(internals.OPAQUE, 0), (0, 1)])
def test_what_must_not_be_fused_has_its_number(pattern: int, groups: int) -> None:
    broken = "TVM numbers operator patterns otherwise: our kernels would be fused with others (schedule/generic.py)"
    loops = relax.transform.LegalizeOps()(parse(CHAIN))
    for gvar, func in loops.functions_items():
        if isinstance(func, tirx.PrimFunc):
            loops.update_func(gvar, func.with_attr("op_pattern", pattern))
    fused = relax.transform.FuseOps()(loops)
    made = [func for _, func in fused.functions_items() if func.attrs and "Primitive" in func.attrs]
    assert len(made) == groups, broken


PRIVATE = re.compile(
    r"\b(?:tvm|relax|tirx|vm_build|tvm_ffi)\.(?:\w+\.)*_[a-z]\w*\(|0x(?!80{15})[0-9A-Fa-f]{16}|\"ffi\.Module\.|\"__tvm_ffi"
)


@pytest.mark.parametrize("path", [p for p in source_files() if "relay" not in p.parts], ids=lambda p: p.stem)
def test_no_other_file_knows_private_things(path: Path) -> None:
    if path.name != "tvm_internals.py":
        found = PRIVATE.search(path.read_text())
        assert found is None, f"{path.relative_to(ROOT)}: {found[0]!r} belongs into tvmq/base/tvm_internals.py"
