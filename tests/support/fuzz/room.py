"""Results of onnxruntime for a model, and how much another float32 computation of it may differ.

room = room_of(model, feed, results)                      # of each result, from changes of the inputs
spread = rounding_room(model, feed, name, result)         # of one result, from roundings in between
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

Feed = dict[str, np.ndarray]

# What a value in between may be off, relatively. Each operation rounds by 2**-24; the sums of a dozen products that
# cases have were 2**-22.2 (onnxruntime) and 2**-21.5 (tvmq) from float64 where their terms are small.
ROUNDING = 2.0**-22
DRAWS = 4


def onnxruntime_results(model: onnx.ModelProto, feeds: Sequence[Feed]) -> list[list[np.ndarray]] | None:
    """Results for all feeds, without graph optimizations; None if onnxruntime refuses the model."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads, options.log_severity_level = 1, 4
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
        return [session.run(None, feed) for feed in feeds]
    except Exception:  # the reason is onnxruntime's own affair
        return None


def values_of(model: onnx.ModelProto, feed: Feed) -> Feed:
    """All tensors of the graph, by onnxruntime."""
    names = list(dict.fromkeys(name for node in model.graph.node for name in node.output if name))
    wide = onnx.ModelProto()
    wide.CopyFrom(model)
    del wide.graph.output[:]
    wide.graph.output.extend(onnx.helper.make_empty_tensor_value_info(name) for name in names)
    found = onnxruntime_results(wide, [feed])
    return {**feed, **dict(zip(names, found[0], strict=True))} if found else dict(feed)


def room_of(model: onnx.ModelProto, feed: Feed, wanted: Sequence[np.ndarray]) -> list[Any]:
    """Allowed difference of each value: rounding of float32, enlarged where the model itself enlarges tiny changes."""
    rooms: list[Any] = [_noise(y) for y in wanted]
    for sign in (-1, 1):
        factor = np.float32(1 + sign * 1e-5)
        moved = {n: x * factor if x.dtype == np.float32 else x for n, x in feed.items()}
        found = onnxruntime_results(model, [moved])
        if found is None or any(a.shape != b.shape for a, b in zip(found[0], wanted, strict=True)):
            continue
        with np.errstate(invalid="ignore"):
            rooms = [
                room + 2 * np.nan_to_num(np.abs(a.astype(np.float64) - b), posinf=np.inf)
                for room, a, b in zip(rooms, found[0], wanted, strict=True)
            ]
    return rooms


def _noise(y: np.ndarray) -> float:
    finite = np.abs(y[np.isfinite(y)]) if y.dtype.kind == "f" else np.zeros(0)
    return 1e-5 * max(1.0, float(finite.max(initial=0.0)))


def rounding_room(model: onnx.ModelProto, feed: Feed, name: str, wanted: np.ndarray) -> np.ndarray:
    """Allowed difference of each value of a result because of float32 between the operators.

    A norm of rows that hardly vary, say, divides by 0.003 what a rounding of its input changes. Every float32 tensor in
    between is changed by ROUNDING up or down, element by element; what comes out of DRAWS such models bounds the room.
    Tensors of whole numbers alone are exact, and stay: no comparison or index may tip over for a wrong reason.
    """
    largest = np.zeros(wanted.shape)
    values = values_of(model, feed)
    for draw in range(DRAWS):
        found = onnxruntime_results(_noisy(model, values, np.random.default_rng(draw)), [feed])
        if found is None:
            continue
        moved = found[0][[output.name for output in model.graph.output].index(name)]
        if moved.shape == wanted.shape:
            with np.errstate(invalid="ignore"):
                apart = np.abs(moved.astype(np.float64) - wanted)
            largest = np.maximum(largest, np.nan_to_num(apart, posinf=np.inf))
    return 2 * largest


def _noisy(model: onnx.ModelProto, values: Feed, random: np.random.Generator) -> onnx.ModelProto:
    """The model with a product behind each node that rounds."""
    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    del changed.graph.node[:]
    for index, node in enumerate(model.graph.node):
        kept = changed.graph.node.add()
        kept.CopyFrom(node)
        for at, name in enumerate(node.output):
            value = values.get(name)
            if node.op_type == "Constant" or value is None or value.dtype != np.float32 or _whole(value):
                continue
            exact, factor = f"tvmq.exact_{index}_{at}", f"tvmq.factor_{index}_{at}"
            factors = 1 + ROUNDING * random.choice([-1, 1], value.shape)
            kept.output[at] = exact
            changed.graph.initializer.append(numpy_helper.from_array(np.asarray(factors, np.float32), factor))
            changed.graph.node.append(helper.make_node("Mul", [exact, factor], [name]))
    return changed


def _whole(value: np.ndarray) -> bool:
    return bool(np.all(value == np.round(value)))
