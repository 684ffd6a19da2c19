"""Layers and random graphs of free sizes for exactness.py, each run with many random sizes.

Layers    every kind of layer whose batch, rows, columns or length are dynamic (tests/support/models/free_layers.py), in
          int8, in int8 with scales at run time and in float; int8 also by code for a dynamic number of samples
Graphs    random graphs with a free batch, rows or columns, and models that compute shapes from sizes
          (tests/support/fuzz/free_sizes.py): those that can be built, with the sizes that they take
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness.zoo import Feed

CALIBRATED = 6
# Words of a row: how activations get their scales (None: float), and whether samples may run one by one
MODES: dict[str, tuple[str | None, bool]] = {
    "int8": ("static", True),
    "int8, one batch": ("static", False),
    "int8, scales at run time": ("dynamic", True),
    "float": (None, True),
}

Parts = tuple[str, Any, Any, list[Feed], bool, str | None]


def free_models(options: Any) -> Iterator[Parts]:
    """(name, float model, calibration data, inputs, samples may run one by one, activations) of each model."""
    from tests.support.models.free_layers import FAMILIES

    count = 4 if options.quick else options.sizes
    chosen = options.layers.split(",") if options.layers else [*FAMILIES]
    for family, layers in FAMILIES.items():
        if family not in chosen:
            continue
        for name, layer in list(layers.items())[: 1 if options.quick else None]:
            for mode, (activations, apart) in MODES.items():
                calibration, inputs = layer.feeds(1, CALIBRATED), layer.feeds(0, count)
                yield f"{family} - {name}, {mode}", layer.make(), calibration, inputs, apart, activations
    yield from random_models(2 if options.quick else options.free, options.first)


def random_models(count: int, first: int) -> Iterator[Parts]:
    """Random graphs of free sizes, and in turns models that compute shapes."""
    import tvmq
    from tests.support.fuzz.free_sizes import free_feeds, free_model
    from tvmq.errors import DataError, TvmqError
    from tvmq.graph.symbolic import dynamic_dimensions
    from tvmq.passes.prepare import prepare
    from tvmq.reference import Reference

    seed, found = first, 0
    while found < count:
        seed += 1
        if seed % 3 == 0:
            continue  # wild models are fuzz.py's
        model, known = free_model(seed)
        try:
            module = prepare(*tvmq.from_onnx(model))
            tvmq.build(module)
        except TvmqError:
            continue
        if not dynamic_dimensions(module):
            continue
        reference, inputs = Reference(module), []
        for feed in free_feeds(model, known, seed, 12):
            try:
                reference.run(feed)
            except DataError:
                continue
            inputs.append(feed)
        if len(inputs) < 4:
            continue
        found += 1
        words = "computed" if seed % 3 == 2 else "random"
        activations, apart = [*MODES.values()][found % len(MODES)]
        yield f"{words} graphs of free sizes - {seed}", model, inputs[:2], inputs, apart, activations


def family(name: str) -> str:
    """The row of the table that shows a model; empty for one that has its own.

    >>> family("pools - max pool 2x2, float")
    'pools'
    """
    return name.split(" - ")[0] if " - " in name else ""
