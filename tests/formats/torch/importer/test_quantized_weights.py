"""Weights as torchao keeps them: products of codes, and of floats with codes. Stand-ins have its names and attributes.

The same with torchao itself, and PT2E, in test_quantized_tools.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason='torch is an extra: pip install "tvmq[torch]"')

from torch import nn  # noqa: E402
from torch_networks import tensor  # noqa: E402

import tvmq  # noqa: E402
from tvmq.errors import UnsupportedOpError  # noqa: E402
from tvmq.graph.view import View, dtype_of, op_name  # noqa: E402

ROWS, INNER, SIZE = 6, 16, 8
X = tensor(3, 5, INNER)


class Int8Tensor(torch.Tensor):
    """Named as torchao's."""


class IntxUnpackedToInt8Tensor(torch.Tensor):
    """Named as torchao's."""


class Float8Tensor(torch.Tensor):
    """Named as torchao's."""


for _kind in (Int8Tensor, IntxUnpackedToInt8Tensor, Float8Tensor):
    _kind.__module__ = "torchao.quantization"


def weight(kind: Any, groups: int, limits: tuple[int, int], **told: Any) -> Any:
    """Random codes with a scale for each group of a row."""
    random = np.random.default_rng(3)
    result = torch.zeros(ROWS, INNER).as_subclass(kind)
    result.qdata = torch.from_numpy(random.integers(limits[0], limits[1] + 1, (ROWS, INNER)).astype(np.int8))
    result.scale = torch.from_numpy(random.uniform(0.01, 0.02, (ROWS, groups)).astype(np.float32))
    result.zero_point = torch.zeros(ROWS, groups, dtype=torch.int8)
    result.block_size = [1, INNER // groups]
    for name in ("act_quant_kwargs", "act_quant_scale", "act_quant_zero_point", "act_pre_scale"):
        setattr(result, name, told.get(name))
    result.activation_quantization = told.get("activation_quantization")
    result.zero_point = told.get("zero_point", result.zero_point)
    return result


def linear(quantized: Any) -> nn.Module:
    """A product in a module of its own."""
    layer = nn.Linear(INNER, ROWS)
    layer._parameters["weight"] = quantized
    return nn.Sequential(layer).eval()


def floats(quantized: Any) -> Any:
    """Real numbers of the codes, in float64."""
    size = quantized.block_size[1]
    scale, zero = (v.double().repeat_interleave(size, 1) for v in (quantized.scale, quantized.zero_point))
    return (quantized.qdata.double() - zero) * scale


def ran(model: nn.Module) -> tuple[np.ndarray, Any]:
    """Our compiled result, which equals the definition, and the module."""
    module = tvmq.quantize(*tvmq.from_torch(model, (X,)))
    feed = {module["main"].params[0].name: X.numpy()}
    (ours,), (defined,) = tvmq.build(module).run(feed), tvmq.reference.run(module, feed)
    np.testing.assert_array_equal(ours, defined)
    return ours, module


def operators(module: Any) -> list[str]:
    return [op_name(value) or "" for _, value in View(module).bindings]


@pytest.mark.slow_cases("1-limits0", "2-limits1")
@pytest.mark.parametrize(("groups", "limits"), [(1, (-128, 127)), (2, (-128, 127)), (2, (-8, 7))])
def test_floats_times_codes(groups: int, limits: tuple[int, int]) -> None:
    quantized = weight(Int8Tensor, groups, limits)
    model = linear(quantized)
    ours, module = ran(model)
    expected = X.double() @ floats(quantized).t() + model[0].bias.double()
    np.testing.assert_allclose(ours, expected.detach().numpy(), rtol=1e-5, atol=1e-5)
    names = operators(module)
    assert "tvmq.group_dequantize" in names and ("tvmq.unpack" in names) == (limits == (-8, 7))
    assert model[0]._parameters["weight"] is quantized, "the model was changed"


def rows(x: Any, symmetric: bool) -> tuple[Any, Any, Any]:
    """torchao's codes of rows, scales and zero points, in its own words of float32."""
    low = torch.minimum(x.amin(-1, keepdim=True), torch.zeros(()))
    high = torch.maximum(x.amax(-1, keepdim=True), torch.zeros(()))
    scale = torch.maximum(-low, high) / 127.5 if symmetric else (high - low) / 255.0
    zero = torch.zeros_like(scale) if symmetric else torch.clamp(-128 - torch.round(low / scale), -128, 127)
    return torch.clamp(torch.round(x * (1.0 / scale)) + zero, -128, 127), scale, zero


def told(symmetric: bool, **more: Any) -> Any:
    name = "SYMMETRIC" if symmetric else "ASYMMETRIC"
    per_row = type("PerRow", (), {})()
    return SimpleNamespace(granularity=per_row, mapping_type=SimpleNamespace(name=name), reduce_range=False, **more)


@pytest.mark.slow_cases("True")
@pytest.mark.parametrize("symmetric", [True, False])
def test_rows_of_codes_times_codes_have_torchaos_bits(symmetric: bool) -> None:
    quantized = weight(Int8Tensor, 1, (-128, 127), act_quant_kwargs=told(symmetric))
    model = linear(quantized)
    ours, module = ran(model)
    codes, scale, zero = rows(X, symmetric)
    y = (codes.double() @ quantized.qdata.double().t()).float() * scale
    if not symmetric:
        y = y - (zero * scale) * quantized.qdata.sum(1).float()
    expected = y * quantized.scale.flatten() + model[0].bias
    np.testing.assert_array_equal(ours, expected.detach().numpy())
    products = [value for _, value in View(module).bindings if op_name(value) == "matmul"]
    assert [dtype_of(value.args[0]) for value in products] == ["int8"]


@pytest.mark.parametrize("limits", [(-8, 7), (-128, 127)])
@pytest.mark.slow_cases("limits0")
def test_rows_of_codes_times_groups(limits: tuple[int, int]) -> None:
    quantized = weight(IntxUnpackedToInt8Tensor, 2, limits, activation_quantization="int8_asym_per_token")
    model = linear(quantized)
    ours, module = ran(model)
    codes, scale, zero = rows(X, symmetric=False)
    expected = ((codes - zero) * scale).double() @ floats(quantized).t() + model[0].bias.double()
    np.testing.assert_allclose(ours, expected.detach().numpy(), rtol=1e-5, atol=1e-5)
    assert ("tvmq.group_matmul" in operators(module)) == (limits == (-8, 7))


@pytest.mark.slow
def test_a_constant_scale_of_activations_makes_integers() -> None:
    scale = torch.tensor([[0.02]])
    quantized = weight(Int8Tensor, 1, (-127, 127), act_quant_kwargs=told(symmetric=True), act_quant_scale=scale)
    model = linear(quantized)
    ours, module = ran(model)
    codes = torch.clamp(torch.round(X / 0.02), -128, 127).double()
    expected = (codes * 0.02) @ floats(quantized).t() + model[0].bias.double()
    unit = 0.02 * float(quantized.scale.max())
    assert np.abs(ours - expected.detach().numpy()).max() <= 0.51 * unit  # the bias is a whole number of units
    assert "tvmq.group_dequantize" not in operators(module)


@pytest.mark.slow
def test_zero_points_of_weights_are_taken_out() -> None:
    zeros = torch.full((ROWS, 2), 3, dtype=torch.int8)
    quantized = weight(IntxUnpackedToInt8Tensor, 2, (-8, 7), zero_point=zeros)
    model = linear(quantized)
    expected = X.double() @ floats(quantized).t() + model[0].bias.double()
    np.testing.assert_allclose(ran(model)[0], expected.detach().numpy(), rtol=1e-5, atol=1e-5)


class Attends(nn.Module):
    """Reads a weight by another function."""

    def __init__(self, quantized: Any) -> None:
        super().__init__()
        self.layer = linear(quantized)[0]

    def forward(self, x: Any) -> Any:
        return torch.cos(self.layer.weight) + x.sum()


PER_TENSOR = SimpleNamespace(granularity=None, mapping_type=SimpleNamespace(name="SYMMETRIC"), reduce_range=False)
REFUSED: dict[str, tuple[Any, str]] = {
    "kind": (lambda: linear(weight(Float8Tensor, 1, (-8, 7))), "layer '0': a weight of torchao's Float8Tensor of float32"),
    "rows": (lambda: linear(weight(Int8Tensor, 1, (-8, 7), act_quant_kwargs=PER_TENSOR)), "'0': only activations with one scale"),
    "scales": (
        lambda: linear(weight(Int8Tensor, 1, (-8, 7), act_quant_kwargs=told(True), act_quant_scale=torch.ones(3, 1))),
        "layer '0': constant scales of activations for each row",
    ),
    "shifts": (
        lambda: linear(weight(Int8Tensor, 1, (-128, 127), zero_point=torch.full((ROWS, 1), 90, dtype=torch.int8))),
        "layer '0': codes minus their zero points do not fit int8; quantize weights symmetrically",
    ),
    "floats": (
        lambda: linear(weight(Int8Tensor, 1, (-8, 7), zero_point=torch.full((ROWS, 1), 0.5))),
        "layer '0': fractional zero points are not supported",
    ),
    "function": (lambda: Attends(weight(Int8Tensor, 1, (-8, 7))), "cos with a torchao weight is not supported; quantize"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_import_is_refused(name: str) -> None:
    make, words = REFUSED[name]
    with pytest.raises(UnsupportedOpError, match=f"^from_torch, .*{words}"):
        tvmq.from_torch(make(), (X,))
