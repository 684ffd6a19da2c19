"""Folding of constant subgraphs, shape arithmetic above all, with ONNX's NumPy reference.

Before                                     After
    s = Shape(x)          x: (1, 8, 4, 4)      (gone)
    n = Gather(s, 0)
    r = Concat(n, [-1])
    y = Reshape(x, r)                          y = Reshape(x, [1, -1])

Vectors of which some numbers are known are followed too (partial); folding and shape inference take turns
until neither finds more.

Leaves    nodes that would make large constants, random and quantization nodes, what the reference cannot run.
Numerics  ONNX's reference; weights that a node only moves keep their bits; floats become integers by numerics.cast.

Tests: tests/formats/onnx/importer/test_folds.py
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from tvmq import numerics
from tvmq.base.memory import check_size
from tvmq.formats.onnx.importer.bodies import replace_nodes, subgraphs
from tvmq.formats.onnx.importer.constant_checks import GraphFacts, check_node
from tvmq.formats.onnx.importer.order import reads
from tvmq.formats.onnx.importer.partial import PartialArray, compute_partial
from tvmq.formats.onnx.importer.shapes import SMALL, dimensions, infer_shapes

if TYPE_CHECKING:
    import onnx

LARGEST_GROWTH = 1 << 16  # elements; a constant may not become larger than this and its inputs
SHAPES = ("Shape", "Size")
CASTS = ("Cast", "CastLike")
SHAPE_ONLY = frozenset({"EyeLike"})  # results depend on the shape of the input alone
ROW_WISE = frozenset({"Hardmax", "LogSoftmax", "Softmax"})
INEXACT = frozenset({"Gemm", "ReduceMean"})  # of integers: the reference computes them in float64
NOT_FOLDED = frozenset(
    {"QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear"}
    | {"BatchNormalization"}  # before opset 14: the reference takes the statistics of the batch
    # where the reference (onnx 1.23) is wrong: pools of auto_pad, ceil_mode or uneven pads, groups with a bias, the
    # sign in a norm of p = 1, windows of channels, means of few values, clip and activations, scaled regions
    | {"AveragePool", "ConvTranspose", "LpNormalization", "LpPool", "LRN", "MaxPool", "MeanVarianceNormalization"}
    | {"GRU", "LSTM", "RNN", "RoiAlign"}
    | {"Bernoulli", "Dropout", "Multinomial"}
    | {"RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"}
)


def fold_constants(model: onnx.ModelProto, max_bytes: int) -> onnx.ModelProto:
    """Replace every node with known results by initializers (in place), then drop what nobody reads.

    raises   UnsupportedOpError for a node that asks for something impossible, MemoryLimitError for one with a result
             larger than max_bytes; nothing of that size is computed
    """
    while _fold_once(model, max_bytes) and any(node.op_type in SHAPES for node in model.graph.node):
        infer_shapes(model)
    return model


def _fold_once(model: onnx.ModelProto, max_bytes: int) -> bool:
    """Fold in one pass over all nodes; True if any was folded."""
    import onnx

    graph, before = model.graph, len(model.graph.node)
    shapes = {v.name: dimensions(v) for v in [*graph.value_info, *graph.input]}
    types = {v.name: v.type.tensor_type.elem_type for v in [*graph.value_info, *graph.input]}
    constants = {tensor.name: tensor for tensor in graph.initializer}
    folder = _OnnxFolder(constants, shapes, types, list(model.opset_import))
    for value in graph.input:
        if value.name not in constants:
            _check_input(value, max_bytes)
    kept = []
    for node in graph.node:
        check_node(node, GraphFacts(constants, shapes, types), max_bytes)
        if not folder.fold(node):
            kept.append(node)
    nodes = _needed_nodes(kept, [value.name for value in graph.output])
    wanted = {name for node in nodes for name in reads(node)} | {value.name for value in graph.output}
    replace_nodes(graph, nodes)
    tensors = [tensor for name, tensor in folder.constants.items() if name in wanted]
    new = onnx.GraphProto()
    new.initializer.extend(tensors)
    del graph.initializer[:]
    graph.initializer.extend(new.initializer)
    return len(kept) < before


def _check_input(value: onnx.ValueInfoProto, max_bytes: int) -> None:
    from onnx import helper

    dims, code = dimensions(value), value.type.tensor_type.elem_type
    if dims and code:
        dtype = str(helper.tensor_dtype_to_np_dtype(code))
        check_size(dims, dtype, max_bytes, f"from_onnx, input '{value.name}'")


@dataclass
class _OnnxFolder:
    """State of one pass: the constants so far, to which `fold` adds the results of a node."""

    constants: dict[str, onnx.TensorProto]
    shapes: dict[str, list[int | str] | None]
    types: dict[str, int]
    opsets: list[onnx.OperatorSetIdProto]
    partial: dict[str, PartialArray] = field(default_factory=dict)

    def fold(self, node: onnx.NodeProto) -> bool:
        """True if the node's results became constants."""
        from onnx import numpy_helper

        results = self._results(node)
        if results is None:
            return False
        for name, value in zip(node.output, results, strict=False):
            if name:
                self.constants[name] = numpy_helper.from_array(np.ascontiguousarray(value).reshape(value.shape), name)
        return True

    def _results(self, node: onnx.NodeProto) -> list[np.ndarray] | None:
        if node.domain not in ("", "ai.onnx") or node.op_type in NOT_FOLDED:
            return None
        if node.op_type in SHAPES:
            return self._shape(node)
        if subgraphs(node):
            return None
        feed = {name: self._value(name, node.op_type) for name in dict.fromkeys(node.input) if name}
        missing = [name for name, value in feed.items() if value is None]
        if missing:
            return self._follow(node, feed) if all(name in self.partial for name in missing) else None
        return self._evaluate(node, feed)

    def _follow(self, node: onnx.NodeProto, feed: Mapping[str, np.ndarray | None]) -> list[np.ndarray] | None:
        """Results on partly known vectors; partly known results are remembered."""
        inputs = {
            name: self.partial[name] if value is None else PartialArray(value, np.ones(value.shape, bool))
            for name, value in feed.items()
        }
        results = compute_partial(node, inputs, self._evaluate)
        if results is None:
            return None
        if all(one.known.all() for one in results):
            return [one.values for one in results]
        self.partial.update((name, one) for name, one in zip(node.output, results, strict=False) if name)
        return None

    def _value(self, name: str, op_type: str) -> np.ndarray | None:
        """A constant, a tensor of no elements, or any tensor of the right shape where only the shape matters."""
        from onnx import helper, numpy_helper

        if name in self.constants:
            return numpy_helper.to_array(self.constants[name])
        dims, code = self.shapes.get(name), self.types.get(name, 0)
        if not dims or not code or not all(isinstance(d, int) for d in dims):
            return None
        if 0 not in dims and op_type not in SHAPE_ONLY:
            return None
        return np.zeros([int(d) for d in dims], helper.tensor_dtype_to_np_dtype(code))

    def _shape(self, node: onnx.NodeProto) -> list[np.ndarray] | None:
        """Results of Shape and Size where the dimensions they ask for are known."""
        name = node.input[0]
        dims = list(self.constants[name].dims) if name in self.constants else self.shapes.get(name)
        if dims is None:
            return None
        if node.op_type == "Shape":
            limits = {a.name: a.i for a in node.attribute}
            dims = dims[limits.get("start", 0) : limits.get("end", None)]
        if not all(isinstance(d, int) for d in dims):
            if node.op_type == "Shape":
                self.partial[node.output[0]] = PartialArray.of_dims(dims)
            return None
        sizes = np.array(dims, np.int64)
        return [sizes if node.op_type == "Shape" else np.asarray(np.prod(sizes, dtype=np.int64))]

    def _evaluate(self, node: onnx.NodeProto, feed: Mapping[str, Any]) -> list[np.ndarray] | None:
        if node.op_type != "Constant" and self._grows(node, feed):
            return None
        if node.op_type in CASTS and (whole := _cast_to_integers(node, feed)) is not None:
            return [whole]
        if node.op_type == "Resize" and any(a.s == b"pytorch_half_pixel" for a in node.attribute):
            return None  # the reference starts at -0.5 where one value is left, ONNX at 0
        if node.op_type in INEXACT and any(value.dtype.kind in "iu" for value in list(feed.values())[:1]):
            return None
        if node.op_type in ROW_WISE and self._opset() < 13:
            return self._evaluate_rows(node, feed)
        return self._run(node, feed)

    def _opset(self) -> int:
        return next((entry.version for entry in self.opsets if entry.domain == ""), 13)

    def _evaluate_rows(self, node: onnx.NodeProto, feed: Mapping[str, Any]) -> list[np.ndarray] | None:
        """Softmax and its kin before opset 13, over all axes from `axis` on; the reference takes one axis."""
        from onnx import helper

        x = feed[node.input[0]]
        axis = next((attribute.i for attribute in node.attribute if attribute.name == "axis"), 1)
        axis += x.ndim if axis < 0 else 0
        rows = helper.make_node(node.op_type, node.input, node.output, axis=1)
        shape = (math.prod(x.shape[:axis]), math.prod(x.shape[axis:]))
        results = self._run(rows, {node.input[0]: x.reshape(shape)}, check=False)
        return None if results is None else [results[0].reshape(x.shape)]

    def _run(self, node: onnx.NodeProto, feed: Mapping[str, Any], check: bool = True) -> list[np.ndarray] | None:
        """The results of ONNX's reference; None where it has none, or with another shape than inference."""
        from onnx.reference import ReferenceEvaluator

        try:
            results = ReferenceEvaluator(self._model_of(node, feed)).run(None, dict(feed))
        except Exception:  # the reference lacks the operator or refuses it: TVM may know it
            return None
        if not all(isinstance(value, np.ndarray | np.generic) for value in results):
            return None
        arrays = iter([np.asarray(value) for value in results])
        values = [next(arrays) if name else np.zeros(0) for name in node.output]
        # the reference has faults of its own: what it gives in another type or shape is left to TVM
        fit = (not check or self._fits(name, value) for name, value in zip(node.output, values, strict=True) if name)
        return values if all(fit) else None

    def _model_of(self, node: onnx.NodeProto, feed: Mapping[str, np.ndarray]) -> onnx.ModelProto:
        """A model of this node alone, small inputs with their values."""
        from onnx import helper, numpy_helper

        types = {name: helper.np_dtype_to_tensor_dtype(value.dtype) for name, value in feed.items()}
        graph = helper.make_graph(
            [node],
            "node",
            [helper.make_tensor_value_info(name, types[name], value.shape) for name, value in feed.items()],
            [helper.make_empty_tensor_value_info(name) for name in node.output if name],
            [numpy_helper.from_array(value, name) for name, value in feed.items() if value.size <= SMALL],
        )
        return helper.make_model(graph, opset_imports=self.opsets)

    def _fits(self, name: str, value: np.ndarray) -> bool:
        """False for a result of another type or shape than shape inference found."""
        from onnx import helper

        code = self.types.get(name, 0)
        if code and code != helper.np_dtype_to_tensor_dtype(value.dtype):
            return False
        dims = self.shapes.get(name)
        known = [d if isinstance(d, int) else None for d in dims or []]
        return dims is None or (
            len(known) == value.ndim and all(d in (None, n) for d, n in zip(known, value.shape, strict=True))
        )

    def _grows(self, node: onnx.NodeProto, feed: Mapping[str, np.ndarray]) -> bool:
        """True if a result is, or could be, large and larger than the inputs, such as ConstantOfShape's."""
        most = max(LARGEST_GROWTH, sum(value.size for value in feed.values()))
        for name, inferred in zip(node.output, self._infer_shapes(node, feed), strict=True):
            dims = self.shapes.get(name)
            dims = inferred if dims is None else dims  # a number has no dimensions, and they are known
            known = [d for d in dims or [] if isinstance(d, int)]
            if dims is not None and len(known) == len(dims):
                if math.prod(known) > most:
                    return True
            elif name and max((_largest_size(value) for value in feed.values()), default=0) > most:
                return True
        return False

    def _infer_shapes(self, node: onnx.NodeProto, feed: Mapping[str, np.ndarray]) -> list[list[int | str] | None]:
        """Shapes of the results inferred from the values of the inputs, where graph inference has none."""
        import onnx

        if all(not name or self.shapes.get(name) is not None for name in node.output):
            return [None] * len(node.output)
        try:
            inferred = onnx.shape_inference.infer_shapes(self._model_of(node, feed))
        except Exception:  # what does not fit together is said by the check of the node, or its converter
            return [None] * len(node.output)
        shapes = {value.name: dimensions(value) for value in inferred.graph.output}
        return [shapes.get(name) for name in node.output]


