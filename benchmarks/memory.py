"""Peak memory of calibration must not depend on the number of samples.

    python benchmarks/memory.py --zoo ../shared/zoo [--tasks efficientnet_lite0] [--samples 64,512]

Each count runs in a fresh process: import the model, `tvmq.quantize` with default settings on that many
samples, made one by one from the task's calibration pictures (repeats are mirrored or dimmed: no two are
equal).
The peak is VmHWM of Linux; "above" leaves out what the process held before it quantized.
Bound     the peaks differ by at most 5 %. Exit code 1 where it is missed.
"""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Iterator
from typing import Any

from harness.command import Command, argument, memory, run_fresh
from harness.model import Model
from harness.report import columns
from harness.zoo import Feed, Feeds, chosen_tasks, load_zoo


class Many:
    """`count` different samples, none kept."""

    def __init__(self, task: Any, count: int) -> None:
        self.task, self.count = task, count

    def __iter__(self) -> Iterator[Feed]:
        index = 0
        while index < self.count:
            for feed in Feeds(self.task, self.count - index):
                yield {name: self.varied(array, index) for name, array in feed.items()}
                index += 1

    def varied(self, array: Any, index: int) -> Any:
        """The first round as it is; later ones mirrored in turn and ever darker."""
        repeat = index // len(self.task._data("calib")[0])
        return (array[..., ::-1] if repeat % 2 else array).copy() * array.dtype.type(0.97**repeat)


def missed(figures: list[dict[str, Any]], _options: Namespace | None = None) -> list[str]:
    """Tasks whose peaks differ by more than 5 %."""
    failures = []
    for task in dict.fromkeys(f["task"] for f in figures):
        peaks = [f["peak"] for f in figures if f["task"] == task]
        if max(peaks) > 1.05 * min(peaks):
            failures.append(f"{task}: peaks of {min(peaks):.1f} and {max(peaks):.1f} MiB; 5 % allowed")
    return failures


COLUMNS = columns(
    "task {task} | samples {samples} | peak MiB {peak:.1f} | above MiB {above:.1f} | seconds {seconds:.1f}"
)


def quantize_once(options: Namespace) -> dict[str, Any]:
    """Quantize on `--child` samples in this process."""
    ((task, _),) = chosen_tasks(options)
    model, count = Model.of_task(task), int(options.child)
    before, start = memory("VmRSS"), time.perf_counter()
    model.integer(Many(task, count))
    peak, seconds = memory("VmHWM"), time.perf_counter() - start
    return {"task": task.name, "samples": count, "peak": peak, "above": peak - before, "seconds": seconds}


def measure(options: Namespace) -> Iterator[dict[str, Any]]:
    """The figures of fresh processes."""
    for task in load_zoo(options.zoo, options.tasks):
        for count in (4, 16) if options.quick else options.samples.split(","):
            yield run_fresh(__file__, "--zoo", options.zoo, "--tasks", task, "--child", count)


main = Command(
    __doc__, COLUMNS, measure, missed, ("efficientnet_lite0",),
    arguments=[argument("--samples", default="64,512", help="counts, separated by commas")], child=quantize_once,
)  # fmt: skip

if __name__ == "__main__":
    main()
