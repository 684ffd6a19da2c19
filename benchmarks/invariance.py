"""How many different results a sample has, in batches, orders, paddings and threads: tvmq and other runtimes.

    python benchmarks/invariance.py --texts minilm_free.onnx --words minilm_calib.npz minilm_test.npz --tasks ""
    python benchmarks/invariance.py --texts e5_small.onnx --words e5_small.npz --tasks ""       vectors/e5_small.py
    python benchmarks/invariance.py [--tasks lstm,vit_cifar10,resnet8_cifar10] [--quick]

All samples are run alone and in `--runs` random surroundings: each time in another order, cut into batches of 1 to 8,
with up to 16 more masked positions (on the left too where positions are counted by the mask) and other values there, by
1 or 2 threads. tvmq's code for this CPU, for AVX2 (one run in 5) and for SSE4 (one in 50) take turns.
--texts      ONNX model of ids and a mask, [batch, length], both dynamic
--decoder    a language model (language/decoder_models.py): texts of 64 tokens, in each run in other chunks too
--words      .npz whose first arrays [samples, length] have ids, 0 where a text has ended
Contestants  tvmq in float, int8 and int8 with scales at run time; onnxruntime in float, with static int8 (QDQ, per
             channel) and with dynamic int8; OpenVINO in float and in NNCF's int8; of encoders CTranslate2 and torch too
Columns      samples; runs; sha256: different hashes of all results together, one each run; results of a sample, at
             most and in the mean; samples with one result. Beside the float model of the same runtime: cosine, in the
             mean and at least; for the first fifth of the samples as queries, equal first documents and how many of the
             first ten are the same. ms a sample: alone, one thread, contestants taking turns, the best of 5 rounds
Bounds       one sha256 of tvmq, on emulated CPUs too. Exit code 1 where that is missed.
"""

from __future__ import annotations

import tempfile
from argparse import Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from harness.command import Command, argument
from harness.report import columns
from language.decoder_models import MODELS
from rich.progress import track
from vectors import decoders, other_cpus
from vectors.contestants import Contestant, contestants
from vectors.quality import compare_rankings, cosines, time_alone
from vectors.samples import Case, cases
from vectors.surroundings import batches, count_results, join, run_alone

TIMED, ROUNDS = 100, 5

COLUMNS = columns(
    "model {model} | contestant {contestant} | samples {samples} | runs {runs} | sha256 {digests}",
    "results, most {most} | mean {mean:.2f} | samples with one % {one:.1f} | cosine, mean {cosine:.5f}",
    "least {least:.5f} | same first % {first:.1f} | of ten % {ten:.1f} | ms a sample {ms:.2f}",
)


def measure(options: Namespace) -> Iterator[dict[str, Any]]:
    """The figures of each contestant on each model."""
    other_cpus.check_cpus([name for name in options.emulate.split(",") if name])
    with tempfile.TemporaryDirectory() as folder:
        for case in cases(options, Path(folder)):
            yield from measure_case(case, list(contestants(case, Path(folder), options.cache, options.only)), options)
        if options.decoder:
            case = decoders.decoder_case(options.decoder, options.samples, options.cache)
            runners = list(decoders.decoder_contestants(options.decoder, options.cache, options.only))
            yield from measure_case(case, runners, options)


def measure_case(case: Case, runners: list[Contestant], options: Namespace) -> Iterator[dict[str, Any]]:
    """The figures of each contestant on one model."""
    cpus = [name for name in options.emulate.split(",") if name]
    times = time_alone(case, [one.run for one in runners], min(TIMED, options.samples), options.rounds)
    floats: dict[str, np.ndarray] = {}
    for contestant, ms in zip(runners, times, strict=True):
        row, alone = figures(case, contestant, floats, options)
        yield {**row, "ms": ms}
        if contestant.is_promised and contestant.files:
            yield from emulate(case, contestant, alone, cpus, options.emulated_samples)


