"""Which tasks of the zoo have a fully integral core, what stops the others, and what it costs.

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

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import ours
from common import (
    QUICK_CALIBRATION,
    TRANSFORMERS,
    Feed,
    Feeds,
    Scored,
    batch_one_shape,
    evaluate,
    finish,
    first_inputs,
    load_zoo,
    machine,
    paired,
    parser,
    print_table,
    sqnr,
    write_json,
)

import tvmq
from tvmq.errors import IntegralError
from tvmq.graph.functions import PARTS
from tvmq.options.config import OPTION_HELP
from tvmq.passes.integrality import integrality

# Option -> its value; those that this version lacks are left out.
INTEGER_FUNCTIONS = {"integer_softmax": True, "integer_layer_norm": True, "residual_streams": "int16"}
LISTED = 6
Figures = dict[str, Any]


def settings() -> dict[str, dict[str, Any]]:
    """{name: options} of everything that is compared."""
    known = {name: value for name, value in INTEGER_FUNCTIONS.items() if name in OPTION_HELP}
    return {
        "usual": {},
        "fixed_point": {"requantize": "fixed_point"},
        "integer functions": {"requantize": "fixed_point", **known},
    }


def quantized(model: ours.Model, feeds: Iterable[Feed], options: dict[str, Any]) -> tuple[Any, list[str]]:
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


def differing(executable: Any, feeds: Sequence[Feed]) -> int:
    """Values in which the three functions one after another, or compiled code and definition, disagree."""
    count = tvmq.verify(executable, feeds).differing
    for feed in feeds:
        pairs = zip(executable.run(feed), chained(executable, feed), strict=True)
        count += sum(int(np.sum(a.view(np.uint8) != b.view(np.uint8))) for a, b in pairs)
    return count


def measure(task: Any, model: ours.Model, feeds: Feeds, name: str, floats: Scored) -> Figures:
    """One row of the table."""
    options = settings()[name]
    module, refusal = quantized(model, feeds, options) if options else (model.integer(feeds), [])
    executable = tvmq.build(module)
    scored = evaluate(task, ours.predict(executable))
    difference, error = paired(scored, floats)
    core = integrality(module)
    return {
        "task": task.name,
        "setting": name,
        "float": floats.score,
        "score": scored.score,
        "difference": difference,
        "error": error,
        "sqnr": sqnr(floats, scored),
        "integral": core.is_integral,
        "operators": dict(core.operators),
        "ends": f"{_texts(core.entry)} to {_texts(core.exit)}",
        "last": [f"{op.split('.')[-1]} '{', '.join(layers)}'" for op, layers in core.last],
        "reasons": refusal or core.reasons(),
        "differing": differing(executable, first_inputs(task, 3)) if options else 0,
    }


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


COLUMNS = (
    ("task", "{task}"),
    ("setting", "{setting}"),
    ("float", "{float:.2f}"),
    ("score", "{score:.2f}"),
    ("score - float", "{difference:+.2f} ± {error:.2f}"),
    ("SQNR", "{sqnr:.1f}"),
    ("integral", "{answer}"),
    ("core", "{kinds}"),
    ("ends", "{ends}"),
)


def row(figures: Figures) -> list[str]:
    """The cells of a row."""
    answer = "yes" if figures["integral"] else f"no, {len(figures['reasons'])}"
    return [form.format(**figures, answer=answer, kinds=kinds(figures)) for _, form in COLUMNS]


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


def main() -> None:
    """Command line; see the head of this file."""
    commands = parser("Fully integral cores: which tasks have one, what stops the others, what it costs.")
    commands.add_argument("--settings", default=",".join(settings()), help="names, separated by commas")
    options = commands.parse_args()
    print(machine(), flush=True)
    found: list[Figures] = []
    for task in load_zoo(options.zoo, options.tasks, quick=options.quick).values():
        feeds = Feeds(task, QUICK_CALIBRATION if options.quick else None)
        model = ours.Model.read(task.model_path, batch_one_shape(task))
        floats, made = evaluate(task, ours.predict(model.floats())), list[Figures]()
        for name in options.settings.split(","):
            if not made or changes(made, name):
                made.append(measure(task, model, feeds, name, floats))
                print(", ".join(f"{title} {cell}" for (title, _), cell in zip(COLUMNS, row(made[-1]), strict=True)))
        found += made
    print_table([title for title, _ in COLUMNS], [row(figures) for figures in found])
    tell(found)
    failures = [text for figures in found for text in missed(figures)]
    write_json(options.json, {"quick": options.quick, "rows": found, "failures": failures})
    finish(failures)


def tell(found: Sequence[Figures]) -> None:
    """What stands behind integral cores, and what stops the others."""
    for figures in found:
        where = f"{figures['task']}, {figures['setting']}"
        if figures["last"]:
            print(f"{where}: behind the core, in floats: {', '.join(figures['last'])}")
        reasons = figures["reasons"] if figures["setting"] != "usual" else []
        for reason in reasons[:LISTED]:
            print(f"{where}: {reason}")
        if len(reasons) > LISTED:
            print(f"{where}: {len(reasons) - LISTED} more")


if __name__ == "__main__":
    main()
