"""Groups of operators that exporters write out: recognized in many forms, equal in value, left where read from inside."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

import tvmq
from tests.support.models.networks import Net, feeds_of, run_onnx
from tvmq.graph.names import get_names, input_names
from tvmq.graph.view import View, op_name
from tvmq.passes.prepare import prepare

Writer = Callable[[Net], str]


def f32(*values: float) -> np.ndarray:
    """One number as an array without axes, several as a vector."""
    return np.float32(values[0] if len(values) == 1 else values)


def layer_norm(net: Net, axes: tuple[int, ...] = (-1,), square: str = "Pow", divide: str = "Div") -> str:
    """The quotient, in one of the forms of exporters."""
    d = net.op("Sub", "x", net.op("ReduceMean", "x", axes=list(axes)))
    return quotient(net, d, axes, square, divide)


def quotient(net: Net, d: str, axes: tuple[int, ...], square: str = "Pow", divide: str = "Div") -> str:
    squares = {
        "Pow": lambda: net.op("Pow", d, net.constant(f32(2))),
        "Mul": lambda: net.op("Mul", d, d),
        "two": lambda: net.op("Mul", d, net.op("Sub", "x", net.op("ReduceMean", "x", axes=list(axes)))),
    }
    mean = net.op("ReduceMean", squares[square](), axes=list(axes))
    root = net.op("Sqrt", net.op("Add", net.constant(f32(1e-3)), mean))
    if divide == "Div":
        return net.op("Div", d, root)
    if divide == "Reciprocal":
        return net.op("Mul", net.op("Div", net.constant(f32(1)), root), d)
    return net.op("Mul", d, net.op("Reciprocal", root))


def affine(net: Net, x: str, *shape: int, beta: bool = True) -> str:
    """Factor before the sum, both on the left."""
    gamma = net.random.standard_normal(shape).astype(np.float32)
    y = net.op("Mul", net.constant(gamma), x)
    return net.op("Add", net.constant(gamma + 1), y) if beta else y


def group_norm(net: Net) -> str:
    """As torch exports it to ONNX."""
    rows = net.op("Reshape", "x", net.constant(np.int64([0, 3, -1])))
    y = net.op("InstanceNormalization", rows, net.constant(np.ones(3, "f4")), net.constant(np.zeros(3, "f4")))
    return affine(net, net.op("Reshape", y, net.op("Shape", "x")), 6, 1, 1)


def gelu(net: Net, order: int) -> str:
    half, one, root = (net.constant(f32(value)) for value in (0.5, 1.0, math.sqrt(2)))
    if order == 3:
        x = net.op("Mul", "x", net.op("Sigmoid", "x"))  # a product that must not be looked into
    else:
        x = "x"
    inner = net.op("Mul", x, net.constant(f32(math.sqrt(0.5)))) if order else net.op("Div", x, root)
    more = net.op("Add", one, net.op("Erf", inner))
    if order == 0:
        return net.op("Mul", x, net.op("Mul", more, half))
    if order == 1:
        return net.op("Mul", net.op("Mul", x, more), half)
    return net.op("Mul", more, net.op("Mul", half, x))


def gelu_tanh(net: Net, form: int) -> str:
    cube, root, one, half = (net.constant(f32(v)) for v in (0.044715, math.sqrt(2 / math.pi), 1, 0.5))
    if form == 0:
        power = net.op("Pow", "x", net.constant(f32(3)))
        inner = net.op("Mul", net.op("Add", "x", net.op("Mul", cube, power)), root)
    elif form == 1:
        power = net.op("Mul", "x", net.op("Mul", "x", "x"))
        inner = net.op("Mul", root, net.op("Add", net.op("Mul", power, cube), "x"))
    else:
        square = net.op("Mul", net.op("Mul", "x", "x"), cube)
        inner = net.op("Mul", net.op("Mul", "x", root), net.op("Add", square, one))
    return net.op("Mul", net.op("Mul", "x", half), net.op("Add", net.op("Tanh", inner), one))


FORMS: dict[str, tuple[Writer, list[str]]] = {
    "layer norm": (lambda net: affine(net, layer_norm(net), 5), ["layer_norm"]),
    "product": (lambda net: affine(net, layer_norm(net, square="Mul"), 5), ["layer_norm"]),
    "two differences": (lambda net: affine(net, layer_norm(net, square="two"), 5), ["layer_norm"]),
    "reciprocal": (lambda net: affine(net, layer_norm(net, divide="Reciprocal"), 1, 5), ["layer_norm"]),
    "without beta": (lambda net: affine(net, layer_norm(net), 5, beta=False), ["layer_norm"]),
    "without factors": (lambda net: layer_norm(net), ["layer_norm"]),
    "scalar factor": (lambda net: affine(net, layer_norm(net)), ["layer_norm"]),
    "two axes": (lambda net: affine(net, layer_norm(net, (2, 3)), 4, 5), ["layer_norm"]),
    "channels": (
        lambda net: affine(net, layer_norm(net, (1,)), 6, 1, 1),
        ["permute_dims", "layer_norm", "permute_dims"],
    ),
    "instance": (lambda net: affine(net, layer_norm(net, (2, 3)), 6, 1, 1), ["group_norm"]),
    "one group": (lambda net: affine(net, layer_norm(net, (1, 2, 3)), 1, 6, 1, 1), ["group_norm"]),
    "group norm": (group_norm, ["group_norm"]),
    "rms norm": (lambda net: affine(net, quotient(net, "x", (-1,)), 5, beta=False), ["rms_norm"]),
    "rms norm by reciprocal": (lambda net: quotient(net, "x", (-1,), "Mul", "Reciprocal"), ["rms_norm"]),
    **{f"gelu {order}": (lambda net, order=order: gelu(net, order), ["nn.gelu"]) for order in range(3)},
    "gelu of a product": (lambda net: gelu(net, 3), ["sigmoid", "multiply", "nn.gelu"]),
    **{f"gelu tanh {form}": (lambda net, form=form: gelu_tanh(net, form), ["nn.gelu_tanh"]) for form in range(3)},
}


def operators(module) -> list[str]:
    """Names of the operators in order."""
    return [op_name(value).removeprefix("tvmq.") for _, value in View(module).bindings]


@pytest.mark.slow_cases(
    "layer norm", "two axes", "channels", "rms norm", "gelu of a product", "product", "group norm",
    "rms norm by reciprocal", "gelu tanh 0", "two differences",
)  # fmt: skip
@pytest.mark.parametrize("form", FORMS)
def test_forms(form: str) -> None:
    write, expected = FORMS[form]
    net = Net((2, 6, 4, 5))
    model = net.model(write(net))
    prepared = prepare(*tvmq.from_onnx(model))
    assert operators(prepared) == expected
    feed = feeds_of(model)[0]
    np.testing.assert_allclose(tvmq.build(prepared).run(feed)[0], run_onnx(model, feed)[0], rtol=2e-5, atol=2e-6)
    names = {name for names in get_names(prepared["main"]).values() for name in names}
    assert names >= {node.name for node in model.graph.node if node.op_type in ("Sub", "Div", "Sqrt", "Erf", "Tanh")}


def test_a_product_leaves_gelu_its_half() -> None:
    net = Net((2, 6, 4, 5))
    model = net.model(net.op("MatMul", gelu(net, 1), net.constant(np.ones((5, 3), np.float32))))
    assert operators(prepare(*tvmq.from_onnx(model))) == ["nn.gelu", "matmul"]


@pytest.mark.slow
def test_what_torch_exports() -> None:
    """Norms written by hand, as language models and channel-first networks have them, and torch's own."""
    torch = pytest.importorskip("torch")

    class Rms(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.rand(5))

        def forward(self, x):
            return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6))

    class ChannelsFirst(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight, self.bias = (torch.nn.Parameter(torch.rand(6)) for _ in range(2))

        def forward(self, x):
            d = x - x.mean(1, keepdim=True)
            x = d / torch.sqrt(d.pow(2).mean(1, keepdim=True) + 1e-6)
            return self.weight[:, None, None] * x + self.bias[:, None, None]

    nn, x = torch.nn, torch.randn((2, 6, 4, 5), generator=torch.Generator().manual_seed(0))
    for module, expected in (
        (Rms(), ["rms_norm"]),
        (ChannelsFirst(), ["permute_dims", "layer_norm", "permute_dims"]),
        (nn.Sequential(nn.LayerNorm([4, 5]), nn.GroupNorm(2, 6)), ["layer_norm", "group_norm"]),
        (nn.InstanceNorm2d(6, affine=True), ["reshape", "group_norm", "reshape"]),
        (nn.Sequential(nn.RMSNorm(5), nn.GELU(approximate="tanh")), ["rms_norm", "nn.gelu_tanh"]),
    ):
        prepared = prepare(*tvmq.from_torch(module.eval(), (x,)))
        assert operators(prepared) == expected
        (name,) = input_names(prepared["main"]).values()
        found = tvmq.build(prepared).run({name: x.numpy()})[0]
        np.testing.assert_allclose(found, module(x).detach().numpy(), rtol=2e-5, atol=2e-6)


def test_expanded_constants_of_dynamic_size_stay() -> None:
    """A class token expanded to the batch has no value before the batch is known."""
    net = Net((2, 3))
    zeros = net.op("Expand", net.constant(np.ones((1, 3), "f4")), net.op("Shape", "x"))
    model = net.model(net.op("Add", "x", zeros))
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "batch"
    assert "broadcast_to" in operators(prepare(*tvmq.from_onnx(model)))
