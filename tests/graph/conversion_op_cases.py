"""Cases of the operators between floats, sums and codes: constant scales, scales made at run time, simulation."""

from __future__ import annotations

from typing import Any

import numpy as np
from tvm import relax

from tests.graph.op_case import HARD_FLOATS, HARD_SUMS, Case, axis_or_none, case, codes_of, repeated
from tvmq import numerics
from tvmq.graph import ops
from tvmq.numerics.requantize_rule import ROUNDINGS


def quantize_cases() -> list[Case]:
    """All storage types, per tensor and per channel on each axis, narrow ranges of codes."""
    settings = [
        ("uint8", 0.1, 3, -1, 0, 255),
        ("int8", 1.0, 0, -1, -127, 127),
        ("int8", 1e-38, -7, -1, -8, 7),
        ("int16", 0.003, 17, -1, -32768, 32767),
        ("uint8", [0.1, 2.0], [0, 255], 0, 0, 255),
        ("int8", [0.5, 1.0, 7.0], [1, -3, 0], 1, -127, 127),
        ("uint8", [0.1, 1e30, 3e-39, 1.0], [0, 15, 7, 8], 2, 0, 15),
    ]
    cases = []
    for dtype, scale, zero, axis, qmin, qmax in settings:
        named: dict[str, Any] = {"dtype": dtype, "qmin": qmin, "qmax": qmax}
        own = {"defined": named | {"axis": axis_or_none(axis)}, "axis": axis}
        name, given = f"quantize_{dtype}_axis{axis}_{qmin}_{qmax}", {"x": repeated(HARD_FLOATS, (2, 3, 4))}
        cases.append(case(name, given, "quantize", np.float32(scale), np.int32(zero), **own, **named))
    return cases


def round_floats_cases() -> list[Case]:
    """Bits of every exponent, ties to both sides, what is not finite."""
    exponents = np.arange(2**9, dtype=np.uint32) << 23
    fractions = np.uint32([0, 1, 0x7FFF, 0x8000, 0x8001, 0x18000, 0xFFFF, 0x7F7FFF, 0x7F8000, 0x7FFFFF])
    bits = (exponents[:, None] | fractions).view(np.float32)
    return [
        case(f"round_floats_{name}", {"x": x}, "round_floats", dtype="bfloat16")
        for name, x in {"bits": bits, "hard": repeated(HARD_FLOATS, (2, 3, 4))}.items()
    ]


def dequantize_cases() -> list[Case]:
    """Codes of each type and sums, per tensor and per channel."""
    sums = repeated(HARD_SUMS[np.abs(HARD_SUMS.astype(np.int64)) < 2**31 - 1], (2, 3, 4))
    settings = [
        (codes_of("uint8", (2, 3, 4)), 0.1, 130, -1),
        (codes_of("int8", (2, 3, 4)), 3e-39, -128, -1),
        (codes_of("int16", (2, 3, 4)), 1e36, 5, -1),
        (sums, [0.1, 0.3, 7.0], [0, 0, 0], 1),
        (codes_of("uint8", (2, 3)), [0.1, 0.3], [3, 200], 0),
    ]
    cases = []
    for q, scale, zero, axis in settings:
        own = {"defined": {"axis": axis_or_none(axis)}, "axis": axis}
        name = f"dequantize_{q.dtype}_axis{axis}"
        cases.append(case(name, {"q": q}, "dequantize", np.float32(scale), np.int32(zero), **own))
    return cases


