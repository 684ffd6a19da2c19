"""Audio made by formula, and models that hear it as a stream: Silero VAD from pip, the zoo's DS-CNN with caches."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np

RATE = 16000
FRAME, CONTEXT = 512, 64  # samples of a step of Silero VAD, and those before it that it also hears


def audio(seconds: float, seed: int = 0) -> np.ndarray:
    """Speech-like sound: syllables of harmonics with formants, breath noise, pauses, over a floor of noise; -1..1."""
    random, count = np.random.default_rng(seed), int(seconds * RATE)
    sound = 0.002 * random.standard_normal(count)
    begin = 0
    while begin < count:
        if random.random() < 0.3:  # a pause
            begin += int(random.uniform(0.2, 1.5) * RATE)
            continue
        length = int(random.uniform(0.08, 0.35) * RATE)
        part = sound[begin : begin + length]
        part += random.uniform(0.05, 0.6) * syllable(len(part), random)
        begin += length
    return np.clip(sound, -1, 1).astype(np.float32)


def syllable(count: int, random: np.random.Generator) -> np.ndarray:
    """A voiced syllable with a noisy onset."""
    time = np.arange(count) / RATE
    pitch = random.uniform(90, 250) * (1 + 0.1 * np.sin(2 * np.pi * random.uniform(2, 6) * time))
    phase, formants = 2 * np.pi * np.cumsum(pitch) / RATE, random.uniform([250, 800, 2200], [900, 2200, 3200])
    voice = np.zeros(count)
    for harmonic in range(1, 30):
        gains = np.exp(-(((harmonic * pitch[:1] - formants[:, None]) / 180) ** 2)).sum()
        voice += (gains + 0.02) / harmonic**0.3 * np.sin(harmonic * phase)
    envelope = np.sin(np.pi * np.minimum(1, time / max(time[-1], 1e-9))) ** 0.5
    onset = 0.3 * random.standard_normal(count) * np.exp(-time / 0.02)
    voice = envelope * voice / max(np.abs(voice).max(), 1e-9)
    return np.asarray(voice + onset)


def frames(sound: np.ndarray) -> np.ndarray:
    """[steps, CONTEXT + FRAME]: each step with the samples before it."""
    padded = np.concatenate([np.zeros(CONTEXT, np.float32), sound])
    steps = len(sound) // FRAME
    return np.stack([padded[step * FRAME : step * FRAME + CONTEXT + FRAME] for step in range(steps)])


def silero_folder() -> Path | None:
    """The folder of Silero's models; None where the package is not installed (pip install --no-deps silero-vad)."""
    found = importlib.util.find_spec("silero_vad")
    return Path(found.origin).parent / "data" if found and found.origin else None
