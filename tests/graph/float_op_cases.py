"""Cases of softmax, norms and sums: of floats by a fixed order, and of codes in integers."""

from __future__ import annotations

import numpy as np

from tests.graph.op_case import HARD_FLOATS, HARD_SUMS, Case, codes_of
from tvmq import numerics
from tvmq.graph import ops


def float_cases() -> list[Case]:
    """Softmax on each axis and the fence."""
    random = np.random.default_rng(5)
    x = (10 * random.standard_normal((3, 37, 2))).astype(np.float32)
    x[0, :4, 0], x[1, 0, 0], x[2, :, 1] = np.float32([3.4e38, -3.4e38, 88.7, -200.0]), np.inf, -np.inf
    cases = [
        Case(
            f"softmax_axis{axis}".replace("-", "m"),
            {"x": x},
            lambda x, a=axis: ops.softmax(x, axis=a),
            lambda x, a=axis: numerics.softmax(x, axis=a),
        )
        for axis in (1, -1, 0)
    ]
    cases += [
        Case(
            f"log_{case.name}",
            case.inputs,
            lambda x, a=axis: ops.log_softmax(x, axis=a),
            lambda x, a=axis: numerics.log_softmax(x, axis=a),
        )
        for case, axis in zip(cases, (1, -1, 0), strict=True)
    ]
    return [*cases, *norm_cases(), Case("fence", {"x": HARD_FLOATS}, ops.fence, lambda x: x)]


def norm_cases() -> list[Case]:
    """Rows of one and of several axes, of odd lengths, with infinities, NaN and large numbers."""
    random = np.random.default_rng(6)
    x = (3 * random.standard_normal((5, 2, 37)) + 1).astype(np.float32)
    x[0, 0, :2], x[1, 0, 3], x[2, 0, 4], x[3, 0, ::3], x[4] = np.float32([3e38, -3e38]), np.nan, -np.inf, 1e-40, 7
    picture = x.reshape(1, 10, 37, 1)
    gamma, beta = random.standard_normal((2, 74)).astype(np.float32)
    cases = []
    for axes, epsilon in ((1, 1e-5), (2, 1e-12), (1, 0.0)):
        row = x.shape[-axes:]
        factors = [values[: int(np.prod(row))].reshape(row) for values in (gamma, beta)]
        given = dict(zip(("x", "gamma", "beta"), (x, *factors), strict=True))
        named = {"axes": axes, "epsilon": epsilon}
        cases.append(
            Case(
                f"layer_norm_{len(cases)}",
                given,
                lambda *a, named=named: ops.layer_norm(*a, **named),
                lambda *a, named=named: numerics.layer_norm(*a, **named),
            )
        )
        cases.append(
            Case(
                f"rms_norm_{len(cases)}",
                {"x": x, "gamma": given["gamma"]},
                lambda *a, named=named: ops.rms_norm(*a, **named),
                lambda *a, named=named: numerics.rms_norm(*a, **named),
            )
        )
    for groups, array in ((1, picture), (5, picture), (10, x.reshape(1, 10, 37)), (2, x.reshape(5, 74))):
        given = {"x": array, "gamma": gamma[: array.shape[1]], "beta": beta[: array.shape[1]]}
        cases.append(
            Case(
                f"group_norm_{groups}",
                given,
                lambda *a, groups=groups: ops.group_norm(*a, groups=groups, epsilon=1e-3),
                lambda *a, groups=groups: numerics.group_norm(*a, groups=groups, epsilon=1e-3),
            )
        )
    for axes, keepdims, mean in (
        ((1,), False, False),
        ((0, 2), True, True),
        ((2,), False, True),
        ((0, 1, 2), False, False),
    ):
        named = {"axes": axes, "keepdims": keepdims, "mean": mean}
        cases.append(
            Case(
                f"float_sum_{len(cases)}",
                {"x": x},
                lambda x, named=named: ops.float_sum(x, **named),
                lambda x, named=named: numerics.float_sum(x, **named),
            )
        )
    return cases


