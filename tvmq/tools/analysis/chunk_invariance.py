"""Invariance of a model that hands a state to its next call: chunks, sessions and threads change no bit.

Each sequence is run as it came. The same steps in other chunks, several sessions side by side and in one batch, and
other numbers of threads must give the same outputs and leave the same state.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from tvmq.calibration.call_sequences import CallSequences
from tvmq.calibration.dataset import Input
from tvmq.errors import DataError
from tvmq.numerics.deviation import unequal_bits
from tvmq.runtime.executable import Executable
from tvmq.runtime.threads import with_threads
from tvmq.state.session_state import SessionState
from tvmq.tools.analysis.chunk_layers import first_chunk_difference
from tvmq.tools.analysis.chunks import BatchJoiner, Feed, TimeAxis, axis_of, find_time
from tvmq.tools.analysis.invariance_result import Invariance, InvarianceCheck

THREADS = (1, 2, 3)
MOST_ROWS = 5
Advance = Callable[[], object] | None


@dataclass(frozen=True)
class SequenceResults:
    """Results of a sequence: outputs of all steps, then the arrays of the state that is left."""

    values: list[np.ndarray]

    def compare(self, other: SequenceResults) -> tuple[int, int]:
        """(values, values of other bits)."""
        pairs = list(zip(self.values, other.values, strict=True))
        differing = sum(_differing(a, b) for a, b in pairs)
        return sum(a.size for a in self.values), differing


# wanted results, those that came, and why they differ
Plays = Iterator[tuple[SequenceResults, SequenceResults, Callable[[], str]]]


def _differing(a: np.ndarray, b: np.ndarray) -> int:
    return int(unequal_bits(a, b).sum()) if a.shape == b.shape else a.size


class ChunkChecker:
    """Plays sequences of a model in different ways.

    sequences  calls of each, joined to one where they can be
    wanted     what they give, as they are
    time       None where a call has one step
    """

    def __init__(self, exe: Executable, sequences: Sequence[list[Feed]], seed: int) -> None:
        self.exe, self.time = exe, find_time(exe.states, exe.output_info)
        self._arrays = [exe.states.begin_for(calls[0]) for calls in sequences]
        names = {one.name for one in exe.states.tensors}
        plain = [[{n: a for n, a in call.items() if n not in names} for call in calls] for calls in sequences]
        self.sequences = [self._longest(calls) for calls in plain]
        self.random = np.random.default_rng(seed)
        self.wanted = [self.play(number) for number in range(len(sequences))]

    def _longest(self, calls: list[Feed]) -> list[Feed]:
        joined = self.time.join(calls) if self.time is not None else None
        return [joined] if joined is not None else calls

    def begin(self, *numbers: int) -> SessionState:
        """The state before the first call of a sequence, or of several in one batch."""
        states = self.exe.states
        parts = [self._arrays[number] for number in numbers]
        axes = {one.name: axis_of(one.shape, states.batch) for one in states.tensors}
        arrays = {
            name: parts[0][name] if axis is None else np.concatenate([part[name] for part in parts], axis=axis)
            for name, axis in axes.items()
        }
        own = states.sizes_in(self.sequences[numbers[0]][0]).get(states.batch, 1)
        return SessionState(states, arrays, own * len(numbers))

    def play(self, number: int, calls: Sequence[Feed] | None = None) -> SequenceResults:
        """Results of the calls of a sequence, or of the same steps in other calls."""
        return self.play_from(self.begin(number), self.sequences[number] if calls is None else calls)

    def play_from(self, state: SessionState, calls: Sequence[Feed]) -> SequenceResults:
        """Results of calls in turn."""
        results = [self.exe.run(call, state) for call in calls]
        return SequenceResults([*join_calls(self.time, results), *state.arrays.values()])

    def cut(self, number: int, *, single: bool = False) -> list[Feed]:
        """The calls of a sequence cut into shorter ones, of one step each or at random places."""
        assert self.time is not None
        parts, past = list[Feed](), self.begin(number).length
        for call in self.sequences[number]:
            steps = self.time.steps(call)
            few = self.random.integers(1, max(steps, 2), int(self.random.integers(0, min(steps, 8))))
            cuts = range(1, steps) if single else sorted({int(cut) for cut in few if cut < steps})
            ends = [0, *cuts, steps]
            parts += [self.time.cut(call, begin, end, past) for begin, end in itertools.pairwise(ends)]
            past += steps
        return parts

    def explain(self, number: int, parts: Sequence[Feed]) -> str:
        """Sentence about the first layer that differs between two ways to cut a sequence."""
        assert self.time is not None
        calls = self.sequences[number]
        return first_chunk_difference(self.exe.module, self.time, self.begin(number), calls, parts)

    def has_steps(self) -> bool:
        """True if some call has several steps."""
        return self.time is not None and any(self.time.steps(call) > 1 for calls in self.sequences for call in calls)


def join_calls(time: TimeAxis | None, results: Sequence[Sequence[np.ndarray]]) -> list[np.ndarray]:
    """Outputs of several calls as those of one, or of one step a call in a row."""
    if time is not None:
        return time.join_results(results)
    return [np.concatenate([one.ravel() for one in parts]) for parts in zip(*results, strict=True)]


def check_chunks(
    exe: Executable, data: Any, *, samples: int, runs: int, seed: int, advance: Callable[[], object] | None
) -> Invariance:
    """`tvmq.check_invariance` of a model with a state; `samples` are sequences of calls.

    raises  DataError if there are no sequences
    """
    states = exe.states
    inputs = [
        Input(info.name, tuple(None if isinstance(size, str) else size for size in info.shape), info.dtype)
        for info in exe.input_info
    ]
    sequences = list(islice(CallSequences(data, inputs, [one.name for one in states.tensors]), samples))
    if not sequences:
        raise DataError("check_invariance: the data gave 0 sequences; give at least one")
    checker = ChunkChecker(exe, sequences, seed)
    checks = (
        _chunks(checker, runs, advance),
        _batches(checker, runs, advance),
        _sessions(checker, advance),
        _threads(checker, advance),
    )
    return Invariance(len(sequences), checks)


def _chunks(checker: ChunkChecker, runs: int, advance: Advance) -> InvarianceCheck:
    if not checker.has_steps():
        return InvarianceCheck("chunks", 0, note="the model, or the data, has one step in each call")
    return _compare("chunks", _in_chunks(checker, runs), advance)


def _in_chunks(checker: ChunkChecker, runs: int) -> Plays:
    """Each sequence in single steps, then sequences in random chunks."""
    count = len(checker.sequences)
    for run in range(count + runs):
        number = run % count
        parts = checker.cut(number, single=run < count)
        yield checker.wanted[number], checker.play(number, parts), partial(checker.explain, number, parts)


def _sessions(checker: ChunkChecker, advance: Advance) -> InvarianceCheck:
    """All sequences side by side, call by call in turn."""
    if len(checker.sequences) < 2:
        return InvarianceCheck("sessions", 0, note="the data have one sequence")
    return _compare("sessions", _side_by_side(checker), advance)


def _side_by_side(checker: ChunkChecker) -> Plays:
    exe, count = checker.exe, len(checker.sequences)
    states = [checker.begin(number) for number in range(count)]
    results: list[list[list[np.ndarray]]] = [[] for _ in range(count)]
    for step in range(max(map(len, checker.sequences))):
        for number, calls in enumerate(checker.sequences):
            if step < len(calls):
                results[number].append(exe.run(calls[step], states[number]))
    for number, wanted in enumerate(checker.wanted):
        values = [*join_calls(checker.time, results[number]), *states[number].arrays.values()]
        yield wanted, SequenceResults(values), lambda: "sessions share something: please report this"


def _batches(checker: ChunkChecker, runs: int, advance: Advance) -> InvarianceCheck:
    """Several sequences in one batch."""
    if not checker.exe.states.batch:
        return InvarianceCheck("batch", 0, note="the batch is fixed")
    if any(checker.begin(number).batch != 1 for number in range(len(checker.sequences))):
        return InvarianceCheck("batch", 0, note="the data come in batches")
    return _compare("batch", _play_batches(checker, runs), advance)


def _play_batches(checker: ChunkChecker, runs: int) -> Plays:
    joiner = BatchJoiner(checker.exe.states, checker.exe.output_info, checker.time)
    for _ in range(runs):
        first = int(checker.random.integers(len(checker.sequences)))
        alike = [n for n, calls in enumerate(checker.sequences) if _shapes(calls) == _shapes(checker.sequences[first])]
        rows = [first, *map(int, checker.random.choice(alike, int(checker.random.integers(1, MOST_ROWS))))]
        calls = [joiner.join_inputs(parts) for parts in zip(*(checker.sequences[n] for n in rows), strict=True)]
        played = checker.play_from(checker.begin(*rows), calls)
        for row, number in enumerate(rows):
            part = SequenceResults([joiner.row(values, place, row) for place, values in enumerate(played.values)])
            yield checker.wanted[number], part, lambda: "samples of a batch influence each other: see `tvmq explain`"


def _threads(checker: ChunkChecker, advance: Advance) -> InvarianceCheck:
    """By several threads."""
    return _compare("threads", _by_threads(checker), advance)


def _by_threads(checker: ChunkChecker) -> Plays:
    for count in THREADS:
        for number, wanted in enumerate(checker.wanted):
            played = with_threads(count, partial(checker.play, number))
            yield wanted, played, lambda: "compiled code differs: run `tvmq verify` and report it"


def _shapes(calls: Sequence[Feed]) -> list[Any]:
    return [{name: array.shape for name, array in call.items()} for call in calls]


def _compare(what: str, plays: Plays, advance: Advance) -> InvarianceCheck:
    runs = values = differing = 0
    note = ""
    for wanted, played, explain in plays:
        count, wrong = wanted.compare(played)
        values, differing, runs = values + count, differing + wrong, runs + 1
        if wrong and not note:
            note = explain()
        if advance:
            advance()
    return InvarianceCheck(what, runs, values, differing, note)
