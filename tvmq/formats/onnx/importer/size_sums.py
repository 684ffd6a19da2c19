"""Dimensions of inputs that are sums of others: that of a mask over the past and the new steps of attention.

Exporters write such a name as "past_sequence_length + sequence_length", or give it to the concat of the past and what
is new. Only where a name is known to be the sum, operators that meet both are known to fit.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tvmq.formats.onnx.importer.shapes import dimensions, graph_inputs

if TYPE_CHECKING:
    import onnx

Sizes = list["int | str"]


def size_sums(graph: onnx.GraphProto) -> dict[str, Sizes]:
    """{name of a dimension: the sizes whose sum it is} of those names of inputs that are sums.

    A graph whose shapes are inferred.
    """
    shapes = {value.name: dimensions(value) for value in (*graph.input, *graph.value_info, *graph.output)}
    names = [size for value in graph_inputs(graph) for size in dimensions(value) or () if isinstance(size, str)]
    plain = {name for name in names if "+" not in name}
    sums = {name: parts for name in names if (parts := _split_sum(name, plain)) is not None}
    sums |= {name: parts for name, parts in _concats(graph, shapes) if name in names and name not in sums}
    own = {size for parts in sums.values() for size in parts}
    return {name: parts for name, parts in sums.items() if name not in own}


def _split_sum(name: str, plain: set[str]) -> Sizes | None:
    """The terms of a name that is written as a sum of numbers and other names."""
    terms = [term.strip() for term in name.split("+")]
    if len(terms) < 2 or not all(term.isdigit() or term in plain for term in terms):
        return None
    return [int(term) if term.isdigit() else term for term in terms]


def _concats(graph: onnx.GraphProto, shapes: dict[str, Sizes | None]) -> Iterator[tuple[str, Sizes]]:
    """(name of a dimension, what it is the sum of) of concats of an input and others."""
    inputs = {value.name for value in graph_inputs(graph)}
    for node in graph.node:
        if node.op_type != "Concat" or not inputs & set(node.input):
            continue
        operands = [shapes.get(name) or [] for name in node.input]
        result = shapes.get(node.output[0]) or []
        axis = next(attribute.i for attribute in node.attribute if attribute.name == "axis")
        if not -len(result) <= axis < len(result) or any(len(one) != len(result) for one in operands):
            continue
        parts = [one[axis] for one in operands]
        if isinstance(result[axis], str) and "?" not in parts:
            yield str(result[axis]), parts
