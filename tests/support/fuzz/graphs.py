"""Wild little ONNX models, for finding crashes and wrong results: what no exporter would write but the format allows.

    model = fuzz_model(seed)                # the same seed gives the same model
    feeds = fuzz_feeds(model, seed, 3)

A graph is a pool of tensors of any rank and several types; a node reads any of them. Names may be odd, missing or
shared between a node and a tensor; nodes may be unused, inputs unread, tensors empty or of one element, constants
initializers or nodes, outputs inputs. Shapes come from ONNX's own shape inference; a node that it refuses is dropped.
onnxruntime decides whether a whole model is valid. `tests/support/random/graphs.py` makes the models that people train.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper, shape_inference

from tests.support.random.draws import Draws
from tvmq.graph.names import UniqueNames

OPSETS = (13, 17, 18, 21)
ODD_NAMES = (
    "a b", "/x/y.z:0", "1", "über", "名", "main", "R", "T", "if", "lambda", "None", "x'y\"z", "back\\slash", "{}",
    "%s", "tab\there", "a" * 90, "_", "..", "relax.add", "tvmq.names", "x_q", "output_0", "*", "[0]",
)  # fmt: skip


class Pool(Draws):
    """The graph under construction: tensors by name with type and static shape."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.opset = self.pick(OPSETS)
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []
        self.inputs: list[str] = []
        self.types: dict[str, tuple[int, tuple[int, ...]]] = {}
        self.known: dict[str, onnx.TensorProto] = {}
        self.plain = self.chance(0.5)  # half of the models have the names that exporters write
        self._unique = UniqueNames()
        self._schemas: dict[str, Any] = {}

    def name(self, stem: str) -> str:
        """A tensor name that is new; odd in half of the models."""
        wanted = stem if self.plain or self.chance(0.5) else self.pick(ODD_NAMES)
        return self._unique(wanted)

    def node_name(self, operator: str) -> str:
        """Missing, odd, or as exporters write it; not always new."""
        if self.chance(0.2):
            return ""
        return self.pick(ODD_NAMES) if not self.plain and self.chance(0.3) else f"/{operator}_{len(self.nodes)}"

    def constant(self, array: Any) -> str:
        """An initializer, or a Constant node."""
        tensor = numpy_helper.from_array(np.asarray(array), self.name(f"constant_{len(self.known)}"))
        if self.chance(0.15):
            self.nodes.append(helper.make_node("Constant", [], [tensor.name], value=tensor))
        else:
            self.initializers.append(tensor)
        self.known[tensor.name] = tensor
        return tensor.name

    def floats(self, *shape: int, low: float = -1.0, high: float = 1.0) -> str:
        """A float32 constant; now and then all zero or all equal, tiny or large, or one that others read."""
        same = [t.name for t in self.known.values() if t.data_type == TensorProto.FLOAT and tuple(t.dims) == shape]
        if same and low < 0 and self.chance(0.2):
            return self.pick(same)
        array = self.random.uniform(low, high, shape) * (1.0 if self.chance(0.95) else self.pick([1e-4, 30.0]))
        if self.chance(0.1):
            array = np.full(shape, self.pick([0.0, high]))
        return self.constant(array.astype(np.float32))

    def ints(self, *values: int) -> str:
        """An int64 constant of one dimension."""
        return self.constant(np.array(values, np.int64))

    def shape(self, name: str) -> tuple[int, ...]:
        return self.types[name][1]

    def tensors(self, fits: Callable[[tuple[int, ...]], bool], kind: int = TensorProto.FLOAT) -> list[str]:
        """Names of all tensors of a type whose shape fits."""
        return [name for name, (dtype, shape) in self.types.items() if dtype == kind and fits(shape)]

    def add(self, operator: str, inputs: Sequence[str], *, outputs: int = 1, **attributes: Any) -> bool:
        """Append a node; False if shape inference refuses it or its results are too large."""
        names = [self.name(f"{operator.lower()}_{len(self.nodes)}_{index}") for index in range(outputs)]
        try:
            node = helper.make_node(operator, inputs, names, name=self.node_name(operator), **attributes)
            found = self._inferred(operator, node)
        except Exception:  # whatever ONNX says against the node: it is not ours to judge
            return False
        types = {}
        for name in names:
            tensor = found[name].tensor_type if name in found else None
            if tensor is None or not all(d.HasField("dim_value") for d in tensor.shape.dim):
                return False
            types[name] = (tensor.elem_type, tuple(d.dim_value for d in tensor.shape.dim))
            shape = types[name][1]
            if np.prod(shape) > 4000 or len(shape) > 5 or min(shape, default=0) < 0:
                return False
        self.nodes.append(node)
        self.types.update(types)
        return True

    def _inferred(self, operator: str, node: onnx.NodeProto) -> dict[str, Any]:
        schema = onnx.defs.get_schema(operator, self.opset, "")
        types = {name: self._type(name) for name in node.input if name}
        data = {name: self.known[name] for name in node.input if name in self.known}
        return dict(
            shape_inference.infer_node_outputs(
                schema, node, types, data, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=9
            )
        )

    def _type(self, name: str) -> onnx.TypeProto:
        if name in self.known:
            tensor = self.known[name]
            return helper.make_tensor_type_proto(tensor.data_type, list(tensor.dims))
        dtype, shape = self.types[name]
        return helper.make_tensor_type_proto(dtype, list(shape))


