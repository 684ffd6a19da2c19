"""Costs of dynamic sizes: code for all sizes, code for common sizes in the same file, a build of each size alone.

    python benchmarks/sizes.py [--tasks squeezenet1_1,vit_cifar10] [--batches 1,8] [--rounds 5] [--quick]
    python benchmarks/sizes.py --texts minilm.onnx --batches 1,8 --lengths 64,128

Tasks     of the zoo, their batch dynamic
--texts   an ONNX model of ids and mask, [batch, sequence] both dynamic, instead of the tasks: random words
--quick   the text encoder of tests/support/models/dynamic_models.py, two short rounds
Columns   milliseconds, medians, blocks of the three taking turns: any: tvmq.build(module); common: build(module,
          sizes={name: [sizes]}); fixed: build(module, sizes={name: size}); then any / fixed and common / fixed
Above     the table, seconds (less what kernels in the cache save) and bytes that common sizes add to a build
Bound     common <= 1.10 * fixed + 10 us (what Python adds to a call), and results of all three equal, bit for bit.
          Exit code 1 where that is missed.
"""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np
from harness import set_threads
from harness.command import Command, argument
from harness.model import file_bytes
from harness.report import columns
from harness.timing import median_milliseconds, time_blocks, timer_of
from harness.zoo import QUICK_CALIBRATION, Feed, Feeds, first_inputs, load_zoo

import tvmq

MOST, CALL = 1.10, 0.01  # a ratio; milliseconds
WORDS = 20000

# (name, float model, calibration data, {sizes as text: inputs})
Case = tuple[str, Any, Any, dict[str, Feed]]


def texts_of(names: Sequence[str], words: int, sizes: Sequence[Sequence[int]], lengths: Sequence[int]) -> Any:
    """Calibration data of these lengths, and inputs of each (batch, length); the first name is that of the ids."""
    random = np.random.default_rng(0)

    def text(count: int, length: int) -> Feed:
        ids = random.integers(0, words, (count, length))
        return dict(zip(names, (ids, np.ones_like(ids)), strict=True))

    calibration = [text(1, length) for length in (*lengths, 8)]
    return calibration, {f"{count} x {length}": text(count, length) for count, length in sizes}


def cases(options: Any) -> Iterator[Case]:
    """Cases that are measured."""
    batches, lengths = ([int(n) for n in text.split(",")] for text in (options.batches, options.lengths))
    if options.quick or options.texts:
        name, model, words = "encoder", options.texts, WORDS
        if options.quick:
            from tests.support.models.dynamic_models import WORDS as FEW
            from tests.support.models.dynamic_models import encoder

            model, words, batches, lengths = encoder(), FEW, [1], [8]
        from tvmq.formats.onnx.importer.load import read_model

        names = [given.name for given in read_model(model).graph.input]
        yield name, model, *texts_of(names, words, list(product(batches, lengths)), lengths)
        return
    for task in load_zoo(options.zoo, options.tasks).values():
        feeds = first_inputs(task, max(batches))
        inputs = {
            str(count): {name: np.concatenate([feed[name] for feed in feeds[:count]]) for name in feeds[0]}
            for count in batches
        }
        yield task.name, task.model_path, Feeds(task, QUICK_CALIBRATION), inputs


def sizes_of(exe: Any, feed: Feed) -> dict[str, int]:
    """{dynamic dimension: its size} in these inputs."""
    pairs = (
        (name, size) for info in exe.input_info for name, size in zip(info.shape, feed[info.name].shape, strict=True)
    )
    return {name: size for name, size in pairs if isinstance(name, str)}


def rows(case: Case, rounds: int) -> Iterator[dict[str, Any]]:
    """Rows, one for each size."""
    import tvmq

    name, model, calibration, inputs = case
    module = tvmq.quantize(*tvmq.from_onnx(model), calibration)
    anything, plain = built(module, None)
    every = [sizes_of(anything, feed) for feed in inputs.values()]
    common = {key: sorted({sizes[key] for sizes in every}) for key in every[0]}
    together, added = built(module, common)
    print(f"{name}: {common} adds {added[0] - plain[0]:.1f} s and {added[1] - plain[1]:,} bytes to {plain[1]:,}")
    for (text, feed), sizes in zip(inputs.items(), every, strict=True):
        executables = {"any": anything, "common": together, "fixed": tvmq.build(module, sizes=sizes)}
        runs = {key: exe.prepare_run(feed) for key, exe in executables.items()}
        found = [exe.run(feed) for exe in executables.values()]
        equal = all(a.tobytes() == b.tobytes() == c.tobytes() for a, b, c in zip(*found, strict=True))
        times = median_milliseconds(time_blocks({key: timer_of(run) for key, run in runs.items()}, rounds))
        ratios = {"any_ratio": times["any"] / times["fixed"], "ratio": times["common"] / times["fixed"]}
        yield {"name": name, "sizes": text, **times, **ratios, "equal": equal}


def missed(found: Sequence[dict[str, Any]], _options: Any = None) -> list[str]:
    """Bounds that do not hold."""
    slow = [
        f"{row['name']} {row['sizes']}: common / fixed {row['ratio']:.2f}"
        for row in found
        if row["common"] > MOST * row["fixed"] + CALL
    ]
    return slow + [f"{row['name']} {row['sizes']}: results differ" for row in found if not row["equal"]]


COLUMNS = columns(
    "model {name} | sizes {sizes} | any {any:.3f} | common {common:.3f} | fixed {fixed:.3f}",
    "any / fixed {any_ratio:.2f} | common / fixed {ratio:.2f}",
)


def built(module: Any, sizes: Any) -> tuple[Any, tuple[float, int]]:
    """An executable, and what it cost: seconds, bytes of its file."""
    start = time.perf_counter()
    exe = tvmq.build(module, sizes=sizes)
    return exe, (time.perf_counter() - start, file_bytes(exe))


def measure(options: Namespace) -> Iterator[dict[str, Any]]:
    """A row of each case and size."""
    return (row for case in cases(options) for row in rows(case, 2 if options.quick else options.rounds))


main = Command(
    __doc__, COLUMNS, measure, missed, ("squeezenet1_1", "resnet8_cifar10", "vit_cifar10"),
    arguments=[
        argument("--texts", help="an ONNX model of ids and mask [batch, sequence], instead of the tasks"),
        argument("--batches", default="1,8", help="numbers of samples, separated by commas"),
        argument("--lengths", default="64,128", help="words, separated by commas"),
        argument("--rounds", type=int, default=5),
        argument("--threads", type=int, default=1),
    ],
    head=lambda options: set_threads(options.threads) or (),
)  # fmt: skip

if __name__ == "__main__":
    main()
