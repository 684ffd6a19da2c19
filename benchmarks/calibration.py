"""Samples a second of calibration with histograms, beside float32 inference in onnxruntime on the same samples.

    python benchmarks/calibration.py resnet50.onnx minilm_seq128.onnx [--samples 8] [--rounds 5] [--threads 1]

Ours is the pass over the data that takes ranges, channel means and histograms of every tensor that is quantized: the
compiled float model, which takes the statistics itself, and handing over what is known of single samples. Compiling,
choosing thresholds and rounding weights are done once, whatever the number of samples, and are not in it. Both take
turns on random samples of batch 1; medians of the rounds. `float ms` is the float model alone, `growth` how much the
peak of memory rises while the number of samples becomes eight times as large. Goals: 0.8 of onnxruntime's rate, and
no growth. Exit code 1 where they are missed.
"""

from __future__ import annotations

import resource
import statistics
import time
from argparse import Namespace
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from harness import set_threads
from harness.command import Command, argument
from harness.report import columns
from harness.zoo import Feed

GOAL = 0.8
MOST_GROWTH = 4.0  # MiB; what one array of a sample would already exceed


def samples_of(module: Any, count: int) -> list[Feed]:
    """Random samples: normal floats, token numbers below 1000, masks of ones."""
    from tvmq.graph.symbolic import inputs_of

    random = np.random.default_rng(0)

    def values(given: Any) -> np.ndarray:
        if given.dtype.startswith("float"):
            return random.standard_normal(given.shape).astype(given.dtype)
        if "mask" in given.name:
            return np.ones(given.shape, given.dtype)
        return random.integers(0, 1000 if "ids" in given.name else 2, given.shape).astype(given.dtype)

    return [{given.name: values(given) for given in inputs_of(module)} for _ in range(count)]


def calibration(path: Path, count: int) -> tuple[Callable[[], None], Callable[[], None], list[Feed]]:
    """The pass over `count` samples, the float model alone on them, and the samples; compiled and run once."""
    import tvmq
    from tvmq.codegen.compile.evaluators import Runner
    from tvmq.passes.calibrate.collect import all_statistics
    from tvmq.passes.calibrate.observed_model import InModelStatistics
    from tvmq.quantization.stages import DECISIONS, PREPARATION, StageContext, run_stages

    mod, params = tvmq.from_onnx(path)
    prepared = run_stages(mod, PREPARATION, StageContext(tvmq.current_qconfig(), params=params))
    annotated = run_stages(prepared, DECISIONS, StageContext(tvmq.current_qconfig()))
    feeds = samples_of(annotated, count)
    observed = InModelStatistics(annotated, *all_statistics(annotated), Runner)
    alone = tvmq.build(prepared)

    def whole() -> None:
        for feed in feeds:
            if observed.run(feed, 1) != []:
                raise SystemExit(f"benchmark: {path.stem} is not observed: small, or of dynamic sizes")
        observed.flush()

    def model() -> None:
        for feed in feeds:
            alone.run(feed)

    whole()
    model()
    return whole, model, feeds


def inference(path: Path, feeds: list[Feed], threads: int) -> Callable[[], None]:
    """onnxruntime's float32 runs of the samples."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])

    def runs() -> None:
        for feed in feeds:
            session.run(None, feed)

    runs()
    return runs


def seconds(work: Callable[[], None]) -> float:
    """Seconds of one call."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def grown(whole: Callable[[], None]) -> float:
    """MiB by which the peak of this process rises while eight times as many samples pass."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(7):
        whole()
    return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024


COLUMNS = columns(
    "model {name} | onnxruntime samples/s {peer_rate:.1f} | calibration samples/s {rate:.1f} | ratio {ratio:.2f}",
    "statistics ms {statistics:.1f} | float ms {float:.1f} | growth MiB {growth:.1f}",
)


def measure(options: Namespace) -> Iterator[dict[str, Any]]:
    """A row of each model."""
    for path in options.models:
        whole, model, feeds = calibration(path, options.samples)
        growth = grown(whole)
        peer = inference(path, feeds, options.threads)
        times: dict[Any, list[float]] = {work: [] for work in (peer, whole, model)}
        for _ in range(options.rounds):
            for work, found in times.items():
                found.append(seconds(work) / options.samples)
        theirs, ours, alone = (statistics.median(found) for found in times.values())
        yield {
            "name": path.stem, "peer_rate": 1 / theirs, "rate": 1 / ours, "ratio": theirs / ours,
            "statistics": 1e3 * (ours - alone), "float": 1e3 * alone, "growth": growth,
        }  # fmt: skip


def missed(rows: list[dict[str, Any]], _options: Namespace) -> list[str]:
    """Goals that are not reached."""
    slow = [
        f"{r['name']}: calibration at {r['ratio']:.2f} of onnxruntime's rate, goal {GOAL}" for r in rows
        if r["ratio"] < GOAL
    ]  # fmt: skip
    return slow + [
        f"{r['name']}: {r['growth']:.1f} MiB more memory with more samples, at most {MOST_GROWTH}"
        for r in rows
        if r["growth"] > MOST_GROWTH
    ]


main = Command(
    __doc__, COLUMNS, measure, missed, tasks=None, head=lambda options: set_threads(options.threads) or (),
    arguments=[
        argument("models", nargs="+", type=Path, help="float ONNX files of static shapes"),
        argument("--samples", type=int, default=8, help="of a round"),
        argument("--rounds", type=int, default=5, help="measurements of each"),
        argument("--threads", type=int, default=1, help="of both"),
    ],
)  # fmt: skip

if __name__ == "__main__":
    main()
