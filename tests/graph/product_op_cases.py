"""Cases of the operators that add many products or codes: matrix products, groups, sums, windows, resampling."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.graph.op_case import HARD_FLOATS, Case, case, codes_of, repeated
from tvmq import numerics
from tvmq.graph import ops


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
        given = {"a": codes_of(a_dtype, a, 1), "b": codes_of(b_dtype, b, 2)}
        cases.append(case(f"matmul_{number}", given, "matmul", a_zero=a_zero, b_zero=b_zero))
    return cases


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
    for axis, size, shape in ((0, 4, (8, 9)), (1, 5, (2, 45))):
        given = {"q": codes_of("int8", shape), "scale": scale}
        cases.append(case(f"group_dequantize_axis{axis}", given, "group_dequantize", axis=axis, group_size=size))
    scale = repeated(np.exp(np.random.default_rng(4).normal(size=9) * 5).astype(np.float32), (3, 5))
    x_scale = np.float32([[[1.5], [1e-20]], [[3e38], [0.25]]])
    given = {"x": codes_of("int8", (2, 2, 12)), "x_scale": x_scale, "w": codes_of("int8", (12, 5)), "scale": scale}
    cases.append(case("group_matmul", given, "group_matmul", group_size=4))
    given = given | {"x_scale": repeated(np.float32([1.5, 1e-20, 0.25]), (2, 2, 3))}
    cases.append(case("group_matmul_own", given, "group_matmul", group_size=4))
    given = given | {"offset": repeated(np.float32([-3, 0, 1e-5, 7]), (3, 5))}
    return [*cases, case("group_offset_matmul", given, "group_offset_matmul", group_size=4)]


def sum_cases() -> list[Case]:
    """Sums over axes and over windows, with and without kept dimensions, odd zero points, uneven padding."""
    q = codes_of("uint8", (2, 3, 5, 4))
    cases = []
    for axes, keepdims in (([2, 3], True), ([2, 3], False), ([1], False), ([0, 1, 2, 3], True), ([3], True)):
        named = {"axes": axes, "keepdims": keepdims, "zero_point": 131}
        cases.append(case(f"sum_{'_'.join(map(str, axes))}_{keepdims}", {"q": q}, "sum", **named))
    windows = [
        ((2, 2), (2, 2), (0, 0, 0, 0), q),
        ((3, 2), (1, 2), (1, 0, 2, 1), q.view(np.int8)),
        ((5, 4), (1, 1), (0, 0, 0, 0), q),
        ((3,), (2,), (1, 2), q.reshape(2, 3, 20)),
        ((2, 1, 2), (2, 1, 3), (0, 1, 1, 1, 0, 0), q.reshape(2, 3, 5, 2, 2)),
    ]
    for number, (kernel, strides, padding, x) in enumerate(windows):
        named = {"kernel": kernel, "strides": strides, "padding": padding, "zero_point": 7}
        cases.append(case(f"sum_pool_{number}", {"q": x}, "sum_pool", **named))
    pictures = [((2, 3, 7), (3,)), ((1, 2, 5, 4), (3, 7)), ((1, 1, 3, 5, 4), (2, 2, 3))]
    for number, (shape, out_size) in enumerate(pictures):
        codes = {"q": codes_of("int8" if number else "uint8", shape)}
        cases.append(case(f"adaptive_sum_pool_{number}", codes, "adaptive_sum_pool", out_size=out_size, zero_point=9))
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
        given = {"x": codes_of(dtype, x_shape), "w": codes_of("int8", w_shape, 1)}
        defined = named | {"x_zero": zero}
        name = f"conv_transpose_{len(x_shape) - 2}d"
        cases.append(case(name, given, "conv_transpose", defined=defined, **named, zero_point=zero))
    return cases


def resample_cases() -> list[Case]:
    """First, middle and last axis, one to four taps."""
    random = np.random.default_rng(6)
    cases = []
    for axis, taps in ((0, 1), (1, 2), (2, 4)):
        x = repeated(HARD_FLOATS[3:], (3, 5, 6))
        index = random.integers(0, x.shape[axis], (taps, 7)).astype(np.int32)
        weight = random.standard_normal((taps, 7)).astype(np.float32)
        cases.append(case(f"resample_axis{axis}", {"x": x, "index": index, "weight": weight}, "resample", axis=axis))
    return cases


def tensor_scatter_cases() -> list[Case]:
    """Codes and floats, middle and last axis, one entry to a whole axis, indices of both widths beyond both ends."""
    settings = [
        ("int8", (2, 3, 8, 4), 2, 1, "int64", [7, -1]),
        ("uint8", (3, 5, 6), 1, 3, "int32", [2**31 - 1, -(2**31), 4]),
        ("int16", (2, 7), 1, 7, "int64", [2**63 - 1, -(2**63)]),
        ("float32", (2, 4, 3), 1, 2, "int64", [3, 0]),
    ]
    cases = []
    for number, (dtype, shape, axis, count, index, first) in enumerate(settings):
        new = (*shape[:axis], count, *shape[axis + 1 :])
        drawn = "int16" if dtype == "float32" else dtype
        cache, update = (codes_of(drawn, sizes, seed).astype(dtype) for seed, sizes in enumerate((shape, new)))
        given = {"cache": cache, "update": update, "write_indices": np.array(first, index)}
        cases.append(case(f"tensor_scatter_{number}", given, "tensor_scatter", axis=axis))
    return cases
