"""Private facts of TVM 0.27 that tvmq relies on: all that no documentation of TVM promises.

tests/base/test_tvm_internals.py asks each of these facts of the TVM that is installed, and says in one sentence which
part of tvmq stands on the one that changed. Everything else of tvmq uses TVM's public interface.
"""

from __future__ import annotations

import base64
import json
import math
import struct
from collections.abc import Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from tvmq.base.tvm_runtime import runtime_function

if TYPE_CHECKING:  # who runs a saved model has no compiler
    import tvm
    from tvm import relax

# How TVM writes a tensor: mark, reserved, device, rank, type code, bits, lanes; sizes; bytes of data; data
TENSOR_MARK = struct.pack("<Q", 0xDD5E40F096B4A13F)
TENSOR_HEAD, TENSOR_SIZE = struct.Struct("<QQiiiBBH"), struct.Struct("<q")
DTYPE = struct.Struct("<BBH")
TYPE_CODES = {0: "int", 1: "uint", 2: "float", 4: "bfloat", 6: "bool"}
MOST_AXES = 32
POINTER = 3  # a type code of no constant
CPU = 1  # a device

# Bytecode of the virtual machine; what stands where is told in artifact/bytecode.py
BYTECODE_MARK, BYTECODE_VERSION = struct.pack("<Q", 0xD225DE2F4214151E), "0.14"
DATA_TYPE_CONSTANT, TEXT_CONSTANT, SHAPE_CONSTANT, TENSOR_CONSTANT = 5, 65, 69, 70
PACKED_FUNCTION, BYTECODE_FUNCTION = 0, 1
CALL, RETURN, GOTO, IF = 1, 2, 3, 4  # instructions
INSTRUCTION_WORDS = {RETURN: 1, GOTO: 1, IF: 2}  # behind the first; those of a call say how many arguments there are
CONSTANT = 2 << 56  # how an argument names the constant of a number
# what an argument is, above its number
KIND_SHIFT, REGISTER_KIND, IMMEDIATE_KIND, CONSTANT_KIND, FUNCTION_KIND = 56, 0, 1, 2, 3
FIRST_SPECIAL_REGISTER, SPECIAL_REGISTERS = 1 << 54, 2  # no result, the machine itself: not in the memory of a function

# Fields of a tensor and of an argument of TVM's calls (TVM's builtin.h), and what marks an argument as a tensor
ADDRESS, DATA, SHAPE, STRIDES, RANK, BYTE_OFFSET, DEVICE_ID, DEVICE_TYPE = 0, 1, 2, 3, 4, 8, 9, 10
TYPE, PADDING, VALUE = 13, 14, 15
INTEGER, TENSOR = 1, 7  # types
SYMBOL = "__tvm_ffi_"  # before the name of a function that is called so
MAIN_SYMBOL = SYMBOL + "main"  # what every object file of LLVM's has beside its functions

# Bytes from what a task of the pool is given (TVMParallelGroupEnv) to the count of its threads that have not ended it
PENDING_TASKS = 20

OPAQUE = 8  # operator pattern: never fused
HOST_FUNCTION = "tirx.is_host_func"  # attribute of functions that compute shapes, and of no kernel

# Names of TVM's global functions
LOAD_BYTECODE = "ffi.Module.load_from_bytes.relax.VMExecutable"
LOAD_BITCODE = "ffi.Module.load_from_file.ll"  # reads bitcode as well as text
LOAD_LIBRARY = "ffi.Module.load_from_file.so"  # unlike tvm.runtime.load_module, which keeps what it loads
LOAD_CUDA = "ffi.Module.load_from_bytes.cuda"
PACK_IMPORTS = "runtime.ModulePackImportsToTensor"
SET_THREADS = "runtime.config_threadpool"
DO_NOTHING = "testing.nop"
# ... of the virtual machine: a function with its last arguments bound, and its call
MATCH_SHAPE = "vm.builtin.match_shape"
MAKE_CLOSURE, INVOKE_CLOSURE = "vm.builtin.make_closure", "invoke_closure"
# what a shared library asks the runtime for where a kernel calls a function by its name
LOOKUPS = (b"TVMFFIEnvModLookupFromImports", b"TVMFFIFunctionGetGlobal")
# ... and of those that TVM looks for: who compiles CUDA C++, and who sees it before
COMPILE_CUDA, SEE_CUDA = "tvm_callback_cuda_compile", "tvm_callback_cuda_postproc"

