"""Models as C libraries against the NumPy definition, bit for bit: `exactness.py --target library`.

    python benchmarks/exactness.py --target library --only own --graphs 200 [--tasks a,b] [--quick]

Executed  by a C program (tests/library/guarded.c) that puts each input, output, workspace and pool between unreadable
          pages and fills memory with bytes that nobody may rely on: 1 and 2 threads, twice in one workspace, with
          buffers that end and that begin at such a page. The library's self-test runs there too. One library holds the
          code of all instruction sets that this CPU runs, and of a model of free sizes it runs all sizes of the inputs
Columns   values compared, those that differ; builds: instruction sets x threads; islands: float operators without a
          definition, whose values the reference takes from compiled code; kB of the library
Bounds    0 differing values, no byte written beside a buffer, no islands in the tasks. Exit code 1 where one is missed,
          or a library cannot be made
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from harness.report import columns
from harness.zoo import Feed

from exact.cases import Case, defined_results, integer_and_simulated
from exact.free_sizes import family

THREADS = 2
COLUMNS = columns(
    "model {name} | values {values} | differing {differing} | builds {builds} | islands {islands} | kB {kilobytes:.0f}"
)


def measure(cases: Iterable[Case], targets: Mapping[str, Any]) -> Iterator[dict[str, Any] | str]:
    """Rows, and what failed. targets: of the instruction sets that this CPU has, by name."""
    from tests.support.guarded_library import compile_program

    machines = [target for target in targets.values() if target.arch == "x86"]
    machines = list({machine.name: machine for machine in machines}.values())
    print(f"code for {', '.join(machine.name for machine in machines)}; threads: 1 to {THREADS}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        program = compile_program("guarded", Path(folder, "guarded"))
        for case in cases:
            try:
                row = check(case, machines, program, Path(folder))
            except Exception as error:  # the others are still worth a look
                yield f"{case.name}: {type(error).__name__}: {str(error)[:300]}"
                continue
            if row["changed"]:
                yield f"{case.name}: {row['changed']} bytes written beside buffers"
            yield row


def check(case: Case, machines: Sequence[Any], program: Path, folder: Path) -> dict[str, Any]:
    """Quantize and export one model, run each code of it."""
    import tvmq
    from tests.support.guarded_library import run_guarded

    module, _ = integer_and_simulated(case, simulated=False)
    export = tvmq.export_library(module, folder / "library", name="model", target=machines)
    islands = tvmq.reference.Reference(module).islands
    facts = json.loads(export.facts.read_text())
    samples = [[np.asarray(feed[one["name"]], one["dtype"]) for one in facts["inputs"]] for feed in case.inputs]
    row = {"name": case.name, "islands": len(islands), "values": 0, "differing": 0, "builds": 0, "changed": 0}
    for machine in machines:
        if islands or not row["builds"]:  # without islands no result depends on the target
            expected = _samples_of(defined_results(module, machine, case.inputs))
        for sizes, alike in by_sizes(facts, case.inputs).items():
            given, wanted = ([arrays[number] for number in alike] for arrays in (samples, expected))
            found = run_guarded(
                program, export.library, given, wanted, code=machine.name, threads=THREADS, sizes=sizes
            )
            row["values"] += found.values
            row["differing"] += found.differing
            row["changed"] += found.changed_bytes
        row["builds"] += THREADS
    return {**row, "kilobytes": export.library_bytes / 1000, "wanted": THREADS * len(machines)}


def by_sizes(facts: Mapping[str, Any], inputs: Sequence[Feed]) -> dict[tuple[int, ...], list[int]]:
    """{sizes in the order of the library: numbers of the inputs that have them}; () where all are fixed."""
    groups: dict[tuple[int, ...], list[int]] = {}
    for number, feed in enumerate(inputs):
        sizes = {
            name: size
            for tensor in facts["inputs"]
            for name, size in zip(tensor["shape"], feed[tensor["name"]].shape, strict=True)
        }
        groups.setdefault(tuple(sizes[name] for name in facts["limits"]), []).append(number)
    return groups


def _samples_of(results: Mapping[str, np.ndarray]) -> list[list[np.ndarray]]:
    """Results by "sample output" as a list for each sample."""
    samples: dict[str, list[np.ndarray]] = {}
    for name in sorted(results):
        samples.setdefault(name.split()[0], []).append(results[name])
    return [samples[index] for index in sorted(samples, key=int)]


def shown(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The rows to print: random graphs are one, and each kind of layers of free sizes."""
    single = [row for row in rows if "random_" not in row["name"] and not family(row["name"])]
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        kind = family(row["name"]) or ("random graphs" if "random_" in row["name"] else "")
        if kind:
            groups.setdefault(kind, []).append(row)
    keys = ("values", "differing", "builds", "islands", "kilobytes")
    return single + [
        {**{key: sum(row[key] for row in found) for key in keys}, "name": f"{len(found)} {kind}"}
        for kind, found in groups.items()
    ]