def _inputs(pool: Pool) -> None:
    """Draw up to three inputs: mostly pictures, sequences and rows; sometimes numbers, empty, or of other types."""
    for _ in range(pool.pick([1, 1, 1, 2, 2, 3])):
        kind = TensorProto.FLOAT
        shape = pool.pick([
            (1, pool.integer(1, 6), pool.integer(1, 9), pool.integer(1, 9)),
            (1, pool.integer(1, 6), pool.integer(4, 9), pool.integer(4, 9)),
            (pool.integer(1, 3), pool.integer(1, 9)),
            (1, pool.integer(1, 6), pool.integer(1, 12)),
            (1, 1, 1, 1),
            (1, pool.integer(1, 3), 3, 4, 5),
        ])  # fmt: skip
        if pool.chance(0.05):
            shape = (1, *shape[1:-1], 0)
        elif pool.chance(0.08):
            kind = pool.pick([
                TensorProto.INT64, TensorProto.INT32, TensorProto.DOUBLE, TensorProto.BOOL, TensorProto.UINT8,
                TensorProto.INT8, TensorProto.FLOAT16,
            ])  # fmt: skip
        elif pool.chance(0.03):
            shape = ()
        name = pool.name(f"x{len(pool.inputs)}" if pool.inputs else "x")
        pool.inputs.append(name)
        pool.types[name] = (kind, shape)


def _outputs(pool: Pool) -> list[str]:
    """Most of what nobody reads, sometimes a tensor from within, twice the same never; rarely an input."""
    read = {name for node in pool.nodes for name in node.input}
    made = [name for name in pool.types if name not in pool.inputs]
    loose = [name for name in made if name not in read]
    outputs = [name for name in loose if not pool.chance(0.15)] or loose[:1]
    if made and pool.chance(0.2):
        outputs.append(pool.pick(made))
    if pool.chance(0.03):
        outputs.append(pool.pick(pool.inputs))
    return list(dict.fromkeys(outputs))


def fuzz_model(seed: int) -> onnx.ModelProto:
    """A small model; valid as far as ONNX's shape inference sees, which is not always."""
    from tests.support.fuzz.rare import again, codes, rare, truth, whole_numbers
    from tests.support.fuzz.steps import STEPS

    pool = Pool(seed)
    _inputs(pool)
    more = {"again": (1.0, again), "codes": (0.5, codes), "rare": (2.5, rare), "truth": (0.3, truth)}
    steps = {**STEPS, **more, "whole_numbers": (0.6, whole_numbers)}
    names, odds = list(steps), np.array([weight for weight, _ in steps.values()], float)
    for _ in range(pool.integer(1, 8)):
        step = steps[names[int(pool.random.choice(len(names), p=odds / odds.sum()))]][1]
        step(pool)
    if not any(name not in pool.inputs for name in pool.types):
        pool.add("Identity", [pool.inputs[0]])
    read = {name for node in pool.nodes for name in node.input}
    weights = [array for array in pool.initializers if array.name in read or pool.chance(0.02)]
    inputs = [helper.make_tensor_value_info(name, *pool.types[name]) for name in pool.inputs]
    outputs = [helper.make_tensor_value_info(name, *pool.types[name]) for name in _outputs(pool)]
    graph = helper.make_graph(pool.nodes, pool.pick(["fuzz", "a b", "main"]), inputs, outputs, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", pool.opset)], ir_version=9)


def fuzz_feeds(model: onnx.ModelProto, seed: int, count: int) -> list[dict[str, np.ndarray]]:
    """Normal numbers, small whole ones for integers; the first feed of one seed in eight is all zero."""
    random = np.random.default_rng(seed)
    feeds = []
    for number in range(count):
        feed = {}
        for value in model.graph.input:
            tensor = value.type.tensor_type
            dtype = helper.tensor_dtype_to_np_dtype(tensor.elem_type)
            shape = [d.dim_value for d in tensor.shape.dim]
            drawn = random.standard_normal(shape) if dtype.kind == "f" else random.integers(0, 2, shape)
            feed[value.name] = np.asarray(drawn if number or seed % 8 else np.zeros(shape)).astype(dtype)
        feeds.append(feed)
    return feeds
