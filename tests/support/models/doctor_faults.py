"""A small healthy network with the data it was "trained" on, and the faults that tests put into it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import tvmq
from tvmq.formats.onnx.importer.load import read_model
from tvmq.tools.doctor.check_context import CheckContext

SIZE, SAMPLES = 12, 32
MEANS, DEVIATIONS = (0.2, 0.5, 0.8), (0.05, 0.1, 0.15)
Weights = dict[str, np.ndarray]


def pictures(seed: int = 0) -> np.ndarray:
    """float32 (32, 3, 12, 12) in 0..1; its channels have means and deviations of their own."""
    random = np.random.default_rng(seed)
    scale = np.reshape(DEVIATIONS, (3, 1, 1))
    each = 0.5 * random.standard_normal((SAMPLES, 3, 1, 1)) + random.standard_normal((SAMPLES, 3, SIZE, SIZE))
    return np.clip(np.reshape(MEANS, (3, 1, 1)) + scale * each, 0, 1).astype(np.float32)


def weights() -> Weights:
    """Weights of the layers stem (with a batch norm whose statistics fit `pictures`), middle, head."""
    random = np.random.default_rng(7)

    def normal(*shape: int, gain: float = 1.0) -> np.ndarray:
        return (gain * random.standard_normal(shape) * np.sqrt(2 / np.prod(shape[1:]))).astype(np.float32)

    found = {"stem.w": normal(8, 3, 3, 3), "stem.b": normal(8, 1)[:, 0]}
    # every tap sees a pixel of its channel; pixels of a sample share a quarter of their variance
    by_channel = found["stem.w"].sum(axis=(2, 3)).astype(np.float64)
    squares = (found["stem.w"].astype(np.float64) ** 2).sum(axis=(2, 3))
    deviations = np.array(DEVIATIONS) ** 2
    mean = by_channel @ np.array(MEANS) + found["stem.b"]
    variance = squares @ deviations + 0.25 * by_channel**2 @ deviations
    found |= {"norm.mean": mean.astype(np.float32), "norm.variance": variance.astype(np.float32)}
    found |= {"norm.gamma": np.ones(8, np.float32), "norm.beta": np.full(8, 0.3, np.float32)}
    found |= {"middle.w": normal(16, 8, 3, 3), "middle.b": normal(16, 1, gain=0.1)[:, 0]}
    found |= {"head.w": normal(6, 16, gain=2.0), "head.b": normal(6, 1, gain=0.1)[:, 0]}
    return found


def network(edit: Callable[[Weights], None] = lambda weights: None) -> onnx.ModelProto:
    """stem, norm, act, middle, act2, pool, head; `edit` changes the weights in place."""
    arrays = weights()
    edit(arrays)
    conv = {"kernel_shape": [3, 3]}
    nodes = [
        helper.make_node("Conv", ["x", "stem.w", "stem.b"], ["a"], "stem", **conv),
        helper.make_node(
            "BatchNormalization", ["a", "norm.gamma", "norm.beta", "norm.mean", "norm.variance"], ["b"], "norm"
        ),
        helper.make_node("Relu", ["b"], ["c"], "act"),
        helper.make_node("Conv", ["c", "middle.w", "middle.b"], ["d"], "middle", **conv),
        helper.make_node("Relu", ["d"], ["e"], "act2"),
        helper.make_node("GlobalAveragePool", ["e"], ["f"], "pool"),
        helper.make_node("Flatten", ["f"], ["g"], "flatten"),
        helper.make_node("Gemm", ["g", "head.w", "head.b"], ["y"], "head", transB=1),
    ]
    given = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 3, SIZE, SIZE])
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 6])
    constants = [numpy_helper.from_array(array, name) for name, array in arrays.items()]
    graph = helper.make_graph(nodes, "net", [given], [result], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def context(
    edit: Callable[[Weights], None] = lambda weights: None,
    prepare: Callable[[np.ndarray], np.ndarray] = lambda x: x,
    labels: np.ndarray | None = None,
) -> CheckContext:
    """The network with a fault in its weights, or in how its samples are prepared."""
    proto = read_model(network(edit))
    mod, params = tvmq.from_onnx(proto, shape={"x": (1, 3, SIZE, SIZE)})
    return CheckContext(proto, mod, params, {"x": np.ascontiguousarray(prepare(pictures()), np.float32)}, labels=labels)


def outlying_weight(arrays: Weights) -> None:
    """Channel 2 of the stem never fires, and weights that read it are a thousand times too large: folding does that."""
    arrays["norm.beta"][2] = -100.0
    arrays["middle.w"][:, 2] *= 1000.0


def outlying_activation(arrays: Weights) -> None:
    """Channel 2 of the stem lies at 3000; the next bias takes that back, so that float does not mind."""
    arrays["norm.beta"][2] = 3000.0
    arrays["middle.b"] -= 3000.0 * arrays["middle.w"][:, 2].sum(axis=(1, 2))


def nan_weight(arrays: Weights) -> None:
    """Set one weight of the middle layer to NaN."""
    arrays["middle.w"][3, 1, 0, 2] = np.nan


def dead_layer(arrays: Weights) -> None:
    """All but one channel of the stem never fire."""
    arrays["norm.beta"][1:] = -100.0
