"""`tvmq bench`: how long one run takes.

Tests: tests/tools/cli/test_end_to_end.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from tvmq.errors import DataError
from tvmq.tools.cli.arguments import Json
from tvmq.tools.cli.console import print_json, print_rows, time_text
from tvmq.tools.cli.files import Arrays, Batches, batch_of
from tvmq.tools.cli.model import load_executable
from tvmq.tools.cli.picture_inputs import check_inputs, read_inputs


def bench(
    model: Path, *, data: Path | None = None, repeat: Annotated[int, typer.Option(min=3)] = 50,
    threads: Annotated[int, typer.Option(min=1)] = 1, per_layer: bool = False, tokenizer: Path | None = None,
    sha256: str | None = None, as_json: Json = False,
) -> None:  # fmt: skip
    """Time a saved model: median of single runs, after a warm-up.

    Other work on the machine distorts the result. To compare two models, time them in turns.

    Example: tvmq bench resnet18.tvmq --threads 1

    data       Inputs: pictures or arrays, as `tvmq run` takes them. Default: random values with a fixed seed.
    repeat     Number of timed runs.
    threads    Threads of the model.
    per_layer  Also print the time of each layer.
    """
    if data is not None:
        check_inputs(data)
    exe = load_executable(model, sha256=sha256)
    inputs = read_first_batch(exe, data, tokenizer)
    times = exe.benchmark(inputs, repeat=repeat, threads=threads)
    profile = exe.profile(inputs, repeat=repeat, threads=threads) if per_layer else None
    if as_json:
        layers = {"profile": profile.to_dict()} if profile else {}
        print_json({"model": model, "threads": threads, "repeat": repeat, **times.to_dict(), **layers})
        return
    print_rows([
        ["median", time_text(times.median)], ["fastest", time_text(times.fastest)],
        ["runs", str(repeat)], ["threads", str(threads)],
    ])  # fmt: skip
    if profile:
        print(f"\n{profile}")


def read_first_batch(exe: Any, data: Path | None, tokenizer: Path | None = None) -> Arrays:
    """The first batch of the data; without data, random values in 0..1 (codes for integer inputs)."""
    if data is not None:
        arrays, _ = read_inputs(exe, data, most=batch_of(exe), tokenizer=tokenizer)
        return next(iter(Batches(arrays, batch_of(exe))))
    random = np.random.default_rng(0)
    return {i.name: (random.random(_shape(i)) * _upper_end(i.dtype)).astype(i.dtype) for i in exe.input_info}


def _shape(info: Any) -> list[int]:
    """Shape of random values: one sample where the batch is dynamic; DataError where another size is."""
    dynamic = [size for size in info.shape[1:] if isinstance(size, str)]
    if dynamic:
        raise DataError(f"bench: input '{info.name}' has the dynamic dimension '{dynamic[0]}'; give --data")
    return [1 if isinstance(size, str) else size for size in info.shape]


def _upper_end(dtype: str) -> float:
    """Upper end of random values: 1 for floats, half of the range for integers."""
    return 1.0 if np.dtype(dtype).kind == "f" else np.iinfo(dtype).max / 2
