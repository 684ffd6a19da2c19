"""A chip described, quantized for, emulated, given kernels, and tested: the way of a text about backends of one's own.

    python examples/founding/chip_backends.py

The chip computes in int8 without zero points, and its sigmoid in float16. A product of two activations with the sigmoid
behind it is one instruction of its library.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper
from tvm import relax, te, tirx

import tvmq
from tvmq.errors import ConfigError

RANDOM = np.random.default_rng(0)
DESCRIPTION = {
    "name": "nnpi",
    "activations": ["int8"],
    "weights": ["int8"],
    "zero_points": False,
    "requantize": ["float"],
    "operators": [{"pattern": "table", "computes": "float16"}],
}


def draw_samples(count: int) -> list[dict[str, np.ndarray]]:
    """Inputs of the network."""
    shapes = {"a": (2, 8, 16), "b": (2, 16, 12)}
    return [{name: RANDOM.normal(size=shape).astype("float32") for name, shape in shapes.items()} for _ in range(count)]


def make_model() -> onnx.ModelProto:
    """sigmoid(a x b) x weight."""
    nodes = [
        helper.make_node("MatMul", ["a", "b"], ["product"], name="/bmm"),
        helper.make_node("Sigmoid", ["product"], ["gate"], name="/sigmoid"),
        helper.make_node("MatMul", ["gate", "weight"], ["y"], name="/dense"),
    ]
    weight = numpy_helper.from_array(RANDOM.normal(size=(12, 6)).astype("float32"), "weight")
    values = {"a": [2, 8, 16], "b": [2, 16, 12], "y": [2, 8, 6]}
    inputs = {name: helper.make_tensor_value_info(name, 1, shape) for name, shape in values.items()}
    graph = helper.make_graph(nodes, "gates", [inputs["a"], inputs["b"]], [inputs["y"]], [weight])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def describe() -> tvmq.Backend:
    """The description, as data; a mistake in it is one sentence."""
    backend = tvmq.Backend.from_json(json.dumps(DESCRIPTION), "nnpi.json")
    try:
        tvmq.Backend.from_json(json.dumps(DESCRIPTION | {"activations": ["uint9"]}), "nnpi.json")
    except ConfigError as error:
        print(f"  {error}")
    else:
        raise AssertionError("codes of nine bits without sign were taken")
    return backend


def quantize(model: Any, backend: tvmq.Backend, samples: list[dict[str, np.ndarray]]) -> Any:
    """Integers for the chip, compared with its description operator by operator."""
    qmod = tvmq.quantize(*model, samples, target=backend, guard=None)
    print(tvmq.explain(qmod).summary().splitlines()[0])
    conformity = tvmq.check_backend(qmod, backend)
    print(f"  {conformity}")
    assert conformity.conforms
    return qmod


def emulate(qmod: Any, backend: tvmq.Backend, samples: list[dict[str, np.ndarray]]) -> None:
    """The chip in NumPy, its float16 sigmoid included, compared layer by layer; and one with narrow accumulators."""
    exe = tvmq.build(qmod)
    verification = tvmq.verify(exe, samples[:2], backend=backend)
    print(verification)
    narrow = tvmq.Backend("narrow", accumulator_bits=12, overflow="wrap", activations=("int8",), zero_points=False)
    chip = tvmq.emulate(qmod, narrow)
    chip.run(samples[0])
    print(str(chip).splitlines()[-1])
    assert "/bmm" in str(chip).splitlines()[-1]


# ---- one instruction of the chip's library


def bmm_sigmoid(match: Any) -> te.Tensor:
    """The product of two tensors of codes, rounded, and looked up in a table of the sigmoid."""
    product, rule = match.attrs("tvmq.matmul"), match.attrs("tvmq.requantize")
    a, b, multiplier, _shift, values = match.placeholders()
    depth = te.reduce_axis((0, int(a.shape[2])))

    def term(n: tirx.Var, row: tirx.Var, column: tirx.Var) -> Any:
        left = tirx.Cast("int32", a[n, row, depth]) - product.a_zero
        return te.sum(left * (tirx.Cast("int32", b[n, depth, column]) - product.b_zero), axis=depth)

    sums = te.compute(match.result.ty.shape, term, name="sums")

    def look_up(*at: tirx.Var) -> Any:
        steps = tirx.nearbyint(tirx.Cast("float32", sums(*at)) * multiplier())
        low, high = (tirx.const(float(limit - rule.zero_point), "float32") for limit in (rule.qmin, rule.qmax))
        code = tirx.Cast("int32", tirx.min(tirx.max(steps, low), high)) + rule.zero_point
        return values[code + (128 if rule.dtype == "int8" else 0)]

    return te.compute(match.result.ty.shape, look_up, name="bmm_sigmoid")


def lower(model: Any, samples: list[dict[str, np.ndarray]]) -> None:
    """The instruction takes three operators of the module, which stays the reference."""
    qmod = tvmq.quantize(*model, samples, guard=None)
    instruction = tvmq.Lowering("tvmq.matmul -> tvmq.requantize -> tvmq.table", bmm_sigmoid, name="bmm_sigmoid")
    exe = tvmq.build(qmod, lowerings=[instruction])
    verification = tvmq.verify(exe, samples[:4])
    print(str(verification).strip())
    assert verification.exact and verification.lowerings[0].values > 0


def write_vectors(backend: tvmq.Backend) -> None:
    """Test vectors for the device, from the description."""
    with tempfile.TemporaryDirectory() as folder:
        tvmq.conformance(backend, Path(folder) / "vectors")
        cases = len(list(Path(folder).rglob("*.npz")))
        print(f"conformance: {cases} cases")
        assert cases > 50


# ---- an operator that no front end knows


@tvmq.extension.importer("my.chip", "Cubes")
def import_cubes(call: Any) -> relax.Expr:
    """x * x * x of the domain my.chip."""
    x = call.input(0)
    return relax.op.multiply(x, relax.op.multiply(x, x))


def import_own_operator() -> None:
    """A model with an operator of one's own domain, quantized as any other."""
    nodes = [
        helper.make_node("Cubes", ["x"], ["cubes"], domain="my.chip", name="/cubes"),
        helper.make_node("MatMul", ["cubes", "weight"], ["y"], name="/dense"),
    ]
    weight = numpy_helper.from_array(RANDOM.normal(size=(4, 3)).astype("float32"), "weight")
    values = [helper.make_tensor_value_info(name, 1, shape) for name, shape in (("x", [2, 4]), ("y", [2, 3]))]
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("my.chip", 1)]
    graph = helper.make_graph(nodes, "cubes", values[:1], values[1:], [weight])
    samples = [{"x": RANDOM.normal(size=(2, 4)).astype("float32")} for _ in range(8)]
    model = tvmq.from_onnx(helper.make_model(graph, opset_imports=opsets, ir_version=8))
    verification = tvmq.verify(tvmq.build(tvmq.quantize(*model, samples, guard=None)), samples[:2])
    print("my.chip.Cubes:", str(verification).strip())
    assert verification.exact


def main() -> None:
    """The steps of the text, in its order."""
    samples = draw_samples(16)
    model = tvmq.from_onnx(make_model())
    backend = describe()
    qmod = quantize(model, backend, samples)
    emulate(qmod, backend, samples)
    lower(model, samples)
    import_own_operator()
    write_vectors(backend)


if __name__ == "__main__":
    main()
