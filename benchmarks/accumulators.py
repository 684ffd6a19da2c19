"""Training for speed: weights that are trained to stay in 16-bit lanes, beside weights of 7 bits and of 8 bits.

    python benchmarks/accumulators.py --zoo ../shared/zoo [--tasks resnet8_cifar10,dscnn_digits,mbconv_se_cifar10]
                                      [--sums 20,18,16] [--rows "7 bits,8 in lanes"] [--steps 300] [--seed 0]
                                      [--json FILE] [--quick]

Rows      8 bits      weights of 8 bits: what is not proved is multiplied in 16 bits (docs/speed.md)
          7 bits      what a target without VNNI has by default (reduce_range)
          8 in lanes  `training.prepare(..., accumulators=16)`
          sums N      all products of a filter and its bias in N bits, as on a chip; --sums "" for none
Training  without labels on the calibration samples, `Distill(steps=..., seed=...)`, the same for all rows
Columns   start, trained  SQNR of the outputs beside float's in dB
          score           of the compiled module in points, and beside float's with the paired standard error
          lanes           kernels all of whose products are added in 16-bit lanes, of those that might
          us              processor time of a run of one sample, code for Haswell: the least of many, all rows by turns
          differing       outputs of the compiled module that are not those of the torch network
Bounds    no output differs, and every row within its accumulators is proved to be. Exit code 1 where one is missed.
"""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Iterator, Mapping
from typing import Any

from harness.command import Command, argument
from harness.model import network_predict
from harness.report import columns
from harness.timing import least_seconds
from harness.zoo import Feeds, chosen_tasks, count_unequal, evaluate, score_figures, sqnr

TASKS = ("resnet8_cifar10", "dscnn_digits", "mbconv_se_cifar10")
TARGET = "llvm -mcpu=haswell"
BATCH, STEPS, QUICK_STEPS = 50, 300, 4
TURNS, BLOCK = 60, 4e-3  # of timing, and seconds of one


def variants(sums: str) -> dict[str, dict[str, Any]]:
    """{row: arguments of `prepare`}."""
    import tvmq
    from tvmq.training import Accumulators

    found: dict[str, dict[str, Any]] = {
        "8 bits": {"config": tvmq.qconfig(reduce_range=False)},
        "7 bits": {"config": tvmq.qconfig()},
        "8 in lanes": {"config": tvmq.qconfig(), "accumulators": 16},
    }
    for bits in filter(None, sums.split(",")):
        found[f"sums {bits}"] = {"config": tvmq.qconfig(reduce_range=False), "accumulators": Accumulators(int(bits))}
    return found


def kernels_in_lanes(exe: Any) -> str:
    """Number of kernels that add all of their products in lanes, of those whose weights decide about it.

    Winograd's kernels and depthwise ones multiply otherwise.
    """
    lanes = [note for note in exe.notes.values() if note.startswith("int16")]
    whole = [note for note in lanes if "lanes proved" in note and "in 16 bits" not in note]
    return f"{len(whole)} of {len(lanes)}"


def one_sample(module: Any) -> Any:
    """The module for a batch of 1."""
    from tvmq.graph.symbolic import dynamic_dimensions, with_sizes

    return with_sizes(module, {name: 1 for name, (_, axis) in dynamic_dimensions(module).items() if axis == 0})


def measure(task: Any, chosen: Mapping[str, dict[str, Any]], distill: Any, feeds: Feeds) -> list[dict[str, Any]]:
    """The chosen rows of a task."""
    import tvmq
    from tvmq import training

    mod, params = tvmq.from_onnx(task.model_path)
    reference = evaluate(task, tvmq.build(mod, params=params).run, BATCH)
    rows, runs = [], {}
    for name, how in chosen.items():
        net = training.prepare(mod, params, feeds, target=TARGET, **how)
        start = sqnr(reference, evaluate(task, network_predict(net), BATCH))
        learned = training.finetune(net, feeds, distill)
        trained = evaluate(task, network_predict(net), BATCH)
        module = training.convert(net)  # proves its accumulators, or raises
        deployed = evaluate(task, tvmq.build(module, target=TARGET).run, BATCH)
        exe = tvmq.build(one_sample(module), target=TARGET)
        runs[name] = exe.prepare_run(next(iter(task.calibration(batch=1, limit=1))))
        rows.append({
            "task": task.name, "row": name, "float": reference.score, "start": start,
            **score_figures(deployed, reference), "trained": sqnr(reference, trained), "steps": learned.steps,
            "differing": count_unequal(trained.outputs, deployed.outputs), "lanes": kernels_in_lanes(exe),
        })  # fmt: skip
        print(f"{task.name}, {name}: {start:.1f} -> {rows[-1]['trained']:.1f} dB, {deployed.score:.2f}", flush=True)
    times = least_seconds(runs, TURNS, 10, block=BLOCK, clock=time.thread_time)
    return [{**row, "us": 1e6 * times[row["row"]]} for row in rows]


COLUMNS = columns(
    "task {task} | weights {row} | start dB {start:.1f} | trained dB {trained:.1f} | score {score:.2f}",
    "- float {difference:+.2f} ± {error:.2f} | lanes {lanes} | us {us:.1f} | differing {differing}",
)


def measure_all(options: Namespace) -> Iterator[dict[str, Any]]:
    """The chosen rows of all tasks."""
    import torch

    from tvmq.training import Distill

    torch.set_num_threads(1)
    distill = Distill(steps=options.steps or (QUICK_STEPS if options.quick else STEPS), seed=options.seed)
    print(f"torch {torch.__version__}, {distill.steps} steps, code for {TARGET}", flush=True)
    known = variants(options.sums)
    wanted = options.rows.split(",") if options.rows else list(known)
    for task, feeds in chosen_tasks(options):
        yield from measure(task, {name: how for name, how in known.items() if name in wanted}, distill, feeds)


def missed(rows: list[dict[str, Any]], _options: Namespace) -> list[str]:
    """Say the scores of float; outputs that differ."""
    floats = {row["task"]: row["float"] for row in rows}
    print("float: " + ", ".join(f"{task} {score:.2f}" for task, score in floats.items()))
    return [f"{row['task']}, {row['row']}: {row['differing']} outputs differ" for row in rows if row["differing"]]


main = Command(
    __doc__, COLUMNS, measure_all, missed, TASKS,
    arguments=[
        argument("--sums", default="20,18,16", help="bits of whole sums, separated by commas"),
        argument("--rows", default="", help="of these alone, separated by commas"),
        argument("--steps", type=int, help=f"of training; default {STEPS}"),
        argument("--seed", type=int, default=0, help="of the order of the samples"),
    ],
)  # fmt: skip

if __name__ == "__main__":
    main()
