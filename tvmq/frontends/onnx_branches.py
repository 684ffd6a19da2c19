"""If with a condition that is known: the nodes of the branch taken stand in its place.

Before                                     After
    y = If(true)          'choose'             y = Relu(x)              'choose/Relu_0'
        then: Relu(x)
        else: Neg(x)

What remains as If is refused by the importer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import onnx


def inline_branches(model: onnx.ModelProto) -> bool:
    """Replace If nodes whose condition is an initializer (in place); True if there were any.

    Types of values must be inferred again, and constants folded.
    """
    from onnx import numpy_helper

    known = {tensor.name: tensor for tensor in model.graph.initializer}
    nodes: list[onnx.NodeProto] = []
    found = False
    for node in model.graph.node:
        if node.op_type != "If" or node.input[0] not in known:
            nodes.append(_copy(node))
            continue
        found = True
        taken = "then_branch" if numpy_helper.to_array(known[node.input[0]]).ravel()[0] else "else_branch"
        branch = next(attribute.g for attribute in node.attribute if attribute.name == taken)
        inlined, weights = _inlined(node, branch)
        nodes += inlined
        model.graph.initializer.extend(weights)
    if found:
        del model.graph.node[:]
        model.graph.node.extend(nodes)
    return found


def _inlined(node: onnx.NodeProto, branch: onnx.GraphProto) -> tuple[list[onnx.NodeProto], list[onnx.TensorProto]]:
    """Nodes and weights of a branch; all values it makes get the node's name before theirs."""
    import onnx
    from onnx import helper

    own = {name for inner in branch.node for name in inner.output if name}
    own |= {tensor.name for tensor in branch.initializer}
    table = {name: f"{node.name}/{name}" for name in own}
    nodes = []
    for position, inner in enumerate(branch.node):
        renamed = _renamed(inner, table)
        renamed.name = f"{node.name}/{inner.name or f'{inner.op_type}_{position}'}"
        nodes.append(renamed)
    for position, (result, value) in enumerate(zip(node.output, branch.output, strict=True)):
        source = table.get(value.name, value.name)
        nodes.append(helper.make_node("Identity", [source], [result], name=f"{node.name}/output_{position}"))
    weights = []
    for tensor in branch.initializer:
        weight = onnx.TensorProto()
        weight.CopyFrom(tensor)
        weight.name = table[tensor.name]
        weights.append(weight)
    return nodes, weights


def _renamed(node: onnx.NodeProto, table: dict[str, str]) -> onnx.NodeProto:
    """A copy that reads and writes other names, inside of its own graphs too."""
    copy = _copy(node)
    copy.input[:] = [table.get(name, name) for name in node.input]
    copy.output[:] = [table.get(name, name) for name in node.output]
    for attribute in copy.attribute:
        for graph in [attribute.g] if attribute.HasField("g") else attribute.graphs:
            inner = [_renamed(deeper, table) for deeper in graph.node]
            del graph.node[:]
            graph.node.extend(inner)
            for value in graph.output:
                value.name = table.get(value.name, value.name)
    return copy


def _copy(node: onnx.NodeProto) -> onnx.NodeProto:
    import onnx

    copy = onnx.NodeProto()
    copy.CopyFrom(node)
    return copy
