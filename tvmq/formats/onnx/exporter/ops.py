"""Relax operators as ONNX nodes: {operator: function(Node) -> name of the result, or of the results}.

The same functions write float operators of the module, operators on codes (between conversions), and the functions
that tables were made of, which the ledger keeps as data.

Tests: tests/formats/onnx/exporter/test_to_onnx.py
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from tvmq.errors import UnsupportedOpError
from tvmq.formats.onnx.exporter.dialects import AXES_ARE_INPUTS
from tvmq.formats.onnx.exporter.graph import OnnxGraph, int64s
from tvmq.graph.evaluate import split_indices
from tvmq.graph.sizes import is_number


@dataclass(frozen=True)
class Node:
    """An operator to write.

    op      Relax name
    inputs  names of the tensors it reads, in order
    numbers what else it is called with: numbers, shapes
    attrs   its attributes (anything with these as attributes)
    shapes  of the inputs; the last one is that of the result; dynamic dimensions are TVM's expressions
    layer   name of the layer, which the node gets
    result  wanted name of the result
    """

    graph: OnnxGraph
    op: str
    inputs: list[str]
    numbers: list[Any]
    attrs: Any
    shapes: list[tuple[Any, ...]]
    layer: str
    result: str

    def write(self, op_type: str, *inputs: str, **attributes: Any) -> str:
        """The ONNX node; reads the operator's own inputs where none are given."""
        return self.graph.node(op_type, list(inputs) or self.inputs, self.layer, self.result, **attributes)

    def before(self, op_type: str, *inputs: str, **attributes: Any) -> str:
        """A node that prepares the one of the layer."""
        return self.graph.node(
            op_type, list(inputs), f"{self.layer}/{op_type}", f"{self.result}/{op_type}", **attributes
        )

    def constant(self, value: Any, role: str) -> str:
        """An initializer."""
        return self.graph.constant(value, f"{self.result}/{role}")

    def reduce(
        self, op_type: str, x: str, axes: Sequence[int] | None, keepdims: bool, *, prepares: bool = False
    ) -> str:
        """A reduction; its axes are an input since opset 18, those of ReduceSum since 13."""
        write = self.before if prepares else self.write
        if axes is None:
            return write(op_type, x, keepdims=int(keepdims))
        if op_type == "ReduceSum" or self.graph.form.opset >= AXES_ARE_INPUTS:
            return write(op_type, x, self.constant(int64s(axes), "axes"), keepdims=int(keepdims))
        return write(op_type, x, axes=list(axes), keepdims=int(keepdims))

    def sizes(self, values: Sequence[Any], role: str) -> str:
        """A vector of sizes: an initializer, or computed where some of them are dynamic."""
        if all(map(is_number, values)):
            return self.constant(int64s([int(value) for value in values]), role)
        return self.graph.dynamic_sizes.vector(values, self.layer, f"{self.result}/{role}")

    def ints(self, name: str) -> list[int]:
        """An attribute that is a list of integers."""
        return [int(value) for value in getattr(self.attrs, name)]

    def unsupported_error(self, what: str) -> UnsupportedOpError:
        """The error that names the layer."""
        return UnsupportedOpError(
            f"to_onnx, layer '{self.layer}': {what} has no equivalent in ONNX; keep the module, or leave the layer out"
        )


Writer = Callable[[Node], "str | list[str]"]


def _single_node(op_type: str) -> Writer:
    return lambda node: node.write(op_type)


CHANNELS_FIRST = {"NCW", "NCHW", "NCDHW", "OIW", "OIHW", "OIDHW", "IOW", "IOHW", "IODHW"}


def _convolution(node: Node, op_type: str = "Conv", **more: Any) -> str:
    """Padding is written like ONNX does: all befores, then all afters."""
    attrs = node.attrs
    for layout in (getattr(attrs, "data_layout", "NCHW"), getattr(attrs, "kernel_layout", "OIHW")):
        if str(layout) not in CHANNELS_FIRST:
            raise node.unsupported_error(f"layout {layout}")
    options = {"pads": node.ints("padding"), "strides": node.ints("strides"), "dilations": node.ints("dilation")}
    return node.write(op_type, group=int(attrs.groups), kernel_shape=list(node.shapes[1][2:]), **options, **more)


def _conv_transpose(node: Node) -> str:
    return _convolution(node, "ConvTranspose", output_padding=node.ints("output_padding"))


