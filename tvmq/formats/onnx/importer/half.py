"""Element types that are computed in wider ones: half precision inside of a model becomes float32, int4 int8.

The inputs and outputs of a model keep their types.

Before                                     After
    y = Relu(x)       x, y: float16            a = Cast(x, float32)     'x/float32'
                                               b = Relu(a)              'Relu_0'
                                               y = Cast(b, float16)     'y/float16'

All later passes compute in float32. A cast to half precision in the middle of a model still rounds: it becomes two.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from tvmq.formats.onnx.importer.bodies import copy_node, replace_nodes

if TYPE_CHECKING:
    import onnx

TYPE_ATTRIBUTES = ("to", "dtype", "stash_type", "output_dtype")
SUFFIX = "/float32"
WIDER_CODES = {"INT4": np.int8, "UINT4": np.uint8}


def widen_half(model: onnx.ModelProto) -> bool:
    """Rewrite the graph (in place); True if it held half precision. Types of values must be inferred again."""
    graph = model.graph
    typed = [*graph.input, *graph.value_info, *graph.output]
    known = [value for value in typed if value.type.tensor_type.elem_type]
    types = {value.name: value.type.tensor_type.elem_type for value in known}
    types.update((tensor.name, tensor.data_type) for tensor in graph.initializer)
    if not any(_is_half(code) for code in types.values()):
        return False
    weights = {tensor.name for tensor in graph.initializer}
    fed = {value.name for value in graph.input} - weights
    interface = fed | {value.name for value in graph.output}
    wide = {name: name + SUFFIX for name in interface if _is_half(types.get(name, 0))}
    nodes = [node for inner in graph.node for node in _widen_node(inner, types, wide)]
    for value in graph.input:
        if value.name in wide and value.name in fed:
            nodes.insert(0, _cast(value.name, wide[value.name], 1, wide[value.name]))
    for value in graph.output:
        if value.name in wide and value.name not in fed:
            code = types[value.name]
            nodes.append(_cast(wide[value.name], value.name, code, f"{value.name}/{_type_name(code)}"))
    replace_nodes(graph, nodes)
    for tensor in graph.initializer:
        _widen_tensor(tensor)
        tensor.name = wide.get(tensor.name, tensor.name)
    return True


def _is_half(code: int) -> bool:
    from onnx import TensorProto

    return code in (TensorProto.FLOAT16, TensorProto.BFLOAT16)


def _type_name(code: int) -> str:
    from onnx import TensorProto

    return TensorProto.DataType.Name(code).lower()


def _widen_node(node: onnx.NodeProto, types: dict[str, int], wide: dict[str, str]) -> Iterator[onnx.NodeProto]:
    """The node on float32 values; a cast to half precision is followed by a cast back to float32."""
    copy = copy_node(node)
    copy.input[:] = [wide.get(name, name) for name in node.input]
    copy.output[:] = [wide.get(name, name) for name in node.output]
    target = next((a.i for a in node.attribute if a.name == "to"), 0)
    if node.op_type == "Cast" and _is_half(target) and not _is_half(types.get(node.input[0], 0)):
        half = f"{copy.output[0]}/{_type_name(target)}"
        name, result = copy.name, copy.output[0]
        copy.name, copy.output[0] = f"{name}/{_type_name(target)}", half
        yield copy
        yield _cast(half, result, 1, name)
        return
    for attribute in copy.attribute:
        if attribute.name in TYPE_ATTRIBUTES and _is_half(attribute.i):
            attribute.i = 1
        elif attribute.HasField("t"):
            _widen_tensor(attribute.t)
    yield copy


def _widen_tensor(tensor: onnx.TensorProto) -> None:
    from onnx import numpy_helper

    if _is_half(tensor.data_type):
        values = numpy_helper.to_array(tensor).astype(np.float32)
        tensor.CopyFrom(numpy_helper.from_array(values, tensor.name))


def _cast(source: str, result: str, to: int, name: str) -> onnx.NodeProto:
    from onnx import helper

    return helper.make_node("Cast", [source], [result], name=name, to=to)


def widen_codes(tensor: onnx.TensorProto, graph: onnx.GraphProto) -> Any | None:
    """Codes of 4 bits in a type of 8; None for other types, and where not only DequantizeLinear reads them."""
    from onnx import TensorProto, numpy_helper

    dtype = WIDER_CODES.get(TensorProto.DataType.Name(tensor.data_type))
    readers = [node.op_type for node in graph.node for name in node.input if name == tensor.name]
    if dtype is None or set(readers) != {"DequantizeLinear"}:
        return None
    return numpy_helper.to_array(tensor).astype(dtype)
