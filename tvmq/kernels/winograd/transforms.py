"""The transforms of Winograd's convolution as vector code: of the input in int16, of the products modulo 2^32.

One axis at a time, as few operations as the matrices of winograd_scheme allow; vectors are channels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tvm.script.ir_builder import tirx as T

from tvmq.kernels.parts.builder import Expr, bind, spread, wrapping
from tvmq.kernels.winograd.scheme import Scheme

Transform = Callable[[Sequence[Expr], int], list[Expr]]


def both_axes(rows: Sequence[Sequence[Expr]], transform: Transform, lanes: int) -> list[list[Expr]]:
    """M x M' for the matrix M of a transform and vectors x[row][column]."""
    columns = [transform([row[j] for row in rows], lanes) for j in range(len(rows))]
    return [transform([column[i] for column in columns], lanes) for i in range(len(columns[0]))]


def input_transform(scheme: Scheme) -> Transform:
    """B' of int16 vectors; nothing leaves int16 (winograd_scheme.refusal)."""
    return {4: _input_4, 2: _input_2}[scheme.tile]


def output_transform(scheme: Scheme) -> Transform:
    """A' of int32 vectors, modulo 2^32."""
    return {4: _output_4, 2: _output_2}[scheme.tile]


def divide_by_scale(scheme: Scheme, total: Expr, lanes: int) -> Expr:
    """The sum of a convolution from the transformed products: divided by d^2."""
    if scheme.odd != 1:
        total = wrapping("mul", total, spread(scheme.inverse, lanes), lanes)
    return bind(T.shift_right(total, spread(scheme.shift, lanes)))


def _input_4(x: Sequence[Expr], lanes: int) -> list[Expr]:
    def four(value: Expr) -> Expr:
        return T.shift_left(value, spread(2, lanes, "int16"))

    a, b = bind(x[4] - four(x[2])), bind(x[3] - four(x[1]))
    c, d = bind(x[4] - x[2]), bind(x[3] - x[1])
    twice = bind(d + d)
    # 4 x0 - 5 x2 + x4 and 4 x1 - 5 x3 + x5 from differences that are there already
    first, last = bind(four(x[0] - x[2]) + c), bind(x[5] - x[3] - four(d))
    return [first, bind(a + b), bind(a - b), bind(c + twice), bind(c - twice), last]


def _input_2(x: Sequence[Expr], _lanes: int) -> list[Expr]:
    return [bind(x[0] - x[2]), bind(x[1] + x[2]), bind(x[2] - x[1]), bind(x[1] - x[3])]


def _output_4(m: Sequence[Expr], lanes: int) -> list[Expr]:
    def add(a: Expr, b: Expr) -> Expr:
        return wrapping("add", a, b, lanes)

    def sub(a: Expr, b: Expr) -> Expr:
        return wrapping("sub", a, b, lanes)

    def shifted(value: Expr, bits: int) -> Expr:
        return bind(T.shift_left(value, spread(bits, lanes)))

    p, q, r, s = add(m[1], m[2]), sub(m[1], m[2]), add(m[3], m[4]), sub(m[3], m[4])
    p4, q4, s2 = shifted(p, 2), shifted(q, 2), shifted(s, 1)
    three = add(m[0], shifted(m[0], 1)), add(m[5], shifted(m[5], 1))
    return [
        add(add(shifted(three[0], 1), p4), r),
        add(q4, s2),
        shifted(add(p, r), 2),
        add(add(q4, shifted(s, 3)), shifted(three[1], 3)),
    ]


def _output_2(m: Sequence[Expr], lanes: int) -> list[Expr]:
    def add(a: Expr, b: Expr) -> Expr:
        return wrapping("add", a, b, lanes)

    def twice(value: Expr) -> Expr:
        return bind(T.shift_left(value, spread(1, lanes)))

    p, q = add(m[1], m[2]), wrapping("sub", m[1], m[2], lanes)
    return [add(twice(m[0]), p), wrapping("sub", q, twice(m[3]), lanes)]