def _pool(op_type: str) -> Writer:
    def write(node: Node) -> str:
        if str(node.attrs.layout) not in CHANNELS_FIRST:
            raise node.unsupported_error(f"layout {node.attrs.layout}")
        options: dict[str, Any] = {"ceil_mode": int(bool(node.attrs.ceil_mode))}
        if op_type == "AveragePool":
            options["count_include_pad"] = int(bool(node.attrs.count_include_pad))
            if any(d != 1 for d in node.ints("dilation")):
                raise node.unsupported_error("dilated average pooling")
        else:
            options["dilations"] = node.ints("dilation")
        pads, kernel, strides = node.ints("padding"), node.ints("pool_size"), node.ints("strides")
        return node.write(op_type, pads=pads, kernel_shape=kernel, strides=strides, **options)

    return write


def _prelu(node: Node) -> str:
    """The slopes of ONNX broadcast from the right; those of Relax lie along an axis, that of a table is one number."""
    if not hasattr(node.attrs, "axis"):
        return node.write("PRelu", *node.inputs)
    shape = [1] * (len(node.shapes[0]) - int(node.attrs.axis) - 1)
    slope = node.before("Reshape", node.inputs[1], node.constant(int64s([-1, *shape]), "slope_shape"))
    return node.write("PRelu", node.inputs[0], slope)


def _write_constant(value: int, node: Node) -> str:
    """Expand a number to the shape of the result."""
    one = node.constant(np.asarray(value, str(node.attrs.dtype)), "value")
    return node.write("Expand", one, node.sizes(node.shapes[-1], "shape"))


def _expand(node: Node) -> str:
    """Expand a computed number to the shape of the result, in its type."""
    from onnx import helper

    kind = helper.np_dtype_to_tensor_dtype(np.dtype(str(node.attrs.dtype)))
    value = node.before("Cast", node.inputs[0], to=kind)
    return node.write("Expand", value, node.sizes(node.shapes[-1], "shape"))


def _stack(node: Node) -> str:
    axis = int(node.attrs.axis or 0)
    axes = node.constant(int64s([axis]), "axes")
    return node.write("Concat", *(node.before("Unsqueeze", part, axes) for part in node.inputs), axis=axis)


def _flip(node: Node) -> str:
    values = {"starts": [-1], "ends": [np.iinfo(np.int64).min], "axes": [int(node.attrs.axis)], "steps": [-1]}
    return node.write("Slice", node.inputs[0], *(node.sizes(v, k) for k, v in values.items()))


def _axes(node: Node) -> list[int] | None:
    return None if node.attrs.axis is None else node.ints("axis")


def _reduce(op_type: str) -> Writer:
    return lambda node: node.reduce(op_type, node.inputs[0], _axes(node), bool(node.attrs.keepdims))


def _reshape(node: Node) -> str:
    return node.write("Reshape", node.inputs[0], node.sizes(node.shapes[-1], "shape"))


def _transpose(node: Node) -> str:
    axes = node.attrs.axes
    rank = len(node.shapes[0])
    return node.write("Transpose", perm=list(range(rank))[::-1] if axes is None else node.ints("axes"))


def _slice(node: Node) -> str:
    axes, begin, end, *strides = node.numbers
    steps = strides[0] if strides else [1] * len(axes)
    values = {"starts": begin, "ends": end, "axes": axes, "steps": steps}
    return node.write("Slice", node.inputs[0], *(node.sizes(v, k) for k, v in values.items()))


def _split(node: Node) -> list[str]:
    axis = int(node.attrs.axis)
    size = node.shapes[0][axis]
    ends = [*split_indices(node.attrs.indices_or_sections, size), size]
    sizes = [b - a for a, b in zip([0, *ends], ends, strict=False)]
    inputs = [node.inputs[0], node.constant(int64s(sizes), "split")]
    results = [f"{node.result}_{i}" for i in range(len(sizes))]
    return node.graph.nodes_of("Split", inputs, node.layer, results, axis=axis)


def _pad(node: Node) -> str:
    width = np.asarray(node.ints("pad_width")).reshape(-1, 2)
    mode = {"constant": "constant", "reflect": "reflect", "replicate": "edge"}.get(str(node.attrs.pad_mode))
    if mode is None:
        raise node.unsupported_error(f"padding by {node.attrs.pad_mode}")
    pads = node.constant(int64s([*width[:, 0], *width[:, 1]]), "pads")
    value = [node.constant(np.float32(node.attrs.pad_value), "value")] if mode == "constant" else []
    return node.write("Pad", node.inputs[0], pads, *value, mode=mode)


