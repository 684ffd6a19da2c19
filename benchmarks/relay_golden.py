"""Thresholds, scales, multipliers and shifts of relay.quantize, beside those of Relay.

    python benchmarks/relay_golden.py

Columns   what; Relay: a number that Relay v0.19 gave (its compiled KL search), or what its formulas give, written here
          a second time in whole numbers and without any code of tvmq; tvmq: that of the code that users run; equal
Parts     thresholds      KL divergence and percentile of six sets of samples, in one piece; by a model in ten batches
          weights         power2 and max, scales and codes
          fixed point     multiplier and shift of a factor, products in both roundings
          models          input, weight and bias scales, bias codes, multipliers and shifts in the integer module, for
                          Relay's defaults and for `max` weights with data
Bound     every row is equal. Exit code 1 where one is not.
"""

from __future__ import annotations

import math
from argparse import Namespace
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import tvm
from harness.command import Command
from harness.report import columns
from tvm import relax

from tvmq import relay
from tvmq.graph.view import View, const_value, op_name
from tvmq.numerics import fixed_point_multiply, fixed_point_parameters
from tvmq.relay.quantize._calibrate import _find_scale_by_percentile
from tvmq.relay.quantize.kl_divergence import _find_scale_by_kl
from tvmq.relay.quantize.thresholds import relay_max, relay_power2

# samples -> thresholds of Relay's own routine, compiled alone, and its percentile
THRESHOLDS: dict[str, tuple[str, str]] = {
    "seed 0: randn(100000)": ("4.01401901", "4.8521175"),
    "seed 1: maximum(randn(100000), 0)": ("3.86700821", "4.1681175"),
    "seed 2: laplace(size=100000)": ("8.85678101", "10.552956"),
    "seed 3: randn(100000), first 10 set to 40": ("4.44444275", "40"),
    "seed 4: uniform(size=4320)": ("0.997615457", "0.99936402"),
    "zeros(1000)": ("0.0159354806", "0"),
}


@dataclass(frozen=True)
class Row:
    """A comparison."""

    what: str
    reference: str
    ours: str

    @property
    def equal(self) -> bool:
        """True if both are the same text, of all digits that float32 has."""
        return self.reference == self.ours


def samples() -> list[np.ndarray]:
    """The samples of THRESHOLDS, in its order."""
    spiked = np.random.RandomState(3).randn(100000)
    spiked[:10] = 40
    found = [
        np.random.RandomState(0).randn(100000),
        np.maximum(np.random.RandomState(1).randn(100000), 0),
        np.random.RandomState(2).laplace(size=100000),
        spiked,
        np.random.RandomState(4).uniform(size=4320),
        np.zeros(1000),
    ]
    return [one.astype("float32") for one in found]


def thresholds() -> Iterator[Row]:
    """Thresholds of given samples."""
    for (name, (divergence, percentile)), values in zip(THRESHOLDS.items(), samples(), strict=True):
        yield Row(f"KL threshold, {name}", divergence, f"{_find_scale_by_kl(values):.9g}")
        yield Row(f"percentile threshold, {name}", percentile, f"{_find_scale_by_percentile(values):.8g}")


def thresholds_of_models() -> Iterator[Row]:
    """Scales of a model's input whose data are the first samples, in ten batches."""
    batches = samples()[0].reshape(10, 1, 4, 50, 50)
    for mode, threshold in zip(("kl_divergence", "percentile"), next(iter(THRESHOLDS.values())), strict=True):
        config = relay.quantize.qconfig(calibrate_mode=mode, skip_conv_layers=[])
        found = integers(network(4, 50), config, [{"data": batch} for batch in batches])
        yield Row(f"{mode}, ten batches: scale", shown(np.float32(threshold) / np.float32(128)), shown(found["x"]))


def weights() -> Iterator[Row]:
    """Thresholds of constants."""
    powers = [0.9, 0.5, 0.3, 1.0, 256.0, 1e-3, 3e7, 2.0**-20]
    for largest in map(np.float32, powers):
        values = np.array([largest / 3, -largest], np.float32)
        mantissa, exponent = math.frexp(float(largest))
        power = 2.0 ** (exponent - (mantissa == 0.5))
        yield Row(f"power2 of {largest:g}", repr(power), repr(relay_power2(values)))
        yield Row(f"max of {largest:g}", repr(float(largest)), repr(relay_max(values)))
    yield Row("power2 of zeros", "1.0", repr(relay_power2(np.zeros(3, np.float32))))


