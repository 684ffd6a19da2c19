"""What networks at the corners of the passes are made with."""

from __future__ import annotations

from collections.abc import Callable

from tests.support.models.networks import Net

Corner = tuple[Net, list[str]]
Nets = dict[str, Callable[[], Corner]]


def lists_in(nets: Nets) -> Callable[[Callable[[], Corner]], Callable[[], Corner]]:
    """A decorator that lists a network under its name."""

    def net(function: Callable[[], Corner]) -> Callable[[], Corner]:
        nets[function.__name__] = function
        return function

    return net


def start(*shapes: tuple[int, ...], filters: int = 6) -> tuple[Net, str]:
    """A network that begins with a convolution."""
    made = Net(*(shapes or ((2, 3, 9, 8),)))
    return made, made.conv("x", made.shapes[0][1], filters)
