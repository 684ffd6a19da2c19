"""Cases of the operators on each code: sums and products of two tensors, with constants, tables."""

from __future__ import annotations

import numpy as np
from tvm import relax

from tests.graph.op_case import Case, case, codes_of
from tvmq import numerics
from tvmq.graph import ops


def two_input_cases() -> list[Case]:
    """Add and multiply, broadcasting on either side, mixed types, negative results before the shift."""
    cases = []
    pairs = [
        (codes_of("uint8", (2, 3, 4)), codes_of("uint8", (2, 3, 4), 1), "uint8", 255),
        (codes_of("uint8", (2, 3, 4)), codes_of("int8", (3, 1), 1), "int8", 127),
        (codes_of("int8", (1, 3, 1)), codes_of("uint8", (2, 1, 4), 1), "uint8", 100),
    ]
    params = numerics.add_params(0.3, 7, 0.001, 100, 0.25)._asdict()
    for number, (a, b, dtype, most) in enumerate(pairs):
        given, rest = {"a": a, "b": b}, {"zero_point": 3, "dtype": dtype, "qmin": 0, "qmax": most}
        cases.append(case(f"add_{number}", given, "add", **params, **rest))
        cases.append(case(f"multiply_{number}", given, "multiply", a_zero=7, b_zero=100))
    return cases


def wide_cases() -> list[Case]:
    """Codes of 16 bits: added to each other and to 8 bits, with constants, and brought to another scale and type."""
    cases = []
    limits = {"dtype": "int16", "qmin": -32767, "qmax": 32767}
    pairs = [("int16", "int16", (2, 3, 4)), ("int16", "uint8", (3, 1)), ("int8", "int16", (2, 3, 4))]
    for number, (a_dtype, b_dtype, b_shape) in enumerate(pairs):
        given = {"a": codes_of(a_dtype, (2, 3, 4)), "b": codes_of(b_dtype, b_shape, 1)}
        params = numerics.add_params(0.9, 0, 0.7, -5, 0.8, dtypes=(a_dtype, b_dtype))._asdict()
        cases.append(case(f"wide_add_{number}", given, "add", **params, zero_point=3, **limits))
    wide = codes_of("int16", (2, 3, 4))
    shifted = numerics.scale_shift_params(0.3, 0, [[1.5], [-0.7], [1.0]], 900.0, 0.25, dtypes=("int16", "int16"))
    constants, rest = (shifted.multiplier, shifted.offset), {"shift": shifted.shift, "zero_point": 0}
    cases.append(case("wide_scale_shift", {"q": wide}, "scale_shift", *constants, **rest, **limits))
    fixed = numerics.fixed_point_parameters(np.float64(1 / 300))
    factors = {"float": (np.float32(1 / 300), 0), "fixed_point": fixed, "power_of_two": (0, -8)}
    for (mode, (multiplier, shift)), dtype in zip(factors.items(), ("uint8", "int8", "int16"), strict=True):
        constants = np.asarray(multiplier, "float32" if mode == "float" else "int32"), np.asarray(shift, "int32")
        named = {"zero_point": 3, "mode": mode, "dtype": dtype, "qmin": 0, "qmax": 127}
        own = {"defined": named | {"axis": None}, "axis": -1}
        cases.append(case(f"wide_requantize_{mode}", {"acc": wide}, "requantize", *constants, **own, **named))
    return cases


def constant_cases() -> list[Case]:
    """scale_shift and prelu: constants for each channel and for each element, results that grow, mixed types."""
    factors, summands = np.float64([[1.5], [-0.7], [100.0]]), np.linspace(-9, 9, 24).reshape(2, 3, 4)
    cases = []
    kinds = [("uint8", factors, 0.25), ("int8", 0.5, summands), ("uint8", factors[:1], summands[:1])]
    for number, (dtype, factor, summand) in enumerate(kinds):
        params = numerics.scale_shift_params(0.3, 7, factor, summand, 0.25)
        limits = {"zero_point": 3, "dtype": dtype, "qmin": 0, "qmax": 100}
        slopes, multiplier, shift = numerics.prelu_params(0.3, factor, 0.25)
        given = {"q": codes_of(dtype, (2, 3, 4) if number < 2 else (2, 3, 1))}
        constants = params.multiplier, params.offset
        cases.append(case(f"scale_shift_{number}", given, "scale_shift", *constants, shift=params.shift, **limits))
        options = {"multiplier": multiplier, "shift": shift, "x_zero": 11}
        cases.append(case(f"prelu_{number}", given, "prelu", slopes, **options, **limits))
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
