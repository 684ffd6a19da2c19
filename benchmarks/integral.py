"""Integral cores of the zoo's tasks: which tasks have one, what prevents the others, and what it costs.

    python benchmarks/integral.py --zoo ../shared/zoo [--tasks a,b] [--quick] [--json out.json]

Settings  usual: int8 as it comes; fixed_point: requantize="fixed_point" and partition_conversions="fully_integral", or
          "enabled" where that is refused; integer functions: the same with every option of INTEGER_FUNCTIONS that this
          version has (softmax, layer norm and residual streams in integers), where it changes anything
Columns   float, score: points (dB for psnr); score - float with its paired standard error; SQNR against float, dB
          integral: yes, or the float operators that are left in the core; core: its operators by element type of their
          results, "float" for all that read or give floats; ends: what enters and leaves the core
Bounds    1. every network of convolutions is fully integral in the setting fixed_point
          2. an integral core has no operator of floats; the three functions give what main gives, bit for bit
          3. compiled quantized_main equals its NumPy definition on the first test samples
Float operators of cores that are not integral are listed below the table: layer, operator, why, what would make it
integer. Exit code 1 where a bound is missed.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from harness.command import Command, argument
from harness.model import Model
from harness.report import columns
from harness.zoo import TRANSFORMERS, Feed, Feeds, Figures, Scored, chosen_tasks, evaluate, first_inputs, score_figures

import tvmq
from tvmq.errors import IntegralError
from tvmq.graph.module_functions import PARTS
from tvmq.options.config import OPTION_HELP
from tvmq.passes.integrality import integrality

# Option -> its value; those that this version lacks are left out.
INTEGER_FUNCTIONS = {"integer_softmax": True, "integer_layer_norm": True, "residual_streams": "int16"}
LISTED = 6


def settings() -> dict[str, dict[str, Any]]:
    """{name: options} of everything that is compared."""
    known = {name: value for name, value in INTEGER_FUNCTIONS.items() if name in OPTION_HELP}
    return {
        "usual": {},
        "fixed_point": {"requantize": "fixed_point"},
        "integer functions": {"requantize": "fixed_point", **known},
    }


def quantized(model: Model, feeds: Iterable[Feed], options: dict[str, Any]) -> tuple[Any, list[str]]:
    """The module in four functions, fully integral if that is possible; and what refused that."""
    try:
        with tvmq.qconfig(**options, partition_conversions="fully_integral"):
            return model.integer(feeds), []
    except IntegralError as error:
        refusal = str(error).splitlines()[1:]
    with tvmq.qconfig(**options, partition_conversions="enabled"):
        return model.integer(feeds), [line.strip() for line in refusal]


def chained(executable: Any, feed: Feed) -> list[np.ndarray]:
    """Results of the three functions, one after the other."""
    values: Sequence[np.ndarray] = list(feed.values())
    for name in PARTS:
        function = executable[name]
        values = function.run({info.name: value for info, value in zip(function.input_info, values, strict=True)})
    return list(values)


def _texts(ends: Any) -> str:
    return ", ".join(dict.fromkeys(ends.values()))


def kinds(figures: Figures) -> str:
    """Operators of the core by element type.

    >>> kinds({"operators": {"uint8": 3, "float32": 2, "int32": 1}})
    'int32 1, uint8 3, float 2'
    """
    counts = figures["operators"]
    floats = sum(count for dtype, count in counts.items() if "float" in dtype)
    integers = [f"{dtype} {count}" for dtype, count in sorted(counts.items()) if "float" not in dtype]
    return ", ".join([*integers, f"float {floats}"])


def missed(figures: Figures) -> list[str]:
    """The bounds that a row misses."""
    where, failures = f"{figures['task']}, {figures['setting']}", []
    if figures["setting"] == "fixed_point" and figures["task"] not in TRANSFORMERS and not figures["integral"]:
        failures.append(f"{where}: not fully integral, {len(figures['reasons'])} reasons")
    if figures["integral"] and any("float" in dtype for dtype in figures["operators"]):
        failures.append(f"{where}: integral, and yet {kinds(figures)}")
    if figures["differing"]:
        failures.append(f"{where}: {figures['differing']} values differ")
    return failures


def changes(made: Sequence[Figures], name: str) -> bool:
    """False for integer functions of a network that has none of them: the setting before was integral to its ends."""
    return name != "integer functions" or not made[-1]["integral"] or bool(made[-1]["last"])


def tell(found: Sequence[Figures]) -> None:
    """Print the operators after integral cores, and those that prevent the others."""
    for figures in found:
        where = f"{figures['task']}, {figures['setting']}"
        if figures["last"]:
            print(f"{where}: behind the core, in floats: {', '.join(figures['last'])}")
        reasons = figures["reasons"] if figures["setting"] != "usual" else []
        for reason in reasons[:LISTED]:
            print(f"{where}: {reason}")
        if len(reasons) > LISTED:
            print(f"{where}: {len(reasons) - LISTED} more")


COLUMNS = columns(
    "task {task} | setting {setting} | float {float:.2f} | score {score:.2f}",
    "score - float {difference:+.2f} ± {error:.2f} | SQNR {sqnr:.1f} | integral {answer} | core {kinds} | ends {ends}",
)


def differing(executable: Any, feeds: Sequence[Feed]) -> int:
    """Values in which the three functions one after another, or compiled code and definition, disagree."""
    pairs = [(a, b) for feed in feeds for a, b in zip(executable.run(feed), chained(executable, feed), strict=True)]
    chains = sum(int(np.sum(a.view(np.uint8) != b.view(np.uint8))) for a, b in pairs)
    return tvmq.verify(executable, feeds).differing + chains


def measure(task: Any, model: Model, feeds: Feeds, name: str, floats: Scored) -> Figures:
    """Measure one row of the table."""
    options = settings()[name]
    module, refusal = quantized(model, feeds, options) if options else (model.integer(feeds), [])
    executable, core = tvmq.build(module), integrality(module)
    figures = {
        "task": task.name, "setting": name, "float": floats.score,
        **score_figures(evaluate(task, executable.run), floats),
        "integral": core.is_integral, "operators": dict(core.operators),
        "ends": f"{_texts(core.entry)} to {_texts(core.exit)}",
        "last": [f"{op.split('.')[-1]} '{', '.join(layers)}'" for op, layers in core.last],
        "reasons": refusal or core.reasons(),
        "differing": differing(executable, first_inputs(task, 3)) if options else 0,
    }  # fmt: skip
    answer = "yes" if core.is_integral else f"no, {len(figures['reasons'])}"
    return {**figures, "answer": answer, "kinds": kinds(figures)}


def measure_all(options: Namespace) -> Iterator[Figures]:
    """The settings of each task that change anything."""
    for task, feeds in chosen_tasks(options):
        model, made = Model.of_task(task), list[Figures]()
        floats = evaluate(task, model.floats().run)
        for name in options.settings.split(","):
            if not made or changes(made, name):
                made.append(measure(task, model, feeds, name, floats))
                yield made[-1]


def all_missed(rows: list[Figures], _options: Namespace) -> list[str]:
    """Print what follows the cores; returns the bounds that rows miss."""
    tell(rows)
    return [text for figures in rows for text in missed(figures)]


main = Command(
    __doc__, COLUMNS, measure_all, all_missed,
    arguments=[argument("--settings", default=",".join(settings()), help="names, separated by commas")],
)  # fmt: skip

if __name__ == "__main__":
    main()
