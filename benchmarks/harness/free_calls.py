"""Seconds that layers take in code of free and of fixed sizes, by turns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from harness.free_layers import LAYER
from harness.zoo import Feed

MOVES = ("quantize", "dequantize", "to_nhwc", "to_nchw", "transpose", "pad", "copy")


@dataclass(frozen=True)
class LayerSeconds:
    """Least of the medians of several rounds.

    layer    seconds of the layers in question, with what moves and converts their operands
    run      seconds of a whole run
    kernels  that compute the layers
    """

    layer: float
    run: float
    kernels: tuple[str, ...]


def measure_layers(executables: Mapping[str, Any], feed: Feed, rounds: int, repeat: int) -> dict[str, LayerSeconds]:
    """The seconds of each executable on the same inputs, a profile a round by turns."""
    profiles: dict[str, list[Any]] = {name: [] for name in executables}
    for _ in range(rounds):
        for name, exe in executables.items():
            profiles[name].append(exe.profile(feed, repeat=repeat))
    return {name: _least(found) for name, found in profiles.items()}


def _least(profiles: list[Any]) -> LayerSeconds:
    inner = [list(_inner_rows(profile)) for profile in profiles]
    seconds = min(sum(row.seconds for row in rows) for rows in inner)
    kernels = (kernel for row in inner[0] for kernel in row.kernels)
    return LayerSeconds(seconds, min(profile.run for profile in profiles), tuple(kernels))


def _inner_rows(profile: Any) -> Iterator[Any]:
    """Rows without the products before and after, and without what converts the input and the result of the model.

    Conversions between them count: a layer that asks for another layout or type pays for it.
    """
    last = len(profile.layers) - 1
    for index, row in enumerate(profile.layers):
        named = any(name.startswith(LAYER) for name in row.layers)
        moves = all(kernel.startswith(MOVES) for kernel in row.kernels)
        first = row.layers == ("x",)
        if named or (moves and not first and index != last and row.layers):
            yield row
