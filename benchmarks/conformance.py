"""The ONNX importer on ONNX's own test cases of single operators: passed, refused, wrong (tests/support/onnx_cases.py).

    python benchmarks/conformance.py [--operators Conv,Resize] [--quick] [--update]

Cases     all of `onnx.backend.test`, kind node, as the installed package makes them; nothing is copied from there
Passed    imported, built for this CPU, and equal to the expected outputs within the case's own tolerance
Refused   one sentence that names the node or value and the way out
Wrong     anything else: numbers, shapes, types, other exceptions, crashes, hangs
Bounds    no case wrong; of the float32 cases of COMMON at least 90 % pass; nothing that passed before is refused
          (tests/formats/importing/conformance.txt). Exit code 1 where one is missed.
--quick   one case an operator, as the tests do it
--update  write tests/formats/importing/conformance.txt and docs/onnx-operators.md anew; read their difference
"""

from __future__ import annotations

import argparse
from argparse import Namespace
from collections.abc import Iterator, Sequence
from typing import Any

from harness import ROOT
from harness.command import Command, argument
from harness.report import columns

from tests.support.onnx_cases import (
    PASSED,
    REFUSED,
    WRONG,
    Case,
    Verdict,
    expected_refusals,
    judge_all,
    load_cases,
    sample,
    write_expectation,
)

EXPECTATION = ROOT / "tests" / "formats" / "importing" / "conformance.txt"
DOCUMENT = ROOT / "docs" / "onnx-operators.md"
LEAST_SHARE = 0.9
# Operators of common convolutional networks and transformers, as PyTorch, TensorFlow and Paddle export them.
COMMON = frozenset(
    """
    Abs Add And ArgMax ArgMin Attention AveragePool BatchNormalization Cast CastLike Ceil Celu Clip Concat
    Constant ConstantOfShape Conv ConvTranspose Cos CumSum DepthToSpace Div Dropout Einsum Elu Equal Erf Exp
    Expand Flatten Floor Gather GatherElements GatherND Gelu Gemm GlobalAveragePool GlobalMaxPool Greater
    GreaterOrEqual GridSample GroupNormalization Hardmax HardSigmoid HardSwish Identity InstanceNormalization
    LayerNormalization LeakyRelu Less LessOrEqual Log LogSoftmax LpNormalization LpPool LRN MatMul Max MaxPool
    Mean MeanVarianceNormalization Min Mish Mod Mul Neg Not OneHot Or Pad Pow PRelu Range Reciprocal ReduceL1
    ReduceL2 ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare Relu Reshape
    Resize RMSNormalization RotaryEmbedding Round ScatterElements ScatterND Selu Shape Sigmoid Sign Sin Size Slice
    Softmax Softplus Softsign SpaceToDepth Split Sqrt Squeeze Sub Sum Swish Tan Tanh ThresholdedRelu Tile TopK
    Transpose Trilu Unsqueeze Upsample Where Xor
    """.split()
)


def rows(cases: Sequence[Case], verdicts: Sequence[Verdict]) -> list[dict[str, Any]]:
    """Rows, one for each operator: counts, counts of the float32 cases, reasons of refusals and of wrong results."""
    table: dict[str, dict[str, Any]] = {}
    for case, verdict in zip(cases, verdicts, strict=True):
        row = table.setdefault(
            case.operator,
            {"operator": case.operator, PASSED: 0, REFUSED: 0, WRONG: 0, "constants": 0, "float32": [0, 0], "why": {}},
        )
        row[verdict.status] += 1
        row["constants"] += verdict.status == PASSED and verdict.detail == "constants"
        if case.is_float32:
            row["float32"][0] += verdict.status == PASSED
            row["float32"][1] += 1
        if verdict.status != PASSED:
            row["why"][case.name] = verdict.detail
    return sorted(table.values(), key=lambda row: row["operator"].lower())


def common_share(table: Sequence[dict[str, Any]]) -> tuple[int, int]:
    """(passed, all) float32 cases of COMMON."""
    counts = [row["float32"] for row in table if row["operator"] in COMMON]
    return sum(passed for passed, _ in counts), sum(count for _, count in counts)


def missed(cases: Sequence[Case], verdicts: Sequence[Verdict], table: Sequence[dict[str, Any]]) -> list[str]:
    """Bounds that do not hold."""
    failures = [f"{v.name}: {v.detail}" for v in verdicts if v.status == WRONG]
    passed, count = common_share(table)
    if passed < LEAST_SHARE * count:
        failures.append(f"{passed} of {count} float32 cases of the common operators pass, wanted {LEAST_SHARE:.0%}")
    refused = expected_refusals(EXPECTATION)
    for verdict in verdicts if refused is not None else ():
        if verdict.status == REFUSED and verdict.name not in refused:
            failures.append(f"{verdict.name} passed before: {verdict.detail}")
    return failures


