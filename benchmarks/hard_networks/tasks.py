"""Hard networks as tasks: trained where the cache has none yet."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from harness.zoo import Feed, Predict, zoo_module

from hard_networks.recipe import Recipe, train


@dataclass(eq=False)
class HardTask:
    """One network with its data, in the form of the zoo's tasks.

    model_path    the ONNX file, batch 1
    data          [n, ...] to calibrate with
    tests, labels to score with
    per_sample    scores of the last `evaluate`, one a sample
    """

    name: str
    model_path: Path
    data: np.ndarray
    tests: np.ndarray
    labels: np.ndarray
    metric: str = "top1"
    input_name: str = "x"
    per_sample: np.ndarray = field(default_factory=lambda: np.zeros(0))

    def calibration(self, batch: int, limit: int | None = None) -> Iterator[Feed]:
        """The calibration samples."""
        return _batches(self.input_name, self.data[:limit], batch)

    def test_inputs(self, batch: int) -> Iterator[Feed]:
        """The test samples."""
        return _batches(self.input_name, self.tests, batch)

    def evaluate(self, predict: Predict, batch: int) -> float:
        """Share of right classes."""
        outputs = np.concatenate([predict(feed)[0] for feed in self.test_inputs(batch)])
        right = outputs.argmax(axis=1) == self.labels
        self.per_sample = right.reshape(len(right), -1).mean(axis=1)
        return float(self.per_sample.mean())


def _batches(name: str, values: np.ndarray, batch: int) -> Iterator[Feed]:
    return ({name: values[start : start + batch]} for start in range(0, len(values), batch))


def builders() -> dict[str, Callable[[], Recipe]]:
    """{name: what makes its recipe}, in the order of the table."""
    from hard_networks import layers, signals

    return {**layers.BUILDERS, **signals.BUILDERS}


def load(names: Sequence[str], cache: Path, *, folder: Path | None = None, quick: bool = False) -> dict[str, Any]:
    """The named networks, trained where the cache has none yet; without names all of them.

    folder  has more tasks, in the form of the zoo
    quick   few steps of training and few samples, in a folder of its own
    raises  SystemExit for a name that is none
    """
    known, more = builders(), fetched(folder) if folder is not None else {}
    names = names or [*known, *more]
    unknown = [name for name in names if name not in known and name not in more]
    if unknown:
        raise SystemExit(f"benchmark: no network {', '.join(unknown)}; there are {', '.join([*known, *more])}")
    cache = cache / "quick" if quick else cache
    return {name: more[name] if name in more else _load_one(name, known[name], cache, quick=quick) for name in names}


def _load_one(name: str, build: Callable[[], Recipe], folder: Path, *, quick: bool) -> HardTask:
    model, arrays = folder / f"{name}.onnx", folder / f"{name}.npz"
    if not (model.exists() and arrays.exists()):
        folder.mkdir(parents=True, exist_ok=True)
        content, data = train(build, steps=5 if quick else None, tests=16 if quick else 300)
        model.write_bytes(content)
        np.savez_compressed(arrays, **data)
    with np.load(arrays) as kept:
        return HardTask(name, model, kept["data"], kept["tests"], kept["labels"])


def fetched(folder: Path) -> dict[str, Any]:
    """Tasks of a folder in the form of the zoo: tasks.py, which reads tasks.json beside it."""
    return dict(zoo_module(folder, "tasks").tasks(str(folder)))
