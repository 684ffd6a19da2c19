"""How many different results a sample has, in batches, orders, paddings and threads: tvmq and other runtimes.

    python benchmarks/invariance.py [--texts minilm.onnx --words texts.npz] [--tasks resnet8_cifar10] [--quick]

Each sample is run alone and in `--runs` random surroundings: a batch of other samples in any order, other values where
the mask is 0, up to 16 more masked positions, 1 or 2 threads. Its result is hashed each time (sha256 of its bits).
--texts    ONNX model of ids and a mask, [batch, length], both dynamic; a small encoder without it
--words    .npz whose first array [samples, length] has its ids, 0 where a text has ended; random words without it
Tasks      of the zoo, their batch dynamic
Contestants   tvmq in float, int8 and int8 with scales at run time, each for this CPU and for AVX2 at once;
           onnxruntime in float, with static int8 (QDQ, per channel) and with dynamic int8; OpenVINO in float
Columns    samples; runs; results of a sample, at most and in the mean; samples with one result; cosine to the float
           model of the same runtime, of samples run alone, the least
Bounds     one result for each sample of tvmq. Exit code 1 where that is missed.
"""

from __future__ import annotations

import hashlib
import itertools
import tempfile
from argparse import Namespace
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from harness import onnxruntime_peer
from harness.command import Command, argument
from harness.report import columns
from harness.zoo import QUICK_CALIBRATION, Feed, Feeds, first_inputs, load_zoo

import tvmq
from tvmq.runtime.inputs import TensorInfo, infos
from tvmq.tools.analysis.arrangements import Arranger

CALIBRATED, WORDS, LENGTHS = 64, 30000, (4, 48)
OTHER_CPU = "x86-64-v3"
Run = Callable[[Feed, int], list[np.ndarray]]  # inputs, threads -> outputs

COLUMNS = columns(
    "model {model} | contestant {contestant} | samples {samples} | runs {runs} | results, most {most}",
    "mean {mean:.2f} | samples with one % {one:.1f} | cosine to float {cosine:.5f}",
)


@dataclass(frozen=True)
class Case:
    """A model, what it is calibrated with, and the samples that are run."""

    name: str
    model_path: Path
    calibration: list[Feed]
    samples: list[Feed]


def cases(options: Namespace, folder: Path) -> Iterator[Case]:
    """The texts, then the tasks."""
    path, words = options.texts, WORDS
    if path is None:
        from tests.support.models.dynamic_models import WORDS as FEW
        from tests.support.models.dynamic_models import encoder

        path, words = folder / "encoder.onnx", FEW
        onnx.save(encoder(2), path)
    names = [given.name for given in onnx.load(path, load_external_data=False).graph.input]
    texts = read_texts(options.words, names, words, CALIBRATED + options.samples)
    yield Case(Path(path).stem, Path(path), texts[:CALIBRATED], texts[CALIBRATED:])
    if options.tasks:
        for task in load_zoo(options.zoo, options.tasks).values():
            feeds = list(Feeds(task, QUICK_CALIBRATION))
            yield Case(task.name, Path(task.model_path), feeds, first_inputs(task, options.samples))


def read_texts(path: Path | None, names: list[str], words: int, count: int) -> list[Feed]:
    """Texts of their own lengths, each with one row of ids and a mask of ones."""
    random = np.random.default_rng(0)
    if path is None:
        rows = [random.integers(1, words, random.integers(*LENGTHS)) for _ in range(count)]
    else:
        with np.load(path) as file:
            array = file[file.files[0]][:count]
        rows = [row[: np.count_nonzero(row)].astype(np.int64) for row in array]
    return [{names[0]: row[None], names[1]: np.ones((1, len(row)), np.int64)} for row in rows]


def contestants(case: Case, folder: Path, cache: Path) -> Iterator[tuple[str, str, Run]]:
    """(name, name of its runtime's float model, how it runs)."""
    yield "tvmq float", "tvmq float", run_tvmq(case)
    yield "tvmq int8", "tvmq float", run_tvmq(case, activations="static")
    yield "tvmq int8, scales at run time", "tvmq float", run_tvmq(case, activations="dynamic")
    yield "onnxruntime float", "onnxruntime float", run_onnxruntime(case.model_path)
    static, _ = onnxruntime_peer.int8_model(case.model_path, case.calibration, cache)
    yield "onnxruntime int8", "onnxruntime float", run_onnxruntime(static)
    dynamic = onnxruntime_peer.quantize_format(case, "dynamic", case.calibration, folder)
    yield "onnxruntime int8, scales at run time", "onnxruntime float", run_onnxruntime(dynamic)
    try:
        yield "OpenVINO float", "OpenVINO float", run_openvino(case.model_path)
    except ImportError:
        print("OpenVINO is not installed: left out")


