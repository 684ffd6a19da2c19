"""Cases of the operators on each code: sums and products of two tensors, with constants, tables."""

from __future__ import annotations

import numpy as np
from tvm import relax

from tests.graph.op_case import Case, codes_of, constant
from tvmq import numerics
from tvmq.graph import ops


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
