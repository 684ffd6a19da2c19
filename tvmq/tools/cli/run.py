"""`tvmq run`: run a saved executable on arrays from a file.

Tests: tests/tools/cli/test_commands.py
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import tvmq
from tvmq.base.text import printable
from tvmq.calibration.data.texts import TextPreprocessing
from tvmq.calibration.dataset import samples_in
from tvmq.runtime.highest_classes import highest_classes
from tvmq.runtime.sample_runs import batch_size, run_many
from tvmq.tools.cli.arguments import Json, Output, Quiet
from tvmq.tools.cli.console import print_json, print_rows, step
from tvmq.tools.cli.files import Arrays, check_output, refuse_float_model, split_shared, write_output
from tvmq.tools.cli.picture_inputs import check_inputs, read_inputs

LISTED = 8  # pictures
MOST_UNNAMED = 100  # classes of texts


def run(
    model: Path, *, data: Path, output: Output = None, tokenizer: Path | None = None, sha256: str | None = None,
    as_json: Json = False, quiet: Quiet = False,
) -> None:  # fmt: skip
    """Run a saved model on pictures, sounds, texts or arrays; any number of samples, batch by batch.

    Of all but arrays the highest scores are printed, with the names of the classes if the model has them.

    Example: tvmq run resnet18.tvmq --data photo.jpg

    Example: tvmq run resnet18.tvmq --data pictures.npz --output scores.npz

    data    A picture, a .wav, or a folder of them, for a model that was quantized from a folder; a file of texts, with
            --tokenizer; or an .npz with one array per input, or an .npy for a model with one input.

    output  Save results as .npz, one array for each output.
    """
    if output is not None:
        check_output(output)
    check_inputs(data)
    refuse_float_model(model)
    exe = tvmq.load(model, sha256=sha256)
    arrays, names = read_inputs(exe, data, tokenizer=tokenizer, quiet=quiet)
    results = run_all(exe, arrays, quiet=quiet)
    if output is not None:
        # savez takes arrays as keywords, beside parameters of its own
        write_output(output, lambda file: np.savez(file, **results))  # type: ignore[arg-type]
    first = next(iter(results.values()))
    top = highest_classes(first, exe.labels) if names and not _is_embedding(exe, first) else []
    print_results(results, output, as_json=as_json, top=dict(zip(names, top, strict=False)))


def _is_embedding(exe: Any, scores: np.ndarray) -> bool:
    """True for a long vector of a text that has no names: an embedding, whose values are no scores."""
    is_text = isinstance(exe.preprocessing, TextPreprocessing)
    return is_text and not exe.labels and scores.size > MOST_UNNAMED * len(scores)


def run_all(exe: Any, arrays: Arrays, *, quiet: bool = False) -> Arrays:
    """Run all samples: {output name: array}. raises DataError for an output without one row per sample"""
    names = [info.name for info in exe.output_info]
    arrays, shared = split_shared(exe, arrays)
    wanted = [info for info in exe.input_info if info.name not in shared]

    def run_batch(feed: Mapping[str, Any]) -> list[np.ndarray]:
        """Run a batch with what belongs to all samples."""
        results: list[np.ndarray] = exe.run({**feed, **shared})
        return results

    count = -(-samples_in(arrays) // batch_size(wanted))
    if count == 1:  # no progress to show
        return dict(zip(names, run_many(run_batch, arrays, wanted, exe.output_info), strict=True))
    with step("run", count, quiet=quiet) as advance:
        results = run_many(run_batch, arrays, wanted, exe.output_info, advance=advance)
    return dict(zip(names, results, strict=True))


def print_results(
    results: Arrays, output: Path | None, *, as_json: bool, top: Mapping[str, list[tuple[str, float]]]
) -> None:
    """Print the classes of pictures, or shape, type and range of each result; with --json values too, if not saved.

    top  {picture: its (class, score), the highest first}
    """
    if as_json:
        facts = {name: {"shape": list(y.shape), "dtype": str(y.dtype)} for name, y in results.items()}
        values = {} if output else {name: {**facts[name], "values": y} for name, y in results.items()}
        classes = {name: [{"class": c, "score": s} for c, s in scores] for name, scores in top.items()}
        print_json({"outputs": {**facts, **values}, "saved": output, **({"top": classes} if top else {})})
        return
    for name, scores in list(top.items())[:LISTED]:
        print(f"  {printable(name)}")
        print_rows([["", f"{score:.4g}", printable(title)] for title, score in scores])
    if len(top) > LISTED:
        print(f"  and {len(top) - LISTED} pictures more; --json has all")
    rows = [["output", "shape", "type", "lowest", "highest"]]
    for name, y in results.items():
        low, high = (f"{float(f(y)):.6g}" if y.size else "-" for f in (np.min, np.max))
        rows.append([name, str(y.shape), str(y.dtype), low, high])
    print_rows(rows)
    if output:
        print(f"  saved {output}")
