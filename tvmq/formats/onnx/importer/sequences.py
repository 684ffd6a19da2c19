"""Sequences of tensors whose length and positions are known: their tensors stand where they were read.

Before                                          After
    s = SplitToSequence(x, [3, 4])   'split'        a, b = Split(x, [3, 4])     'split/Split'
    y = SequenceAt(s, 1)             'second'       y = Identity(b)             'second'

A sequence that is made in another way becomes SequenceConstruct of its tensors, and that goes away when nobody reads
it. What remains is refused by the importer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tvmq.formats.onnx.importer.bodies import Replacement, constant_lookup, replace_each
from tvmq.formats.onnx.importer.layer import OnnxLayer
from tvmq.formats.onnx.importer.load import opset_of
from tvmq.formats.onnx.importer.shapes import dimensions

if TYPE_CHECKING:
    import onnx

MOST_TENSORS = 10_000  # of one sequence


@dataclass(frozen=True)
class _SequenceShapes:
    """Tensors of each sequence, and dimensions of each tensor, by name."""

    tensors: dict[str, list[str]]
    dims: dict[str, list[int | str] | None]


def resolve_sequences(model: onnx.ModelProto) -> bool:
    """Replace operators on sequences that are known (in place); True if there were any.

    Types of values must be inferred again, and constants folded.
    raises   UnsupportedOpError for a position outside of a sequence
    """
    graph, value = model.graph, constant_lookup(model.graph)
    known = _SequenceShapes({}, {info.name: dimensions(info) for info in [*graph.value_info, *graph.input]})
    known.dims.update((tensor.name, list(tensor.dims)) for tensor in graph.initializer)

    def resolve(node: onnx.NodeProto) -> Replacement | None:
        layer = OnnxLayer(node, value, opset=opset_of(model))
        is_known = not node.domain and _resolve(layer, known)
        _note(layer.nodes[-1] if is_known else node, known)
        return (layer.nodes, layer.initializers) if is_known else None

    return replace_each(model, resolve)


def _resolve(layer: OnnxLayer, known: _SequenceShapes) -> bool:
    """Replace an operator on sequences; False for others, and where its sequence or position is not known."""
    op_type = layer.node.op_type
    if op_type == "SplitToSequence":
        return _split(layer, known)
    tensors = known.tensors.get(layer.inputs[0]) if op_type in ON_TENSORS else None
    return tensors is not None and ON_TENSORS[op_type](layer, tensors)


def _note(node: onnx.NodeProto, known: _SequenceShapes) -> None:
    """Remember the tensors of a sequence that a node gives."""
    if node.op_type in ("SequenceConstruct", "SequenceEmpty"):
        known.tensors[node.output[0]] = list(node.input)
    elif node.op_type == "Identity" and node.input[0] in known.tensors:
        known.tensors[node.output[0]] = known.tensors[node.input[0]]


def _construct(layer: OnnxLayer, tensors: list[str]) -> bool:
    layer.finish("SequenceConstruct" if tensors else "SequenceEmpty", tensors)
    return True


def _split(layer: OnnxLayer, known: _SequenceShapes) -> bool:
    """SplitToSequence: into these sizes, into parts of one size (the last may be smaller), or into single slices."""
    dims, axis = known.dims.get(layer.inputs[0]), int(layer.attributes.get("axis", 0))
    size = dims[axis] if dims is not None and -len(dims) <= axis < len(dims) else None
    split = layer.value(layer.inputs[1]) if layer.has_input(1) else np.asarray(1)
    if split is None or (split.ndim == 0 and not isinstance(size, int)):
        return False
    size = size if isinstance(size, int) else 0
    if split.ndim == 0 and (split < 1 or size > MOST_TENSORS * split):
        raise layer.unsupported_error(
            f"parts of size {split} of a dimension of size {size}", f"split it into 1 to {MOST_TENSORS} parts"
        )
    sizes = split.tolist() if split.ndim else [min(int(split), size - start) for start in range(0, size, int(split))]
    if not sizes:
        return _construct(layer, [])
    parts = [f"{layer.node.name}/part_{i}" for i in range(len(sizes))]
    inputs, named = [layer.inputs[0], layer.vector("sizes", *sizes)], {}
    if layer.opset < 13:
        inputs, named = inputs[:1], {"split": sizes}
        layer.initializers.clear()
    layer.emit("Split", inputs, parts[0], f"{layer.node.name}/Split", axis=axis, **named)
    layer.nodes[-1].output.extend(parts[1:])
    if not layer.has_input(1) and not layer.attributes.get("keepdims", 1):
        parts = [_at_axis(layer, "Squeeze", part, axis, i) for i, part in enumerate(parts)]
    return _construct(layer, parts)


def _at_axis(layer: OnnxLayer, op_type: str, x: str, axis: int, place: int) -> str:
    """Squeeze or Unsqueeze of one axis, which became an input with opset 13."""
    if layer.opset < 13:
        return layer.compute(op_type, [x], f"{op_type}_{place}", axes=[axis])
    return layer.compute(op_type, [x, layer.vector(f"axis_{place}", axis)], f"{op_type}_{place}")


def _position(layer: OnnxLayer, index: int, default: int, count: int, last: int) -> int | None:
    """A constant position, counted from the end of `count` where it is negative; None where it is computed."""
    value = layer.value(layer.inputs[index]) if layer.has_input(index) else np.asarray(default)
    if value is None:
        return None
    position = int(value.ravel()[0])
    if not -count <= position <= last:
        raise layer.unsupported_error(f"position {position} lies outside of a sequence of {count}", "correct it")
    return position + count if position < 0 else position


def _read(layer: OnnxLayer, tensors: list[str]) -> bool:
    position = _position(layer, 1, 0, len(tensors), len(tensors) - 1)
    return position is not None and bool(layer.finish("Identity", [tensors[position]]))


def _insert(layer: OnnxLayer, tensors: list[str]) -> bool:
    place = _position(layer, 2, len(tensors), len(tensors), len(tensors))
    return place is not None and _construct(layer, [*tensors[:place], layer.inputs[1], *tensors[place:]])


def _erase(layer: OnnxLayer, tensors: list[str]) -> bool:
    place = _position(layer, 1, -1, len(tensors), len(tensors) - 1)
    return place is not None and _construct(layer, [*tensors[:place], *tensors[place + 1 :]])


def _length(layer: OnnxLayer, tensors: list[str]) -> bool:
    return bool(layer.finish("Identity", [layer.constant("length", np.int64(len(tensors)))]))


def _concat(layer: OnnxLayer, tensors: list[str]) -> bool:
    """ConcatFromSequence: along an axis of the tensors, or along a new one."""
    axis = int(layer.attributes["axis"])
    if layer.attributes.get("new_axis", 0):
        tensors = [_at_axis(layer, "Unsqueeze", tensor, axis, i) for i, tensor in enumerate(tensors)]
    return bool(tensors and layer.finish("Concat", tensors, axis=axis))


# operators whose result follows from the tensors of a sequence
ON_TENSORS = {
    "ConcatFromSequence": _concat,
    "SequenceAt": _read,
    "SequenceErase": _erase,
    "SequenceInsert": _insert,
    "SequenceLength": _length,
}
