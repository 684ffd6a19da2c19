"""Training on the deployed integers: scores of trained models of few bits, quantized, trained without labels, deployed.

    python benchmarks/training.py --zoo ../shared/zoo [--tasks digits,vit_cifar10] [--bits 8x8,4x8,4x4,2x8]
                                  [--steps 200] [--learning-rate 0.01] [--seed 0]
                                  [--markdown FILE] [--json FILE] [--quick]
    python benchmarks/training.py --merge a.json b.json     one table of runs that were made apart

Tasks     `digits` is the example that tvmq brings, the others are the zoo's
Bits      of weights x activations
Training  `tvmq.training.Distill(steps=..., seed=...)` on the calibration samples of the task, which carry no labels.
          Steps and not seconds, so that the load of the machine changes no figure; STEPS of them for each task, few
          enough for a processor that others use too. One thread
Columns   float       score of the float model in points
          quantized   of `quantize` without a guard, and SQNR of the outputs beside float's in dB
          trained     of the torch network in the state that training leaves, and its SQNR
          deployed    of the compiled integer module
          - trained   deployed less trained, in points
          differing   outputs of the compiled module that are not those of the torch network, over all test samples
          - float     deployed less float, with its paired standard error
          steps       of training
          minutes     of one processor: quantizing and training
Bounds    no output differs and no score changes by deployment; beside float at most LOST points are lost. Exit code 1
          where one is missed.
"""

from __future__ import annotations

import json
import time
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness.command import Command, argument
from harness.model import network_predict, read_model
from harness.report import cells_of, columns, table_text
from harness.timing import Watch
from harness.zoo import DIGITS, Scored, bit_differences, chosen_tasks, evaluate, paired, sqnr

import tvmq

TASKS = (DIGITS, "resnet8_cifar10", "dscnn_digits", "mbconv_se_cifar10", "vit_cifar10")
CNNS = TASKS[:4]
BITS = ("8x8", "4x8", "4x4", "2x8")
BATCH = 50  # test samples at once
STEPS, OTHER_STEPS, QUICK_STEPS = {DIGITS: 1500, "resnet8_cifar10": 500, "dscnn_digits": 500}, 150, 4
# Points beside float, by bits and task; what is not here has no bound
LOST = {
    **{("8x8", task): 0.5 for task in TASKS},
    **{("4x8", task): 0.5 for task in TASKS},
    **{("4x4", task): 1.5 for task in CNNS},
    ("2x8", DIGITS): 1.5,
}


def bits_of(name: str) -> dict[str, int]:
    """Options of "4x8"."""
    weight, activation = (int(bits) for bits in name.split("x"))
    return {"nbit_weight": weight, "nbit_input": activation}


def missed(row: dict[str, Any]) -> list[str]:
    """Bounds that a row misses."""
    name, found = f"{row['task']} {row['bits']}", []
    if row["differing"] or row["change"]:
        found.append(f"{name}: {row['differing']} outputs differ, score {row['change']:+.2f} by deployment")
    lost = LOST.get((row["bits"], row["task"]))
    if lost is not None and row["difference"] < -lost - 1e-9:
        found.append(f"{name}: {row['difference']:+.2f} ± {row['error']:.2f} points beside float, {lost} may be lost")
    return found


def merged(files: list[Path]) -> list[dict[str, Any]]:
    """The rows of earlier runs by task and bits; of two runs of a row the one of more steps."""
    found: dict[tuple[int, int], dict[str, Any]] = {}
    for row in sorted(
        (row for file in files for row in json.loads(file.read_text())["rows"]), key=lambda r: r["steps"]
    ):
        found[TASKS.index(row["task"]), BITS.index(row["bits"])] = row
    return [found[key] for key in sorted(found)]


