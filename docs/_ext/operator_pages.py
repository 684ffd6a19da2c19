"""docs/operators.md, the support matrix: operators by consumers, printed from the tables of the code.

    python docs/_ext/operator_pages.py            # prints the page
    python docs/_ext/operator_pages.py --update   # writes it

It needs torch, whose tables it reads as well; so the page is kept in the repository, and a test compares it.

Tests: tests/docs/test_operator_page.py
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Set
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.support.operator_consumers import Consumer

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "operators.md"

HEAD = """# Operators

Which operators each part of tvmq handles. Every cell is a function in a table of the code, or a reason why there is
none; a test compares both, so a new operator cannot be forgotten. For the operators of your model, run

    tvmq explain model.tvmq

Operators called `tvmq.*` are tvmq's own, made by `quantize`; the others are those of Relax. The operators that can be
imported are on a page of their own: [ONNX operators](onnx-operators.md). `python docs/_ext/operator_pages.py --update`
writes this page.

| column | what it does with an operator | its functions |
| --- | --- | --- |"""
ABOUT = {
    "reference": "computes it in NumPy, as [the definition](numbers.md) says",
    "ONNX": "[exports](quantized-models.md#out) it",
    "torch": "[exports](torch.md#out) it",
    "TFLite": "[exports](formats.md) it, if it is in an integer core",
    "TOSA": "[exports](formats.md#tosa) it, if it is in an integer core",
    "C": "[exports](c-export.md) it, if it is in an integer core",
    "training": "[computes it with gradients](training.md)",
    "emulation": "computes it as a [described chip](emulation.md) does, if the chip may differ from the definition",
    "bounds": "bounds its integers, to prove that accumulators hold them",
    "code ranges": "says which codes its result can have, for faster kernels",
}
LEGEND = """
| cell | meaning |
| --- | --- |
| ✓ | there is a function |
| – | the column is not asked: the operator is in no integer core |
| a number | there is no function, for the [reason](#reasons) of that number |
"""


def page() -> str:
    """The text of docs/operators.md."""
    if str(ROOT) not in sys.path:
        sys.path.insert(0, str(ROOT))
    from tests.support.operator_consumers import MATRIX
    from tvmq.graph.operators import RECORDS

    known = {name: consumer.known() for name, consumer in MATRIX.items()}
    numbers: dict[str, int] = {}
    kinds: dict[str, dict[tuple[str, ...], list[str]]] = {}
    for record in sorted(RECORDS, key=lambda record: record.name):
        row = tuple(_cell(record.name, MATRIX[name], known[name], numbers) for name in MATRIX)
        kinds.setdefault(record.kind, {}).setdefault(row, []).append(record.name)
    lines = [HEAD, *(f"| {name} | {ABOUT[name]} | {consumer.table} |" for name, consumer in MATRIX.items()), LEGEND]
    for kind in sorted(kinds):
        lines += [f"## {kind.capitalize()}", "", *_table(list(MATRIX), kinds[kind]), ""]
    lines += ["## Reasons", "", *_reasons(numbers, MATRIX), ""]
    return "\n".join(lines)


def _cell(operator: str, consumer: Consumer, known: Set[str], numbers: dict[str, int]) -> str:
    if operator in known:
        return "✓"
    if operator not in consumer.asked:
        return "–"
    return str(numbers.setdefault(consumer.reason(operator), len(numbers) + 1))


def _table(columns: list[str], rows: Mapping[tuple[str, ...], list[str]]) -> Iterator[str]:
    yield f"| operator | {' | '.join(columns)} |"
    yield f"| --- |{' :---: |' * len(columns)}"
    for cells, names in rows.items():
        yield f"| {', '.join(f'`{name}`' for name in names)} | {' | '.join(cells)} |"


def _reasons(numbers: Mapping[str, int], matrix: Mapping[str, Consumer]) -> Iterator[str]:
    yield "| number | columns | reason |"
    yield "| ---: | --- | --- |"
    for sentence, number in numbers.items():
        columns = [name for name, consumer in matrix.items() if sentence in consumer.reasons]
        yield f"| {number} | {', '.join(columns)} | {sentence} |"


if __name__ == "__main__":
    if "--update" in sys.argv:
        PAGE.write_text(page(), encoding="utf-8")
    else:
        print(page())
