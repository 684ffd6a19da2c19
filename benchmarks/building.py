"""Time of quantizing and compiling: from nothing, and again with compiled kernels in the cache.

    python benchmarks/building.py [--tasks resnet50] [--zoo DIR] [--cache DIR] [--threads 2]

Two fresh processes a model, with an empty folder TVMQ_CACHE: the first imports the float model, quantizes it with
default settings and its calibration samples (six, for networks of random weights), compiles and saves; the second loads
what was saved and compiles its module again.
Columns   seconds of each step; kernels: files in the cache
Bounds    quantize, the runs of the samples with it, and build: under 60 s; again: under 10 s. Exit code 1 where one is
          missed.
"""

from __future__ import annotations

import sys
import tempfile
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness import set_threads
from harness.command import Command, argument, run_fresh
from harness.networks import find
from harness.report import columns
from harness.timing import Watch

MOST_SECONDS, MOST_AGAIN = 60.0, 10.0


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
    """Compile the saved model once more, in this process."""
    import tvmq

    watch, load = Watch(), tvmq.load  # the import of TVM is not counted
    with watch("load_seconds"):
        executable = load(saved)
    module = executable.module
    with watch("again_seconds"):
        tvmq.build(module)
    return watch.seconds


def missed(models: list[dict[str, Any]], _options: Any = None) -> list[str]:
    """The bounds that the table misses."""
    failures = []
    for f in models:
        seconds = f["quantize_seconds"] + f["build_seconds"]
        if seconds >= MOST_SECONDS:
            failures.append(f"{f['task']}: quantize and build took {seconds:.1f} s, under {MOST_SECONDS:.0f} asked")
        if f["again_seconds"] >= MOST_AGAIN:
            failures.append(f"{f['task']}: built again in {f['again_seconds']:.1f} s, under {MOST_AGAIN:.0f} asked")
    return failures


COLUMNS = columns(
    "model {task} | import s {import_seconds:.1f} | quantize s {quantize_seconds:.1f} | build s {build_seconds:.1f}",
    "save s {save_seconds:.1f} | load s {load_seconds:.2f} | build again s {again_seconds:.1f} | kernels {kernels}",
)


def take_step(options: Namespace) -> dict[str, float]:
    """The first step or the second, in this very process."""
    set_threads(options.threads)
    return again(options.file) if options.child == "again" else first(options.tasks, options.file, options)


def measure(options: Namespace) -> Iterator[dict[str, Any]]:
    """All figures of each model."""
    for name in options.tasks.split(","):
        with tempfile.TemporaryDirectory() as folder:
            kernels, figures = Path(folder, "cache", "kernels"), dict[str, float]()
            for step in ("first", "again"):
                arguments = [*sys.argv[1:], "--tasks", name, "--child", step, "--file", f"{folder}/model.tvmq"]
                figures |= run_fresh(__file__, *arguments, environment={"TVMQ_CACHE": f"{folder}/cache"})
            yield {"task": name, **figures, "kernels": len(list(kernels.iterdir())) if kernels.exists() else 0}


main = Command(
    __doc__, COLUMNS, measure, missed, ("resnet50",), child=take_step,
    arguments=[
        argument("--threads", type=int, default=2, help="of the runs of the float model"),
        argument("--file", type=Path, help="the saved model of --child"),
    ],
)  # fmt: skip

if __name__ == "__main__":
    main()