COLUMNS = columns(
    "task, bits {task} {bits} | float {float:.2f} | quantized {quantized:.2f} | dB {quantized_sqnr:.1f}",
    "trained {trained:.2f} | dB {trained_sqnr:.1f} | deployed {deployed:.2f} | - trained {change:.2f}",
    "differing {differing} | - float {difference:+.2f} ± {error:.2f} | steps {steps} | minutes {minutes:.1f}",
)


def measure(
    task: Any, model: tuple[Any, Any], bits: str, reference: Scored, feeds: Any, distill: Any
) -> dict[str, Any]:
    """Measure one row: quantize, train, deploy."""
    from tvmq import training

    watch = Watch(time.process_time)
    with tvmq.qconfig(**bits_of(bits)), watch("prepare"):
        net = training.prepare(*model, feeds)
    quantized = evaluate(task, network_predict(net), BATCH)
    with watch("train"):
        learned = training.finetune(net, feeds, distill)
    trained = evaluate(task, network_predict(net.eval()), BATCH)
    deployed = evaluate(task, tvmq.build(training.convert(net)).run, BATCH)
    difference, error = paired(deployed, reference)
    return {
        "task": task.name, "bits": bits, "float": reference.score, "quantized": quantized.score,
        "quantized_sqnr": sqnr(reference, quantized), "trained": trained.score,
        "trained_sqnr": sqnr(reference, trained), "deployed": deployed.score,
        "change": deployed.score - trained.score, "differing": bit_differences(trained, deployed),
        "difference": difference, "error": error, "minutes": sum(watch.seconds.values()) / 60, "steps": learned.steps,
        "before": learned.before, "after": learned.after,
    }  # fmt: skip


def measure_all(options: Namespace) -> Iterator[dict[str, Any]]:
    """A row of each task and number of bits, or those of earlier runs."""
    if options.merge:
        yield from merged(options.merge)
        return
    from tvmq.training import Distill

    rate = {} if options.learning_rate is None else {"learning_rate": options.learning_rate}
    for task, feeds in chosen_tasks(options):
        mod, params = read_model(task.model_path)
        reference = evaluate(task, tvmq.build(mod, params=params).run, BATCH)
        steps = options.steps or (QUICK_STEPS if options.quick else STEPS.get(task.name, OTHER_STEPS))
        distill = Distill(steps=steps, seed=options.seed, **rate)
        for bits in options.bits.split(","):
            yield measure(task, (mod, params), bits, reference, feeds, distill)


def all_missed(rows: list[dict[str, Any]], options: Namespace) -> list[str]:
    """Missed bounds of all rows; for few samples only equality is required."""
    if options.markdown is not None:
        cells = [cells_of(COLUMNS, row) for row in rows]
        options.markdown.write_text(table_text([title for title, _ in COLUMNS], cells) + "\n")
    print(f"{sum(row['differing'] for row in rows)} outputs differ")
    if options.quick:
        return [failure for row in rows if row["differing"] or row["change"] for failure in missed(row)]
    bound = [row for row in rows if (row["bits"], row["task"]) in LOST]
    print(f"{sum(not missed(row) for row in bound)} of {len(bound)} rows with a bound hold it")
    return [failure for row in rows for failure in missed(row)]


def head(options: Namespace) -> list[str]:
    """Limit torch to one thread; returns its version."""
    import torch

    torch.set_num_threads(1)
    return [f"torch {torch.__version__}, seed {options.seed}"]


main = Command(
    __doc__, COLUMNS, measure_all, all_missed, TASKS, head=head,
    arguments=[
        argument("--bits", default=",".join(BITS), help="weights x activations, separated by commas"),
        argument("--steps", type=int, help=f"of training; default {OTHER_STEPS}, {STEPS}"),
        argument("--seed", type=int, default=0, help="of the order of the samples"),
        argument("--learning-rate", type=float, help="in codes of a weight a step; default that of Distill"),
        argument("--markdown", type=Path, help="also write the table to this file"),
        argument("--merge", type=Path, nargs="+", help="files of earlier runs, and nothing is measured"),
    ],
)  # fmt: skip

if __name__ == "__main__":
    main()
