"""Read a model for a command: its inputs, the shapes that they get, and its module."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tvmq
from tvmq.errors import ConfigError, ModelError
from tvmq.runtime.load_model import is_library
from tvmq.tools.cli.console import notice
from tvmq.tools.cli.files import Arrays, read_arrays, refuse_float_model
from tvmq.tools.cli.trust import is_trusted

if TYPE_CHECKING:
    from tvmq.runtime.executable import Executable

Shape = tuple[int | None, ...]

# Files that are not models to read, by suffix: what they are, and what to do.
OTHER_FORMATS = {
    (".pt", ".pth", ".ckpt", ".bin", ".pkl"): "a torch checkpoint, which holds weights and no network; in Python, with "
    "the model loaded: torch.onnx.export(model.eval(), (example_input,), 'model.onnx')",
    (".safetensors",): "a file of weights without a network; build the model in Python, load them, and export it with "
    "torch.onnx.export(model.eval(), (example_input,), 'model.onnx')",
    (".h5", ".keras", ".pb"): "a TensorFlow or Keras model; convert it: pip install tf2onnx; python -m tf2onnx.convert "
    "--help",
    (".tflite",): "a TFLite model; convert it: pip install tf2onnx; python -m tf2onnx.convert --tflite model.tflite "
    "--output model.onnx",
    (".xml",): "an OpenVINO model; export the network it was made from as ONNX",
    (".tvmq",): "quantized and compiled already; use it with tvmq explain, tvmq run and tvmq bench",
}  # fmt: skip


def load_executable(path: Path, *, sha256: str | None = None) -> Executable:
    """The executable in a .tvmq file, for what a library cannot do: its times, its layers, its module."""
    refuse_float_model(path)
    if is_library(path):
        raise ModelError(
            f"load: '{path}' is a folder or a library, which `tvmq run` alone takes; name the .tvmq file that it was "
            "exported from"
        )
    exe: Executable = tvmq.load(path, sha256=sha256)
    return exe


@dataclass
class ModelSource:
    """A model file that was read and not yet imported.

    shapes    {input: shape}, None for a dynamic dimension or an unknown rank
    dtypes    {input: type of its elements}
    load      function from the shapes of the inputs to (module, weights)
    metadata  metadata of the file
    is_prequantized  True if the model carries scales of its own
    scores    True if the first output looks like class scores
    program   True for a torch program, whose shapes are fixed
    """

    shapes: dict[str, Shape | None]
    dtypes: dict[str, str]
    load: Callable[[Mapping[str, Shape]], tuple[Any, dict[str, Any]]]
    metadata: Mapping[str, str] = field(default_factory=dict)
    is_prequantized: bool = False
    scores: bool = False
    program: bool = False


def parse_shapes(texts: Sequence[str]) -> dict[str, Shape]:
    """{input: shape} from texts such as "x=1,3,224,224"; "?" keeps a dimension as the model has it, "x=" is a scalar.

    raises  ConfigError with an example

    >>> parse_shapes(["x=1,3,224,224", "mask=1,?", "time="])
    {'x': (1, 3, 224, 224), 'mask': (1, None), 'time': ()}
    """
    shapes: dict[str, Shape] = {}
    for text in texts:
        name, _, dims = text.rpartition("=")
        parts = [part.strip() for part in dims.split(",")] if dims.strip() else []
        if not name or not all(part == "?" or (part.isdecimal() and int(part) > 0) for part in parts):
            raise ConfigError(
                f"--shape: '{text}' is not NAME=D0,D1,...; example: x=1,3,32,32 (? keeps a dimension, x= is a scalar)"
            )
        shapes[name] = tuple(None if part == "?" else int(part) for part in parts)
    return shapes


def choose_shapes(
    own: Mapping[str, Shape | None], overrides: Mapping[str, Shape], data: Mapping[str, Shape], batch: int
) -> dict[str, Shape]:
    """Shape of each input: as given, else the model's own with dynamic dimensions from `batch` and the data.

    own        {input: shape} of the model, None for a dynamic dimension or an unknown rank
    overrides  {input: shape} of --shape
    data       {input: shape} of the arrays, samples first

    >>> choose_shapes({"x": (None, 3, None), "y": None}, {}, {"x": (64, 3, 8), "y": (64, 5)}, batch=1)
    {'x': (1, 3, 8), 'y': (1, 5)}
    """
    chosen = dict(overrides)
    for name in own:
        if name not in overrides:
            sample: Shape = (batch, *data.get(name, ())[1:])
            known = own[name]
            shape = (None,) * len(sample) if known is None else known
            from_data = sample if len(sample) == len(shape) else (batch, *shape[1:])[: len(shape)]
            chosen[name] = tuple(fixed or size for fixed, size in zip(shape, from_data, strict=True))
    return chosen


def read_source(model: Path, max_bytes: int | None = None) -> ModelSource:
    """Read a model, ONNX or a torch program (.pt2).

    max_bytes  limit for a tensor, see `tvmq.from_onnx`
    raises   ModelError for other files, with a way to convert them
    """
    refuse_other_formats(model)
    if model.suffix == ".pt2":
        return _read_program(model, max_bytes)
    import onnx

    from tvmq.formats.onnx.importer.contrib import carries_scales
    from tvmq.formats.onnx.importer.load import read_model
    from tvmq.formats.onnx.importer.shapes import dimensions, graph_inputs

    proto = read_model(model, max_bytes=max_bytes)
    shapes: dict[str, Shape | None] = {}
    dtypes = {}
    for value in graph_inputs(proto.graph):
        dims = dimensions(value)
        shapes[value.name] = None if dims is None else tuple(d if isinstance(d, int) else None for d in dims)
        dtypes[value.name] = str(onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type))
    metadata = {entry.key: entry.value for entry in proto.metadata_props}
    ranks = [dimensions(value) for value in proto.graph.output[:1]]
    return ModelSource(
        shapes, dtypes, lambda shapes: tvmq.from_onnx(proto, shape=dict(shapes), max_bytes=max_bytes), metadata,
        is_prequantized=carries_scales(model), scores=any(dims is not None and len(dims) == 2 for dims in ranks),
    )  # fmt: skip


def stored_bytes(model: Path) -> int:
    """Size of a model file, with those beside it that hold its weights."""
    import onnx
    from onnx.external_data_helper import ExternalDataInfo, uses_external_data

    files = {model}
    if model.suffix != ".pt2":
        graph = onnx.load(str(model), load_external_data=False).graph
        tensors = [tensor for tensor in graph.initializer if uses_external_data(tensor)]
        files |= {model.parent / ExternalDataInfo(tensor).location for tensor in tensors}
    return sum(file.stat().st_size for file in files if file.exists())


def refuse_other_formats(model: Path) -> None:
    """Refuse files of other formats, by suffix. raises ModelError; missing files are left to the reader"""
    if model.suffix.lower() == ".onnx" or not model.is_file():
        return
    for suffixes, what in OTHER_FORMATS.items():
        if model.suffix.lower() in suffixes:
            raise ModelError(f"model: '{model}' is {what}")


def check_model(model: Path, *, saved: bool = False) -> None:
    """Check before TVM is imported that there is a model, and of which format.

    saved   True where a .tvmq is a model as well
    raises  ModelError
    """
    if not model.exists():
        slashes = "; on this system \\ is a letter of a name: write /" if "\\" in str(model) and os.sep == "/" else ""
        raise ModelError(f"model: there is no file '{model}'; check the path{slashes}")
    if model.is_dir() and not saved:
        raise ModelError(f"model: '{model}' is a folder; name the .onnx file in it")
    if not (saved and model.suffix.lower() == ".tvmq"):
        refuse_other_formats(model)


def _read_program(model: Path, max_bytes: int | None) -> ModelSource:
    """Read a program of torch.export, whose sizes were fixed by the export."""
    from tvmq.graph.symbolic import inputs_of
    from tvmq.graph.view import View

    mod, params = tvmq.from_torch(model, max_bytes=max_bytes, trust=is_trusted())
    inputs = [value for value in inputs_of(mod) if value.name not in params]
    shapes: dict[str, Shape | None] = {value.name: value.shape for value in inputs}
    view = View(mod)
    scores = [len(view.var[name].ty.shape) for name in view.outputs[:1]] == [2]
    dtypes = {value.name: value.dtype for value in inputs}
    return ModelSource(shapes, dtypes, lambda _: (mod, params), scores=scores, program=True)


def import_model(
    model: Path, data: Path | None, shape: Sequence[str], batch: int, *, max_bytes: int | None = None,
    quiet: bool = False,
) -> tuple[Any, dict[str, Any], Arrays | None, int]:  # fmt: skip
    """Read a model and its data, an .npz or .npy.

    returns  (module, weights, arrays by input name or None, batch size)
    raises   what read_source, read_arrays and parse_shapes raise
    """
    source = read_source(model, max_bytes)
    arrays = read_arrays(data, list(source.shapes)) if data else None
    sizes = {name: array.shape for name, array in (arrays or {}).items()}
    mod, params, size = import_source(source, sizes, shape, batch, quiet=quiet)
    return mod, params, arrays, size


def describe_sizes(own: Mapping[str, Shape | None], shapes: Mapping[str, Shape | None]) -> str:
    """A line about dynamic dimensions: which are fixed now, and which stay dynamic; "" where there are none.

    own     {input: shape} of the model
    shapes  {input: shape} that it is imported with

    >>> describe_sizes({"x": (None, 3, None)}, {"x": (1, 3, None)})
    'dynamic dimensions fixed: x (1, 3, any); "any" stays dynamic (--batch and --shape choose others)'
    >>> describe_sizes({"x": (1, 3)}, {"x": (1, 3)})
    ''
    """
    texts = {
        name: f"{name} ({', '.join('any' if size is None else str(size) for size in dims or ())})"
        for name, dims in shapes.items()
    }
    fixed = [texts[name] for name in shapes if shapes[name] != own.get(name)]
    if not fixed:
        return ""
    free = any("any" in texts[name] for name in shapes if shapes[name] != own.get(name))
    stays = '; "any" stays dynamic' if free else ""
    return f"dynamic dimensions fixed: {', '.join(fixed)}{stays} (--batch and --shape choose others)"


def import_source(
    source: ModelSource, data: Mapping[str, Shape], shape: Sequence[str], batch: int, *, dynamic_batch: bool = False,
    quiet: bool = False,
) -> tuple[Any, dict[str, Any], int]:  # fmt: skip
    """Import a model that was read.

    data        {input: shape} of the samples, samples first
    dynamic_batch  True keeps a batch dynamic that is so for all inputs
    returns     (module, weights, batch size)
    """
    overrides = parse_shapes(shape)
    if source.program and overrides:
        raise ConfigError(
            "--shape: a .pt2 program has the shapes of its export; export it with others, or omit --shape"
        )
    shapes = dict(source.shapes) if source.program else choose_shapes(source.shapes, overrides, data, batch)
    if not quiet and not overrides and (line := describe_sizes(source.shapes, shapes)):
        notice(line)
    if dynamic_batch and not overrides and all(dims and dims[0] is None for dims in source.shapes.values()):
        shapes = {name: (None, *(dims or ())[1:]) for name, dims in shapes.items()}
    mod, params = source.load(shapes)  # type: ignore[arg-type]
    first = next((shape[0] for shape in shapes.values() if shape), None)  # a scalar has no batch
    return mod, params, first or batch
