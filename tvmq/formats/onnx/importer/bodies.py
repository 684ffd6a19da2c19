"""Bodies of If and Loop as nodes of the graph around them: copied, with names below that of their node.

If with a condition that is known: the nodes of the branch taken stand in its place.

Before                                     After
    y = If(true)          'choose'             y = Relu(x)              'choose/Relu_0'
        then: Relu(x)
        else: Neg(x)

What remains as If is refused by the importer.

Tests: tests/formats/onnx/importer/test_loops.py
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import onnx


def copy_node(node: onnx.NodeProto) -> onnx.NodeProto:
    """A node of its own; protobuf drops what it held when a list is emptied."""
    import onnx

    copy = onnx.NodeProto()
    copy.CopyFrom(node)
    return copy


def replace_nodes(graph: onnx.GraphProto, nodes: Iterable[onnx.NodeProto]) -> None:
    """Give the graph these nodes instead of its own (in place); some of its own may be among them."""
    copies = [copy_node(node) for node in nodes]
    del graph.node[:]
    graph.node.extend(copies)


def inline_body(
    body: onnx.GraphProto, prefix: str, arguments: Mapping[str, str]
) -> tuple[list[onnx.NodeProto], list[onnx.TensorProto], list[str]]:
    """Nodes, weights and names of the results of a body; all values it makes are called `prefix`/own name.

    arguments   {input of the body: value outside}
    """
    import onnx

    own = {name for inner in body.node for name in inner.output if name}
    own |= {tensor.name for tensor in body.initializer}
    table = {**{name: f"{prefix}/{name}" for name in own}, **arguments}
    nodes = []
    for position, inner in enumerate(body.node):
        renamed = rename_values(inner, table)
        renamed.name = f"{prefix}/{inner.name or f'{inner.op_type}_{position}'}"
        nodes.append(renamed)
    weights = []
    for tensor in body.initializer:
        weight = onnx.TensorProto()
        weight.CopyFrom(tensor)
        weight.name = table[tensor.name]
        weights.append(weight)
    return nodes, weights, [table.get(value.name, value.name) for value in body.output]


def rename_values(node: onnx.NodeProto, table: Mapping[str, str]) -> onnx.NodeProto:
    """A copy that reads and writes other names, inside of its own graphs too."""
    copy = copy_node(node)
    copy.input[:] = [table.get(name, name) for name in node.input]
    copy.output[:] = [table.get(name, name) for name in node.output]
    for attribute in copy.attribute:
        for graph in [attribute.g] if attribute.HasField("g") else attribute.graphs:
            hidden = {value.name for value in [*graph.input, *graph.initializer]}
            inside = {name: new for name, new in table.items() if name not in hidden}
            inner = [rename_values(deeper, inside) for deeper in graph.node]
            del graph.node[:]
            graph.node.extend(inner)
            for value in graph.output:
                value.name = inside.get(value.name, value.name)
    return copy


def identity(source: str, result: str, name: str) -> onnx.NodeProto:
    """A node that gives a value another name."""
    from onnx import helper

    return helper.make_node("Identity", [source], [result], name=name)


def inline_branches(model: onnx.ModelProto) -> bool:
    """Replace If nodes whose condition is an initializer (in place); True if there were any.

    Types of values must be inferred again, and constants folded.
    """
    from onnx import numpy_helper

    known = {tensor.name: tensor for tensor in model.graph.initializer}
    nodes: list[onnx.NodeProto] = []
    is_any = False
    for node in model.graph.node:
        if node.op_type != "If" or node.input[0] not in known:
            nodes.append(node)
            continue
        is_any = True
        attribute_name = "then_branch" if numpy_helper.to_array(known[node.input[0]]).ravel()[0] else "else_branch"
        branch = next(attribute.g for attribute in node.attribute if attribute.name == attribute_name)
        inlined, weights, values = inline_body(branch, node.name, {})
        results = zip(values, node.output, strict=True)
        nodes += inlined
        nodes += [identity(*pair, f"{node.name}/output_{position}") for position, pair in enumerate(results)]
        model.graph.initializer.extend(weights)
    if is_any:
        replace_nodes(model.graph, nodes)
    return is_any
