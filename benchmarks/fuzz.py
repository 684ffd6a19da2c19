"""Wild models down the whole road: no crash, no wrong result, no silent float. The checks: tests/support/fuzz/case.py.

    python benchmarks/fuzz.py [--cases 3000] [--seed 0] [--save failures] [--quick]
    python benchmarks/fuzz.py --damage [--cases 3000]      # damaged .onnx, .tvmq and calibration files instead
    python benchmarks/fuzz.py --writers [--cases 300]      # every writer and training, tests/support/fuzz/writers.py

A worker process runs the cases, so that a crash of the process itself is a failure like any other. Failures are
printed with their seed, and saved as small models with their inputs to the folder of --save.
Exit code 1 where there are any.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

for _variable in ("TVM_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

ROOT = Path(__file__).parents[1]
SECONDS = 120.0  # a case that takes longer hangs
FEEDS = 3
ENTERED, FAILING = "entered", "failing"  # what a worker says before its answer


def work(pipe: Any, builds: bool, damage: bool) -> None:
    """The worker: takes seeds, gives (kind, stage, text, model bytes or None)."""
    sys.path.insert(0, str(ROOT))
    from tests.support.fuzz.case import run_case, smaller
    from tests.support.fuzz.graphs import fuzz_feeds, fuzz_model

    while (seed := pipe.recv()) is not None:
        if damage:
            from tests.support.fuzz.damage import run_damage

            outcome = run_damage(seed)
            pipe.send((outcome.kind, outcome.stage, outcome.text, None))
            continue
        model = fuzz_model(seed)
        outcome = run_case(
            model,
            fuzz_feeds(model, seed, FEEDS),
            builds=builds,
            entered=lambda stage: pipe.send((ENTERED, stage, "", None)),
        )
        found = None
        if outcome.failed:
            pipe.send((FAILING, outcome.stage, outcome.text, None))  # should making it smaller kill the process
            found = smaller(model, partial(_fails_alike, seed, outcome.signature, builds)).SerializeToString()
        pipe.send((outcome.kind, outcome.stage, outcome.text, found))


def _fails_alike(seed: int, signature: tuple[str, str, str], builds: bool, model: Any) -> bool:
    from tests.support.fuzz.case import run_case
    from tests.support.fuzz.graphs import fuzz_feeds

    return run_case(model, fuzz_feeds(model, seed, FEEDS), builds=builds).signature == signature


class Worker:
    """A process that can die."""

    def __init__(self, builds: bool, damage: bool = False) -> None:
        self._options = builds, damage
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
    feed = fuzz_feeds(proto, seed, FEEDS)[0]
    np.savez(place / "inputs.npz", *feed.values())


def _shape_of(text: str) -> str:
    """An error with its names and numbers blanked, so that equal reasons are counted together."""
    return re.sub(r"'[^']*'|[0-9]+", "_", text)[:90]


def fuzz_writers(seeds: range) -> None:
    """Graphs, values and refusals of each writer; exit code 1 where one fails."""
    from tests.support.fuzz.writers import run_writers

    counts: Counter[tuple[str, str]] = Counter()
    values: Counter[str] = Counter()
    refusals: Counter[str] = Counter()
    graphs = 0
    for seed in progress(seeds):
        written = list(run_writers(seed))
        graphs += bool(written)
        for outcome in written:
            counts[outcome.writer, outcome.kind] += 1
            values[outcome.writer] += outcome.values
            if outcome.kind == "refused":
                refusals[_shape_of(outcome.text)] += 1
            elif outcome.failed:
                said = outcome.text.strip().splitlines()[-1][:300]
                print(f"seed {seed}: {outcome.writer} {outcome.kind}: {said}", flush=True)
    print(f"seeds {seeds.start}..{seeds.stop - 1}: {graphs} graphs, {sum(values.values())} values compared")
    for writer in dict.fromkeys(name for name, _ in counts):
        kinds = {kind: count for (name, kind), count in counts.items() if name == writer}
        print(f"  {writer:10s} {kinds}, {values[writer]} values")
    for text, count in refusals.most_common(40):
        print(f"  refused {count:5d}  {text}")
    if any(kind not in ("equal", "refused") for _, kind in counts):
        raise SystemExit(1)


def main() -> None:
    """Command line; see the head of this file."""
    parser = argparse.ArgumentParser(description="Fuzz the front end and the pipeline.")
    parser.add_argument("--cases", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=0, help="the first seed; cases have consecutive ones")
    parser.add_argument("--save", type=Path, help="folder for small models that fail")
    parser.add_argument("--json", type=Path, help="also write counts and failures to this file")
    parser.add_argument("--quick", action="store_true", help="import and quantize only: nothing is compiled")
    parser.add_argument("--damage", action="store_true", help="damaged files in place of wild models")
    parser.add_argument("--writers", action="store_true", help="every writer and training in place of the pipeline")
    options = parser.parse_args()
    sys.path.insert(0, str(ROOT))
    if options.writers:
        fuzz_writers(range(options.seed, options.seed + options.cases))
        return
    counts: Counter[str] = Counter()
    refusals: Counter[str] = Counter()
    failures: list[tuple[int, str, str, str]] = []
    worker = Worker(not options.quick, options.damage)
    for seed in progress(range(options.seed, options.seed + options.cases)):
        kind, stage, text, model = worker.run(seed)
        counts[kind] += 1
        if kind == "refused":
            refusals[f"{stage}: {_shape_of(text)}"] += 1
        if kind in ("exact", "refused", "invalid"):
            continue
        failures.append((seed, kind, stage, text))
        print(f"seed {seed}: {kind} ({stage}): {text.strip().splitlines()[-1][:300]}", flush=True)
        if options.save and not options.damage:
            save(options.save, seed, kind, text, model)
    worker.close()
    print(f"seeds {options.seed}..{options.seed + options.cases - 1}: {dict(counts)}")
    for text, count in refusals.most_common(30):
        print(f"  refused {count:5d}  {text}")
    print(f"{len(failures)} failures")
    if options.json:
        record = {"seed": options.seed, "cases": options.cases, "counts": counts, "failures": failures}
        options.json.write_text(json.dumps(record, indent=1))
    if failures:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
