"""`tvmq.check_conformance`: which operators and branches of a device differ from its description, and what explains it.

An explanation computes every answer of an operator, the right ones too. They are tried from the plain to the far:
another rule of the requantize algebra, a known mistake (single.py, FAULTS), accumulators of another width, and a rule
together with one of these.

Tests: tests/chips/emulation/test_conformance.py
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from tvmq.chips.emulation.accumulator import Accumulator
from tvmq.chips.emulation.add_forms import ADD_FORMS
from tvmq.chips.emulation.arithmetic import Arithmetic
from tvmq.chips.emulation.counts import align_columns
from tvmq.chips.emulation.identify import Identification, identify_requantize
from tvmq.chips.emulation.read_vectors import CaseAnswer, read_answers, read_vectors
from tvmq.chips.emulation.single import FAULTS, OperatorResult

# Faults that an operator can have.
POSSIBLE = {
    "conv2d": ("pads_with_0", "no_input_zero", "no_bias", "saturating_pairs", "flipped"),
    "depthwise": ("pads_with_0", "no_input_zero", "no_bias", "flipped"),
    "dense": ("no_input_zero", "no_bias", "saturating_pairs"),
    "multiply": ("no_input_zero",),
    "average": ("no_input_zero",),
    "maximum": ("pool_from_0",),
    "pad": ("pads_with_0",),
    "table": ("unsigned_index",),
    "add": tuple(ADD_FORMS),
}
WIDTHS = (16, 18, 20, 24)


@dataclass(frozen=True)
class OperatorCheck:
    """Check of a device's answers for one operator.

    operator     of the vectors
    cases        how many have an answer
    values       of these
    differing    of the values
    branches     {branch: values that differ}, where some do
    explanation  what would explain all answers; "" where nothing differs or nothing explains it
    smallest     the smallest counter-example to the nearest explanation, in words
    """

    operator: str
    cases: int
    values: int
    differing: int
    branches: dict[str, int]
    explanation: str = ""
    smallest: str = ""


@dataclass(frozen=True)
class ConformanceCheck:
    """Prints a table and, for operators that differ, what explains it.

    missing  names of cases without an answer
    """

    operators: tuple[OperatorCheck, ...]
    missing: tuple[str, ...]

    @property
    def conforms(self) -> bool:
        """True if every case has an answer and none differs."""
        return not self.missing and all(check.differing == 0 for check in self.operators)

    def to_dict(self) -> dict[str, Any]:
        """Dictionary that JSON can hold."""
        return {"conforms": self.conforms, **asdict(self)}

    def __str__(self) -> str:
        rows = [["operator", "branches that differ", "cases", "values", "differing"]]
        for check in self.operators:
            branches = ", ".join(f"{branch} ({count})" for branch, count in check.branches.items())
            rows.append([check.operator, branches, f"{check.cases}", f"{check.values}", f"{check.differing}"])
        lines = [align_columns(rows), ""]
        for check in self.operators:
            if check.differing and check.explanation:
                lines.append(f"  {check.operator}: explained by {check.explanation}")
            elif check.differing:
                lines.append(f"  {check.operator}: nothing explains it; {check.smallest}")
        if self.missing:
            lines.append(f"  {len(self.missing)} cases have no answer: {', '.join(self.missing[:5])}, ...")
        values, differing = (sum(getattr(c, name) for c in self.operators) for name in ("values", "differing"))
        verdict = "yes" if self.conforms else "no"
        return "\n".join([*lines, f"  conforms: {verdict} ({differing} of {values} values differ)"])


def check_conformance(vectors: str | Path, answers: str | Path) -> ConformanceCheck:
    """Compare what a device answered with the vectors, and explain the differences.

    vectors  a folder that `conformance` wrote
    answers  a folder of .npy files, or an .npz, by the names of the cases: "conv2d/strides_2_int8", in the shape of `y`
    returns  differing values by operator and branch, with the rule or fault that explains all of them; `print` shows it
    raises   DataError for what cannot be read, or does not fit

        check = tvmq.check_conformance("vectors", "answers.npz")
        print(check)
    """
    chips, cases = read_vectors(Path(vectors))
    answered_cases, missing = read_answers(Path(answers), cases)
    by_operator: dict[str, list[CaseAnswer]] = {}
    for answered in answered_cases:
        by_operator.setdefault(answered.case.operator, []).append(answered)
    checks = tuple(_check(chips[name], name, group) for name, group in by_operator.items())
    return ConformanceCheck(checks, tuple(missing))


def _check(chip: Arithmetic, operator: str, group: Sequence[CaseAnswer]) -> OperatorCheck:
    branches: dict[str, int] = {}
    for one in group:
        count = int((one.wanted != one.answer).sum())
        if count:
            branches[one.case.branch] = branches.get(one.case.branch, 0) + count
    values, differing = sum(one.wanted.size for one in group), sum(branches.values())
    explanation = explain_answers(operator, group, chip) if differing else None
    text, smallest = (explanation.explains, explanation.smallest) if explanation else ("", "")
    return OperatorCheck(operator, len(group), values, differing, branches, text, smallest)


@dataclass(frozen=True)
class AnswerExplanation:
    """Rule or mistake that explains the answers to all vectors of one operator.

    text       the rule or mistake; where nothing explains all answers, what comes nearest
    values     how many answers
    differing  of them, from what `text` says
    smallest   the smallest counter-example in words; "" where nothing differs
    others     further rules of the algebra that explain all answers
    """

    text: str
    values: int
    differing: int
    smallest: str = ""
    others: int = 0

    @property
    def explains(self) -> str:
        """The text, if it explains all answers; else ""."""
        also = f" ({self.others} other rules give the same)" if self.others else ""
        return "" if self.differing else f"{self.text}{also}"

    def to_dict(self) -> dict[str, Any]:
        """Dictionary that JSON can hold."""
        return asdict(self)

    def __str__(self) -> str:
        if not self.differing:
            return f"{self.explains}: all {self.values} values"
        return f"nothing explains all; nearest {self.text}, {self.differing} of {self.values} differ: {self.smallest}"


def explain_answers(operator: str, group: Sequence[CaseAnswer], chip: Arithmetic | None = None) -> AnswerExplanation:
    """Explanation of all answers to the vectors of one operator; else the one that explains most.

    chip  as described; None: sums of 32 bits
    """
    chip, values = chip or Arithmetic(), sum(one.answer.size for one in group)
    nearest: AnswerExplanation | None = None
    for text, other, fault in _variants(chip, operator):
        results = [one.case.compute(other, fault) for one in group]
        wrong = [np.asarray(m.y.reshape(one.answer.shape) != one.answer) for m, one in zip(results, group, strict=True)]
        count = sum(int(w.sum()) for w in wrong)
        if text and not count:
            return AnswerExplanation(text, values, 0)
        match = _rule(results, group)
        if match is None:
            one = AnswerExplanation(text or "the definition", values, count, _counterexample(results, wrong, group))
        else:
            named = " and ".join(filter(None, [f"rule {match.name}", text]))
            one = AnswerExplanation(named, values, match.differing, str(match.smallest or ""), len(match.others))
        if not one.differing:
            return one
        nearest = one if nearest is None or one.differing < nearest.differing else nearest
    assert nearest is not None
    return nearest


def _counterexample(results: Sequence[OperatorResult], wrong: Sequence[np.ndarray], group: Sequence[CaseAnswer]) -> str:
    """The first value that differs, of the smallest case that has one."""
    places = [i for i, where in enumerate(wrong) if where.any()]
    if not places:
        return ""
    i = min(places, key=lambda i: wrong[i].size)
    at = tuple(int(n) for n in np.argwhere(wrong[i])[0])
    case = group[i].case
    ours, theirs = results[i].y.reshape(wrong[i].shape)[at], group[i].answer[at]
    codes = ", ".join(f"{name} {int(case.arrays[name].reshape(wrong[i].shape)[at])}" for name in ("x", "w")
                      if name in case.arrays and case.arrays[name].size == wrong[i].size
                      and case.arrays[name].dtype.kind in "iu")  # fmt: skip
    where = f"{case.operator}/{case.name} at {list(at)}{f' ({codes})' if codes else ''}"
    return f"{where}: wanted {ours}, answered {theirs}"


def _variants(chip: Arithmetic, operator: str) -> Iterator[tuple[str, Arithmetic, str]]:
    """(in words, chip, fault): the chip as described first."""
    yield "", chip, ""
    for fault in POSSIBLE.get(operator, ()):
        yield f"it {FAULTS[fault]}", chip, fault
    if operator not in ("conv2d", "depthwise", "dense"):
        return
    if chip.accumulator != Accumulator():
        yield "accumulators of 32 bits", replace(chip, accumulator=Accumulator()), ""
    for bits in WIDTHS:
        for overflow in ("wrap", "saturate"):
            other = Accumulator(bits, overflow)
            if other != chip.accumulator:
                yield f"accumulators of {bits} bits that {overflow}", replace(chip, accumulator=other), ""


def _rule(results: Sequence[OperatorResult], group: Sequence[CaseAnswer]) -> Identification | None:
    """The rule of the algebra for these sums; None for operators that requantize nothing."""
    acc, answers, zeros, scales = [], [], [], ([], [], [])  # type: ignore[var-annotated]
    limits: set[tuple[int, int, str]] = set()
    for result, one in zip(results, group, strict=True):
        a = one.case.attributes
        if result.acc is None or result.scale_w is None:
            return None
        size = result.acc.size
        acc.append(result.acc.ravel())
        answers.append(one.answer.ravel().astype(np.int64))
        zeros.append(np.full(size, a["y_zero"]))
        for kept, scale in zip(scales, (a["x_scale"], result.scale_w.ravel(), a["y_scale"]), strict=True):
            kept.append(np.broadcast_to(np.float32(scale), (size,)))
        limits.add((a["qmin"], a["qmax"], a["dtype"]))
    matches = []
    for low, high, dtype in sorted(limits):
        at = [i for i, one in enumerate(group) if one.case.attributes["dtype"] == dtype]
        joined = [np.concatenate([part[i] for i in at]) for part in (acc, answers, zeros, *scales)]
        matches.append(
            identify_requantize(
                joined[0], joined[1].astype(dtype), scales=joined[3:], zero_point=joined[2], qmin=low, qmax=high
            )
        )
    return _combine_matches(matches)


def _combine_matches(matches: Sequence[Identification]) -> Identification:
    """Identification that several types share: a rule that explains all of them, or the worst of the nearest."""
    explaining = [dict.fromkeys([] if one.rule is None else [one.rule, *one.others]) for one in matches]
    common = [rule for rule in explaining[0] if all(rule in other for other in explaining[1:])]
    values = sum(one.values for one in matches)
    if common:
        names = tuple(name for name in matches[0].known if all(name in one.known for one in matches[1:]))
        return Identification(common[0], common[0], tuple(common[1:]), names, values, 0, None)
    worst = max(matches, key=lambda one: one.differing)
    return replace(worst, rule=None, values=values, differing=max(worst.differing, 1))
