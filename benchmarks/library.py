"""Models as C libraries: size, symbols, load time, memory and latency, beside onnxruntime and LiteRT.

    python benchmarks/library.py [--tasks resnet8_cifar10] [--threads 1,2] [--zoo DIR] [--cache DIR] [--saved DIR]
                                 [--rounds 5] [--starts 5] [--python FILE] [--quick]

Contestants  the library called from C (callers/library.c, threads of its own pool; without a C compiler: by ctypes, one
          thread), the library by `tvmq.load` in Python, the .tvmq file by `tvmq.load`; onnxruntime's int8 (QDQ, per
          channel) from C (callers/onnxruntime.c, the libonnxruntime.so of its wheel) and from Python; LiteRT with its
          usual kernels on the network that tvmq quantized for TFLite, where TFLite can hold it: codes in and out
Each has fresh processes that load the model, run it once and then take turns. Of `--starts` processes the least of
each figure is printed; latencies are medians, of one process for each number of threads, bound to as many CPUs.
Columns   megabytes of the model and of what has to be there beside it (shared libraries and Python packages; Python and
          the C library not counted); milliseconds of loading behind the opening or import of the runtime, and of the
          first run; MiB resident after it, and of these the engine's: what opening or importing the runtime added;
          milliseconds of a run; values that differ from the NumPy definition
A/A       the library from C runs as two processes: how far their medians are apart
--saved   folder of files NAME.tvmq; without it, or without the file, the model is quantized and built first
--python  interpreter of the processes in Python: where torch is installed, tvm_ffi imports it, which the memory shows
Bounds    the library's latency at most 2 % above that of the .tvmq file, more by A/A; for resnet8_cifar10 and
          dscnn_digits below it (from C); it loads in less than 1 ms; it needs less memory than onnxruntime without its
          engine; no value differs. Exit code 1 where one is missed.
"""

from __future__ import annotations

import sys
import tempfile
from argparse import Namespace
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import shorten
from typing import Any

from harness.caller_process import CallerError, CallerProcess, find_compiler
from harness.command import Command, argument
from harness.library_contestants import (
    C_LIBRARY,
    C_PEER,
    CTYPES,
    FILE,
    PYTHON_LIBRARY,
    PYTHON_PEER,
    Compared,
    count_differing,
    prepare_contestants,
)  # fmt: skip
from harness.networks import ZOO_TASKS, find
from harness.report import Columns, columns
from harness.timing import median_milliseconds, time_blocks

AGAIN = f"{C_LIBRARY} again"
SLACK, LOAD_MS = 1.02, 1.0
REMARK = 110  # characters
SMALL = ("resnet8_cifar10", "dscnn_digits")  # a call from Python is seen in their latency
OURS = (C_LIBRARY, CTYPES, PYTHON_LIBRARY, FILE)
Key = tuple[str, int]  # contestant and threads


def table_columns(options: Namespace) -> Columns:
    """The columns, one for each number of threads."""
    return columns(
        "model {task} | contestant {contestant} | MB {file:.3f} | beside it MB {beside:.1f} | load ms {load_ms:.3f}",
        "first run ms {first_ms:.3f} | resident MiB {resident:.1f} | engine MiB {engine:.1f}",
        *(f"ms, {count} thread{'s'[: count > 1]} {{ms_{count}:.4f}}" for count in thread_counts(options)),
        "A/A {spread:.1%} | differing {differing}",
    )


def thread_counts(options: Namespace) -> list[int]:
    """Numbers of `--threads`."""
    return [int(text) for text in options.threads.split(",")]


@dataclass
class Processes:
    """Processes of one network, started several times: of each contestant and number of threads.

    starts   the figures of the first run come from all of them, times from the last ones
    medians  milliseconds of a run
    remarks  why a contestant has no process
    """

    compared: Compared
    remarks: dict[str, str]
    starts: list[dict[Key, CallerProcess]] = field(default_factory=list)
    medians: dict[Key, float] = field(default_factory=dict)

    def start(self, counts: Iterable[int], folder: Path) -> None:
        """Start all processes again, and end those that there are."""
        self.close()
        started: dict[Key, CallerProcess] = {}
        contestants = dict(self.compared.contestants)
        if C_LIBRARY in contestants:
            contestants[AGAIN] = contestants[C_LIBRARY]
        for name, contestant in contestants.items():
            for count in (count for count in counts if count <= contestant.most):
                results = folder / "results"
                try:
                    started[name, count] = CallerProcess(contestant.command(results, count), results, count)
                except CallerError as error:
                    self.remarks[name] = str(error)
        self.starts.append(started)

    def time(self, rounds: int) -> None:
        """Time runs, the processes taking turns."""
        keys = {str(key): key for key in self.starts[-1]}
        times = time_blocks({text: self.starts[-1][key].seconds for text, key in keys.items()}, rounds)
        self.medians = {keys[text]: value for text, value in median_milliseconds(times).items()}

    def close(self) -> None:
        """End the processes that run."""
        for process in self.starts[-1].values() if self.starts else ():
            process.close()

    def least_figures(self, key: Key) -> dict[str, float]:
        """The least of each figure over the processes of one kind."""
        figures = [started[key].figures for started in self.starts if key in started]
        figures = [{**one, "engine": one["engine"] - one["started"]} for one in figures]
        return {name: min(one[name] for one in figures) for name in figures[0]}

    def count_differing(self, name: str) -> int:
        """Values that differ from the definition's, over all numbers of threads."""
        results = [process.results for key, process in self.starts[-1].items() if key[0] == name]
        return sum(count_differing(one, self.compared.expected) for one in results)

    def rows(self, counts: Sequence[int]) -> Iterator[dict[str, Any]]:
        """A row for each contestant."""
        for name, contestant in self.compared.contestants.items():
            if (name, counts[0]) not in self.starts[-1]:
                continue
            row = {"contestant": name, "file": contestant.file / 1e6, "beside": contestant.beside / 1e6, "remark": ""}
            row |= self.least_figures((name, counts[0]))
            row |= {f"ms_{count}": self.medians.get((name, count)) for count in counts}
            row |= {"differing": self.count_differing(name)} if contestant.exact else {}
            yield row | (self._facts(counts[0]) if name in (C_LIBRARY, CTYPES) else {})
        for name, why in self.remarks.items():
            yield {"contestant": name, "remark": shorten(why.splitlines()[0], REMARK, placeholder=" ...")}

    def _facts(self, count: int) -> dict[str, Any]:
        export = self.compared.export
        facts = {"undefined": export.undefined, "constants": export.constant_bytes, "targets": export.targets}
        if (AGAIN, count) in self.medians:
            apart = self.medians[AGAIN, count] / self.medians[C_LIBRARY, count]
            facts["spread"] = max(apart, 1 / apart) - 1
        return facts