def _resize(node: Node) -> str:
    a = node.attrs
    modes = {"nearest_neighbor": "nearest", "linear": "linear", "cubic": "cubic"}
    transforms = {"half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_half_pixel_for_nn"}
    if a.layout != "NCHW" or a.method not in modes or str(a.coordinate_transformation_mode) not in transforms:
        raise node.unsupported_error(f"resize by {a.method}, {a.coordinate_transformation_mode}")
    rounding = {"round": "round_prefer_floor", "": "floor"}.get(str(a.rounding_method), str(a.rounding_method))
    extra: dict[str, Any] = {"nearest_mode": rounding} if a.method == "nearest_neighbor" else {}
    if a.method == "cubic":
        extra = {"cubic_coeff_a": float(a.cubic_alpha)}
    sizes = node.sizes(node.shapes[-1], "sizes")
    mode = str(a.coordinate_transformation_mode)
    return node.write(
        "Resize", node.inputs[0], "", "", sizes, mode=modes[a.method], coordinate_transformation_mode=mode, **extra
    )


def _clip(node: Node) -> str:
    low, high = node.numbers
    bounds = [node.constant(np.float32(v), k) for k, v in (("min", low), ("max", high))]
    return node.write("Clip", node.inputs[0], *bounds)


def _gelu(node: Node) -> str:
    x = node.inputs[0]
    e = node.before("Erf", node.before("Mul", x, node.constant(np.float32(0.5**0.5), "root_half")))
    raised = node.before("Add", e, node.constant(np.float32(1), "one"))
    return node.write("Mul", node.before("Mul", x, node.constant(np.float32(0.5), "half")), raised)


def _gelu_tanh(node: Node) -> str:
    x = node.inputs[0]
    cube = node.before("Mul", node.before("Mul", node.before("Mul", x, x), x), node.constant(np.float32(0.044715), "c"))
    inner = node.before("Mul", node.before("Add", x, cube), node.constant(np.float32((2 / np.pi) ** 0.5), "root"))
    raised = node.before("Add", node.before("Tanh", inner), node.constant(np.float32(1), "one"))
    return node.write("Mul", node.before("Mul", x, node.constant(np.float32(0.5), "half")), raised)


def _softplus(node: Node) -> str:
    if float(node.attrs.beta) != 1.0:
        raise node.unsupported_error(f"softplus with beta {float(node.attrs.beta):g}")
    return node.write("Softplus")


def _cast(node: Node) -> str:
    from onnx import helper

    return node.write("Cast", to=helper.np_dtype_to_tensor_dtype(np.dtype(str(node.attrs.dtype))))


def _round_floats(node: Node) -> str:
    from onnx import TensorProto

    narrow = node.before("Cast", node.inputs[0], to=getattr(TensorProto, str(node.attrs.dtype).upper()))
    return node.write("Cast", narrow, to=TensorProto.FLOAT)


def _layer_norm(node: Node) -> str:
    return node.write("LayerNormalization", axis=-int(node.attrs.axes), epsilon=float(node.attrs.epsilon))


def _rms_norm(node: Node) -> str:
    """Opset 17 has no such operator: x / sqrt(mean(x * x) + epsilon) * gamma."""
    x, gamma = node.inputs
    square = node.before("Mul", x, x)
    mean = node.reduce("ReduceMean", square, range(-int(node.attrs.axes), 0), True, prepares=True)
    raised = node.before("Add", mean, node.constant(np.float32(node.attrs.epsilon), "epsilon"))
    return node.write("Mul", node.before("Div", x, node.before("Sqrt", raised)), gamma)


def _group_norm(node: Node) -> str:
    """An instance norm of rows of groups, and the factors of channels behind it."""
    x, gamma, beta = node.inputs
    groups, channels = int(node.attrs.groups), int(node.shapes[0][1])
    unit = [node.constant(np.full(groups, value, np.float32), f"unit_{value}") for value in (1, 0)]
    rows = node.before("Reshape", x, node.constant(int64s([0, groups, -1]), "rows"))
    norm = node.before("InstanceNormalization", rows, *unit, epsilon=float(node.attrs.epsilon))
    norm = node.before("Reshape", norm, node.sizes(node.shapes[-1], "shape"))
    along = node.constant(int64s([channels] + [1] * (len(node.shapes[0]) - 2)), "along")
    scaled = node.before("Mul", norm, node.before("Reshape", gamma, along))
    return node.write("Add", scaled, node.before("Reshape", beta, along))


