"""Modules built for 64-bit Arm against the NumPy definition, bit for bit, on emulated CPUs.

    python benchmarks/exactness_arm.py --only own --tasks "" --graphs 14 [--quick]       without a zoo
    python benchmarks/exactness_arm.py --zoo ../shared/zoo --tasks dscnn_digits,resnet8_cifar10 --graphs 14

Models    those of exactness.py. Left out is what has islands, float operators without a definition: nothing says what
          they give on another CPU
Builds    made on this machine, saved, and loaded in a fresh process of the emulator (tools/arm.sh: what it is and what
          it needs). "everywhere" is the file of docs/saved-models.md, with code for two CPUs of x86 and Neoverse N1
Columns   the emulated CPU; files loaded and run there; values compared, those that differ; minutes that the CPU's
          emulator ran in all, which say nothing of the speed of a real one
Bounds    0 differing values, and a result of every file. Exit code 1 where one is missed
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from argparse import Namespace
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from exact.cases import ARGUMENTS, Case, cases, check_folder, defined_results, integer_and_simulated
from harness import ROOT
from harness.command import Command, argument
from harness.report import columns

TRIPLE = "llvm -mtriple=aarch64-linux-gnu"
TARGETS: dict[str, str | list[str]] = {
    "neon": "arm-neon",
    "dotprod": "arm-dotprod",
    "i8mm": "arm-i8mm",
    "neoverse-v1": f"{TRIPLE} -mcpu=neoverse-v1",
    "a64fx": f"{TRIPLE} -mcpu=a64fx",
    "everywhere": ["x86-64-v3", "avx512-vnni", f"{TRIPLE} -mcpu=neoverse-n1"],
}
# Builds that each emulated CPU runs
CPUS = {
    "cortex-a72": ("neon",),
    "neoverse-n1": ("dotprod", "everywhere"),
    "neoverse-v1": ("i8mm", "neoverse-v1"),
    "a64fx": ("a64fx",),
}


def write_files(case: Case, folder: Path) -> bool:
    """Quantize, build and save for every target, with inputs and the definition's results; False if it has islands."""
    import tvmq

    module, _ = integer_and_simulated(case, simulated=False)
    if tvmq.reference.Reference(module).islands:
        return False
    expected = defined_results(module, None, case.inputs)
    stored = {f"in {i} {name}": array for i, feed in enumerate(case.inputs) for name, array in feed.items()}
    for build, target in TARGETS.items():
        stored |= {f"out {build} {key}": array for key, array in expected.items()}
        tvmq.build(module, target=target).save(folder / f"{case.name}.{build}.tvmq")
    np.savez(folder / f"{case.name}.npz", **stored)
    return True


def emulate(cpu: str, folder: Path) -> list[dict[str, Any]]:
    """Records of the files that an emulated CPU runs."""
    arm = Path(os.environ.get("TVMQ_ARM", ROOT / "build" / "arm"))
    command = [arm / "python", arm / "tree" / "benchmarks" / Path(__file__).name, "--check", folder]
    start = time.monotonic()
    result = subprocess.run(
        [*map(str, command), "--builds", ",".join(CPUS[cpu])],
        stdout=subprocess.PIPE, text=True, env={**os.environ, "TVMQ_ARM_CPU": cpu}, check=False,
    )  # fmt: skip
    minutes = (time.monotonic() - start) / 60
    print(f"{cpu} ended with code {result.returncode}", flush=True)
    lines = [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]
    return [{**line, "cpu": cpu, "minutes": minutes} for line in lines]


def rows(records: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Sums of each CPU and build."""
    for cpu, builds in CPUS.items():
        for build in builds:
            mine = [record for record in records if (record["cpu"], record["build"]) == (cpu, build)]
            sums = {key: sum(record[key] for record in mine) for key in ("values", "differing")}
            minutes = max((record["minutes"] for record in mine), default=0.0)
            yield {"cpu": cpu, "build": build, "files": len(mine), **sums, "minutes": minutes}


def missed(table: Sequence[dict[str, Any]], written: int) -> list[str]:
    """Rows that break a bound, of so many models."""
    return [
        f"{row['build']} on {row['cpu']}: {row['differing']} of {row['values']} values differ, "
        f"{row['files']} of {written} files gave a result"
        for row in table
        if row["differing"] or row["files"] != written or not row["values"]
    ]


def measure(options: Namespace) -> Iterator[dict[str, Any] | str]:
    """Rows, and what failed."""
    subprocess.run([ROOT / "tools" / "arm.sh", "fetch"], check=True)
    written = 0
    with tempfile.TemporaryDirectory() as folder:
        for case in cases(options):
            try:
                complete = write_files(case, Path(folder))
            except Exception as error:  # the others are still worth a look
                yield f"{case.name}: {type(error).__name__}: {str(error)[:300]}"
                complete = False
            written += complete
            print(f"{case.name} {'written' if complete else 'left out'}", flush=True)
        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            folders = [Path(folder)] * len(CPUS)
            records = [record for found in pool.map(emulate, CPUS, folders) for record in found]
    yield from ({**row, "written": written} for row in rows(records))


COLUMNS = columns(
    "emulated CPU {cpu} | code {build} | files {files} | values {values} | differing {differing}",
    "minutes {minutes:.1f}",
)
main = Command(
    __doc__, COLUMNS, measure, lambda rows, _: missed(rows, rows[0]["written"]), child_option="check",
    arguments=[*ARGUMENTS, argument("--builds", default="*", help="builds that --check compares, with commas between")],
    child=lambda options: check_folder(Path(options.check), options.builds.split(",")),
)  # fmt: skip

if __name__ == "__main__":
    main()
