"""Transforms of Winograd's convolution as vector code; vectors are channels.

B' of the input in int16, A' of the products modulo 2^32: one axis at a time, with as few operations as they allow.
The matrices, and the proof that nothing is lost: scheme.py.

Tests: tests/codegen/kernels/winograd/test_winograd.py
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.parts.builder import Expr, bind, spread, wrapping_operation
from tvmq.codegen.kernels.winograd.scheme import Scheme

Transform = Callable[[Sequence[Expr], int], list[Expr]]


def both_axes(rows: Sequence[Sequence[Expr]], transform: Transform, lanes: int) -> list[list[Expr]]:
    """M x M' for the matrix M of a transform and vectors x[row][column]."""
    # M x M' is M applied to each column, then to each row of the result: 2 * points transforms of a line, no transpose,
    # as vectors are channels and rows and columns are only names of registers
    columns = [transform([row[j] for row in rows], lanes) for j in range(len(rows))]
    return [transform([column[i] for column in columns], lanes) for i in range(len(columns[0]))]


def input_transform(scheme: Scheme) -> Transform:
    """B' of int16 vectors; nothing leaves int16 (see `refusal`)."""
    return {4: _input_4, 2: _input_2}[scheme.tile]


def output_transform(scheme: Scheme) -> Transform:
    """A' of int32 vectors, modulo 2^32."""
    return {4: _output_4, 2: _output_2}[scheme.tile]


def divide_by_scale(scheme: Scheme, total: Expr, lanes: int) -> Expr:
    """The sum of a convolution from the transformed products: divided by d^2."""
    # d^2 y, d^2 = odd * 2^shift, is known modulo 2^32 alone. There odd has an inverse (9 * 954437177 = 2^33 + 1), and
    # 2^shift y is what is left: exact as int32, sign and all, because `refusal` bounds |y| by 2^(31 - shift)
    if scheme.odd != 1:
        total = wrapping_operation("mul", total, spread(scheme.inverse, lanes), lanes)
    return bind(T.shift_right(total, spread(scheme.shift, lanes)))


def _input_4(x: Sequence[Expr], lanes: int) -> list[Expr]:
    # Rows 1, 2 and rows 3, 4 of B' are the sum and the difference of the same two halves:
    #
    #     a = x4 - 4 x2    b = x3 - 4 x1        a + b, a - b        -4 x1 - 4 x2 + x3 + x4,   4 x1 - 4 x2 - x3 + x4
    #     c = x4 - x2      d = x3 - x1          c + 2d, c - 2d      -2 x1 - x2 + 2 x3 + x4,   2 x1 - x2 - 2 x3 + x4
    #
    # Weights of a row sum up to 10 in magnitude: |V| <= 10 * 10 * 255 = 25500, and `input_limit` says 17340
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
        return wrapping_operation("add", a, b, lanes)

    def sub(a: Expr, b: Expr) -> Expr:
        return wrapping_operation("sub", a, b, lanes)

    def shift_left(value: Expr, bits: int) -> Expr:
        return bind(T.shift_left(value, spread(bits, lanes)))

    # Columns 1, 2 and columns 3, 4 of A' are equal up to the sign of every second row. With p, r the sums of these
    # products and q, s their differences, the four outputs are
    #
    #     6 m0 + 4 p + r        4 q + 2 s        4 p + 4 r        4 q + 8 s + 24 m5
    p, q, r, s = add(m[1], m[2]), sub(m[1], m[2]), add(m[3], m[4]), sub(m[3], m[4])
    p4, q4, s2 = shift_left(p, 2), shift_left(q, 2), shift_left(s, 1)
    three = add(m[0], shift_left(m[0], 1)), add(m[5], shift_left(m[5], 1))
    return [
        add(add(shift_left(three[0], 1), p4), r),
        add(q4, s2),
        shift_left(add(p, r), 2),
        add(add(q4, shift_left(s, 3)), shift_left(three[1], 3)),
    ]


def _output_2(m: Sequence[Expr], lanes: int) -> list[Expr]:
    def add(a: Expr, b: Expr) -> Expr:
        return wrapping_operation("add", a, b, lanes)

    def double(value: Expr) -> Expr:
        return bind(T.shift_left(value, spread(1, lanes)))

    p, q = add(m[1], m[2]), wrapping_operation("sub", m[1], m[2], lanes)
    return [add(double(m[0]), p), wrapping_operation("sub", q, double(m[3]), lanes)]
