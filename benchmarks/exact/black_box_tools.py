"""Models of one quantized operator for tools that run them, and their answers to test vectors.

A tool takes a case (tvmq.chips.emulation.cases) and gives codes, or None for a case that it has no operator for.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from tvmq.chips.emulation.arithmetic import Arithmetic
from tvmq.chips.emulation.cases import Vector
from tvmq.chips.emulation.read_vectors import CaseAnswer

Answer = Callable[[Vector], "np.ndarray | None"]


@dataclass(frozen=True)
class Tool:
    """A black box.

    types   of activations that are chosen
    answer  runs a case
    """

    types: tuple[str, ...]
    answer: Answer


def answer_all(tool: Tool, cases: Iterable[Vector]) -> list[CaseAnswer]:
    """The cases that the tool has an operator for, answered."""
    found = []
    for case in cases:
        answer = tool.answer(case)
        if answer is not None:
            found.append(CaseAnswer(case, answer, answer))
    return found


# ---- ONNX: operators on codes


class OnnxModel:
    """A model of one node under construction."""

    def __init__(self) -> None:
        self.constants: list[Any] = []
        self.nodes: list[Any] = []

    def constant(self, array: Any, name: str) -> str:
        """An initializer."""
        from onnx import numpy_helper

        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def node(self, operator: str, inputs: Sequence[str], output: str = "y", **attributes: Any) -> str:
        """A node of one result."""
        from onnx import helper

        self.nodes.append(helper.make_node(operator, inputs, [output], **attributes))
        return output

    def bytes(self, inputs: dict[str, np.ndarray], dtype: str) -> bytes:
        """The file; results have that type."""
        from onnx import helper

        def info(name: str, kind: str, shape: Any) -> Any:
            return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(kind)), shape)

        given = [info(name, array.dtype.name, array.shape) for name, array in inputs.items()]
        graph = helper.make_graph(self.nodes, "one", given, [info("y", dtype, None)], self.constants)
        domains = [helper.make_opsetid("", 19), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=domains, ir_version=9).SerializeToString()


def codes_model(case: Vector) -> tuple[bytes, dict[str, np.ndarray]] | None:
    """The ONNX operator that computes on codes; None where there is none."""
    a, arrays, model = case.attributes, case.arrays, OnnxModel()
    x_zero, y_zero = np.array(a["x_zero"], a["x_dtype"]), np.array(a["y_zero"], a["dtype"])

    def numbers(side: str, zero: np.ndarray) -> list[str]:
        return [model.constant(np.float32(a[f"{side}_scale"]), f"{side}_scale"), model.constant(zero, f"{side}_zero")]

    inputs = {"x": arrays["x"]} if "x" in arrays else {}
    windows = {"strides": a.get("strides"), "pads": a.get("padding")}
    if case.operator in ("conv2d", "depthwise"):
        w, scale = arrays["w"], arrays["scale_w"]
        weight = [model.constant(w, "w"), model.constant(scale, "w_scale"), _no_zero(model, w, scale)]
        names = ["x", *numbers("x", x_zero), *weight, *numbers("y", y_zero), model.constant(arrays["bias"], "bias")]
        options = {"group": a["groups"], "dilations": a["dilation"], "kernel_shape": w.shape[2:]}
        model.node("QLinearConv", names, **windows, **options)
    elif case.operator == "dense":
        w, scale = arrays["w"], arrays["scale_w"]
        weight = [model.constant(w, "w"), model.constant(scale, "w_scale"), _no_zero(model, w, scale)]
        names = ["x", *numbers("x", x_zero), *weight, model.constant(arrays["bias"], "bias"), *numbers("y", y_zero)]
        model.node("QGemm", names, domain="com.microsoft", transB=0)
    elif case.operator in ("add", "multiply"):
        inputs["w"] = arrays["w"]
        w_zero = np.array(a["w_zero"], a["w_dtype"])
        names = ["x", *numbers("x", x_zero), "w", *numbers("w", w_zero), *numbers("y", y_zero)]
        model.node({"add": "QLinearAdd", "multiply": "QLinearMul"}[case.operator], names, domain="com.microsoft")
    elif case.operator == "average":
        names = ["x", *numbers("x", x_zero), *numbers("y", y_zero)]
        model.node("QLinearAveragePool", names, domain="com.microsoft", kernel_shape=a["kernel"], **windows)
    elif case.operator == "quantize":
        model.node("QuantizeLinear", ["x", *numbers("y", y_zero)])
    elif case.operator == "dequantize":
        model.node("DequantizeLinear", ["x", *numbers("x", x_zero)])
    elif case.operator == "maximum":
        model.node("MaxPool", ["x"], kernel_shape=a["kernel"], **windows)
    else:
        return None
    return model.bytes(inputs, "float32" if case.operator == "dequantize" else a["dtype"]), inputs


def _no_zero(model: OnnxModel, w: np.ndarray, scale: np.ndarray) -> str:
    return model.constant(np.zeros(scale.shape, w.dtype), "w_zero")


def onnxruntime(case: Vector) -> np.ndarray | None:
    """onnxruntime's operators on codes."""
    import onnxruntime as ort

    made = codes_model(case)
    if made is None:
        return None
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    try:
        session = ort.InferenceSession(made[0], options, providers=["CPUExecutionProvider"])
        return np.asarray(session.run(None, made[1])[0])
    except Exception as error:  # what a tool refuses is no answer
        print(f"onnxruntime, {case.operator}/{case.name}: {str(error).splitlines()[0][:160]}", file=sys.stderr)
        return None


