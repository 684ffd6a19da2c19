"""Compiled integer modules against the NumPy definition, bit for bit; simulated against integer by layer.

    python benchmarks/exactness.py --zoo ../shared/zoo [--tasks a,b] [--graphs 500] [--samples 4] [--quick]
    python benchmarks/exactness.py --zoo ../shared/zoo --only dynamic,imported [--formats qdq,qoperator] [--quick]
    python benchmarks/exactness.py --zoo ../shared/zoo --only saturated,products
    python benchmarks/exactness.py --only free [--sizes 24] [--free 60] [--layers pools,pads]
    python benchmarks/exactness.py --target cuda --only own --graphs 200      on GPUs, see exact/cuda.py
    python benchmarks/exactness.py --target library --only own --graphs 200   as C libraries, see exact/library.py

Models    own: the zoo's tasks and random graphs (tests/support/random/graphs.py), quantized with default settings
          dynamic: models of dynamic shapes, quantized once and run with several sizes ("task-dynamic", see
          exact/dynamic_sizes.py)
          free: every kind of layer, and random graphs, with free sizes: exact/free_sizes.py
          imported: the tasks as onnxruntime quantizes them, with the scales that they bring ("task-qdq",
          "task-qoperator")
          saturated: the tasks with weights of -128 and 127 and codes at both ends (exact/saturated.py)
          products: the tasks with nothing but convolutions and products in 8 bits, floats between ("task-products")
Builds    for every instruction set that this CPU runs; each is saved, and loaded by fresh processes of 1 and of 2
          threads. AVX-VNNI runs on CPUs with AVX512-VNNI too: its kernels, in the other encoding of its instruction.
          Those of Arm run in an emulator: exactness_arm.py, and tests/codegen/kernels/test_arm.py kernel by kernel
Columns   values compared, those that differ; builds: instruction sets x threads; islands: float operators
          without a definition, whose values the reference takes from compiled code; LSB: largest difference
          between the codes of the simulated (float32) and the integer module, in steps, and its layer (what
          earlier layers differ in is included: one step before a steep sigmoid is several behind it)
Bounds    0 differing values; no islands in the tasks. Exit code 1 where one is missed, or a model fails.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from exact import cuda, library
from exact.cases import ARGUMENTS, Case, cases, check_folder, defined_results, differing, integer_and_simulated
from exact.free_sizes import family
from harness.command import Command, argument
from harness.report import Columns, columns
from harness.zoo import Feed

TARGETS = {
    "avx2": "llvm -mcpu=core-avx2",
    "avx512bw": "llvm -mcpu=skylake-avx512",
    "vnni": "llvm -mcpu=cascadelake",
    "vbmi": "avx512-vbmi",
    "avxvnni": "avx-vnni",
    "generic": "x86-64",
    "neon": "arm-neon",
    "dotprod": "arm-dotprod",
    "i8mm": "arm-i8mm",
}
THREADS = (1, 2)


def runnable_targets() -> dict[str, Any]:
    """Targets of the instruction sets that this CPU has, by name."""
    from tvmq.codegen.target.cpu import CpuTarget, missing_requirements, resolve_target

    found = {name: resolve_target(text) for name, text in TARGETS.items()}

    class Avx512WithKernelsOfAvxVnni(CpuTarget):
        """Level that no CPU has: the 256-bit dot product of AVX-512, where AVX-VNNI's is missing."""

        isa = found["avxvnni"].isa

    if missing_requirements(found["avxvnni"]):
        vnni = found["vnni"]
        found["avxvnni"] = Avx512WithKernelsOfAvxVnni(vnni.kind, vnni.mcpu, vnni.features, vnni.tvm)
    return {name: target for name, target in found.items() if not missing_requirements(target)}


def write_case(case: Case, folder: Path, targets: Mapping[str, Any]) -> dict[str, Any]:
    """Quantize and build; write inputs, the definition's results and the executables; gives facts."""
    import tvmq

    module, simulated = integer_and_simulated(case, simulated=not family(case.name))
    islands = tvmq.reference.Reference(module).islands
    stored = {f"in {i} {name}": array for i, feed in enumerate(case.inputs) for name, array in feed.items()}
    expected = defined_results(module, next(iter(targets.values())), case.inputs)  # islands for one CPU, as for all
    for name, target in targets.items():
        stored |= {f"out {name} {key}": array for key, array in expected.items()}
        with nullcontext() if case.apart else one_batch():
            tvmq.build(module, target=target).save(folder / f"{case.name}.{name}.tvmq")
    np.savez(folder / f"{case.name}.npz", **stored)
    facts: dict[str, Any] = {"lsb": 0, "worst": "-", "compared": "-"}
    if simulated is not None:
        facts = layer_differences(simulated, module, case.inputs[0])
    return {"name": case.name, "islands": len(islands), **facts}