def state(row: dict[str, Any]) -> str:
    """State of an operator in the table."""
    if not row[REFUSED]:
        return "supported"
    return "partly" if row[PASSED] else "refused"


def reason(row: dict[str, Any]) -> str:
    """The most frequent refusal of an operator, without the names of its layer and values."""
    texts = [text.split("; ")[0].partition(": ")[2] for text in row["why"].values()]
    texts = [text.removeprefix(f"{row['operator']}: ") for text in texts]
    return max(sorted(set(texts)), key=texts.count).replace("|", "\\|") if texts else ""


def document(table: Sequence[dict[str, Any]]) -> str:
    """docs/onnx-operators.md."""
    passed, count = common_share(table)
    totals = [sum(row[key] for row in table) for key in (PASSED, REFUSED, WRONG)]
    lines = [
        "# ONNX operators",
        "",
        "Which operators `tvmq.from_onnx` imports. ONNX's own test cases of each operator are imported, built, run",
        "and compared; `python benchmarks/conformance.py --update` writes this page.",
        "",
        "| in the table | meaning |",
        "| --- | --- |",
        "| supported | all cases pass |",
        "| partly | some cases are refused, often for one attribute or element type: text, bfloat16, 8-bit floats |",
        "| refused | the import ends with one error that names the layer and says what to do instead |",
        "",
        "Where the importer needs a constant shape, bound or axis, the inputs of the case are made constants,",
        "as exporters write them. An operator that ONNX defines in terms of others is imported by that definition.",
        "",
        f"{sum(totals)} cases: {totals[0]} passed, {totals[1]} refused, {totals[2]} wrong. "
        f"Float32 cases of operators in common networks: {passed} of {count} passed.",
        "",
        "| operator | | cases passed | of float32 | most frequent reason for refusals |",
        "| --- | --- | ---: | ---: | --- |",
    ]
    for row in table:
        count, (right, floats) = row[PASSED] + row[REFUSED] + row[WRONG], row["float32"]
        shown = [row["operator"], state(row), f"{row[PASSED]} of {count}", f"{right} of {floats}", reason(row)]
        lines.append("| " + " | ".join(shown) + " |")
    return "\n".join(lines) + "\n"


def chosen(options: argparse.Namespace) -> list[Case]:
    """The cases to run."""
    cases = list(load_cases().values())
    wanted = set(filter(None, options.operators.split(",")))
    cases = [case for case in cases if not wanted or case.operator in wanted]
    return sample(cases) if options.quick else cases


STATES = {PASSED: PASSED, REFUSED: REFUSED, WRONG: WRONG, "constants": "with constants"}
COLUMNS = (
    *columns("operator {operator}"),
    *((title, lambda row, state=state: str(row[state])) for state, title in STATES.items()),
    *columns("float32 passed {float32[0]} of {float32[1]}"),
)  # fmt: skip


def measure(options: Namespace) -> Iterator[dict[str, Any] | str]:
    """A row of each operator, all operators, and bounds that are missed."""
    from tvmq.tools.cli.console import step

    cases = chosen(options)
    with step("import, build, run", len(cases)) as advance:
        verdicts = list(judge_all(cases, advance))
    table = rows(cases, verdicts)
    if options.update and not options.quick and not options.operators:
        write_expectation(EXPECTATION, cases, verdicts)
        DOCUMENT.write_text(document(table))
    sums = {state: sum(row[state] for row in table) for state in STATES}
    floats = [sum(row["float32"][i] for row in table) for i in (0, 1)]
    yield from (*table, {"operator": f"{len(table)} operators", **sums, "float32": floats, "why": {}})
    for row in table:
        for name, detail in row["why"].items():
            print(f"{row['operator']:24} {name}: {detail}")
    print("float32 cases of common operators: {} of {} pass".format(*common_share(table)))
    yield from missed(cases, verdicts, table)


main = Command(
    __doc__, COLUMNS, measure, tasks=None,
    arguments=[
        argument("--operators", default="", help="names, separated by commas; all by default"),
        argument("--update", action="store_true", help="write the expectation and the page of operators anew"),
    ],
)  # fmt: skip

if __name__ == "__main__":
    main()
