"""Quantized layers and functions of torch, each alone: our codes beside torch's own on the same input.

The differences that are allowed are those whose reason is known, see docs/torch.md: none but for biases (torch keeps them
in float), ties of means, and sums in fixed point.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason='torch is an extra: pip install "tvmq[torch]"')

from torch import nn  # noqa: E402
from torch.ao import quantization  # noqa: E402
from torch.ao.nn.quantized import FloatFunctional  # noqa: E402
from torch.nn import functional as F  # noqa: E402
from torch_networks import tensor  # noqa: E402

import tvmq  # noqa: E402
from tvmq.graph.ledger import get_ledger  # noqa: E402

PICTURE = (2, 8, 6, 7)


class Sum(nn.Module):
    """A method of FloatFunctional."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.functional, self.name = FloatFunctional(), name

    def forward(self, *parts: Any) -> Any:
        method = getattr(self.functional, self.name)
        return method(list(parts), 1) if self.name == "cat" else method(*parts)


class Function(nn.Module):
    """A function of tensors."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: Any) -> Any:
        return self.function(x)


class Between(nn.Module):
    """A layer between stubs."""

    def __init__(self, layer: nn.Module, count: int) -> None:
        super().__init__()
        self.stubs = nn.ModuleList([quantization.QuantStub() for _ in range(count)])
        self.layer, self.back = layer, quantization.DeQuantStub()

    def forward(self, *inputs: Any) -> Any:
        return self.back(self.layer(*[stub(x) for stub, x in zip(self.stubs, inputs, strict=True)]))


def halved(x: Any) -> Any:
    return torch.ops.quantized.mul_scalar(x, 0.5) if x.is_quantized else x * 0.5


# layer, shapes of its inputs
LAYERS: dict[str, tuple[nn.Module, list[tuple[int, ...]]]] = {
    "conv": (nn.Conv2d(8, 6, 3, 2, 1), [PICTURE]), "depthwise": (nn.Conv2d(8, 8, 3, groups=8), [PICTURE]),
    "conv of one dimension": (nn.Conv1d(8, 6, 3, padding=2, dilation=2), [(2, 8, 9)]),
    "conv of three dimensions": (nn.Conv3d(2, 3, 2), [(1, 2, 4, 5, 6)]), "reflected": (nn.Conv2d(8, 4, 3, padding=1, padding_mode="reflect"), [PICTURE]),
    "linear": (nn.Linear(7, 5), [PICTURE]), "add": (Sum("add"), [PICTURE] * 2), "add_relu": (Sum("add_relu"), [PICTURE] * 2),
    "mul": (Sum("mul"), [PICTURE] * 2), "cat": (Sum("cat"), [PICTURE] * 2), "matmul": (Sum("matmul"), [(2, 5, 6), (2, 6, 4)]),
    "hardswish": (nn.Hardswish(), [PICTURE]), "sigmoid": (nn.Sigmoid(), [PICTURE]), "tanh": (nn.Tanh(), [PICTURE]),
    "hardsigmoid": (nn.Hardsigmoid(), [PICTURE]), "leaky": (nn.LeakyReLU(0.1), [PICTURE]), "elu": (nn.ELU(0.7), [PICTURE]),
    "relu6": (nn.ReLU6(), [PICTURE]), "batch norm": (nn.BatchNorm2d(8), [PICTURE]), "layer norm": (nn.LayerNorm(7), [PICTURE]),
    "group norm": (nn.GroupNorm(2, 8), [PICTURE]), "instance norm": (nn.InstanceNorm2d(8, affine=True), [PICTURE]),
    "mean": (nn.AdaptiveAvgPool2d(1), [PICTURE]), "most": (nn.MaxPool2d(2), [PICTURE]), "average": (nn.AvgPool2d(3, 2, 1), [PICTURE]),
    "average of four": (nn.AvgPool2d(2), [PICTURE]), "larger": (nn.Upsample(scale_factor=2), [PICTURE]),
    "moves": (Function(lambda x: x.permute(0, 2, 3, 1).reshape(2, -1)[:, 3:50:2].contiguous()), [PICTURE]),
    "parts": (Function(lambda x: torch.cat([*x.chunk(2, 1), F.relu(x[:, :2])], 1)), [PICTURE]),
    "bounds": (Function(lambda x: torch.clamp(F.hardtanh(x, -1.3, 1.1), min=-0.8)), [PICTURE]),
    "mean over axes": (Function(lambda x: x.mean([2, 3])), [PICTURE]), "padding": (Function(lambda x: F.pad(x, (1, 2))), [PICTURE]),
    "number": (Function(halved), [PICTURE]), "size": (Function(lambda x: x.view(x.size(0), x.shape[1], -1)), [PICTURE]),
}  # fmt: skip
BIASED = ("conv", "depthwise", "conv of one dimension", "conv of three dimensions", "reflected", "linear")
NEAR_TIES = (*BIASED, "add", "add_relu", "average of four", "mean", "mean over axes")
IN_FLOAT = ("layer norm", "group norm", "instance norm")


def converted(name: str) -> tuple[Any, list[Any]]:
    """The layer between stubs, calibrated and converted by torch; its inputs."""
    layer, shapes = LAYERS[name]
    torch.manual_seed(0)
    torch.backends.quantized.engine = "fbgemm"
    model = Between(layer, len(shapes)).eval()
    model.qconfig = quantization.get_default_qconfig("fbgemm")
    inputs = [tensor(*shape, seed=seed) for seed, shape in enumerate(shapes)]
    prepared = quantization.prepare(model)
    prepared(*inputs)
    return quantization.convert(prepared), inputs


def compared(model: Any, inputs: list[Any]) -> tuple[np.ndarray, np.ndarray, Any]:
    """Our result, torch's, and the integer module; the compiled result equals the definition."""
    with torch.no_grad():
        theirs = model(*inputs).numpy()
    module = tvmq.quantize(*tvmq.from_torch(model, tuple(inputs)))
    feed = {var.name: x.numpy() for var, x in zip(module["main"].params, inputs, strict=False)}
    (ours,), (defined,) = tvmq.build(module).run(feed), tvmq.reference.run(module, feed)
    np.testing.assert_array_equal(ours, defined)
    assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)
    return ours, theirs, module