def integer_float_cases() -> list[Case]:
    """Softmax and norms in integers: every input type, rows of all lengths, all axes, ends of the types."""
    random = np.random.default_rng(7)
    scores = np.resize(HARD_SUMS, (2, 3, 8))
    cases = [
        Case(
            f"add_mask_{dtype}",
            {"x": scores, "mask": np.resize(np.arange(-3, 9).astype(dtype), (2, 1, 8))},
            lambda x, mask: ops.add_mask(x, mask, multiplier=2**40, offset=-7),
            lambda x, mask: numerics.add_mask(x, mask, multiplier=2**40, offset=-7),
        )
        for dtype in ("int64", "int32", "uint8")
    ]
    for number, (dtype, shape, axis) in enumerate(
        [("int16", (2, 40, 6), 1), ("uint8", (3, 2, 5), 0), ("int8", (7,), 0)]
    ):
        few = [1 if i != axis and number != 1 else size for i, size in enumerate(shape)]
        mask = (codes_of("int8", tuple(few), number) > 0).astype(np.int64) * (3 - number)
        named = {"axis": axis, "multiplier": 1395864320, "shift": number, "x_zero": number, "zero_point": 1}
        named |= {"dtype": "int16" if number < 2 else "uint8", "qmin": 0, "qmax": 200}
        cases.append(
            Case(
                f"masked_mean_{number}",
                {"x": codes_of(dtype, shape, number), "mask": mask},
                lambda *a, named=named: ops.masked_mean(*a, **named),
                lambda *a, named=named: numerics.masked_mean(*a, **named),
            )
        )
    for number, (dtype, shape, axis, scale) in enumerate(
        [
            ("int32", (2, 3, 5, 33), -1, 3e-9),
            ("int32", (7, 64), 0, 1e-3),
            ("int16", (3, 17, 2), 1, 1e-3),
            ("int8", (4, 130), -1, 0.1),
            ("uint8", (5, 1), -1, 40.0),
        ]
    ):
        x = np.resize(HARD_SUMS, shape) if dtype == "int32" else codes_of(dtype, shape, number)
        out = ("uint8", 0, 1 / 255) if number % 2 == 0 else ("int16", 0, 1 / 32767)
        named = {
            **numerics.integer_softmax_params(scale, out[2])._asdict(),
            **{"zero_point": out[1], "dtype": out[0], "qmin": 0, "qmax": 32767 if out[0] == "int16" else 255},
            "axis": axis,
        }
        cases.append(
            Case(
                f"integer_softmax_{number}",
                {"x": x},
                lambda x, named=named: ops.integer_softmax(x, **named),
                lambda x, named=named: numerics.integer_softmax(x, **named),
            )
        )
    for number, (dtype, shape, axes, centred, epsilon) in enumerate(
        [
            ("int16", (2, 3, 96), 1, True, 1e-5),
            ("uint8", (5, 4, 3), 2, True, 1e-12),
            ("int8", (3, 1), 1, True, 0.0),
            ("int16", (2, 1000), 1, False, 1e-6),
            ("uint8", (3, 7), 1, False, 1.0),
        ]
    ):
        x = codes_of(dtype, shape, number)
        x[0] = x[0].flat[0]  # a row of equal codes
        gamma, beta = random.standard_normal((2, *shape[-axes:]))
        multiplier, offset, eps, shift = numerics.integer_layer_norm_params(
            0.01, gamma, beta, 0.02 if number % 2 == 0 else 1e-4, epsilon=epsilon
        )
        low, high = (-32767, 32767) if number % 2 else (0, 255)
        named = {"epsilon": eps, "shift": shift, "zero_point": 0 if number % 2 else 120, "qmin": low, "qmax": high}
        named |= {"dtype": "int16" if number % 2 else "uint8", "centred": centred, "x_zero": 0 if centred else 5}
        cases.append(
            Case(
                f"integer_layer_norm_{number}",
                {"x": x, "multiplier": multiplier, "offset": offset},
                lambda *a, named=named: ops.integer_layer_norm(*a, **named),
                lambda *a, named=named: numerics.integer_layer_norm(*a, **named),
            )
        )
    return cases
