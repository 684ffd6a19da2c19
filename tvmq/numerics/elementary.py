"""Elementary functions with float32 arithmetic that is fixed to the last bit: exp, log, tanh, erf, sin and their kind.

Every product, sum, difference and quotient is rounded to float32 by itself: no fused multiply-add, no reordering.
Compiled code is made by running these functions on symbols (kernels/parts/symbols.py), so the text here is both: it
uses only NumPy's arithmetic, comparisons, minimum, maximum, where, casts and views of bits.

exp         n = rint(x * log2 e), r = x - n * ln 2 in two parts, exp(r) by softmax's polynomial; 2^n in two factors, so
            that the ends of the range (denormal numbers, infinity) come out right
log         x = m * 2^e with m in [sqrt(1/2), sqrt(2)), log(m) by log_softmax's polynomial
sigmoid     one over 1 + exp(-x), whose ends need no denormal numbers: one factor 2^n, a polynomial of a term less
tanh        x * P(x^2) / Q(x^2) on |x| <= 9.1, beyond which it is 1 in float32; P, Q by least squares, 2.3e-8 relative
erf         the same on |x| <= 4; 2.5e-8 relative
sin, cos    n = rint(x * 2 / pi), r = x - n * pi / 2 with n in two and pi / 2 in four parts, polynomials at r; within
            1.5e-7 for |x| <= 6.5e6, beyond which (neighbours are half a unit apart) it is the value of that end
All are within 6 units in the last place of the real function, where the table of tests/numerics/test_elementary.py says
nothing else; NaN stays NaN, infinities give the function's limits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tvmq.numerics.softmax import EXP_COEFFICIENTS, LN2_HIGH, LN2_LOW, LOG2_E, log_from_one

REAL, WHOLE = np.float32, np.int32
EXP_LOW, EXP_HIGH = REAL(-104.0), REAL(89.0)  # exp is 0 below and infinite above
# Adding 1.5 * 2^23 to a float32 of magnitude below 2^22 rounds it to an integer, half to even.
ROUNDER = REAL(1.5 * 2.0**23)
LEAST_NORMAL = REAL(2.0**-126)
TANH_END, ERF_END = REAL(9.1), REAL(4.0)
TURN_END = REAL(6.5e6)  # where n of sin and cos still is below 2^22
TURN_ROUNDER = REAL(1.5 * 2.0**34)  # rounds n to a multiple of 2^11


# Beyond, 1 + exp(-x) is 1 or infinite. The second rounder leaves n + 127, the exponent of 2^n, in the lowest bits.
SIGMOID_LOW, SIGMOID_HIGH = REAL(-89.0), REAL(87.0)
EXPONENT_ROUNDER = ROUNDER + REAL(127)


def _numbers(*texts: str) -> tuple[np.float32, ...]:
    return tuple(REAL(float.fromhex(text)) for text in texts)


# exp(r) ~ 1 + r + r^2 * (c[0] + ... + c[3] r^3) for |r| <= ln(2) / 2, to 1.05e-7; signs are those of exp(-r)
EXP_MINUS = _numbers("0x1.fffdfcp-2", "-0x1.5557b0p-3", "0x1.572a64p-5", "-0x1.106250p-7")
TANH_OVER = _numbers("1", "0x1.11e90ap-3", "0x1.c9297cp-9", "0x1.57a1dap-16", "0x1.c4d058p-27")
TANH_UNDER = _numbers("1", "0x1.de49ccp-2", "0x1.a77cc4p-6", "0x1.573344p-12", "0x1.9da22ap-21")
ERF_OVER = _numbers(
    "0x1.20dd74p0", "0x1.8c5832p-3", "0x1.b2fd84p-5", "0x1.fce5dep-9", "0x1.2a5e72p-12", "0x1.0aad12p-19"
)
ERF_UNDER = _numbers("1", "0x1.027aa4p-1", "0x1.d871a2p-4", "0x1.f242eep-7", "0x1.36bdb0p-10", "0x1.39e77cp-15")
TWO_OVER_PI = REAL(2 / np.pi)
# pi / 2 in parts of 12 bits, to 2^-53: products with numbers of 12 bits are exact
HALF_PI = _numbers("0x1.92p0", "0x1.fb4p-12", "0x1.444p-24", "0x1.68cp-39")
SIN_COEFFICIENTS = _numbers("-0x1.555546p-3", "0x1.11074cp-7", "-0x1.9947c6p-13")
COS_COEFFICIENTS = _numbers("0x1.55554ap-5", "-0x1.6c0c76p-10", "0x1.99fc20p-16")


def exp(x: np.ndarray) -> np.ndarray:
    """e to the x; float32 of the shape of x, as all functions here.

    order  t = min(max(x, -104), 89); n = rint(t * LOG2_E), half to even; r = (t - n * LN2_HIGH) - n * LN2_LOW;
           q = polynomial of EXP_COEFFICIENTS at r; p = (q * r + 1) * r + 1; h = n >> 1; (p * 2^h) * 2^(n - h)

    >>> exp(np.float32([0, -np.inf, 200]))
    array([ 1.,  0., inf], dtype=float32)
    """
    t = _limit(x, EXP_LOW, EXP_HIGH)
    n = (t * LOG2_E + ROUNDER) - ROUNDER
    r = (t - n * LN2_HIGH) - n * LN2_LOW
    p = (_polynomial(r, EXP_COEFFICIENTS) * r + REAL(1)) * r + REAL(1)
    exponent = n.astype(WHOLE)
    half = exponent >> WHOLE(1)
    return (p * _power_of_two(half)) * _power_of_two(exponent - half)


def log(x: np.ndarray) -> np.ndarray:
    """Natural logarithm: -inf of zeros, NaN of negative numbers.

    order  denormal numbers times 2^23; log_from_one's steps; minus 23 * ln 2 in float32 for denormal numbers

    >>> log(np.float32([1, 0, -1, np.inf]))
    array([  0., -inf,  nan,  inf], dtype=float32)
    """
    tiny = x < LEAST_NORMAL
    normal = log_from_one(np.where(tiny, x * REAL(2.0**23), x))
    value = np.where(tiny, normal - REAL(23 * np.log(2)), normal)
    value = np.where(x < REAL(np.inf), value, x)  # infinity and NaN stay
    return np.where(x > REAL(0), value, np.where(x == REAL(0), REAL(-np.inf), np.where(x < REAL(0), REAL(np.nan), x)))


def sigmoid(x: np.ndarray) -> np.ndarray:
    """1 / (1 + exp(-x)); below -88.4 it is 0.

    order  t = min(max(x, -89), 87); z = t * -LOG2_E + (1.5 * 2^23 + 127); n = z - (1.5 * 2^23 + 127);
           r = (t + n * LN2_HIGH) + n * LN2_LOW; q = polynomial of EXP_MINUS at r; p = (q * r - 1) * r + 1;
           1 / (1 + p * 2^n), where 2^n is the float32 of bits (bits of z) << 23

    >>> sigmoid(np.float32([0, -np.inf]))
    array([0.5, 0. ], dtype=float32)
    """
    return REAL(1) / _one_plus_exp_neg(x)


def silu(x: np.ndarray) -> np.ndarray:
    """x / (1 + exp(-x)), the divisor as in `sigmoid`.

    >>> silu(np.float32([0, 1]))
    array([0.        , 0.73105854], dtype=float32)
    """
    return x / _one_plus_exp_neg(x)


def tanh(x: np.ndarray) -> np.ndarray:
    """Hyperbolic tangent.

    order  t = min(max(x, -9.1), 9.1); s = t * t; min(max((t * over(s)) / under(s), -1), 1)

    >>> tanh(np.float32([0, np.inf]))
    array([0., 1.], dtype=float32)
    """
    return _odd_quotient(x, TANH_END, TANH_OVER, TANH_UNDER)


def erf(x: np.ndarray) -> np.ndarray:
    """Error function; order as tanh, with the end 4.

    >>> erf(np.float32([0, -np.inf]))
    array([ 0., -1.], dtype=float32)
    """
    return _odd_quotient(x, ERF_END, ERF_OVER, ERF_UNDER)


def gelu(x: np.ndarray) -> np.ndarray:
    """(0.5 * x) * (1 + erf(x * sqrt(1/2))).

    >>> gelu(np.float32([0, 1]))
    array([0.       , 0.8413447], dtype=float32)
    """
    return (REAL(0.5) * x) * (REAL(1) + erf(x * REAL(np.sqrt(0.5))))


def gelu_tanh(x: np.ndarray) -> np.ndarray:
    """(0.5 * x) * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * ((x * x) * x)))).

    >>> gelu_tanh(np.float32([0, 1]))
    array([0.      , 0.841192], dtype=float32)
    """
    inner = x + REAL(0.044715) * ((x * x) * x)
    return (REAL(0.5) * x) * (REAL(1) + tanh(REAL(np.sqrt(2 / np.pi)) * inner))


def sin(x: np.ndarray) -> np.ndarray:
    """Sine of an angle in radians; NaN of infinities.

    order  t = min(max(x, -6.5e6), 6.5e6); n = (t * float32(2 / pi) + 1.5 * 2^23) - 1.5 * 2^23;
           h = (n + 1.5 * 2^34) - 1.5 * 2^34; r = ((t - h * p0) - (n - h) * p0) - h * p1 - ..., p = HALF_PI;
           m from r as n from t; r = ((r - m * p0) - m * p1) - m * p2; n = n + m; s = r * r;
           where n is even r * (s * (c0 + c1 s + c2 s^2) + 1), c = SIN_COEFFICIENTS; where it is odd
           ((s * s) * (c0 + c1 s + c2 s^2) - 0.5 * s) + 1, c = COS_COEFFICIENTS; the negative of it where the bit of n
           above the last one is set; NaN where x is infinite or NaN

    >>> sin(np.float32([0, -0.0]))
    array([ 0., -0.], dtype=float32)
    """
    return _sine(x, REAL(0))


def cos(x: np.ndarray) -> np.ndarray:
    """Cosine of an angle in radians; NaN of infinities. Order as `sin`, which chooses by n + m + 1.

    >>> cos(np.float32([0, -0.0]))
    array([1., 1.], dtype=float32)
    """
    return _sine(x, REAL(1))


def rsqrt(x: np.ndarray) -> np.ndarray:
    """1 / sqrt(x), two roundings.

    >>> rsqrt(np.float32([4, 0]))
    array([0.5, inf], dtype=float32)
    """
    return REAL(1) / np.sqrt(x)


def square(x: np.ndarray) -> np.ndarray:
    """x * x.

    >>> square(np.float32([-3]))
    array([9.], dtype=float32)
    """
    return x * x


# Name of the Relax operator -> its definition on float32.
ELEMENTARY: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "exp": exp,
    "log": log,
    "sigmoid": sigmoid,
    "tanh": tanh,
    "erf": erf,
    "sin": sin,
    "cos": cos,
    "rsqrt": rsqrt,
    "square": square,
    "nn.silu": silu,
    "nn.gelu": gelu,
    "nn.gelu_tanh": gelu_tanh,
}


def _limit(x: np.ndarray, low: np.float32, high: np.float32) -> np.ndarray:
    """min(max(x, low), high); NaN stays NaN."""
    return np.minimum(np.maximum(x, low), high)


def _polynomial(x: np.ndarray, coefficients: Sequence[np.float32]) -> np.ndarray:
    """Horner's rule, each product and each sum rounded."""
    value = x * coefficients[-1] + coefficients[-2]
    for coefficient in coefficients[-3::-1]:
        value = value * x + coefficient
    return value


