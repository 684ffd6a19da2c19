"""How long quantizing and compiling take: from nothing, and again with compiled kernels in the cache.

    python benchmarks/building.py [--tasks resnet50] [--zoo DIR] [--cache DIR] [--threads 2]

Two fresh processes a model, with an empty folder TVMQ_CACHE: the first imports the float model, quantizes it with
default settings and its calibration samples (six, for networks of random weights), compiles and saves; the second loads
what was saved and compiles its module again.
Columns   seconds of each step; kernels: files in the cache
Bounds    quantize, the runs of the samples with it, and build: under 60 s; again: under 10 s. Exit code 1 where one is
          missed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from common import finish, machine, parser, print_table, set_threads, write_json
from latency_models import find

MOST_SECONDS, MOST_AGAIN = 60.0, 10.0
COLUMNS = (
    ("model", "{task}"),
    ("import s", "{import_seconds:.1f}"),
    ("quantize s", "{quantize_seconds:.1f}"),
    ("build s", "{build_seconds:.1f}"),
    ("save s", "{save_seconds:.1f}"),
    ("load s", "{load_seconds:.2f}"),
    ("build again s", "{again_seconds:.1f}"),
    ("kernels", "{kernels}"),
)


class Watch:
    """Seconds by name."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        """Notes the time of the block."""
        start = time.perf_counter()
        yield
        self.seconds[name] = time.perf_counter() - start


def first(name: str, saved: Path, options: Any) -> dict[str, float]:
    """From the float model to the saved one, in this very process."""
    import tvmq

    watch, network = Watch(), find(name, options)
    feeds = list(network.feeds)
    with watch("import_seconds"):
        module, params = tvmq.from_onnx(network.path, shape={key: array.shape for key, array in feeds[0].items()})
    with watch("quantize_seconds"):
        quantized = tvmq.quantize(module, params, feeds, guard=network.guard)
    with watch("build_seconds"):
        executable = tvmq.build(quantized)
    with watch("save_seconds"):
        executable.save(saved)
    return watch.seconds


def again(saved: Path) -> dict[str, float]:
    """What was saved compiled once more, in this very process."""
    import tvmq

    watch, load = Watch(), tvmq.load  # the import of TVM is not counted
    with watch("load_seconds"):
        executable = load(saved)
    module = executable.module
    with watch("again_seconds"):
        tvmq.build(module)
    return watch.seconds


def in_child(step: str, saved: Path, cache: Path, arguments: list[str]) -> dict[str, float]:
    """A step in a fresh process with this folder of kernels."""
    environment = dict(os.environ, TVMQ_CACHE=str(cache))
    command = [sys.executable, __file__, *arguments, "--child", step, str(saved)]
    result = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment)
    figures: dict[str, float] = json.loads(result.stdout.splitlines()[-1])
    return figures


def measure(name: str, arguments: list[str]) -> dict[str, Any]:
    """All figures of one model."""
    with tempfile.TemporaryDirectory() as folder:
        saved, cache = Path(folder, "model.tvmq"), Path(folder, "cache")
        figures: dict[str, Any] = {"task": name}
        for step in (first, again):
            figures |= in_child(step.__name__, saved, cache, [*arguments, "--tasks", name])
        kernels = cache / "kernels"
        return {**figures, "kernels": len(list(kernels.iterdir())) if kernels.exists() else 0}


def missed(models: list[dict[str, Any]]) -> list[str]:
    """The bounds that the table misses."""
    failures = []
    for f in models:
        seconds = f["quantize_seconds"] + f["build_seconds"]
        if seconds >= MOST_SECONDS:
            failures.append(f"{f['task']}: quantize and build took {seconds:.1f} s, under {MOST_SECONDS:.0f} asked")
        if f["again_seconds"] >= MOST_AGAIN:
            failures.append(f"{f['task']}: built again in {f['again_seconds']:.1f} s, under {MOST_AGAIN:.0f} asked")
    return failures


def main() -> None:
    """Command line; see the head of this file."""
    commands = parser("Time of quantizing and compiling, from nothing and with cached kernels.", tasks=["resnet50"])
    commands.add_argument("--threads", type=int, default=2, help="of the runs of the float model")
    commands.add_argument("--child", nargs=2, metavar=("STEP", "FILE"), help="a step in this very process")
    options = commands.parse_args()
    set_threads(options.threads)
    if options.child:
        step, saved = options.child[0], Path(options.child[1])
        print(json.dumps(again(saved) if step == "again" else first(options.tasks, saved, options)))
        return
    print(machine(), flush=True)
    models = [measure(name, sys.argv[1:]) for name in options.tasks.split(",")]
    print_table([title for title, _ in COLUMNS], [[form.format(**f) for _, form in COLUMNS] for f in models])
    failures = missed(models)
    write_json(options.json, {"models": models, "failures": failures})
    finish(failures)


if __name__ == "__main__":
    main()
