"""Accuracy of tvmq's default int8 against float32 and against onnxruntime's static int8, on the zoo's tasks.

    python benchmarks/accuracy.py --zoo ../shared/zoo [--tasks a,b] [--quick] [--peers-only] [--json out.json]

Columns   ort f32, ort int8, float (tvmq's build), simulated, int8: scores in points (dB for psnr)
          ort int8 - f32, int8 - float: differences with their paired standard errors
          SQNR: all outputs over all samples against onnxruntime float32, dB
          best peer: its setting of best SQNR (BEST_PEERS: onnxruntime 1.31.1, NNCF 3.4.0): dB and int8 - float
          int8 %: share of multiply-accumulates in 8 bits; seconds to calibrate and realize, and to build
Bounds    1. int8 not below float by more than 1 point (0.2 dB of psnr) or 2 paired standard errors, whichever is more
          2. int8 not below onnxruntime's int8 by more than 2 paired standard errors, nor int8 - float below the
             best peer's by more than 2 standard errors
          3. SQNR at least onnxruntime's less 0.2 dB, and the best peer's less 0.5 dB
          4. more than 95 % of the multiply-accumulates in int8, 85 % in transformers
          5. mean of int8 on the seven networks for pictures not below onnxruntime's; mean of int8 - float on all
             tasks not below the best peers'
Both sides calibrate on the same samples. Exit code 1 where a bound is missed.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from harness import onnxruntime_peer
from harness.command import Command, argument
from harness.model import Model, integer_share
from harness.report import Columns, columns
from harness.zoo import (
    PICTURE_TASKS,
    TRANSFORMERS,
    Feeds,
    Figures,
    Scored,
    chosen_tasks,
    evaluate,
    paired,
    sqnr,
    standard_error,
)

# {task: (setting, SQNR in dB, int8 - float in points, its paired standard error)}, measured with the calibration
# samples of the task. ORT = onnxruntime static QDQ per channel: MinMax, percentile 99.99 as it comes ("pctl") and with
# asymmetric ranges ("asym"), 7-bit weights, convolutions and products alone ("4 types").
BEST_PEERS = {
    "efficientnet_lite0": ("ORT asym", 19.0, -0.24, 0.41),
    "squeezenet1_1": ("ORT MinMax", 32.6, 0.00, 0.67),
    "resnet8_cifar10": ("ORT 4 types", 31.6, 0.40, 0.42),
    "mbconv_se_cifar10": ("ORT asym", 27.7, -0.70, 0.39),
    "ppocr_cls": ("ORT pctl", 23.5, -0.33, 0.53),
    "cell_detector": ("NNCF mixed", 33.1, -0.05, 0.22),
    "dscnn_digits": ("ORT MinMax", 30.3, 0.17, 0.37),
    "crepe_tiny": ("ORT pctl", 33.5, -0.20, 0.20),
    "compact_sr_x2": ("ORT asym", 46.7, -0.13, 0.03),
    "unet_membrane": ("ORT 7-bit", 41.3, 0.01, 0.02),
    "vit_cifar10": ("ORT 4 types", 32.2, -0.50, 0.36),
    "minilm_l6": ("NNCF", 22.6, 0.04, 0.10),
}


def measure_peer(task: Any, feeds: Feeds, cache: Path) -> tuple[Figures, Scored, Scored]:
    """onnxruntime's figures, its float32 result and its int8 result."""
    quantized, notes = onnxruntime_peer.int8_model(Path(task.model_path), feeds, cache)
    reference = evaluate(task, onnxruntime_peer.session(Path(task.model_path)))
    int8 = evaluate(task, onnxruntime_peer.session(quantized))
    difference, error = paired(int8, reference)
    best = zip(("best_setting", "best_sqnr", "best_difference", "best_error"), BEST_PEERS[task.name], strict=True)
    figures = {
        "task": task.name, "samples": len(reference.per_sample), "ort_float": reference.score,
        "float_error": standard_error(reference.per_sample), "ort_int8": int8.score, "ort_difference": difference,
        "ort_error": error, "ort_sqnr": sqnr(reference, int8), "notes": notes, **dict(best),
        "points": 0.2 if task.metric == "psnr" else 1.0, "least_share": 85 if task.name in TRANSFORMERS else 95,
    }  # fmt: skip
    return figures, reference, int8


