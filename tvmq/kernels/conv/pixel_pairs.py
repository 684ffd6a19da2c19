"""Sums of two pixels at a time, for instructions that multiply pairs of pixels (smmla)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tvmq.kernels.parts.builder import Buffer, Expr, Register


def twice(ins: Any, value: Expr) -> tuple[Expr, Expr]:
    """A vector of sums for each of two pixels as the instructions hold them."""
    pair: tuple[Expr, Expr] = ins.paired(value, value)
    return pair


def add_pair(
    ins: Any, sums: Sequence[Sequence[Register]], source: Buffer, places: tuple[Expr, Expr], weights: Sequence[Expr]
) -> None:
    """One step of two pixels: sums of both, a register a vector of weights; places: their elements of the source."""
    x = ins.two_pixels(source, *places)
    for one, other, weight in zip(*sums, weights, strict=True):
        _set_both(one, other, ins.dot_pair(one.get(), other.get(), x, weight))


def part_pixels(ins: Any, sums: Sequence[Sequence[Register]]) -> None:
    """Each row of sums to one pixel, when all steps are done."""
    for first in range(0, len(sums), 2):
        for one, other in zip(*sums[first : first + 2], strict=True):
            _set_both(one, other, ins.paired(one.get(), other.get()))


def _set_both(one: Register, other: Register, values: tuple[Expr, Expr]) -> None:
    one.set(values[0])
    other.set(values[1])
