"""Time and memory that it takes to quantize, beside onnxruntime's and NNCF's static int8.

    python benchmarks/quantizing.py --zoo ../shared/zoo [--tasks a,b] [--rounds 3] [--no-peers] [--quick] [--json f]

Each figure is of a fresh process, by turns; the median of the rounds. The model is read and the data are in memory
before the clock starts; the integer model is ready when it stops (onnxruntime and NNCF: written, or in memory).
Rows      ours, cold: with an empty cache folder, as on a new machine; ours, warm: once more;
          ort: quant_pre_process and quantize_static (QDQ, per channel, MinMax); nncf: nncf.quantize, default preset
Columns   CPU seconds of all threads, seconds, peak MiB (VmHWM) above what the process held before
Networks  tasks of the zoo with their calibration data, and large ones with random weights (torch makes them)
Bounds    LIMITS: CPU seconds of ours. Exit code 1 where one is missed.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from common import finish, machine, parser, print_table, write_json
from latency_models import ZOO_TASKS, Network, find
from memory import memory

LARGE = ("resnet50", "vgg11", "vit_tiny", "mobilenet_v2")
CONTESTANTS = ("ours, cold", "ours, warm", "ort", "nncf")
COLUMNS = ("network", "samples", *(f"{name}: CPU s" for name in CONTESTANTS), *(f"{n}: s" for n in CONTESTANTS),
           *(f"{name}: MiB" for name in CONTESTANTS))  # fmt: skip
LIMITS = {("efficientnet_lite0", "ours, cold"): 8.0, ("efficientnet_lite0", "ours, warm"): 5.0}
LIMIT = 20.0  # of the others, cold


def quantize_ours(network: Network) -> Callable[[], Any]:
    """`tvmq.quantize` as it is asked for by default."""
    import tvmq

    feeds = list(network.feeds)
    shape = {name: array.shape for name, array in feeds[0].items()}
    mod, params = tvmq.from_onnx(network.path, shape=shape)
    return lambda: tvmq.quantize(mod, params, feeds, guard=network.guard)


def quantize_by_onnxruntime(network: Network) -> Callable[[], Any]:
    """As peers.int8_model, into an empty folder."""
    import peers

    feeds = list(network.feeds)
    return lambda: peers.int8_model(network.path, feeds, Path(tempfile.mkdtemp(dir=os.environ["TMPDIR"])))


def quantize_by_nncf(network: Network) -> Callable[[], Any]:
    """As openvino_peer.int8_model, into an empty folder."""
    import openvino_peer

    return lambda: openvino_peer.int8_model(network, Path(tempfile.mkdtemp(dir=os.environ["TMPDIR"])))


def child(name: str, contestant: str, options: Any) -> dict[str, float]:
    """The figures of this process."""
    makers = {"ort": quantize_by_onnxruntime, "nncf": quantize_by_nncf}
    quantize = makers.get(contestant, quantize_ours)(find(name, options))
    before, start, used = memory("VmRSS"), time.perf_counter(), time.process_time()
    quantize()
    return {
        "cpu": time.process_time() - used, "seconds": time.perf_counter() - start, "peak": memory("VmHWM") - before,
    }  # fmt: skip


def measure(name: str, options: Any, contestants: tuple[str, ...]) -> dict[str, dict[str, float]]:
    """{contestant: its figures}, medians of the rounds; a contestant that fails is left out."""
    found: dict[str, list[dict[str, float]]] = {}
    for _ in range(options.rounds):
        with tempfile.TemporaryDirectory() as folder:
            settings = {**os.environ, "TVMQ_CACHE": f"{folder}/cache", "TMPDIR": folder}
            for contestant in contestants:
                command = [sys.executable, __file__, *sys.argv[1:], "--tasks", name, "--child", contestant]
                done = subprocess.run(command, capture_output=True, text=True, env=settings, check=False)
                if done.returncode == 0:
                    found.setdefault(contestant, []).append(json.loads(done.stdout.splitlines()[-1]))
                else:
                    print(f"{name}, {contestant}: {(done.stderr.strip() or 'failed').splitlines()[-1]}", flush=True)
    figures = ("cpu", "seconds", "peak")
    return {
        contestant: {figure: statistics.median(one[figure] for one in runs) for figure in figures}
        for contestant, runs in found.items()
    }


def cells(name: str, samples: int, found: dict[str, dict[str, float]]) -> list[str]:
    """A line of the table."""
    forms = {"cpu": "{:.1f}", "seconds": "{:.1f}", "peak": "{:.0f}"}
    numbers = [
        form.format(found[contestant][figure]) if contestant in found else "-"
        for figure, form in forms.items()
        for contestant in CONTESTANTS
    ]
    return [name, str(samples), *numbers]


def missed(name: str, found: dict[str, dict[str, float]]) -> list[str]:
    """Bounds that a network misses, with the numbers."""
    texts = []
    for contestant in ("ours, cold", "ours, warm"):
        limit = LIMITS.get((name, contestant), LIMIT)
        if contestant not in found:
            texts.append(f"{name}, {contestant}: nothing was measured")
        elif found[contestant]["cpu"] > limit:
            texts.append(f"{name}, {contestant}: {found[contestant]['cpu']:.1f} CPU seconds, {limit:g} allowed")
    return texts


def main() -> None:
    """Command line; see the head of this file."""
    commands = parser(__doc__ or "", tasks=(*ZOO_TASKS, *LARGE))
    commands.add_argument("--rounds", type=int, default=3, help="fresh processes for each figure")
    commands.add_argument("--no-peers", action="store_true", help="ours alone")
    commands.add_argument("--child", help="measure this contestant in this process and print JSON")
    options = commands.parse_args()
    if options.child:
        print(json.dumps(child(options.tasks, options.child, options)))
        return
    if options.quick:
        options.rounds = 1
    print(machine(), flush=True)
    contestants = CONTESTANTS[:2] if options.no_peers else CONTESTANTS
    rows, figures, failures = [], {}, []
    for name in filter(None, options.tasks.split(",")):
        figures[name] = measure(name, options, contestants)
        samples = sum(1 for _ in find(name, options).feeds)
        rows.append(cells(name, samples, figures[name]))
        print("  ".join(rows[-1]), flush=True)
        failures += missed(name, figures[name])
    print_table(COLUMNS, rows)
    write_json(options.json, {"networks": figures, "failures": failures})
    finish([] if options.quick else failures)


if __name__ == "__main__":
    main()
