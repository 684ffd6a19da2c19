"""Relax functions seen as Relay's: bindings become nodes that answer with Relay's names and attributes.

A node of an operator that Relay has under the same operands carries that operator, so that scripts may rebuild it;
others carry one of their own, named as in Relax, whose Relax form is the call itself.

Tests: tests/relay/quantize/test_classic_cases.py
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tvm
from tvm import relax
from tvm.ir import GenericConst

from tvmq.errors import UnsupportedOpError
from tvmq.extension import op_name
from tvmq.relay import types
from tvmq.relay.base import RelaxForm
from tvmq.relay.expr import Call, Constant, Expr, Function, Tuple, TupleGetItem, Var
from tvmq.relay.op import registry
from tvmq.relay.op.annotation import SIMULATED

# Relax's name -> Relay's, where operands and attributes are the same
_SAME = {"permute_dims": "transpose", "nn.leakyrelu": "nn.leaky_relu", "concat": "concatenate"}
_WINDOWS = (
    "nn.conv1d", "nn.conv2d", "nn.conv3d", "nn.conv1d_transpose", "nn.conv2d_transpose", "nn.max_pool1d",
    "nn.max_pool2d", "nn.max_pool3d", "nn.avg_pool1d", "nn.avg_pool2d", "nn.avg_pool3d",
)  # fmt: skip
_PLAIN_NAMES = (
    "nn.softmax", "nn.log_softmax", "nn.leakyrelu", "permute_dims", "squeeze", "concat", "sum", "mean", "max", "min",
)  # fmt: skip


def view_function(func: relax.Function) -> Function:
    """A straight-line Relax function as Relay's; raises UnsupportedOpError for control flow."""
    nodes: dict[Any, Expr] = {param: _param(param) for param in func.params}
    for binding in (binding for block in func.body.blocks for binding in block.bindings):
        if not isinstance(binding, relax.VarBinding) or isinstance(binding.value, relax.If):
            raise UnsupportedOpError(f"relay, '{binding.var.name}': control flow and match-casts have no view here")
        nodes[binding.var] = _view_binding(binding, nodes)
    params = [nodes[param] for param in func.params]
    return Function([p for p in params if isinstance(p, Var)], _view_value(func.body.body, nodes))


def _param(param: relax.Var) -> Var:
    node = Var(param.name, types.from_relax(param.ty))
    node.lowered = RelaxForm((), param)
    return node


def _view_value(value: Any, nodes: dict[Any, Expr]) -> Expr:
    """The node of a value that stands inside of a binding."""
    if isinstance(value, GenericConst):
        # One node for each constant, or what is shared would be seen twice
        return nodes.setdefault(value, Constant(value.value))
    if isinstance(value, relax.Tuple):
        return Tuple([_view_value(field, nodes) for field in value.fields])
    if isinstance(value, relax.TupleGetItem):
        return TupleGetItem(_view_value(value.tuple_value, nodes), value.index)
    return nodes[value]


def _view_binding(binding: relax.VarBinding, nodes: dict[Any, Expr]) -> Expr:
    """The node of a binding; its Relax form is the binding."""
    value = binding.value
    if not isinstance(value, relax.Call):
        return _view_value(value, nodes)
    tensors = [arg for arg in value.args if _is_value(arg)]
    args = [_view_value(arg, nodes) for arg in tensors]
    attrs = _attributes(value)
    op = _operator(value, len(tensors) == len(value.args))
    node = Call(op, args, {key: attrs[key] for key in op.defaults if key in attrs})
    # Rebuilding names operands by their place, whatever stands between them
    form = relax.VarBinding(binding.var, _over(value, [arg.value for arg in args]))
    node.lowered = RelaxForm((form,), binding.var)
    return node


def _is_value(arg: Any) -> bool:
    """True for tensors and tuples of them; shapes and plain numbers are attributes in Relay."""
    return isinstance(arg, GenericConst | relax.Tuple) or (
        isinstance(arg, relax.Var) and isinstance(arg.ty, relax.TensorType | tvm.ir.TupleType)
    )


