"""Hard networks as tasks: trained where the cache has none yet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from harness.zoo import ArrayTask, zoo_module

from hard_networks.recipe import Recipe, train


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
    from hard_networks.heads import HEADS, head_task

    known, more = builders(), fetched(folder) if folder is not None else {}
    everything = [*known, *HEADS, *more]
    unknown = [name for name in names if name not in everything]
    if unknown:
        raise SystemExit(f"benchmark: no network {', '.join(unknown)}; there are {', '.join(everything)}")
    cache = cache / "quick" if quick else cache

    def load_one(name: str) -> Any:
        if name in more:
            return more[name]
        return head_task(name, quick=quick) if name in HEADS else _load_one(name, known[name], cache, quick=quick)

    return {name: load_one(name) for name in names or everything}


def _load_one(name: str, build: Callable[[], Recipe], folder: Path, *, quick: bool) -> ArrayTask:
    model, arrays = folder / f"{name}.onnx", folder / f"{name}.npz"
    if not (model.exists() and arrays.exists()):
        folder.mkdir(parents=True, exist_ok=True)
        content, data = train(build, steps=5 if quick else None, tests=16 if quick else 300)
        model.write_bytes(content)
        np.savez_compressed(arrays, **data)
    with np.load(arrays) as kept:
        return ArrayTask(name, model, kept["data"], kept["tests"], kept["labels"])


def fetched(folder: Path) -> dict[str, Any]:
    """Tasks of a folder in the form of the zoo: tasks.py, which reads tasks.json beside it."""
    return dict(zoo_module(folder, "tasks").tasks(str(folder)))
