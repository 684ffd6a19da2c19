"""Hard networks whose trouble is the signal: spectra computed inside, powers, logarithms, sums over time, peaks."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import nn

from hard_networks.recipe import Recipe

RATE = 8000.0  # samples a second


def windowed_waves(frequencies: np.ndarray, size: int) -> np.ndarray:
    """Cosines, then sines, under a Hann window: filters [2 * frequencies, 1, size]."""
    time = np.arange(size) / RATE
    phase = 2 * np.pi * frequencies[:, None] * time[None]
    waves = np.concatenate([np.cos(phase), np.sin(phase)]) * np.hanning(size)
    return waves[:, None].astype(np.float32)


# ---- spectra by convolution


class StftNetwork(nn.Module):
    """A short-time Fourier transform as a convolution, log of the power, three convolutions over time."""

    def __init__(self, classes: int = 6) -> None:
        super().__init__()
        self.register_buffer("waves", torch.from_numpy(windowed_waves(np.arange(65) * RATE / 128, 128)))
        self.first, self.second = nn.Conv1d(65, 48, 3, padding=1), nn.Conv1d(48, 48, 3, padding=1)
        self.leave = nn.Linear(48, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """[n, 1, 2048] -> [n, classes]."""
        both = nn.functional.conv1d(x, self.waves, stride=64)
        power = both[:, :65] * both[:, :65] + both[:, 65:] * both[:, 65:]
        y = torch.relu(self.first(torch.log(power + 1e-5)))
        return self.leave(torch.relu(self.second(y)).mean(2))


def calls(random: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
    """A faint whistle (rising, falling or steady, pure or with a second voice) under a loud hum, 60 dB apart in all."""
    labels, time = random.integers(0, 6, count), np.arange(2048)[None] / RATE
    slope = (labels // 2 - 1)[:, None] * random.uniform(1500, 3000, (count, 1))
    start = random.uniform(1700, 2300, (count, 1))
    turns = start * time + slope * (time - 0.128) * time / 2
    call = np.sin(2 * np.pi * turns) + (labels % 2)[:, None] * 0.7 * np.sin(2 * np.pi * 1.5 * turns)
    call *= 10 ** random.uniform(-2, -0.5, (count, 1))
    hum = random.uniform(3, 10, (count, 1)) * np.sin(2 * np.pi * (random.uniform(60, 200, (count, 1)) * time))
    x = call + hum + random.normal(0, 0.002, (count, 2048))
    return x[:, None].astype(np.float32), labels


def stft_power() -> Recipe:
    """Powers that span 60 dB and their logarithm, behind a Fourier transform by convolution."""
    return Recipe(StftNetwork(), calls, steps=300, batch=48)


class PitchNetwork(nn.Module):
    """Magnitudes at pitches (a constant-Q transform), their normalized logarithm, harmonics as channels."""

    def __init__(self, classes: int = 12) -> None:
        super().__init__()
        self.pitches = 220.0 * 2 ** (np.arange(48) / 12)
        self.register_buffer("waves", torch.from_numpy(windowed_waves(self.pitches, 512)))
        self.first, self.second = nn.Conv2d(3, 16, 3, padding=1), nn.Conv2d(16, 16, (5, 3), padding=(2, 1))
        self.leave = nn.Linear(16 * 48, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """[n, 1, 2560] -> [n, classes]."""
        both = nn.functional.conv1d(x, self.waves, stride=128)
        magnitude = torch.sqrt(both[:, :48] ** 2 + both[:, 48:] ** 2)
        level = torch.log(magnitude**2 + 1e-8)
        low, high = level.amin((1, 2), keepdim=True), level.amax((1, 2), keepdim=True)
        level = (level - low) / (high - low)
        up = [nn.functional.pad(level[:, k:], (0, 0, 0, k)) for k in (0, 12, 19)]
        y = torch.relu(self.first(torch.stack(up, 1)))
        return self.leave(torch.relu(self.second(y)).mean(3).flatten(1))


def notes(random: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
    """A note of twelve in any of two octaves, with harmonics that fade, loud or faint, in noise."""
    labels, time = random.integers(0, 12, count), np.arange(2560)[None] / RATE
    tone = 220.0 * 2 ** ((labels + 12 * random.integers(0, 2, count)) / 12)[:, None]
    fade = random.uniform(0.3, 0.9, (count, 1))
    x = sum(fade**k * np.sin(2 * np.pi * ((k + 1) * tone * time + random.uniform(0, 1, (count, 1)))) for k in range(4))
    x = np.asarray(x) * np.exp(-time * random.uniform(1, 12, (count, 1))) + random.normal(0, 0.03, (count, 2560))
    return (x * 10 ** random.uniform(-2, 0, (count, 1)))[:, None].astype(np.float32), labels


def cqt_normalized() -> Recipe:
    """sqrt(a^2 + b^2), a logarithm, and (x - min) / (max - min) of it."""
    return Recipe(PitchNetwork(), notes, steps=250, batch=48)


# ---- sums over time


class Running(nn.Module):
    """Means of everything so far, by cumulative sums, squares of them too; one class a step."""

    def __init__(self, features: int = 4, size: int = 32, classes: int = 3) -> None:
        super().__init__()
        self.enter, self.hidden = nn.Linear(features, size), nn.Linear(2 * size, size)
        self.leave = nn.Linear(size, classes)
        self.register_buffer("count", torch.arange(1, 257, dtype=torch.float32)[None, :, None])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """[n, 256, features] -> [n, classes, 256]."""
        x = torch.relu(self.enter(x))
        total = torch.cumsum(x, 1)
        spread = torch.sqrt(torch.cumsum(x * x, 1) / self.count + 1e-3)
        y = torch.relu(self.hidden(torch.cat([total / self.count, spread], -1)))
        return self.leave(y).transpose(1, 2)


def trends(random: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Noise of one mean and spread each; does the first value lead the second so far, trail it, or neither?"""
    mean = random.normal(0, 0.5, (count, 1, 4))
    x = (mean + random.normal(0, 1, (count, 256, 4)) * random.uniform(0.5, 2, (count, 1, 1))).astype(np.float32)
    so_far = np.cumsum(x, 1) / np.arange(1, 257)[None, :, None]
    lead = so_far[..., 0] - so_far[..., 1]
    return x, (1 + np.sign(lead) * (np.abs(lead) > 0.2)).astype(np.int64)


