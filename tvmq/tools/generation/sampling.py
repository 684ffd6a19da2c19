"""Which token follows: the best one, or one that is drawn, the same on every machine.

    draw_bits(seed, position)   64 random bits, a function of both numbers alone (SplitMix64)
    choose_token(logits, ...)   integers from logits: whole-number weights, an exact sum, a place in it

Weights are numerics.softmax's exponentials in steps of 2^-24, so nothing depends on a library's exp or on an order of
sums.

Tests: tests/tools/generation/test_generate.py
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tvmq.errors import ConfigError, DataError
from tvmq.numerics.softmax import exp_negative

MASK, STEP = 2**64 - 1, 11400714819323198485
WEIGHT_BITS = 24


@dataclass(frozen=True)
class Sampling:
    """How tokens are chosen.

    temperature  0: the token of the highest logit, the first one of several; else logits are divided by it
    top_k        of so many highest logits alone; None: of all
    seed         of the drawing; a text and a position have their own draws
    """

    temperature: float = 0.0
    top_k: int | None = None
    seed: int = 0

    def check(self) -> Sampling:
        """Itself; raises ConfigError for a number out of its range."""
        if not _is_real(self.temperature) or not 0 <= self.temperature <= 1e6:
            raise ConfigError(f"generate: temperature must be a number of 0 to 1e6. Got {self.temperature!r} instead")
        if self.top_k is not None and (not _is_whole(self.top_k) or self.top_k < 1):
            raise ConfigError(f"generate: top_k must be a whole number of at least 1. Got {self.top_k!r} instead")
        if not _is_whole(self.seed) or not 0 <= self.seed <= MASK:
            raise ConfigError(f"generate: seed must be a whole number of 0 to 2**64 - 1. Got {self.seed!r} instead")
        return self

    def choose(self, logits: np.ndarray, position: int) -> int:
        """The token behind a position.

        logits  float32 [words]
        raises  DataError for logits that are not finite
        """
        if not np.isfinite(logits).all():
            raise DataError(f"generate: the logits of position {position} hold NaN or infinities; `tvmq verify` names "
                            "the layer where they begin")  # fmt: skip
        if not np.float32(self.temperature):
            return int(np.argmax(logits))
        weights = weigh(logits, np.float32(self.temperature), self.top_k)
        ends = np.cumsum(weights)
        place = draw_bits(self.seed, position) * int(ends[-1]) >> 64
        return int(np.searchsorted(ends, place, side="right"))


def weigh(logits: np.ndarray, temperature: np.float32, top_k: int | None = None) -> np.ndarray:
    """Weights of tokens, int64 of 0 to 2^24; that of the highest logit is 2^24.

    order  d = (logits - their maximum) / temperature in float32; rint(exp_negative(d) * 2^24); 0 for what is not among
           the top_k highest, of equal ones those that come first

    >>> weigh(np.float32([1, 0, 1]), np.float32(1), 2).tolist()
    [16777216, 0, 16777216]
    """
    logits = np.asarray(logits, np.float32)
    with np.errstate(over="ignore"):  # a small temperature: what is lower has no weight
        powers = exp_negative((logits - logits.max()) / temperature)
    weights = np.rint(powers * np.float32(2**WEIGHT_BITS)).astype(np.int64)
    if top_k is not None and top_k < len(logits):
        weights[np.argsort(-logits, kind="stable")[top_k:]] = 0
    return weights


def draw_bits(seed: int, position: int) -> int:
    """64 bits of SplitMix64: its number `position` from the seed.

    >>> draw_bits(0, 0)
    16294208416658607535
    """
    value = seed + (position + 1) * STEP & MASK
    value = (value ^ value >> 30) * 13787848793156543929 & MASK
    value = (value ^ value >> 27) * 10723151780598845931 & MASK
    return value ^ value >> 31


def _is_whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _is_real(value: Any) -> bool:
    return _is_whole(value) or isinstance(value, float | np.floating)
