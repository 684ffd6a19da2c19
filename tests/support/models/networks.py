"""Tiny networks that several test files share: ONNX models written node by node, modules written as text, and the
whole road.

net = Net((1, 3, 8, 8))
y = net.op("Relu", net.conv(net.inputs[0], 3, 4))
road = drive(net.model(y))              # quantized, built, verified, compared with onnxruntime
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
import onnxruntime
import tvm
from onnx import TensorProto, helper, numpy_helper
from tvm import relax

import tvmq
from tvmq.graph.ledger import Ledger, get_ledger, with_ledger
from tvmq.graph.names import get_names
from tvmq.graph.view import View, op_name
from tvmq.tools.analysis.verification import Verification

Feed = dict[str, np.ndarray]


class Net:
    """An ONNX model under construction; nodes are named "/<operator>_<number>"."""

    def __init__(self, *shapes: tuple[int, ...], seed: int = 0, opset: int = 17) -> None:
        self.random = np.random.default_rng(seed)
        self.shapes = shapes
        self.inputs = [f"x{index}" if index else "x" for index in range(len(shapes))]
        self.opset = opset
        self._nodes: list[onnx.NodeProto] = []
        self._constants: list[onnx.TensorProto] = []

    def constant(self, array: Any) -> str:
        """An initializer."""
        name = f"constant_{len(self._constants)}"
        self._constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def ops(self, operator: str, *inputs: str, outputs: int, **attributes: Any) -> list[str]:
        """Append a node of several results."""
        name = f"{operator.lower()}_{len(self._nodes)}"
        names = [f"{name}_out{index}" for index in range(outputs)]
        self._nodes.append(helper.make_node(operator, inputs, names, name=f"/{name}", **attributes))
        return names

    def op(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """Append a node of one result."""
        return self.ops(operator, *inputs, outputs=1, **attributes)[0]

    def weight(self, *shape: int) -> np.ndarray:
        """Weights of the size that trained networks have."""
        return (self.random.standard_normal(shape) * math.sqrt(2 / math.prod(shape[1:]))).astype(np.float32)

    def conv(
        self,
        x: str,
        channels: int,
        filters: int,
        kernel: int = 3,
        *,
        bias: bool = True,
        groups: int = 1,
        **attributes: Any,
    ) -> str:
        """A convolution that keeps the size of the picture by default."""
        inputs = [x, self.constant(attributes.pop("weight", self.weight(filters, channels // groups, kernel, kernel)))]
        if bias:
            inputs.append(self.constant((0.3 * self.random.standard_normal(filters)).astype(np.float32)))
        attributes.setdefault("pads", [kernel // 2] * 4)
        return self.op("Conv", *inputs, group=groups, kernel_shape=[kernel] * 2, **attributes)

    def dense(self, x: str, inputs: int, outputs: int, *, bias: bool = True) -> str:
        """Gemm with a constant right side."""
        constants = [self.constant(self.weight(outputs, inputs))]
        if bias:
            constants.append(self.constant((0.3 * self.random.standard_normal(outputs)).astype(np.float32)))
        return self.op("Gemm", x, *constants, transB=1)

    def batch_norm(self, x: str, channels: int) -> str:
        """Batch normalization with trained-looking statistics."""
        arrays = [
            self.random.uniform(0.5, 1.5, channels),
            0.2 * self.random.standard_normal(channels),
            0.3 * self.random.standard_normal(channels),
            self.random.uniform(0.3, 2.0, channels),
        ]
        return self.op("BatchNormalization", x, *(self.constant(a.astype(np.float32)) for a in arrays))

    def model(self, *outputs: str, domain: str = "") -> onnx.ModelProto:
        """The model with these results; domain: another one than ONNX's that it imports operators of."""
        inputs = [
            helper.make_tensor_value_info(n, TensorProto.FLOAT, s)
            for n, s in zip(self.inputs, self.shapes, strict=True)
        ]
        results = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs]
        graph = helper.make_graph(self._nodes, "net", inputs, results, self._constants)
        opsets = [helper.make_opsetid("", self.opset), *([helper.make_opsetid(domain, 1)] if domain else [])]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
        return onnx.shape_inference.infer_shapes(model)


def feeds_of(model: onnx.ModelProto, count: int = 6, seed: int = 1) -> list[Feed]:
    """Normal numbers for every input."""
    random = np.random.default_rng(seed)
    shapes = {i.name: [d.dim_value for d in i.type.tensor_type.shape.dim] for i in model.graph.input}
    return [
        {name: random.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()} for _ in range(count)
    ]


def snr(true: np.ndarray, found: np.ndarray) -> float:
    """Signal to noise in dB; infinite for equal arrays."""
    noise = float(((true.astype(np.float64) - found) ** 2).sum())
    return math.inf if noise == 0 else 10 * math.log10(max(float((true.astype(np.float64) ** 2).sum()), 1e-30) / noise)


