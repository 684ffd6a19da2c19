"""Unrolls Loop nodes with a known number of iterations.

Before                                     After
    y = Loop(2, true, x)      'repeat'         a = Relu(x)              'repeat/0/Relu_0'
        body: Relu(x)                          y = Relu(a)              'repeat/1/Relu_0'

A Loop whose body always asks for the next step is written out at once. One whose condition is computed gets one step
at a time, because only folding tells whether there is another. What remains as Loop is refused by the importer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tvmq.errors import UnsupportedOpError
from tvmq.formats.onnx.importer.bodies import (
    Replacement,
    constant_lookup,
    constants_of,
    copy_node,
    identity,
    inline_body,
    replace_each,
)
from tvmq.formats.onnx.importer.load import opset_of

if TYPE_CHECKING:
    import onnx

MOST_NODES = 10_000  # of one Loop, written out
STEP = "tvmq.step"  # key in the metadata of a Loop: the number of steps written out before it


def unroll_loops(model: onnx.ModelProto) -> bool:
    """Write out the next steps of Loops whose condition is known (in place); True if there were any.

    Types of values must be inferred again, and constants folded.
    raises   UnsupportedOpError for a Loop of more than MOST_NODES nodes
    """
    value = constant_lookup(model.graph)

    def unroll(node: onnx.NodeProto) -> Replacement | None:
        loop = _loop(node, value)
        return None if loop is None else _unroll(loop, opset_of(model))

    return replace_each(model, unroll)


@dataclass
class _UnrollableLoop:
    """A Loop of which the next steps are known.

    first    number of its next step
    steps    how many are written out now
    has_remainder  the condition is computed: what follows remains a Loop
    states   values carried from step to step
    """

    node: onnx.NodeProto
    body: onnx.GraphProto
    first: int
    steps: int
    has_remainder: bool

    @property
    def states(self) -> list[str]:
        return list(self.node.input[2:])


def _loop(node: onnx.NodeProto, value: Any) -> _UnrollableLoop | None:
    """Steps of a node that can be unrolled now; None if it is no Loop, or its next step is not known."""
    if node.op_type != "Loop":
        return None
    body = next(attribute.g for attribute in node.attribute if attribute.name == "body")
    limit = value(node.input[0]) if node.input[0] else np.array(np.inf)
    condition = value(node.input[1]) if node.input[1] else np.array(True)
    if limit is None or condition is None:
        return None
    first = int(next((entry.value for entry in node.metadata_props if entry.key == STEP), "0"))
    left = max(limit.item() - first, 0) if condition.item() else 0
    always = _always_continues(body)
    scans = len(body.output) - 1 - len(node.input[2:])
    if left and not always and scans:
        raise UnsupportedOpError(
            f"from_onnx, layer '{node.name}': Loop: its condition is known only at run time and it has {scans} "
            "scan outputs; export it with a fixed number of iterations"
        )
    steps = int(left) if always and np.isfinite(left) else int(bool(left))
    _check_size(node, body, max(left if always else 0, first + steps))
    return _UnrollableLoop(node, body, first, steps, has_remainder=bool(left) and not always)


def _check_size(node: onnx.NodeProto, body: onnx.GraphProto, steps: float) -> None:
    count = steps * max(len(body.node), 1)
    if count > MOST_NODES:
        shown = f"{int(steps)} iterations of {len(body.node)} nodes" if np.isfinite(steps) else "endless iterations"
        raise UnsupportedOpError(
            f"from_onnx, layer '{node.name}': Loop: {shown} exceed the {MOST_NODES} nodes that a loop can be "
            "unrolled to; export it with fewer iterations, or run its body as a separate model, once an iteration"
        )


def _always_continues(body: onnx.GraphProto) -> bool:
    """True if the condition that a body gives is the one it got, or the constant true."""
    from onnx import numpy_helper

    constants = constants_of(body)
    producers = {name: node for node in body.node for name in node.output}
    name = body.output[0].name
    while name in producers and producers[name].op_type in ("Identity", "Cast"):
        name = producers[name].input[0]
    if name in constants:
        return bool(numpy_helper.to_array(constants[name]).ravel()[0])
    return name == body.input[1].name


def _unroll(loop: _UnrollableLoop, opset: int) -> Replacement:
    """Nodes and weights of the steps, and what gives the results their names."""
    from onnx import numpy_helper

    node, body, states = loop.node, loop.body, loop.states
    nodes: list[onnx.NodeProto] = []
    weights: list[onnx.TensorProto] = []
    collected: list[list[str]] = [[] for _ in node.output[len(states) :]]
    condition = ""
    for step in range(loop.first, loop.first + loop.steps):
        prefix = f"{node.name}/{step}"
        number, going = f"{prefix}/step", f"{prefix}/continue"
        weights += [numpy_helper.from_array(np.array(step), number), numpy_helper.from_array(np.array(True), going)]
        arguments = dict(zip((value.name for value in body.input), (number, going, *states), strict=True))
        inlined, own, results = inline_body(body, prefix, arguments)
        nodes += inlined
        weights += own
        condition, states = results[0], results[1 : 1 + len(states)]
        for parts, result in zip(collected, results[1 + len(states) :], strict=True):
            parts.append(result)
    if loop.has_remainder:
        return [*nodes, _remainder(loop, condition, states)], weights
    for position, (source, result) in enumerate(zip(states, node.output, strict=False)):
        nodes += [identity(source, result, f"{node.name}/output_{position}")] if result else []
    for parts, result in zip(collected, node.output[len(states) :], strict=True):
        nodes += _stack_results(node, parts, result, opset, weights) if result else []
    return nodes, weights


def _remainder(loop: _UnrollableLoop, condition: str, states: list[str]) -> onnx.NodeProto:
    """The steps after those written out, as a Loop."""
    rest = copy_node(loop.node)
    rest.input[1:] = [condition, *states]
    del rest.metadata_props[:]
    rest.metadata_props.add(key=STEP, value=str(loop.first + loop.steps))
    return rest


def _stack_results(
    node: onnx.NodeProto, parts: list[str], result: str, opset: int, weights: list[onnx.TensorProto]
) -> list[onnx.NodeProto]:
    """Nodes that concatenate the results of the steps, one row a step."""
    from onnx import helper, numpy_helper

    if not parts:
        raise UnsupportedOpError(
            f"from_onnx, layer '{node.name}': Loop: '{result}' is a scan output of no iterations; leave it out"
        )
    axis = f"{result}/axis"
    if opset >= 13:
        weights.append(numpy_helper.from_array(np.array([0]), axis))
    rows = [f"{result}/row_{position}" for position in range(len(parts))]
    options: dict[str, Any] = {"axes": [0]} if opset < 13 else {}
    extra = [axis] if opset >= 13 else []
    lifted = [
        helper.make_node("Unsqueeze", [part, *extra], [row], name=row, **options)
        for part, row in zip(parts, rows, strict=True)
    ]
    return [*lifted, helper.make_node("Concat", rows, [result], name=f"{node.name}/{result}", axis=0)]
