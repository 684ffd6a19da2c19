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

import os
import statistics
import subprocess
import sys
import tempfile
import time
from argparse import Namespace
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from harness import onnxruntime_peer
from harness.command import Command, argument, memory, run_fresh
from harness.networks import ZOO_TASKS, Network, find
from harness.report import columns

LARGE = ("resnet50", "vgg11", "vit_tiny", "mobilenet_v2")
CONTESTANTS = ("ours, cold", "ours, warm", "ort", "nncf")
LIMITS = {("efficientnet_lite0", "ours, cold"): 8.0, ("efficientnet_lite0", "ours, warm"): 5.0}
LIMIT = 20.0  # of the others, cold


def quantize_ours(network: Network) -> Callable[[], Any]:
    """Quantize by `tvmq.quantize` at its defaults."""
    import tvmq

    feeds = list(network.feeds)
    shape = {name: array.shape for name, array in feeds[0].items()}
    mod, params = tvmq.from_onnx(network.path, shape=shape)
    return lambda: tvmq.quantize(mod, params, feeds, guard=network.guard)


def quantize_by_onnxruntime(network: Network) -> Callable[[], Any]:
    """Quantize as onnxruntime_peer.int8_model does, into an empty folder."""

    feeds = list(network.feeds)
    return lambda: onnxruntime_peer.int8_model(network.path, feeds, Path(tempfile.mkdtemp(dir=os.environ["TMPDIR"])))


def quantize_by_nncf(network: Network) -> Callable[[], Any]:
    """Quantize as openvino_peer.int8_model does, into an empty folder."""
    import openvino_peer

    return lambda: openvino_peer.int8_model(network, Path(tempfile.mkdtemp(dir=os.environ["TMPDIR"])))


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


FORMS = {"cpu": ("CPU s", "{:.1f}"), "seconds": ("s", "{:.1f}"), "peak": ("MiB", "{:.0f}")}


def cell_of(contestant: str, figure: str) -> Callable[[dict[str, Any]], str]:
    """Function that writes a figure of a contestant."""
    form = FORMS[figure][1]
    return lambda row: form.format(row[contestant][figure]) if contestant in row else "-"


COLUMNS = (
    *columns("network {name} | samples {samples}"),
    *((f"{name}: {unit}", cell_of(name, key)) for key, (unit, _) in FORMS.items() for name in CONTESTANTS),
)


def quantize_once(options: Namespace) -> dict[str, float]:
    """The figures of this process."""
    makers = {"ort": quantize_by_onnxruntime, "nncf": quantize_by_nncf}
    quantize = makers.get(options.child, quantize_ours)(find(options.tasks, options))
    before, start, used = memory("VmRSS"), time.perf_counter(), time.process_time()
    quantize()
    cpu, seconds = time.process_time() - used, time.perf_counter() - start
    return {"cpu": cpu, "seconds": seconds, "peak": memory("VmHWM") - before}


def measure(name: str, options: Namespace) -> dict[str, dict[str, float]]:
    """{contestant: its figures}, medians of the rounds; a contestant that fails is left out."""
    found: dict[str, list[dict[str, float]]] = {}
    for _ in range(1 if options.quick else options.rounds):
        with tempfile.TemporaryDirectory() as folder:
            settings = {"TVMQ_CACHE": f"{folder}/cache", "TMPDIR": folder}
            for contestant in CONTESTANTS[:2] if options.no_peers else CONTESTANTS:
                arguments = [*sys.argv[1:], "--tasks", name, "--child", contestant]
                try:
                    found.setdefault(contestant, []).append(run_fresh(__file__, *arguments, environment=settings))
                except subprocess.CalledProcessError as error:
                    print(f"{name}, {contestant}: {error}", flush=True)
    return {
        contestant: {figure: statistics.median(one[figure] for one in runs) for figure in FORMS}
        for contestant, runs in found.items() if runs
    }  # fmt: skip


def measure_all(options: Namespace) -> Iterator[dict[str, Any]]:
    """A row of each network."""
    for name in filter(None, options.tasks.split(",")):
        yield {"name": name, "samples": sum(1 for _ in find(name, options).feeds), **measure(name, options)}


main = Command(
    __doc__, COLUMNS, measure_all, lambda rows, _: [text for row in rows for text in missed(row["name"], row)],
    (*ZOO_TASKS, *LARGE), child=quantize_once, judges_quick=False,
    arguments=[
        argument("--rounds", type=int, default=3, help="fresh processes for each figure"),
        argument("--no-peers", action="store_true", help="ours alone"),
    ],
)  # fmt: skip

if __name__ == "__main__":
    main()
