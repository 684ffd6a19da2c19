"""One case for each mode, axis and type of our Relax operators: a call, adversarial arguments, and what numerics says."""

from __future__ import annotations

from typing import Any

import numpy as np
from tvm import relax

from tests.graph.float_op_cases import float_cases, integer_float_cases
from tests.graph.op_case import HARD_FLOATS, HARD_SUMS, Case, codes_of, constant, repeated
from tvmq import numerics
from tvmq.graph import ops


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
    for rounding in ("UPWARD", "TONEAREST", "DOUBLE"):
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


def two_input_cases() -> list[Case]:
    """Add and multiply, broadcasting on either side, mixed types, negative results before the shift."""
    cases = []
    for number, (a, b) in enumerate(
        [
            (codes_of("uint8", (2, 3, 4)), codes_of("uint8", (2, 3, 4), 1)),
            (codes_of("uint8", (2, 3, 4)), codes_of("int8", (3, 1), 1)),
            (codes_of("int8", (1, 3, 1)), codes_of("uint8", (2, 1, 4), 1)),
        ]
    ):
        params = numerics.add_params(0.3, 7, 0.001, 100, 0.25)._asdict()
        rest = {
            "zero_point": 3,
            "dtype": ("uint8", "int8", "uint8")[number],
            "qmin": 0,
            "qmax": (255, 127, 100)[number],
        }
        cases.append(
            Case(
                f"add_{number}",
                {"a": a, "b": b},
                lambda a, b, named=params | rest: ops.add(a, b, **named),
                lambda a, b, named=params | rest: numerics.add(a, b, **named),
            )
        )
        cases.append(
            Case(
                f"multiply_{number}",
                {"a": a, "b": b},
                lambda a, b: ops.multiply(a, b, a_zero=7, b_zero=100),
                lambda a, b: numerics.multiply(a, b, a_zero=7, b_zero=100),
            )
        )
    return cases


def wide_cases() -> list[Case]:
    """Codes of 16 bits: added to each other and to 8 bits, with constants, and brought to another scale and type."""
    cases = []
    pairs = [("int16", "int16", (2, 3, 4)), ("int16", "uint8", (3, 1)), ("int8", "int16", (2, 3, 4))]
    for number, (a_dtype, b_dtype, b_shape) in enumerate(pairs):
        a, b = codes_of(a_dtype, (2, 3, 4)), codes_of(b_dtype, b_shape, 1)
        params = numerics.add_params(0.9, 0, 0.7, -5, 0.8, dtypes=(a_dtype, b_dtype))._asdict()
        named = params | {"zero_point": 3, "dtype": "int16", "qmin": -32767, "qmax": 32767}
        cases.append(
            Case(
                f"wide_add_{number}",
                {"a": a, "b": b},
                lambda a, b, named=named: ops.add(a, b, **named),
                lambda a, b, named=named: numerics.add(a, b, **named),
            )
        )
    params = numerics.scale_shift_params(0.3, 0, [[1.5], [-0.7], [1.0]], 900.0, 0.25, dtypes=("int16", "int16"))
    shifted = {"shift": params.shift, "zero_point": 0, "dtype": "int16", "qmin": -32767, "qmax": 32767}
    cases.append(
        Case(
            "wide_scale_shift",
            {"q": codes_of("int16", (2, 3, 4))},
            lambda q: ops.scale_shift(q, relax.const(params.multiplier), relax.const(params.offset), **shifted),
            lambda q: numerics.scale_shift(q, params.multiplier, params.offset, **shifted),
        )
    )
    fixed = numerics.fixed_point_parameters(np.float64(1 / 300))
    factors = {"float": (np.float32(1 / 300), 0), "fixed_point": fixed, "power_of_two": (0, -8)}
    for number, (mode, (multiplier, shift)) in enumerate(factors.items()):
        kind, dtype = "float32" if mode == "float" else "int32", ("uint8", "int8", "int16")[number]
        named = {"zero_point": 3, "mode": mode, "dtype": dtype, "qmin": 0, "qmax": 127, "axis": -1}
        cases.append(
            Case(
                f"wide_requantize_{mode}",
                {"acc": codes_of("int16", (2, 3, 4))},
                lambda acc, m=multiplier, s=shift, k=kind, named=named: ops.requantize(
                    acc, constant(m, k), constant(s, "int32"), **named
                ),
                lambda acc, m=multiplier, s=shift, k=kind, named=named: numerics.requantize(
                    acc, np.asarray(m, k), np.int32(s), **named | {"axis": None}
                ),
            )
        )
    return cases


