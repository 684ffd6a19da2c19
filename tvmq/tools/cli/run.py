"""`tvmq run`: run a saved executable on arrays from a file.

Tests: tests/tools/cli/test_commands.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import tvmq
from tvmq.calibration.dataset import samples_in
from tvmq.errors import DataError
from tvmq.tools.cli.arguments import Json, Output, Quiet
from tvmq.tools.cli.console import print_json, print_rows, step
from tvmq.tools.cli.files import Arrays, Batches, batch_of, check_arrays, check_output, read_arrays, write_output


def run(
    model: Path, *, data: Path, output: Output = None, sha256: str | None = None, as_json: Json = False,
    quiet: Quiet = False,
) -> None:  # fmt: skip
    """Run a saved model on inputs from a file; any number of samples, batch by batch.

    Example: tvmq run resnet18.tvmq --data pictures.npz --output scores.npz

    output  Save results as .npz, one array for each output.
    """
    if output is not None:
        check_output(output)
    check_arrays(data)
    exe = tvmq.load(model, sha256=sha256)
    arrays = read_arrays(data, [info.name for info in exe.input_info])
    results = run_all(exe, arrays, quiet=quiet)
    if output is not None:
        # savez takes arrays as keywords, beside parameters of its own
        write_output(output, lambda file: np.savez(file, **results))  # type: ignore[arg-type]
    print_results(results, output, as_json=as_json)


def run_all(exe: Any, arrays: Arrays, *, quiet: bool = False) -> Arrays:
    """Run all samples: {output name: array}; the last batch is filled up, and the filling dropped.

    raises  DataError for an output without one row per sample, since batches cannot be joined
    """
    size = batch_of(exe)
    batch = next((info.shape[:1] for info in exe.input_info if info.shape), ())
    samples = samples_in(arrays)
    names = [info.name for info in exe.output_info]
    if samples == size:
        return dict(zip(names, exe.run(arrays), strict=True))
    for info in exe.output_info:
        if info.shape[:1] not in ((size,), batch):
            raise DataError(
                f"run: output '{info.name}' of shape {info.shape} does not have one row per sample; "
                f"give exactly {size} samples. Got {samples} instead"
            )
    parts: list[list[np.ndarray]] = []
    count = -(-samples // size)
    with step("run", count, quiet=quiet) as advance:
        for feed in Batches(arrays, size, advance, count=count):
            parts.append(exe.run(feed))
    joined = [np.concatenate(rows)[:samples] for rows in zip(*parts, strict=True)]
    return dict(zip(names, joined, strict=True))


def print_results(results: Arrays, output: Path | None, *, as_json: bool) -> None:
    """Print shape, type and range of each result; with --json the values too, unless they were saved."""
    if as_json:
        facts = {name: {"shape": list(y.shape), "dtype": str(y.dtype)} for name, y in results.items()}
        values = {} if output else {name: {**facts[name], "values": y} for name, y in results.items()}
        print_json({"outputs": {**facts, **values}, "saved": output})
        return
    rows = [["output", "shape", "type", "lowest", "highest"]]
    for name, y in results.items():
        low, high = (f"{float(f(y)):.6g}" if y.size else "-" for f in (np.min, np.max))
        rows.append([name, str(y.shape), str(y.dtype), low, high])
    print_rows(rows)
    if output:
        print(f"  saved {output}")
