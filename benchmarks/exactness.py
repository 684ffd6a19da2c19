"""Compiled integer modules against the NumPy definition, bit for bit; simulated against integer by layer.

    python benchmarks/exactness.py --zoo ../shared/zoo [--tasks a,b] [--graphs 500] [--samples 4] [--quick]
    python benchmarks/exactness.py --zoo ../shared/zoo --only dynamic,imported [--formats qdq,qoperator] [--quick]
    python benchmarks/exactness.py --zoo ../shared/zoo --only saturated,products
    python benchmarks/exactness.py --target cuda --only own --graphs 200      on GPUs, see exactness_cuda.py

Models    own: the zoo's tasks and random graphs (tests/support/random/graphs.py), quantized with default settings
          dynamic: models of dynamic shapes, quantized once and run with several sizes ("task-dynamic", see
          dynamic_sizes.py)
          imported: the tasks as onnxruntime quantizes them, with the scales that they bring ("task-qdq",
          "task-qoperator", see qdq.py)
          saturated: the tasks with weights of -128 and 127 and codes at both ends ("task-saturated", see saturated.py)
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

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import exactness_cuda
import numpy as np
import ours
from common import (
    QUICK_CALIBRATION,
    ROOT,
    Feed,
    Feeds,
    batch_one_shape,
    finish,
    first_inputs,
    load_zoo,
    machine,
    parser,
    print_table,
    write_json,
)
from dynamic_sizes import dynamic_models
from saturated import far_inputs, saturated

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
COLUMNS = (
    ("model", "{name}"),
    ("values", "{values}"),
    ("differing", "{differing}"),
    ("builds", "{builds}"),
    ("islands", "{islands}"),
    ("LSB", "{lsb}"),
    ("layers compared", "{compared}"),
    ("at layer", "{worst}"),
)


@dataclass(frozen=True, eq=False)
class Case:
    """A float model, samples to calibrate it with, and inputs to compare on.

    calibration     None: the model carries its own scales
    apart           False: built for a dynamic number of samples, even where they could run one by one
    saturated       True: weights of the integer module are replaced by extremes
    products        True: everything but convolutions and products stays float
    """

    name: str
    model: Any
    shape: Mapping[str, Sequence[int]]
    calibration: Iterable[Feed] | None
    inputs: list[Feed]
    apart: bool = True
    saturated: bool = False
    products: bool = False


def cases(options: Any) -> Iterator[Case]:
    """What we quantize, then what has dynamic sizes, then the tasks that onnxruntime quantized."""
    sys.path.insert(0, str(ROOT))
    samples = 2 if options.quick else options.samples
    only = options.only.split(",")
    if "own" in only:
        yield from own_cases(options, samples)
    for task in load_zoo(options.zoo, options.tasks).values() if "saturated" in only else ():
        feeds, inputs = Feeds(task, QUICK_CALIBRATION), far_inputs(first_inputs(task, samples))
        name = f"{task.name}-saturated"
        yield Case(name, task.model_path, batch_one_shape(task), feeds, inputs, saturated=True)
    for task in load_zoo(options.zoo, options.tasks).values() if "products" in only else ():
        feeds, inputs = Feeds(task, QUICK_CALIBRATION), first_inputs(task, samples)
        yield Case(f"{task.name}-products", task.model_path, batch_one_shape(task), feeds, inputs, products=True)
    for parts in dynamic_models(options) if "dynamic" in only else ():
        name, model, calibration, inputs, apart = parts
        yield Case(name, model, {}, calibration, inputs, apart)
    formats = [name for name in options.formats.split(",") if name and "imported" in only]
    with tempfile.TemporaryDirectory() as folder:
        for task in load_zoo(options.zoo, options.tasks).values() if formats else ():
            feeds = Feeds(task, QUICK_CALIBRATION if options.quick else 100)
            yield from imported_cases(task, formats, feeds, samples, Path(folder))


def own_cases(options: Any, samples: int) -> Iterator[Case]:
    """What we quantize: the tasks, then the random graphs."""
    for task in load_zoo(options.zoo, options.tasks).values():
        feeds = Feeds(task, QUICK_CALIBRATION if options.quick else None)
        yield Case(task.name, task.model_path, batch_one_shape(task), feeds, first_inputs(task, samples))
    from tests.support.random.graphs import random_inputs, random_model

    for seed in range(10 if options.quick else options.graphs):
        model = random_model(seed)
        yield Case(f"random_{seed}", model, {}, random_inputs(model, 0, 8), random_inputs(model, 1, samples))


def imported_cases(
    task: Any, formats: Sequence[str], calibration: Iterable[Feed], samples: int, folder: Path
) -> Iterator[Case]:
    """A task as onnxruntime quantizes it, in each format; `calibration` is what onnxruntime reads."""
    import qdq

    for kind in formats:
        model = qdq.quantized(task, kind, calibration, folder)
        yield Case(f"{task.name}-{kind}", model, batch_one_shape(task), None, first_inputs(task, samples))


def runnable_targets() -> dict[str, Any]:
    """Targets of the instruction sets that this CPU has, by name."""
    from tvmq.codegen.target.cpu import CpuTarget, missing_requirements, resolve_target

    found = {name: resolve_target(text) for name, text in TARGETS.items()}

    class Avx512WithKernelsOfAvxVnni(CpuTarget):
        """No CPU has it: the 256-bit dot product of AVX-512, where AVX-VNNI's is missing."""

        isa = found["avxvnni"].isa

    if missing_requirements(found["avxvnni"]):
        vnni = found["vnni"]
        found["avxvnni"] = Avx512WithKernelsOfAvxVnni(vnni.kind, vnni.mcpu, vnni.features, vnni.tvm)
    return {name: target for name, target in found.items() if not missing_requirements(target)}


