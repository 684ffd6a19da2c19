"""Cases of the operators between floats, sums and codes: constant scales, scales made at run time, simulation."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.graph.op_case import HARD_FLOATS, HARD_SUMS, Case, codes_of, constant, repeated
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
        x = repeated(HARD_FLOATS, (2, 3, 4))
        named = {"axis": axis, "dtype": dtype, "qmin": qmin, "qmax": qmax}
        defined = {**named, "axis": axis if axis >= 0 else None}
        cases.append(
            Case(
                f"quantize_{dtype}_axis{axis}_{qmin}_{qmax}".replace("-", "m"),
                {"x": x},
                lambda x, s=scale, z=zero, named=named: ops.quantize(
                    x, constant(s, "float32"), constant(z, "int32"), **named
                ),
                lambda x, s=scale, z=zero, named=defined: numerics.quantize(x, np.float32(s), np.int32(z), **named),
            )
        )
    return cases


def dequantize_cases() -> list[Case]:
    """Codes of each type and sums, per tensor and per channel."""
    settings = [
        (codes_of("uint8", (2, 3, 4)), 0.1, 130, -1),
        (codes_of("int8", (2, 3, 4)), 3e-39, -128, -1),
        (codes_of("int16", (2, 3, 4)), 1e36, 5, -1),
        (
            repeated(HARD_SUMS[np.abs(HARD_SUMS.astype(np.int64)) < 2**31 - 1], (2, 3, 4)),
            [0.1, 0.3, 7.0],
            [0, 0, 0],
            1,
        ),
        (codes_of("uint8", (2, 3)), [0.1, 0.3], [3, 200], 0),
    ]
    return [
        Case(
            f"dequantize_{q.dtype}_axis{axis}".replace("-", "m"),
            {"q": q},
            lambda q, s=scale, z=zero, a=axis: ops.dequantize(q, constant(s, "float32"), constant(z, "int32"), axis=a),
            lambda q, s=scale, z=zero, a=axis: numerics.dequantize(
                q, np.float32(s), np.int32(z), axis=a if a >= 0 else None
            ),
        )
        for q, scale, zero, axis in settings
    ]


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
        named = {
            "zero_point": zero,
            "mode": mode,
            "rounding": rounding,
            "dtype": dtype,
            "qmin": qmin,
            "qmax": qmax,
        }
        kind = "float32" if mode == "float" else "int32"
        cases.append(
            Case(
                f"requantize_{mode}_{rounding}_axis{axis}_{number}".replace("-", "m"),
                {"acc": repeated(HARD_SUMS, (2, 6, 4))},
                lambda acc, m=multiplier, s=shift, a=axis, k=kind, named=named: ops.requantize(
                    acc, constant(m, k), constant(s, "int32"), axis=a, **named
                ),
                lambda acc, m=multiplier, s=shift, a=axis, k=kind, named=named: numerics.requantize(
                    acc, np.asarray(m, k), np.int32(s), axis=a if a >= 0 else None, **named
                ),
            )
        )
    return cases


def dynamic_cases() -> list[Case]:
    """Scales of rows, columns and samples; codes of hard numbers; sums with two scales."""
    x = repeated(HARD_FLOATS, (2, 3, 5))
    ordinary = np.float32([0.1, 3.0, 1e-38, 2.0**100, 0.3]).reshape(1, 1, 5)
    sums = repeated(HARD_SUMS, (2, 3, 5))
    row = np.float32([[0.25], [1e-3], [3e38]])
    cases = [
        Case(
            f"dynamic_scale_{first}_{count}_{largest}",
            {"x": x},
            lambda x, f=first, c=count, m=largest: ops.dynamic_scale(x, first=f, count=c, largest_code=m),
            lambda x, f=first, c=count, m=largest: numerics.dynamic_scale(x, axes=range(f, f + c), largest_code=m),
        )
        for first, count, largest in ((2, 1, 127), (1, 1, 7), (1, 2, 127), (0, 3, 127))
    ]
    cases.append(Case("dynamic_quantize", {"x": x, "scale": ordinary}, ops.dynamic_quantize, numerics.dynamic_quantize))
    cases.append(
        Case(
            "dynamic_dequantize",
            {"acc": sums, "row": row, "column": ordinary},
            ops.dynamic_dequantize,
            numerics.dynamic_dequantize,
        )
    )
    return cases


def simulated_cases() -> list[Case]:
    """simulated_quantize: codes and back; NaN becomes the lowest code, as in the integer module."""
    x = repeated(HARD_FLOATS, (2, 3, 4))
    cases = []
    for number, (dtype, bits, symmetric, scale, zero, axis) in enumerate(
        [
            ("uint8", 8, False, 0.1, 3, -1),
            ("int8", 4, True, 1.0, 0, -1),
            ("int8", 8, True, [0.5, 1e30, 3.0], [0, 0, 0], 1),
        ]
    ):
        named = {
            "kind": "activation",
            "tensor": "t",
            "dtype": dtype,
            "bits": bits,
            "symmetric": symmetric,
            "axis": axis,
        }
        low, high = (0, 255) if dtype == "uint8" else (-(2 ** (bits - 1)) + 1, 2 ** (bits - 1) - 1)

        def expected(
            x: np.ndarray,
            dtype: str = dtype,
            low: int = low,
            high: int = high,
            scale: Any = scale,
            zero: Any = zero,
            axis: int = axis,
        ) -> np.ndarray:
            along = axis if axis >= 0 else None
            codes = numerics.quantize(
                x, np.float32(scale), np.int32(zero), axis=along, dtype=dtype, qmin=low, qmax=high
            )
            return numerics.dequantize(codes, np.float32(scale), np.int32(zero), axis=along)

        cases.append(
            Case(
                f"simulated_quantize_{number}",
                {"x": x},
                lambda x, s=scale, z=zero, named=named: ops.simulated_quantize(
                    x, constant(s, "float32"), constant(z, "int32"), **named
                ),
                expected,
            )
        )
    watch = Case(
        "simulated_quantize_uncalibrated",
        {"x": x},
        lambda x: ops.simulated_quantize(x, constant(0, "float32"), constant(0, "int32"), kind="input", tensor="t"),
        lambda x: x,
    )
    return [*cases, watch]
