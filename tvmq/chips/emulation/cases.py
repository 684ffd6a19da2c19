"""Test vectors for the operators of a described chip: which cases there are, and their arrays.

Every case belongs to an operator and a branch of its arithmetic:

    ties              real results half-way between two codes, and the sums beside them
    rules             sums on which the known requantize rules disagree
    saturation        real results at and beyond the ends of the codes, the largest sums
    enlarging         factors of 1 and more
    zero_points       zero points at the ends of their types
    tails             channels and sizes next to multiples of 8, 16 and 32
    strides, padding, dilation, groups     of windows
    extremes          all weights and codes at the ends of their types
    overflow          sums that leave the accumulators, where the description says what happens then
    usual             nothing of all this

All comes from one seed: the same description gives the same bytes.

Tests: tests/chips/emulation/test_conformance.py
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from tvmq.backends.description import Backend
from tvmq.chips.emulation.arithmetic import Arithmetic
from tvmq.chips.emulation.makers import CaseGenerator
from tvmq.chips.emulation.single import OperatorResult, make
from tvmq.numerics.known_rules import KNOWN_RULES
from tvmq.numerics.requantize_rule import RequantizeRule, apply

TAILS = (1, 3, 7, 8, 9, 15, 16, 17, 31, 33)
# Operator of a case -> families of a description that have it.
FAMILIES = {
    "conv2d": ("conv2d",), "depthwise": ("conv2d",), "dense": ("dense",), "multiply": ("multiply",),
    "average": ("avg_pool", "mean"), "add": ("add",), "maximum": ("max_pool",), "pad": ("pad", "conv2d"),
    "table": ("table",),
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Vector:
    """Test vector of one operator.

    name        of its file, "strides_2"
    operator    of single.py
    branch      of the head of this file
    attributes  numbers and texts
    arrays      inputs and constants
    """

    name: str
    operator: str
    branch: str
    attributes: dict[str, Any]
    arrays: dict[str, np.ndarray] = field(default_factory=dict)

    def compute(self, chip: Arithmetic, fault: str = "") -> OperatorResult:
        """Compute the result of the chip."""
        return make(self.operator, self.attributes, self.arrays, chip, fault)


def cases_of(backend: Backend, seed: int = 0) -> list[Vector]:
    """All cases of a description, in order."""
    random = np.random.default_rng(seed)
    generators = {
        "requantize": _requantize, "conv2d": _conv2d, "depthwise": _depthwise, "dense": _dense, "multiply": _multiply,
        "average": _average, "add": _add, "maximum": _maximum, "pad": _pad, "table": _table,
        "quantize": _conversions, "dequantize": _conversions,
    }  # fmt: skip
    cases: dict[str, Vector] = {}
    for operator, generate in generators.items():
        families = FAMILIES.get(operator)
        has = families is None or backend.families is None or backend.families.intersection(families)
        if not has or (operator == "table" and not backend.tables):
            continue
        if operator in ("quantize", "dequantize") and not backend.floats:
            continue
        for case in generate(CaseGenerator(backend, operator, random), operator):
            cases.setdefault(f"{case.operator}/{case.name}", case)
    return list(cases.values())


def _requantize(make: CaseGenerator, operator: str) -> Iterator[Vector]:
    """Sums that are given: the rule alone."""
    w = "int8"
    for dtype in make.types:
        for branch, exponents in (("ties", (-12, -1)), ("small", (-30, -18)), ("enlarging", (0, 6))):
            a = make.ends(dtype, w, dtype)
            scale_w = make.scale(*exponents, make.channels(32)) * np.float32(a["y_scale"] / a["x_scale"])
            wide = np.broadcast_to(make.rule.factor(a["x_scale"], scale_w, a["y_scale"]), (24, 32))
            if make.rule.order == "divide":
                wide = wide / a["y_scale"]
            acc = make.sums_near(wide, a, "ties").astype(np.int32)
            yield Vector(f"{branch}_{dtype}", operator, "ties" if branch == "small" else branch, a,
                       {"acc": acc, "scale_w": np.asarray(scale_w, np.float32)})  # fmt: skip
        yield _exact_ties(make, dtype, w)
        yield _large_sums(make, dtype, w)
        yield _known_rules(make, dtype, w)
        a = make.ends(dtype, w, dtype)
        scale_w = make.scale(-9, -2, make.channels(32)) * np.float32(a["y_scale"] / a["x_scale"])
        limit = 2 ** (make.chip.accumulator.bits - 1)
        acc = make.random.choice(np.array([-limit, -limit + 1, -1, 0, 1, limit - 2, limit - 1]), (16, 32))
        yield Vector(f"saturation_{dtype}", operator, "saturation", a,
                   {"acc": acc.astype(np.int32), "scale_w": np.asarray(scale_w, np.float32)})  # fmt: skip


def _exact_ties(make: CaseGenerator, dtype: str, w: str) -> Vector:
    """Scales that are powers of two: real ties, of both signs."""
    a = make.ends(dtype, w, dtype, x_scale=0.25, y_scale=0.5)
    scale_w = np.exp2(make.random.integers(-20, 0, make.channels(32))).astype(np.float32)
    factor = np.broadcast_to(make.rule.factor(0.25, scale_w, 1.0) * 2, (24, 32))
    acc = np.clip(make.sums_near(factor, a, "ties"), -(2**29), 2**29)
    return Vector(f"exact_{dtype}", "requantize", "ties", a, {"acc": acc.astype(np.int32), "scale_w": scale_w})


def _large_sums(make: CaseGenerator, dtype: str, w: str) -> Vector:
    """Sums of all sizes times factors of 1 and more: what is shifted to the left can leave 32 bits."""
    a = make.ends(dtype, w, dtype, x_scale=0.25, y_scale=0.5)
    scale_w = make.scale(2, 9, make.channels(32))
    limit = 2 ** (make.chip.accumulator.bits - 1)
    size = make.random.integers(4, make.chip.accumulator.bits, (24, 32))
    acc = np.clip(make.random.integers(-1, 2, (24, 32)) * 2.0**size * 0.97, -limit, limit - 1)
    return Vector(f"large_{dtype}", "requantize", "enlarging", a, {"acc": acc.astype(np.int32), "scale_w": scale_w})


def _known_rules(make: CaseGenerator, dtype: str, w: str) -> Vector:
    """Sums on which two of the known rules, each pair of them, disagree."""
    a = make.ends(dtype, w, dtype)
    scale_w = np.asarray(make.scale(-22, -6, 1) * np.float32(a["y_scale"] / a["x_scale"]), np.float32)
    factor = RequantizeRule().factor(a["x_scale"], scale_w, a["y_scale"])
    acc = make.sums_near(np.broadcast_to(factor, (40000,)), a, "ties").astype(np.int32)
    codes = {"zero_point": a["y_zero"], "dtype": dtype}
    results = [
        apply(rule, acc, rule.factor(a["x_scale"], scale_w, a["y_scale"])[0], **codes)
        for rule in KNOWN_RULES.values()
        if (rule.arithmetic == "shift") == make.shifts and rule.order == "one_factor"
    ]
    apart = [np.flatnonzero(one != other)[:16] for one, other in itertools.combinations(results, 2)]
    at = np.unique(np.concatenate(apart))
    kept = np.resize(acc[at] if len(at) else acc, (256, 1))
    return Vector(f"rules_{dtype}", "requantize", "rules", a, {"acc": kept, "scale_w": scale_w})


def _layers(
    make: CaseGenerator, name: str, operator: str, branch: str, *, shape: tuple[int, ...], filters: int,
    kernel: int = 3, groups: int = 1, places: str = "ties", extreme: bool = False,
    exponents: tuple[int, int] = (-7, -5), **attributes: Any,
) -> Iterator[Vector]:  # fmt: skip
    """Convolutions and products whose biases take sums to ties or ends, in all types of activations."""
    w_type, largest = "int8", make.largest_weight
    for dtype in make.types:
        a = make.ends(dtype, w_type, dtype, groups=groups)
        if operator != "dense":
            a |= {"strides": [1, 1], "padding": [0, 0, 0, 0], "dilation": [1, 1]}
        a |= {key: value(dtype) if callable(value) else value for key, value in attributes.items()}
        wide = (filters, shape[1] // groups, kernel, kernel) if operator != "dense" else (shape[1], filters)
        x, w = make.codes(dtype, shape), make.weights(wide)
        if extreme:
            x = make.random.choice(np.array([np.iinfo(dtype).min, np.iinfo(dtype).max]), shape).astype(dtype)
            w = make.random.choice(np.array([-largest, largest]), wide).astype(w_type)
        depth = w.size // filters
        if branch != "overflow":
            w = make.fit_weights(w, depth)
        size = 0 if make.shifts else 3 - np.log2(depth) / 2  # of a sum of so many products
        scale_w = make.scale(exponents[0] + size, exponents[1] + size, make.channels(filters))
        arrays = {"x": x, "w": w, "bias": np.zeros(filters, np.int32), "scale_w": scale_w}
        bare = Vector(f"{name}_{dtype}", operator, branch, a, arrays).compute(Arithmetic(rule=make.chip.rule))
        assert bare.acc is not None
        axis = 1 if operator != "dense" else -1
        sums = np.moveaxis(bare.acc, axis, 0).reshape(filters, -1)
        arrays["bias"] = make.bias_for(a, sums, scale_w, places)
        yield Vector(f"{name}_{dtype}", operator, branch, a, arrays)


def _conv2d(make: CaseGenerator, operator: str) -> Iterator[Vector]:
    """Convolutions."""
    one: dict[str, Any] = {"shape": (1, 8, 7, 7), "filters": 16}
    yield from _layers(make, "usual", operator, "usual", **one)
    yield from _layers(make, "ties", operator, "ties", shape=(1, 4, 5, 5), filters=64, kernel=1)
    yield from _layers(make, "small", operator, "ties", shape=(1, 4, 5, 5), filters=256, kernel=1, exponents=(-28, -16))
    yield from _layers(make, "saturation", operator, "saturation", **one, places="ends")
    yield from _layers(make, "extremes", operator, "extremes", **one, extreme=True)
    for stride in (2, 3):
        yield from _layers(make, f"strides_{stride}", operator, "strides", **one, strides=[stride, stride])
    yield from _layers(make, "strides_2_1", operator, "strides", **one, strides=[2, 1], padding=[0, 1, 1, 0])
    yield from _layers(make, "padding", operator, "padding", **one, padding=[1, 1, 1, 1])
    yield from _layers(make, "padding_uneven", operator, "padding", **one, padding=[0, 2, 1, 0])
    yield from _layers(make, "dilation", operator, "dilation", **one, dilation=[2, 2])
    yield from _layers(make, "groups", operator, "groups", **one, groups=4)
    for channels in TAILS:
        yield from _layers(make, f"tail_{channels}", operator, "tails", shape=(1, channels, 5, 4), filters=channels)
    yield from _zero_ends(make, operator, shape=(1, 8, 6, 6), filters=8, padding=[1, 1, 1, 1])
    yield from _overflow(make, operator, shape=(1, 33, 4, 4), filters=16)


def _depthwise(make: CaseGenerator, operator: str) -> Iterator[Vector]:
    """Cases of depthwise convolutions: one filter a channel."""
    for channels in (1, 7, 16, 33):
        tail: dict[str, Any] = {"shape": (1, channels, 7, 6), "filters": channels, "groups": channels}
        yield from _layers(make, f"tail_{channels}", operator, "tails", **tail, padding=[1, 1, 1, 1])
    one: dict[str, Any] = {"shape": (1, 16, 9, 9), "filters": 16, "groups": 16}
    yield from _layers(make, "strides_2", operator, "strides", **one, strides=[2, 2], padding=[1, 1, 1, 1])
    far: dict[str, Any] = {"shape": (1, 256, 4, 4), "filters": 256, "groups": 256, "kernel": 1}
    yield from _layers(make, "ties", operator, "ties", **far)
    yield from _layers(make, "small", operator, "ties", **far, exponents=(-28, -16))
    yield from _layers(make, "kernel_5", operator, "usual", **one, kernel=5, padding=[2, 2, 2, 2])


def _dense(make: CaseGenerator, operator: str) -> Iterator[Vector]:
    """Products with constant matrices."""
    for depth in (*TAILS, 64):
        yield from _layers(make, f"tail_{depth}", operator, "tails", shape=(3, depth), filters=10)
    yield from _layers(make, "saturation", operator, "saturation", shape=(4, 64), filters=32, places="ends")
    yield from _layers(make, "small", operator, "ties", shape=(4, 16), filters=256, exponents=(-28, -16))
    yield from _layers(make, "extremes", operator, "extremes", shape=(4, 64), filters=32, extreme=True)
    yield from _zero_ends(make, operator, shape=(4, 32), filters=16)
    yield from _overflow(make, operator, shape=(4, 512), filters=16)


def _zero_ends(make: CaseGenerator, operator: str, **options: Any) -> Iterator[Vector]:
    if make.is_symmetric:
        return
    for name, end in (("low", "min"), ("high", "max")):
        at_end = partial(_end, end)
        zeros: dict[str, Any] = {"x_zero": at_end, "y_zero": at_end}
        yield from _layers(make, f"zero_{name}", operator, "zero_points", **options, **zeros)


def _end(end: str, dtype: str) -> int:
    return int(getattr(np.iinfo(dtype), end))


def _overflow(make: CaseGenerator, operator: str, **options: Any) -> Iterator[Vector]:
    """Sums that leave the accumulators, in an order that matters."""
    if make.chip.accumulator.overflow == "proved":
        return
    yield from _layers(make, "overflow", operator, "overflow", **options, extreme=True)
    yield from _layers(make, "overflow_random", operator, "overflow", **options)


def _pairs(make: CaseGenerator, operator: str, branch: str, name: str, **attributes: Any) -> Iterator[Vector]:
    """Two tensors of codes."""
    for dtype in make.types:
        a = make.ends(dtype, dtype, dtype, w_scale=float(make.scale(-6, -3)), w_zero=make.zero(dtype))
        a |= {key: value(dtype) if callable(value) else value for key, value in attributes.items()}
        both = np.arange(256).astype(np.uint8).view(dtype)
        x, w = np.meshgrid(both, make.random.permutation(both)[:32])
        yield Vector(f"{name}_{dtype}", operator, branch, a, {"x": x[None], "w": w[None]})


def _multiply(make: CaseGenerator, operator: str) -> Iterator[Vector]:
    """Products of codes."""
    yield from _pairs(make, operator, "usual", "usual")
    for exponent in (0, 3, 6):
        yield from _pairs(make, operator, "ties", f"ties_{exponent}", x_scale=0.25, w_scale=0.25, y_scale=2.0**exponent)
    yield from _pairs(make, operator, "saturation", "saturation", y_scale=2.0**-9)


def _add(make: CaseGenerator, operator: str) -> Iterator[Vector]:
    """Residual adds, all codes of one side beside some of the other."""
    yield from _pairs(make, operator, "usual", "usual")
    yield from _pairs(make, operator, "ties", "ties", x_scale=0.25, w_scale=0.125, y_scale=0.5)
    yield from _pairs(make, operator, "saturation", "saturation", y_scale=2.0**-8)
    yield from _pairs(make, operator, "enlarging", "enlarging", x_scale=0.5, y_scale=0.0625)


def _windows(make: CaseGenerator, operator: str, name: str, branch: str, size: int, **options: Any) -> Iterator[Vector]:
    for dtype in make.types:
        a = make.ends(dtype, dtype, dtype, kernel=[3, 3], strides=[1, 1], padding=[0, 0, 0, 0])
        if operator == "average" and make.shifts:
            a["kernel"] = [2, 2]
        yield Vector(f"{name}_{dtype}", operator, branch, a | options, {"x": make.codes(dtype, (2, 3, size, size))})


def _average(make: CaseGenerator, operator: str) -> Iterator[Vector]:
    """Averages: windows and whole pictures."""
    yield from _windows(make, operator, "usual", "usual", 7)
    yield from _windows(make, operator, "strides_2", "strides", 8, kernel=[2, 2], strides=[2, 2])
    yield from _windows(make, operator, "whole", "usual", 8, kernel=[8, 8])
    yield from _windows(make, operator, "ties", "ties", 16, kernel=[2, 2], x_scale=0.25, y_scale=0.25)


def _maximum(make: CaseGenerator, operator: str) -> Iterator[Vector]:
    """Maximum pooling."""
    yield from _windows(make, operator, "usual", "usual", 7)
    yield from _windows(make, operator, "strides_2", "strides", 9, strides=[2, 2])
    yield from _windows(make, operator, "padding", "padding", 7, strides=[2, 2], padding=[1, 1, 1, 1])


def _pad(make: CaseGenerator, operator: str) -> Iterator[Vector]:
    """Borders."""
    yield from _windows(make, operator, "usual", "padding", 5, padding=[1, 2, 0, 3])


def _table(make: CaseGenerator, operator: str) -> Iterator[Vector]:
    """All codes."""
    for dtype in make.types:
        x = np.arange(256).astype(np.uint8).view(dtype).reshape(1, 256)
        arrays = {"x": x, "values": make.codes(dtype, (256,))}
        yield Vector(f"all_{dtype}", operator, "usual", make.ends(dtype, dtype, dtype), arrays)


def _conversions(make: CaseGenerator, operator: str) -> Iterator[Vector]:
    """Codes of floats, ties among them; floats of codes."""
    for dtype in make.types:
        a = make.ends(dtype, dtype, dtype)
        if operator == "dequantize":
            x = np.arange(256).astype(np.uint8).view(dtype).reshape(1, 256)
            yield Vector(f"all_{dtype}", operator, "usual", a, {"x": x})
            continue
        halves = (np.arange(-600, 600) + 0.5).astype(np.float32) * np.float32(a["y_scale"])
        plain = make.random.normal(0, 100 * a["y_scale"], 848).astype(np.float32)
        yield Vector(f"ties_{dtype}", operator, "ties", a, {"x": np.concatenate([halves, plain])[None]})


__all__ = ["FAMILIES", "Vector", "cases_of"]
