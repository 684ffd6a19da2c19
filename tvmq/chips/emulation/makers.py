"""Numbers for test vectors of one operator of a described chip: codes, scales, zero points, biases that hit corners.

Tests: tests/chips/emulation/test_conformance.py
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from tvmq.backends.description import Backend
from tvmq.chips.emulation.arithmetic import Arithmetic, arithmetic_of
from tvmq.numerics.code_type import CODE_TYPES, CODES_8, CodeType
from tvmq.numerics.requantize_rule import RequantizeRule

# Operator of a case -> the family of a description that speaks of it, and whether it is depthwise.
FAMILY = {
    "conv2d": ("conv2d", False), "depthwise": ("conv2d", True), "dense": ("dense", False),
    "multiply": ("multiply", False), "average": ("avg_pool", False), "add": ("add", False),
    "maximum": ("max_pool", False), "pad": ("pad", False), "table": ("table", False),
}  # fmt: skip


def chip_of(backend: Backend, operator: str) -> Arithmetic:
    """How a chip computes an operator of a case; one that names modes alone has the rule of the first of them."""
    family, depthwise = FAMILY.get(operator, ("", False))
    return replace(arithmetic_of(backend, family, depthwise=depthwise), rule=backend.rule(family, depthwise=depthwise))


class CaseGenerator:
    """Draws what one operator of a description may be given.

    random  where all numbers come from
    """

    def __init__(self, backend: Backend, operator: str, random: np.random.Generator) -> None:
        self.backend, self.random, self.chip = backend, random, chip_of(backend, operator)
        family, depthwise = FAMILY.get(operator, ("", False))
        self.entry = backend.entry(family, depthwise=depthwise) if family else None
        self.rule = self.chip.rule or RequantizeRule()
        self.shifts = self.rule.arithmetic == "shift"

    @property
    def types(self) -> list[str]:
        """8-bit types of activations."""
        inputs = self.entry.inputs if self.entry else None
        own = [CODE_TYPES[name] for name in inputs.dtype] if inputs else []
        types = [kind.storage for kind in own if kind.bits == 8] or list(self.backend.activations)
        return [dtype for dtype in dict.fromkeys(types) if dtype in CODES_8]

    @property
    def largest_weight(self) -> int:
        """Largest code of its weights, which are symmetric; 16-bit ones are drawn from 8 bits."""
        form = self.entry.weights if self.entry else None
        return CodeType(min(CODE_TYPES[form.dtype[0]].bits if form and form.dtype else 8, 8)).limits[1]

    @property
    def is_symmetric(self) -> bool:
        """True where 0.0 has the code 0."""
        inputs = self.entry.inputs if self.entry else None
        return not self.backend.zero_points or (inputs is not None and inputs.scheme == "symmetric")

    # ---- what is drawn

    def scale(self, low: float, high: float, count: int | None = None) -> np.ndarray:
        """Scales between powers of two; powers of two themselves where the chip has nothing but shifts."""
        exponent = self.random.uniform(low, high, count)
        exact = np.rint(exponent) if self.shifts else exponent
        return np.asarray(np.exp2(exact), np.float32)

    def codes(self, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
        """Codes of all values."""
        limits = np.iinfo(dtype)
        return self.random.integers(limits.min, limits.max, shape, endpoint=True).astype(dtype)

    def weights(self, shape: tuple[int, ...]) -> np.ndarray:
        """Codes of weights."""
        most = self.largest_weight
        return self.random.integers(-most, most, shape, endpoint=True).astype(np.int8)

    def zero(self, dtype: str) -> int:
        """A zero point, 0 where the chip has none."""
        limits = np.iinfo(dtype)
        if self.is_symmetric:
            return 0
        return int(self.random.integers(limits.min, limits.max, endpoint=True))

    def ends(self, x: str, w: str, y: str, **changes: Any) -> dict[str, Any]:
        """Scales, zero points and limits of codes."""
        limits = np.iinfo(y)
        attributes = {
            "x_dtype": x, "w_dtype": w, "dtype": y, "qmin": int(limits.min), "qmax": int(limits.max),
            "x_zero": self.zero(x), "y_zero": self.zero(y), "x_scale": float(self.scale(-6, -3)),
            "y_scale": float(self.scale(-5, -2)),
        }  # fmt: skip
        return attributes | changes

    def channels(self, count: int) -> int:
        """Scales of a weight: one a channel where the chip has that."""
        form = self.entry.weights if self.entry else None
        granularity = form.granularity if form and form.granularity else None
        return count if granularity != "per_tensor" and (self.backend.per_channel or granularity) else 1

    def bias_for(self, a: dict[str, Any], sums: np.ndarray, scale_w: np.ndarray, places: str) -> np.ndarray:
        """A bias for each channel that takes one sum of it to a tie, or to where codes saturate.

        sums  [channels, places] without the bias
        """
        factor = np.broadcast_to(
            self.rule.factor(np.float32(a["x_scale"]), scale_w, np.float32(a["y_scale"]))
            / (np.float64(a["y_scale"]) if self.rule.order == "divide" else 1.0),
            len(sums),
        )
        wanted = self.sums_near(factor, a, places)
        limit = 2 ** (self.chip.bias_bits - 1) - 1
        at = self.random.integers(sums.shape[1], size=len(sums))
        return np.clip(wanted - sums[np.arange(len(sums)), at], -limit, limit).astype(np.int32)

    def fit_weights(self, w: np.ndarray, depth: int) -> np.ndarray:
        """Weights whose sums take a quarter of narrow accumulators: smaller ones, or only a few that are 1 or -1."""
        if self.chip.accumulator.bits == 32:
            return w
        most = self.chip.accumulator.maximum // 4 // 255
        if most >= depth:
            return np.asarray(np.clip(w, -(most // depth), most // depth))
        kept = self.random.random(w.shape) < most / depth / 2
        return np.asarray((np.sign(w) * kept).astype(w.dtype))

    def sums_near(self, factor: np.ndarray, a: dict[str, Any], places: str) -> np.ndarray:
        """Sums beside ties, or beside the ends of the codes, for real factors."""
        low, high = a["qmin"] - a["y_zero"], a["qmax"] - a["y_zero"]
        if places == "ends":
            steps = self.random.choice([low - 1, low, high, high + 1], factor.shape)
        else:
            steps = self.random.integers(low, high, factor.shape, endpoint=True)
        limit = 2 ** (self.chip.accumulator.bits - 1) - 1
        limit = limit // (2 if limit == 2**31 - 1 else 4)  # the other sums of the channel fit as well
        beside = self.random.integers(-1, 2, factor.shape)
        return np.clip(np.rint((steps + 0.5) / factor) + beside, -limit - 1, limit).astype(np.int64)