def requantize_cases() -> list[Case]:
    """Every mode and rounding, per tensor and per channel, factors from 0 to saturation."""
    floats = np.float32([0.5, 1.0, 2.0**-31, 1e5, 0.0, 1e-45])
    settings: list[tuple[str, str, Any, Any, int]] = [
        ("float", "UPWARD", 0.5, 0, -1),
        ("float", "UPWARD", 1e10, 0, -1),
        ("float", "UPWARD", floats, np.zeros(6), 1),
    ]
    fixed = numerics.fixed_point_parameters(np.float64([0.5, 0.75, 2.0**-31, 1000.3, 0.0, 3e-8]))
    shifts = np.int32([0, -1, -31, -32, 3, 30])
    for rounding in ROUNDINGS:
        settings.append(("fixed_point", rounding, 2**30, 1, -1))
        settings.append(("fixed_point", rounding, *fixed, 1))
        settings.append(("power_of_two", rounding, 0, -2, -1))
        settings.append(("power_of_two", rounding, np.zeros(6), shifts, 1))
    cases = []
    for number, (mode, rounding, multiplier, shift, axis) in enumerate(settings):
        dtype, zero, qmin, qmax = (("uint8", 3, 0, 255), ("int8", -5, -127, 100), ("uint8", 255, 3, 255))[number % 3]
        named: dict[str, Any] = {"zero_point": zero, "mode": mode, "rounding": rounding}
        named |= {"dtype": dtype, "qmin": qmin, "qmax": qmax}
        own = {"defined": named | {"axis": axis_or_none(axis)}, "axis": axis}
        constants = np.asarray(multiplier, "float32" if mode == "float" else "int32"), np.asarray(shift, "int32")
        name, given = f"requantize_{mode}_{rounding}_axis{axis}_{number}", {"acc": repeated(HARD_SUMS, (2, 6, 4))}
        cases.append(case(name, given, "requantize", *constants, **own, **named))
    return cases


def dynamic_cases() -> list[Case]:
    """Scales of rows, columns and samples; codes of hard numbers; sums with two scales."""
    x = repeated(HARD_FLOATS, (2, 3, 5))
    ordinary = np.float32([0.1, 3.0, 1e-38, 2.0**100, 0.3]).reshape(1, 1, 5)
    sums = {"acc": repeated(HARD_SUMS, (2, 3, 5)), "row": np.float32([[0.25], [1e-3], [3e38]]), "column": ordinary}
    cases = []
    for first, count, most in ((2, 1, 127), (1, 1, 7), (1, 2, 127), (0, 3, 127)):
        defined = {"axes": range(first, first + count), "largest_code": most}
        named = {"first": first, "count": count, "largest_code": most}
        cases.append(case(f"dynamic_scale_{first}_{count}_{most}", {"x": x}, "dynamic_scale", defined=defined, **named))
    cases.append(case("dynamic_quantize", {"x": x, "scale": ordinary}, "dynamic_quantize"))
    return [*cases, case("dynamic_dequantize", sums, "dynamic_dequantize")]


def simulated_cases() -> list[Case]:
    """simulated_quantize: codes and back; NaN becomes the lowest code, as in the integer module."""
    x = repeated(HARD_FLOATS, (2, 3, 4))
    cases = []
    settings = [
        ("uint8", 8, False, 0.1, 3, -1),
        ("int8", 4, True, 1.0, 0, -1),
        ("int8", 8, True, [0.5, 1e30, 3.0], [0, 0, 0], 1),
    ]
    for number, (dtype, bits, symmetric, scale, zero, axis) in enumerate(settings):
        named = {"kind": "activation", "tensor": "t", "dtype": dtype, "bits": bits, "symmetric": symmetric, "axis": axis}
        high = 2**bits - 1 if dtype == "uint8" else 2 ** (bits - 1) - 1
        limits = {"dtype": dtype, "qmin": 0 if dtype == "uint8" else -high, "qmax": high}
        parameters, along = (np.float32(scale), np.int32(zero)), axis_or_none(axis)
        value = numerics.dequantize(numerics.quantize(x, *parameters, axis=along, **limits), *parameters, axis=along)
        one = case(f"simulated_quantize_{number}", {"x": x}, "simulated_quantize", *parameters, **named)
        one.expected = lambda _, value=value: value
        cases.append(one)
    nothing = relax.const(np.float32(0)), relax.const(np.int32(0))
    watch = Case(
        "simulated_quantize_uncalibrated",
        {"x": x},
        lambda x: ops.simulated_quantize(x, *nothing, kind="input", tensor="t"),
        lambda x: x,
    )
    return [*cases, watch]
