"""Accuracy of tvmq's default int8 against float32 and against onnxruntime's static int8, on the zoo's tasks.

    python benchmarks/accuracy.py --zoo ../shared/zoo [--tasks a,b] [--quick] [--peers-only] [--json out.json]

Columns   ort f32, ort int8, float (tvmq's build), simulated, int8: scores in points (dB for psnr)
          ort int8 - f32, int8 - float: differences with their paired standard errors
          SQNR: all outputs over all samples against onnxruntime float32, dB; aim: the best we measured of
          any peer's settings (onnxruntime 1.31.1 MinMax and percentile, NNCF 3.4.0), no bound
          int8 %: share of multiply-accumulates in 8 bits; seconds to calibrate and realize, and to build
Bounds    1. int8 not below float by more than 1 point or 2 paired standard errors, whichever is more
          2. int8 not below onnxruntime's int8 by more than 2 paired standard errors
          3. SQNR at least onnxruntime's less 0.2 dB
          4. more than 95 % of the multiply-accumulates in int8
          5. the mean of the int8 scores not below onnxruntime's
Both sides calibrate on the same samples. Exit code 1 where a bound is missed.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ours
import peers
from common import (
    QUICK_CALIBRATION,
    Feeds,
    Scored,
    batch_one_shape,
    evaluate,
    finish,
    load_zoo,
    machine,
    paired,
    parser,
    print_table,
    sqnr,
    standard_error,
    write_json,
)

AIM = {
    "efficientnet_lite0": 19.0, "squeezenet1_1": 32.6, "resnet8_cifar10": 31.6, "mbconv_se_cifar10": 27.7,
    "ppocr_cls": 23.5, "cell_detector": 33.1, "dscnn_digits": 30.3,
}  # fmt: skip
Figures = dict[str, Any]
PEER_COLUMNS = (
    ("task", "{task}"),
    ("n", "{samples}"),
    ("ort f32", "{ort_float:.2f} ± {float_error:.2f}"),
    ("ort int8", "{ort_int8:.2f}"),
    ("ort int8 - f32", "{ort_difference:+.2f} ± {ort_error:.2f}"),
    ("ort SQNR", "{ort_sqnr:.1f}"),
    ("aim", "{aim}"),
)
OUR_COLUMNS = (
    ("float", "{float:.2f}"),
    ("simulated", "{simulated:.2f}"),
    ("int8", "{int8:.2f}"),
    ("int8 - float", "{difference:+.2f} ± {error:.2f}"),
    ("int8 - ort int8", "{beside_ort:+.2f} ± {beside_ort_error:.2f}"),
    ("SQNR", "{sqnr:.1f}"),
    ("int8 %", "{share:.2f}"),
    ("calibrate s", "{quantize_seconds:.1f}"),
    ("build s", "{build_seconds:.1f}"),
)


def measure_peer(task: Any, feeds: Feeds, cache: Path) -> tuple[Figures, Scored, Scored]:
    """onnxruntime's figures, its float32 result and its int8 result."""
    quantized, notes = peers.int8_model(Path(task.model_path), feeds, cache)
    reference = evaluate(task, peers.session(Path(task.model_path)))
    int8 = evaluate(task, peers.session(quantized))
    difference, error = paired(int8, reference)
    figures = {
        "task": task.name,
        "samples": len(reference.per_sample),
        "ort_float": reference.score,
        "float_error": standard_error(reference.per_sample),
        "ort_int8": int8.score,
        "ort_difference": difference,
        "ort_error": error,
        "ort_sqnr": sqnr(reference, int8),
        "aim": AIM.get(task.name, "-"),
        "notes": notes,
    }
    return figures, reference, int8


def measure_ours(task: Any, feeds: Feeds, reference: Scored, peer: Scored) -> Figures:
    """tvmq in float, simulated and in integers; batch 1, as a compiled model is run."""
    import tvmq

    model = ours.Model.read(task.model_path, batch_one_shape(task))
    plain = evaluate(task, ours.predict(model.floats()))
    simulated = evaluate(task, ours.predict(tvmq.build(model.simulated(feeds))))
    quantized = model.quantized(feeds)
    int8 = evaluate(task, ours.predict(quantized.executable))
    (difference, error), (beside, beside_error) = paired(int8, plain), paired(int8, peer)
    return {
        "float": plain.score,
        "simulated": simulated.score,
        "int8": int8.score,
        "difference": difference,
        "error": error,
        "beside_ort": beside,
        "beside_ort_error": beside_error,
        "sqnr": sqnr(reference, int8),
        "share": 100 * ours.integer_share(quantized.module),
        "quantize_seconds": quantized.quantize_seconds,
        "build_seconds": quantized.build_seconds,
    }


def missed(f: Figures) -> list[str]:
    """The bounds 1-4 that one task misses, with the numbers."""
    checks = (
        (f["difference"] >= -max(1.0, 2 * f["error"]),
         "int8 - float {difference:+.2f} ± {error:.2f}; 1 point or 2 s.e."),
        (f["beside_ort"] >= -2 * f["beside_ort_error"],
         "int8 - onnxruntime int8 {beside_ort:+.2f} ± {beside_ort_error:.2f}; 2 s.e."),
        (f["sqnr"] >= f["ort_sqnr"] - 0.2, "SQNR {sqnr:.2f} dB, onnxruntime {ort_sqnr:.2f} dB; 0.2 dB less"),
        (f["share"] > 95, "{share:.2f} % of the multiply-accumulates in int8; above 95 %"),
    )  # fmt: skip
    return [f"{f['task']}: {text.format(**f)} allowed" for holds, text in checks if not holds]


def missed_on_mean(tasks: Sequence[Figures]) -> list[str]:
    """Bound 5."""
    int8, peer = (sum(figures[key] for figures in tasks) / len(tasks) for key in ("int8", "ort_int8"))
    print(f"mean of {len(tasks)} tasks: int8 {int8:.3f}, onnxruntime int8 {peer:.3f}")
    return [] if int8 >= peer else [f"mean of the tasks: int8 {int8:.3f} below onnxruntime's {peer:.3f}"]


def main() -> None:
    """Command line; see the head of this file."""
    commands = parser("Accuracy of int8 on the zoo, against float32 and onnxruntime.")
    commands.add_argument("--peers-only", action="store_true", help="onnxruntime's columns alone; no bounds")
    options = commands.parse_args()
    print(machine(), flush=True)
    columns = PEER_COLUMNS if options.peers_only else PEER_COLUMNS + OUR_COLUMNS
    tasks: list[Figures] = []
    for task in load_zoo(options.zoo, options.tasks, quick=options.quick).values():
        feeds = Feeds(task, QUICK_CALIBRATION if options.quick else None)
        figures, reference, peer = measure_peer(task, feeds, options.cache)
        if not options.peers_only:
            figures |= measure_ours(task, feeds, reference, peer)
        tasks.append(figures)
        print(", ".join(f"{title} {form.format(**figures)}" for title, form in columns), flush=True)
    print_table([title for title, _ in columns], [[form.format(**f) for _, form in columns] for f in tasks])
    failures = []
    if not options.peers_only:
        failures = [text for figures in tasks for text in missed(figures)] + missed_on_mean(tasks)
    write_json(options.json, {"quick": options.quick, "tasks": tasks, "failures": failures})
    if not options.peers_only:
        finish(failures)


if __name__ == "__main__":
    main()