@dataclass
class Road:
    """Modules, executable and results of `drive`.

    quantized     the integer module
    verification  compiled against the definition
    snr           dB of every output against onnxruntime's float32
    """

    quantized: tvm.IRModule
    executable: tvmq.Executable
    verification: Verification
    snr: list[float]

    @property
    def ledger(self) -> Ledger:
        """Ledger of the integer module."""
        return get_ledger(self.quantized)

    def precision(self) -> dict[str, str]:
        """{source name: "int8" or "float"}, the last entry that names a layer."""
        return {name: entry["precision"] for entry in self.ledger.layers.values() for name in entry["layers"]}

    def operators(self) -> list[str]:
        """Operators of the integer module, in order."""
        return [op_name(value) or "tuple" for _, value in View(self.quantized).bindings]


def drive(
    model: onnx.ModelProto, *, least_snr: float = 15.0, feeds: Sequence[Feed] | None = None, **options: Any
) -> Road:
    """Import, quantize, build and verify; asserts that nothing differs from the definition and the error is sane."""
    feeds = feeds_of(model) if feeds is None else feeds
    mod, params = tvmq.from_onnx(model)
    with tvmq.qconfig(**{"calibrate_mode": "minmax", **options}):
        quantized = tvmq.quantize(mod, params, feeds, guard=None)  # what the passes make, as it is
    executable = tvmq.build(quantized)
    verification = tvmq.verify(executable, feeds[:3])
    assert verification.exact, str(verification)
    float_results, results = run_onnx(model, feeds[0]), executable.run(feeds[0])
    for name, a, b in zip((o.name for o in model.graph.output), float_results, results, strict=True):
        assert (a.shape, a.dtype) == (b.shape, b.dtype), name
    found = [snr(a, b) for a, b in zip(float_results, results, strict=True)]
    assert min(found) > least_snr, found
    return Road(quantized, executable, verification, found)


def run_onnx(model: onnx.ModelProto, feed: Feed) -> list[np.ndarray]:
    """Results of onnxruntime in float32, without its graph optimizations."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
    return [np.asarray(result) for result in session.run(None, feed)]


# ---- modules written as text


def block(signature: str, body: str, result: str | None = None, **constants: Any) -> tvm.IRModule:
    """A module of one function of one dataflow block, whose last variable is the result.

    signature  its parameters, for example 'x: R.Tensor((1, 2), "float32")'
    body       bindings, one a line
    result     shape and type where they are not those of the first parameter; several variables: see `parse`
    constants  parameters that are replaced by arrays
    """
    returned = f"R.Tensor({result})" if result else signature[signature.index("R.Tensor(") : signature.index('")') + 2]
    return parse(text_of(signature, body, result=f" -> {returned}"), **constants)


def text_of(signature: str, body: str, *, inputs: int = 0, result: str = "") -> str:
    """TVMScript of such a module; `return (a, b)` may be its last line, and the first `inputs` parameters its inputs."""
    *lines, last = [line.strip() for line in body.splitlines() if line.strip()]
    if not last.startswith("return "):
        lines, last = [*lines, last], f"return {re.split('[ :=]', last)[0]}"
    assigned = [re.split("[ :=]", line)[0] for line in lines]
    names = [name for name in assigned if re.search(rf"\b{name}\b", last[7:])]
    attributes = [f'R.func_attr({{"num_input": {inputs}}})'] if inputs else []
    block = ["with R.dataflow():", *(f"    {line}" for line in lines), f"    R.output({', '.join(dict.fromkeys(names))})"]
    head = ["@I.ir_module", "class Module:", "    @R.function", f"    def main({signature}){result}:"]
    return "\n".join([*head, *(f"        {line}" for line in (*attributes, *block, last))])


def parse(text: str, **constants: Any) -> tvm.IRModule:
    """A module written as TVMScript; parameters that are named in `constants` become arrays."""
    mod = tvm.script.from_source(text)
    if constants:
        arrays = {name: tvm.runtime.tensor(np.asarray(array)) for name, array in constants.items()}
        mod = relax.transform.BindParams("main", arrays)(mod)
    return mod


def at_stage(mod: tvm.IRModule, stage: str) -> tvm.IRModule:
    """The module with an empty ledger of a stage."""
    return with_ledger(mod, Ledger(stage=stage))


def bare(mod: tvm.IRModule) -> tvm.IRModule:
    """The module without attributes of the function: what structure alone is."""
    func = mod["main"]
    plain = relax.Function(func.params, func.body, func.ret_ty, func.is_pure)
    return tvm.IRModule({"main": plain.with_attr("global_symbol", "main")})


def assert_same(found: tvm.IRModule, expected: tvm.IRModule) -> None:
    """Equal structure, whatever attributes the functions carry."""
    tvm.ir.assert_structural_equal(bare(found), bare(expected))


def assert_healthy(mod: tvm.IRModule) -> None:
    """Well formed, prints and parses back, unique names, source names for every variable that has layers."""
    relax.analysis.well_formed(mod)  # raises
    tvm.ir.assert_structural_equal(tvm.script.from_source(mod.script(show_meta=True)), mod)
    view = View(mod)
    unknown = [name for name in view.value if name not in get_names(view.func)]
    assert not unknown, f"without source names: {unknown}"
