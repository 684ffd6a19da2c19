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
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from common import (
    QUICK_CALIBRATION,
    QUICK_TEST,
    Feed,
    Feeds,
    Scored,
    evaluate,
    finish,
    load_zoo,
    machine,
    of_network,
    paired,
    parser,
    print_table,
    sqnr,
    table_text,
    write_json,
)

DIGITS = "digits"
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
COLUMNS = (
    ("task, bits", "{task} {bits}"),
    ("float", "{float:.2f}"),
    ("quantized", "{quantized:.2f}"),
    ("dB", "{quantized_sqnr:.1f}"),
    ("trained", "{trained:.2f}"),
    ("dB", "{trained_sqnr:.1f}"),
    ("deployed", "{deployed:.2f}"),
    ("- trained", "{change:.2f}"),
    ("differing", "{differing}"),
    ("- float", "{difference:+.2f} ± {error:.2f}"),
    ("steps", "{steps}"),
    ("minutes", "{minutes:.1f}"),
)


@dataclass(eq=False)
class Digits:
    """The embedded example, as a task of the zoo."""

    name, metric, input_name = DIGITS, "top1", "image"

    def __init__(self, *, quick: bool = False) -> None:
        from tvmq.demo import load_demo

        self.demo = load_demo()
        self.model_path = self.demo.model
        self.count = QUICK_TEST if quick else len(self.demo.test)
        self.per_sample = np.zeros(0)

    def calibration(self, batch: int = 1, limit: int | None = None) -> Iterator[Feed]:
        """Pictures, in order."""
        pictures = self.demo.calibration[:limit]
        return ({"image": pictures[i : i + batch]} for i in range(0, len(pictures) // batch * batch, batch))

    def evaluate(self, predict: Callable[[Feed], Any], batch: int = 1) -> float:
        """Share of the digits that are told; `count` is a multiple of `batch`."""
        pictures = self.demo.test[: self.count]
        scores = np.concatenate([predict({"image": pictures[i : i + batch]})[0] for i in range(0, self.count, batch)])
        self.per_sample = (scores.argmax(1) == self.demo.labels[: self.count]).astype(np.float64)
        return float(self.per_sample.mean())


def chosen_tasks(zoo: Path, names: str, *, quick: bool) -> dict[str, Any]:
    """The tasks of a list of names."""
    wanted = [name for name in names.split(",") if name]
    of_zoo = ",".join(name for name in wanted if name != DIGITS)
    found = load_zoo(zoo, of_zoo, quick=quick) if of_zoo else {}
    return {name: Digits(quick=quick) if name == DIGITS else found[name] for name in wanted}


def read_model(path: str | bytes) -> tuple[Any, Any]:
    """A float model whose batch is dynamic: file, or the bytes of one."""
    import io

    import onnx

    import tvmq

    return tvmq.from_onnx(onnx.load(io.BytesIO(path)) if isinstance(path, bytes) else path)


def of_module(module: Any, params: Any = None) -> Callable[[Feed], Any]:
    """A module, compiled, likewise."""
    import tvmq

    return tvmq.build(module, params=params).run


def differing(ours: Scored, other: Scored) -> int:
    """Values of the outputs that are not equal in every bit."""
    pairs = zip(ours.outputs, other.outputs, strict=True)
    return sum(int(np.count_nonzero(a.view(f"u{a.itemsize}") != b.view(f"u{b.itemsize}"))) for a, b in pairs)


def bits_of(name: str) -> dict[str, int]:
    """Options of "4x8"."""
    weight, activation = (int(bits) for bits in name.split("x"))
    return {"nbit_weight": weight, "nbit_input": activation}


def measure(
    task: Any, model: tuple[Any, Any], bits: str, reference: Scored, feeds: Any, distill: Any
) -> dict[str, Any]:
    """One row: quantized, trained, deployed."""
    import tvmq
    from tvmq import training

    start = time.process_time()
    with tvmq.qconfig(**bits_of(bits)):
        net = training.prepare(*model, feeds)
    spent = time.process_time() - start
    quantized = evaluate(task, of_network(net), BATCH)
    start = time.process_time()
    learned = training.finetune(net, feeds, distill)
    spent += time.process_time() - start
    trained = evaluate(task, of_network(net.eval()), BATCH)
    deployed = evaluate(task, of_module(training.convert(net)), BATCH)
    difference, error = paired(deployed, reference)
    return {
        "task": task.name, "bits": bits, "float": reference.score, "quantized": quantized.score,
        "quantized_sqnr": sqnr(reference, quantized), "trained": trained.score,
        "trained_sqnr": sqnr(reference, trained), "deployed": deployed.score,
        "change": deployed.score - trained.score, "differing": differing(trained, deployed), "difference": difference,
        "error": error, "minutes": spent / 60, "steps": learned.steps, "before": learned.before, "after": learned.after,
    }  # fmt: skip


def missed(row: dict[str, Any]) -> list[str]:
    """Bounds that a row misses."""
    name, found = f"{row['task']} {row['bits']}", []
    if row["differing"] or row["change"]:
        found.append(f"{name}: {row['differing']} outputs differ, score {row['change']:+.2f} by deployment")
    lost = LOST.get((row["bits"], row["task"]))
    if lost is not None and row["difference"] < -lost - 1e-9:
        found.append(f"{name}: {row['difference']:+.2f} ± {row['error']:.2f} points beside float, {lost} may be lost")
    return found


def main() -> None:
    """Command line; see the head of this file."""
    command = parser("Training on the deployed integers.", tasks=TASKS)
    command.add_argument("--bits", default=",".join(BITS), help="weights x activations, separated by commas")
    command.add_argument("--steps", type=int, help=f"of training; default {OTHER_STEPS}, {STEPS}")
    command.add_argument("--seed", type=int, default=0, help="of the order of the samples")
    command.add_argument("--learning-rate", type=float, help="in codes of a weight a step; default that of Distill")
    command.add_argument("--markdown", type=Path, help="also write the table to this file")
    command.add_argument("--merge", type=Path, nargs="+", help="files of earlier runs, and nothing is measured")
    options = command.parse_args()
    if options.merge:
        conclude(merged(options.merge), options.markdown)
        return
    import torch

    from tvmq.training import Distill

    torch.set_num_threads(1)
    print(f"{machine()}, torch {torch.__version__}, seed {options.seed}", flush=True)
    rows: list[dict[str, Any]] = []
    for task in chosen_tasks(options.zoo, options.tasks, quick=options.quick).values():
        model = read_model(task.model_path)
        reference = evaluate(task, of_module(*model), BATCH)
        feeds = Feeds(task, QUICK_CALIBRATION if options.quick else None)
        steps = options.steps or (QUICK_STEPS if options.quick else STEPS.get(task.name, OTHER_STEPS))
        rate = {} if options.learning_rate is None else {"learning_rate": options.learning_rate}
        distill = Distill(steps=steps, seed=options.seed, **rate)
        for bits in options.bits.split(","):
            rows.append(measure(task, model, bits, reference, feeds, distill))
            print(", ".join(f"{title} {form.format(**rows[-1])}" for title, form in COLUMNS), flush=True)
    write_json(options.json, {"quick": options.quick, "seed": options.seed, "rows": rows})
    conclude(rows, options.markdown, scores_count=not options.quick)


def conclude(rows: list[dict[str, Any]], markdown: Path | None, *, scores_count: bool = True) -> None:
    """Table and verdict; of few samples only equality is asked."""
    titles = [title for title, _ in COLUMNS]
    cells = [[form.format(**row) for _, form in COLUMNS] for row in rows]
    print_table(titles, cells)
    if markdown is not None:
        markdown.write_text(table_text(titles, cells) + "\n")
    print(f"{sum(row['differing'] for row in rows)} outputs differ")
    if not scores_count:
        finish([failure for row in rows if row["differing"] or row["change"] for failure in missed(row)])
        return
    bound = [row for row in rows if (row["bits"], row["task"]) in LOST]
    print(f"{sum(not missed(row) for row in bound)} of {len(bound)} rows with a bound hold it")
    finish([failure for row in rows for failure in missed(row)])


def merged(files: list[Path]) -> list[dict[str, Any]]:
    """The rows of earlier runs by task and bits; of two runs of a row the one of more steps."""
    found: dict[tuple[int, int], dict[str, Any]] = {}
    for row in sorted(
        (row for file in files for row in json.loads(file.read_text())["rows"]), key=lambda r: r["steps"]
    ):
        found[TASKS.index(row["task"]), BITS.index(row["bits"])] = row
    return [found[key] for key in sorted(found)]


if __name__ == "__main__":
    main()
