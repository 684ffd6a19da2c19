"""Which operators of a module each lowering takes, and why it does not take the others that it was meant for.

Tests: tests/codegen/custom_lowering/test_own_functions.py
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tvm import relax

from tvmq.codegen.custom_lowering.loop_function import Loops, function_for
from tvmq.codegen.custom_lowering.lowering import Lowering
from tvmq.codegen.custom_lowering.match import Match
from tvmq.graph.names import merge
from tvmq.graph.patterns.matching import Matcher, MatchState
from tvmq.graph.patterns.pattern import PatternStep, nodes, spine
from tvmq.graph.view import View, const_value, is_const, op_name, used_vars


@dataclass(frozen=True, eq=False)
class LoweringMatch:
    """A lowering and the operators that it takes.

    loops  the function that computes them; None where it is no function of loops
    """

    lowering: Lowering
    match: Match
    loops: Loops | None = None

    @property
    def members(self) -> tuple[str, ...]:
        """Variables that its call computes; the last one is the result."""
        return tuple(self.match.calls)


@dataclass(frozen=True)
class Mismatch:
    """A layer that begins as a lowering's pattern does, and is not taken.

    layer  name in the source
    why    a sentence
    """

    lowering: str
    layer: str
    why: str


@dataclass(frozen=True, eq=False)
class Selection:
    """Matches of all lowerings in a module, keyed by the variable of the result; and mismatches."""

    matches: dict[str, LoweringMatch]
    mismatches: tuple[Mismatch, ...]


def select(
    view: View, lowerings: Sequence[Lowering], composites: Sequence[tuple[Lowering, Sequence[str]]] = ()
) -> Selection:
    """Select the operators of each lowering: the first in the list chooses first, the longest fit of its pattern.

    composites  (lowering, its variables) that are decided already, by FuseOpsByPattern
    """
    selector = _Selector(view)
    for lowering, members in composites:
        selector.give(lowering, members)
    return selector.run(lowerings)


class _Selector:
    def __init__(self, view: View) -> None:
        self.view = view
        values = {view.var[name]: value for name, value in view.value.items()}
        self.matcher = Matcher(view.producer, view.sources, values=values)
        self.owner: dict[str, str] = {}  # {variable: lowering}
        self.matches: dict[str, LoweringMatch] = {}
        self.mismatches: list[Mismatch] = []

    def run(self, lowerings: Sequence[Lowering]) -> Selection:
        for lowering in lowerings:
            refused = self._take(lowering)
            self.mismatches += self._misses(lowering, refused)
        order = self.view.place
        return Selection(dict(sorted(self.matches.items(), key=lambda item: order[item[0]])), tuple(self.mismatches))

    def give(self, lowering: Lowering, members: Sequence[str]) -> None:
        """Give a lowering these variables, as far as they are still there."""
        known = [name for name in members if name in self.view.value]
        if known:
            self.matches[known[-1]] = LoweringMatch(lowering, self._match(lowering, known, MatchState()))
            self.owner.update(dict.fromkeys(known, lowering.name))

    def _take(self, lowering: Lowering) -> dict[str, str]:
        """Take all that fits; {first variable: why} of what fits and is not taken all the same."""
        refused: dict[str, str] = {}
        for members, state in self._ways(lowering):
            match = self._match(lowering, members, state)
            answer = self._refusal(lowering, members, match) or function_for(lowering, match)
            if isinstance(answer, str):
                refused.setdefault(members[0], answer)
                continue
            self.matches[members[-1]] = LoweringMatch(lowering, match, answer)
            self.owner.update(dict.fromkeys(members, lowering.name))
        return refused

    def _ways(self, lowering: Lowering) -> list[tuple[list[str], MatchState]]:
        """All that a pattern fits, as variables in order; the longest first, of equal ones the earliest."""
        roots = {step.node.name for step in _ends(lowering)}
        place = self.view.place
        ways = [
            (sorted(state.members, key=place.__getitem__), state)
            for var, value in self.view.bindings
            if op_name(value) in roots
            for state in self.matcher.matches(lowering.node, var)
        ]
        return sorted(ways, key=lambda way: (-len(way[0]), place[way[0][-1]]))

    def _refusal(self, lowering: Lowering, members: Sequence[str], match: Match) -> str | None:
        """Why operators that fit are not taken."""
        for name in members:
            if name in self.owner:
                return f"lowering '{self.owner[name]}' has taken {self._name(name)}"
        for name in members[:-1]:
            readers = [reader for reader in self.view.readers[name] if reader not in members]
            if readers:
                return f"{self._name(name)} is also read by {self._name(readers[0])}"
            if self.view.is_output(name):
                return f"{self._name(name)} is also a result of the model"
        for var in (*match.inputs, match.result):
            if not isinstance(var.ty, relax.TensorType):
                return f"{self._name(var.name)} is a tuple of tensors"
        answer: Any = lowering.check(match) if lowering.check else True
        if isinstance(answer, str):
            return answer
        if not answer:
            return "its check= refuses it"
        if lowering.context_check is not None and not lowering.context_check(_Context(self.view, match)):
            return "the check of its pattern refuses it"
        return None

    def _match(self, lowering: Lowering, members: Sequence[str], state: MatchState) -> Match:
        view, inputs, constants = self.view, {}, []
        for name in members:
            for arg in _operands(view.value[name].args):
                if is_const(arg):
                    constants.append(const_value(arg))
                elif arg.name not in members:
                    inputs[arg.name] = arg
        known = [(node.source, state.captured[id(node)]) for node in nodes(lowering.node) if id(node) in state.captured]
        captured = {
            key: next((expr for source, expr in known if _is(source, pattern)), None)
            for key, pattern in lowering.annotations.items()
        }
        return Match(
            lowering.name,
            merge(*(view.sources(name) for name in members)),
            {name: view.value[name] for name in members},
            tuple(inputs.values()),
            tuple(constants),
            view.var[members[-1]],
            {key: value for key, value in captured.items() if value is not None},
        )

    # ---- what is not taken

    def _misses(self, lowering: Lowering, refused: dict[str, str]) -> Iterator[Mismatch]:
        steps = spine(lowering.node)
        begins = [var.name for var, value in self.view.bindings if op_name(value) == steps[0].node.name]
        for name in begins:
            owner = self.owner.get(name)
            if owner == lowering.name:
                continue
            why = f"lowering '{owner}' has taken it" if owner else refused.get(name) or self._climb(steps, name)
            yield Mismatch(lowering.name, "/".join(self.view.sources(name)[:1]), why)

    def _climb(self, steps: Sequence[PatternStep], name: str) -> str:
        """Follow the pattern from its first operator as far as it goes."""
        at = 0
        while True:
            why = self.matcher.miss(steps[at].node, self.view.var[name])
            if why is not None:
                return why
            rest = range(at + 1, len(steps))
            if not rest:
                return "the rest of its pattern does not fit"
            reader = self.view.only_reader(name)
            if reader is None:
                return self._why_alone(name, steps[at + 1].node.name)
            operator = op_name(self.view.value[reader])
            following = self._next_step(steps, at, operator)
            if following is None:
                wanted = " or ".join(dict.fromkeys(steps[i].node.name for i in self._possible_steps(steps, at)))
                return f"behind {self._name(name)} comes {operator or 'a projection'}, the pattern asks for {wanted}"
            at, name = following, reader

    @staticmethod
    def _possible_steps(steps: Sequence[PatternStep], at: int) -> list[int]:
        """The steps that may come next: optional ones, and the first that is not."""
        indices = []
        for index in range(at + 1, len(steps)):
            indices.append(index)
            if not steps[index].optional:
                break
        return indices

    def _next_step(self, steps: Sequence[PatternStep], at: int, operator: str) -> int | None:
        return next((i for i in self._possible_steps(steps, at) if steps[i].node.name == operator), None)

    def _why_alone(self, name: str, wanted: str) -> str:
        readers = self.view.readers[name]
        if self.view.is_output(name):
            return f"{self._name(name)} is a result of the model, the pattern asks for {wanted} behind it"
        if not readers:
            return f"nothing reads {self._name(name)}, the pattern asks for {wanted} behind it"
        return f"{self._name(name)} is read by {len(readers)} operators, {wanted} has to be the only one"

    def _name(self, name: str) -> str:
        return self.matcher.name(self.view.var[name])


def _ends(lowering: Lowering) -> list[PatternStep]:
    """The steps that may give the result: the last, and what comes before optional ones."""
    ends = []
    for step in reversed(spine(lowering.node)):
        ends.append(step)
        if not step.optional:
            break
    return ends


def _operands(args: Any) -> Iterator[relax.Expr]:
    """Variables and constants among arguments, tuples opened; sizes and numbers are attributes of the operator."""
    for arg in args:
        if isinstance(arg, relax.Tuple):
            yield from _operands(arg.fields)
        elif isinstance(arg, relax.Call):
            yield from _operands(arg.args)
        elif is_const(arg) or (isinstance(arg, relax.Var) and used_vars(arg)):
            yield arg


def _is(a: Any, b: Any) -> bool:
    return a is not None and bool(a.same_as(b))


class _Context:
    """Argument that TVM gives to the check of a pattern, with the same names of fields."""

    def __init__(self, view: View, match: Match) -> None:
        self.matched_expr = match.calls[match.result.name]
        self.annotated_expr = dict(match.captured)
        self.matched_bindings = {view.var[name]: call for name, call in match.calls.items()}
        self.var_usages = {view.var[name]: [view.var[reader] for reader in view.readers[name]] for name in view.var}
        self.value_to_bound_var = {value: view.var[name] for name, value in view.value.items()}