def cumulative_sums() -> Recipe:
    """Sums over 256 steps, divided by how many they are."""
    return Recipe(Running(), trends, steps=400, batch=32, rate=4e-3)


# ---- rare peaks


class Peaks(nn.Module):
    """Convolutions over pictures whose few bright dots decide."""

    def __init__(self, classes: int = 8) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(1, 16, 3, padding=1), nn.Conv2d(16, 24, 3, padding=1, stride=2)
        self.third, self.leave = nn.Conv2d(24, 24, 3, padding=1, stride=2), nn.Linear(24, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """[n, 1, 32, 32] -> [n, classes]."""
        x = torch.relu(self.first(x))
        return self.leave(torch.log1p(torch.relu(self.third(torch.relu(self.second(x)))).mean((2, 3))))


def dots(random: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Noise of 1 and one dot of 40 to 960; the class is its brightness, in steps of a half more."""
    labels = random.integers(0, 8, count)
    x = random.normal(0, 1, (count, 32, 32))
    rows, columns = random.integers(2, 30, (2, count))
    for shift in (0, 1):
        x[np.arange(count), rows + shift, columns] += 40 * 1.5**labels * random.uniform(0.93, 1.07, count)
    return x[:, None].astype(np.float32), labels


def rare_peaks() -> Recipe:
    """Two pixels of a thousand carry the class, by their brightness."""
    return Recipe(Peaks(), dots, steps=600, batch=48, rate=4e-3)


BUILDERS: dict[str, Callable[[], Recipe]] = {
    build.__name__: build for build in (stft_power, cqt_normalized, cumulative_sums, rare_peaks)
}