def one_batch() -> Any:
    """Models are built for a dynamic number of samples, as if nothing were known about them."""
    return mock.patch("tvmq.codegen.compile.build.batch_dimension", lambda _mod: None)


def layer_differences(simulated: Any, integer: Any, feed: Feed) -> dict[str, Any]:
    """Largest difference in steps between the codes of the simulated and of the integer module."""
    import tvmq
    from tvmq.passes.calibrate.observed_model import return_intermediates

    codes: dict[str, np.ndarray] = {}
    tvmq.reference.run(integer, feed, watch=codes.__setitem__)
    coded, rounded = coded_layers(integer), rounded_tensors(simulated)
    layers = {tensor: layer for tensor, layer in coded.items() if tensor in rounded}
    worst, source = 0, "-"
    values = (
        tvmq.build(return_intermediates(simulated, [rounded[tensor] for tensor in layers])).run(feed) if layers else []
    )
    compared = 0
    for layer, value in zip(layers.values(), values, strict=True):
        if value.shape != codes[layer.variable].shape:
            continue  # the simulated tensor comes before a transpose, the codes after it
        compared += 1
        steps = np.rint(value / np.float64(layer.scale)) + layer.zero_point
        difference = int(np.abs(steps - codes[layer.variable]).max(initial=0))
        if difference > worst:
            worst, source = difference, layer.source
    return {"lsb": worst, "worst": source, "compared": f"{compared} of {len(coded)}"}


@dataclass(frozen=True)
class Coded:
    """A layer's result in the integer module: the variable that holds its codes, and what they mean."""

    variable: str
    source: str
    scale: float
    zero_point: int


def coded_layers(integer: Any) -> dict[str, Coded]:
    """{variable of the float module: its codes}, for all layers that compute codes rather than move them.

    A layer's codes are the last variable of that type among those that come from the layer's source nodes;
    layers that share their source nodes with another are left out.
    """
    from tvmq.graph.ledger import get_ledger
    from tvmq.graph.view import View, dtype_of

    view = View(integer)
    entries = [e for e in get_ledger(integer).layers.values() if isinstance(e.get("output"), dict)]
    entries = [entry for entry in entries if not entry["passes"]]
    nodes = Counter(tuple(entry["layers"]) for entry in entries)
    last = {(view.names.get(var.name), dtype_of(var)): var.name for var, _ in view.bindings if is_tensor(var)}
    found = {}
    for entry in entries:
        sources, output = tuple(entry["layers"]), entry["output"]
        variable = last.get((sources, output["dtype"]))
        if variable and sources and nodes[sources] == 1:
            layer = Coded(variable, sources[0], output["scale"], output["zero_point"])
            found[entry["members"][-1]] = layer
    return found


def rounded_tensors(simulated: Any) -> dict[str, str]:
    """{activation: the simulated_quantize that reads it} of a simulated module."""
    from tvmq.graph.view import View, op_name

    return {
        value.args[0].name: var.name
        for var, value in View(simulated).bindings
        if op_name(value) == "tvmq.simulated_quantize" and value.attrs.kind != "weight"
    }


def is_tensor(var: Any) -> bool:
    """False for tuples."""
    return hasattr(var.ty, "dtype")


def check(folder: Path, threads: int) -> list[dict[str, Any]]:
    """Results of the check in a fresh process of so many threads."""
    environment = {**os.environ, "TVM_NUM_THREADS": str(threads)}
    command = [sys.executable, __file__, "--check", str(folder)]
    result = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=environment, check=False)
    if result.returncode:
        print(f"the process of {threads} threads ended with code {result.returncode}", flush=True)
    return [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]


