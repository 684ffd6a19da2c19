"""Arithmetic of other tools: their answers to vectors of single operators, and the rules that explain them.

    python benchmarks/black_boxes.py [--tools onnxruntime,openvino,...] [--avx2] [--seed 0] [--json FILE] [--quick]

Each tool is a black box: it gets a model of one quantized operator and codes, and its answers are given to the
search of tvmq.chips.emulation, which knows nothing of the tool. The vectors are those of `tvmq conformance` for
8-bit types: ties, saturation, zero points, tails, strides, padding, small factors.

Tools     onnxruntime         as this CPU runs it
          onnxruntime (AVX2)  --avx2: on a CPU without VNNI and AVX-512, as valgrind shows one
          openvino            as this CPU runs it
          litert              ai-edge-litert, which takes XNNPACK; litert reference: its kernels for reference
          tflite-micro        the wheel's interpreter, reference kernels
Columns   operator, rule found (or the nearest), values compared, differing from that rule. Rules that give the same on
          all values are counted behind the known ones. An operator that no rule explains has a second row, without the
          cases of tiny factors, whose sums and biases reach 2^30
Exit code 1 where a chosen tool is not installed.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from argparse import Namespace
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from exact.black_box_tools import TOOLS, answer_all
from harness.command import Command, argument
from harness.report import columns

import tvmq
from tvmq.chips.emulation.cases import Vector, cases_of
from tvmq.chips.emulation.conformance_explanation import AnswerExplanation, explain_answers
from tvmq.chips.emulation.read_vectors import CaseAnswer

QUICK = ("usual", "ties", "small", "saturation", "zero")
FAR = "small"  # cases of factors so small that sums and biases reach 2^30
UNDER_VALGRIND = "onnxruntime (AVX2)"


def cases(types: Sequence[str], seed: int, *, quick: bool) -> list[Vector]:
    """Vectors of a chip with these activations and free scales."""
    chip = tvmq.Backend("probe", activations=tuple(types))
    found = cases_of(chip, seed)
    return [case for case in found if not quick or case.name.startswith(QUICK)]


def explained(answers: Sequence[CaseAnswer]) -> dict[str, AnswerExplanation]:
    """{operator: what explains its answers}."""
    by_operator: dict[str, list[CaseAnswer]] = {}
    for one in answers:
        dtype = one.case.attributes["x_dtype"]
        by_operator.setdefault(f"{one.case.operator} {dtype}", []).append(one)
    found: dict[str, AnswerExplanation] = {}
    for name, group in by_operator.items():
        found[name] = explain_answers(name.split()[0], group)
        usual = [one for one in group if not one.case.name.startswith(FAR)]
        if found[name].differing and len(usual) < len(group):
            found[f"{name}, usual factors"] = explain_answers(name.split()[0], usual)
    return found


def of_tool(name: str, seed: int, *, quick: bool) -> dict[str, AnswerExplanation]:
    """The rows of one tool."""
    tool = TOOLS[name]
    return explained(answer_all(tool, cases(tool.types, seed, quick=quick)))


def under_valgrind(seed: int, *, quick: bool) -> dict[str, AnswerExplanation]:
    """onnxruntime where the CPU has AVX2 and nothing newer: valgrind shows a program such a CPU."""
    chosen = [case for case in cases(("uint8", "int8"), seed, quick=quick) if case.operator in ("conv2d", "dense")]
    with tempfile.TemporaryDirectory() as folder:
        command = ["valgrind", "--tool=none", "-q", sys.executable, __file__, *(["--quick"] if quick else [])]
        subprocess.run([*command, "--seed", str(seed), "--child", f"{folder}/answers.npz"], check=True)
        with np.load(f"{folder}/answers.npz") as found:
            answers = [
                CaseAnswer(case, found[name], found[name])
                for case in chosen
                if (name := f"{case.operator}/{case.name}") in found
            ]
    return explained(answers)


COLUMNS = columns(
    "tool {tool} | operator {operator} | rule found {text}{same} | values {values} | differing {differing}"
)


def answer_to_file(options: Namespace) -> None:
    """Write onnxruntime's answers to convolutions and products to the file `--child`."""
    tool = TOOLS["onnxruntime"]
    vectors = cases(tool.types, options.seed, quick=options.quick)
    answers = answer_all(tool, [case for case in vectors if case.operator in ("conv2d", "dense")])
    np.savez(options.child, **{f"{one.case.operator}/{one.case.name}": one.answer for one in answers})


def measure(options: Namespace) -> Iterator[dict[str, Any] | str]:
    """The rows of each tool, or that it is not installed."""
    names = [*filter(None, options.tools.split(",")), *([UNDER_VALGRIND] if options.avx2 else [])]
    for name in names:
        find = under_valgrind if name == UNDER_VALGRIND else partial(of_tool, name)
        try:
            found = find(options.seed, quick=options.quick)
        except ImportError as error:
            yield f"{name}: {error}"
            continue
        for operator, one in found.items():
            facts = one.to_dict()
            same = f" (+ {facts['others']})" if facts["others"] else ""  # other rules that give the same
            yield {"tool": name, "operator": operator, "same": same, **facts}


main = Command(
    __doc__, COLUMNS, measure, tasks=None, child=answer_to_file,
    arguments=[
        argument("--tools", default=",".join(TOOLS), help="names, separated by commas"),
        argument("--seed", type=int, default=0),
        argument("--avx2", action="store_true", help="onnxruntime under valgrind as well; takes minutes"),
    ],
)  # fmt: skip

if __name__ == "__main__":
    main()
