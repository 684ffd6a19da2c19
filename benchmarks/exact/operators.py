"""Each operator of a quantized model on the same codes: ours beside onnxruntime's.

A model is cut at every tensor of codes: whoever reads one reads a new input instead, and each becomes an output. One
run of the cut model then computes all operators, each on the codes that onnxruntime's whole model had there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from harness import onnxruntime_peer
from harness.zoo import Feed

READ = "__read"  # suffix of the inputs that stand for tensors of codes


@dataclass(frozen=True)
class Differences:
    """Codes that differ over all operators and samples.

    largest     in steps
    worst       name of the tensor that differs most; "-" where none does
    operators   tensors of codes that the model computes
    """

    differing: int
    values: int
    largest: int
    worst: str
    operators: int


def computed_codes(model: Any) -> list[str]:
    """The tensors of codes of 8 and 16 bits that nodes of an ONNX model compute, in order."""
    import onnx

    inferred = onnx.shape_inference.infer_shapes(model).graph.value_info
    types = {value.name: value.type.tensor_type.elem_type for value in inferred}
    codes = (onnx.TensorProto.UINT8, onnx.TensorProto.INT8, onnx.TensorProto.INT16)
    constants = {tensor.name for tensor in model.graph.initializer}
    found = []
    for node in model.graph.node:
        coded = node.op_type.startswith(("QLinear", "QGemm")) or types.get(node.output[0]) in codes
        if (coded or node.op_type == "QuantizeLinear") and not set(node.input[:1]) <= constants:
            found += list(node.output[:1])
    return found


def watched(model: Any, names: Iterable[str]) -> Any:
    """A copy of the model with these tensors of codes as its outputs."""
    import onnx
    from onnx import helper

    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    del copy.graph.output[:]
    copy.graph.output.extend(helper.make_empty_tensor_value_info(name) for name in names)
    return copy


def cut(model: Any, codes: Feed) -> Any:
    """The model of the head of this file; `codes`: a value of each tensor to cut at."""
    from onnx import helper

    result = watched(model, codes)
    for node in result.graph.node:
        for index, name in enumerate(node.input):
            if name in codes:
                node.input[index] = name + READ
    for name, value in codes.items():
        kind = helper.np_dtype_to_tensor_dtype(value.dtype)
        result.graph.input.append(helper.make_tensor_value_info(name + READ, kind, value.shape))
    for output in result.graph.output:
        value = codes[output.name]
        output.CopyFrom(
            helper.make_tensor_value_info(output.name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
        )
    read = {name for node in result.graph.node for name in node.input}
    used = [value for value in result.graph.input if value.name in read]
    del result.graph.input[:]
    result.graph.input.extend(used)
    return result


def compare_operators(path: Path, feeds: Iterable[Feed], folder: Path) -> Differences:
    """Ours and onnxruntime's codes of each operator of a Q/DQ or QOperator model, on these samples."""
    import onnx

    model = onnx.load(str(path))
    names = computed_codes(model)
    onnx.save(watched(model, names), str(folder / "watched.onnx"))
    whole, parts = onnxruntime_peer.session(folder / "watched.onnx"), None
    found = dict.fromkeys(names, (0, 0, 0))
    for feed in feeds:
        codes = dict(zip(names, whole(feed), strict=True))
        parts = parts or _parts(model, codes, feed, folder / "cut.onnx")
        given = {**feed, **{name + READ: value for name, value in codes.items()}}
        for name, ours, theirs in zip(names, *(run(given) for run in parts), strict=True):
            steps = np.abs(np.asarray(ours).astype(np.int32) - theirs)
            differing, values, largest = found[name]
            found[name] = differing + int((steps > 0).sum()), values + steps.size, max(largest, int(steps.max()))
    worst = max(names, key=lambda name: (found[name][2], found[name][0]))
    differing, values, largest = zip(*found.values(), strict=True)
    return Differences(sum(differing), sum(values), max(largest), worst if max(largest) else "-", len(names))


def _parts(model: Any, codes: Feed, feed: Feed, path: Path) -> list[Callable[[Feed], Any]]:
    """Runs of both cut models, ours and onnxruntime's, each fed with its own inputs alone."""
    import onnx

    import tvmq

    parts = cut(model, codes)
    onnx.save(parts, str(path))
    inputs = [value.name for value in parts.graph.input]
    shape = {name: array.shape for name, array in feed.items() if name in inputs}
    ours = tvmq.build(tvmq.quantize(*tvmq.from_onnx(path, shape=shape))).run
    return [
        lambda given, run=run: run({name: given[name] for name in inputs})  # type: ignore[misc]
        for run in (ours, onnxruntime_peer.session(path))
    ]