def measure_ours(task: Any, feeds: Feeds, reference: Scored, peer: Scored) -> Figures:
    """tvmq in float, simulated and in integers; batch 1, as a compiled model is run."""
    import tvmq

    model = Model.of_task(task)
    plain = evaluate(task, model.floats().run)
    simulated = evaluate(task, tvmq.build(model.simulated(feeds)).run)
    quantized = model.quantized(feeds)
    int8 = evaluate(task, quantized.executable.run)
    (difference, error), (beside, beside_error) = paired(int8, plain), paired(int8, peer)
    return {
        "float": plain.score, "simulated": simulated.score, "int8": int8.score,
        "difference": difference, "error": error, "beside_ort": beside, "beside_ort_error": beside_error,
        "sqnr": sqnr(reference, int8), "share": 100 * integer_share(quantized.module),
        "quantize_seconds": quantized.quantize_seconds, "build_seconds": quantized.build_seconds,
    }  # fmt: skip


def missed(f: Figures) -> list[str]:
    """The bounds 1-4 that one task misses, with the numbers."""
    both_errors = float(np.hypot(f["error"], f["best_error"]))
    checks = (
        (f["difference"] >= -max(f["points"], 2 * f["error"]),
         "int8 - float {difference:+.2f} ± {error:.2f}; {points:g} points or 2 s.e."),
        (f["difference"] >= f["best_difference"] - 2 * both_errors,
         "int8 - float {difference:+.2f} ± {error:.2f}, best peer {best_difference:+.2f} ± {best_error:.2f}; 2 s.e."),
        (f["beside_ort"] >= -2 * f["beside_ort_error"],
         "int8 - onnxruntime int8 {beside_ort:+.2f} ± {beside_ort_error:.2f}; 2 s.e."),
        (f["sqnr"] >= f["ort_sqnr"] - 0.2, "SQNR {sqnr:.2f} dB, onnxruntime {ort_sqnr:.2f} dB; 0.2 dB less"),
        (f["sqnr"] >= f["best_sqnr"] - 0.5, "SQNR {sqnr:.2f} dB, best peer {best_sqnr:.1f} dB; 0.5 dB less"),
        (f["share"] > f["least_share"],
         "{share:.2f} % of the multiply-accumulates in int8; above {least_share} %"),
    )  # fmt: skip
    return [f"{f['task']}: {text.format(**f)} allowed" for holds, text in checks if not holds]


def missed_on_mean(tasks: Iterable[Figures]) -> list[str]:
    """Bound 5."""
    failures = []
    pictures = [figures for figures in tasks if figures["task"] in PICTURE_TASKS]
    for what, some, ours_key, peer_key in (
        ("int8, onnxruntime's int8", pictures, "int8", "ort_int8"),
        ("int8 - float, the best peers'", tasks, "difference", "best_difference"),
    ):
        if not some:
            continue
        mine, peer = (float(np.mean([figures[key] for figures in some])) for key in (ours_key, peer_key))
        text = f"mean of {len(some)} tasks, {what}: {mine:.3f}, {peer:.3f}"
        print(text)
        failures += [text] if mine < peer else []
    return failures


def columns_of(options: Namespace) -> Columns:
    """Columns of onnxruntime, then ours."""
    peer = columns(
        "task {task} | n {samples} | ort f32 {ort_float:.2f} ± {float_error:.2f} | ort int8 {ort_int8:.2f}",
        "ort int8 - f32 {ort_difference:+.2f} ± {ort_error:.2f} | ort SQNR {ort_sqnr:.1f}",
        "best peer {best_setting} {best_sqnr:.1f} dB {best_difference:+.2f}",
    )
    return peer if options.peers_only else (*peer, *columns(
        "float {float:.2f} | simulated {simulated:.2f} | int8 {int8:.2f}",
        "int8 - float {difference:+.2f} ± {error:.2f}",
        "int8 - ort int8 {beside_ort:+.2f} ± {beside_ort_error:.2f} | SQNR {sqnr:.1f} | int8 % {share:.2f}",
        "calibrate s {quantize_seconds:.1f} | build s {build_seconds:.1f}",
    ))  # fmt: skip


def measure(options: Namespace) -> Iterator[Figures]:
    """The row of each task."""
    for task, feeds in chosen_tasks(options):
        figures, reference, peer = measure_peer(task, feeds, options.cache)
        yield figures if options.peers_only else figures | measure_ours(task, feeds, reference, peer)


def all_missed(tasks: list[Figures], options: Namespace) -> list[str]:
    """Bounds 1 to 5; none of peers alone."""
    return [] if options.peers_only else [text for one in tasks for text in missed(one)] + missed_on_mean(tasks)


main = Command(
    __doc__, columns_of, measure, all_missed,
    arguments=[argument("--peers-only", action="store_true", help="onnxruntime's columns alone; no bounds")],
    head=lambda _: [onnxruntime_peer.describe_sums(onnxruntime_peer.saturates())],
)  # fmt: skip

if __name__ == "__main__":
    main()
