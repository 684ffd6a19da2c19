"""Cases of softmax, norms and sums: of floats by a fixed order, and of codes in integers."""

from __future__ import annotations

import numpy as np

from tests.graph.op_case import HARD_FLOATS, HARD_SUMS, Case, case, codes_of
from tvmq import numerics
from tvmq.graph import ops


def float_cases() -> list[Case]:
    """Softmax on each axis and the fence."""
    random = np.random.default_rng(5)
    x = (10 * random.standard_normal((3, 37, 2))).astype(np.float32)
    x[0, :4, 0], x[1, 0, 0], x[2, :, 1] = np.float32([3.4e38, -3.4e38, 88.7, -200.0]), np.inf, -np.inf
    axes = (1, -1, 0)
    cases = [case(f"{op}_axis{axis}", {"x": x}, op, axis=axis) for op in ("softmax", "log_softmax") for axis in axes]
    return [*cases, *norm_cases(), Case("fence", {"x": HARD_FLOATS}, ops.fence, lambda x: x)]


def norm_cases() -> list[Case]:
    """Rows of one and of several axes, of odd lengths, with infinities, NaN and large numbers."""
    random = np.random.default_rng(6)
    x = (3 * random.standard_normal((5, 2, 37)) + 1).astype(np.float32)
    x[0, 0, :2], x[1, 0, 3], x[2, 0, 4], x[3, 0, ::3], x[4] = np.float32([3e38, -3e38]), np.nan, -np.inf, 1e-40, 7
    picture = x.reshape(1, 10, 37, 1)
    gamma, beta = random.standard_normal((2, 74)).astype(np.float32)
    cases: list[Case] = []
    for axes, epsilon in ((1, 1e-5), (2, 1e-12), (1, 0.0)):
        row = x.shape[-axes:]
        factors = [values[: int(np.prod(row))].reshape(row) for values in (gamma, beta)]
        given = dict(zip(("x", "gamma", "beta"), (x, *factors), strict=True))
        named = {"axes": axes, "epsilon": epsilon}
        cases.append(case(f"layer_norm_{len(cases)}", given, "layer_norm", **named))
        cases.append(case(f"rms_norm_{len(cases)}", {"x": x, "gamma": given["gamma"]}, "rms_norm", **named))
    for groups, array in ((1, picture), (5, picture), (10, x.reshape(1, 10, 37)), (2, x.reshape(5, 74))):
        given = {"x": array, "gamma": gamma[: array.shape[1]], "beta": beta[: array.shape[1]]}
        cases.append(case(f"group_norm_{groups}", given, "group_norm", groups=groups, epsilon=1e-3))
    for axes, keepdims, mean in (((1,), False, False), ((0, 2), True, True), ((2,), False, True), ((0, 1, 2), False, False)):
        cases.append(case(f"float_sum_{len(cases)}", {"x": x}, "float_sum", axes=axes, keepdims=keepdims, mean=mean))
    return cases


def integer_float_cases() -> list[Case]:
    """Softmax and norms in integers: every input type, rows of all lengths, all axes, ends of the types."""
    scores = np.resize(HARD_SUMS, (2, 3, 8))
    cases = []
    for dtype in ("int64", "int32", "uint8"):
        given = {"x": scores, "mask": np.resize(np.arange(-3, 9).astype(dtype), (2, 1, 8))}
        cases.append(case(f"add_mask_{dtype}", given, "add_mask", multiplier=2**40, offset=-7))
    for number, (dtype, shape, axis) in enumerate([("int16", (2, 40, 6), 1), ("uint8", (3, 2, 5), 0), ("int8", (7,), 0)]):
        few = [1 if i != axis and number != 1 else size for i, size in enumerate(shape)]
        mask = (codes_of("int8", tuple(few), number) > 0).astype(np.int64) * (3 - number)
        named = {"axis": axis, "multiplier": 1395864320, "shift": number, "x_zero": number, "zero_point": 1}
        named |= {"dtype": "int16" if number < 2 else "uint8", "qmin": 0, "qmax": 200}
        given = {"x": codes_of(dtype, shape, number), "mask": mask}
        cases.append(case(f"masked_mean_{number}", given, "masked_mean", **named))
    return [*cases, *integer_softmax_cases(), *integer_layer_norm_cases()]


def integer_softmax_cases() -> list[Case]:
    """Scores of every type, rows of all lengths, results of both widths."""
    settings = [
        ("int32", (2, 3, 5, 33), -1, 3e-9), ("int32", (7, 64), 0, 1e-3), ("int16", (3, 17, 2), 1, 1e-3),
        ("int8", (4, 130), -1, 0.1), ("uint8", (5, 1), -1, 40.0),
    ]  # fmt: skip
    cases = []
    for number, (dtype, shape, axis, scale) in enumerate(settings):
        x = np.resize(HARD_SUMS, shape) if dtype == "int32" else codes_of(dtype, shape, number)
        out, most = ("uint8", 255) if number % 2 == 0 else ("int16", 32767)
        named = {**numerics.integer_softmax_params(scale, 1 / most)._asdict(), "axis": axis}
        named |= {"zero_point": 0, "dtype": out, "qmin": 0, "qmax": most}
        cases.append(case(f"integer_softmax_{number}", {"x": x}, "integer_softmax", **named))
    return cases


def integer_layer_norm_cases() -> list[Case]:
    """Codes of every type, centred or not; one row of equal codes."""
    random = np.random.default_rng(7)
    settings = [
        ("int16", (2, 3, 96), 1, True, 1e-5), ("uint8", (5, 4, 3), 2, True, 1e-12), ("int8", (3, 1), 1, True, 0.0),
        ("int16", (2, 1000), 1, False, 1e-6), ("uint8", (3, 7), 1, False, 1.0),
    ]  # fmt: skip
    cases = []
    for number, (dtype, shape, axes, centred, epsilon) in enumerate(settings):
        x = codes_of(dtype, shape, number)
        x[0] = x[0].flat[0]
        gamma, beta = random.standard_normal((2, *shape[-axes:]))
        multiplier, offset, eps, shift = numerics.integer_layer_norm_params(
            0.01, gamma, beta, 0.02 if number % 2 == 0 else 1e-4, epsilon=epsilon
        )
        low, high = (-32767, 32767) if number % 2 else (0, 255)
        named = {"epsilon": eps, "shift": shift, "zero_point": 0 if number % 2 else 120, "qmin": low, "qmax": high}
        named |= {"dtype": "int16" if number % 2 else "uint8", "centred": centred, "x_zero": 0 if centred else 5}
        given = {"x": x, "multiplier": multiplier, "offset": offset}
        cases.append(case(f"integer_layer_norm_{number}", given, "integer_layer_norm", **named))
    return cases
