"""A step of training on the deployed integers beside a step of the same float network in torch.

    python benchmarks/training_steps.py --zoo ../shared/zoo [--tasks resnet8_cifar10,vit_cifar10] [--rounds 15]

Steps    forward, backward and Adam over all parameters, BATCH samples, the same loss (squared distance to the float
         model's outputs), one thread; float and integer steps by turns
Columns  float     milliseconds of the processor, the median of the rounds
         integers  the same of `tvmq.training.prepare`, 8-bit weights and activations
         ratio     of the medians
Bound    a ratio of at most MOST. Exit code 1 where it is missed.
"""

from __future__ import annotations

import statistics
import time
from argparse import Namespace
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from harness.command import Command, argument
from harness.model import read_model
from harness.report import columns
from harness.trainable_floats import as_torch
from harness.zoo import Feeds, chosen_tasks

BATCH, WARM, MOST = 32, 2, 4.0


def stepper(module: torch.nn.Module, x: torch.Tensor, wanted: torch.Tensor) -> Callable[[], None]:
    """A function that makes one step."""
    optimizer = torch.optim.Adam([p for p in module.parameters() if p.requires_grad], lr=1e-6)

    def step() -> None:
        result = module(x)
        output = result[0] if isinstance(result, list | tuple) else result
        loss = ((output - wanted) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return step


def times(steppers: dict[str, Callable[[], None]], rounds: int) -> dict[str, float]:
    """{name: milliseconds of the processor}, by turns, the median."""
    found: dict[str, list[float]] = {name: [] for name in steppers}
    for turn in range(WARM + rounds):
        for name, step in steppers.items():
            start = time.process_time()
            step()
            if turn >= WARM:
                found[name].append(1000 * (time.process_time() - start))
    return {name: statistics.median(values) for name, values in found.items()}


COLUMNS = columns("task {task} | float ms {float:.1f} | integers ms {integers:.1f} | ratio {ratio:.2f}")


def measure(task: Any, rounds: int, feeds: Feeds) -> dict[str, Any]:
    """Measure one row."""
    from tvmq import training

    floats = as_torch(task.model_path, BATCH)
    net = training.prepare(*read_model(task.model_path), feeds)
    samples = np.concatenate([next(iter(feed.values())) for feed in feeds])
    x = torch.from_numpy(np.resize(samples, (BATCH, *samples.shape[1:])))
    with torch.no_grad():
        wanted = floats(x)[0]
    found = times({"float": stepper(floats, x, wanted), "integers": stepper(net, x, wanted)}, rounds)
    return {"task": task.name, **found, "ratio": found["integers"] / found["float"]}


def measure_all(options: Namespace) -> Iterator[dict[str, Any]]:
    """A row of each task."""
    torch.set_num_threads(1)
    return (measure(task, 3 if options.quick else options.rounds, feeds) for task, feeds in chosen_tasks(options))


main = Command(
    __doc__, COLUMNS, measure_all,
    lambda rows, _: [f"{r['task']}: {r['ratio']:.2f} float steps, {MOST:g} allowed" for r in rows if r["ratio"] > MOST],
    ("resnet8_cifar10", "vit_cifar10"), judges_quick=False, head=lambda _: [f"torch {torch.__version__}"],
    arguments=[argument("--rounds", type=int, default=15, help="steps of each")],
)  # fmt: skip

if __name__ == "__main__":
    main()
