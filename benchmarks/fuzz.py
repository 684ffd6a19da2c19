"""Wild models through all stages: no crash, no wrong result, no silent float. The checks: tests/support/fuzz/case.py.

    python benchmarks/fuzz.py [--cases 3000] [--seed 0] [--save failures] [--quick]
    python benchmarks/fuzz.py --damage [--cases 3000]      # damaged .onnx, .tvmq and calibration files instead
    python benchmarks/fuzz.py --sizes [--cases 300]        # models of free sizes, tests/support/fuzz/free_sizes.py
    python benchmarks/fuzz.py --writers [--cases 300]      # every writer and training, tests/support/fuzz/writers.py

A worker process runs the cases, so that a crash of the process itself is a failure like any other. Failures are
printed with their seed, and saved as small models with their inputs to the folder of --save.
Exit code 1 where there are any.
"""

from __future__ import annotations

import multiprocessing
import re
import sys
import time
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from harness.command import Command, argument
from harness.report import columns

SECONDS = 120.0  # a case that takes longer hangs
FEEDS, FREE_FEEDS = 3, 7
PIPELINE, DAMAGE, SIZES = "pipeline", "damage", "sizes"  # what a worker does with a seed
ENTERED, FAILING = "entered", "failing"  # what a worker says before its answer


def work(pipe: Any, builds: bool, task: str) -> None:
    """The worker: takes seeds, gives (kind, stage, text, model bytes or None)."""
    from tests.support.fuzz.case import run_case, smaller
    from tests.support.fuzz.graphs import fuzz_feeds, fuzz_model

    while (seed := pipe.recv()) is not None:
        if task == SIZES:
            pipe.send(run_sizes(seed, lambda stage: pipe.send((ENTERED, stage, "", None))))
            continue
        if task == DAMAGE:
            from tests.support.fuzz.damage import run_damage

            outcome = run_damage(seed)
            pipe.send((outcome.kind, outcome.stage, outcome.text, None))
            continue
        model = fuzz_model(seed)
        feeds = fuzz_feeds(model, seed, FEEDS)
        outcome = run_case(model, feeds, builds=builds, entered=lambda stage: pipe.send((ENTERED, stage, "", None)))
        found = None
        if outcome.failed:
            pipe.send((FAILING, outcome.stage, outcome.text, None))  # should making it smaller kill the process
            found = smaller(model, partial(_fails_alike, seed, outcome.signature, builds)).SerializeToString()
        pipe.send((outcome.kind, outcome.stage, outcome.text, found))


def run_sizes(seed: int, entered: Callable[[str], None]) -> tuple[str, str, str, bytes | None]:
    """Outcome of a model of free sizes; scales of activations come at run time for every third one of each kind."""
    from tests.support.fuzz.free_sizes import free_feeds, free_model, run_free

    model, known = free_model(seed)
    activations = "dynamic" if seed // 3 % 3 == 0 else "static"
    outcome = run_free(model, free_feeds(model, known, seed, FREE_FEEDS), activations=activations, entered=entered)
    return outcome.kind, outcome.stage, outcome.text, model.SerializeToString() if outcome.failed else None


def _fails_alike(seed: int, signature: tuple[str, str, str], builds: bool, model: Any) -> bool:
    from tests.support.fuzz.case import run_case
    from tests.support.fuzz.graphs import fuzz_feeds

    return run_case(model, fuzz_feeds(model, seed, FEEDS), builds=builds).signature == signature


class Worker:
    """A process that can die."""

    def __init__(self, builds: bool, task: str = PIPELINE) -> None:
        self._options = builds, task
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, other = context.Pipe()
        self._process = context.Process(target=work, args=(other, *self._options), daemon=True)
        self._process.start()
        other.close()

    def run(self, seed: int) -> tuple[str, str, str, bytes | None]:
        """Outcome of a seed; "died" or "hung" where the process did not answer.

        A failure that is known is the outcome even if making the model smaller ends the process; a process that
        onnxruntime ended says nothing about tvmq.
        """
        stage = ""
        known: tuple[str, str, str, bytes | None] | None = None
        try:
            self._pipe.send(seed)
            while self._pipe.poll(SECONDS):
                answer = self._pipe.recv()
                if answer[0] == ENTERED:
                    stage = answer[1] if known is None else stage
                elif answer[0] == FAILING:
                    known = ("crash", *answer[1:])
                else:
                    return answer
            self._process.kill()
            found = known or ("hung", stage, f"no answer in {SECONDS:.0f} s", None)
        except (EOFError, ConnectionError):
            self._process.join()
            found = known or ("died", stage, f"the process died with {self._process.exitcode}", None)
        self._start()
        return ("invalid", *found[1:]) if stage == "onnxruntime" and known is None else found

    def close(self) -> None:
        """Let it go."""
        self._pipe.send(None)
        self._process.join(10)