def write_case(case: Case, folder: Path, targets: Mapping[str, Any]) -> dict[str, Any]:
    """Quantize and build; write inputs, the definition's results and the executables; gives facts."""
    import tvmq

    module, simulated = integer_and_simulated(case)
    islands = tvmq.reference.Reference(module).islands
    stored = {f"in {i} {name}": array for i, feed in enumerate(case.inputs) for name, array in feed.items()}
    for name, target in targets.items():
        if islands or name == next(iter(targets)):  # without islands no result depends on the target
            expected = defined_results(module, target, case.inputs)
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


def integer_and_simulated(case: Case, simulated: bool = True) -> tuple[Any, Any]:
    """The two modules; no simulated one of a model that carries its scales, and where nobody asks for it."""
    import tvmq

    imported = tvmq.from_onnx(case.model, shape=case.shape)
    if case.calibration is None:
        return tvmq.quantize(*imported), None
    model = ours.Model(*imported)
    if case.products:
        with tvmq.qconfig(rules=[tvmq.Rule(lambda layer: layer.macs == 0, None)]):
            return model.integer(case.calibration, guard=None), None
    if case.saturated:
        return saturated(model.integer(case.calibration)), None
    return model.integer(case.calibration), model.simulated(case.calibration) if simulated else None


def defined_results(module: Any, target: Any, inputs: Sequence[Feed]) -> dict[str, np.ndarray]:
    """{"sample output": array} by the NumPy definition; islands compiled for `target`."""
    import tvmq

    reference = tvmq.reference.Reference(module, target=target)
    return {
        f"{index} {number:03d}": np.asarray(result)
        for index, feed in enumerate(inputs)
        for number, result in enumerate(reference.run(feed))
    }


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
            continue  # the simulated tensor stands before a transpose, the codes behind it
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


def differing(a: np.ndarray, b: np.ndarray) -> int:
    """Values whose bits differ; all of them where shape or type does.

    >>> differing(np.float32([0.0, 1.0]), np.float32([-0.0, 1.0]))
    1
    """
    if a.shape != b.shape or a.dtype != b.dtype:
        return max(a.size, b.size)
    bits = np.dtype(f"u{a.dtype.itemsize}")
    return int((np.ascontiguousarray(a).view(bits) != np.ascontiguousarray(b).view(bits)).sum())


def check_folder(folder: Path, builds: Sequence[str] = ("*",)) -> None:
    """In a fresh process: load and run every executable, or those of these builds; print a line of JSON for each."""
    import tvmq

    for path in sorted(folder.glob("*.npz")):
        with np.load(path, allow_pickle=False) as arrays:
            stored = dict(arrays)
        for saved in sorted(file for build in builds for file in folder.glob(f"{path.stem}.{build}.tvmq")):
            build = saved.suffixes[-2].removeprefix(".")
            values, different = compare(tvmq.load(saved), stored, build)
            print(json.dumps({"name": path.stem, "build": build, "values": values, "differing": different}), flush=True)


def compare(executable: Any, stored: Mapping[str, np.ndarray], build: str) -> tuple[int, int]:
    """(values, differing values) over all samples of a case."""
    values = different = 0
    for index in sorted({name.split()[1] for name in stored if name.startswith("in ")}):
        head, wanted = f"in {index} ", f"out {build} {index} "
        feed = {name.removeprefix(head): array for name, array in stored.items() if name.startswith(head)}
        expected = [stored[name] for name in sorted(stored) if name.startswith(wanted)]
        for result, array in zip(executable.run(feed), expected, strict=True):
            values += array.size
            different += differing(np.asarray(result), array)
    return values, different


def check(folder: Path, threads: int) -> list[dict[str, Any]]:
    """What a fresh process of so many threads finds."""
    environment = {**os.environ, "TVM_NUM_THREADS": str(threads)}
    command = [sys.executable, __file__, "--check", str(folder)]
    result = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=environment, check=False)
    if result.returncode:
        print(f"the process of {threads} threads ended with code {result.returncode}", flush=True)
    return [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]


