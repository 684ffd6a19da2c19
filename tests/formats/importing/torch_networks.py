"""Small torch models, and the comparison of an imported module with eager torch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason='torch is an extra: pip install "tvmq[torch]"')

import tvm  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

import tvmq  # noqa: E402
from tvmq.graph.names import output_names  # noqa: E402
from tvmq.graph.symbolic import inputs_of  # noqa: E402


def tensor(*shape: int, seed: int = 0) -> Any:
    """Normal values."""
    return torch.from_numpy(np.random.default_rng(seed).standard_normal(shape).astype(np.float32))


class Residual(nn.Module):
    """Convolution, batch norm and relu, twice, around a sum."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels)
        self.act = nn.ReLU()

    def forward(self, x: Any) -> Any:
        y = self.bn2(self.conv2(self.act(self.bn1(self.conv1(x)))))
        return F.relu(y + x)


class SmallNet(nn.Module):
    """A residual network of two blocks; gives class scores."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.ReLU6())
        self.blocks = nn.Sequential(Residual(8), Residual(8))
        self.head = nn.Linear(8, 5)

    def forward(self, x: Any) -> Any:
        x = F.adaptive_avg_pool2d(self.blocks(self.stem(x)), 1)
        return self.head(torch.flatten(x, 1))


def trained(model: Any) -> Any:
    """The model with statistics and scales that are not those of a fresh one, in evaluation mode."""
    generator = torch.Generator().manual_seed(1)
    for module in model.modules():
        if getattr(module, "running_mean", None) is not None:
            module.running_mean.normal_(generator=generator)
            module.running_var.uniform_(0.5, 2.0, generator=generator)
        if isinstance(module, nn.BatchNorm2d | nn.LayerNorm | nn.GroupNorm) and module.weight is not None:
            nn.init.uniform_(module.weight, 0.5, 1.5, generator=generator)
    return model.eval()


class Together(nn.Module):
    """Many functions of the same inputs in one model."""

    def __init__(self, functions: Mapping[str, Callable[..., Any]]) -> None:
        super().__init__()
        self.functions = dict(functions)
        self.layers = nn.ModuleDict({name: f for name, f in functions.items() if isinstance(f, nn.Module)})

    def forward(self, *inputs: Any) -> Any:
        return {name: f(*inputs) for name, f in self.functions.items()}


def run(mod: tvm.IRModule, params: Any, inputs: Any) -> list[np.ndarray]:
    """Results of the float module, compiled."""
    feed = {info.name: value for info, value in zip(tvmq_inputs(mod), inputs, strict=True)}
    return tvmq.build(mod, params=params).run(feed)


def tvmq_inputs(mod: tvm.IRModule) -> list[Any]:
    """Inputs of an imported module."""
    return inputs_of(mod)[: int(mod["main"].attrs["num_input"])]


def leaves(value: Any) -> list[Any]:
    """The tensors of a nested result, in order."""
    from torch.utils import _pytree

    return [leaf.detach().numpy() for leaf in _pytree.tree_leaves(value) if leaf is not None]


def check(model: Any, *inputs: Any) -> tvm.IRModule:
    """Import a model and compare it with eager torch: 1e-4 of the largest value, element types and shapes equal."""
    with torch.no_grad():
        expected = leaves(model(*(value.clone() for value in inputs)))
    mod, params = tvmq.from_torch(model, inputs)
    results = run(mod, params, [value.numpy() for value in inputs])
    names = output_names(mod["main"], len(results))
    for name, result, wanted in zip(names, results, expected, strict=True):
        assert (result.shape, result.dtype) == (wanted.shape, wanted.dtype), name
        highest = np.abs(wanted[np.isfinite(wanted)].astype(np.float64)).max(initial=0.0)
        np.testing.assert_allclose(result, wanted, rtol=1e-4, atol=1e-5 * highest, err_msg=str(name))
    return mod
