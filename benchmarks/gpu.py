"""Latency on an NVIDIA GPU: tvmq in int8 against TVM in float and torch, eager and compiled, float32 and float16.

    python benchmarks/gpu.py --zoo ../shared/zoo [--models a,b] [--batches 1,64] [--arch sm_90] [--cache DIR]

Models    of the zoo's make_latency_models.py (needs torch); a model is quantized once, for any batch, and built for
          each. Built models lie in the cache: prepared on one machine, they are measured on another.
Columns   milliseconds from inputs on the GPU to results on the GPU, median of the runs of all rounds, the variants
          taking turns; "tvm f32" is TVM's own pipeline; torch int8 is torchao's, of dynamic activations, where that
          is installed; "-" where a variant does not exist, with the reason below the table
Bounds    tvmq int8 faster than tvm f32 and torch f32 on every model. Exit code 1 where one is missed,
          or one of these did not run.
Without a GPU it says so in one sentence, builds the models, has nvcc compile their sources where it is there, and
exits with 0.
"""

from __future__ import annotations

import time
import warnings
from argparse import Namespace
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from harness import gpu_variants
from harness.command import Command, argument
from harness.report import columns
from harness.zoo import zoo_module

MODELS = ("resnet18", "resnet50", "mobilenet_v2", "vit_tiny", "minilm_seq128")
NO_GPU = "this machine has no NVIDIA GPU that TVM can use: models are built{compiled}, nothing is measured"
SECONDS, FEWEST, MOST = 0.3, 10, 300  # of one variant in one round


def prepared(name: str, options: Any) -> Iterator[tuple[int, Path, dict[str, Any]]]:
    """(batch, saved model, facts) of a model, built where it is not in the cache."""
    paths = {batch: options.cache / f"{name}_{batch}_{options.arch}.tvmq" for batch in options.batches}
    quantized = None
    for batch, path in paths.items():
        start = time.perf_counter()
        if not path.exists():
            quantized = quantized or quantize(name, options)
            start = time.perf_counter()
            gpu_variants.build(quantized, options.arch, batch).save(path)
        yield batch, path, {"model": name, "batch": batch, "build_s": time.perf_counter() - start}


def quantize(name: str, options: Any) -> Any:
    """The integer module of a network, its batch dynamic; calibrated on a few of its own inputs."""
    import torch

    import tvmq

    zoo = zoo_module(options.zoo, "make_latency_models")
    network, arguments, _ = zoo.build(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # exporters announce their successors
        mod, params = tvmq.from_torch(network, tuple(torch.cat([a, a]) for a in arguments), dynamic_batch=True)
    names = [param.name for param in mod["main"].params[: len(arguments)]]
    sizes = [argument.shape[-1] for argument in arguments]
    pictures = [(zoo.image(1, sizes[0], 1 + i),) for i in range(4)] if len(arguments) == 1 else [arguments]
    feeds = [dict(zip(names, (a.numpy() for a in inputs), strict=True)) for inputs in pictures]
    return tvmq.quantize(mod, params, feeds)


def facts_of(path: Path, arch: str) -> dict[str, Any]:
    """Kernels and sizes of a built model."""
    import tvmq
    from tvmq.codegen.target.nvcc import compile_source, find_nvcc

    source = tvmq.load(path).source
    code = len(compile_source(source, arch, "cubin")) if find_nvcc() else 0
    kernels = source.count("__global__ void") // 2  # each is declared, then defined
    return {"kernels": kernels, "source_kb": len(source) / 1000, "code_kb": code / 1000}


def medians(variants: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Milliseconds of each; a run ends when the GPU has done it."""
    times: dict[str, list[float]] = {name: [] for name in variants}
    for run in variants.values():
        for _ in range(5):
            run()
    for _ in range(rounds):
        for name, run in variants.items():
            times[name] += block(run)
    return {name: 1000 * float(np.median(seconds)) for name, seconds in times.items()}


def block(run: Callable[[], object]) -> list[float]:
    """Seconds of single runs for a while."""
    seconds: list[float] = []
    while len(seconds) < FEWEST or (sum(seconds) < SECONDS and len(seconds) < MOST):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return seconds


def measure(name: str, batch: int, path: Path, options: Any) -> dict[str, Any]:
    """Milliseconds of all variants of a model, and why some are missing."""
    zoo = zoo_module(options.zoo, "make_latency_models")
    network, arguments, _ = zoo.build(name)
    inputs = [argument.repeat(batch, *(1 for _ in argument.shape[1:])) for argument in arguments]
    runs, missing = gpu_variants.all_variants(path, network, inputs, options.compile_mode)
    return {**medians(runs, options.rounds), "missing": missing}


def missed(rows: list[dict[str, Any]]) -> list[str]:
    """Sentences for rows where int8 is not the faster one, or has nothing to be compared with."""
    return [
        f"{row['model']} at batch {row['batch']}: {row['tvmq int8']:.3f} ms, {peer} "
        + (f"{row[peer]:.3f} ms" if peer in row else "did not run")
        for row in rows
        for peer in ("tvm f32", "torch f32")
        if peer not in row or not row["tvmq int8"] < row[peer]
    ]


BUILT = columns(
    "model {model} | batch {batch} | kernels {kernels} | source kB {source_kb:.0f} | code kB {code_kb:.0f}",
    "build s {build_s:.1f}",
)
MEASURED = (
    *columns("model {model} | batch {batch}"), *((name, f"{{{name}:.3f}}") for name in gpu_variants.NAMES)
)  # fmt: skip


def gpu_here() -> str | None:
    """The architecture of the GPU of this machine, if there is one."""
    from tvmq.codegen.target.cuda import device_arch

    return device_arch()


def head(_options: Namespace) -> list[str]:
    """A sentence where there is no GPU."""
    from tvmq.codegen.target.nvcc import find_nvcc

    return [] if gpu_here() else [NO_GPU.format(compiled=" and compiled by nvcc" if find_nvcc() else "")]


def measure_all(options: Namespace) -> Iterator[dict[str, Any]]:
    """A row of each model and batch."""
    here, options = gpu_here(), Namespace(**vars(options))
    options.batches = [int(batch) for batch in options.batches.split(",")]
    options.arch = options.arch or here or "sm_90"
    options.cache.mkdir(parents=True, exist_ok=True)
    for name in options.models.split(","):
        for batch, path, facts in prepared(name, options):
            yield {**facts, **(measure(name, batch, path, options) if here else facts_of(path, options.arch))}


def all_missed(rows: list[dict[str, Any]], _options: Namespace) -> list[str]:
    """Say why variants are missing; bounds of what was measured."""
    for row in rows:
        for name, reason in row.get("missing", {}).items():
            print(f"{row['model']} at batch {row['batch']}, {name}: {reason}")
    return missed([row for row in rows if "missing" in row])


main = Command(
    __doc__, lambda _: MEASURED if gpu_here() else BUILT, measure_all, all_missed, (), head=head,
    arguments=[
        argument("--models", default=",".join(MODELS), help="networks, separated by commas"),
        argument("--batches", default="1,64", help="separated by commas"),
        argument("--arch", help="GPU to build for; the one here, else sm_90"),
        argument("--rounds", type=int, default=3, help="of all variants"),
        argument("--compile-mode", default="default", help="of torch.compile"),
    ],
)  # fmt: skip

if __name__ == "__main__":
    main()
