"""exactness.py --target cuda: integer modules on GPUs against the NumPy definition; without a GPU, source and code.

    python benchmarks/exactness.py --target cuda [--tasks a,b] [--graphs 200] [--archs sm_75,sm_80,sm_90] [--quick]

Columns   kernels: functions of the source; the architectures: kB of code that nvcc makes, or "source" without nvcc;
          values compared, those that differ: "-" where nothing ran
Runs      on the GPU of this machine; where there is none, on the CPU by `emulator`, where that is given
Bounds    0 differing values; every source is made and compiled. Exit code 1 where one is missed, or a model fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from common import Feed

Run = Callable[[Feed], Sequence[np.ndarray]]
ARCHS = ("sm_75", "sm_80", "sm_90")
NO_GPU = "this machine has no NVIDIA GPU that TVM can use: sources are made{compiled}, {executed}"


def conditions(emulator: Any) -> str:
    """What can be shown here, in one sentence; empty where there is a GPU and nvcc."""
    from tvmq.codegen.cuda.nvcc import find_nvcc
    from tvmq.codegen.cuda.target import device_arch

    if device_arch():
        return ""
    compiled = " and compiled by nvcc" if find_nvcc() else "; nvcc is not there either"
    executed = "and executed on the CPU by the emulator of tests/" if emulator else "nothing is executed"
    return NO_GPU.format(compiled=compiled, executed=executed)


def runner(module: Any, emulator: Any) -> Run | None:
    """A function that runs a module as built for a GPU; None where nothing here can."""
    import tvmq
    from tvmq.codegen.cuda.target import device_arch

    if device_arch():
        return tvmq.build(module, target="cuda").run
    return emulator(module) if emulator else None


def row(name: str, module: Any, inputs: Iterable[Feed], archs: Sequence[str], emulator: Any) -> dict[str, Any]:
    """Build for each architecture, compile, and compare what can be run."""
    import tvmq
    from tvmq.codegen.cuda.target import device_arch

    sources = {arch: tvmq.build(module, target=f"cuda -arch={arch}").source for arch in archs}
    sizes = {arch: code_size(source, arch) for arch, source in sources.items()}
    kernels = max(source.count("__global__ void") for source in sources.values()) // 2  # each is declared, then defined
    facts = {"name": name, "kernels": kernels, **sizes, "values": 0, "differing": 0}
    run = runner(module, emulator)
    # islands give what the same compiler makes of them
    reference = tvmq.reference.Reference(module, target="cuda" if device_arch() else "llvm")
    facts["islands"] = len(reference.islands)
    for feed in inputs if run else ():
        for expected, found in zip(reference.run(feed), run(feed), strict=True):
            facts["values"] += np.asarray(expected).size
            facts["differing"] += differing(np.asarray(expected), np.asarray(found))
    return facts


def code_size(source: str, arch: str) -> str:
    """kB of machine code of a source; "source" where it cannot be compiled for want of nvcc."""
    from tvmq.codegen.cuda.nvcc import compile_source, find_nvcc

    if not source:
        return "none"
    return f"{len(compile_source(source, arch, 'cubin')) / 1000:.0f} kB" if find_nvcc() else "source"


def differing(a: np.ndarray, b: np.ndarray) -> int:
    """Values whose bits differ; all of them where shape or type does."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return max(a.size, b.size)
    bits = np.dtype(f"u{a.dtype.itemsize}")
    return int((np.ascontiguousarray(a).view(bits) != np.ascontiguousarray(b).view(bits)).sum())


def measure(
    cases: Iterable[Any], modules: Callable[[Any], Any], archs: Sequence[str], emulator: Any = None
) -> tuple[list[dict[str, Any]], list[str]]:
    """Rows and failures.

    cases     with `name` and `inputs`
    modules   the integer module of a case
    emulator  gives a function that runs a module on the CPU as built for a GPU; None: there is none
    """
    rows, failures = [], []
    for case in cases:
        try:
            rows.append(row(case.name, modules(case), case.inputs, archs, emulator))
        except Exception as error:  # the others are still worth a look
            failures.append(f"{case.name}: {type(error).__name__}: {str(error)[:300]}")
            print(failures[-1], flush=True)
        else:
            print(" ".join(f"{key}={value}" for key, value in rows[-1].items()), flush=True)
    failures += [f"{r['name']}: {r['differing']} of {r['values']} values differ" for r in rows if r["differing"]]
    return rows, failures


def table(rows: Sequence[Mapping[str, Any]], archs: Sequence[str]) -> tuple[list[str], list[list[str]]]:
    """Titles and lines; the random graphs are one line."""
    titles = ["model", "kernels", *archs, "values", "differing"]
    tasks = [r for r in rows if not r["name"].startswith("random_")]
    graphs = [r for r in rows if r["name"].startswith("random_")]
    lines = [[r["name"], str(r["kernels"]), *(r[arch] for arch in archs), *_compared([r])] for r in tasks]
    if graphs:
        made = [f"{sum(r[arch] != 'source' for r in graphs)} compiled" for arch in archs]
        kernels = str(sum(r["kernels"] for r in graphs))
        lines.append([f"{len(graphs)} random graphs", kernels, *made, *_compared(graphs)])
    return titles, lines


def _compared(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    values, different = (sum(r[key] for r in rows) for key in ("values", "differing"))
    return [str(values), str(different)] if values else ["-", "-"]
