"""Helpers that build networks at the corners of the passes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from tests.support.models.networks import Net

Corner = tuple[Net, list[str]]
Nets = dict[str, Callable[[], Corner]]


def lists_in(nets: Nets) -> Callable[[Callable[[], Corner]], Callable[[], Corner]]:
    """A decorator that lists a network under its name."""

    def net(function: Callable[[], Corner]) -> Callable[[], Corner]:
        nets[function.__name__] = function
        return function

    return net


def from_a_convolution(*shapes: tuple[int, ...], filters: int = 6, **outputs: Callable[[Net, str], list[str]]) -> Nets:
    """Networks by name: what each makes of the result of a convolution."""

    def begin(function: Callable[[Net, str], list[str]]) -> Corner:
        made, y = start(*shapes, filters=filters)
        return made, function(made, y)

    return {name: partial(begin, function) for name, function in outputs.items()}


def from_inputs(*shapes: tuple[int, ...], **outputs: Callable[[Net], list[str]]) -> Nets:
    """Networks by name: what each makes of inputs of these shapes."""

    def begin(function: Callable[[Net], list[str]]) -> Corner:
        made = Net(*shapes)
        return made, function(made)

    return {name: partial(begin, function) for name, function in outputs.items()}


def start(*shapes: tuple[int, ...], filters: int = 6) -> tuple[Net, str]:
    """A network that begins with a convolution."""
    made = Net(*(shapes or ((2, 3, 9, 8),)))
    return made, made.conv("x", made.shapes[0][1], filters)