# ---- ONNX with conversions around float operators, as OpenVINO takes it


CONVERTED = ("conv2d", "depthwise", "dense", "add", "multiply", "average")


def converted_model(case: Vector) -> tuple[bytes, dict[str, np.ndarray]] | None:
    """The operator between DequantizeLinear and QuantizeLinear."""
    a, arrays, model = case.attributes, case.arrays, OnnxModel()
    if case.operator not in CONVERTED:
        return None
    inputs = {"x": arrays["x"]}

    def real(name: str, scale: Any, zero: Any, axis: int | None = None) -> str:
        more = {} if axis is None or np.ndim(scale) == 0 else {"axis": axis}
        names = [name, model.constant(np.float32(scale), f"{name}_s"), model.constant(zero, f"{name}_z")]
        return model.node("DequantizeLinear", names, f"{name}_f", **more)

    x = real("x", a["x_scale"], np.array(a["x_zero"], a["x_dtype"]))
    windows = {"strides": a.get("strides"), "pads": a.get("padding")}
    if case.operator in ("conv2d", "depthwise", "dense"):
        w, scale = arrays["w"], arrays["scale_w"]
        scale = scale if scale.size > 1 else scale.reshape(())
        axis = 1 if case.operator == "dense" else 0
        weight = real(model.constant(w, "w"), scale, np.zeros(scale.shape, w.dtype), axis)
        together = np.asarray(np.float32(a["x_scale"]) * scale, np.float32)
        bias = real(model.constant(arrays["bias"], "b"), together, np.zeros(together.shape, np.int32), 0)
        if case.operator == "dense":
            model.node("Gemm", [x, weight, bias], "r")
        else:
            options = {"group": a["groups"], "dilations": a["dilation"], "kernel_shape": w.shape[2:]}
            model.node("Conv", [x, weight, bias], "r", **windows, **options)
    elif case.operator in ("add", "multiply"):
        inputs["w"] = arrays["w"]
        other = real("w", a["w_scale"], np.array(a["w_zero"], a["w_dtype"]))
        model.node({"add": "Add", "multiply": "Mul"}[case.operator], [x, other], "r")
    else:
        model.node("AveragePool", [x], "r", kernel_shape=a["kernel"], **windows)
    scale = model.constant(np.float32(a["y_scale"]), "y_s")
    model.node("QuantizeLinear", ["r", scale, model.constant(np.array(a["y_zero"], a["dtype"]), "y_z")])
    return model.bytes(inputs, a["dtype"]), inputs


def openvino(case: Vector) -> np.ndarray | None:
    """OpenVINO's CPU plugin."""
    import openvino as ov

    made = converted_model(case)
    if made is None:
        return None
    core = ov.Core()
    hints = {"INFERENCE_NUM_THREADS": 1, "INFERENCE_PRECISION_HINT": "f32"}
    compiled = core.compile_model(core.read_model(made[0]), "CPU", hints)
    return np.array(compiled(made[1])[0])


# ---- TFLite files


