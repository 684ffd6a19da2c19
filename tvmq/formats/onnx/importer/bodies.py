"""Bodies of If and Loop as nodes of the graph around them: copied, with names below that of their node.

If with a condition that is known: the nodes of the branch taken stand in its place.

Before                                     After
    y = If(true)          'choose'             y = Relu(x)              'choose/Relu_0'
        then: Relu(x)
        else: Neg(x)

What remains as If is refused by the importer.

Tests: tests/formats/onnx/importer/test_unroll_loops.py
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import onnx

Replacement = tuple[list["onnx.NodeProto"], list["onnx.TensorProto"]]


def copy_node(node: onnx.NodeProto) -> onnx.NodeProto:
    """A copy of a node; protobuf drops the members of a list that is emptied."""
    import onnx

    copy = onnx.NodeProto()
    copy.CopyFrom(node)
    return copy


def subgraphs(node: onnx.NodeProto) -> list[onnx.GraphProto]:
    """Graphs that a node holds: branches and bodies."""
    return [graph for a in node.attribute for graph in ([a.g] if a.HasField("g") else a.graphs)]


def replace_nodes(graph: onnx.GraphProto, nodes: Iterable[onnx.NodeProto]) -> None:
    """Replace all nodes of the graph (in place); the new ones may include old ones."""
    copies = [copy_node(node) for node in nodes]
    del graph.node[:]
    graph.node.extend(copies)


def replace_each(model: onnx.ModelProto, replace: Callable[[onnx.NodeProto], Replacement | None]) -> bool:
    """Replace nodes of the graph (in place); True if there were any.

    replace   gives the nodes and weights in the place of a node, None where it stays
    """
    nodes: list[onnx.NodeProto] = []
    is_any = False
    for node in model.graph.node:
        replacement = replace(node)
        is_any |= replacement is not None
        new, weights = replacement or ([node], [])
        nodes += new
        model.graph.initializer.extend(weights)
    if is_any:
        replace_nodes(model.graph, nodes)
    return is_any


def constants_of(graph: onnx.GraphProto) -> dict[str, onnx.TensorProto]:
    """Initializers and results of Constant nodes, by name."""
    constants = {tensor.name: tensor for tensor in graph.initializer}
    for node in graph.node:
        if node.op_type == "Constant" and node.attribute[0].name == "value":
            constants[node.output[0]] = node.attribute[0].t
    return constants


def constant_lookup(graph: onnx.GraphProto) -> Callable[[str], np.ndarray | None]:
    """A function that gives the array of a constant by name, None for other values."""
    from onnx import numpy_helper

    constants = constants_of(graph)
    return lambda name: numpy_helper.to_array(constants[name]) if name in constants else None


def inline_body(
    body: onnx.GraphProto, prefix: str, arguments: Mapping[str, str]
) -> tuple[list[onnx.NodeProto], list[onnx.TensorProto], list[str]]:
    """Nodes, weights and result names of a body; its values are renamed to `prefix`/name.

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
    """A copy of a node with renamed values, also inside of its subgraphs."""
    copy = copy_node(node)
    copy.input[:] = [table.get(name, name) for name in node.input]
    copy.output[:] = [table.get(name, name) for name in node.output]
    for graph in subgraphs(copy):
        hidden = {value.name for value in [*graph.input, *graph.initializer]}
        inside = {name: new for name, new in table.items() if name not in hidden}
        replace_nodes(graph, [rename_values(inner, inside) for inner in graph.node])
        for value in graph.output:
            value.name = inside.get(value.name, value.name)
    return copy


def identity(source: str, result: str, name: str) -> onnx.NodeProto:
    """Identity node that gives a value another name."""
    from onnx import helper

    return helper.make_node("Identity", [source], [result], name=name)


def inline_branches(model: onnx.ModelProto) -> bool:
    """Replace If nodes whose condition is known (in place); True if there were any.

    Types of values must be inferred again, and constants folded.
    """
    value = constant_lookup(model.graph)

    def inline(node: onnx.NodeProto) -> Replacement | None:
        condition = value(node.input[0]) if node.op_type == "If" else None
        if condition is None:
            return None
        wanted = "then_branch" if condition.ravel()[0] else "else_branch"
        branch = next(attribute.g for attribute in node.attribute if attribute.name == wanted)
        nodes, weights, values = inline_body(branch, node.name, {})
        results = zip(values, node.output, strict=True)
        nodes += [identity(*pair, f"{node.name}/output_{position}") for position, pair in enumerate(results)]
        return nodes, weights

    return replace_each(model, inline)