TENSOR_NODE = "ffi.Tensor"  # type of the nodes of a module's JSON that hold a constant
CONTAINERS = ("ffi.Array", "ffi.List", "ffi.Map", "ffi.Dict")  # ... and of those that hold places of nodes
UNKNOWN_TYPE = (ValueError, KeyError, RuntimeError)  # what asking for a type that is not there raises
NULLABLE = ("ir.Span", "ir.Attrs", "ir.SourceMap")  # objects that may be null though their schema does not say so
# Operators whose inference reads attributes that their records do not name, and dies without
ATTRIBUTES = {
    "relax.matmul": "relax.attrs.MatmulAttrs", "relax.ccl.allgather": "relax.attrs.AllGatherAttrs",
    **dict.fromkeys(("relax.argmax", "relax.argmin"), "relax.attrs.ArgmaxArgminAttrs"),
    **dict.fromkeys(
        (f"relax.{name}" for name in ("max", "mean", "median", "min", "prod", "std", "sum", "variance")),
        "relax.attrs.StatisticalAttrs",
    ),
}  # fmt: skip
LITERALS = ("int", "float", "bool", "ffi.BigInt")  # types of fields that stand in it as they are


def global_function(name: str) -> Callable[..., Any]:
    """A function of TVM from the list above."""
    return runtime_function(name)


def bytecode_of(lowered: tvm.IRModule) -> relax.VMExecutable:
    """The bytecode of a module without its kernels: what relax.build does before it compiles them."""
    from tvm import relax
    from tvm.relax import vm_build

    builder = relax.ExecBuilder()
    vm_build._vmcodegen(builder, lowered)  # noqa: SLF001
    return builder.get()


def tensor_nodes(graph: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The nodes of a module's JSON that hold constants, in their "data"."""
    return (node for node in graph["nodes"] if node["type"] == TENSOR_NODE)


def check_references(graph: dict[str, Any]) -> None:
    """ValueError where a node of a module's JSON names one that does not stand before it.

    TVM writes what a node holds before the node. It follows an endless chain until the process dies.
    """
    for place, node in enumerate(graph["nodes"]):
        data = node.get("data")
        if node["type"] in CONTAINERS:
            references = data
        elif isinstance(data, dict):
            try:
                literal = _literal_fields(node["type"])
            except UNKNOWN_TYPE:  # of an operator that nobody has made in this process: TVM says so
                continue
            references = [value for name, value in data.items() if name not in literal and type(value) is int]
        else:
            continue
        for other in references:
            if type(other) is not int or not 0 <= other < place:
                raise ValueError(f"node {place} names {str(other)[:20]!r}, which is none before it")


@cache
def _literal_fields(kind: str) -> frozenset[str]:
    """The fields of a type whose numbers stand in the JSON as they are; all others hold places of nodes."""
    return frozenset(name for name, schema in _schemas(kind) if schema.get("type") in LITERALS)


@cache
def required_fields(kind: str) -> tuple[tuple[str, bool], ...]:
    """(field of a type that is no null, whether it is a list without nulls), in JSON and in memory.

    >>> dict(required_fields("relax.expr.SeqExpr"))
    {'blocks': True, 'body': False, 'ty': False}
    """
    fields = []
    for name, schema in _schemas(kind):
        items = [item.get("type", "") for item in schema.get("args", ())]
        if _is_object(schema.get("type", "")):
            fields.append((name, schema["type"] == "ffi.Array" and all(map(_is_object, items))))
    return tuple(fields)


def _is_object(kind: str) -> bool:
    return kind.startswith(("ir.", "relax.", "tirx.", "ffi.")) and kind not in NULLABLE


def _schemas(kind: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """(field, what it may hold) of a type and those that it inherits from."""
    from tvm_ffi import core

    info: core.TypeInfo | None = core._lookup_or_register_type_info_from_type_key(kind)
    while info is not None:
        for field in info.fields or ():
            schema = (field.metadata or {}).get("type_schema", {})
            yield field.name, json.loads(schema) if isinstance(schema, str) else schema
        info = info.parent_type_info


def decode_tensor(data: str) -> bytes:
    """The bytes of a constant in JSON; TVM writes them as it writes all tensors."""
    return base64.b64decode(data)


def encode_tensor(data: bytes) -> str:
    """A constant for JSON; ValueError for bytes that are no whole tensor, of which TVM's reader finds no end."""
    if len(data) < TENSOR_HEAD.size or data[: len(TENSOR_MARK)] != TENSOR_MARK:
        raise ValueError("a constant that is no tensor")
    _mark, _reserved, device, _number, rank, kind, bits, lanes = TENSOR_HEAD.unpack_from(data)
    begin = TENSOR_HEAD.size + TENSOR_SIZE.size * (rank + 1)
    if device != CPU or not 0 <= rank <= MOST_AXES or kind == POINTER or begin > len(data):
        raise ValueError("a constant of another form")
    *shape, size = struct.unpack_from(f"<{rank + 1}q", data, TENSOR_HEAD.size)
    if min(shape, default=0) < 0 or not size == math.prod(shape) * -(-bits * lanes // 8) == len(data) - begin:
        raise ValueError(f"a constant {shape} of {len(data) - begin} bytes")
    return base64.b64encode(data).decode()
