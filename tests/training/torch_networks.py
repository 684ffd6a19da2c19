"""torch models with batch norms, shared weights and awkward names."""

from __future__ import annotations

import torch
from torch import nn

CHANNELS, SIZE = 3, 8


class Pictures(nn.Module):
    """Convolutions with and without bias, batch norms, a depthwise one, a table, a dense layer."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(CHANNELS, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8), nn.ReLU(),
            nn.Conv2d(8, 8, 3, padding=1, groups=8), nn.BatchNorm2d(8), nn.Hardswish(),
        )  # fmt: skip
        self.head = nn.Linear(8, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Scores of 10 classes."""
        return self.head(self.features(x).mean((2, 3)))


class Awkward(nn.Module):
    """Names of attributes that the network has too, one layer called twice, two names of one weight."""

    def __init__(self) -> None:
        super().__init__()
        self.source, self.forward_ = nn.Linear(6, 6), nn.Linear(6, 6, bias=False)
        self.quantizers = nn.Linear(6, 6)
        self.forward_.weight = self.source.weight

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Six numbers for six."""
        y = torch.relu(self.quantizers(torch.relu(self.source(x))))
        return self.forward_(torch.relu(self.quantizers(y)))


def pictures_model(seed: int = 0) -> Pictures:
    """A model whose batch norms have seen data, in evaluation mode."""
    torch.manual_seed(seed)
    model = Pictures()
    with torch.no_grad():
        for norm in (module for module in model.modules() if isinstance(module, nn.BatchNorm2d)):
            norm.weight.uniform_(0.5, 1.5)
            norm.bias.normal_(0, 0.3)
        model.train()
        for _ in range(40):
            model(pictures(32))
    return model.eval()


def pictures(count: int, seed: int | None = None) -> torch.Tensor:
    generator = None if seed is None else torch.Generator().manual_seed(seed)
    return torch.randn(count, CHANNELS, SIZE, SIZE, generator=generator) * 0.8 + 0.3


def labels(count: int) -> torch.Tensor:
    """Classes in turns."""
    return torch.arange(count) % 10
