"""Sums of two tensors of codes, as tools make them: what a device that adds in another way than tvmq may do.

Each form takes the attributes of a case (single.py) and the two arrays of codes and gives codes. Real factors are
ra = scale_a / scale_y and rb = scale_b / scale_y.

Tests: tests/chips/emulation/test_conformance.py
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from tvmq.numerics.known_rules import KNOWN_RULES
from tvmq.numerics.requantize_rule import apply
from tvmq.numerics.rule_arithmetic import fused_multiply_add

Form = Callable[[Mapping[str, Any], np.ndarray, np.ndarray], np.ndarray]
TFLITE_SHIFT = 20  # inputs are shifted to the left by it before they are scaled


def _codes(a: Mapping[str, Any], steps: np.ndarray, zero: int) -> np.ndarray:
    return np.asarray(np.clip(np.rint(steps.astype(np.float64)) + zero, a["qmin"], a["qmax"]).astype(a["dtype"]))


def _steps(a: Mapping[str, Any], x: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return (x.astype(np.float32) - np.float32(a["x_zero"])), (w.astype(np.float32) - np.float32(a["w_zero"]))


def _ratios(a: Mapping[str, Any]) -> tuple[Any, Any]:
    y = np.float32(a["y_scale"])
    return np.float32(np.float32(a["x_scale"]) / y), np.float32(np.float32(a["w_scale"]) / y)


def scaled_steps(a: Mapping[str, Any], x: np.ndarray, w: np.ndarray, *, fused: bool, early: bool) -> np.ndarray:
    """float32: (a - zero_a) * ra + (b - zero_b) * rb, rounded to even; early: the zero point is added before that."""
    (p, q), (ra, rb) = _steps(a, x, w), _ratios(a)
    total = fused_multiply_add(p, ra, q * rb) if fused else p * ra + q * rb
    if early:
        return _codes(a, total + np.float32(a["y_zero"]), 0)
    return _codes(a, total, a["y_zero"])


def folded_zeros(a: Mapping[str, Any], x: np.ndarray, w: np.ndarray, *, b_first: bool) -> np.ndarray:
    """float32: the zero points in one constant, to which the scaled codes are added by fused multiply-adds."""
    ra, rb = _ratios(a)
    zeros = ra * np.float32(a["x_zero"]) + rb * np.float32(a["w_zero"])
    constant = np.float32(np.float32(a["y_zero"]) - zeros)
    pairs = [(x.astype(np.float32), ra), (w.astype(np.float32), rb)]
    total: Any = constant
    for codes, ratio in reversed(pairs) if b_first else pairs:
        total = fused_multiply_add(codes, ratio, total)
    return _codes(a, total, 0)


def real_numbers(a: Mapping[str, Any], x: np.ndarray, w: np.ndarray, *, reciprocal: bool, fused: bool) -> np.ndarray:
    """float32: both dequantized, added, quantized again by a division or by a product with 1 / scale."""
    p, q = _steps(a, x, w)
    second = q * np.float32(a["w_scale"])
    scale: Any = np.float32(a["x_scale"])
    real = fused_multiply_add(p, scale, second) if fused else p * scale + second
    y = np.float32(a["y_scale"])
    return _codes(a, real * np.float32(1 / y) if reciprocal else real / y, a["y_zero"])


def in_integers(a: Mapping[str, Any], x: np.ndarray, w: np.ndarray, *, rule: str) -> np.ndarray:
    """Both shifted by 20 bits, scaled to twice the larger scale, added, and scaled to the result: a rule thrice."""
    twice = 2.0 * max(np.float64(np.float32(a["x_scale"])), np.float64(np.float32(a["w_scale"])))
    total: Any = 0
    for codes, side in ((x, "x"), (w, "w")):
        steps = (codes.astype(np.int64) - a[f"{side}_zero"]) << TFLITE_SHIFT
        total = total + _scale_steps(steps, np.float64(np.float32(a[f"{side}_scale"])) / twice, rule)
    factor = twice / (2.0**TFLITE_SHIFT * np.float64(np.float32(a["y_scale"])))
    steps = apply(KNOWN_RULES[rule], np.asarray(total), factor, zero_point=0, dtype="int16")
    return np.asarray(np.clip(steps.astype(np.int64) + a["y_zero"], a["qmin"], a["qmax"]).astype(a["dtype"]))


def _scale_steps(steps: np.ndarray, factor: float, rule: str) -> np.ndarray:
    """Numbers of 32 bits times a factor below 1, by a rule; the result is no code."""
    multiplier, shift = (constant.astype(np.int64) for constant in KNOWN_RULES[rule].constants(factor))
    return KNOWN_RULES[rule].round_products(steps, multiplier, shift)


# Words behind "it" -> form.
ADD_FORMS: dict[str, Form] = {
    "adds float32 steps, products and sum rounded each": partial(scaled_steps, fused=False, early=False),
    "adds float32 steps by a fused multiply-add": partial(scaled_steps, fused=True, early=False),
    "adds float32 steps and the zero point before rounding": partial(scaled_steps, fused=False, early=True),
    "adds float32 steps by a fused multiply-add, and the zero point before rounding": partial(
        scaled_steps, fused=True, early=True
    ),
    "adds scaled codes to one float32 constant by fused multiply-adds": partial(folded_zeros, b_first=False),
    "adds scaled codes to one float32 constant by fused multiply-adds, the second first": partial(
        folded_zeros, b_first=True
    ),
    "adds real numbers in float32 and divides by the scale": partial(real_numbers, reciprocal=False, fused=False),
    "adds real numbers by a fused multiply-add and divides by the scale": partial(
        real_numbers, reciprocal=False, fused=True
    ),
    "adds real numbers in float32 and multiplies by 1 / scale": partial(real_numbers, reciprocal=True, fused=False),
    "adds real numbers by a fused multiply-add and multiplies by 1 / scale": partial(
        real_numbers, reciprocal=True, fused=True
    ),
    "adds integers of 20 more bits by three requantizations of rule tflite": partial(in_integers, rule="tflite"),
    "adds integers of 20 more bits by three requantizations of rule tflite_single": partial(
        in_integers, rule="tflite_single"
    ),
}
