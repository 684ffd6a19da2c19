"""Copies of the input into scratch memory in the form that the inner loop of a convolution reads.

The copy adds padding (filled with the zero point), widens codes to int16 where the instruction set multiplies
int16, turns int8 codes q into uint8 q + 128 where it wants uint8 and back, and leaves room behind the last element so
that the last step of a run may read past its end. Kernels that need none of this read the input itself.

Sums of two pixels at a time, for instructions that multiply pairs of pixels (smmla).

Tests: tests/codegen/kernels/test_assembly.py
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tvm import tirx
from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.isa.generic import Instructions
from tvmq.codegen.kernels.parts.builder import Buffer, Expr, Register, bind, load, spread, store, vector_type
from tvmq.codegen.kernels.parts.kernel_types import Conv2d
from tvmq.codegen.kernels.parts.loops import copy_elements, make_opaque
from tvmq.numerics.code_type import CODES_8

SLACK = 64  # elements behind the last one


def copy_run(
    target: Buffer, begin: Expr, count: Expr, at_least: int, lanes: int, value: Callable[[Expr, int], Expr]
) -> None:
    """target[begin : begin + count] = value(offset from begin, lanes); the last vector overlaps another.

    at_least  a lower bound of count, positive; vectors are no longer than that
    """
    while lanes > at_least:
        lanes //= 2
    if isinstance(count, int):
        whole, even = count // lanes, count % lanes == 0
    else:
        whole, even = T.floordiv(count, lanes), lanes == 1
    with T.serial(0, whole) as i:
        store(target, begin + i * lanes, value(i * lanes, lanes), lanes)
    if not even:
        store(target, begin + count - lanes, value(count - lanes, lanes), lanes)


class Stager:
    """Writes staged copies of one input.

    source  flat input of conv.x_dtype codes
    dtype   what the target holds; by default what `dot` takes, ins.x_dtype
    shift   what is added to a code; by default what makes it one that `dot` takes
    """

    def __init__(
        self,
        ins: Instructions,
        source: Buffer,
        conv: Conv2d,
        x_zero: int,
        *,
        dtype: str | None = None,
        shift: int | None = None,
    ) -> None:
        self._source, self._dtype, self._conv = source, conv.x_dtype, conv
        self.dtype = dtype = dtype or ins.x_dtype
        self._lanes = ins.vector_bytes if dtype in CODES_8 else ins.vector_bytes // 2
        if shift is None:
            shift = ins.shift_of(conv.x_dtype) if dtype == ins.x_dtype else 0
        self._fill, self._shift = x_zero + shift, shift
        self._flipped = shift != 0 and dtype in CODES_8

    def _value(self, offset: Expr, lanes: int) -> Expr:
        codes = load(self._source, offset, vector_type(self._dtype, lanes))
        if self._flipped:
            bits = T.reinterpret(vector_type("uint8", lanes), codes)
            flipped = T.bitwise_xor(bits, spread(128, lanes, "uint8"))
            return T.reinterpret(vector_type(self.dtype, lanes), flipped)
        if self.dtype == self._dtype:
            return codes
        wider = T.Cast(vector_type(self.dtype, lanes), codes)
        return wider + spread(self._shift, lanes, self.dtype) if self._shift else wider

    def copy(self, target: Buffer, target_begin: Expr, source_begin: Expr, count: Expr, at_least: int) -> None:
        """Neighbouring elements as they are."""
        copy_run(target, target_begin, count, at_least, self._lanes, lambda i, n: self._value(source_begin + i, n))

    def fill(self, target: Buffer, begin: Expr, count: Expr) -> None:
        """The zero point, `count` times."""
        dtype = self.dtype
        if not isinstance(count, int):
            copy_elements(target, begin, count, self._lanes, lambda _at, lanes: spread(self._fill, lanes, dtype))
        elif count:
            copy_run(target, begin, count, count, self._lanes, lambda _i, lanes: spread(self._fill, lanes, dtype))

    def pixels(self, target: Buffer, begin: Expr, end: Expr, at_least: int) -> None:
        """Input pixels under output pixels begin .. end of a 1 x 1 convolution without padding, densely."""
        conv = self._conv
        channels = conv.channels
        if conv.strides == (1, 1):
            count = (end - begin) * channels
            self.copy(target, 0, begin * channels, count, at_least * channels)
            return
        with T.serial(0, end - begin) as i:
            pixel = bind(begin + i)
            row = bind(T.floordiv(pixel, conv.out_width))
            image, line = T.floordiv(row, conv.out_height), T.floormod(row, conv.out_height)
            source_row = image * conv.height + line * conv.strides[0]
            column = T.floormod(pixel, conv.out_width) * conv.strides[1]
            source = bind((source_row * conv.width + column) * channels)
            self.copy(target, i * channels, source, channels, channels)

    def rows(self, target: Buffer, first: Expr, count: Expr) -> None:
        """Rows first .. first + count of the padded input (pictures below each other) to target."""
        conv = self._conv
        top, left, bottom, right = conv.padding
        padded_height, line = conv.height + top + bottom, conv.width * conv.channels
        pitch = (conv.width + left + right) * conv.channels
        with T.serial(0, count) as i:
            row = bind(first + i)
            y = bind(T.floormod(row, padded_height) - top)
            begin = bind(i * pitch)
            with T.If(T.And(y >= 0, y < conv.height)):
                with T.Then():
                    source = bind((T.floordiv(row, padded_height) * conv.height + y) * line)
                    self.fill(target, begin, left * conv.channels)
                    self.copy(target, begin + left * conv.channels, source, line, line)
                    self.fill(target, begin + (left + conv.width) * conv.channels, right * conv.channels)
                with T.Else():
                    self.fill(target, begin, pitch)

    def dynamic_rows(self, target: Buffer, first: Expr, count: Expr, padded_height: Expr, pitch: Expr) -> None:
        """`rows` of pictures of dynamic sizes; pitch: elements of a padded row."""
        conv = self._conv
        top, left, _, right = conv.padding
        line = make_opaque(conv.width * conv.channels)
        with T.serial(0, count) as i:
            row = make_opaque(first + i)
            image = make_opaque(tirx.truncdiv(row, padded_height))
            y = make_opaque(row - image * padded_height - top)
            begin = make_opaque(i * pitch)
            with T.If(T.And(y >= 0, y < conv.height)):
                with T.Then():
                    source = make_opaque((image * conv.height + y) * line)
                    self.fill(target, begin, left * conv.channels)
                    inside = make_opaque(begin + left * conv.channels)
                    copy_elements(target, inside, line, self._lanes, lambda at, lanes: self._value(source + at, lanes))
                    self.fill(target, inside + line, right * conv.channels)
                with T.Else():
                    self.fill(target, begin, pitch)


def duplicate_sums(ins: Any, value: Expr) -> tuple[Expr, Expr]:
    """A vector of sums for each of two pixels as the instructions hold them."""
    pair: tuple[Expr, Expr] = ins.exchange_halves(value, value)
    return pair


def add_pair(
    ins: Any, sums: Sequence[Sequence[Register]], source: Buffer, places: tuple[Expr, Expr], weights: Sequence[Expr]
) -> None:
    """Add a step to the sums of two pixels, a register a vector of weights; places: their elements of the source."""
    x = ins.two_pixels(source, *places)
    for one, other, weight in zip(*sums, weights, strict=True):
        _set_both(one, other, ins.dot_pair(one.get(), other.get(), x, weight))


def part_pixels(ins: Any, sums: Sequence[Sequence[Register]]) -> None:
    """Each row of sums to one pixel, when all steps are done."""
    for first in range(0, len(sums), 2):
        for one, other in zip(*sums[first : first + 2], strict=True):
            _set_both(one, other, ins.exchange_halves(one.get(), other.get()))


def _set_both(one: Register, other: Register, values: tuple[Expr, Expr]) -> None:
    one.set(values[0])
    other.set(values[1])