def measure_network(name: str, options: Namespace) -> Iterator[dict[str, Any]]:
    """The rows of one network."""
    counts, network = thread_counts(options), find(name, options)
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        compared = prepare_contestants(network, options, folder)
        processes = Processes(compared, dict(compared.remarks))
        try:
            for _ in range(1 if options.quick else options.starts):
                processes.start(counts, folder)
            processes.time(1 if options.quick else options.rounds)
        finally:
            processes.close()
    return ({"task": name, **row} for row in processes.rows(counts))


def measure(options: Namespace) -> Iterator[dict[str, Any] | str]:
    """The rows of all networks; those that the zoo lacks are left out with a line, what is refused is a failure."""
    from tvmq.errors import TvmqError

    for name in options.tasks.split(","):
        try:
            yield from measure_network(name, options)
        except SystemExit as reason:  # of `find`
            print(f"{name} is left out: {reason}", flush=True)
        except TvmqError as error:
            yield f"{name}: {error}"


def missed(rows: list[dict[str, Any]], options: Namespace) -> list[str]:
    """The bounds that the table misses."""
    failures = [f"{r['task']}: {r['contestant']}: {r['differing']} values differ" for r in rows if r.get("differing")]
    failures += [
        f"{r['task']}: {r['contestant']}: {r['remark']}" for r in rows if r["remark"] and r["contestant"] in OURS
    ]
    networks: dict[str, dict[str, Any]] = {}
    for row in rows:
        networks.setdefault(row["task"], {})[row["contestant"]] = row
    for task, row in networks.items():
        library, file = row.get(C_LIBRARY) or row.get(CTYPES), row.get(FILE)
        peer = row.get(C_PEER) if C_LIBRARY in row else row.get(PYTHON_PEER)
        if library is None or file is None:
            continue
        from_c = C_LIBRARY in row
        allowed = 1.0 if task in SMALL and from_c else SLACK + library.get("spread", 0.0)
        for key in (f"ms_{count}" for count in thread_counts(options)):
            ours, theirs = library.get(key), file.get(key)
            if ours and theirs and not ours <= allowed * theirs:
                failures.append(f"{task}, {key[3:]} threads: {ours:.4f} ms, at most {allowed:.2f} of {theirs:.4f}")
        if from_c and not library["load_ms"] < LOAD_MS:
            failures.append(f"{task}: loads in {library['load_ms']:.3f} ms, less than {LOAD_MS} asked")
        if peer and "resident" in peer and library["resident"] > peer["resident"] - peer["engine"]:
            failures.append(
                f"{task}: resident {library['resident']:.1f} MiB, onnxruntime has {peer['resident']:.1f}, "
                f"{peer['engine']:.1f} of it its engine"
            )
    return failures


def present(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows of contestants that ran."""
    return [row for row in rows if not row["remark"]]


def more_tables(rows: list[dict[str, Any]], _options: Namespace) -> Iterator[tuple[str, list[str], list[list[str]]]]:
    """Bytes and symbols of each library; contestants that did not run, and why."""
    from tvmq.library.assemble import FUNCTIONS

    titles = ["model", "library bytes", "of them constants", "exported functions", "undefined symbols"]
    lines = [
        [r["task"], f"{1e6 * r['file']:,.0f}", f"{r['constants']:,}", str(len(FUNCTIONS)), ", ".join(r["undefined"])]
        for r in rows
        if "undefined" in r
    ]
    yield "symbols", titles, lines
    absent = [[row["task"], row["contestant"], row["remark"]] for row in rows if row["remark"]]
    if absent:
        yield "not measured", ["model", "contestant", "reason"], absent


def head(options: Namespace) -> list[str]:
    """Says how the library is called."""
    return [f"the library is called {'from C, compiled here' if find_compiler() else 'by ctypes: no C compiler'}"]


main = Command(
    __doc__, table_columns, measure, missed, (*ZOO_TASKS, "minilm_l6", "resnet50", "minilm_seq128"), head=head,
    table=present, more=more_tables,
    arguments=[
        argument("--threads", default="1,2", help="numbers of threads, separated by commas"),
        argument("--saved", type=Path, help="folder of files NAME.tvmq"),
        argument("--python", default=sys.executable, help="interpreter of the processes in Python"),
        argument("--rounds", type=int, default=5, help="blocks of each contestant"),
        argument("--starts", type=int, default=5, help="fresh processes of each contestant"),
    ],
)  # fmt: skip

if __name__ == "__main__":
    main()
