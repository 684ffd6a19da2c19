"""Fixing dynamic dimensions of an ONNX model and inferring all shapes.

Tests: tests/formats/onnx/importer/test_dynamic_dimensions.py, tests/formats/onnx/importer/test_shape_folding.py
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tvmq.base.foreign_errors import clause
from tvmq.errors import ModelError

if TYPE_CHECKING:
    import onnx

SMALL = 1024  # elements; larger initializers cannot be shapes, inference sees only their type


def graph_inputs(graph: onnx.GraphProto) -> list[onnx.ValueInfoProto]:
    """The inputs a caller feeds: old models list the weights among the inputs, those are left out."""
    weights = {tensor.name for tensor in graph.initializer}
    return [value for value in graph.input if value.name not in weights]


def dimensions(value: onnx.ValueInfoProto) -> list[int | str] | None:
    """Dimensions as numbers, names, or "?"; None where the rank is unknown."""
    tensor = value.type.tensor_type
    if not tensor.HasField("shape"):
        return None
    return [d.dim_value if d.HasField("dim_value") else d.dim_param or "?" for d in tensor.shape.dim]


def fix_shapes(model: onnx.ModelProto, shape: Mapping[str, Sequence[int | None]]) -> onnx.ModelProto:
    """Write the given dimensions into the inputs (in place), then infer the shapes of all values.

    raises ModelError for an unknown input name and for a shape that contradicts the model, listing the inputs
    """
    inputs = graph_inputs(model.graph)
    listed = describe(inputs)
    by_name = {value.name: value for value in inputs}
    bound: dict[str, int] = {}
    changed = []
    for name, dims in shape.items():
        if name not in by_name:
            raise ModelError(f"from_onnx: shape= names '{name}', which is not an input; {listed}")
        problem = _contradiction(dimensions(by_name[name]), dims, bound)
        if problem:
            raise ModelError(f"from_onnx: shape={dims} does not fit input '{name}': {problem}; {listed}")
        changed += _fix_input(by_name[name], list(dims), bound)
    for value in inputs:
        for d in value.type.tensor_type.shape.dim:
            if d.dim_param in bound:
                d.dim_value = bound[d.dim_param]
    try:
        return infer_shapes(model, strict=bool(changed))
    except ModelError as error:
        if not changed:
            raise
        raise ModelError(
            f"from_onnx: shape= changes {', '.join(changed)}, which is fixed in the model and which its layers "
            f"require{clause(error.__cause__ or error)}; {listed}"
        ) from error


def describe(inputs: Sequence[onnx.ValueInfoProto]) -> str:
    """Clause that lists the inputs and their shapes, for messages."""
    listed = ", ".join(f"'{value.name}' {_shape_text(dimensions(value))}" for value in inputs)
    return f"the model's inputs are {listed}" if listed else "the model has no inputs"


def _shape_text(dims: Sequence[int | str] | None) -> str:
    return "of unknown rank" if dims is None else f"({', '.join(map(str, dims))})"


def _contradiction(known: list[int | str] | None, shape: Sequence[int | None], bound: Mapping[str, int]) -> str:
    """Reason why a shape does not fit, "" if it fits."""
    if not isinstance(shape, Sequence) or isinstance(shape, str):
        return "it is not a sequence of integers"
    for size in shape:
        if size is not None and (isinstance(size, bool) or not hasattr(size, "__index__") or size < 1):
            return f"dimension {size!r} is not a positive integer"
    if known is None:
        return ""
    if len(known) != len(shape):
        return f"it has {len(shape)} dimensions, but the input has {len(known)}"
    for position, (old, new) in enumerate(zip(known, shape, strict=True)):
        if new is None or new == old:
            continue
        if isinstance(old, str) and bound.get(old, new) != new:
            return f"dimension {position} ('{old}') is already {bound[old]}"
    return ""


def _fix_input(value: onnx.ValueInfoProto, shape: list[int | None], bound: dict[str, int]) -> list[str]:
    """Write the sizes into the input, and those of named dimensions into `bound`; what was another number before."""
    changed = []
    proto = value.type.tensor_type.shape
    if dimensions(value) is None:
        proto.SetInParent()
        for _ in shape:
            proto.dim.add()
    for position, (d, size) in enumerate(zip(proto.dim, shape, strict=True)):
        if size is None:
            continue
        if d.HasField("dim_value") and d.dim_value != size:
            changed.append(f"dimension {position} of '{value.name}' from {d.dim_value} to {size}")
        if d.dim_param:
            bound[d.dim_param] = int(size)
        d.dim_value = int(size)
    return changed


def infer_shapes(model: onnx.ModelProto, strict: bool = False) -> onnx.ModelProto:
    """Types of all values in graph.value_info (in place), by ONNX's shape inference with data propagation.

    Old annotations are dropped first: they may hold dimensions from before. Large weights are kept out of the
    inference, which copies the model; output types keep their element type and lose their dimensions.
    """
    import onnx

    skeleton = onnx.ModelProto()
    skeleton.ir_version = max(model.ir_version, 8)
    skeleton.opset_import.extend(model.opset_import)
    skeleton.functions.extend(model.functions)
    graph = skeleton.graph
    graph.name = model.graph.name or "graph"
    graph.node.extend(model.graph.node)
    graph.input.extend(graph_inputs(model.graph))
    for tensor in model.graph.initializer:
        if math.prod(tensor.dims) <= SMALL:
            graph.initializer.append(tensor)
        else:
            graph.input.append(onnx.helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims))
    for value in model.graph.output:
        graph.output.append(onnx.helper.make_tensor_value_info(value.name, value.type.tensor_type.elem_type, None))
    try:
        inferred = onnx.shape_inference.infer_shapes(skeleton, data_prop=True, strict_mode=strict)
    except Exception as error:  # InferenceError and protobuf's own
        raise ModelError(f"from_onnx: shapes do not fit together{clause(error)}; check shape= and the model") from error
    del model.graph.value_info[:]
    model.graph.value_info.extend(inferred.graph.value_info)
    model.graph.value_info.extend(inferred.graph.output)
    return model
