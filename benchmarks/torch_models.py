"""Torch models through torch.export: imported, compared with eager torch, quantized, and run exactly.

    python benchmarks/torch_models.py --zoo ../shared/zoo [--models resnet18,unet256] [--quick]

Models    those of the zoo's make_latency_models.py: known architectures with seeded random weights, which say
          nothing about accuracy; calibration and inputs are random pictures or tokens of the same kind
Columns   import: torch.export, decomposition and conversion (s); quantize, build (s); difference: largest
          difference of the float module to torch, as a share of torch's largest value; int8: share of the
          multiply-accumulates in 8-bit integers; SQNR of the integer module to torch (dB) over the samples;
          differing: values of the compiled integer module that differ from the NumPy definition; islands: float
          operators without a definition, whose values the definition takes from compiled code
Bounds    difference at most 1e-4 (both sum in float32, in different orders); 0 differing values. Exit code 1
          where one is missed, or a model fails.
"""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Iterator
from typing import Any

import numpy as np
from harness.command import Command, argument
from harness.report import columns
from harness.zoo import Feed, Scored, sqnr, zoo_module

import tvmq

LARGEST_DIFFERENCE = 1e-4
SAMPLES, CALIBRATION = 4, 16


def samples(zoo: Any, name: str, example: tuple[Any, ...], count: int, seed: int) -> Iterator[tuple[Any, ...]]:
    """Random inputs like the example: smooth pictures, or tokens of which the last few are masked."""
    import torch

    generator = torch.Generator().manual_seed(seed)
    for index in range(count):
        if example[0].is_floating_point():
            yield (zoo.image(1, example[0].shape[-1], 1000 * seed + index),)
            continue
        length = example[0].shape[1]
        mask = torch.ones(1, length, dtype=torch.int64)
        mask[:, length - index % (length // 2) :] = 0 if index % (length // 2) else 1
        yield torch.randint(1000, 30000, (1, length), generator=generator), mask


def feeds(names: list[str], inputs: list[tuple[Any, ...]]) -> list[Feed]:
    """Inputs by name."""
    return [dict(zip(names, (value.numpy() for value in values), strict=True)) for values in inputs]


def scored(outputs: list[np.ndarray]) -> Scored:
    """Outputs in the form that SQNR is computed from."""
    return Scored(0.0, np.zeros(0), [np.concatenate(outputs)])


def measure(zoo: Any, name: str, quick: bool) -> dict[str, Any]:
    """Measure one row of the table."""
    import torch

    model, example, _ = zoo.build(name)
    start = time.perf_counter()
    mod, params = tvmq.from_torch(model, example)
    row: dict[str, Any] = {"name": name, "import_seconds": time.perf_counter() - start}
    exe = tvmq.build(mod, params=params)
    names = [info.name for info in exe.input_info]
    inputs = list(samples(zoo, name, example, 2 if quick else SAMPLES, 1))
    with torch.no_grad():
        wanted = [model(*values).numpy() for values in inputs]
    floats = [exe.run(feed)[0] for feed in feeds(names, inputs)]
    highest = max(np.abs(value).max() for value in wanted)
    row["difference"] = max(np.abs(a - b).max() for a, b in zip(floats, wanted, strict=True)) / highest
    data = feeds(names, list(samples(zoo, name, example, 4 if quick else CALIBRATION, 2)))
    return row | integers(mod, params, data, feeds(names, inputs), wanted)


def integers(mod: Any, params: Any, data: list[Feed], inputs: list[Feed], wanted: list[np.ndarray]) -> dict[str, Any]:
    """Figures of the row about the integer module."""
    start = time.perf_counter()
    qmod = tvmq.quantize(mod, params, data)
    middle = time.perf_counter()
    exe = tvmq.build(qmod)
    end = time.perf_counter()
    results = [exe.run(feed)[0] for feed in inputs]
    checked = tvmq.verify(exe, inputs)
    return {
        "quantize_seconds": middle - start,
        "build_seconds": end - middle,
        "share": tvmq.explain(qmod).int8_share(),
        "sqnr": sqnr(scored(wanted), scored(results)),
        "values": checked.values,
        "differing": checked.differing,
        "islands": len(checked.islands),
    }


def missed(row: dict[str, Any]) -> list[str]:
    """Sentences for results that break the promise."""
    failures = []
    if not row["difference"] <= LARGEST_DIFFERENCE:
        failures.append(f"{row['name']}: the float module differs from torch by {row['difference']:.1e}")
    if row["differing"]:
        failures.append(f"{row['name']}: {row['differing']} of {row['values']} values differ from the definition")
    return failures


COLUMNS = columns(
    "model {name} | import s {import_seconds:.1f} | difference {difference:.1e} | quantize s {quantize_seconds:.1f}",
    "build s {build_seconds:.1f} | int8 {share:.1%} | SQNR dB {sqnr:.1f} | values {values} | differing {differing}",
    "islands {islands}",
)


def measure_all(options: Namespace) -> Iterator[dict[str, Any] | str]:
    """A row of each model, or what failed."""
    zoo = zoo_module(options.zoo, "make_latency_models")
    for name in options.models.split(",") if options.models else zoo.MODELS:
        try:
            yield measure(zoo, name, options.quick)
        except Exception as error:  # the others are still worth a look
            yield f"{name}: {type(error).__name__}: {str(error)[:300]}"


main = Command(
    __doc__, COLUMNS, measure_all, lambda rows, _: [text for row in rows for text in missed(row)],
    arguments=[argument("--models", default="", help="names, separated by commas; all by default")],
)  # fmt: skip

if __name__ == "__main__":
    main()
