"""main.py FOLDER OUT: four workers of a service answer requests; their scores, and the memory that they take.

FOLDER is that of make_library.py. Into OUT go scores.f32, of the library, and report.txt: what the workers take in
memory, beside the same service with onnxruntime where that is installed.
"""

import http.client
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

WORKERS, PICTURE_BYTES, SECONDS = 4, 16 * 16 * 4, 90


@contextmanager
def start_service(engine: str, model: Path) -> Iterator[int]:
    """The port of a service with WORKERS processes."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "uvicorn", "app:app", "--app-dir", str(Path(__file__).parent)]
    options = ["--workers", str(WORKERS), "--port", str(port), "--log-level", "warning"]
    environment = {**os.environ, "ENGINE": engine, "MODEL": str(model)}
    service = subprocess.Popen([*command, *options], env=environment)
    try:
        yield port
    finally:
        service.terminate()
        service.wait()


def ask(port: int, picture: bytes) -> tuple[bytes, int]:
    """Scores of a picture, and the process that computed them."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=SECONDS)
    connection.request("POST", "/scores", picture)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    if answer.status != 200:
        raise SystemExit(f"the service answered {answer.status}: {body.decode()}")
    return body, int(answer.headers["worker"])


def wait_for(port: int, picture: bytes) -> None:
    """Return when the service answers."""
    end = time.monotonic() + SECONDS
    while True:
        try:
            ask(port, picture)
            return
        except ConnectionError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)


def ask_all_workers(port: int, pictures: list[bytes]) -> tuple[list[bytes], set[int]]:
    """Scores of all pictures, which never change, and the workers: all are asked until each has answered once."""
    scores, workers, end = None, set(), time.monotonic() + SECONDS
    with ThreadPoolExecutor(4 * WORKERS) as clients:
        while len(workers) < WORKERS:
            answers = list(clients.map(lambda picture: ask(port, picture), pictures))
            again = [body for body, _ in answers]
            if scores not in (None, again):
                raise SystemExit("a picture got other scores than before")
            scores, workers = again, workers | {worker for _, worker in answers}
            if time.monotonic() > end:
                raise SystemExit(f"{len(workers)} of {WORKERS} workers answered in {SECONDS} s")
    return scores, workers


def measure_memory(workers: set[int]) -> str:
    """MiB of a worker: Pss counts a page that n processes share as 1/n, Private pages are its own."""
    kib = {"Rss": 0, "Pss": 0, "Private_Clean": 0, "Private_Dirty": 0}
    for worker in workers:
        for line in Path(f"/proc/{worker}/smaps_rollup").read_text().splitlines():
            name, _, rest = line.partition(":")
            if name in kib:
                kib[name] += int(rest.split()[0])
    resident, share, *own = (kib[name] / 1024 / len(workers) for name in kib)
    return f"{resident:.1f} MiB resident, {share:.1f} in its share (Pss), {sum(own):.1f} its own (private)"


def main(folder: Path, out: Path) -> None:
    """Write the scores and the report."""
    data = (folder / "pictures.f32").read_bytes()
    pictures = [data[begin : begin + PICTURE_BYTES] for begin in range(0, len(data), PICTURE_BYTES)]
    engines = {"tvmq": folder, "onnxruntime": folder / "digits_qdq.onnx"}
    lines = []
    for engine, model in engines.items():
        if find_spec(engine) is None:
            lines.append(f"{engine}: not installed")
            continue
        with start_service(engine, model) as port:
            wait_for(port, pictures[0])
            scores, workers = ask_all_workers(port, pictures)
            lines.append(f"{engine}, a worker of {WORKERS}: {measure_memory(workers)}")
        if engine == "tvmq":
            (out / "scores.f32").write_bytes(b"".join(scores))
    (out / "report.txt").write_text("\n".join([*lines, ""]))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
