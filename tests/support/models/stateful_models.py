"""Small models that hand a state to their next call: causal convolutions, GRUs, attention with a cache; and sequences.

Time is free in all of them but `gru_cell`, which takes one step a call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper

from tests.support.models.dynamic_models import Nodes

Calls = list[dict[str, np.ndarray]]
FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64
CHANNELS, HIDDEN, WIDTH, HEADS, WORDS = 8, 16, 32, 4, 20


class StatefulNet(Nodes):
    """Nodes whose results have names of their own."""

    def give(self, name: str, operator: str, *inputs: str, **attributes: object) -> str:
        """A node whose result is called `name`."""
        self.nodes.append(helper.make_node(operator, list(inputs), [name], name=f"/{name}", **attributes))
        return name

    def finish(self, inputs: dict[str, Sequence[Any]], outputs: dict[str, Sequence[Any]]) -> onnx.ModelProto:
        """The model; "ids" are whole numbers."""
        kinds = {name: INT64 if name == "ids" else FLOAT for name in inputs}
        taken = [helper.make_tensor_value_info(name, kinds[name], shape) for name, shape in inputs.items()]
        given = [helper.make_tensor_value_info(name, FLOAT, shape) for name, shape in outputs.items()]
        graph = helper.make_graph(self.nodes, "stateful", taken, given, self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        onnx.checker.check_model(model)
        return model


def causal_convolutions(batch: Any = "batch", time: Any = "time", *, mean: bool = False) -> onnx.ModelProto:
    """x [batch, 8, time] -> scores [batch, time, 5]: two convolutions of three steps, each with a cache of two.

    mean  the scores also read the mean of all steps of a call, so that they depend on how steps are cut
    """
    g = StatefulNet(1)
    begin, end, axis = (g.constant(np.int64([value])) for value in (-2, 2**31 - 1, 2))
    y, caches = "x", {}
    for layer, width in enumerate((CHANNELS, HIDDEN)):
        whole = g.add("Concat", f"cache{layer}_in", y, axis=2)
        g.give(f"cache{layer}_out", "Slice", whole, begin, end, axis)
        y = g.add("Relu", g.add("Conv", whole, g.weight(HIDDEN, width, 3), g.weight(HIDDEN)))
        caches[f"cache{layer}"] = [batch, width, 2]
    if mean:
        y = g.add("Add", y, g.add("ReduceMean", y, axes=[2], keepdims=1))
    steps = g.add("Transpose", y, perm=[0, 2, 1])
    g.give("scores", "MatMul", steps, g.weight(HIDDEN, 5))
    ins = {"x": [batch, CHANNELS, time], **{f"{name}_in": shape for name, shape in caches.items()}}
    return g.finish(ins, {"scores": [batch, time, 5], **{f"{name}_out": shape for name, shape in caches.items()}})


def gru_cell(batch: Any = 1) -> onnx.ModelProto:
    """x [batch, 8], h_in [batch, 16] -> y [batch, 4], h_out: a GRU of single operators, one step a call."""
    g = StatefulNet(2)
    gates = [g.add("MatMul", "x", g.weight(CHANNELS, HIDDEN)) for _ in range(3)]
    own = [g.add("MatMul", "h_in", g.weight(HIDDEN, HIDDEN)) for _ in range(3)]
    update, reset = (g.add("Sigmoid", g.add("Add", gates[k], own[k])) for k in (0, 1))
    new = g.add("Tanh", g.add("Add", gates[2], g.add("Mul", reset, own[2])))
    kept = g.add("Mul", update, "h_in")
    g.give("h_out", "Add", g.add("Mul", g.add("Sub", g.constant(np.float32([1])), update), new), kept)
    g.give("y", "MatMul", "h_out", g.weight(HIDDEN, 4))
    return g.finish({"x": [batch, CHANNELS], "h_in": [batch, HIDDEN]}, {"y": [batch, 4], "h_out": [batch, HIDDEN]})


def gru_layer(batch: Any = "batch") -> onnx.ModelProto:
    """x [time, batch, 8], h_in [1, batch, 16] -> y [time, batch, 4], h_out: a GRU of any number of steps."""
    g = StatefulNet(3)
    weights = [g.weight(1, 3 * HIDDEN, width) for width in (CHANNELS, HIDDEN)]
    attributes = {"hidden_size": HIDDEN, "linear_before_reset": 1}
    g.nodes.append(helper.make_node("GRU", ["x", *weights, "", "", "h_in"], ["all", "h_out"], "/gru", **attributes))
    g.give("y", "MatMul", g.add("Squeeze", "all", g.constant(np.int64([1]))), g.weight(HIDDEN, 4))
    state = [1, batch, HIDDEN]
    return g.finish({"x": ["time", batch, CHANNELS], "h_in": state}, {"y": ["time", batch, 4], "h_out": state})


def attention(batch: Any = "batch") -> onnx.ModelProto:
    """ids [batch, time], mask [batch, time, total], keys and values of the past -> logits [batch, time, 20]."""
    g, width = StatefulNet(4), WIDTH // HEADS
    x = g.add("Gather", g.weight(WORDS, WIDTH), "ids", axis=0)
    split, joined = g.constant(np.int64([0, 0, HEADS, width])), g.constant(np.int64([0, 0, WIDTH]))
    q, k, v = (
        g.add("Transpose", g.add("Reshape", g.add("MatMul", x, g.weight(WIDTH, WIDTH)), split), perm=[0, 2, 1, 3])
        for _ in range(3)
    )
    past = [f"past_key_values.0.{kind}" for kind in ("key", "value")]
    keys = g.give("present.0.key", "Concat", past[0], k, axis=2)
    values = g.give("present.0.value", "Concat", past[1], v, axis=2)
    scores = g.add("MatMul", q, g.add("Transpose", keys, perm=[0, 1, 3, 2]))
    scores = g.add("Mul", scores, g.constant(np.float32(width**-0.5)))
    scores = g.add("Add", scores, g.add("Unsqueeze", "mask", g.constant(np.int64([1]))))
    mixed = g.add("Transpose", g.add("MatMul", g.add("Softmax", scores, axis=-1), values), perm=[0, 2, 1, 3])
    g.give("logits", "MatMul", g.add("Reshape", mixed, joined), g.weight(WIDTH, WORDS))
    rows, all_rows = [batch, HEADS, "past", width], [batch, HEADS, "total", width]
    ins = {"ids": [batch, "time"], "mask": [batch, "time", "total"], **dict.fromkeys(past, rows)}
    outs = dict.fromkeys(("present.0.key", "present.0.value"), all_rows)
    return g.finish(ins, {"logits": [batch, "time", WORDS], **outs})


def causal_mask(past: int, steps: int, batch: int = 1) -> np.ndarray:
    """[batch, steps, past + steps]: 0 where a step sees another one, -10000 where that comes later."""
    later = np.arange(past + steps)[None] > past + np.arange(steps)[:, None]
    return np.repeat(np.where(later, np.float32(-1e4), np.float32(0))[None], batch, axis=0)


def steps_of(shape: Sequence[int], count: int, seed: int, calls: Sequence[int]) -> list[Calls]:
    """Sequences of noise for the input x: so many steps in each call, along the axis of size -1."""
    random, axis = np.random.default_rng(seed), list(shape).index(-1) if -1 in shape else None
    sizes = [[*shape[:axis], steps, *shape[axis + 1 :]] if axis is not None else list(shape) for steps in calls]
    return [[{"x": random.standard_normal(size).astype(np.float32)} for size in sizes] for _ in range(count)]


def texts(count: int, seed: int, calls: Sequence[int] = (5, 1, 3)) -> list[Calls]:
    """Sequences of words for `attention`."""
    random = np.random.default_rng(seed)
    starts = np.cumsum([0, *calls])
    return [
        [
            {"ids": random.integers(0, WORDS, (1, steps)), "mask": causal_mask(int(past), steps)}
            for past, steps in zip(starts, calls, strict=False)
        ]
        for _ in range(count)
    ]


# {name: (model, count of sequences and seed -> sequences)}
STATEFUL: dict[str, tuple[Callable[[], onnx.ModelProto], Callable[[int, int], list[Calls]]]] = {
    "convolutions": (causal_convolutions, lambda count, seed: steps_of((1, CHANNELS, -1), count, seed, (7, 1, 4))),
    "gru_cell": (gru_cell, lambda count, seed: steps_of((1, CHANNELS), count, seed, (1,) * 6)),
    "gru_layer": (gru_layer, lambda count, seed: steps_of((-1, 1, CHANNELS), count, seed, (4, 1, 2))),
    "attention": (attention, texts),
}
