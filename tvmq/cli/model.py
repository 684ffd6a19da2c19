"""Import a model for a command: which shapes its inputs get."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import tvmq
from tvmq.cli.files import Arrays, read_arrays
from tvmq.cli.screen import notice
from tvmq.errors import ConfigError

Shape = tuple[int | None, ...]


def parse_shapes(texts: Sequence[str]) -> dict[str, Shape]:
    """{input: shape} from texts such as "x=1,3,224,224"; "?" keeps a dimension as the model has it.

    raises  ConfigError with an example

    >>> parse_shapes(["x=1,3,224,224", "mask=1,?"])
    {'x': (1, 3, 224, 224), 'mask': (1, None)}
    """
    shapes: dict[str, Shape] = {}
    for text in texts:
        name, _, dims = text.rpartition("=")
        parts = [part.strip() for part in dims.split(",")]
        if not name or not all(part == "?" or (part.isdecimal() and int(part) > 0) for part in parts):
            raise ConfigError(f"--shape: '{text}' is not NAME=D0,D1,...; example: x=1,3,32,32 (? keeps one)")
        shapes[name] = tuple(None if part == "?" else int(part) for part in parts)
    return shapes


def choose_shapes(
    own: Mapping[str, Shape | None], given: Mapping[str, Shape], data: Mapping[str, Shape], batch: int
) -> dict[str, Shape]:
    """The shape of each input: as given, else the model's own, free dimensions from `batch` and the data.

    own     {input: shape} of the model, None for a free dimension or an unknown rank
    given   {input: shape} of --shape
    data    {input: shape} of the arrays, samples first

    >>> choose_shapes({"x": (None, 3, None), "y": None}, {}, {"x": (64, 3, 8), "y": (64, 5)}, batch=1)
    {'x': (1, 3, 8), 'y': (1, 5)}
    """
    chosen = dict(given)
    for name in own:
        if name not in given:
            sample: Shape = (batch, *data.get(name, ())[1:])
            shape = own[name] or (None,) * len(sample)
            free = sample if len(sample) == len(shape) else (batch, *shape[1:])
            chosen[name] = tuple(fixed or size for fixed, size in zip(shape, free, strict=True))
    return chosen


def import_model(
    model: Path, data: Path | None, shape: Sequence[str], batch: int, *, quiet: bool = False
) -> tuple[Any, dict[str, Any], Arrays | None, int]:
    """Read a model, ONNX or a torch program (.pt2), and its data.

    returns  (module, weights, arrays by input name or None, samples in a batch)
    raises   what tvmq.from_onnx, read_arrays and parse_shapes raise
    """
    from tvmq.frontends.onnx_load import read_model
    from tvmq.frontends.onnx_shapes import dimensions, graph_inputs

    given = parse_shapes(shape)
    if model.suffix == ".pt2":
        return _import_program(model, data, given, batch)
    proto = read_model(model)
    own: dict[str, Shape | None] = {}
    for value in graph_inputs(proto.graph):
        dims = dimensions(value)
        own[value.name] = None if dims is None else tuple(d if isinstance(d, int) else None for d in dims)
    arrays = read_arrays(data, list(own)) if data else None
    shapes = choose_shapes(own, given, {name: array.shape for name, array in (arrays or {}).items()}, batch)
    if not quiet and shapes != own and not given:
        fixed = ", ".join(f"{name} {dims}" for name, dims in shapes.items())
        notice(f"free dimensions fixed: {fixed} (--batch and --shape choose others)")
    mod, params = tvmq.from_onnx(proto, shape=shapes)
    first = next(iter(shapes.values()), ())
    return mod, params, arrays, (first[0] if first else None) or batch


def _import_program(
    model: Path, data: Path | None, given: Mapping[str, Shape], batch: int
) -> tuple[Any, dict[str, Any], Arrays | None, int]:
    """A program of torch.export and its data, see `import_model`; its sizes were chosen at the export."""
    from tvmq.graph.symbolic import inputs_of

    if given:
        raise ConfigError(
            "--shape: a .pt2 program has the shapes of its export; export it with others, or leave it out"
        )
    mod, params = tvmq.from_torch(model)
    inputs = [value for value in inputs_of(mod) if value.name not in params]
    arrays = read_arrays(data, [value.name for value in inputs]) if data else None
    return mod, params, arrays, (inputs[0].shape[0] if inputs and inputs[0].shape else None) or batch
