"""The course of a training: steps, judgements, the state that is kept, and Ctrl-C.

Tests: tests/training/test_finetune.py
"""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tvmq.base.stage_progress import LOG
from tvmq.training.network import IntegerNetwork
from tvmq.training.optimizer import StepAdam
from tvmq.training.samples import TrainingSamples
from tvmq.training.teacher import Student

if TYPE_CHECKING:
    from tvmq.training.distill import Distill

JUDGEMENTS = 20  # of the state, spread over the steps
STEPS = 1000  # where neither steps nor seconds are given
# Codes of a weight a step. Each is tried for TRIAL of the whole, from the start, if that gives each at least FEWEST
# steps; else USUAL is taken. 4-bit weights want small steps, 2-bit ones large ones. A short trial likes large steps
# better than a long training does (resnet8, 4 bits: of trials of 50 steps 0.03 won, and lost to 0.01 after 1000).
RATES, USUAL = (0.003, 0.01, 0.03), 0.01
TRIAL, FEWEST = 0.2, 5


@dataclass(frozen=True)
class FinetuneProgress:
    """State of training, reported after each step.

    step   its number
    done   share of all steps, or of the time
    loss   of this step
    error  of the state that is kept so far, on the samples that judge
    """

    step: int
    done: float
    loss: float
    error: float


@dataclass(frozen=True)
class FinetuneResult:
    """Result of finetuning: errors on the samples that judge, at the start and of the state that stays.

    learning_rate  that was given, or the one of RATES that the samples which judge liked best
    """

    steps: int
    seconds: float
    before: float
    after: float
    interrupted: bool = False
    learning_rate: float = USUAL

    def note(self) -> str:
        """Note for the ledger.

        >>> FinetuneResult(120, 9.5, 0.0195, 0.0119).note()
        'finetuned in 120 steps: the error of the outputs relative to float fell from 1.95 % to 1.19 % of their energy'
        """
        before, after = (f"{100 * share:.3g} %" for share in (self.before, self.after))
        change = f"fell from {before} to {after} of their energy"
        if not self.after < self.before:
            change = f"did not fall below {before} of their energy, so the start stays"
        return f"finetuned in {self.steps} steps: the error of the outputs relative to float {change}"


class Course:
    """Training run: what is learned, and the best state so far."""

    def __init__(self, net: IntegerNetwork, samples: TrainingSamples, options: Distill) -> None:
        self.net, self.options = net, options
        learned, judges = samples.split()
        self.student, self.judges = Student(net, options.layers), judges.in_order(options.batch)
        self.batches = learned.batches(options.batch, np.random.default_rng(options.seed))
        self.by_sample = samples.joins
        self.start = self.best = self.errors = self._errors()
        self.kept = net.kept_state()
        self._tell_better()

    def run(self, interrupted: list[int]) -> FinetuneResult:
        self.began, self.step, self.interrupted = time.monotonic(), 0, interrupted
        rate = self.options.learning_rate
        try:
            if rate is None:
                rate = self._best_rate()
            self.net.load_state_dict(self.kept)  # that of the best trial
            self._steps(rate, 1.0)
        except KeyboardInterrupt:  # outside of the main thread, or raised by what watches
            interrupted.append(signal.SIGINT)
        finally:
            self.net.load_state_dict(self.kept)
        before, after = (float(errors.mean()) for errors in (self.start, self.errors))
        seconds = time.monotonic() - self.began
        return FinetuneResult(self.step, seconds, before, after, bool(interrupted), rate or USUAL)

    def _best_rate(self) -> float:
        """The rate after whose trial, from the start, the errors are least."""
        start, least, best = self.net.kept_state(), math.inf, USUAL
        planned = self._planned_steps()
        if planned is not None and planned * TRIAL < FEWEST:
            return best
        for number, rate in enumerate(RATES, 1):
            before = self.step
            self._steps(rate, number * TRIAL)
            error = float(self._errors().mean())
            self.net.load_state_dict(start)
            if self.step - before < FEWEST:  # seconds are too few to tell rates apart
                return USUAL
            if error < least:  # False for a rate that led to NaN
                least, best = error, rate
        return best

    def _steps(self, rate: float, until: float) -> None:
        """Steps whose rate falls to 0, until that share of the whole is done, and judgements on the way."""
        self.optimizer, first = StepAdam(self.net), self._done()
        judged = 0
        while (done := self._done()) < until and not self.interrupted:
            share = (done - first) / (until - first)
            if share * JUDGEMENTS * (until - first) >= judged + 1:
                judged += 1
                self._judge()
            loss = self._step(0.5 * rate * (1 + math.cos(math.pi * share)))
            self.step += 1
            if self.options.watch is not None:
                self.options.watch(FinetuneProgress(self.step, min(self._done(), 1.0), loss, float(self.errors.mean())))
        self._judge()

    def _planned_steps(self) -> int | None:
        """Steps in all; None where seconds alone end the training."""
        steps = self.options.steps
        return STEPS if steps is None and self.options.seconds is None else steps

    def _done(self) -> float:
        """Share of all steps, or of the time."""
        steps, seconds = self._planned_steps(), self.options.seconds
        spent = time.monotonic() - self.began
        return max(self.step / steps if steps else 0.0, spent / seconds if seconds else 0.0)

    def _step(self, rate: float) -> float:
        feeds, total = next(self.batches), 0.0
        self.optimizer.zero_grad()
        for feed in feeds:
            loss = self.student.loss(feed) / len(feeds)
            loss.backward()
            total += loss.item()
        self.optimizer.step(rate)
        return total

    def _judge(self) -> None:
        """Keep this state if it is better than the start and not worse than the best one, as far as samples tell.

        The rate falls, so that of two states that the judges do not tell apart the later one does better elsewhere.
        """
        errors = self._errors()
        LOG.info("finetune, step %d: error %.4g", self.step, float(errors.mean()))
        if errors.mean() < self.best.mean():
            self.best = errors
        if errors.mean() < self.start.mean() and not _is_above(errors, self.best):
            self.errors, self.kept = errors, self.net.kept_state()
            self._tell_better()

    def _errors(self) -> np.ndarray:
        """Errors of the samples that judge, with the state as it is."""
        return self.student.judge(self.judges, by_sample=self.by_sample)

    def _tell_better(self) -> None:
        if self.options.keep is not None:
            self.options.keep(self.net)


def _is_above(errors: np.ndarray, best: np.ndarray) -> bool:
    """True if errors of the same samples are larger by more than the standard error of their mean difference.

    >>> _is_above(np.array([1.0, 3.0, 2.1]), np.array([1.2, 2.5, 2.0])), _is_above(np.array([2.0]), np.array([1.0]))
    (False, True)
    """
    difference = errors - best
    noise = difference.std(ddof=1) / math.sqrt(len(difference)) if len(difference) > 1 else 0.0
    return bool(difference.mean() > noise)


@contextmanager
def interrupts() -> Iterator[list[int]]:
    """A list that grows with the first Ctrl-C meanwhile, so that a step ends whole; the second one raises as ever."""
    seen: list[int] = []
    before = signal.getsignal(signal.SIGINT)
    if not callable(before) or threading.current_thread() is not threading.main_thread():
        yield seen
        return

    def notice(number: int, _frame: Any) -> None:
        seen.append(number)
        signal.signal(signal.SIGINT, before)

    signal.signal(signal.SIGINT, notice)
    try:
        yield seen
    finally:
        signal.signal(signal.SIGINT, before)
