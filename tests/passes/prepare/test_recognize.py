"""Spellings that exporters have beside those of the combinations: of norms as torch and others write them, and of gelu."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

import tvmq
from tests.passes.spellings import EPSILON, SHAPE, f32, operators
from tests.support.models.networks import Net
from tvmq.graph.names import get_names, input_names
from tvmq.graph.view import View, op_name
from tvmq.passes.prepare import prepare


def layer_norm(net: Net, axes: tuple[int, ...] = (-1,), *, twice: bool = False) -> str:
    """The quotient; twice: the square is a product of two differences."""
    d, *other = (net.op("Sub", "x", net.op("ReduceMean", "x", axes=list(axes))) for _ in range(1 + twice))
    square = net.op("Mul", d, *other) if twice else net.op("Pow", d, f32(net, 2))
    return net.op(
        "Div", d, net.op("Sqrt", net.op("Add", f32(net, EPSILON), net.op("ReduceMean", square, axes=list(axes))))
    )


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


def gelu(net: Net, order: int, x: str = "x") -> str:
    half, one, root = f32(net, 0.5), f32(net, 1), f32(net, math.sqrt(2))
    inner = net.op("Mul", x, f32(net, math.sqrt(0.5))) if order else net.op("Div", x, root)
    more = net.op("Add", one, net.op("Erf", inner))
    if order == 0:
        return net.op("Mul", x, net.op("Mul", more, half))
    return net.op("Mul", net.op("Mul", x, more), half) if order == 1 else net.op("Mul", more, net.op("Mul", half, x))


def gelu_tanh(net: Net, form: int) -> str:
    cube, root, one, half = (f32(net, value) for value in (0.044715, math.sqrt(2 / math.pi), 1, 0.5))
    if form == 0:
        inner = net.op("Mul", net.op("Add", "x", net.op("Mul", cube, net.op("Pow", "x", f32(net, 3)))), root)
    elif form == 1:
        power = net.op("Mul", "x", net.op("Mul", "x", "x"))
        inner = net.op("Mul", root, net.op("Add", net.op("Mul", power, cube), "x"))
    else:
        square = net.op("Mul", net.op("Mul", "x", "x"), cube)
        inner = net.op("Mul", net.op("Mul", "x", root), net.op("Add", square, one))
    return net.op("Mul", net.op("Mul", "x", half), net.op("Add", net.op("Tanh", inner), one))


FORMS: dict[str, tuple[Callable[[Net], str], list[str]]] = {
    "two differences": (lambda net: affine(net, layer_norm(net, twice=True), 5), ["layer_norm"]),
    "without beta": (lambda net: affine(net, layer_norm(net), 5, beta=False), ["layer_norm"]),
    "without factors": (layer_norm, ["layer_norm"]),
    "scalar factor": (lambda net: affine(net, layer_norm(net)), ["layer_norm"]),
    "two axes": (lambda net: affine(net, layer_norm(net, (2, 3)), 4, 5), ["layer_norm"]),
    "one group": (lambda net: affine(net, layer_norm(net, (1, 2, 3)), 1, 6, 1, 1), ["group_norm"]),
    "group norm": (group_norm, ["group_norm"]),
    **{f"gelu {order}": (lambda net, order=order: gelu(net, order), ["nn.gelu"]) for order in range(3)},
    "gelu of a product, which is not looked into": (
        lambda net: gelu(net, 2, net.op("Mul", "x", net.op("Sigmoid", "x"))),
        ["sigmoid", "multiply", "nn.gelu"],
    ),
    "gelu in front of a product": (
        lambda net: net.op("MatMul", gelu(net, 1), net.constant(np.ones((5, 3), "f4"))),
        ["nn.gelu", "matmul"],
    ),
    **{f"gelu tanh {form}": (lambda net, form=form: gelu_tanh(net, form), ["nn.gelu_tanh"]) for form in range(3)},
}


@pytest.mark.parametrize("form", FORMS)
def test_forms(form: str) -> None:
    write, expected = FORMS[form]
    net = Net(SHAPE)
    model = net.model(write(net))
    assert operators(model) == expected
    names = {name for names in get_names(prepare(*tvmq.from_onnx(model))["main"]).values() for name in names}
    assert names >= {node.name for node in model.graph.node if node.op_type in ("Sub", "Div", "Sqrt", "Erf", "Tanh")}


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
        assert [op_name(value).removeprefix("tvmq.") for _, value in View(prepared).bindings] == expected
        (name,) = input_names(prepared["main"]).values()
        found = tvmq.build(prepared).run({name: x.numpy()})[0]
        np.testing.assert_allclose(found, module(x).detach().numpy(), rtol=2e-5, atol=2e-6)


def test_expanded_constants_of_free_size_stay() -> None:
    """A class token expanded to the batch has no value before the batch is known."""
    net = Net((2, 3))
    zeros = net.op("Expand", net.constant(np.ones((1, 3), "f4")), net.op("Shape", "x"))
    model = net.model(net.op("Add", "x", zeros))
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "batch"
    assert "broadcast_to" in [op_name(value) for _, value in View(prepare(*tvmq.from_onnx(model))).bindings]
