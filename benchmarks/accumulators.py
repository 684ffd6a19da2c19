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
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from common import (  # fmt: skip
    QUICK_CALIBRATION,
    Feeds,
    evaluate,
    finish,
    load_zoo,
    machine,
    of_network,
    paired,
    parser,
    print_table,
    sqnr,
    write_json,
)

TASKS = ("resnet8_cifar10", "dscnn_digits", "mbconv_se_cifar10")
TARGET = "llvm -mcpu=haswell"
BATCH, STEPS, QUICK_STEPS = 50, 300, 4
TURNS, BLOCK = 60, 4e-3  # of timing, and seconds of one
COLUMNS = (
    ("task", "{task}"),
    ("weights", "{row}"),
    ("start dB", "{start:.1f}"),
    ("trained dB", "{trained:.1f}"),
    ("score", "{score:.2f}"),
    ("- float", "{difference:+.2f} ± {error:.2f}"),
    ("lanes", "{lanes}"),
    ("us", "{us:.1f}"),
    ("differing", "{differing}"),
)


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
    """How many kernels add all of their products in lanes, of those whose weights decide about it.

    Winograd's kernels and depthwise ones multiply otherwise.
    """
    lanes = [note for note in exe.notes.values() if note.startswith("int16")]
    whole = [note for note in lanes if "lanes proved" in note and "in 16 bits" not in note]
    return f"{len(whole)} of {len(lanes)}"


def one_sample(module: Any) -> Any:
    """The module for a batch of 1."""
    from tvmq.graph.symbolic import dynamic_dimensions, with_sizes

    return with_sizes(module, {name: 1 for name, (_, axis) in dynamic_dimensions(module).items() if axis == 0})


def time_all(runs: Mapping[str, Callable[[], object]]) -> dict[str, float]:
    """Least processor microseconds of a run of each, in blocks by turns."""
    least = dict.fromkeys(runs, np.inf)
    for turn in range(TURNS):
        for name, run in runs.items():
            calls, begin = 0, time.thread_time()
            while time.thread_time() - begin < BLOCK:
                for _ in range(10):
                    run()
                calls += 10
            if turn:
                least[name] = min(least[name], (time.thread_time() - begin) / calls)
    return {name: 1e6 * seconds for name, seconds in least.items()}


def measure(task: Any, chosen: Mapping[str, dict[str, Any]], distill: Any, feeds: Feeds) -> list[dict[str, Any]]:
    """The chosen rows of a task."""
    import tvmq
    from tvmq import training

    mod, params = tvmq.from_onnx(task.model_path)
    reference = evaluate(task, tvmq.build(mod, params=params).run, BATCH)
    rows, runs = [], {}
    for name, how in chosen.items():
        net = training.prepare(mod, params, feeds, target=TARGET, **how)
        start = sqnr(reference, evaluate(task, of_network(net), BATCH))
        learned = training.finetune(net, feeds, distill)
        trained = evaluate(task, of_network(net), BATCH)
        module = training.convert(net)  # proves its accumulators, or raises
        deployed = evaluate(task, tvmq.build(module, target=TARGET).run, BATCH)
        exe = tvmq.build(one_sample(module), target=TARGET)
        runs[name] = exe.prepare_run(next(iter(task.calibration(batch=1, limit=1))))
        difference, error = paired(deployed, reference)
        pairs = zip(trained.outputs, deployed.outputs, strict=True)
        rows.append({
            "task": task.name, "row": name, "float": reference.score, "start": start,
            "trained": sqnr(reference, trained), "score": deployed.score, "difference": difference, "error": error,
            "differing": sum(int(np.count_nonzero(a != b)) for a, b in pairs), "lanes": kernels_in_lanes(exe),
            "steps": learned.steps,
        })  # fmt: skip
        print(f"{task.name}, {name}: {start:.1f} -> {rows[-1]['trained']:.1f} dB, {deployed.score:.2f}", flush=True)
    times = time_all(runs)
    return [{**row, "us": times[row["row"]]} for row in rows]


def main() -> None:
    """Command line; see the head of this file."""
    command = parser("Training within accumulators.", tasks=TASKS)
    command.add_argument("--sums", default="20,18,16", help="bits of whole sums, separated by commas")
    command.add_argument("--rows", default="", help="of these alone, separated by commas")
    command.add_argument("--steps", type=int, default=None, help=f"of training; default {STEPS}")
    command.add_argument("--seed", type=int, default=0, help="of the order of the samples")
    options = command.parse_args()
    import torch

    from tvmq.training import Distill

    torch.set_num_threads(1)
    distill = Distill(steps=options.steps or (QUICK_STEPS if options.quick else STEPS), seed=options.seed)
    print(f"{machine()}, torch {torch.__version__}, {distill.steps} steps, code for {TARGET}", flush=True)
    wanted = options.rows.split(",") if options.rows else list(variants(options.sums))
    chosen = {name: how for name, how in variants(options.sums).items() if name in wanted}
    rows: list[dict[str, Any]] = []
    for task in load_zoo(options.zoo, options.tasks, quick=options.quick).values():
        rows += measure(task, chosen, distill, Feeds(task, QUICK_CALIBRATION if options.quick else None))
    print_table([title for title, _ in COLUMNS], [[form.format(**row) for _, form in COLUMNS] for row in rows])
    print("float: " + ", ".join(f"{task} {score:.2f}" for task, score in {r["task"]: r["float"] for r in rows}.items()))
    failures = [f"{row['task']}, {row['row']}: {row['differing']} outputs differ" for row in rows if row["differing"]]
    write_json(options.json, {"quick": options.quick, "steps": distill.steps, "rows": rows, "failures": failures})
    finish(failures)


if __name__ == "__main__":
    main()