def summary(facts: Sequence[dict[str, Any]], found: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Summary: a line for each task, one for all random graphs."""
    rows = []
    for fact in facts:
        mine = [record for record in found if record["name"] == fact["name"]]
        rows.append({
            **fact, "values": sum(r["values"] for r in mine), "differing": sum(r["differing"] for r in mine),
            "builds": len(mine),
        })  # fmt: skip
    return rows


def shown(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows to print: random graphs are one, those of any batch another, and each kind of layers of free sizes."""
    tasks = [row for row in rows if "random_" not in row["name"] and not family(row["name"])]
    for prefix, words in (("random_", "random graphs"), ("dynamic_random_", "random graphs of any batch")):
        graphs = [row for row in rows if row["name"].startswith(prefix)]
        tasks += [_together(graphs, words)] if graphs else []
    return tasks + by_family(rows)


def by_family(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Layers and graphs of free sizes: one row for each kind."""
    kinds: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        if family(row["name"]):
            kinds.setdefault(family(row["name"]), []).append(row)
    sums = ("values", "differing", "builds", "islands")
    return [
        {**found[0], "name": f"{len(found)} {words}", **{key: sum(row[key] for row in found) for key in sums}}
        for words, found in kinds.items()
    ]


def _together(graphs: Sequence[dict[str, Any]], words: str) -> dict[str, Any]:
    """Join many rows into one: sums, and the worst layer."""
    sums = {key: sum(row[key] for row in graphs) for key in ("values", "differing", "builds", "islands")}
    counts = [row["compared"].split(" of ") for row in graphs]
    most = max(graphs, key=lambda row: row["lsb"])
    return {
        "name": f"{len(graphs)} {words}", **sums, "lsb": most["lsb"],
        "worst": f"{most['name']} {most['worst']}",
        "compared": " of ".join(str(sum(int(count[i]) for count in counts)) for i in (0, 1)),
    }  # fmt: skip


def missed(rows: Sequence[dict[str, Any]], builds: int) -> list[str]:
    """Sentences for results that break the promise."""
    failures = []
    for row in rows:
        if row["differing"]:
            failures.append(f"{row['name']}: {row['differing']} of {row['values']} values differ")
        if row["builds"] != builds:
            failures.append(f"{row['name']}: {row['builds']} of {builds} builds gave a result")
        if row["islands"] and "random_" not in row["name"] and not family(row["name"]):
            failures.append(f"{row['name']}: {row['islands']} float operators without a definition")
    return failures


COLUMNS = columns(
    "model {name} | values {values} | differing {differing} | builds {builds} | islands {islands} | LSB {lsb}",
    "layers compared {compared} | at layer {worst}",
)


def measure(options: Namespace) -> Iterator[dict[str, Any] | str]:
    """Rows of all models, and what failed."""
    if options.target == "cuda":
        rows, failures = cuda.measure(cases(options), options.archs.split(","), differing)
        yield from (*rows, *failures)
        return
    targets, facts = runnable_targets(), []
    if options.target == "library":
        yield from library.measure(cases(options), targets)
        return
    print(f"instruction sets: {', '.join(targets)}; threads: {', '.join(map(str, THREADS))}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for case in cases(options):
            try:
                facts.append(write_case(case, Path(folder), targets))
                print(f"{case.name} written", flush=True)
            except Exception as error:  # the others are still worth a look
                yield f"{case.name}: {type(error).__name__}: {str(error)[:300]}"
        found = [record for threads in THREADS for record in check(Path(folder), threads)]
        for row in summary(facts, found):
            yield {**row, "wanted": len(targets) * len(THREADS)}


def all_missed(rows: list[dict[str, Any]], options: Namespace) -> list[str]:
    """Sentences for results that break the promise, on the CPU or on GPUs."""
    return missed(rows, rows[0]["wanted"]) if rows and options.target != "cuda" else []


def columns_for(options: Namespace) -> Columns:
    """Columns of the table, by what the modules are built for."""
    if options.target == "cuda":
        return cuda.columns_of(options.archs.split(","))
    return library.COLUMNS if options.target == "library" else COLUMNS


def table_of(rows: list[dict[str, Any]]) -> list[Any]:
    """The rows to print."""
    for key, show in (("executed", cuda.shown), ("kilobytes", library.shown)):
        if rows and key in rows[0]:
            return show(rows)
    return shown(rows)


main = Command(
    __doc__, columns_for, measure, all_missed, table=table_of,
    arguments=[
        *ARGUMENTS,
        argument("--target", default="cpu", choices=("cpu", "cuda", "library"), help="what the modules are built for"),
        argument("--archs", default=",".join(cuda.ARCHS), help="of GPUs, separated by commas"),
    ],
    child_option="check", child=lambda options: check_folder(Path(options.check)),
)  # fmt: skip

if __name__ == "__main__":
    main()