def multiplier_and_shift(factor: np.float32) -> tuple[int, int]:
    """Relay's (m, e): factor = m * 2^(e - 31), m of 31 bits, by Python's numbers."""
    mantissa, exponent = math.frexp(float(factor))
    multiplier = math.floor(mantissa * 2**31 + 0.5)
    return (multiplier // 2, exponent + 1) if multiplier == 2**31 else (multiplier, exponent)


def product(x: int, multiplier: int, shift: int, rounding: str) -> int:
    """Relay's x * m * 2^(e - 31), rounded, in Python's integers, which have no width."""
    if multiplier == 2**30 and rounding == "UPWARD":
        return x << (shift - 1) if shift > 0 else (x + 2**-shift) >> (1 - shift)
    value, places = (x << max(shift, 0)) * multiplier, 31 + max(-shift, 0)
    return (value + 2 ** (places - 1) - (rounding != "UPWARD" and value < 0)) >> places


def fixed_point() -> Iterator[Row]:
    """Multipliers, shifts and products."""
    golden = {0.75: (1610612736, 0), 0.1: (1717986944, -3), 1.3: (1395864320, 1), 0.0037: (2034096512, -8)}
    for factor, expected in golden.items():
        found = fixed_point_parameters(np.float32(factor))
        yield Row(f"multiplier, shift of {factor}", str(expected), str(tuple(int(part) for part in found)))
    x = np.int32([-10, -6, -2, 2, 6, 10])
    for rounding, values in (("UPWARD", [-7, -4, -1, 2, 5, 8]), ("TONEAREST", [-8, -5, -2, 2, 5, 8])):
        ours = fixed_point_multiply(x, *golden[0.75], rounding=rounding)
        yield Row(f"{x.tolist()} * 0.75, {rounding}", str(values), str(ours.tolist()))
    ours = fixed_point_multiply(np.int32([1000, 12345678]), *golden[0.0037])
    yield Row("[1000, 12345678] * 0.0037", "[4, 45679]", str(ours.tolist()))
    yield from random_products()


def random_products(count: int = 2000) -> Iterator[Row]:
    """Digests of many factors and products."""
    random = np.random.RandomState(0)
    factors = np.exp2(random.uniform(-24, 4, count)).astype("float32")
    factors[::10] = np.exp2(np.rint(np.log2(factors[::10])))
    x = random.randint(-(2**24), 2**24, count).astype("int32")
    pairs = [multiplier_and_shift(factor) for factor in factors]
    multipliers, shifts = fixed_point_parameters(factors)
    yield Row(f"multipliers of {count} factors", digest([m for m, _ in pairs]), digest(multipliers))
    yield Row(f"shifts of {count} factors", digest([e for _, e in pairs]), digest(shifts))
    for rounding in ("UPWARD", "TONEAREST"):
        expected = [product(int(one), *pair, rounding) for one, pair in zip(x, pairs, strict=True)]
        ours = fixed_point_multiply(x, multipliers, shifts, axis=0, rounding=rounding)
        small = np.abs(np.array(expected)) < 2**29  # beyond, every code is saturated
        yield Row(f"{small.sum()} products, {rounding}", digest(np.array(expected)[small]), digest(ours[small]))


def network(channels: int = 4, size: int = 8, *, seed: int = 0, weight: float | None = None) -> tvm.IRModule:
    """relu(conv2d(data) + bias) and a conv2d behind it; max|w| = 0.9 and max|bias| = 0.3, or all weights `weight`."""
    random = np.random.RandomState(seed)

    def array(largest: float, *shape: int) -> np.ndarray:
        values = random.uniform(-largest, largest, shape).astype("float32")
        values.flat[0] = largest
        return values if weight is None else np.full(shape, weight, np.float32)

    builder, data = relax.BlockBuilder(), relax.Var("data", relax.TensorType((1, channels, size, size), "float32"))
    with builder.function("main", [data]):
        with builder.dataflow():
            sums = builder.emit(relax.op.nn.conv2d(data, relax.const(array(0.9, 8, channels, 3, 3)), padding=1))
            if weight is None:
                sums = builder.emit(relax.op.add(sums, relax.const(array(0.3, 1, 8, 1, 1))))
            bounded = builder.emit(relax.op.nn.relu(sums))
            last = builder.emit(relax.op.nn.conv2d(bounded, relax.const(array(0.9, 8, 8, 3, 3)), padding=1))
            result = builder.emit_output(last)
        builder.emit_func_output(result)
    return builder.get()


def integers(mod: tvm.IRModule, config: Any, data: Any = None) -> dict[str, Any]:
    """Integers of the module of `network`: input scale, weight codes, bias codes, multiplier and shift."""
    with config:
        view = View(relay.quantize.quantize(mod, None, data))
        calibrated = relay.quantize.calibrate(data)(relay.quantize.prerequisite_optimize(mod))
    calls: dict[str, list[Any]] = {}
    for _, value in view.bindings:
        calls.setdefault(op_name(value), []).append(value)
    scales = [v for _, v in View(calibrated).bindings if op_name(v) == "tvmq.simulated_quantize"]
    weight, read = (
        [const_value(v.args[1]) for v in scales if (v.attrs.kind == "weight") == one] for one in (True, False)
    )
    requantize = calls["tvmq.requantize"][0]
    return {
        "x": read[0], "y": read[1], "weight": weight[0],
        "codes": const_value(calls["nn.conv2d"][0].args[1]),
        "bias": const_value(calls["add"][0].args[1]).ravel(),
        "multiplier": int(const_value(requantize.args[1])), "shift": int(const_value(requantize.args[2])),
    }  # fmt: skip


def defaults() -> Iterator[Row]:
    """The worked example of Relay's defaults: every scale a power of two."""
    mod = network()
    found = integers(mod, relay.quantize.qconfig(skip_conv_layers=[]))
    bias = const_value(View(mod).value[View(mod).bindings[1][0].name].args[1]).ravel()
    codes = np.clip(away(bias * np.float32(2**8)), -127, 127).astype(int) << 3
    yield Row("defaults: input scale 8 / 128", shown(2.0**-4), shown(found["x"]))
    yield Row("defaults: weight scale, max|w| = 0.9", shown(2.0**-7), shown(found["weight"]))
    yield Row("defaults: scale of the second input", shown(2.0**-4), shown(found["y"]))
    yield Row("defaults: bias codes in 2^-8, shifted by 3", str(codes.tolist()), str(found["bias"].tolist()))
    yield Row("defaults: (d + 64) >> 7", "shift 7", shift_of(found))
    found = integers(network(weight=256.0), relay.quantize.qconfig(skip_conv_layers=[]))
    yield Row("all weights 256: weight scale", shown(2.0), shown(found["weight"]))
    yield Row("all weights 256: 2^-3 to 2^-4 is a shift to the left", "shift -1", shift_of(found))


def data_driven() -> Iterator[Row]:
    """max weights and thresholds of data: fixed-point multiplies."""
    for seed in range(4):
        mod = network(seed=seed)
        data = [{"data": np.random.RandomState(seed + 10).randn(1, 4, 8, 8).astype("float32")}]
        config = relay.quantize.qconfig(calibrate_mode="percentile", weight_scale="max", skip_conv_layers=[])
        found = integers(mod, config, data)
        kernel = const_value(View(mod).bindings[0][1].args[1])
        x = np.float32(np.abs(data[0]["data"]).max() / np.float32(128))
        w = np.float32(np.float32(0.9) / np.float32(128))
        name = f"max and percentile, seed {seed}"
        yield Row(f"{name}: input scale", shown(x), shown(found["x"]))
        yield Row(f"{name}: weight scale", shown(w), shown(found["weight"]))
        yield Row(f"{name}: weight codes", digest(np.clip(away(kernel / w), -127, 127)), digest(found["codes"]))
        expected = multiplier_and_shift(np.float32(np.float32(x * w) / np.float32(found["y"])))
        yield Row(f"{name}: multiplier, shift", str(expected), str((found["multiplier"], found["shift"])))


def away(values: np.ndarray) -> np.ndarray:
    """Rounded, ties away from zero, as Relay's round was."""
    return np.asarray(np.sign(values) * np.floor(np.abs(values) + np.float32(0.5)))


def shift_of(found: dict[str, Any]) -> str:
    """A multiplier of 2^30 as the shift to the right that it is."""
    is_shift = found["multiplier"] == 2**30
    return f"shift {1 - found['shift']}" if is_shift else f"multiplier {found['multiplier']}, {found['shift']}"


def shown(value: Any) -> str:
    """A float32 with all its digits."""
    return f"{float(np.float32(value)):.9g}"


def digest(values: Any) -> str:
    """Sum and weighted sum of many integers: a difference anywhere shows."""
    whole = [int(value) for value in np.ravel(values)]
    return f"{sum(whole)}, {sum((index + 1) * value for index, value in enumerate(whole))}"


PARTS: tuple[Callable[[], Iterator[Row]], ...] = (
    thresholds, thresholds_of_models, weights, fixed_point, defaults, data_driven,
)  # fmt: skip


def rows() -> list[Row]:
    """All comparisons."""
    return [row for part in PARTS for row in part()]


COLUMNS = columns("what {what} | Relay {reference} | tvmq {ours} | {verdict}")


def measure(_options: Namespace) -> Iterator[dict[str, Any]]:
    """All comparisons."""
    return ({**vars(row), "verdict": "equal" if row.equal else "DIFFERS"} for row in rows())


main = Command(
    __doc__, COLUMNS, measure, lambda rows, _: [r["what"] for r in rows if r["verdict"] != "equal"], tasks=None
)

if __name__ == "__main__":
    main()