def progress(seeds: range) -> Iterator[int]:
    """The seeds with a bar on a terminal, a line every 100 elsewhere."""
    if sys.stderr.isatty():
        from rich.progress import track

        yield from track(seeds, description="fuzz")
        return
    start = time.perf_counter()
    for count, seed in enumerate(seeds):
        if count and count % 100 == 0:
            print(f"{count} of {len(seeds)} cases, {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
        yield seed


def save(folder: Path, seed: int, kind: str, text: str, model: bytes | None) -> None:
    """model.onnx, inputs.npz and error.txt of a failure."""
    import numpy as np
    import onnx

    from tests.support.fuzz.graphs import fuzz_feeds, fuzz_model

    place = folder / f"{kind}_{seed}"
    place.mkdir(parents=True, exist_ok=True)
    proto = onnx.load_from_string(model) if model else fuzz_model(seed)
    (place / "model.onnx").write_bytes(proto.SerializeToString())
    (place / "model.txt").write_text(onnx.printer.to_text(proto))
    (place / "error.txt").write_text(text)
    if any(dim.dim_param for value in proto.graph.input for dim in value.type.tensor_type.shape.dim):
        return  # the seed gives the inputs of all sizes
    feed = fuzz_feeds(proto, seed, FEEDS)[0]
    np.savez(place / "inputs.npz", *feed.values())


def _shape_of(text: str) -> str:
    """An error with its names and numbers blanked, so that equal reasons are counted together."""
    return re.sub(r"'[^']*'|[0-9]+", "_", text)[:90]


def print_refusals(refusals: Counter[str], most: int) -> None:
    """Print the most frequent refusals."""
    for text, count in refusals.most_common(most):
        print(f"  refused {count:5d}  {text}")


def fuzz_writers(seeds: range) -> Iterator[dict[str, Any] | str]:
    """Graphs, values and refusals of each writer, and what failed."""
    from tests.support.fuzz.writers import run_writers

    counts: dict[str, Counter[str]] = {}
    refusals: Counter[str] = Counter()
    for seed in progress(seeds):
        for outcome in run_writers(seed):
            own = counts.setdefault(outcome.writer, Counter())
            own.update({outcome.kind: 1, "values": outcome.values})
            if outcome.kind == "refused":
                refusals[_shape_of(outcome.text)] += 1
            elif outcome.failed:
                said = outcome.text.strip().splitlines()[-1][:300]
                yield f"seed {seed}: {outcome.writer} {outcome.kind}: {said}"
    for writer, own in counts.items():
        others = {kind: count for kind, count in own.items() if kind not in ("equal", "refused", "values")}
        yield {
            "writer": writer,
            **{kind: own[kind] for kind in ("equal", "refused", "values")},
            "others": others or "-",
        }
    print_refusals(refusals, 40)


def fuzz_models(options: Namespace) -> Iterator[dict[str, Any] | str]:
    """Counts of the outcomes of all seeds, and the failures."""
    counts: Counter[str] = Counter()
    refusals: Counter[str] = Counter()
    task = DAMAGE if options.damage else SIZES if options.sizes else PIPELINE
    worker, seeds = Worker(not options.quick, task), range(options.seed, options.seed + options.cases)
    for seed in progress(seeds):
        kind, stage, text, model = worker.run(seed)
        counts[kind] += 1
        if kind == "refused":
            refusals[f"{stage}: {_shape_of(text)}"] += 1
        if kind in ("exact", "refused", "invalid"):
            continue
        yield f"seed {seed}: {kind} ({stage}): {text.strip().splitlines()[-1][:300]}"
        if options.save and not options.damage:
            save(options.save, seed, kind, text, model)
    worker.close()
    print_refusals(refusals, 30)
    run = f"--{task}" if task != PIPELINE else "--quick" if options.quick else "all steps"
    known = {kind: counts[kind] for kind in ("exact", "refused", "invalid")}
    failures = len(seeds) - sum(known.values())
    yield {"run": run, "seeds": f"{seeds.start}-{seeds.stop - 1}", **known, "failures": failures, "kinds": dict(counts)}


def measure(options: Namespace) -> Iterator[dict[str, Any] | str]:
    """Fuzz the writers, or the pipeline."""
    return fuzz_writers(range(options.seed, options.seed + options.cases)) if options.writers else fuzz_models(options)


MODELS = columns(
    "run {run} | seeds {seeds} | exact {exact} | refused {refused} | invalid {invalid} | failures {failures}"
)
WRITERS = columns("writer {writer} | equal {equal} | refused {refused} | values {values} | others {others}")
main = Command(
    __doc__, lambda options: WRITERS if options.writers else MODELS, measure, tasks=None,
    arguments=[
        argument("--cases", type=int, default=3000),
        argument("--seed", type=int, default=0, help="the first seed; cases have consecutive ones"),
        argument("--save", type=Path, help="folder for small models that fail"),
        argument("--damage", action="store_true", help="damaged files in place of wild models"),
        argument("--sizes", action="store_true", help="models of free sizes in place of those of fixed ones"),
        argument("--writers", action="store_true", help="every writer and training in place of the pipeline"),
    ],
)  # fmt: skip

if __name__ == "__main__":
    main()