def _cast_to_integers(node: onnx.NodeProto, feed: Mapping[str, np.ndarray]) -> np.ndarray | None:
    """The result of a cast of floats to integers, equal to that at run time; None for all other casts."""
    from onnx import helper

    x = feed[node.input[0]]
    if node.op_type == "CastLike":
        wanted = feed[node.input[1]].dtype
    else:
        wanted = helper.tensor_dtype_to_np_dtype(next(a.i for a in node.attribute if a.name == "to"))
    x = x.astype(np.float32) if str(x.dtype) == "bfloat16" else x
    return numerics.cast(x, wanted) if x.dtype.kind == "f" and wanted.kind in "iu" else None


def _largest_size(value: np.ndarray) -> float:
    """Number of elements that a small vector of integers would have as a shape; 0 for other arrays."""
    if value.dtype.kind not in "iu" or value.ndim > 1 or value.size > 8:
        return 0
    return math.prod(max(1.0, abs(float(item))) for item in value.ravel())


def _needed_nodes(nodes: list[onnx.NodeProto], outputs: Iterable[str]) -> list[onnx.NodeProto]:
    """The nodes that the outputs need, in order."""
    wanted, kept = set(outputs), []
    for node in reversed(nodes):
        if wanted.intersection(node.output):
            wanted.update(reads(node))
            kept.append(node)
    return kept[::-1]