def _power_of_two(exponent: np.ndarray) -> np.ndarray:
    """2^exponent for exponents of -126 to 127, by its bits."""
    return ((exponent + WHOLE(127)) << WHOLE(23)).view(REAL)


def _one_plus_exp_neg(x: np.ndarray) -> np.ndarray:
    """1 + exp(-x); see `sigmoid`."""
    t = _limit(x, SIGMOID_LOW, SIGMOID_HIGH)
    z = t * -LOG2_E + EXPONENT_ROUNDER
    n = z - EXPONENT_ROUNDER
    r = (t + n * LN2_HIGH) + n * LN2_LOW
    p = (_polynomial(r, EXP_MINUS) * r - REAL(1)) * r + REAL(1)
    return p * (z.view(WHOLE) << WHOLE(23)).view(REAL) + REAL(1)


def _odd_quotient(
    x: np.ndarray, end: np.float32, over: Sequence[np.float32], under: Sequence[np.float32]
) -> np.ndarray:
    t = _limit(x, -end, end)
    s = t * t
    return _limit((t * _polynomial(s, over)) / _polynomial(s, under), REAL(-1), REAL(1))


def _sine(x: np.ndarray, quarters: np.float32) -> np.ndarray:
    """Sine of so many quarters of a turn more than x."""
    t = _limit(x, -TURN_END, TURN_END)
    n = (t * TWO_OVER_PI + ROUNDER) - ROUNDER
    high = (n + TURN_ROUNDER) - TURN_ROUNDER
    low = n - high
    r = t
    for part in HALF_PI:
        r = (r - high * part) - low * part
    # the product with 2 / pi is rounded: of large angles the next multiple may be nearer
    m = (r * TWO_OVER_PI + ROUNDER) - ROUNDER
    for part in HALF_PI[:3]:
        r = r - m * part
    bits = (((n + m) + quarters) + ROUNDER).view(WHOLE)
    s = r * r
    even = r * (s * _polynomial(s, SIN_COEFFICIENTS) + REAL(1))  # keeps the sign of zero
    odd = ((s * s) * _polynomial(s, COS_COEFFICIENTS) - REAL(0.5) * s) + REAL(1)
    value = np.where((bits << WHOLE(31)) < WHOLE(0), odd, even)
    value = np.where((bits << WHOLE(30)) < WHOLE(0), -value, value)
    # not by x - x, which compilers take for 0
    return np.where(x > REAL(-np.inf), np.where(x < REAL(np.inf), value, REAL(np.nan)), REAL(np.nan))
