"""Replaces function nodes, of the model or of ONNX, by the nodes of their bodies.

Before                                    After
    y = Celu(x, alpha=2)   'act'              d = Div(x, 2)      'act/Div'
                                              e = Elu(d)         'act/Elu'
                                              y = Mul(2, e)      'act'

The node that gives the result keeps the name. Nodes from a function of the model are layers of their own,
called <node>/<inner node>; nodes from a function of ONNX belong to the layer they came from (LAYER in
metadata_props).
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from tvmq.base.foreign_errors import clause
from tvmq.errors import UnsupportedOpError
from tvmq.formats.onnx.importer.bodies import Replacement, copy_node, replace_each
from tvmq.formats.onnx.importer.load import opset_of
from tvmq.graph.names import UniqueNames

if TYPE_CHECKING:
    import onnx

DOMAIN = "tvmq.expanded"  # of the functions that stand for ONNX's definitions while they are inlined
LAYER = "tvmq.layer"  # key in a node's metadata: the layer it belongs to
# ONNX operators that TVM's table has under the same name with another meaning (that of com.microsoft).
OTHER_MEANING = frozenset({"Attention"})
NO_EXPANSION = frozenset({"SequenceMap", "Bernoulli"})


def layer_of(node: onnx.NodeProto) -> str:
    """The layer that an expanded node belongs to; its own name otherwise."""
    return next((entry.value for entry in node.metadata_props if entry.key == LAYER), node.name)


def expand_functions(model: onnx.ModelProto, imported: Collection[str]) -> bool:
    """Replace function nodes (in place); True if there were any.

    imported   operators of ONNX that need no expansion; others are expanded if ONNX has a body
    raises     UnsupportedOpError if ONNX cannot expand a node
    """
    local = {(function.domain, function.name) for function in model.functions}

    def expand(node: onnx.NodeProto) -> Replacement | None:
        is_local = (node.domain, node.op_type) in local
        if not is_local and not _is_function(node, imported, opset_of(model)):
            return None
        return _expand(model, node, is_local), []

    is_any = replace_each(model, expand)
    if is_any:
        del model.functions[:]
    return is_any


def _is_function(node: onnx.NodeProto, imported: Collection[str], opset: int) -> bool:
    from onnx import defs

    if node.domain not in ("", "ai.onnx") or node.op_type in NO_EXPANSION:
        return False
    if node.op_type in imported and node.op_type not in OTHER_MEANING:
        return False
    if not defs.has(node.op_type, max_inclusive_version=opset):
        return False
    schema: Any = defs.get_schema(node.op_type, max_inclusive_version=opset)
    return schema.has_function or schema.has_context_dependent_function


def _expand(model: onnx.ModelProto, node: onnx.NodeProto, local: bool) -> list[onnx.NodeProto]:
    """The nodes that replace one node, with unique names."""
    from onnx import inliner

    name = node.name
    try:
        function = None if local else _schema_function(model, node)
        inlined = inliner.inline_local_functions(_node_model(model, node, function))
    except Exception as error:  # the inliner's C++ errors arrive as several types
        raise UnsupportedOpError(
            f"from_onnx, layer '{name}': {node.op_type} could not be replaced by simpler "
            f"operators{clause(error)}; export the model with simpler operators"
        ) from error
    nodes = list(inlined.graph.node)
    _name_nodes(nodes, node)
    for inner in nodes if not local else ():
        inner.metadata_props.add(key=LAYER, value=layer_of(node))
    return nodes


def _name_nodes(nodes: list[onnx.NodeProto], outer: onnx.NodeProto) -> None:
    """Give the nodes of a body, and the values inside, names below that of the node they replace."""
    unique = UniqueNames([outer.name])
    visible = {*outer.input, *outer.output}
    for position, inner in enumerate(nodes):
        for names in (inner.input, inner.output):
            for i, value in enumerate(names):
                if value and value not in visible:
                    names[i] = f"{outer.name}/{value}"
        own = re.sub(r"__\d+$", "", inner.name) or f"{inner.op_type}_{position}"  # the inliner appends a number
        gives_result = outer.output[0] in inner.output
        inner.name = outer.name if gives_result else unique(f"{outer.name}/{own}")


def _value_types(model: onnx.ModelProto) -> dict[str, onnx.TypeProto]:
    """Types of all values that shape inference knows."""
    from onnx import helper

    known = {t.name: helper.make_tensor_type_proto(t.data_type, t.dims) for t in model.graph.initializer}
    known.update((value.name, value.type) for value in [*model.graph.input, *model.graph.value_info])
    return known


def _schema_function(model: onnx.ModelProto, node: onnx.NodeProto) -> onnx.FunctionProto:
    """The body of an ONNX operator for this node, as a function of the domain DOMAIN."""
    import onnx
    from onnx import defs

    opset = opset_of(model)
    schema: Any = defs.get_schema(node.op_type, max_inclusive_version=opset)
    full = _with_defaults(node, schema)
    function = onnx.FunctionProto()
    if schema.has_context_dependent_function:
        types = _value_types(model)
        input_types = [types.get(name, onnx.TypeProto()).SerializeToString() for name in node.input]
        version = max(v for v in schema.context_dependent_function_opset_versions if v <= opset)
        body = schema.get_context_dependent_function_with_opset_version(version, full.SerializeToString(), input_types)
        function.ParseFromString(body)
    else:
        function.CopyFrom(schema.function_body)
    function.domain, function.name = DOMAIN, node.op_type
    for entry in function.opset_import:
        entry.version = opset
    return function


def _with_defaults(node: onnx.NodeProto, schema: Any) -> onnx.NodeProto:
    """The node with default attributes filled in, since function bodies refer to them."""
    full = copy_node(node)
    present = {attribute.name for attribute in node.attribute}
    for name, attribute in schema.attributes.items():
        if name not in present and attribute.default_value.type:
            full.attribute.append(attribute.default_value)
    return full


def _node_model(model: onnx.ModelProto, node: onnx.NodeProto, function: onnx.FunctionProto | None) -> onnx.ModelProto:
    """A model of this node alone, to be inlined."""
    from onnx import defs, helper

    inputs = [helper.make_empty_tensor_value_info(name) for name in dict.fromkeys(node.input) if name]
    outputs = [helper.make_empty_tensor_value_info(name) for name in node.output if name]
    functions, opsets = list(model.functions), list(model.opset_import)
    if function is not None:
        schema = defs.get_schema(node.op_type, max_inclusive_version=opset_of(model))
        node = _with_defaults(node, schema)
        node.domain = DOMAIN
        functions, opsets = [function], [*opsets, helper.make_opsetid(DOMAIN, 1)]
    graph = helper.make_graph([node], "single", inputs, outputs)
    return helper.make_model(graph, opset_imports=opsets, functions=functions)
