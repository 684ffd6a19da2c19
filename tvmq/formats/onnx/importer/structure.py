"""Checks of the structure of an ONNX graph before anything reads it: unique names, valid attributes.

ONNX's own checker refuses models that every runtime takes, and its messages do not name the layer; so the checks that
matter are made here.

Tests: tests/formats/importing/test_limits.py
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from tvmq.errors import ModelError, UnsupportedOpError

if TYPE_CHECKING:
    import onnx

MOST = 2**31 - 1  # TVM keeps sizes of windows in 32 bits
# attribute: the least that each of its numbers may be
LEAST = {
    **dict.fromkeys(("kernel_shape", "strides", "dilations"), 1),
    **dict.fromkeys(("group", "num_groups", "hidden_size", "blocksize"), 1),
    **dict.fromkeys(("num_heads", "q_num_heads", "kv_num_heads"), 1),
    **dict.fromkeys(("pads", "output_padding", "output_shape"), 0),
}
CROPS = frozenset({"Pad"})  # whose pads may be negative


def check_structure(model: onnx.ModelProto, where: str) -> None:
    """Refuse graphs that are ambiguous or impossible.

    where    the model, for messages
    raises   ModelError for a repeated operator set, input or weight, an output without a name or a negative
             dimension; UnsupportedOpError for an attribute that its operator does not allow
    """
    graph = model.graph
    _refuse_versions(model, where)
    _refuse_twice((value.name for value in graph.input), "input", where)
    _refuse_twice((tensor.name for tensor in graph.initializer), "weight", where)
    for what, values in (("input", graph.input), ("output", graph.output)):
        if any(not value.name for value in values):
            raise ModelError(f"from_onnx: an {what} of '{where}' has no name; name all {what}s, or export it again")
    for value in [*graph.input, *graph.output]:
        dims = [d.dim_value for d in value.type.tensor_type.shape.dim if d.HasField("dim_value")]
        _refuse_negative(dims, f"'{value.name}' of '{where}'")
    for tensor in graph.initializer:
        _refuse_negative(tensor.dims, f"weight '{tensor.name}' of '{where}'")
    version = next((entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx")), 0)
    for node in graph.node:
        check_attributes(node, version)


def _refuse_twice(names: Iterable[str], what: str, where: str) -> None:
    name, count = next(iter(Counter(names).most_common(1)), ("", 1))
    if count > 1:
        raise ModelError(
            f"from_onnx: '{where}' has {count} {what}s named '{name}'; names must be unique, export it again"
        )


def _refuse_versions(model: onnx.ModelProto, where: str) -> None:
    """Refuse an operator set in two versions; one named twice in the same version is there once by now."""
    versions: dict[str, list[int]] = {}
    for entry in model.opset_import:
        versions.setdefault(entry.domain or "ai.onnx", []).append(entry.version)
    for name, numbers in versions.items():
        if len(numbers) > 1:
            shown = " and ".join(map(str, numbers))
            raise ModelError(
                f"from_onnx: '{where}' has the operator set '{name}' in versions {shown}, which may define an operator "
                "differently; export it again with one version"
            )


def _refuse_negative(dims: Iterable[int], what: str) -> None:
    dims = list(dims)
    if any(size < 0 for size in dims):
        raise ModelError(
            f"from_onnx: {what} has the shape {dims}, but sizes cannot be negative; name a dynamic dimension instead, "
            "or export it again"
        )


def check_attributes(node: onnx.NodeProto, opset: int) -> None:
    """Refuse attributes of another type or number than the operator has, and a wrong count of inputs or outputs."""
    if node.domain not in ("", "ai.onnx", "com.microsoft"):
        return
    for attribute in node.attribute:
        least = LEAST.get(attribute.name)
        if least is None or (attribute.name == "pads" and node.op_type in CROPS):
            continue
        numbers = list(attribute.ints) if attribute.type == attribute.INTS else [attribute.i]
        if attribute.type not in (attribute.INT, attribute.INTS) or not all(least <= n <= MOST for n in numbers):
            shown = numbers if attribute.type == attribute.INTS else _value(attribute)
            raise refusal(node, f"{attribute.name} is {shown}, but must be whole numbers from {least} to 2**31 - 1")
    schema = _schema(node.op_type, opset) if node.domain != "com.microsoft" else None
    if schema is not None:
        _check_schema(node, schema)


def _check_schema(node: onnx.NodeProto, schema: _Schema) -> None:
    for what, names, (least, most) in (("inputs", node.input, schema.inputs), ("outputs", node.output, schema.outputs)):
        if not least <= len(names) <= most:
            allowed = f"{least}" if least == most else f"{least} to {most}" if most < MOST else f"{least} or more"
            raise refusal(node, f"it has {len(names)} {what}, but the operator takes {allowed}")
    attributes = {attribute.name: attribute for attribute in node.attribute}
    lacking = [name for name in schema.required if name not in attributes]
    if lacking:
        raise refusal(node, f"the attribute {lacking[0]} is missing")
    for name, attribute in attributes.items():
        code, kind = schema.types.get(name, (attribute.type, ""))
        if attribute.type != code and not attribute.ref_attr_name:
            raise refusal(node, f"{name} is {_value(attribute)}, but the operator takes {kind}")


def _value(attribute: onnx.AttributeProto) -> str:
    """Short text of an attribute's value."""
    from onnx import AttributeProto, helper

    if attribute.type in (AttributeProto.INT, AttributeProto.INTS, AttributeProto.FLOAT, AttributeProto.FLOATS):
        return str(helper.get_attribute_value(attribute))[:60]
    return f"of type {AttributeProto.AttributeType.Name(attribute.type).lower()}"


class _Schema(NamedTuple):
    """ONNX's definition of an operator: least and most inputs and outputs; attributes."""

    inputs: tuple[int, int]
    outputs: tuple[int, int]
    required: tuple[str, ...]
    types: dict[str, tuple[int, str]]


@cache
def _schema(op_type: str, opset: int) -> _Schema | None:
    """ONNX's definition of an operator, None where it has none."""
    from onnx import defs

    if not 0 < opset < 2**31 or not defs.has(op_type, max_inclusive_version=opset):
        return None
    schema: Any = defs.get_schema(op_type, max_inclusive_version=opset)
    attributes = schema.attributes.items()
    return _Schema(
        (schema.min_input, schema.max_input),
        (schema.min_output, schema.max_output),
        tuple(name for name, one in attributes if one.required),
        {name: (int(one.type.value), one.type.name.lower()) for name, one in attributes},
    )


def refusal(node: onnx.NodeProto, what: str) -> UnsupportedOpError:
    """The error for a node that no runtime could compute, naming the layer and its operator."""
    where = f"from_onnx, layer '{node.name}': {node.op_type}"
    return UnsupportedOpError(f"{where}: {what}; correct the model, or export it again")
