"""Groups of operators that exporters write out: gelu as its formulas say, what torch exports, and the names of all."""

from __future__ import annotations

from collections.abc import Callable
from math import pi, sqrt

import numpy as np
import pytest

import tvmq
from tests.passes.spellings import EPSILON, Value, names_of, operators, written
from tests.support.models.networks import Net
from tvmq.graph.names import get_names, input_names
from tvmq.passes.prepare import prepare

ROOT = sqrt(2 / pi)
FORMS: dict[str, tuple[Callable[[Value], Value], list[str]]] = {
    "layer norm": (lambda x: (d := x - x.mean(-1)) / ((d**2).mean(-1) + EPSILON).sqrt(), ["layer_norm"]),
    "gelu 0": (lambda x: x * ((1 + (x / sqrt(2)).erf()) * 0.5), ["nn.gelu"]),
    "gelu 1": (lambda x: x * (1 + (x * sqrt(0.5)).erf()) * 0.5, ["nn.gelu"]),
    "gelu 2": (lambda x: (1 + (x * sqrt(0.5)).erf()) * (0.5 * x), ["nn.gelu"]),
    "gelu of a product": (
        lambda x: (1 + ((p := x * x.sigmoid()) * sqrt(0.5)).erf()) * (0.5 * p), ["sigmoid", "multiply", "nn.gelu"]
    ),
    "gelu in front of a product": (
        lambda x: (x * (1 + (x * sqrt(0.5)).erf()) * 0.5).op("MatMul", np.ones((5, 3))), ["nn.gelu", "matmul"]
    ),
    "gelu tanh 0": (lambda x: x * 0.5 * (((x + 0.044715 * x**3) * ROOT).tanh() + 1), ["nn.gelu_tanh"]),
    "gelu tanh 1": (lambda x: x * 0.5 * ((ROOT * (x * (x * x) * 0.044715 + x)).tanh() + 1), ["nn.gelu_tanh"]),
    "gelu tanh 2": (lambda x: x * 0.5 * ((x * ROOT * (x * x * 0.044715 + 1)).tanh() + 1), ["nn.gelu_tanh"]),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_forms(form: str) -> None:
    formula, expected = FORMS[form]
    model = written(formula)
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
        (nn.InstanceNorm2d(6, affine=True), ["group_norm"]),
        (nn.Sequential(nn.RMSNorm(5), nn.GELU(approximate="tanh")), ["rms_norm", "nn.gelu_tanh"]),
    ):
        prepared = prepare(*tvmq.from_torch(module.eval(), (x,)))
        assert names_of(prepared) == expected
        (name,) = input_names(prepared["main"]).values()
        found = tvmq.build(prepared).run({name: x.numpy()})[0]
        np.testing.assert_allclose(found, module(x).detach().numpy(), rtol=2e-5, atol=2e-6)


def test_expanded_constants_of_dynamic_size_stay() -> None:
    """A class token expanded to the batch has no value before the batch is known."""
    net = Net((2, 3))
    zeros = net.op("Expand", net.constant(np.ones((1, 3), "f4")), net.op("Shape", "x"))
    model = net.model(net.op("Add", "x", zeros))
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "batch"
    assert "broadcast_to" in names_of(prepare(*tvmq.from_onnx(model)))
