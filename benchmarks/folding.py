"""Every operator of ONNX that is folded at import, compared with itself as an input (tests/support/onnx_folds.py).

    python benchmarks/folding.py [--operators Softmax,Clip] [--quick] [--update]

Cases     ONNX's own of single operators, in each opset from 7 on in which the operator has a definition of its own
Equal     folding and compiled code give one type, one shape and the same numbers
Kept      not folded; alone: only folding computes it (an operator or type without compiled code), and gives what the
          case expects
Wrong     the two differ
Bounds    no case wrong. Exit code 1 where one is.
--quick   one case an operator
--update  write docs/onnx-folding.md anew
"""

from __future__ import annotations

from argparse import Namespace
from collections import Counter
from collections.abc import Sequence
from typing import Any

from harness import ROOT
from harness.command import Command, argument
from harness.report import cells_of, columns, table_text

from tests.support.onnx_cases import load_cases
from tests.support.onnx_folds import ALONE, EQUAL, KEPT, WRONG, Fold, judge_all, sample, tasks

DOCUMENT = ROOT / "docs" / "onnx-folding.md"
TEXT = """# ONNX operators that are folded

An operator whose inputs are all constants is computed when a model is imported. This page compares that with compiled
code: each of ONNX's own test cases of such operators runs both ways, in every opset from 7 on that defines its operator
anew. `python benchmarks/folding.py --update` writes the page.

| column | counts cases in which |
| --- | --- |
| equal | both ways give the same type, the same shape and the same numbers |
| kept | nothing is folded; compiled code computes the operator |
| alone | only the import can compute the operator or type, and its result is the expected one |
| wrong | the two results differ |

"""


def rows(folds: Sequence[Fold]) -> list[dict[str, Any]]:
    """Rows, one for each operator: its opsets and the counts of its cases."""
    table = []
    for operator in sorted({fold.operator for fold in folds}, key=str.lower):
        own = [fold for fold in folds if fold.operator == operator]
        counts = Counter(fold.status for fold in own)
        opsets = sorted({fold.opset for fold in own})
        table.append({"operator": operator, "opsets": opsets, **{s: counts[s] for s in (EQUAL, KEPT, ALONE, WRONG)}})
    return table


STATES = (EQUAL, KEPT, ALONE, WRONG)
COLUMNS = (
    *columns("operator {operator}"), ("opsets", lambda row: " ".join(map(str, row["opsets"]))),
    *((state, lambda row, state=state: str(row[state])) for state in STATES),
)  # fmt: skip


def measure(options: Namespace) -> list[dict[str, Any] | str]:
    """A row of each operator, all operators, and what is wrong."""
    from tvmq.tools.cli.console import step

    wanted = set(filter(None, options.operators.split(",")))
    cases = [case for case in load_cases().values() if not wanted or case.operator in wanted]
    cases = sample(cases) if options.quick else cases
    with step("fold, build, run", len(tasks(cases))) as advance:
        folds = list(judge_all(cases, advance))
    table = rows(folds)
    sums = {state: sum(row[state] for row in table) for state in STATES}
    table.append({"operator": f"{len(table)} operators", "opsets": [], **sums})
    if options.update and not options.quick and not wanted:
        cells = [cells_of(COLUMNS, row) for row in table]
        DOCUMENT.write_text(TEXT + table_text([title for title, _ in COLUMNS], cells) + "\n")
    return [*table, *(f"{f.operator}-{f.opset}, {f.name}: {f.detail}" for f in folds if f.status == WRONG)]


main = Command(
    __doc__, COLUMNS, measure, tasks=None,
    arguments=[
        argument("--operators", default="", help="names, separated by commas; all by default"),
        argument("--update", action="store_true", help="write the page of folded operators anew"),
    ],
)  # fmt: skip

if __name__ == "__main__":
    main()
