"""If with a condition that is known: the nodes of the branch taken stand in its place.

Before                                     After
    y = If(true)          'choose'             y = Relu(x)              'choose/Relu_0'
        then: Relu(x)
        else: Neg(x)

What remains as If is refused by the importer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tvmq.frontends.onnx.bodies import identity, inline_body, replace_nodes

if TYPE_CHECKING:
    import onnx


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
        taken = "then_branch" if numpy_helper.to_array(known[node.input[0]]).ravel()[0] else "else_branch"
        branch = next(attribute.g for attribute in node.attribute if attribute.name == taken)
        inlined, weights, values = inline_body(branch, node.name, {})
        results = zip(values, node.output, strict=True)
        nodes += inlined
        nodes += [identity(*pair, f"{node.name}/output_{position}") for position, pair in enumerate(results)]
        model.graph.initializer.extend(weights)
    if is_any:
        replace_nodes(model.graph, nodes)
    return is_any