def figures(
    case: Case, contestant: Contestant, floats: dict[str, np.ndarray], options: Namespace
) -> tuple[dict[str, Any], np.ndarray]:
    """A row without its time, and the results of samples run alone."""
    count = len(case.samples) if contestant.is_promised else min(options.peer_samples, len(case.samples))
    alone = run_alone(case, contestant.run, max(count, min(options.compared, len(case.samples))))
    if contestant.name == contestant.base:
        floats[contestant.base] = alone
    title = f"{case.name}, {contestant.name}"
    runs = track(range(options.runs), title, transient=True)
    results = count_results(case, contestant.run, count, runs, contestant.levels, alone)
    counts = np.array([len(found) for found in results.hashes])
    return {
        "model": case.name, "contestant": contestant.name, "samples": count, "runs": options.runs,
        "digests": len(results.digests), "most": int(counts.max()), "mean": float(counts.mean()),
        "one": 100 * float((counts == 1).mean()), **compare(alone, floats.get(contestant.base), options.compared),
    }, alone  # fmt: skip


def compare(alone: np.ndarray, floats: np.ndarray | None, count: int) -> dict[str, float]:
    """How near results are to those of the float model; nothing if it was not run."""
    if floats is None:
        return {}
    count = min(len(alone), len(floats), count)
    angles, (first, ten) = cosines(alone[:count], floats[:count]), compare_rankings(alone[:count], floats[:count])
    return {
        "cosine": float(angles.mean()), "least": float(angles.min()), "first": 100 * first, "ten": 100 * ten,
        "compared": count,
    }  # fmt: skip


def emulate(
    case: Case, contestant: Contestant, alone: np.ndarray, cpus: Sequence[str], count: int
) -> Iterator[dict[str, Any]]:
    """A row for each emulated CPU: one sha256 where it gives what this CPU gave to samples run alone."""
    random = np.random.default_rng(1)
    count = min(count, len(alone))
    order = list(batches(count, random))
    wanted = other_cpus.hash_arrays([alone[rows] for rows in order])
    with tempfile.TemporaryDirectory() as folder:
        feeds = Path(folder, "feeds.npz")
        other_cpus.write_feeds(feeds, [join(case, rows, random) for rows in order])
        for cpu in cpus:
            found = other_cpus.hash_on(cpu, contestant.files[other_cpus.CPUS[cpu]], feeds)
            yield {
                "model": case.name, "contestant": f"{contestant.name}, emulated {cpu}", "samples": count, "runs": 1,
                "digests": len({found, wanted}),
            }  # fmt: skip


def missed(rows: list[dict[str, Any]], _options: Namespace) -> list[str]:
    """Rows of tvmq where the samples have several results."""
    return [
        f"{row['model']}: {row['contestant']} gives {row['samples']} samples {row['digests']} different results"
        for row in rows
        if row["contestant"].startswith("tvmq") and row["digests"] > 1
    ]


def measure_little(options: Namespace) -> Iterator[dict[str, Any]]:
    """`measure`; --quick: a small encoder, few samples and runs."""
    if not options.quick:
        return measure(options)
    fewer: dict[str, Any] = {"samples": min(options.samples, 20), "runs": min(options.runs, 6)}
    fewer |= {"compared": 20, "rounds": 1}
    return measure(Namespace(**{**vars(options), "tasks": "", **fewer}))


COMMAND = Command(
    about=__doc__ or "",
    columns=COLUMNS,
    measure=measure_little,
    missed=missed,
    tasks=("lstm", "vit_cifar10", "resnet8_cifar10"),
    child=lambda options: other_cpus.run_here(options.child),
    arguments=[
        argument("--texts", type=Path, help="ONNX model of texts of any number and length"),
        argument("--words", type=Path, nargs="*", default=[], help=".npz of ids"),
        argument("--decoder", default="", choices=("", *MODELS), help="language model"),
        argument("--samples", type=int, default=10000, help="of each model, for tvmq in int8"),
        argument("--peer-samples", type=int, default=100, help="for other runtimes and for float"),
        argument("--runs", type=int, default=200, help="random surroundings"),
        argument("--compared", type=int, default=1000, help="samples that quality is measured with"),
        argument("--rounds", type=int, default=ROUNDS, help="of timing"),
        argument("--only", nargs="*", default=[], help="names of contestants; float ones give quality"),
        argument("--emulate", default="", help="CPUs of qemu, with commas between: Haswell,IvyBridge"),
        argument("--emulated-samples", type=int, default=20, help="that run there"),
    ],
)

if __name__ == "__main__":
    COMMAND()
