"""The generator of random networks: its models are valid, and every operator and trait occurs in them."""

from __future__ import annotations

import collections

import numpy as np
import onnx
import onnxruntime
import pytest

from tests.support.random.graphs import BELOW, random_inputs, random_model

SEEDS = range(200)
OPERATORS = {
    "Add", "AveragePool", "BatchNormalization", "Clip", "Concat", "Conv", "Flatten", "Gemm",
    "GlobalAveragePool", "HardSigmoid", "HardSwish", "LeakyRelu", "MatMul", "MaxPool", "Mul", "Pad", "Relu",
    "Reshape", "Resize", "Sigmoid", "Slice", "Softmax", "Split", "Squeeze", "Transpose", "Unsqueeze",
    "Abs", "Div", "Elu", "Erf", "Expand", "Gather", "GlobalMaxPool", "Greater", "GreaterOrEqual", "Less", "Log",
    "Max", "Min", "Neg", "PRelu", "Pow", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceSum", "Selu", "Sin",
    "Softplus", "Softsign", "Sqrt", "Sub", "Tanh", "Tile", "Where",
    "ConvTranspose", "DepthToSpace", "InstanceNormalization", "LayerNormalization", "LogSoftmax", "SpaceToDepth",
}  # fmt: skip


@pytest.fixture(scope="module")
def models() -> list[onnx.ModelProto]:
    return [random_model(seed) for seed in SEEDS]


def run(model: onnx.ModelProto, feed: dict[str, np.ndarray]) -> list[np.ndarray]:
    """Outputs in onnxruntime, without its graph optimizations."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
    return session.run(None, feed)


def attribute(node: onnx.NodeProto, name: str, default: object) -> object:
    return next((onnx.helper.get_attribute_value(a) for a in node.attribute if a.name == name), default)


def test_equal_seeds_equal_models() -> None:
    """Deterministic, models and inputs; another seed is another model."""
    first, second = random_model(3), random_model(3)
    assert first.SerializeToString(deterministic=True) == second.SerializeToString(deterministic=True)
    assert first.SerializeToString() != random_model(4).SerializeToString()
    for a, b in zip(random_inputs(first, 1, 2), random_inputs(second, 1, 2), strict=True):
        for name in a:
            np.testing.assert_array_equal(a[name], b[name])


def test_valid_and_named(models: list[onnx.ModelProto]) -> None:
    """Checker with shape inference; unique node names; 3-20 nodes; the stated limits of shapes."""
    for seed, model in zip(SEEDS, models, strict=True):
        onnx.checker.check_model(model, full_check=True)
        names = [node.name for node in model.graph.node]
        assert all(names) and len(set(names)) == len(names), f"seed {seed}"
        assert 3 <= len(names) <= 20, f"seed {seed}: {len(names)} nodes"
        read = {name for node in model.graph.node for name in node.input}
        for value in model.graph.input:
            assert value.name in read, f"seed {seed}: nobody reads {value.name}"
            if value.doc_string.startswith(BELOW):
                continue
            n, c, h, w = (d.dim_value for d in value.type.tensor_type.shape.dim)
            assert n <= 2 and c <= 20 and 4 <= h <= 16 and 4 <= w <= 16, f"seed {seed}"


def test_run_in_onnxruntime(models: list[onnx.ModelProto]) -> None:
    """Declared shapes hold, outputs are finite, and nearly all of them vary."""
    constant = 0
    for seed, model in zip(SEEDS, models, strict=True):
        outputs = run(model, random_inputs(model, seed, 1)[0])
        for value, output in zip(model.graph.output, outputs, strict=True):
            assert output.shape == tuple(d.dim_value for d in value.type.tensor_type.shape.dim), f"seed {seed}"
            assert np.isfinite(output).all(), f"seed {seed}"
            assert np.abs(output).max() < 1e5, f"seed {seed}"
            constant += output.size > 1 and np.ptp(output) == 0
    assert constant <= 8


def test_every_operator_occurs(models: list[onnx.ModelProto]) -> None:
    """All of the list, each in at least three graphs, and nothing else."""
    graphs = collections.Counter(op for m in models for op in {node.op_type for node in m.graph.node})
    assert set(graphs) == OPERATORS
    assert min(graphs.values()) >= 3, graphs.most_common()[-3:]


def test_every_trait_occurs(models: list[onnx.ModelProto]) -> None:
    """The corners that the generator promises, each several times."""
    seen: collections.Counter[str] = collections.Counter()
    for model in models:
        graph = model.graph
        shapes = {t.name: tuple(t.dims) for t in graph.initializer}
        inferred = onnx.shape_inference.infer_shapes(model).graph
        for value in [*inferred.value_info, *graph.input, *graph.output]:
            shapes[value.name] = tuple(d.dim_value for d in value.type.tensor_type.shape.dim)
        reads = collections.Counter(name for node in graph.node for name in set(node.input))
        seen["two inputs"] += len(graph.input) > 1
        seen["several outputs"] += len(graph.output) > 1
        seen["output read inside"] += any(reads[value.name] for value in graph.output)
        seen["batch 2"] += shapes[graph.input[0].name][0] == 2
        seen["shared activation"] += any(reads[node.output[0]] > 1 for node in graph.node)
        for node in graph.node:
            a, b = (shapes.get(name) for name in [*node.input, "", ""][:2])
            if node.op_type == "Conv":
                group = attribute(node, "group", 1)
                pads = attribute(node, "pads", [0] * 4)
                half = len(pads) // 2
                seen["shared weight"] += reads[node.input[1]] > 1
                seen["depthwise"] += group == a[1] > 1
                seen["grouped"] += 1 < group < a[1]
                seen["dilated"] += attribute(node, "dilations", [1, 1]) != [1, 1]
                seen["strided"] += attribute(node, "strides", [1, 1]) != [1, 1]
                seen["uneven padding"] += pads[:half] != pads[half:]
                seen["no bias"] += len(node.input) == 2
                seen["odd channels"] += a[1] % 2 == 1
                weights = next(t for t in graph.initializer if t.name == node.input[1])
                flat = onnx.numpy_helper.to_array(weights).reshape(b[0], -1)
                seen["zero filter"] += bool((~flat.any(1)).any())
                seen["kernel " + "x".join(map(str, b[2:]))] += 1
                seen[f"{len(b) - 2}-D"] += 1
            if node.op_type == "ConvTranspose":
                seen["transposed, groups"] += attribute(node, "group", 1) > 1
                seen["transposed, output padding"] += any(attribute(node, "output_padding", []))
            if node.op_type == "MatMul":
                seen["two activations multiplied"] += node.input[1] not in {t.name for t in graph.initializer}
            if node.op_type == "Gather":
                seen["embedding"] += node.input[0] in {t.name for t in graph.initializer}
            if node.op_type in ("Add", "Mul"):
                seen[f"{node.op_type} with itself"] += node.input[0] == node.input[1]
                seen[f"{node.op_type} broadcasts"] += a != b
    expected = (
        "two inputs", "several outputs", "output read inside", "batch 2", "shared activation",
        "shared weight", "depthwise", "grouped", "dilated", "strided", "uneven padding", "no bias",
        "odd channels", "zero filter", "kernel 1x1", "kernel 3x3", "kernel 5x5", "Add with itself",
        "Mul with itself", "Mul broadcasts", "1-D", "3-D", "transposed, groups", "transposed, output padding",
        "two activations multiplied", "embedding",
    )  # fmt: skip
    missing = {name: seen[name] for name in expected if seen[name] < 5}
    assert not missing, missing
