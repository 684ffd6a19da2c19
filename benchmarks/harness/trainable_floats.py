"""Float models of ONNX as torch modules that can be trained: what training is compared with."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np  # noqa: E402
import onnx  # noqa: E402
import torch  # noqa: E402
from adapters.onnx_torch import read_module  # noqa: E402
from onnx import helper, numpy_helper  # noqa: E402


def without_batch_norm(model: onnx.ModelProto) -> onnx.ModelProto:
    """Batch norms behind convolutions become part of them."""
    graph, model = model.graph, model
    arrays = {value.name: numpy_helper.to_array(value) for value in graph.initializer}
    makers = {node.output[0]: node for node in graph.node}
    for node in [node for node in graph.node if node.op_type == "BatchNormalization"]:
        gamma, beta, mean, variance = (arrays[name].astype(np.float64) for name in node.input[1:5])
        epsilon = next((a.f for a in node.attribute if a.name == "epsilon"), 1e-5)
        convolution, factor = makers[node.input[0]], gamma / np.sqrt(variance + epsilon)
        weight = arrays[convolution.input[1]]
        bias = arrays[convolution.input[2]] if len(convolution.input) > 2 else np.zeros(len(weight))
        folded = {"weight": weight * factor.reshape(-1, 1, 1, 1), "bias": (bias - mean) * factor + beta}
        names = [f"{node.output[0]}_{part}" for part in folded]
        values = zip(names, folded.values(), strict=True)
        graph.initializer.extend(numpy_helper.from_array(a.astype(np.float32), n) for n, a in values)
        replaced = helper.make_node("Conv", [convolution.input[0], *names], [node.output[0]])
        replaced.attribute.extend(convolution.attribute)
        convolution.CopyFrom(replaced)
        graph.node.remove(node)
    return model


def with_fixed_batch(model: onnx.ModelProto, batch: int) -> onnx.ModelProto:
    """Fix the batch: values of sizes alone become constants, by onnxruntime's basic optimizations."""
    import onnxruntime

    for value in (*model.graph.input, *model.graph.output):
        value.type.tensor_type.shape.dim[0].dim_value = batch
    del model.graph.value_info[:]
    with tempfile.NamedTemporaryFile(suffix=".onnx") as file:
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        options.optimized_model_filepath = file.name
        onnxruntime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
        return onnx.load(file.name)


def as_torch(path: str | bytes, batch: int | None = None) -> torch.nn.Module:
    """The float model, weights as parameters; batch: for so many samples alone, which leaves fewer operators."""
    model = onnx.load_from_string(path) if isinstance(path, bytes) else onnx.load(path)
    model = without_batch_norm(model if batch is None else with_fixed_batch(model, batch))
    with tempfile.NamedTemporaryFile(suffix=".onnx") as file:
        onnx.save(model, file.name)
        module = read_module(Path(file.name))
    for name, value in list(module.named_buffers()):
        if value.is_floating_point():
            delattr(module, name)
            module.register_parameter(name, torch.nn.Parameter(value))
    return module
