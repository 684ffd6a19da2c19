"""A server of an int8 model under load: tvmq beside onnxruntime behind the same server, that of `tvmq serve`.

    python benchmarks/serving.py [--tasks resnet8_cifar10] [--seconds 300] [--clients 8] [--workers 4] [--saved DIR]
    [--quick]

Each server (serving_app.py, `--workers` processes, one thread a run) is asked by `--clients` clients at once, each on
one connection, for `--seconds`. Contestants take turns of ten seconds, so that both meet the same machine.
Answers   tvmq's are compared bit for bit with the NumPy definition of the module that the file holds, onnxruntime's
          with what the same session gives in one process alone
Columns   requests, errors, answers that differ, requests in a second, p50 and p99 in milliseconds as clients see them,
          MiB of resident memory of a worker at the end, the largest
Bounds    no error, and no answer that differs. Exit code 1 where one is missed.
"""

from __future__ import annotations

import http.client
import socket
import subprocess
import sys
import tempfile
import threading
import time
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from harness.command import Command, argument
from harness.networks import find, runtime_files
from harness.report import columns
from harness.zoo import Feed
from serving_app import load

from tvmq.integrations.serving.array_bodies import pack, unpack

SAMPLES, TURN, START_SECONDS = 16, 10.0, 60.0


@dataclass
class Server:
    """A server process, its requests, and the answers that clients have seen."""

    path: Path
    questions: list[bytes]
    answers: list[list[np.ndarray]]
    workers: int = 1
    port: int = 0
    process: Any = None
    seconds: list[float] = field(default_factory=list)
    errors: int = 0
    differing: int = 0
    busy: float = 0.0

    def __enter__(self) -> Server:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        command = [sys.executable, str(Path(__file__).with_name("serving_app.py")), str(self.path)]
        self.process = subprocess.Popen([*command, "--port", str(self.port), "--workers", str(self.workers)])
        end = time.monotonic() + START_SECONDS
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return self
            except OSError:
                if time.monotonic() > end or self.process.poll() is not None:
                    raise SystemExit(f"serving: the server of {self.path} does not answer") from None
                time.sleep(0.05)

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait()

    def ask(self, clients: int, seconds: float) -> None:
        """Ask the server with so many clients for so long."""
        start = time.monotonic()
        threads = [threading.Thread(target=self._client, args=(n, start + seconds)) for n in range(clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.busy += time.monotonic() - start

    def _client(self, number: int, end: float) -> None:
        connection, order = http.client.HTTPConnection("127.0.0.1", self.port), np.random.default_rng(number)
        while time.monotonic() < end:
            picked = int(order.integers(len(self.questions)))
            start = time.perf_counter()
            try:
                connection.request("POST", "/run", self.questions[picked])
                response = connection.getresponse()
                body = response.read()
            except OSError:
                self.errors += 1
                connection.close()
                continue
            self.seconds.append(time.perf_counter() - start)
            if response.status != 200:
                self.errors += 1
            elif not same(list(unpack(body).values()), self.answers[picked]):
                self.differing += 1
        connection.close()

    def _workers_memory(self) -> list[float]:
        """MiB of resident memory of each worker, as the server's metrics have it."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        connection.request("GET", "/metrics")
        lines = connection.getresponse().read().decode().splitlines()
        connection.close()
        return [float(line.split()[1]) / 2**20 for line in lines if line.startswith("tvmq_resident_bytes{")] or [0.0]

    def figures(self) -> dict[str, Any]:
        """The row of the table."""
        resident = max(self._workers_memory())
        p50, p99 = 1e3 * np.percentile(self.seconds or [np.nan], [50, 99])
        return {
            "requests": len(self.seconds), "errors": self.errors, "differing": self.differing,
            "rate": len(self.seconds) / self.busy, "p50": float(p50), "p99": float(p99), "resident": resident,
        }  # fmt: skip


def same(found: list[np.ndarray], wanted: list[np.ndarray]) -> bool:
    """True for the same arrays, bit for bit."""
    return len(found) == len(wanted) and all(
        a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
        for a, b in zip(found, wanted, strict=True)
    )


def definition(path: Path, feeds: list[Feed]) -> list[list[np.ndarray]]:
    """Expected answer of a saved model: of a .tvmq by NumPy, of another by its runtime alone."""
    if path.suffix != ".tvmq":
        model = load(path)
        return [list(model.run(feed)) for feed in feeds]
    import tvmq

    exe = tvmq.load(path)
    reference = tvmq.reference.Reference(exe.module, target=exe.target)
    return [[np.asarray(array) for array in reference.run(feed)] for feed in feeds]


def missed(figures: list[dict[str, Any]], _options: Any = None) -> list[str]:
    """The bounds that the table misses."""
    return [
        f"{f['task']} {f['runtime']}: {f['errors']} errors, {f['differing']} answers differ of {f['requests']}"
        for f in figures
        if f["errors"] or f["differing"] or not f["requests"]
    ]


COLUMNS = columns(
    "model, runtime {task} {runtime} | requests {requests} | errors {errors} | differing {differing}",
    "requests/s {rate:.0f} | p50 ms {p50:.2f} | p99 ms {p99:.2f} | resident MiB {resident:.1f}",
)


def measure(options: Namespace) -> Iterator[dict[str, Any]]:
    """The figures of both servers of each model."""
    total = min(options.seconds, 2.0) if options.quick else options.seconds
    for name in options.tasks.split(","):
        network = find(name, options)
        feeds = list(islice(network.feeds, SAMPLES))
        questions = [pack(feed) for feed in feeds]
        with tempfile.TemporaryDirectory() as folder:
            models = runtime_files(network, options, Path(folder))
            answers = {key: definition(models[key], feeds) for key in ("tvmq", "ort")}
            made = {key: Server(models[key], questions, answers[key], options.workers) for key in answers}
            turns = max(1, round(total / TURN))
            with made["tvmq"], made["ort"]:
                for _ in range(turns):
                    for server in made.values():
                        server.ask(options.clients, total / turns)
                yield from ({"task": name, "runtime": key, **server.figures()} for key, server in made.items())


main = Command(
    __doc__, COLUMNS, measure, missed, ("resnet8_cifar10",),
    arguments=[
        argument("--saved", type=Path, help="folder of files NAME.tvmq to serve"),
        argument("--seconds", type=float, default=300.0, help="for each server"),
        argument("--clients", type=int, default=8),
        argument("--workers", type=int, default=1),
    ],
)  # fmt: skip

if __name__ == "__main__":
    main()
