"""An ONNX model as a module of torch, for the peers that begin there: the operators of our latency models.

Each node becomes the call of torch that a network written in torch would have, so that quantizers find their patterns.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from onnx import helper, numpy_helper
from torch import fx
from torch.nn import functional

Values = dict[str, Any]


def read_module(path: Path) -> fx.GraphModule:
    """The model in evaluation mode; NotImplementedError names the first operator that it lacks."""
    model = onnx.load(path).graph
    root, graph = torch.nn.Module(), fx.Graph()
    constants = {value.name: numpy_helper.to_array(value) for value in model.initializer}
    values: Values = {
        value.name: graph.placeholder(_name(value.name)) for value in model.input if value.name not in constants
    }

    def operand(name: str) -> Any:
        """The value as a node; a constant becomes a parameter at its first use."""
        if name and name not in values:
            label = f"p{len(values)}"
            root.register_buffer(label, torch.from_numpy(np.array(constants[name])))
            values[name] = graph.get_attr(label)
        return values[name] if name else None

    for node in model.node:
        attributes = {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
        if node.op_type == "Constant":
            constants[node.output[0]] = numpy_helper.to_array(attributes["value"])
            continue
        if node.op_type not in WRITERS:
            raise NotImplementedError(f"onnx_torch has no {node.op_type}")
        call = Call(graph, list(node.input), attributes, constants, operand)
        values[node.output[0]] = WRITERS[node.op_type](call)
    graph.output(tuple(values[value.name] for value in model.output))
    return fx.GraphModule(root, graph).eval()


def _name(text: str) -> str:
    return "".join(letter if letter.isalnum() else "_" for letter in text)


class Call:
    """A node of ONNX while it is written as torch."""

    def __init__(self, graph: fx.Graph, inputs: list[str], attributes: Values, constants: Values, operand: Any) -> None:
        self.graph, self.inputs, self.attributes = graph, inputs, attributes
        self.constants, self.operand = constants, operand

    def __getitem__(self, index: int) -> Any:
        return self.operand(self.inputs[index]) if index < len(self.inputs) else None

    def get(self, name: str, default: Any) -> Any:
        """An attribute."""
        return self.attributes.get(name, default)

    def number(self, index: int, default: Any = None) -> Any:
        """A constant operand as a number or a list."""
        known = index < len(self.inputs) and self.inputs[index]
        return self.constants[self.inputs[index]].tolist() if known else default

    def write(self, function: Callable[..., Any], *operands: Any, **options: Any) -> fx.Node:
        """Add a call of torch."""
        return self.graph.call_function(function, operands, options)


def _padded(call: Call, count: int) -> Any:
    """Pads of ONNX as torch takes them; unequal ones have no equal there."""
    pads = call.get("pads", [0] * 2 * count)
    if list(pads[:count]) != list(pads[count:]) or call.get("auto_pad", b"NOTSET") not in (b"NOTSET", b"VALID"):
        raise NotImplementedError("onnx_torch has no unequal pads")
    return tuple(pads[:count])


def _convolution(call: Call) -> fx.Node:
    strides, dilations = call.get("strides", [1, 1]), call.get("dilations", [1, 1])
    pads = call.get("pads", [0] * 4)
    value, padding = call[0], (0, 0)
    if pads[:2] == pads[2:]:
        padding = _padded(call, 2)
    else:
        value = call.write(functional.pad, value, (pads[1], pads[3], pads[0], pads[2]))
    return call.write(
        functional.conv2d, value, call[1], call[2], tuple(strides), padding, tuple(dilations), call.get("group", 1)
    )


def _transposed(call: Call) -> fx.Node:
    return call.write(
        functional.conv_transpose2d, call[0], call[1], call[2], tuple(call.get("strides", [1, 1])), _padded(call, 2)
    )


def _max_pool(call: Call) -> fx.Node:
    size = call.get("kernel_shape", None)
    return call.write(functional.max_pool2d, call[0], tuple(size), tuple(call.get("strides", [1, 1])), _padded(call, 2))


def _average_pool(call: Call) -> fx.Node:
    size, strides = tuple(call.get("kernel_shape", None)), tuple(call.get("strides", [1, 1]))
    includes = bool(call.get("count_include_pad", 0))
    return call.write(functional.avg_pool2d, call[0], size, strides, _padded(call, 2), False, includes)


def _hard_sigmoid(call: Call) -> fx.Node:
    if abs(call.get("alpha", 0.2) - 1 / 6) > 1e-6 or call.get("beta", 0.5) != 0.5:
        raise NotImplementedError("onnx_torch has no HardSigmoid of another slope than 1 / 6")
    return call.write(functional.hardsigmoid, call[0])


def _clip(call: Call) -> fx.Node:
    return call.write(functional.hardtanh, call[0], call.number(1, -np.inf), call.number(2, np.inf))


def _dense(call: Call) -> fx.Node:
    if not call.get("transB", 0):
        call.constants["t." + call.inputs[1]] = call.constants[call.inputs[1]].T
        call.inputs[1] = "t." + call.inputs[1]
    return call.write(functional.linear, call[0], call[1], call[2])


def _product(call: Call) -> fx.Node:
    is_weight = call.inputs[1] in call.constants and call.constants[call.inputs[1]].ndim == 2
    return _dense(call) if is_weight else call.write(torch.matmul, call[0], call[1])


def _mean(call: Call) -> fx.Node:
    axes, keep = call.get("axes", None) or call.number(1), bool(call.get("keepdims", 1))
    if keep and axes in ([2, 3], [-1, -2], [-2, -1]):
        return call.write(functional.adaptive_avg_pool2d, call[0], (1, 1))
    return call.write(torch.mean, call[0], tuple(axes), keep)


def _norm(call: Call) -> fx.Node:
    shape = call.constants[call.inputs[1]].shape
    return call.write(functional.layer_norm, call[0], tuple(shape), call[1], call[2], call.get("epsilon", 1e-5))


def _gather(call: Call) -> fx.Node:
    axis, index = call.get("axis", 0), call.constants.get(call.inputs[1])
    if index is not None and index.ndim == 0:
        return call.write(torch.select, call[0], axis, int(index))
    if axis == 0:
        return call.write(functional.embedding, call[1], call[0])
    raise NotImplementedError("onnx_torch has no Gather of this form")


def _slice(call: Call) -> fx.Node:
    value = call[0]
    axes = call.number(3, list(range(len(call.number(1)))))
    for axis, start, end in zip(axes, call.number(1), call.number(2), strict=True):
        value = call.write(torch.ops.aten.slice.Tensor, value, axis, start, min(end, 2**31))
    return value


def _unsqueezed(call: Call) -> fx.Node:
    value = call[0]
    for axis in sorted(call.number(1)):
        value = call.write(torch.unsqueeze, value, axis)
    return value


def _squeezed(call: Call) -> fx.Node:
    value = call[0]
    for axis in sorted(call.number(1), reverse=True):
        value = call.write(torch.squeeze, value, axis)
    return value


def _alike(function: Callable[..., Any], count: int) -> Callable[[Call], fx.Node]:
    """A writer that gives torch the same operands."""
    return lambda call: call.write(function, *(call[index] for index in range(count)))


WRITERS: dict[str, Callable[[Call], fx.Node]] = {
    "Conv": _convolution,
    "ConvTranspose": _transposed,
    "MaxPool": _max_pool,
    "Clip": _clip,
    "AveragePool": _average_pool,
    "HardSigmoid": _hard_sigmoid,
    "Gemm": _dense,
    "MatMul": _product,
    "ReduceMean": _mean,
    "GlobalAveragePool": lambda call: call.write(functional.adaptive_avg_pool2d, call[0], (1, 1)),
    "ReduceSum": lambda call: call.write(torch.sum, call[0], tuple(call.number(1)), bool(call.get("keepdims", 1))),
    "LayerNormalization": _norm,
    "Softmax": lambda call: call.write(functional.softmax, call[0], call.get("axis", -1)),
    "Reshape": lambda call: call.write(torch.reshape, call[0], tuple(call.number(1))),
    "Flatten": lambda call: call.write(torch.flatten, call[0], call.get("axis", 1)),
    "Transpose": lambda call: call.write(torch.permute, call[0], tuple(call.get("perm", None))),
    "Concat": lambda call: call.write(
        torch.cat, [call[index] for index in range(len(call.inputs))], call.get("axis", 0)
    ),
    "Gather": _gather,
    "Slice": _slice,
    "Squeeze": _squeezed,
    "Unsqueeze": _unsqueezed,
    "Cast": lambda call: call.write(torch.ops.aten.to.dtype, call[0], torch.float32),
    **{name: _alike(getattr(torch, name.lower()), 2) for name in ("Add", "Sub", "Mul", "Div")},
    **{name: _alike(getattr(torch, name.lower()), 1) for name in ("Relu", "Erf", "Sigmoid", "Tanh", "Sqrt")},
}
