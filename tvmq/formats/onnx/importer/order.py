"""Topological order of the nodes of a graph, which ONNX requires and some tools do not write.

Tests: tests/formats/onnx/importer/test_old_files.py
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from typing import Any

from tvmq.formats.onnx.importer.bodies import copy_node, replace_nodes, subgraphs


def sort_nodes(graph: Any) -> None:
    """Sort the nodes of a graph and of the graphs inside it (in place); where they are in order nothing changes.

    Of nodes that could come next the first one in the file does. Nodes that wait for each other stay at the end, as
    they were: whoever checks the names refuses them.
    """
    for node in graph.node:
        for inner in subgraphs(node):
            sort_nodes(inner)
    order = _order(graph)
    if order != list(range(len(order))):
        replace_nodes(graph, [copy_node(graph.node[position]) for position in order])


def _order(graph: Any) -> list[int]:
    """Positions of the nodes in the order that is wanted."""
    producers = {name: position for position, node in enumerate(graph.node) for name in node.output if name}
    waiting: list[int] = []
    readers: dict[int, list[int]] = defaultdict(list)
    for position, node in enumerate(graph.node):
        sources = {producers[name] for name in reads(node) if name in producers}
        waiting.append(len(sources))
        for source in sources:
            readers[source].append(position)
    ready = [position for position, count in enumerate(waiting) if not count]
    order = []
    while ready:
        position = heapq.heappop(ready)
        order.append(position)
        for reader in readers[position]:
            waiting[reader] -= 1
            if not waiting[reader]:
                heapq.heappush(ready, reader)
    return order + [position for position, count in enumerate(waiting) if count]


def reads(node: Any) -> list[str]:
    """Names that a node reads from outside of it, those of its subgraphs included."""
    names = list(node.input)
    for graph in subgraphs(node):
        own = {name for inner in graph.node for name in inner.output}
        own |= {value.name for value in [*graph.input, *graph.initializer]}
        inside = [name for inner in graph.node for name in reads(inner)] + [value.name for value in graph.output]
        names += [name for name in inside if name not in own]
    return [name for name in names if name]