def matmul_cases() -> list[Case]:
    """Products of two tensors: mixed types, leading axes that broadcast on either side, zero points at the ends."""
    settings = [
        ("uint8", (2, 3, 5, 7), "uint8", (2, 3, 7, 4), 0, 255),
        ("uint8", (5, 7), "int8", (3, 7, 4), 131, -5),
        ("int8", (2, 1, 1, 9), "uint8", (3, 9, 1), -128, 128),
        ("int16", (2, 6), "int8", (6, 3), 12345, 0),
    ]
    cases = []
    for number, (a_dtype, a, b_dtype, b, a_zero, b_zero) in enumerate(settings):
        named = {"a_zero": a_zero, "b_zero": b_zero}
        cases.append(
            Case(
                f"matmul_{number}",
                {"a": codes_of(a_dtype, a, 1), "b": codes_of(b_dtype, b, 2)},
                lambda a, b, named=named: ops.matmul(a, b, **named),
                lambda a, b, named=named: numerics.matmul(a, b, **named),
            )
        )
    return cases


def constant_cases() -> list[Case]:
    """scale_shift and prelu: constants for each channel and for each element, results that grow, mixed types."""
    factors, summands = np.float64([[1.5], [-0.7], [100.0]]), np.linspace(-9, 9, 24).reshape(2, 3, 4)
    cases = []
    for number, (dtype, factor, summand) in enumerate(
        [("uint8", factors, 0.25), ("int8", 0.5, summands), ("uint8", factors[:1], summands[:1])]
    ):
        params = numerics.scale_shift_params(0.3, 7, factor, summand, 0.25)
        named = {
            "shift": params.shift,
            "zero_point": 3,
            "dtype": ("uint8", "int8", "uint8")[number],
            "qmin": 0,
            "qmax": 100,
        }
        slopes, *rest = numerics.prelu_params(0.3, factor, 0.25)
        options = {**named, "multiplier": rest[0], "shift": rest[1], "x_zero": 11}
        q = codes_of(dtype, (2, 3, 4) if number < 2 else (2, 3, 1))
        cases.append(
            Case(
                f"scale_shift_{number}",
                {"q": q},
                lambda q, p=params, named=named: ops.scale_shift(
                    q, relax.const(p.multiplier), relax.const(p.offset), **named
                ),
                lambda q, p=params, named=named: numerics.scale_shift(q, p.multiplier, p.offset, **named),
            )
        )
        cases.append(
            Case(
                f"prelu_{number}",
                {"q": q},
                lambda q, s=slopes, named=options: ops.prelu(q, relax.const(s), **named),
                lambda q, s=slopes, named=options: numerics.prelu(q, s, **named),
            )
        )
    return cases


def table_cases() -> list[Case]:
    """Both index types, results of 8 bits and float32."""
    values = np.random.default_rng(0).permutation(256)
    settings = [
        ("uint8", values.astype(np.uint8)),
        ("int8", values.astype(np.uint8).view(np.int8)),
        ("int8", np.float32(values / 3)),
    ]
    return [
        Case(
            f"table_{dtype}_{entries.dtype}",
            {"q": np.arange(*((0, 256) if dtype == "uint8" else (-128, 128))).astype(dtype).reshape(16, 16)},
            lambda q, t=entries: ops.table(q, relax.const(t), function="shuffle"),
            lambda q, t=entries: numerics.table(q, t),
        )
        for dtype, entries in settings
    ]


