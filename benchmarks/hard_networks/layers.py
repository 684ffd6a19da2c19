"""Hard networks whose trouble is a layer: norms written out, scales far apart, masks, growth, states, ratios."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import torch
from torch import nn

from hard_networks.recipe import Recipe

LOUD = 1e4  # what the residual stream of `growing_stream` reaches


def dense(inputs: int, outputs: int) -> nn.Linear:
    """A product with a bias."""
    return nn.Linear(inputs, outputs)


# ---- norms by E[x^2] - E[x]^2


class FastNorm(nn.Module):
    """Layer norm with the variance as the difference of two means, as Flax computes it."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.scale, self.bias = nn.Parameter(torch.ones(size)), nn.Parameter(torch.zeros(size))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Normalized over the last axis."""
        mean = x.mean(-1, keepdim=True)
        variance = torch.clamp_min((x * x).mean(-1, keepdim=True) - mean * mean, 0.0)
        factor = torch.rsqrt(variance + 1e-6) * self.scale
        return (x - mean) * factor + self.bias


class Mixer(nn.Module):
    """Tokens of eight samples, blocks that mix tokens, then features, each behind a FastNorm."""

    def __init__(self, size: int = 48, tokens: int = 16, classes: int = 8, offset: float = 0.0) -> None:
        super().__init__()
        self.enter = dense(8, size)
        nn.init.constant_(self.enter.bias, offset)
        self.norms = nn.ModuleList(FastNorm(size) for _ in range(7))
        self.across = nn.ModuleList(dense(tokens, tokens) for _ in range(3))
        self.up = nn.ModuleList(dense(size, 2 * size) for _ in range(3))
        self.down = nn.ModuleList(dense(2 * size, size) for _ in range(3))
        self.leave = dense(size, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """[n, 16, 8] -> [n, classes]."""
        x = self.enter(x)
        for i in range(3):
            x = x + self.across[i](self.norms[2 * i](x).transpose(1, 2)).transpose(1, 2)
            x = x + self.down[i](nn.functional.gelu(self.up[i](self.norms[2 * i + 1](x))))
        return self.leave(self.norms[6](x).mean(1))


def waveforms(random: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Waves of one of eight shapes: four forms, slow or fast; any phase and offset, loud or 20 dB less."""
    labels = random.integers(0, 8, count)
    time = np.arange(128)[None] / 128 * np.where(labels % 2, 5, 3)[:, None] + random.uniform(0, 1, (count, 1))
    turn = time % 1
    forms = [np.sin(2 * np.pi * turn), np.sign(turn - 0.5), 2 * turn - 1, 4 * np.abs(turn - 0.5) - 1]
    x = np.choose(labels[:, None] // 2, forms) + random.normal(0, 0.7, (count, 1)) + random.normal(0, 0.1, (count, 128))
    x *= 3 * 10 ** random.uniform(-1, 0, (count, 1))
    return x.reshape(count, 16, 8).astype(np.float32), labels


def fast_variance() -> Recipe:
    """Norms whose variance is E[x^2] - E[x]^2, of values far from 0."""
    return Recipe(Mixer(offset=4.0), waveforms, steps=500)


# ---- depthwise convolutions behind gates, channels far apart


class Gated(nn.Module):
    """A 1x1 convolution, a depthwise one, squeeze and excitation, h-swish, a 1x1 convolution."""

    def __init__(self, size: int, wide: int) -> None:
        super().__init__()
        self.expand, self.shrink = nn.Conv2d(size, wide, 1), nn.Conv2d(wide, size, 1)
        self.depthwise = nn.Conv2d(wide, wide, 3, padding=1, groups=wide)
        self.squeeze, self.excite = nn.Conv2d(wide, wide // 4, 1), nn.Conv2d(wide // 4, wide, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Apply the layer and add its input."""
        y = self.depthwise(torch.relu(self.expand(x)))
        gate = self.excite(torch.relu(self.squeeze(y.mean((2, 3), keepdim=True))))
        return x + self.shrink(nn.functional.hardswish(y * nn.functional.hardsigmoid(gate)))


class GatedNetwork(nn.Module):
    """Pictures of 16x16 through three such blocks."""

    def __init__(self, size: int = 24, classes: int = 6) -> None:
        super().__init__()
        self.stem = nn.Conv2d(1, size, 3, stride=2, padding=1)
        self.blocks = nn.Sequential(*(Gated(size, 3 * size) for _ in range(3)))
        self.leave = dense(size, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """[n, 1, 16, 16] -> [n, classes]."""
        return self.leave(self.blocks(torch.relu(self.stem(x))).mean((2, 3)))

    def spread(self) -> None:
        """Scale what enters the depthwise convolutions by powers of two, and back behind them: the same function."""
        for block in self.blocks:
            factor = 2.0 ** torch.linspace(-4, 4, block.depthwise.weight.shape[0]).round()
            factor = factor[torch.randperm(len(factor))]
            block.expand.weight.mul_(factor[:, None, None, None])
            block.expand.bias.mul_(factor)
            block.depthwise.weight.div_(factor[:, None, None, None])


def textures(random: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Stripes of three directions, narrow or wide, in noise."""
    labels = random.integers(0, 6, count)
    y, x = np.mgrid[:16, :16][:, None]
    angle = (labels // 2)[:, None, None] * np.pi / 3 + random.normal(0, 0.15, (count, 1, 1))
    length = np.where(labels % 2, 7.0, 4.0)[:, None, None]
    phase = 2 * np.pi * ((x * np.cos(angle) + y * np.sin(angle)) / length + random.uniform(0, 1, (count, 1, 1)))
    picture = np.sin(phase) + random.normal(0, 0.7, (count, 16, 16))
    return picture[:, None].astype(np.float32), labels


def gated_depthwise() -> Recipe:
    """Channels of depthwise convolutions 256 times apart, behind a relu under one scale."""
    return Recipe(GatedNetwork(), textures, finish=GatedNetwork.spread)


# ---- attention with masks of -inf


class Attention(nn.Module):
    """Self-attention of two heads over places that are there; the others get -inf."""

    def __init__(self, size: int, heads: int = 2) -> None:
        super().__init__()
        self.heads, self.enter, self.leave = heads, dense(size, 3 * size), dense(size, size)

    def forward(self, x: torch.Tensor, hidden: torch.Tensor) -> torch.Tensor:
        """`hidden` is True at the places that are not there."""
        count, length, size = x.shape
        parts = self.enter(x).reshape(count, length, 3, self.heads, size // self.heads).permute(2, 0, 3, 1, 4)
        scores = parts[0] @ parts[1].transpose(-1, -2) / math.sqrt(size // self.heads)
        weights = torch.softmax(scores.masked_fill(hidden[:, None, None], -math.inf), -1)
        return self.leave((weights @ parts[2]).transpose(1, 2).reshape(count, length, size))


class Encoder(nn.Module):
    """Two blocks over tokens whose first value says whether they are there; the first token asks."""

    def __init__(self, features: int, classes: int, size: int = 48) -> None:
        super().__init__()
        self.enter, self.leave = dense(features, size), dense(size, classes)
        self.attention = nn.ModuleList(Attention(size) for _ in range(2))
        self.up = nn.ModuleList(dense(size, 2 * size) for _ in range(2))
        self.down = nn.ModuleList(dense(2 * size, size) for _ in range(2))
        self.norms = nn.ModuleList(nn.LayerNorm(size) for _ in range(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """[n, tokens, features] -> [n, classes]."""
        hidden, x = x[:, :, 0] < 0.5, self.enter(x)
        for i in range(2):
            x = x + self.attention[i](self.norms[2 * i](x), hidden)
            x = x + self.down[i](nn.functional.gelu(self.up[i](self.norms[2 * i + 1](x))))
        return self.leave(x[:, 0])


def questions(random: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
    """A question for one of eight keys, then up to 23 facts, keys with their classes; noise where nothing is there."""
    keys = random.integers(0, 8, (count, 24))
    classes = np.take_along_axis(random.integers(0, 4, (count, 8)), keys, 1)  # equal keys have equal classes
    place = random.integers(1, 12, (count, 1))
    wanted, labels = (np.take_along_axis(values, place, 1)[:, 0] for values in (keys, classes))
    there = np.arange(24)[None] < random.integers(12, 24, (count, 1))
    x = np.concatenate([there[..., None], np.eye(8)[keys], np.eye(4)[classes], np.zeros((count, 24, 1))], -1)
    x[:, 0, 1:] = np.concatenate([np.eye(8)[wanted], np.zeros((count, 4)), np.ones((count, 1))], 1)
    x[..., 1:] += random.normal(0, 1, (count, 24, 13)) * np.where(there, 0.1, 8)[..., None]
    return x.astype(np.float32), labels


def masked_attention() -> Recipe:
    """Scores of places that are not there are -inf; the values in them are large."""
    return Recipe(Encoder(14, 4), questions, steps=400)


# ---- a residual stream that grows


class Growing(nn.Module):
    """A residual stream of which two channels reach ten thousand, for all tokens, as in language models."""

    def __init__(self, size: int = 48, classes: int = 8) -> None:
        super().__init__()
        self.enter, self.leave = dense(8, size), dense(size, classes)
        self.norms = nn.ModuleList(nn.LayerNorm(size) for _ in range(4))
        self.up = nn.ModuleList(dense(size, 2 * size) for _ in range(3))
        self.down = nn.ModuleList(dense(2 * size, size) for _ in range(3))
        loud = torch.zeros(size)
        loud[3], loud[17] = LOUD / 3, -LOUD / 6
        self.register_buffer("loud", loud)
        for norm in self.norms[1:]:  # the loud channels make all others small, and so the factors large
            nn.init.constant_(norm.weight, 100.0)
            with torch.no_grad():
                norm.weight[[3, 17]] = 0.1

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """[n, 16, 8] -> [n, classes]."""
        x = self.enter(x)
        for i in range(3):
            x = x + self.down[i](torch.relu(self.up[i](self.norms[i](x)))) + self.loud
        return self.leave(self.norms[3](x).mean(1))


def growing_stream() -> Recipe:
    """Residual sums of 10^4 beside channels of 1."""
    return Recipe(Growing(), waveforms, steps=800)


# ---- a recurrent state


class Recurrent(nn.Module):
    """A GRU written out over 32 steps, as exporters of cells write it."""

    def __init__(self, features: int = 6, size: int = 64, classes: int = 4) -> None:
        super().__init__()
        self.given, self.kept, self.leave = dense(features, 3 * size), dense(size, 3 * size), dense(size, classes)
        with torch.no_grad():
            self.given.bias[size : 2 * size] = 3.0  # gates that keep

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """[n, 32, features] -> [n, classes, 32]."""
        state, results = torch.zeros_like(self.kept.weight[:1, :]), []
        for step in range(32):
            a, b = self.given(x[:, step]).chunk(3, -1), self.kept(state).chunk(3, -1)
            reset, keep = torch.sigmoid(a[0] + b[0]), torch.sigmoid(a[1] + b[1])
            state = (1 - keep) * torch.tanh(a[2] + reset * b[2]) + keep * state
            results.append(self.leave(state))
        return torch.stack(results, -1)


def switches(random: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Rare orders to turn one of four ways; the class of each step is the way that was taken last."""
    ways = random.integers(0, 4, (count, 32))
    orders = random.random((count, 32)) < 0.1
    orders[:, 0] = True
    last = np.maximum.accumulate(np.where(orders, np.arange(32), 0), axis=1)
    x = np.concatenate([orders[..., None] * np.eye(4)[ways], random.normal(0, 1, (count, 32, 2))], -1)
    return (x + random.normal(0, 0.2, x.shape)).astype(np.float32), np.take_along_axis(ways, last, 1)


def recurrent_state() -> Recipe:
    """A state that saturates and is kept over 32 steps."""
    return Recipe(Recurrent(), switches, steps=400, rate=4e-3)


# ---- exponents and quotients


class Quotients(nn.Module):
    """Pooling by weights exp(a) / sum(exp(a)) without a maximum, and energies through e / (1 + e)."""

    def __init__(self, size: int = 32, classes: int = 6) -> None:
        super().__init__()
        self.enter, self.score, self.energy = dense(8, size), dense(size, size), dense(size, size)
        self.hidden, self.leave = dense(2 * size, size), dense(size, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """[n, 24, 8] -> [n, classes]."""
        x = torch.relu(self.enter(x))
        weights = torch.exp(self.score(x))
        pooled = (weights * x).sum(1) / weights.sum(1)
        energy = torch.exp(self.energy(x)).sum(1)
        return self.leave(torch.relu(self.hidden(torch.cat([pooled, energy / (1 + energy)], -1))))


def loudest(random: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
    """24 tokens, a loudness and a class of six in each; the loudest one's class."""
    kinds, loudness = random.integers(0, 6, (count, 24)), random.normal(0, 1.5, (count, 24))
    x = np.concatenate([np.eye(6)[kinds], loudness[..., None], random.normal(0, 1, (count, 24, 1))], -1)
    winner = np.take_along_axis(kinds, loudness.argmax(1)[:, None], 1)[:, 0]
    return (x + random.normal(0, 0.05, x.shape)).astype(np.float32), winner


def exponents_and_quotients() -> Recipe:
    """A softmax without its maximum, and x / (1 + x) of sums of exponentials."""
    return Recipe(Quotients(), loudest, steps=900, rate=1e-3)


BUILDERS: dict[str, Callable[[], Recipe]] = {
    build.__name__: build
    for build in (
        fast_variance, gated_depthwise, masked_attention, growing_stream, recurrent_state, exponents_and_quotients,
    )
}  # fmt: skip