def _over(call: relax.Call, values: list[Any]) -> relax.Call:
    """A Relax call over other tensors."""
    left = iter(values)
    args = [next(left) if _is_value(arg) else arg for arg in call.args]
    rewritten = relax.Call(call.op, args, call.attrs, call.ty_args)
    return relax.BlockBuilder().normalize(rewritten)


def _operator(call: relax.Call, only_tensors: bool) -> registry.Op:
    """Relay's operator of a call, or one of its own kind that knows its Relax form."""
    name = op_name(call)
    if name == "tvmq.simulated_quantize":
        return registry.Op(SIMULATED, _as_it_is(call), registry.get(SIMULATED).defaults)
    if name in ("matmul", "astype", "clip", "reshape") or name in _WINDOWS or name in _PLAIN_NAMES:
        return registry.get(_relay_name(call))
    if only_tensors and call.attrs is None and name in registry.names():
        return registry.get(name)
    return registry.Op(_relay_name(call) or "call", _as_it_is(call), _attributes(call))


def _as_it_is(call: relax.Call) -> Callable[[Any, list[Any], Any], Any]:
    return lambda emit, args, attrs: emit(_over(call, args))


def _relay_name(call: relax.Call) -> str:
    """Relay's name of an operator of Relax, Relax's own where Relay had none."""
    name = op_name(call)
    if name == "matmul":
        ranks = {len(arg.ty.shape) for arg in call.args}
        return "nn.matmul" if ranks == {2} else "nn.batch_matmul"
    return {"astype": "cast", **_SAME}.get(name, name)


def _attributes(call: relax.Call) -> dict[str, Any]:
    """Attributes by Relay's names, as plain values."""
    name = op_name(call)
    if name == "astype":
        return {"dtype": str(call.attrs.dtype)}
    if name == "clip":
        return {"a_min": float(call.args[1].value), "a_max": float(call.args[2].value)}
    if name == "reshape":
        return {"newshape": types.TensorType(tuple(call.ty.shape)).shape}
    attributes = {key: _python_value(getattr(call.attrs, key)) for key in _keys(call.attrs)}
    if name == "tvmq.simulated_quantize":
        from tvmq.relay.quantize.qconfig import kind_named

        attributes |= {"kind": kind_named(attributes["kind"]), "sign": True, "rounding": "round"}
    if name in _WINDOWS and "conv" in name:
        attributes |= _kernel(call, attributes)
    if name == "nn.batch_norm":
        attributes = {key: attributes[key] for key in ("axis", "epsilon", "center", "scale")}
    if name == "permute_dims":
        return {"axes": attributes.get("axes")}
    return {key: ("" if value is None and key == "out_dtype" else value) for key, value in attributes.items()}


def _kernel(call: relax.Call, attributes: dict[str, Any]) -> dict[str, Any]:
    """channels and kernel_size, which Relax reads from the weight."""
    shape = dict(zip(attributes["kernel_layout"], types.TensorType(tuple(call.args[1].ty.shape)).shape, strict=True))
    transposed = "transpose" in op_name(call)
    sizes = tuple(shape[axis] for axis in attributes["kernel_layout"] if axis in "DHW")
    return {"channels": shape["O"] * (attributes["groups"] if transposed else 1), "kernel_size": sizes}


def _keys(attrs: Any) -> list[str]:
    """Names of an attribute object's fields."""
    if attrs is None:
        return []
    if isinstance(attrs, tvm.ir.attrs.DictAttrs):
        return list(attrs.keys())
    return [field.name for field in type(attrs).__tvm_ffi_type_info__.fields]


def _python_value(value: Any) -> Any:
    """Numbers, texts and tuples of Python from TVM's."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return str(value)[:]
    if hasattr(value, "value"):
        return value.value
    return tuple(_python_value(item) for item in value) if hasattr(value, "__len__") else str(value)[:]
