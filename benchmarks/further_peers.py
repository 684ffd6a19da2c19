"""The peers of `latency.py --peers`: their processes beside a model, and their table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from latency_models import Network
from peer_environments import PEERS, chosen
from peer_process import PeerProcess, signal_to_error, start_peers

PEER_COLUMNS = ("model", "peer", "ms", "least", "ours / peer", "dB", "remark")
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
        import peers

        expected = np.asarray(peers.session(network.path, options.threads)(network.feed())[0])
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
        cells = ["-"] * 4
        if "least" in record:
            ratio = figures["peers"][0]["least"] / record["least"]
            cells = [f"{figures[record['peer']]:.3f}", f"{record['least']:.3f}", f"{ratio:.2f}", "-"]
        if "decibels" in record:
            cells[3] = f"{record['decibels']:.1f}" if np.isfinite(record["decibels"]) else "-"
        rows.append([figures["name"], record["peer"], *cells, record["remark"]])
    return rows


def missed_peers(figures: dict[str, Any], slack: float) -> list[str]:
    """A sentence for each peer whose int8 takes less than ours, by more than `slack`; layers alone are a ceiling."""
    return [
        f"{figures['name']}: {record['peer']} takes {figures[record['peer']] / figures[OURS]:.2f} of our int8"
        for record in figures.get("peers", [])[1:]
        if not np.isnan(record.get("decibels", np.nan)) and figures[record["peer"]] * slack < figures[OURS]
    ]
