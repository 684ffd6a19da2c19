"""Times of a network at random sizes: our code of free and of fixed size, peers with the same dynamic model."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import tvmq
from harness import onnxruntime_peer, openvino_peer
from harness.free_networks import FreeNetwork
from harness.timing import median_milliseconds, time_blocks, timer_of
from harness.zoo import Feed

SIZES, FIXED = 10, 3  # random sizes; how many of them have fixed code of their own beside
Run = Callable[[Feed], Any]


def network_row(network: FreeNetwork, options: Any, target: str) -> dict[str, Any]:
    """The figures of a network: geometric means over the sizes."""
    network = network.calibrated()
    mod, params = tvmq.from_onnx(network.path)
    module = tvmq.quantize(mod, params, network.feeds, guard=None)
    free, floats = tvmq.build(module, target=target), tvmq.build(mod, target=target, params=params)
    runs: dict[str, Run] = {"ours": free.run, "our_float": floats.run}
    runs |= {} if options.level else peer_runs(network, options)
    times, firsts, ratios, differing = [], [], [], 0
    for number, sizes in enumerate(network.sizes(SIZES)):
        feed = network.feed(sizes)
        first = -time.perf_counter()
        free.run(feed)
        first += time.perf_counter()
        here = dict(runs)
        if number < FIXED:
            dynamic = {size for info in free.input_info for size in info.shape if isinstance(size, str)}
            known = {name: size for name, size in {**sizes, network.batch: 1}.items() if name in dynamic}
            fixed = tvmq.build(module, target=target, sizes=known)
            here["fixed"] = fixed.run
            pairs = zip(free.run(feed), fixed.run(feed), strict=True)
            differing += sum(int(np.count_nonzero(a != b)) for a, b in pairs)
        timers = {name: timer_of(lambda run=run: run(feed)) for name, run in here.items()}  # noqa: B023
        found = median_milliseconds(time_blocks(timers, options.rounds))
        times.append(found)
        firsts.append(1e3 * first / found["ours"])
        ratios += [found["ours"] / found["fixed"]] if "fixed" in found else []
    others = {name: mean([one[name] / one["ours"] for one in times]) for name in runs if name != "ours"}
    return {
        "network": network.name, "ours": mean([one["ours"] for one in times]), "free_fixed": mean(ratios),
        "first": mean(firsts), "differing": differing, "times": times, "drawn": network.sizes(SIZES), **others,
    }  # fmt: skip


def peer_runs(network: FreeNetwork, options: Any) -> Mapping[str, Run]:
    """Runs of the peers that are installed, on models whose dimensions stay dynamic."""
    quantized, _ = onnxruntime_peer.int8_model(network.path, network.feeds, options.cache)
    loads: dict[str, tuple[Callable[[Path, int], Run], Path]] = {
        "ort_int8": (onnxruntime_peer.session, quantized),
        "ort_float": (onnxruntime_peer.session, network.path),
    }
    if openvino_peer.available():
        int8 = openvino_peer.int8_model(network, options.cache) or quantized  # without NNCF that of onnxruntime
        loads |= {"ov_int8": (openvino_run, int8), "ov_float": (openvino_run, network.path)}
    runs: dict[str, Run] = {}
    for name, (load, path) in loads.items():
        try:
            run = load(path, options.threads)
            for feed in network.feeds:
                run(feed)
        except Exception as error:  # the peers raise classes of their own
            print(f"{network.name}: {name} left out: {str(error).strip().splitlines()[-1]}", file=sys.stderr)
        else:
            runs[name] = run
    return runs


def openvino_run(path: Path, threads: int) -> Run:
    """A run of a model whose dimensions stay dynamic, in OpenVINO's default precision."""
    import openvino

    settings = {"INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY", "NUM_STREAMS": 1}
    request = openvino.Core().compile_model(path, "CPU", settings).create_infer_request()
    return lambda feed: request.infer(feed, share_inputs=True)


def mean(values: list[float]) -> float:
    """Geometric mean."""
    return float(np.exp(np.mean(np.log(values)))) if values else float("nan")