def step_of(result: np.ndarray) -> float:
    """The scale of a result: the least difference of its values."""
    return float(np.diff(np.unique(result)).min())


@pytest.mark.slow_cases("hardswish", "elu")
@pytest.mark.thinned(6)
@pytest.mark.parametrize("name", LAYERS)
def test_layers_give_torchs_codes(name: str) -> None:
    model, inputs = converted(name)
    ours, theirs, module = compared(model, inputs)
    assert len(np.unique(theirs)) > 6, "codes that hardly vary prove nothing"
    steps = np.abs(np.rint((ours - theirs) / step_of(theirs)))
    assert steps.max() <= (name in NEAR_TIES)
    layers = get_ledger(module).layers.values()
    assert any(layer["precision"] == "float" for layer in layers) == (name in IN_FLOAT)
    assert not any(isinstance(part, torch.ScriptObject) for part in vars(model.layer).values()) or name in BIASED
    with torch.no_grad():
        np.testing.assert_array_equal(model(*inputs).numpy(), theirs, err_msg="the model was changed")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["conv", "linear"])
def test_a_bias_on_the_grid_of_the_sums_leaves_no_difference(name: str) -> None:
    """torch adds the float bias, tvmq the nearest int32: at most half a unit of the sums apart."""
    model, inputs = converted(name)
    layer = model.layer
    unit = layer.weight().q_per_channel_scales() * float(model.stubs[0].scale)
    layer.set_weight_bias(layer.weight(), (torch.round(layer.bias().double() / unit) * unit).float())
    ours, theirs, _ = compared(model, inputs)
    np.testing.assert_array_equal(np.rint(ours / np.float32(layer.scale)), np.rint(theirs / np.float32(layer.scale)))


@pytest.mark.slow
def test_ties_of_a_mean_are_the_only_difference() -> None:
    """torch rounds to an even code, tvmq to an even distance from the zero point: an odd one parts them."""
    model, inputs = converted("average of four")
    ours, theirs, _ = compared(model, inputs)
    stub = model.stubs[0]
    codes = torch.quantize_per_tensor(inputs[0], float(stub.scale), int(stub.zero_point), torch.quint8)
    means = F.avg_pool2d(codes.int_repr().double(), 2).numpy()
    differs = np.rint((ours - theirs) / float(stub.scale)) != 0
    assert (means[differs] % 1 == 0.5).all() and int(stub.zero_point) % 2 == 1 and differs.any()
