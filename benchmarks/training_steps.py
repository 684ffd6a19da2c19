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
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from common import QUICK_CALIBRATION, Feeds, finish, machine, parser, print_table, write_json
from trainable_floats import as_torch
from training import chosen_tasks, read_model

BATCH, WARM, MOST = 32, 2, 4.0
COLUMNS = ("task", "float ms", "integers ms", "ratio")


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


def measure(task: Any, rounds: int, limit: int | None) -> dict[str, Any]:
    """One row."""
    from tvmq import training

    floats, feeds = as_torch(task.model_path, BATCH), Feeds(task, limit)
    net = training.prepare(*read_model(task.model_path), feeds)
    samples = np.concatenate([next(iter(feed.values())) for feed in feeds])
    x = torch.from_numpy(np.resize(samples, (BATCH, *samples.shape[1:])))
    with torch.no_grad():
        wanted = floats(x)[0]
    found = times({"float": stepper(floats, x, wanted), "integers": stepper(net, x, wanted)}, rounds)
    return {"task": task.name, **found, "ratio": found["integers"] / found["float"]}


def main() -> None:
    """Command line; see the head of this file."""
    command = parser("A step of training beside a float step.", tasks=("resnet8_cifar10", "vit_cifar10"))
    command.add_argument("--rounds", type=int, default=15, help="steps of each")
    options = command.parse_args()
    torch.set_num_threads(1)
    print(f"{machine()}, torch {torch.__version__}", flush=True)
    tasks = chosen_tasks(options.zoo, options.tasks, quick=options.quick).values()
    limit = QUICK_CALIBRATION if options.quick else None
    rows = [measure(task, 3 if options.quick else options.rounds, limit) for task in tasks]
    cells = [[r["task"], f"{r['float']:.1f}", f"{r['integers']:.1f}", f"{r['ratio']:.2f}"] for r in rows]
    print_table(COLUMNS, cells)
    write_json(options.json, {"quick": options.quick, "rows": rows})
    failures = [f"{r['task']}: {r['ratio']:.2f} float steps, {MOST:g} allowed" for r in rows if r["ratio"] > MOST]
    finish([] if options.quick else failures)


if __name__ == "__main__":
    main()
