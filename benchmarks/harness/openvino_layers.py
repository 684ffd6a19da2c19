"""The time that OpenVINO's int8 kernel takes for one convolution, from its own profile.

The layer is the middle one of three, between quantize and dequantize, so that its input and output are codes in
whatever layout OpenVINO likes best; neighbours are 1x1 convolutions of the same kind (depthwise ones: depthwise).
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from tvmq.codegen.kernels.parts.kernel_types import Conv2d

MIDDLE = "middle"
SCALE, RUNS = 0.05, 3


def chain(conv: Conv2d) -> onnx.ModelProto:
    """The three layers, uint8 activations and int8 weights per channel, in ONNX's quantize and dequantize form."""
    random, nodes, constants = np.random.default_rng(0), [], []

    def constant(name: str, value: Any) -> str:
        constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    constant("scale", np.float32(SCALE))
    constant("zero", np.uint8(0))

    def codes(name: str) -> str:
        nodes.append(helper.make_node("QuantizeLinear", [name, "scale", "zero"], [f"{name}_q"]))
        nodes.append(helper.make_node("DequantizeLinear", [f"{name}_q", "scale", "zero"], [f"{name}_d"]))
        return f"{name}_d"

    def layer(name: str, source: str, shape: tuple[int, ...], **options: Any) -> str:
        weight = constant(f"{name}_w", random.integers(-127, 128, shape).astype(np.int8))
        depth = int(np.prod(shape[1:]))
        scales = constant(f"{name}_s", np.full(shape[0], 0.02 / depth**0.5, np.float32))
        zeros = constant(f"{name}_z", np.zeros(shape[0], np.int8))
        bias = constant(f"{name}_b", random.normal(size=shape[0]).astype(np.float32))
        nodes.append(helper.make_node("DequantizeLinear", [weight, scales, zeros], [f"{name}_f"], axis=0))
        nodes.append(helper.make_node("Conv", [source, f"{name}_f", bias], [name], name, **options))
        nodes.append(helper.make_node("Relu", [name], [f"{name}_r"]))
        return codes(f"{name}_r")

    thin = conv.groups > 1
    around: dict[str, Any] = {"group": conv.groups} if thin else {}
    inside = (conv.channels, 1 if thin else conv.channels, 1, 1)
    outside = (conv.filters, 1 if thin else conv.filters, 1, 1)
    end = layer("before", codes("x"), inside, **around)
    end = layer(
        MIDDLE, end, (conv.filters, conv.channels // conv.groups, *conv.kernel), strides=conv.strides,
        pads=conv.padding, dilations=conv.dilation, group=conv.groups,
    )  # fmt: skip
    end = layer("after", end, outside, **around)
    shape = (conv.batch, conv.channels, conv.height, conv.width)
    graph = helper.make_graph(
        nodes, "chain", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info(end, TensorProto.FLOAT, None)], constants,
    )  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def layer_seconds(conv: Conv2d) -> tuple[Callable[[], float], str]:
    """A function that runs the chain and gives the seconds of its middle layer; and the kernel that OpenVINO took.

    raises   SystemExit where OpenVINO has put the layer elsewhere, so that there is nothing to compare with
    """
    import openvino

    core = openvino.Core()
    settings = {"INFERENCE_NUM_THREADS": 1, "PERFORMANCE_HINT": "LATENCY", "NUM_STREAMS": 1, "PERF_COUNT": True}
    compiled = core.compile_model(core.read_model(chain(conv).SerializeToString()), "CPU", settings)
    request = compiled.create_infer_request()
    x = np.random.default_rng(1).uniform(0, 12, compiled.inputs[0].shape).astype(np.float32)
    request.set_input_tensor(openvino.Tensor(x))

    def middle() -> Any:
        request.infer()
        found = [
            info for info in request.get_profiling_info() if MIDDLE in info.node_name and info.real_time.total_seconds()
        ]
        if not found:
            raise SystemExit(f"kernels: OpenVINO's profile has no layer '{MIDDLE}'")
        return max(found, key=lambda info: info.real_time)

    kernel = middle().exec_type
    return lambda: statistics.median(middle().real_time.total_seconds() for _ in range(RUNS)), kernel
