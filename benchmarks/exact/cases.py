"""Models to compare, what defines their results, and the comparison in a fresh process."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from harness.command import argument
from harness.model import Model
from harness.zoo import QUICK_CALIBRATION, Feed, Feeds, batch_one_shape, first_inputs, load_zoo

from exact.dynamic_sizes import dynamic_models
from exact.free_sizes import free_models
from exact.saturated import far_inputs, saturated


@dataclass(frozen=True, eq=False)
class Case:
    """A float model, samples to calibrate it with, and inputs to compare on.

    calibration     None: the model carries its own scales
    apart           False: built for a dynamic number of samples, even where they could run one by one
    saturated       True: weights of the integer module are replaced by extremes
    products        True: everything but convolutions and products stays float
    activations     when they get their scales, "static" or "dynamic"; None: the float model
    """

    name: str
    model: Any
    shape: Mapping[str, Sequence[int]]
    calibration: Iterable[Feed] | None
    inputs: list[Feed]
    apart: bool = True
    saturated: bool = False
    products: bool = False
    activations: str | None = "static"


def cases(options: Any) -> Iterator[Case]:
    """Cases: models that we quantize, then those of dynamic sizes, then the tasks that onnxruntime quantized."""
    samples = 2 if options.quick else options.samples
    only = options.only.split(",")
    if "own" in only:
        yield from own_cases(options, samples)
    for kind in ("saturated", "products"):
        for task in load_zoo(options.zoo, options.tasks).values() if kind in only else ():
            feeds, inputs = Feeds(task, QUICK_CALIBRATION), first_inputs(task, samples)
            inputs = far_inputs(inputs) if kind == "saturated" else inputs
            name, shape = f"{task.name}-{kind}", batch_one_shape(task)
            yield Case(name, task.model_path, shape, feeds, inputs, **{kind: True})  # type: ignore[arg-type]
    for parts in dynamic_models(options) if "dynamic" in only else ():
        name, model, calibration, inputs, apart = parts
        yield Case(name, model, {}, calibration, inputs, apart)
    for *parts, activations in free_models(options) if "free" in only else ():
        yield Case(parts[0], parts[1], {}, *parts[2:], activations=activations)  # type: ignore[arg-type]
    formats = [name for name in options.formats.split(",") if name and "imported" in only]
    with tempfile.TemporaryDirectory() as folder:
        for task in load_zoo(options.zoo, options.tasks).values() if formats else ():
            feeds = Feeds(task, QUICK_CALIBRATION if options.quick else 100)
            yield from imported_cases(task, formats, feeds, samples, Path(folder))


def own_cases(options: Any, samples: int) -> Iterator[Case]:
    """Cases that we quantize: the tasks, then the random graphs."""
    for task in load_zoo(options.zoo, options.tasks).values():
        feeds = Feeds(task, QUICK_CALIBRATION if options.quick else None)
        yield Case(task.name, task.model_path, batch_one_shape(task), feeds, first_inputs(task, samples))
    from tests.support.random.graphs import random_inputs, random_model

    for seed in range(10 if options.quick else options.graphs):
        model = random_model(seed)
        yield Case(f"random_{seed}", model, {}, random_inputs(model, 0, 8), random_inputs(model, 1, samples))


def imported_cases(
    task: Any, formats: Sequence[str], calibration: Iterable[Feed], samples: int, folder: Path
) -> Iterator[Case]:
    """A task as onnxruntime quantizes it, in each format; `calibration` is what onnxruntime reads."""
    from harness.onnxruntime_peer import quantize_format

    for kind in formats:
        model = quantize_format(task, kind, calibration, folder)
        yield Case(f"{task.name}-{kind}", model, batch_one_shape(task), None, first_inputs(task, samples))


def integer_and_simulated(case: Case, simulated: bool = True) -> tuple[Any, Any]:
    """The two modules; no simulated one of a model that carries its scales, and where nobody asks for it."""
    import tvmq

    imported = tvmq.from_onnx(case.model, shape=case.shape)
    if case.calibration is None:
        return tvmq.quantize(*imported), None
    if case.activations != "static":
        return _of_free_scales(case.activations, *imported), None
    model = Model(*imported)
    if case.products:
        with tvmq.qconfig(rules=[tvmq.Rule(lambda layer: layer.macs == 0, None)]):
            return model.integer(case.calibration, guard=None), None
    if case.saturated:
        return saturated(model.integer(case.calibration)), None
    return model.integer(case.calibration), model.simulated(case.calibration) if simulated else None


def _of_free_scales(activations: str | None, mod: Any, params: Any) -> Any:
    """The float module, or the integer module whose scales are computed at run time."""
    import tvmq
    from tvmq.passes.prepare import prepare

    if activations is None:
        return prepare(mod, params)
    with tvmq.qconfig(activations=activations):
        return tvmq.quantize(mod, params)


def defined_results(module: Any, target: Any, inputs: Sequence[Feed]) -> dict[str, np.ndarray]:
    """{"sample output": array} by the NumPy definition; islands compiled for `target`."""
    import tvmq

    reference = tvmq.reference.Reference(module, target=target)
    return {
        f"{index} {number:03d}": np.asarray(result)
        for index, feed in enumerate(inputs)
        for number, result in enumerate(reference.run(feed))
    }


def differing(a: np.ndarray, b: np.ndarray) -> int:
    """Values whose bits differ; all of them where shape or type does.

    >>> differing(np.float32([0.0, 1.0]), np.float32([-0.0, 1.0]))
    1
    """
    if a.shape != b.shape or a.dtype != b.dtype:
        return max(a.size, b.size)
    bits = np.dtype(f"u{a.dtype.itemsize}")
    return int((np.ascontiguousarray(a).view(bits) != np.ascontiguousarray(b).view(bits)).sum())


def check_folder(folder: Path, builds: Sequence[str] = ("*",)) -> None:
    """Load and run every executable, or those of these builds, in a fresh process; print a line of JSON for each."""
    import tvmq

    for path in sorted(folder.glob("*.npz")):
        with np.load(path, allow_pickle=False) as arrays:
            stored = dict(arrays)
        for saved in sorted(file for build in builds for file in folder.glob(f"{path.stem}.{build}.tvmq")):
            build = saved.suffixes[-2].removeprefix(".")
            values, different = compare(tvmq.load(saved), stored, build)
            print(json.dumps({"name": path.stem, "build": build, "values": values, "differing": different}), flush=True)


def compare(executable: Any, stored: Mapping[str, np.ndarray], build: str) -> tuple[int, int]:
    """(values, differing values) over all samples of a case."""
    values = different = 0
    for index in sorted({name.split()[1] for name in stored if name.startswith("in ")}):
        head, wanted = f"in {index} ", f"out {build} {index} "
        feed = {name.removeprefix(head): array for name, array in stored.items() if name.startswith(head)}
        expected = [stored[name] for name in sorted(stored) if name.startswith(wanted)]
        for result, array in zip(executable.run(feed), expected, strict=True):
            values += array.size
            different += differing(np.asarray(result), array)
    return values, different


ARGUMENTS = (
    argument("--graphs", type=int, default=500, help="random graphs"),
    argument("--dynamic", type=int, default=60, help="random graphs of any batch"),
    argument("--sizes", type=int, default=24, help="random sizes of each layer of free sizes"),
    argument("--layers", default="", help="families of layers of free sizes, separated by commas; empty: all"),
    argument("--first", type=int, default=0, help="seed before that of the first random graph of free sizes"),
    argument("--free", type=int, default=60, help="random graphs of free sizes"),
    argument("--only", default="own,dynamic,free,imported,saturated,products", help="kinds of models, see above"),
    argument("--samples", type=int, default=4, help="inputs to compare on, of each model"),
    argument("--formats", default="qdq,qoperator", help="formats of the imported models; empty: none"),
)
