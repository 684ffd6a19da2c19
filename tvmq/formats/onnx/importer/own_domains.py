"""Marks nodes of custom domains for which the user registered an importer.

Before                                             After
    y = Relu(x)          domain "my.domain"            y = my.domain::Relu(x)

The new name cannot be mistaken for ONNX's operator of the same name. Domains that the model does not import are added,
because ONNX's shape inference refuses the model otherwise.

Tests: tests/formats/importing/test_importers.py
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tvmq.formats.importing.importers import ONNX_DOMAINS, SEPARATOR, own_onnx_operators

if TYPE_CHECKING:
    import onnx


def mark_own(model: onnx.ModelProto) -> onnx.ModelProto:
    """Prefix the operators that users import with their domain, in place."""
    own, known = own_onnx_operators(), {entry.domain for entry in model.opset_import}
    for node in _nodes(model.graph):
        if node.domain in ONNX_DOMAINS:
            continue
        if node.domain not in known:
            model.opset_import.add(domain=node.domain, version=1)
            known.add(node.domain)
        name = f"{node.domain}{SEPARATOR}{node.op_type}"
        if name in own:
            node.op_type = name
    return model


def _nodes(graph: Any) -> Iterator[Any]:
    """Nodes of a graph, and of the bodies inside of them."""
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            for inner in [attribute.g] if attribute.HasField("g") else attribute.graphs:
                yield from _nodes(inner)
