"""Constants along every axis, where all axes have the same size: which axis one runs along cannot be told by its size."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import helper
from onnx.reference import ReferenceEvaluator

import tvmq
from tests.formats.importing.frontend_models import make_model

N = 4
SHAPES = {  # of the tensor: shapes of constants
    (1, N, N, N): [(N,), (N, 1), (1, N), (N, 1, 1), (1, N, 1, 1), (1, 1, N, 1), (1, 1, 1, N), (N, N), (1, 1, 1, 1)],
    (N, N): [(N,), (N, 1), (1, N), (N, N), (1, 1)],
    (1, N, N): [(N,), (N, 1), (1, N, 1), (1, 1, N)],
}
CASES = [(shape, constant) for shape, constants in SHAPES.items() for constant in constants]
FUNCTIONS = ("Add", "Sub", "Mul", "Div", "PRelu", "Min", "Max", "Where")
FAST = {((1, N, N, N), (1, 1, 1, N)), ((N, N), (N, 1)), ((1, N, N), (N, 1))}


def broadcasting_model(shape: tuple[int, ...], constant: tuple[int, ...]) -> onnx.ModelProto:
    """A product of x, and each function of it and of a constant of that shape; the sum behind the product is a bias."""
    random = np.random.default_rng(len(shape) * 100 + len(constant) * 10 + int(np.prod(constant)))
    product = (
        helper.make_node("Conv", ["x", "w"], ["p"], "product", pads=[1, 1, 1, 1])
        if len(shape) == 4
        else helper.make_node("MatMul", ["x", "w"], ["p"], "product")
    )
    weight = random.standard_normal((N, N, 3, 3) if len(shape) == 4 else (N, N)).astype(np.float32) / 4
    constants: dict[str, np.ndarray] = {"w": weight}
    nodes = [product, helper.make_node("Tanh", ["p"], ["t"], "tanh")]
    for name in FUNCTIONS:
        constants[f"c{name}"] = random.uniform(0.1, 1, constant).astype(np.float32)
        x = "p" if name in ("Add", "Mul") else "t"
        inputs = [x, f"c{name}"]
        if name == "Where":
            constants["mask"] = random.uniform(size=constant) > 0.5
            inputs = ["mask", *inputs]
        nodes.append(helper.make_node(name, inputs, [f"y{name}"], name))
    return make_model(nodes, {"x": ("float32", shape)}, [f"y{name}" for name in FUNCTIONS], constants, 17)


@pytest.mark.slow
@pytest.mark.parametrize(
    "shape, constant",
    [pytest.param(*case, marks=() if case in FAST else (pytest.mark.slow,)) for case in CASES],
)
def test_constants_act_along_their_own_axis(shape: tuple[int, ...], constant: tuple[int, ...]) -> None:
    model = broadcasting_model(shape, constant)
    random = np.random.default_rng(0)
    samples = [{"x": random.standard_normal(shape).astype(np.float32)} for _ in range(24)]
    mod, params = tvmq.from_onnx(model)
    integer = tvmq.quantize(mod, params, samples, guard=None)
    executable = tvmq.build(integer)
    assert tvmq.verify(executable, samples[:3]).exact
    wanted = ReferenceEvaluator(model).run(None, samples[0])
    for name, ours, true in zip(FUNCTIONS, executable.run(samples[0]), wanted, strict=True):
        noise = np.square(ours - true).sum() / np.square(true).sum()
        assert noise < 10**-2.5, f"{name}: {-10 * np.log10(noise):.1f} dB"