def summary(facts: Sequence[dict[str, Any]], found: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """One line a task, one for all random graphs."""
    rows = []
    for fact in facts:
        mine = [record for record in found if record["name"] == fact["name"]]
        rows.append({
            **fact, "values": sum(r["values"] for r in mine), "differing": sum(r["differing"] for r in mine),
            "builds": len(mine),
        })  # fmt: skip
    return rows


def shown(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows to print: random graphs are one, those of dynamic sizes another."""
    tasks = [row for row in rows if "random_" not in row["name"]]
    for prefix, words in (("random_", "random graphs"), ("dynamic_random_", "random graphs of any batch")):
        graphs = [row for row in rows if row["name"].startswith(prefix)]
        tasks += [_together(graphs, words)] if graphs else []
    return tasks


def _together(graphs: Sequence[dict[str, Any]], words: str) -> dict[str, Any]:
    """One row of many: sums, and the worst layer."""
    sums = {key: sum(row[key] for row in graphs) for key in ("values", "differing", "builds", "islands")}
    counts = [row["compared"].split(" of ") for row in graphs]
    most = max(graphs, key=lambda row: row["lsb"])
    return {
        "name": f"{len(graphs)} {words}", **sums, "lsb": most["lsb"],
        "worst": f"{most['name']} {most['worst']}",
        "compared": " of ".join(str(sum(int(count[i]) for count in counts)) for i in (0, 1)),
    }  # fmt: skip


def missed(rows: Sequence[dict[str, Any]], builds: int) -> list[str]:
    """What breaks the promise."""
    failures = []
    for row in rows:
        if row["differing"]:
            failures.append(f"{row['name']}: {row['differing']} of {row['values']} values differ")
        if row["builds"] != builds:
            failures.append(f"{row['name']}: {row['builds']} of {builds} builds gave a result")
        if row["islands"] and "random_" not in row["name"]:
            failures.append(f"{row['name']}: {row['islands']} float operators without a definition")
    return failures


def measure(options: Any, folder: Path) -> tuple[list[dict[str, Any]], list[str]]:
    """Rows and failures."""
    targets = runnable_targets()
    print(f"instruction sets: {', '.join(targets)}; threads: {', '.join(map(str, THREADS))}", flush=True)
    facts, failures = [], []
    for case in cases(options):
        try:
            facts.append(write_case(case, folder, targets))
        except Exception as error:  # the others are still worth a look
            failures.append(f"{case.name}: {type(error).__name__}: {str(error)[:300]}")
            print(failures[-1], flush=True)
        else:
            print(f"{case.name} written", flush=True)
    rows = summary(facts, [record for threads in THREADS for record in check(folder, threads)])
    return rows, failures + missed(rows, len(targets) * len(THREADS))


def on_gpu(options: Any) -> None:
    """The table of GPUs."""
    archs = options.archs.split(",")
    rows, failures = exactness_cuda.measure(cases(options), archs, differing)
    print_table(*exactness_cuda.table(rows, archs))
    write_json(options.json, {"archs": archs, "models": rows, "failures": failures})
    finish(failures)


def case_parser(description: str) -> argparse.ArgumentParser:
    """Command line with the options that `cases` reads, and --check."""
    commands = parser(description)
    commands.add_argument("--graphs", type=int, default=500, help="random graphs")
    commands.add_argument("--dynamic", type=int, default=60, help="random graphs of any batch")
    commands.add_argument("--only", default="own,dynamic,imported,saturated,products", help="kinds of models, as above")
    commands.add_argument("--samples", type=int, default=4, help="inputs to compare on, of each model")
    commands.add_argument("--formats", default="qdq,qoperator", help="formats of the imported models; empty: none")
    commands.add_argument("--check", type=Path, help="compare what lies in this folder and print JSON")
    return commands


def main() -> None:
    """Command line; see the head of this file."""
    commands = case_parser("Compiled integer modules against the NumPy definition.")
    commands.add_argument("--target", default="cpu", choices=("cpu", "cuda"), help="what the modules are built for")
    commands.add_argument("--archs", default=",".join(exactness_cuda.ARCHS), help="of GPUs, separated by commas")
    options = commands.parse_args()
    if options.check:
        check_folder(options.check)
        return
    print(machine(), flush=True)
    if options.target == "cuda":
        on_gpu(options)
        return
    with tempfile.TemporaryDirectory() as folder:
        rows, failures = measure(options, Path(folder))
    table = shown(rows)
    print_table([title for title, _ in COLUMNS], [[form.format(**row) for _, form in COLUMNS] for row in table])
    write_json(options.json, {"targets": TARGETS, "threads": THREADS, "models": rows, "failures": failures})
    finish(failures)


if __name__ == "__main__":
    main()