def unpack_cases() -> list[Case]:
    """Even, odd and no axes; every half of a byte."""
    cases = []
    for shape in ((4, 8, 8), (3, 5), (7,), (), (1, 2, 3, 3)):
        count = int(np.prod(shape))
        packed = np.arange(-(-count // 2), dtype=np.int64).astype(np.uint8) * np.uint8(37) + np.uint8(255)
        cases.append(
            Case(
                f"unpack_{len(shape)}",
                {"packed": packed},
                lambda packed, shape=shape: ops.unpack(packed, shape=shape),
                lambda packed, shape=shape: numerics.unpack_int4(packed, shape),
            )
        )
    scale = np.exp(np.random.default_rng(3).normal(size=(2, 9)) * 20).astype(np.float32)
    for axis, size in ((0, 4), (1, 5)):
        shape = (8, 9) if axis == 0 else (2, 45)
        cases.append(
            Case(
                f"group_dequantize_axis{axis}",
                {"q": codes_of("int8", shape), "scale": scale},
                lambda q, s, axis=axis, size=size: ops.group_dequantize(q, s, axis=axis, group_size=size),
                lambda q, s, axis=axis, size=size: numerics.group_dequantize(q, s, axis=axis, group_size=size),
            )
        )
    scale = repeated(np.exp(np.random.default_rng(4).normal(size=9) * 5).astype(np.float32), (3, 5))
    x_scale = np.float32([[[1.5], [1e-20]], [[3e38], [0.25]]])
    cases.append(
        Case(
            "group_matmul",
            {"x": codes_of("int8", (2, 2, 12)), "x_scale": x_scale, "w": codes_of("int8", (12, 5)), "scale": scale},
            lambda *arrays: ops.group_matmul(*arrays, group_size=4),
            lambda *arrays: numerics.group_matmul(*arrays, group_size=4),
        )
    )
    return cases


def sum_cases() -> list[Case]:
    """Sums over axes and over windows, with and without kept dimensions, odd zero points, uneven padding."""
    q = codes_of("uint8", (2, 3, 5, 4))
    cases = []
    for axes, keepdims in (([2, 3], True), ([2, 3], False), ([1], False), ([0, 1, 2, 3], True), ([3], True)):
        named = {"axes": axes, "keepdims": keepdims, "zero_point": 131}
        cases.append(
            Case(
                f"sum_{'_'.join(map(str, axes))}_{keepdims}",
                {"q": q},
                lambda q, named=named: ops.sum(q, **named),
                lambda q, named=named: numerics.sum(q, **named),
            )
        )
    for number, (kernel, strides, padding, x) in enumerate(
        [
            ((2, 2), (2, 2), (0, 0, 0, 0), q),
            ((3, 2), (1, 2), (1, 0, 2, 1), q.view(np.int8)),
            ((5, 4), (1, 1), (0, 0, 0, 0), q),
            ((3,), (2,), (1, 2), q.reshape(2, 3, 20)),
            ((2, 1, 2), (2, 1, 3), (0, 1, 1, 1, 0, 0), q.reshape(2, 3, 5, 2, 2)),
        ]
    ):
        named = {"kernel": kernel, "strides": strides, "padding": padding, "zero_point": 7}
        cases.append(
            Case(
                f"sum_pool_{number}",
                {"q": x},
                lambda q, named=named: ops.sum_pool(q, **named),
                lambda q, named=named: numerics.sum_pool(q, **named),
            )
        )
    for number, (shape, out_size) in enumerate(
        [((2, 3, 7), (3,)), ((1, 2, 5, 4), (3, 7)), ((1, 1, 3, 5, 4), (2, 2, 3))]
    ):
        named = {"out_size": out_size, "zero_point": 9}
        codes = codes_of("int8" if number else "uint8", shape)
        cases.append(
            Case(
                f"adaptive_sum_pool_{number}",
                {"q": codes},
                lambda q, named=named: ops.adaptive_sum_pool(q, **named),
                lambda q, named=named: numerics.adaptive_sum_pool(q, **named),
            )
        )
    return cases


def conv_transpose_cases() -> list[Case]:
    """Lines, pictures and volumes with groups, dilation, cut sides and output padding, zero points at the ends."""
    settings: list[tuple[Any, ...]] = [
        ((2, 4, 5), (4, 3, 2), "uint8", [3], [1, 0], [1], [1], 2, 255),
        ((1, 3, 4, 3), (3, 2, 3, 2), "int8", [2, 1], [1, 0, 2, 1], [0, 0], [1, 3], 1, -128),
        ((1, 2, 2, 3, 2), (2, 1, 2, 1, 3), "uint8", [2, 2, 1], [0, 0, 1, 1, 0, 0], [1, 0, 0], [1, 1, 1], 2, 7),
    ]
    cases = []
    for x_shape, w_shape, dtype, strides, padding, extra, dilation, groups, zero in settings:
        named = {"strides": strides, "padding": padding, "output_padding": extra, "dilation": dilation}
        named["groups"] = groups
        w = codes_of("int8", w_shape, 1)
        cases.append(
            Case(
                f"conv_transpose_{len(x_shape) - 2}d",
                {"x": codes_of(dtype, x_shape), "w": w},
                lambda x, w, named=named, zero=zero: ops.conv_transpose(x, w, **named, zero_point=zero),
                lambda x, w, named=named, zero=zero: numerics.conv_transpose(x, w, **named, x_zero=zero),
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


def resample_cases() -> list[Case]:
    """First, middle and last axis, one to four taps."""
    random = np.random.default_rng(6)
    cases = []
    for axis, taps in ((0, 1), (1, 2), (2, 4)):
        x = repeated(HARD_FLOATS[3:], (3, 5, 6))
        index = random.integers(0, x.shape[axis], (taps, 7)).astype(np.int32)
        weight = random.standard_normal((taps, 7)).astype(np.float32)
        cases.append(
            Case(
                f"resample_axis{axis}",
                {"x": x, "index": index, "weight": weight},
                lambda x, index, weight, axis=axis: ops.resample(x, index, weight, axis=axis),
                lambda x, index, weight, axis=axis: numerics.resample(x, index, weight, axis=axis),
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


CASES: dict[str, Case] = {
    case.name: case
    for group in (
        quantize_cases,
        dequantize_cases,
        requantize_cases,
        two_input_cases,
        constant_cases,
        wide_cases,
        matmul_cases,
        table_cases,
        unpack_cases,
        sum_cases,
        conv_transpose_cases,
        resample_cases,
        dynamic_cases,
        float_cases,
        integer_float_cases,
        simulated_cases,
    )
    for case in group()
}