def tflite_model(case: Vector) -> tuple[bytes, list[np.ndarray]] | None:
    """A file of one operator and its inputs, channels last; None where TFLite has no such operator."""
    from tvmq.formats.tflite.flatbuffer import Flatbuffer, Quantization

    a, arrays, file = case.attributes, case.arrays, Flatbuffer()
    if case.operator not in TFLITE or any(int(v) for v in a.get("padding", [])) and case.operator != "pad":
        return None  # its paddings are "same" and "valid" alone
    if case.operator in ("pad", "maximum"):
        a = {**a, "y_scale": a["x_scale"], "y_zero": a["x_zero"]}

    def codes(side: str) -> Quantization:
        return Quantization((float(np.float32(a[f"{side}_scale"])),), int(a[f"{side}_zero"]))

    def last(array: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(np.moveaxis(array, 1, -1)) if array.ndim == 4 else array

    inputs = [last(arrays["x"])]
    shape = last(case.compute(Arithmetic()).y).shape
    x = file.tensor("x", inputs[0].shape, a["x_dtype"], codes("x"))
    y = file.tensor("y", shape, a["dtype"], codes("y"))
    if case.operator in ("conv2d", "depthwise", "dense"):
        w, scale = arrays["w"], tuple(float(s) for s in arrays["scale_w"])
        depthwise = case.operator == "depthwise"
        wide = w.T if case.operator == "dense" else np.moveaxis(w, 1, -1)
        if depthwise:
            wide = np.moveaxis(w[:, 0], 0, -1)[None]
        axis = 3 if depthwise else 0
        weight = file.constant("w", np.ascontiguousarray(wide), Quantization(scale, 0, axis))
        real = tuple(float(np.float32(np.float32(a["x_scale"]) * np.float32(s))) for s in scale)
        bias = file.constant("b", arrays["bias"], Quantization(real, 0, 0))
        if case.operator == "dense":
            file.operator("FULLY_CONNECTED", [x, weight, bias], [y], version=4, table="FullyConnectedOptions")
        else:
            if not depthwise and a["groups"] > 1 or list(a["dilation"]) != [1, 1] and depthwise:
                return None
            strides, dilation = a["strides"], a["dilation"]
            options = {"padding": 1, "stride_h": strides[0], "stride_w": strides[1],
                       "dilation_h_factor": dilation[0], "dilation_w_factor": dilation[1]}  # fmt: skip
            name = ("DEPTHWISE_CONV_2D", "DepthwiseConv2DOptions") if depthwise else ("CONV_2D", "Conv2DOptions")
            more = {"depth_multiplier": 1} if depthwise else {}
            file.operator(name[0], [x, weight, bias], [y], version=3, table=name[1], **options, **more)
    elif case.operator in ("add", "multiply"):
        inputs.append(last(arrays["w"]))
        other = file.tensor("w", inputs[1].shape, a["w_dtype"], codes("w"))
        name = {"add": "ADD", "multiply": "MUL"}[case.operator]
        file.operator(name, [x, other], [y], version=2, table=f"{name.capitalize()}Options")
        pack = {"x": x, "w": other}
        return file.pack(pack, {"y": y}), inputs
    elif case.operator == "maximum":
        kernel, strides = a["kernel"], a["strides"]
        options = {"padding": 1, "stride_h": strides[0], "stride_w": strides[1],
                   "filter_height": kernel[0], "filter_width": kernel[1]}  # fmt: skip
        file.operator("MAX_POOL_2D", [x], [y], version=2, table="Pool2DOptions", **options)
    return file.pack({"x": x}, {"y": y}), inputs


TFLITE = ("conv2d", "depthwise", "dense", "add", "multiply", "maximum")


def _first(result: np.ndarray) -> np.ndarray:
    """Channels first again."""
    return np.moveaxis(result, -1, 1) if result.ndim == 4 else result


def tflite_micro(case: Vector) -> np.ndarray | None:
    """The interpreter of the wheel tflite-micro."""
    from tflite_micro.python.tflite_micro import runtime

    made = tflite_model(case)
    if made is None:
        return None
    interpreter = runtime.Interpreter.from_bytes(made[0], arena_size=2**22)
    for place, array in enumerate(made[1]):
        interpreter.set_input(array, place)
    interpreter.invoke()
    return _first(np.array(interpreter.get_output(0)))


def litert(case: Vector, *, reference: bool) -> np.ndarray | None:
    """ai-edge-litert: its optimized kernels with XNNPACK, or its reference kernels."""
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    made = tflite_model(case)
    if made is None:
        return None
    kind = OpResolverType.BUILTIN_REF if reference else OpResolverType.AUTO
    interpreter = Interpreter(model_content=made[0], experimental_op_resolver_type=kind, num_threads=1)
    interpreter.allocate_tensors()
    for detail, array in zip(interpreter.get_input_details(), made[1], strict=True):
        interpreter.set_tensor(detail["index"], array)
    interpreter.invoke()
    return _first(np.array(interpreter.get_tensor(interpreter.get_output_details()[0]["index"])))


TOOLS: dict[str, Tool] = {
    "onnxruntime": Tool(("uint8", "int8"), onnxruntime),
    "openvino": Tool(("uint8", "int8"), openvino),
    "tflite-micro": Tool(("int8",), tflite_micro),
    "litert reference": Tool(("int8",), partial(litert, reference=True)),
    "litert": Tool(("int8",), partial(litert, reference=False)),
}
