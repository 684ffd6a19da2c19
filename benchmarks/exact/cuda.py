"""Modules built for NVIDIA GPUs against the NumPy definition, bit for bit: `exactness.py --target cuda`.

    python benchmarks/exactness.py --target cuda --only own [--tasks a,b] [--graphs 200] [--archs sm_80] [--quick]

Executed  on the GPU of this machine; where there is none, the generated source is compiled by g++ and run by the
          emulator of tests/cuda_emulator, with the threads of every block forward and shuffled. Tasks are emulated
          for each architecture, random graphs for one of them in turn
Columns   kernels; the architectures: kB of code that nvcc makes, "source" without nvcc; values compared (of all
          architectures and orders), those that differ; what executed them; islands: float operators without a
          definition, whose values the reference takes from the GPU or the emulator
Bounds    0 differing values, no refusal of nvcc, no islands in the tasks. Exit code 1 where one is missed
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from harness.report import Columns, columns
from harness.zoo import Feed

ARCHS = ("sm_75", "sm_80", "sm_90")
KERNEL = re.compile(r'^extern "C" __global__[^;]*\{$', re.MULTILINE)
GPU, EMULATOR, NOWHERE = "GPU", "emulator", "not executed"

Differing = Callable[[np.ndarray, np.ndarray], int]


@dataclass
class Row:
    """Results of one model.

    executed    GPU, EMULATOR or NOWHERE
    code        {architecture: bytes of its code}; 0 where nvcc did not compile it
    """

    name: str
    islands: int
    executed: str
    kernels: int = 0
    values: int = 0
    differing: int = 0
    code: dict[str, int] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)


def where() -> str:
    """Name of what executes kernels on this machine."""
    import tvm

    from tests.cuda_emulator.library import missing_compiler

    if tvm.cuda(0).exist:
        return GPU
    return NOWHERE if missing_compiler() else EMULATOR


def measure(cases: Iterable[Any], archs: Sequence[str], differing: Differing) -> tuple[list[dict[str, Any]], list[str]]:
    """Rows and failures.

    cases       models with inputs (exact.cases.Case)
    differing   counts the values whose bits differ
    """
    from tvmq.codegen.target.nvcc import find_nvcc

    executed, nvcc = where(), find_nvcc()
    print(f"kernels: {executed}; nvcc: {'yes' if nvcc else 'no'}; for {', '.join(archs)}", flush=True)
    rows, failures = [], []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for number, case in enumerate(cases):
            try:
                row = check(case, number, archs, executed, differing, pool if nvcc else None)
            except Exception as error:  # the others are still worth a look
                failures.append(f"{case.name}: {type(error).__name__}: {str(error)[:300]}")
                print(failures[-1], flush=True)
                continue
            rows.append(vars(row))
            failures += row.failures
            print(f"{case.name}: {row.differing} of {row.values} differ; code {row.code}", flush=True)
    return rows, failures


def check(
    case: Any, number: int, archs: Sequence[str], executed: str, differing: Differing, pool: ThreadPoolExecutor | None
) -> Row:
    """Quantize one model, build it for each architecture, execute and compare it."""
    import tvmq
    from tvmq.errors import BuildError

    imported = tvmq.from_onnx(case.model, shape=case.shape)
    module = tvmq.quantize(*imported, *(() if case.calibration is None else (case.calibration,)))
    row = Row(case.name, len(tvmq.reference.Reference(module).islands), executed)
    sources = {arch: tvmq.build(module, target=f"cuda -arch={arch}").source for arch in archs}
    row.kernels = max(len(KERNEL.findall(source)) for source in sources.values())
    waiting = {arch: pool.submit(_code_bytes, source, arch) for arch, source in sources.items()} if pool else {}
    if executed == GPU:
        _on_gpu(row, module, case.inputs, differing)
    elif executed == EMULATOR:
        is_graph = "random_" in case.name
        for arch in [archs[number % len(archs)]] if is_graph else archs:
            _emulated(row, module, arch, case.inputs, differing)
    for arch, made in waiting.items():
        try:
            row.code[arch] = made.result()
        except BuildError as error:
            row.failures.append(f"{case.name}: {str(error)[:300]}")
    if row.differing:
        row.failures.append(f"{case.name}: {row.differing} of {row.values} values differ")
    if row.islands and "random_" not in case.name:
        row.failures.append(f"{case.name}: {row.islands} float operators without a definition")
    return row


def _code_bytes(source: str, arch: str) -> int:
    """Bytes of machine code that nvcc makes of a source."""
    from tvmq.codegen.target.nvcc import compile_source

    return len(compile_source(source, arch, "cubin")) if source else 0


def _on_gpu(row: Row, module: Any, inputs: Sequence[Feed], differing: Differing) -> None:
    import tvmq

    reference, executable = tvmq.reference.Reference(module, target="cuda"), tvmq.build(module, target="cuda")
    for feed in inputs:
        _count(row, executable.run(feed), reference.run(feed), differing)


def _emulated(row: Row, module: Any, arch: str, inputs: Sequence[Feed], differing: Differing) -> None:
    from tests.cuda_emulator.emulate import FORWARD, SHUFFLED
    from tests.cuda_emulator.model import EmulatedModel, reference_results

    target = f"cuda -arch={arch}"
    model = EmulatedModel(module, target)
    for feed in inputs:
        expected = reference_results(module, feed, target)
        for order in (FORWARD, SHUFFLED):
            _count(row, model.run(feed, order=order), expected, differing)


def _count(row: Row, found: Sequence[Any], expected: Sequence[Any], differing: Differing) -> None:
    for result, array in zip(found, expected, strict=True):
        row.values += int(np.asarray(array).size)
        row.differing += differing(np.asarray(result), np.asarray(array))


def columns_of(archs: Sequence[str]) -> Columns:
    """Columns for these architectures."""
    code = [(arch, lambda row, arch=arch: f"{row['code'][arch] / 1000:.0f} kB" if row["code"].get(arch) else "source")
            for arch in archs]  # fmt: skip
    last = columns("values {values} | differing {differing} | executed {executed} | islands {islands}")
    return (*columns("model {name} | kernels {kernels}"), *code, *last)


def shown(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The rows to print: random graphs are one."""
    graphs = [row for row in rows if "random_" in row["name"]]
    together = {key: sum(row[key] for row in graphs) for key in ("kernels", "values", "differing", "islands")}
    code: Counter[str] = Counter()
    for row in graphs:
        code.update(row["code"])
    ends = [{**graphs[0], **together, "name": f"{len(graphs)} random graphs", "code": code}] if graphs else []
    return [row for row in rows if "random_" not in row["name"]] + ends