def _float_sum(node: Node) -> str:
    op_type = "ReduceMean" if node.attrs.mean else "ReduceSum"
    return node.reduce(op_type, node.inputs[0], node.ints("axes"), bool(node.attrs.keepdims))


WRITERS: dict[str, Writer] = {
    **{
        name: _single_node(op_type)
        for name, op_type in {
            "add": "Add", "subtract": "Sub", "multiply": "Mul", "divide": "Div", "power": "Pow",
            "maximum": "Max", "minimum": "Min", "matmul": "MatMul", "nn.relu": "Relu", "sigmoid": "Sigmoid",
            "tanh": "Tanh", "exp": "Exp", "log": "Log", "erf": "Erf", "sqrt": "Sqrt", "abs": "Abs",
            "negative": "Neg", "sign": "Sign", "floor": "Floor", "ceil": "Ceil", "round": "Round",
            "sin": "Sin", "cos": "Cos", "tan": "Tan", "sinh": "Sinh", "cosh": "Cosh", "asin": "Asin",
            "acos": "Acos", "atan": "Atan", "asinh": "Asinh", "acosh": "Acosh", "atanh": "Atanh",
            "equal": "Equal", "greater": "Greater", "greater_equal": "GreaterOrEqual", "less": "Less",
            "less_equal": "LessOrEqual", "logical_and": "And", "logical_or": "Or", "logical_not": "Not",
            "where": "Where", "isnan": "IsNaN", "isinf": "IsInf",
        }.items()
    },
    "astype": _cast,
    "tvmq.round_floats": _round_floats,
    "zeros": partial(_write_constant, 0),
    "ones": partial(_write_constant, 1),
    "broadcast_to": lambda node: node.write(
        "Expand", node.inputs[0], node.sizes(node.shapes[-1], "shape")
    ),
    "clip": _clip,
    "concat": lambda node: node.write("Concat", axis=int(node.attrs.axis or 0)),
    "expand_dims": _reshape,
    "flatten": _reshape,
    "gather_elements": lambda node: node.write("GatherElements", axis=int(node.attrs.axis)),
    "image.resize2d": _resize,
    "max": _reduce("ReduceMax"),
    "mean": _reduce("ReduceMean"),
    "min": _reduce("ReduceMin"),
    **{f"nn.avg_pool{n}d": _pool("AveragePool") for n in (1, 2, 3)},
    **{f"nn.conv{n}d": _convolution for n in (1, 2, 3)},
    **{f"nn.conv{n}d_transpose": _conv_transpose for n in (1, 2, 3)},
    "flip": _flip,
    "full": _expand,
    "nn.gelu": _gelu,
    "nn.gelu_tanh": _gelu_tanh,
    "nn.leakyrelu": lambda node: node.write("LeakyRelu", alpha=float(node.attrs.alpha)),
    **{f"nn.max_pool{n}d": _pool("MaxPool") for n in (1, 2, 3)},
    "nn.prelu": _prelu,
    "nn.pad": _pad,
    "nn.silu": lambda node: node.write("Mul", node.inputs[0], node.before("Sigmoid", node.inputs[0])),
    "nn.softmax": lambda node: node.write("Softmax", axis=int(node.attrs.axis)),
    "nn.softplus": _softplus,
    "permute_dims": _transpose,
    "reshape": _reshape,
    "rsqrt": lambda node: node.write("Reciprocal", node.before("Sqrt", node.inputs[0])),
    "split": _split,
    "square": lambda node: node.write("Mul", node.inputs[0], node.inputs[0]),
    "squeeze": _reshape,
    "stack": _stack,
    "strided_slice": _slice,
    "sum": _reduce("ReduceSum"),
    "take": lambda node: node.write("Gather", axis=int(node.attrs.axis or 0)),
    "tile": lambda node: node.write("Tile", node.inputs[0], node.constant(int64s(node.ints("repeats")), "repeats")),
    "tvmq.conv_transpose": _conv_transpose,
    "not_equal": lambda node: node.write("Not", node.before("Equal")),
    "tvmq.float_sum": _float_sum,
    "tvmq.group_norm": _group_norm,
    "tvmq.layer_norm": _layer_norm,
    "tvmq.log_softmax": lambda node: node.write("LogSoftmax", axis=int(node.attrs.axis)),
    "tvmq.rms_norm": _rms_norm,
    "tvmq.softmax": lambda node: node.write("Softmax", axis=int(node.attrs.axis)),
}  # fmt: skip
