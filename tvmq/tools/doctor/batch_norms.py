"""Statistics of the training data, as stored in the first batch norms of a model, compared with given data.

Tests: tests/tools/doctor/test_model_checks.py
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tvmq.calibration.dataset import Dataset
from tvmq.codegen.compile.build import build
from tvmq.formats.onnx.importer.from_onnx import from_onnx
from tvmq.tools.doctor.check_context import Arrays, CheckContext

FIRST = 3  # batch norms that are compared; later ones repeat the deviations of earlier ones
EPSILON = 1e-12


@dataclass(frozen=True)
class NormStatistics:
    """A batch normalization: name of its node, of its input, and the mean and variance of each channel in training."""

    name: str
    tensor: str
    mean: np.ndarray
    variance: np.ndarray


def first_batch_norms(proto: Any) -> list[NormStatistics]:
    """The first batch norms of a model, in order; none where the exporter folded them into convolutions."""
    from onnx import numpy_helper

    weights = {tensor.name: tensor for tensor in proto.graph.initializer}
    norms = []
    for node in proto.graph.node:
        if node.op_type == "BatchNormalization" and all(name in weights for name in node.input[3:5]):
            mean, variance = (numpy_helper.to_array(weights[name]) for name in node.input[3:5])
            norms.append(NormStatistics(node.name, node.input[0], mean.astype(np.float64), variance.astype(np.float64)))
    return norms[:FIRST]


def extract_submodel(proto: Any, tensors: list[str]) -> Any:
    """Submodel of an ONNX model whose outputs are these tensors."""
    import onnx
    from onnx import TensorProto, helper

    wanted, nodes = set(tensors), []
    for node in reversed(proto.graph.node):
        if wanted & set(node.output):
            nodes.append(node)
            wanted.update(node.input)
    model = onnx.ModelProto()
    model.CopyFrom(proto)
    for field in ("node", "output", "value_info"):
        model.graph.ClearField(field)
    model.graph.node.extend(reversed(nodes))
    kept = [tensor for tensor in proto.graph.initializer if tensor.name in wanted]
    model.graph.ClearField("initializer")
    model.graph.initializer.extend(kept)
    inputs = [value for value in proto.graph.input if value.name in wanted]
    model.graph.ClearField("input")
    model.graph.input.extend(inputs)
    model.graph.output.extend(helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in tensors)
    return model


class TrainingStatistics:
    """Statistics in the first batch norms of a model, and the distance of data from them."""

    def __init__(self, context: CheckContext) -> None:
        self.norms = first_batch_norms(context.proto) if context.proto is not None else []
        self._inputs = context.inputs
        if self.norms:
            part = extract_submodel(context.proto, [norm.tensor for norm in self.norms])
            names = {value.name for value in part.graph.input}
            self._inputs = [info for info in context.inputs if info.name in names]
            mod, params = from_onnx(part, shape={info.name: info.shape for info in self._inputs})
            self._run = build(mod, params=params).run

    def statistics(self, arrays: Arrays) -> Iterator[tuple[NormStatistics, np.ndarray, np.ndarray]]:
        """Statistics of these data: (norm, mean, variance of each channel of its input)."""
        names = {info.name for info in self._inputs}
        sums: dict[str, list[np.ndarray]] = {}
        for feed, count in Dataset({n: a for n, a in arrays.items() if n in names}, self._inputs):
            for norm, values in zip(self.norms, self._run(feed), strict=True):
                rows = np.moveaxis(values[:count], 1, 0).reshape(len(norm.mean), -1).astype(np.float64)
                parts = [np.full(len(rows), rows.shape[1], np.float64), rows.sum(1), (rows**2).sum(1)]
                sums[norm.name] = (
                    [a + b for a, b in zip(sums[norm.name], parts, strict=True)] if norm.name in sums else parts
                )
        for norm in self.norms:
            size, first, second = sums[norm.name]
            yield norm, first / size, np.maximum(second / size - (first / size) ** 2, 0)

    def distance(self, arrays: Arrays) -> float:
        """Distance of the data from the training data: 0 if their statistics are equal, usually below 0.5.

        Mean over channels of log(1 + KL(data || training)) of normal distributions, the largest over the norms.
        """
        worst = 0.0
        for norm, mean, variance in self.statistics(arrays):
            worst = max(worst, float(np.log1p(kl_divergence(mean, variance, norm.mean, norm.variance)).mean()))
        return worst


def kl_divergence(mean: Any, variance: Any, trained_mean: Any, trained_variance: Any) -> np.ndarray:
    """Kullback-Leibler divergence of normal distributions, channel by channel, in nats.

    >>> kl_divergence(np.zeros(1), np.ones(1), np.zeros(1), np.ones(1)).tolist()
    [0.0]
    """
    v, w = variance + EPSILON, trained_variance + EPSILON
    kl = 0.5 * (np.log(w / v) + (v + (mean - trained_mean) ** 2) / w - 1)
    return np.asarray(np.maximum(kl, 0))


def deviation_ratio(variance: np.ndarray, trained_variance: np.ndarray) -> float:
    """Factor by which the data are too small: median over channels of the ratio of standard deviations.

    >>> round(deviation_ratio(np.full(3, 4.0), np.full(3, 1.0)), 6)
    0.5
    """
    return float(np.median(np.sqrt((trained_variance + EPSILON) / (variance + EPSILON))))