def run_tvmq(case: Case, activations: str | None = None) -> Run:
    """Runs of the model for this CPU and, in turns, for one with AVX2 alone."""
    from tvmq.runtime.threads import with_threads

    mod, params = tvmq.from_onnx(str(case.model_path))
    if activations is not None:
        with tvmq.qconfig(activations=activations):
            mod, params = tvmq.quantize(mod, params, None if activations == "dynamic" else case.calibration), {}
    turns = itertools.cycle([tvmq.build(mod, params=params, target=target) for target in ("llvm", OTHER_CPU)])
    return lambda feed, threads: with_threads(threads, lambda: next(turns).run(feed))


def run_onnxruntime(path: Path) -> Run:
    """Runs of sessions of one and two threads."""
    sessions = {threads: onnxruntime_peer.session(path, threads) for threads in (1, 2)}
    return lambda feed, threads: sessions[threads](feed)


def run_openvino(path: Path) -> Run:
    """Runs of models compiled for one and two threads, in float32."""
    import openvino

    core = openvino.Core()
    settings = [{"INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": "f32"} for threads in (1, 2)]
    compiled = [core.compile_model(path, "CPU", one) for one in settings]
    return lambda feed, threads: [np.array(value) for value in compiled[threads - 1](feed).values()]


def measure(options: Namespace) -> Iterator[dict[str, Any]]:
    """The figures of each contestant on each model."""
    with tempfile.TemporaryDirectory() as folder:
        for case in cases(options, Path(folder)):
            floats: dict[str, list[np.ndarray]] = {}
            for name, base, run in contestants(case, Path(folder), options.cache):
                alone, hashes = count_results(case, run, options.runs)
                floats.setdefault(base, alone)
                counts = np.array([len(found) for found in hashes])
                cosines = [cosine(a, b) for a, b in zip(floats[base], alone, strict=True)]
                yield {
                    "model": case.name, "contestant": name, "samples": len(counts), "runs": options.runs,
                    "most": int(counts.max()), "mean": float(counts.mean()), "one": 100 * float((counts == 1).mean()),
                    "cosine": min(cosines),
                }  # fmt: skip


def count_results(case: Case, run: Run, runs: int) -> tuple[list[np.ndarray], list[set[bytes]]]:
    """The first output of each sample run alone, and the hashes of all results that it had."""
    random = np.random.default_rng(0)
    arranger = Arranger(read_inputs(case.model_path), case.samples, None, random)
    alone = [run(arranger.alone(number).feed, 1)[0][0] for number in range(len(case.samples))]
    hashes = [{hash_bits(result)} for result in alone]
    for _ in range(runs):
        arrangement = arranger.any_batch(other_values=True, right=True)
        result, *_ = run(arrangement.feed, int(random.integers(1, 3)))
        for row, number in enumerate(arrangement.rows):
            hashes[number].add(hash_bits(result[row]))
    return alone, hashes


def read_inputs(path: Path) -> tuple[TensorInfo, ...]:
    """Inputs of a model, with names for dynamic dimensions."""
    given = onnx.load(path, load_external_data=False).graph.input
    types = [(one.name, one.type.tensor_type) for one in given]
    return infos([
        {
            "name": name,
            "shape": [dim.dim_param or dim.dim_value for dim in tensor.shape.dim],
            "dtype": str(onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)),
        }
        for name, tensor in types
    ])  # fmt: skip


def hash_bits(array: np.ndarray) -> bytes:
    """sha256 of an array's bytes."""
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).digest()


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    """Cosine of the angle between two results."""
    a, b = np.float64(a.ravel()), np.float64(b.ravel())
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


def missed(rows: list[dict[str, Any]], _options: Namespace) -> list[str]:
    """Rows of tvmq where a sample has several results."""
    return [
        f"{row['model']}: {row['contestant']} gives a sample up to {row['most']} results"
        for row in rows
        if row["contestant"].startswith("tvmq") and row["most"] > 1
    ]


def fewer(options: Namespace) -> Iterator[dict[str, Any]]:
    """`measure`; --quick runs little."""
    if options.quick:
        options.samples, options.runs, options.tasks = min(options.samples, 6), min(options.runs, 8), ""
    return measure(options)


COMMAND = Command(
    about=__doc__ or "",
    columns=COLUMNS,
    measure=fewer,
    missed=missed,
    tasks=("resnet8_cifar10",),
    arguments=[
        argument("--texts", type=Path, help="ONNX model of texts of any number and length"),
        argument("--words", type=Path, help=".npz of ids"),
        argument("--samples", type=int, default=100, help="of each model"),
        argument("--runs", type=int, default=200, help="random surroundings"),
    ],
)

if __name__ == "__main__":
    COMMAND()
