"""Small networks that 8 bits find hard, one cause each: trained in seconds on data that a formula makes.

    networks = load(["stft_power"], Path("build/benchmarks/hard"))      # trained once, then read from the folder
    task = networks["stft_power"]                                       # what benchmarks/common.py calls a task

A builder (`BUILDERS`: hard_layers.py, hard_signals.py) makes a Recipe: a torch module, data, labels. All labels are
classes, of a sample or of each of its steps; the score is the share of right ones, as a fraction. Needs torch.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from common import Feed, Predict, zoo_module

CALIBRATION = 128  # samples


@dataclass(frozen=True, eq=False)
class Recipe:
    """What a network is made of.

    module      a torch module, untrained; input [n, ...], result [n, classes] or [n, classes, steps]
    draw        (random, count) -> inputs float32 [n, ...], labels int64 [n] or [n, steps]
    steps       of training, batches of `batch` samples
    rate        of Adam
    finish      changes the trained module without changing its function, if there is one
    """

    module: Any
    draw: Callable[[np.random.Generator, int], tuple[np.ndarray, np.ndarray]]
    steps: int = 300
    batch: int = 64
    rate: float = 2e-3
    finish: Callable[[Any], None] | None = None


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
    import hard_layers
    import hard_signals

    return {**hard_layers.BUILDERS, **hard_signals.BUILDERS}


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


def train(build: Callable[[], Recipe], *, steps: int | None, tests: int) -> tuple[bytes, dict[str, np.ndarray]]:
    """An ONNX model and its data; the same ones each time on one machine.

    steps   None: those of the recipe
    tests   test samples
    """
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(0)
    recipe, random = build(), np.random.default_rng(0)
    module, count = recipe.module.train(), recipe.steps if steps is None else steps
    weights = [weight for weight in module.parameters() if weight.requires_grad]
    optimizer = torch.optim.Adam(weights, recipe.rate)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 3 * recipe.rate, total_steps=count + 1)
    for _ in range(count):
        x, labels = (torch.from_numpy(array) for array in recipe.draw(random, recipe.batch))
        loss = torch.nn.functional.cross_entropy(module(x), labels)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(weights, 1.0)
        optimizer.step()
        schedule.step()
    module.eval()
    if recipe.finish is not None:
        with torch.no_grad():
            recipe.finish(module)
    data, _ = recipe.draw(random, CALIBRATION)
    inputs, labels = recipe.draw(random, tests)
    return exported(module, inputs[:1]), {"data": data, "tests": inputs, "labels": labels}


def exported(module: Any, sample: np.ndarray) -> bytes:
    """A torch module as ONNX, by the exporter that writes operators one by one."""
    import io

    import torch

    content = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            module, (torch.from_numpy(sample),), content, input_names=["x"], output_names=["y"],
            opset_version=17, dynamo=False,
        )  # fmt: skip
    return content.getvalue()


def fetched(folder: Path) -> dict[str, Any]:
    """Tasks of a folder in the form of the zoo: tasks.py, which reads tasks.json beside it."""
    return dict(zoo_module(folder, "tasks").tasks(str(folder)))
