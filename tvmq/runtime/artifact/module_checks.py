"""Modules of files whose hashes are right and whose content is not: TVM makes whatever a node names, and looks at
nothing that it holds.

    before TVM reads    nodes of the types that modules are made of; what a node must have is there and is no null
    afterwards          operators with the attributes that theirs are, constants and results of the types that follow
"""

from __future__ import annotations

import sys
from typing import Any

import tvm
import tvm_ffi
from tvm import relax
from tvm.ir import GenericConst

from tvmq.base.text import printable
from tvmq.base.tvm_internals import ATTRIBUTES, TENSOR_NODE, UNKNOWN_TYPE, check_references, required_fields
from tvmq.errors import ArtifactError
from tvmq.graph.ledger import get_ledger
from tvmq.graph.names import get_names, input_names, output_names, weight_names

NULL = "None"
VALUES = {
    NULL, "bool", "int", "float", "DataType", "Device", "ffi.Array", "ffi.BigInt", "ffi.Bytes", "ffi.Dict", "ffi.List",
    "ffi.Map", "ffi.Shape", "ffi.String", TENSOR_NODE, "target.Target", "target.TargetKind", "te.CommReducer",
    "relax.AnyType", "relax.FuncType", "relax.PackedFuncType", "relax.ShapeType", "relax.TensorType", "relax.VDevice",
    "relax.DummyGlobalInfo",
}  # fmt: skip
KINDS = ("ir.", "prim.", "tirx.", "relax.attrs.", "relax.expr.", "tvmq.attrs.", "tvmq.own.")
NOT_IR = ("ir.EnvFunc", "ir.UniqueNameSupply")  # a function of this process by its name; a helper of passes


def check_nodes(graph: dict[str, Any]) -> None:
    """ValueError for a node that is no part of a module, names none before it, or lacks what it must have."""
    nodes = graph["nodes"]
    for place, node in enumerate(nodes):
        kind = node["type"]
        if kind not in VALUES and (not kind.startswith(KINDS) or kind in NOT_IR):
            raise ValueError(f"node {place} is a '{printable(kind[:60])}', which is no part of a module")
    check_references(graph)
    for place, node in enumerate(nodes):
        kind, data = node["type"], node.get("data")
        if not isinstance(data, dict) or not kind.startswith(("ir.", "relax.")):
            continue
        if kind == "ir.GenericConst" and nodes[data["value"]]["type"] != TENSOR_NODE:
            raise ValueError(f"node {place}, a constant, has no tensor")
        for name, is_list in _required_fields(kind):
            value = nodes[data[name]] if type(data.get(name)) is int else {"type": NULL}
            items = value.get("data") if is_list and value["type"] == "ffi.Array" else ()
            if value["type"] == NULL or any(nodes[item]["type"] == NULL for item in items or ()):
                raise ValueError(f"node {place}, a '{kind}', lacks its '{name}'")


def _required_fields(kind: str) -> tuple[tuple[str, bool], ...]:
    try:
        return required_fields(kind)
    except UNKNOWN_TYPE:  # of an operator that nobody has made in this process: TVM says so
        return ()


def check_module(module: Any) -> None:
    """An error for what has no main function, attributes that nobody wrote so, or types that no operator gives."""
    names = [variable.name_hint for variable in module.get_global_vars()]
    if "main" not in names or not isinstance(module["main"], relax.Function):
        raise ValueError("it has no main function")
    builder = relax.BlockBuilder(module)
    for _, function in module.functions_items():
        if isinstance(function, relax.Function):
            get_ledger(function), get_names(function), input_names(function), weight_names(function)
            output_names(function, 0)
            for variable in function.params:
                if not _is_tensor(variable.ty):
                    raise ValueError(f"the input '{variable.name}' is {variable.ty}, no tensor of known shape")
            for block in function.body.blocks:
                for binding in block.bindings:
                    _check_binding(builder, binding)
    relax.analysis.well_formed(module)


def check_packages(where: str, module: tvm.IRModule) -> None:
    """ArtifactError where the options name operators of a package that is not imported: whoever looks would run it."""
    for family in get_ledger(module).config.get("operators", ()):
        if str(family).partition(":")[0] not in sys.modules:
            raise ArtifactError(
                f"{where}: its options name operators of a package, '{printable(str(family))}', which would be run; "
                "import it before, on the command line by `tvmq --trust ...`"
            )


def _check_binding(builder: relax.BlockBuilder, binding: relax.Binding) -> None:
    name, value = binding.var.name, binding.value
    if not isinstance(value, relax.Call):
        return
    is_ours = isinstance(value.op, tvm.ir.Op) and value.op.name.startswith("relax.tvmq.")
    for argument in value.args:
        if isinstance(argument, GenericConst):
            _check_constant(name, argument)
        if is_ours and not isinstance(argument.ty, relax.TensorType | relax.TupleType):
            raise ValueError(f"'{name}' reads {argument.ty}, no tensor")
    if not isinstance(value.op, tvm.ir.Op):
        if not isinstance(value.op, tvm.ir.GlobalVar | relax.ExternFunc):
            raise ValueError(f"'{name}' calls what is no operator")
        return
    kind = value.op.attrs_type_key or ATTRIBUTES.get(value.op.name)
    if kind and (value.attrs is None or type(value.attrs).__tvm_ffi_type_info__.type_key != kind):
        raise ValueError(f"'{name}': {value.op.name} has not its attributes")
    inferred = builder.normalize(relax.Call(value.op, value.args, value.attrs, value.ty_args)).ty
    if not _agree(inferred, binding.var.ty):
        raise ValueError(f"'{name}' is said to be {binding.var.ty}, {value.op.name} gives {inferred}")


def _is_tensor(ty: Any) -> bool:
    """True for a tensor of known sizes, fixed and not negative or dynamic."""
    if not isinstance(ty, relax.TensorType) or not isinstance(ty.shape, relax.ShapeExpr) or not ty.dtype:
        return False
    return all(int(size) >= 0 for size in ty.shape.values if isinstance(size, tvm.tirx.IntImm))


def _check_constant(reader: str, constant: GenericConst) -> None:
    ty, data = constant.ty, constant.value
    if not _is_tensor(ty):
        raise ValueError(f"'{reader}' reads a constant that is said to be {ty}")
    sizes = [int(size) for size in ty.shape.values]
    if sizes != list(map(int, data.shape)) or str(ty.dtype) != str(data.dtype):
        raise ValueError(f"'{reader}' reads a constant {data.dtype}{list(data.shape)} that is said to be {ty}")


def _agree(inferred: Any, declared: Any) -> bool:
    """True for equal types, or tensors of one element type and rank whose fixed sizes are equal."""
    if tvm_ffi.structural_equal(inferred, declared):
        return True
    if not isinstance(inferred, relax.TensorType) or not isinstance(declared, relax.TensorType):
        return type(inferred) is type(declared) and not isinstance(declared, relax.TensorType)
    if str(inferred.dtype) != str(declared.dtype) or inferred.ndim != declared.ndim:
        return False
    pairs = zip(inferred.shape.values, declared.shape.values, strict=True) if inferred.shape and declared.shape else ()
    fixed = [(one, other) for one, other in pairs if all(isinstance(size, tvm.tirx.IntImm) for size in (one, other))]
    return all(int(one) == int(other) for one, other in fixed)
