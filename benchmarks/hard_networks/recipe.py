"""Recipes of hard networks, and their training."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

CALIBRATION = 128  # samples


@dataclass(frozen=True, eq=False)
class Recipe:
    """Layers, data and training of a network.

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
