"""Replacing nodes that are functions, the model's own or ONNX's, by the nodes of their bodies.

Before                                    After
    y = Celu(x, alpha=2)   'act'              d = Div(x, 2)      'act/Div'
                                              e = Elu(d)         'act/Elu'
                                              y = Mul(2, e)      'act'

The node that gives the result keeps the name. Nodes from a function of the model are layers of their own, called
<node>/<inner node>; nodes from a function of ONNX all belong to the layer they came from (LAYER in metadata_props).
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from tvmq.errors import UnsupportedOpError
from tvmq.frontends.onnx_load import opset_of

if TYPE_CHECKING:
    import onnx

LAYER = "tvmq.layer"  # key in a node's metadata: the layer it belongs to
# ONNX operators that TVM's table has under the same name with another meaning (that of com.microsoft).
OTHER_MEANING = frozenset({"Attention"})
NO_EXPANSION = frozenset({"SequenceMap", "Bernoulli"})


def layer_of(node: onnx.NodeProto) -> str:
    """The layer that an expanded node belongs to; its own name otherwise."""
    return next((entry.value for entry in node.metadata_props if entry.key == LAYER), node.name)


def expand_functions(model: onnx.ModelProto, imported: Collection[str]) -> bool:
    """Replace function nodes (in place); True if there were any.

    imported   operators of ONNX that need no expansion; those outside of it are expanded if ONNX defines them by others
    raises     UnsupportedOpError if ONNX cannot expand a node
    """
    local = {(function.domain, function.name) for function in model.functions}
    nodes, expanded = [], False
    for index, node in enumerate(model.graph.node):
        if (node.domain, node.op_type) in local:
            nodes += _expand(model, node, index, local=True)
        elif _defined_by_others(node, imported, opset_of(model)):
            nodes += _expand(model, node, index, local=False)
        else:
            nodes.append(node)
            continue
        expanded = True
    if expanded:
        copies = [_copy(node) for node in nodes]
        del model.graph.node[:]
        model.graph.node.extend(copies)
        del model.functions[:]
    return expanded


def _copy(node: onnx.NodeProto) -> onnx.NodeProto:
    import onnx

    copy = onnx.NodeProto()
    copy.CopyFrom(node)
    return copy


def _defined_by_others(node: onnx.NodeProto, imported: Collection[str], opset: int) -> bool:
    from onnx import defs

    if node.domain not in ("", "ai.onnx") or node.op_type in NO_EXPANSION:
        return False
    if node.op_type in imported and node.op_type not in OTHER_MEANING:
        return False
    if not defs.has(node.op_type, max_inclusive_version=opset):
        return False
    schema = defs.get_schema(node.op_type, max_inclusive_version=opset)
    return schema.has_function or schema.has_context_dependent_function


def _expand(model: onnx.ModelProto, node: onnx.NodeProto, index: int, local: bool) -> list[onnx.NodeProto]:
    """The nodes that replace one node, with names that no other node or value of the model has."""
    from onnx import inliner

    name = node.name or f"{node.op_type}_{index}"
    try:
        single = _single(model, node)
        if local:
            inlined = inliner.inline_local_functions(single)
        else:
            ids = [(node.domain, node.op_type)]
            inlined = inliner.inline_selected_functions(single, ids, exclude=False, inline_schema_functions=True)
    except Exception as error:  # the inliner's C++ errors arrive as several types
        raise UnsupportedOpError(
            f"from_onnx, layer '{name}': {node.op_type} could not be replaced by simpler operators: {error}; "
            "export the model with simpler operators"
        ) from error
    outer = {*node.input, *node.output}
    nodes = list(inlined.graph.node)
    for position, inner in enumerate(nodes):
        _rename(inner, outer, f"{name}/")
        gives_result = node.output[0] in inner.output
        inner.name = name if gives_result else f"{name}/{inner.name or f'{inner.op_type}_{position}'}"
        if not local:
            inner.metadata_props.add(key=LAYER, value=name)
    return nodes


def _single(model: onnx.ModelProto, node: onnx.NodeProto) -> onnx.ModelProto:
    """A model of this node alone, its inputs typed as far as shape inference knows them."""
    from onnx import helper

    known = {value.name: value for value in [*model.graph.value_info, *model.graph.input]}
    typed = {t.name: helper.make_tensor_value_info(t.name, t.data_type, t.dims) for t in model.graph.initializer}
    inputs = [
        known.get(name) or typed.get(name) or helper.make_empty_tensor_value_info(name)
        for name in dict.fromkeys(node.input)
        if name
    ]
    outputs = [known.get(name) or helper.make_empty_tensor_value_info(name) for name in node.output if name]
    graph = helper.make_graph([node], "single", inputs, outputs)
    return helper.make_model(graph, opset_imports=model.opset_import, functions=model.functions)


def _rename(node: onnx.NodeProto, outer: set[str], prefix: str) -> None:
    """Prefix the names that are internal to the function."""
    for names in (node.input, node.output):
        for i, value in enumerate(names):
            if value and value not in outer:
                names[i] = prefix + value
