"""The peers of `latency.py --peers`: their processes beside a model, and their table.

The other side of a process, and the lines between: adapters/serve.py.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from harness import ROOT
from harness.networks import Network
from harness.peer_environments import PEERS, chosen, interpreter
from harness.report import cells_of, columns
from harness.zoo import Feed

SERVE = ROOT / "benchmarks" / "adapters" / "serve.py"
SAMPLES = 100  # of the calibration data, at most


def write_samples(path: Path, feeds: Iterable[Feed]) -> None:
    """Calibration samples as one file; the first is the one to time."""
    arrays = {f"{i}/{name}": array for i, feed in enumerate(islice(feeds, SAMPLES)) for name, array in feed.items()}
    np.savez(path, **arrays)  # type: ignore[arg-type]


class PeerProcess:
    """A peer that has prepared a model, or says why it cannot.

    contestants  {name: its output on the first sample}; none where it is refused
    refused      why, in a few words; empty where it runs
    absent       {a contestant that could not be made: why}
    version      the peer's
    """

    def __init__(
        self, python: Path, adapter: str, model: Path, samples: Path, threads: int, level: str = "",
        environment: Mapping[str, str] | None = None, clock: str = "perf_counter",
    ) -> None:  # fmt: skip
        self.folder = tempfile.TemporaryDirectory(prefix="peer_")
        command = [python, SERVE, adapter, model.resolve(), samples.resolve(), threads, self.folder.name, level, clock]
        self.log = Path(self.folder.name, "log.txt").open("w")
        self.process = subprocess.Popen(
            list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, text=True,
            cwd=self.folder.name, env={**os.environ, **(environment or {})},
        )  # fmt: skip
        first = self._answer()
        self.refused: str = first.get("refused", "")
        self.absent: dict[str, str] = first.get("absent", {})
        self.version: str = first.get("version", "")
        self.contestants = {name: np.load(path) for name, path in first.get("contestants", {}).items()}

    def _answer(self) -> Any:
        """The next line of the peer; where it has ended, that is why it is refused."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if line:
            return json.loads(line)
        return {"refused": f"its process ended with {self.process.wait()}"}

    def seconds(self, name: str, count: int) -> np.ndarray:
        """Seconds of each of `count` runs of a contestant."""
        assert self.process.stdin is not None
        print(count, name, file=self.process.stdin, flush=True)
        answer = self._answer()
        if isinstance(answer, dict):
            raise RuntimeError(f"{name}: {answer['refused']} while it was timed")
        return np.array(answer)

    def close(self) -> None:
        """End the process and remove its files."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()
        self.log.close()
        self.folder.cleanup()


def start_peers(
    names: list[str], environments: Path, model: Path, feeds: Iterable[Feed], threads: int, level: str = "",
    clock: str = "perf_counter",
) -> dict[str, PeerProcess]:  # fmt: skip
    """A process for each peer that has an environment, limited to the level if that is not ""; a sentence on the
    standard error for one that has none."""
    processes = {}
    with tempfile.TemporaryDirectory() as folder:
        samples = Path(folder) / "samples.npz"
        write_samples(samples, feeds)
        for name in names:
            python = interpreter(environments, name).absolute()
            if python.exists():
                peer = PEERS[name]
                variables = peer.variables | peer.limits.get(level, {})
                processes[name] = PeerProcess(python, peer.adapter, model, samples, threads, level, variables, clock)
            else:
                make = f"python benchmarks/peer_environments.py {name} --environments {environments}"
                print(f"peers: {name} has no environment at {python.parents[1]}; make it with {make}", file=sys.stderr)
    return processes


def signal_to_error(reference: np.ndarray, output: np.ndarray) -> float:
    """10 log10(sum f^2 / sum (f - q)^2), dB; NaN where the sizes differ.

    >>> signal_to_error(np.array([3.0, 4.0]), np.array([3.0, 4.5]))
    20.0
    """
    if reference.size != output.size:
        return float("nan")
    f, q = reference.ravel().astype(np.float64), output.ravel().astype(np.float64)
    noise = float(np.sum(np.square(f - q)))
    return float(10 * np.log10(np.sum(np.square(f)) / noise)) if noise else float("inf")


COLUMNS = columns(
    "model {name} | peer {peer} | ms {ms:.3f} | least {least:.3f} | ours / peer {ratio:.2f} | dB {decibels:.1f}",
    "remark {remark}",
)
OURS = "tvmq int8"


@dataclass(frozen=True)
class FurtherPeers:
    """Processes that have prepared one model.

    expected    the first output of the float model on the first sample, by onnxruntime
    refused     {peer that was not started: why}
    """

    processes: dict[str, PeerProcess] = field(default_factory=dict)
    expected: np.ndarray = field(default_factory=lambda: np.zeros(0))
    refused: dict[str, str] = field(default_factory=dict)

    @classmethod
    def start(cls, network: Network, options: Any) -> FurtherPeers:
        """Processes of the chosen peers; they have the processors that this process has now."""
        names = chosen(options.peers)
        if not names:
            return cls()
        from harness import onnxruntime_peer

        expected = np.asarray(onnxruntime_peer.session(network.path, options.threads)(network.feed())[0])
        limited = [name for name in names if not options.level or options.level in PEERS[name].limits]
        processes = start_peers(
            limited, options.environments, network.path, network.feeds, options.threads, options.level, options.clock
        )
        unlimited = {name: f"cannot be limited to {options.level}" for name in names if name not in limited}
        return cls(processes, expected, unlimited)

    def timers(self) -> dict[str, Callable[[int], np.ndarray]]:
        """{contestant: seconds of each of so many runs}."""
        return {
            name: partial(process.seconds, name) for process in self.processes.values() for name in process.contestants
        }

    def figures(self, least: dict[str, float]) -> list[dict[str, Any]]:
        """A record for each contestant and each refusal; `least`: the fewest milliseconds of each contestant."""
        asked = self.processes or self.refused
        records: list[dict[str, Any]] = [{"peer": OURS, "least": least[OURS], "remark": ""}] if asked else []
        for peer, process in self.processes.items():
            if process.refused:
                records.append({"peer": peer, "remark": process.refused})
            for name, output in process.contestants.items():
                decibels = signal_to_error(self.expected, output)
                records.append({"peer": name, "least": least[name], "decibels": decibels, "remark": process.version})
            records += [{"peer": name, "remark": why} for name, why in process.absent.items()]
        return records + [{"peer": peer, "remark": why} for peer, why in self.refused.items()]

    def close(self) -> None:
        """End the processes."""
        for process in self.processes.values():
            process.close()


def peer_rows(figures: dict[str, Any]) -> list[list[str]]:
    """The rows of one model: our int8, then the peers. ours / peer compares the least times."""
    rows = []
    for record in figures["peers"]:
        facts = {"name": figures["name"], "ms": figures.get(record["peer"]), **record}
        if "least" in record:
            facts["ratio"] = figures["peers"][0]["least"] / record["least"]
        if not np.isfinite(record.get("decibels", np.nan)):
            facts["decibels"] = None
        rows.append(cells_of(COLUMNS, facts))
    return rows


def missed_peers(figures: dict[str, Any], slack: float) -> list[str]:
    """A sentence for each peer whose int8 takes less than ours, by more than `slack`; layers alone are a ceiling."""
    return [
        f"{figures['name']}: {record['peer']} takes {figures[record['peer']] / figures[OURS]:.2f} of our int8"
        for record in figures.get("peers", [])[1:]
        if not np.isnan(record.get("decibels", np.nan)) and figures[record["peer"]] * slack < figures[OURS]
    ]
