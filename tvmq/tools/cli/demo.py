"""`tvmq demo`: the whole pipeline on the embedded network, with float and int8 side by side.

Tests: tests/tools/cli/test_end_to_end.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import tvmq
from tvmq.tools.cli.arguments import Json, OutputPath, Quiet
from tvmq.tools.cli.console import notice, print_json, print_rows, size_text, step, time_text
from tvmq.tools.cli.files import Batches, check_output
from tvmq.tools.cli.quantize import quantize_with_progress
from tvmq.tools.cli.run import run_all


def demo(*, output: OutputPath = Path("digits.tvmq"), as_json: Json = False, quiet: Quiet = False) -> None:
    """Quantize a small network that comes with tvmq, and compare it with float on unseen pictures.

    Example: tvmq demo

    output  File to save the int8 executable to.
    """
    from tvmq.demo import load_demo

    check_output(output)
    example = load_demo()
    with step("import", quiet=quiet):
        mod, params = tvmq.from_onnx(example.model, shape={"image": (1, *example.test.shape[1:])})
    qmod = quantize_with_progress(
        mod, params, Batches({"image": example.calibration}, 1), tvmq.current_qconfig(), quiet=quiet
    )
    with step("build int8", quiet=quiet):
        exe = tvmq.build(qmod)
    with step("build float", quiet=quiet):
        float_exe = tvmq.build(mod, params=params)
    exe.save(output)
    exe = tvmq.load(output)
    with step("compare with the definition", quiet=quiet):
        verified = tvmq.verify(exe, Batches({"image": example.test[:16]}, 1))
    scores = {"float": _scores(float_exe, example.test), "int8": _scores(exe, example.test)}
    result = {
        **compare_scores(scores, example.labels), "exact": verified.exact, "onnx_bytes": len(example.model),
        "float_bytes": _saved_size(float_exe), "int8_bytes": output.stat().st_size,
        **_latencies({"float": float_exe, "int8": exe}, example.test[:1]), "ledger": tvmq.explain(qmod).summary(),
        "saved": str(output),
    }  # fmt: skip
    if as_json:
        print_json(result)
    else:
        print_comparison(result, len(example.test))
        if not quiet:
            notice(f"next: tvmq explain {output}; tvmq bench {output}; tvmq quantize your_model.onnx --help")


def _scores(exe: Any, pictures: np.ndarray) -> np.ndarray:
    """Scores of all pictures: the only output."""
    return next(iter(run_all(exe, {"image": pictures}, quiet=True).values()))


def _saved_size(exe: Any) -> int:
    """Size of an executable as a file: weights and machine code."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "size.tvmq")
        exe.save(path)
        return path.stat().st_size


def compare_scores(scores: dict[str, np.ndarray], labels: np.ndarray) -> dict[str, float]:
    """Accuracy of each model, and the share of pictures on which both give the same class; in 0..1.

    >>> both = {"float": np.eye(2), "int8": np.array([[1.0, 0.0], [1.0, 0.0]])}
    >>> compare_scores(both, np.array([0, 1]))
    {'float_accuracy': 1.0, 'int8_accuracy': 0.5, 'agreement': 0.5}
    """
    classes = {name: values.argmax(axis=1) for name, values in scores.items()}
    accuracy = {f"{name}_accuracy": float((predictions == labels).mean()) for name, predictions in classes.items()}
    return {**accuracy, "agreement": float((classes["float"] == classes["int8"]).mean())}


def _latencies(exes: dict[str, Any], picture: np.ndarray) -> dict[str, float]:
    """Median seconds per run on one thread; models take turns, so that a busy machine slows both alike."""
    rounds = [
        {name: exe.benchmark({"image": picture}, repeat=20, threads=1).median for name, exe in exes.items()}
        for _ in range(5)
    ]
    return {f"{name}_seconds": float(np.median([times[name] for times in rounds])) for name in exes}


def print_comparison(result: dict[str, Any], pictures: int) -> None:
    """Print the comparison as a table, the ledger and the file."""
    print_rows([
        ["", "float", "int8"],
        ["accuracy", *(f"{result[f'{kind}_accuracy']:.2%}" for kind in ("float", "int8"))],
        ["saved, code and weights", *(size_text(result[f"{kind}_bytes"]) for kind in ("float", "int8"))],
        ["latency, 1 thread", *(time_text(result[f"{kind}_seconds"]) for kind in ("float", "int8"))],
    ])  # fmt: skip
    print(f"  same class on {result['agreement']:.2%} of {pictures} pictures")
    print(f"  compiled equals the NumPy definition, bit for bit: {'yes' if result['exact'] else 'NO'}")
    print(result["ledger"])
    print(f"  saved {result['saved']}")
