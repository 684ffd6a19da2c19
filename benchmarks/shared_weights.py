"""A transformer whose layers share their weights, as ALBERT's do: its file, the seconds and the memory it takes.

    python benchmarks/shared_weights.py [--layers 12] [--hidden 768] [--inner 3072] [--length 64] [--quick]

The network is that of tests/support/models/shared_models.py, with random weights and six random samples, in each of
three spellings: one initializer, a Transpose of it for each use, a copy for each use. Each runs in a fresh process:
import, quantize, build, save; then results are compared with float, and those of the loaded file with those of the
built model.
Bounds    the file is smaller than the float model, whose weights it has once; results equal. Exit code 1 otherwise.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from common import ROOT, finish, machine, print_table

sys.path.insert(0, str(ROOT))

import tvmq  # noqa: E402
from tests.support.models.networks import feeds_of, snr  # noqa: E402
from tests.support.models.shared_models import SPELLINGS, albert  # noqa: E402

COLUMNS = (
    ("spelling", "{spelling}"),
    ("float MB", "{float:.2f}"),
    ("file MB", "{file:.2f}"),
    ("quantize CPU s", "{quantize:.1f}"),
    ("build CPU s", "{build:.1f}"),
    ("peak MiB", "{peak:.0f}"),
    ("SQNR dB", "{snr:.2f}"),
    ("equal", "{equal}"),
)


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """The figures of one spelling, of this very process."""
    heads = max(2, options.hidden // 64)
    sizes = {"layers": options.layers, "hidden": options.hidden, "inner": options.inner, "length": options.length}
    model = albert(**sizes, heads=heads, spelling=options.spelling)
    weights = 4 * (4 * options.hidden**2 + 2 * options.hidden * options.inner)
    feeds = feeds_of(model)
    module, params = tvmq.from_onnx(model)
    stamps = [time.process_time()]
    integer = tvmq.quantize(module, params, feeds, guard=None)
    stamps.append(time.process_time())
    exe = tvmq.build(integer)
    stamps.append(time.process_time())
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "m.tvmq")
        exe.save(path)
        size, loaded = path.stat().st_size, tvmq.load(path)
        lines = Path("/proc/self/status").read_text().splitlines()
        peak = next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024
        floats = tvmq.build(module, params=params)
        pairs = [(floats.run(feed)[0], exe.run(feed)[0], loaded.run(feed)[0]) for feed in feeds]
    return {
        "spelling": options.spelling, "float": weights / 1e6, "file": size / 1e6, "quantize": stamps[1] - stamps[0],
        "build": stamps[2] - stamps[1], "peak": peak, "snr": float(np.mean([snr(a, b) for a, b, _ in pairs])),
        "equal": all(np.array_equal(b, c) for _, b, c in pairs),
    }  # fmt: skip


def main() -> None:
    """Command line; see the head of this file."""
    commands = argparse.ArgumentParser(description="A transformer whose layers share their weights.")
    commands.add_argument("--layers", type=int, default=12)
    commands.add_argument("--hidden", type=int, default=768)
    commands.add_argument("--inner", type=int, default=3072)
    commands.add_argument("--length", type=int, default=64)
    commands.add_argument("--quick", action="store_true", help="a small network")
    commands.add_argument("--spelling", choices=SPELLINGS, help="this one alone, its figures as JSON")
    options = commands.parse_args()
    if options.spelling:
        print(json.dumps(measure(options)))
        return
    if options.quick:
        options.layers, options.hidden, options.inner, options.length = 4, 128, 256, 16
    print(machine(), flush=True)
    figures = []
    for spelling in SPELLINGS:
        sizes = [f"--{name}={getattr(options, name)}" for name in ("layers", "hidden", "inner", "length")]
        command = [sys.executable, __file__, *sizes, f"--spelling={spelling}"]
        result = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        figures.append(json.loads(result.stdout.splitlines()[-1]))
    print_table([title for title, _ in COLUMNS], [[form.format(**f) for _, form in COLUMNS] for f in figures])
    failures = [f"{f['spelling']}: file of {f['file']:.2f} MB" for f in figures if f["file"] >= f["float"]]
    finish(failures + [f"{f['spelling']}: the loaded model differs" for f in figures if not f["equal"]])


if __name__ == "__main__":
    main()
