"""Peak memory of calibration must not depend on the number of samples.

    python benchmarks/memory.py --zoo ../shared/zoo [--tasks efficientnet_lite0] [--samples 64,512]

Each count runs in a fresh process: import the model, `tvmq.quantize` with default settings on that many
samples, made one by one from the task's calibration pictures (repeats are mirrored or dimmed: no two are
equal).
The peak is VmHWM of Linux; "above" leaves out what the process held before it quantized.
Bound     the peaks differ by at most 5 %. Exit code 1 where it is missed.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ours
from common import (
    Feed,
    Feeds,
    batch_one_shape,
    finish,
    load_zoo,
    machine,
    parser,
    print_table,
    write_json,
)

COLUMNS = (
    ("task", "{task}"),
    ("samples", "{samples}"),
    ("peak MiB", "{peak:.1f}"),
    ("above MiB", "{above:.1f}"),
    ("seconds", "{seconds:.1f}"),
)


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


def memory(field: str) -> float:
    """A line of /proc/self/status in MiB: VmHWM is the peak of this program alone, unlike ru_maxrss."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) / 1024
    raise SystemExit(f"memory: /proc/self/status has no {field}; this benchmark needs Linux")


def child(task: Any, count: int) -> dict[str, Any]:
    """Quantize on `count` samples in this process."""
    model = ours.Model.read(task.model_path, batch_one_shape(task))
    before, start = memory("VmRSS"), time.perf_counter()
    model.integer(Many(task, count))
    peak = memory("VmHWM")
    return {
        "task": task.name, "samples": count, "peak": peak, "above": peak - before,
        "seconds": time.perf_counter() - start,
    }  # fmt: skip


def measure(options: Any, task: str, count: int) -> dict[str, Any]:
    """The figures of a fresh process."""
    command = [sys.executable, __file__, "--zoo", str(options.zoo), "--tasks", task, "--child", str(count)]
    result = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(result.stdout.splitlines()[-1])


def missed(figures: list[dict[str, Any]]) -> list[str]:
    """Tasks whose peaks differ by more than 5 %."""
    failures = []
    for task in dict.fromkeys(f["task"] for f in figures):
        peaks = [f["peak"] for f in figures if f["task"] == task]
        if max(peaks) > 1.05 * min(peaks):
            failures.append(f"{task}: peaks of {min(peaks):.1f} and {max(peaks):.1f} MiB; 5 % allowed")
    return failures


def main() -> None:
    """Command line; see the head of this file."""
    commands = parser("Peak memory of calibration against the number of samples.", tasks=["efficientnet_lite0"])
    commands.add_argument("--samples", default="64,512", help="counts, separated by commas")
    commands.add_argument("--child", type=int, help="measure this count in this process and print JSON")
    options = commands.parse_args()
    if options.child:
        (task,) = load_zoo(options.zoo, options.tasks).values()
        print(json.dumps(child(task, options.child)))
        return
    print(machine(), flush=True)
    counts = [4, 16] if options.quick else [int(count) for count in options.samples.split(",")]
    figures = [measure(options, task, count) for task in load_zoo(options.zoo, options.tasks) for count in counts]
    print_table([title for title, _ in COLUMNS], [[form.format(**f) for _, form in COLUMNS] for f in figures])
    failures = missed(figures)
    write_json(options.json, {"runs": figures, "failures": failures})
    finish(failures)


if __name__ == "__main__":
    main()
