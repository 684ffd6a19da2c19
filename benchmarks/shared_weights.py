"""A transformer whose layers share their weights, as ALBERT's do: its file, the seconds and the memory it takes.

    python benchmarks/shared_weights.py [--layers 12] [--hidden 768] [--inner 3072] [--length 64] [--quick]

The network is that of tests/support/models/shared_models.py, with random weights and six random samples, in each of
three spellings: one initializer, a Transpose of it for each use, a copy for each use. Each runs in a fresh process:
import, quantize, build, save; then results are compared with float, and those of the loaded file with those of the
built model.
Bounds    the file is smaller than the float model, whose weights it has once; results equal. Exit code 1 otherwise.
"""

from __future__ import annotations

import tempfile
import time
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from harness.command import Command, argument, memory, run_fresh
from harness.report import columns
from harness.timing import Watch

import tvmq
from tests.support.models.networks import feeds_of, snr
from tests.support.models.shared_models import SPELLINGS, albert

COLUMNS = columns(
    "spelling {spelling} | float MB {float:.2f} | file MB {file:.2f} | quantize CPU s {quantize:.1f}",
    "build CPU s {build:.1f} | peak MiB {peak:.0f} | SQNR dB {snr:.2f} | equal {equal}",
)
SIZES = {"layers": 12, "hidden": 768, "inner": 3072, "length": 64}
QUICK = {"layers": 4, "hidden": 128, "inner": 256, "length": 16}


def measure(options: Namespace) -> dict[str, Any]:
    """The figures of one spelling, of this very process."""
    sizes = {name: getattr(options, name) for name in SIZES}
    model = albert(**sizes, heads=max(2, options.hidden // 64), spelling=options.child)
    weights = 4 * (4 * options.hidden**2 + 2 * options.hidden * options.inner)
    feeds, watch = feeds_of(model), Watch(time.process_time)
    module, params = tvmq.from_onnx(model)
    with watch("quantize"):
        integer = tvmq.quantize(module, params, feeds, guard=None)
    with watch("build"):
        exe = tvmq.build(integer)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "m.tvmq")
        exe.save(path)
        size, loaded, peak = path.stat().st_size, tvmq.load(path), memory("VmHWM")
        floats = tvmq.build(module, params=params)
        pairs = [(floats.run(feed)[0], exe.run(feed)[0], loaded.run(feed)[0]) for feed in feeds]
    return {
        "spelling": options.child, "float": weights / 1e6, "file": size / 1e6, **watch.seconds, "peak": peak,
        "snr": float(np.mean([snr(a, b) for a, b, _ in pairs])),
        "equal": all(np.array_equal(b, c) for _, b, c in pairs),
    }  # fmt: skip


def measure_all(options: Namespace) -> Iterator[dict[str, Any]]:
    """A row of each spelling, of a fresh process."""
    sizes = QUICK if options.quick else {name: getattr(options, name) for name in SIZES}
    for spelling in SPELLINGS:
        yield run_fresh(__file__, *(f"--{name}={size}" for name, size in sizes.items()), "--child", spelling)


def missed(rows: list[dict[str, Any]], _options: Namespace) -> list[str]:
    """Bounds that do not hold."""
    failures = [f"{f['spelling']}: file of {f['file']:.2f} MB" for f in rows if f["file"] >= f["float"]]
    return failures + [f"{f['spelling']}: the loaded model differs" for f in rows if not f["equal"]]


main = Command(
    __doc__, COLUMNS, measure_all, missed, tasks=None, child=measure,
    arguments=[argument(f"--{name}", type=int, default=size) for name, size in SIZES.items()],
)  # fmt: skip

if __name__ == "__main__":
    main()
