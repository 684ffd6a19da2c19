"""Models of one quantized operator for tools that run them, and their answers to test vectors.

A tool takes a case (tvmq.emulation.cases) and gives codes, or None for a case that it has no operator for.

    python benchmarks/black_box_tools.py onnxruntime 0 quick answers.npz     # as benchmarks/black_boxes.py starts it
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tvmq.emulation.cases import Case
from tvmq.emulation.vectors import Answered

Answer = Callable[[Case], "np.ndarray | None"]


@dataclass(frozen=True)
class Tool:
    """A black box.

    types   of activations that it is asked for
    answer  runs a case
    """

    types: tuple[str, ...]
    answer: Answer


def answer_all(tool: Tool, cases: Iterable[Case]) -> list[Answered]:
    """The cases that the tool has an operator for, answered."""
    found = []
    for case in cases:
        answer = tool.answer(case)
        if answer is not None:
            found.append(Answered(case, answer, answer))
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


def codes_model(case: Case) -> tuple[bytes, dict[str, np.ndarray]] | None:
    """The ONNX operator that computes on codes; None where there is none."""
    a, arrays, model = case.attributes, case.arrays, OnnxModel()
    x_zero, y_zero = np.array(a["x_zero"], a["x_dtype"]), np.array(a["y_zero"], a["dtype"])

    def numbers(side: str, zero: np.ndarray) -> list[str]:
        return [
            model.constant(np.float32(a[f"{side}_scale"]), f"{side}_scale"),
            model.constant(zero, f"{side}_zero"),
        ]

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


def onnxruntime(case: Case) -> np.ndarray | None:
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


def converted_model(case: Case) -> tuple[bytes, dict[str, np.ndarray]] | None:
    """The operator between DequantizeLinear and QuantizeLinear."""
    a, arrays, model = case.attributes, case.arrays, OnnxModel()
    inputs = {"x": arrays["x"]}

    def real(name: str, scale: Any, zero: Any, axis: int | None = None) -> str:
        more = {} if axis is None or np.ndim(scale) == 0 else {"axis": axis}
        names = [name, model.constant(np.float32(scale), f"{name}_s"), model.constant(zero, f"{name}_z")]
        return model.node("DequantizeLinear", names, f"{name}_f", **more)

    x = real("x", a["x_scale"], np.array(a["x_zero"], a["x_dtype"])) if "x" in arrays else ""
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
    elif case.operator == "average":
        model.node("AveragePool", [x], "r", kernel_shape=a["kernel"], **windows)
    else:
        return None
    scale = model.constant(np.float32(a["y_scale"]), "y_s")
    model.node("QuantizeLinear", ["r", scale, model.constant(np.array(a["y_zero"], a["dtype"]), "y_z")])
    return model.bytes(inputs, a["dtype"]), inputs


def openvino(case: Case) -> np.ndarray | None:
    """OpenVINO's CPU plugin."""
    import openvino as ov

    made = converted_model(case)
    if made is None:
        return None
    core = ov.Core()
    hints = {"INFERENCE_NUM_THREADS": 1, "INFERENCE_PRECISION_HINT": "f32"}
    compiled = core.compile_model(core.read_model(made[0]), "CPU", hints)
    return np.array(compiled(made[1])[0])


TOOLS: dict[str, Tool] = {
    "onnxruntime": Tool(("uint8", "int8"), onnxruntime),
    "openvino": Tool(("uint8", "int8"), openvino),
}


def main() -> None:
    """Answers of one tool to a file: tool, seed, "quick" or "all", file."""
    from black_boxes import cases

    name, seed, size, file = sys.argv[1:]
    tool = TOOLS[name]
    chosen = [case for case in cases(tool.types, int(seed), quick=size == "quick") if case.operator in ("conv2d", "dense")]
    answers = answer_all(tool, chosen)
    np.savez(file, **{f"{one.case.operator}/{one.case.name}": one.answer for one in answers})


if __name__ == "__main__":
    main()
