"""Finetuning without labels: the integer network learns the tensors of the float model on the calibration data.

The loss is the share of each tensor's energy that the integers get wrong, of the outputs and of the tensors between the
layers alike. So no layer drifts away where few samples would let it (BRECQ, Li et al. 2021, and AdaRound, Nagel et al.
2020, do it block by block; here all layers learn at once, each seeing the errors of those before it).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import tvm

from tvmq.compile.evaluators import evaluator
from tvmq.graph.names import input_names
from tvmq.graph.view import View
from tvmq.passes.calibrate.collect import watched_tensors
from tvmq.passes.calibrate.observed_model import drop_uncalibrated, return_intermediates
from tvmq.training.network import IntegerNetwork
from tvmq.training.optimizer import StepAdam


@dataclass(frozen=True)
class Distill:
    """How long and how fast `finetune` learns.

    steps          of the optimizer; the rate falls to 0 over them, or over the seconds where these end first
    seconds        at most so long, None for no limit
    batch          samples of one step
    learning_rate  in codes of a weight a step
    layers         weight of the tensors between the layers beside that of the outputs
    seed           of the order of the samples
    """

    steps: int = 1000
    seconds: float | None = None
    batch: int = 32
    learning_rate: float = 0.005
    layers: float = 1.0
    seed: int = 0


@dataclass(frozen=True)
class Progress:
    """What `finetune` says after each step: its number, the share of it that is done, and the loss."""

    step: int
    done: float
    loss: float


Samples = Mapping[str, np.ndarray]
State = dict[str, torch.Tensor]
# How often the state is judged; one sample in so many judges, where there are at least FEW
JUDGEMENTS, JUDGE, FEW = 20, 6, 48


class Teacher:
    """The float model: outputs, and the tensors that the integer module has as codes."""

    def __init__(self, annotated: tvm.IRModule) -> None:
        floats = drop_uncalibrated(annotated)
        view = View(floats)
        self.tensors = {
            w.tensor: w.source for w in reversed(watched_tensors(View(annotated))) if w.source in view.value
        }
        self.outputs = list(view.outputs)
        self.run = evaluator(return_intermediates(floats, [*self.outputs, *self.tensors.values()]))

    def __call__(self, feed: Samples) -> tuple[list[torch.Tensor], dict[str, torch.Tensor]]:
        results = [torch.from_numpy(np.array(array)) for array in self.run(feed)]
        count = len(self.outputs)
        return results[:count], dict(zip(self.tensors, results[count:], strict=True))


def finetune(
    net: IntegerNetwork,
    teacher: Teacher,
    samples: Samples,
    options: Distill,
    watch: Callable[[Progress], None] | None = None,
) -> IntegerNetwork:
    """Train `net` in place on samples (batch first) until steps or seconds are used up.

    A part of the samples is not learned from but judges: the state with the least loss on it is what stays, the one
    at the start included, also after Ctrl-C.
    """
    trained, judges = _split(samples, options)
    student = _Student(net, teacher, options.layers)
    optimizer, batches = StepAdam(net), _batches(trained, options)
    best, kept = student.loss_on(judges, options.batch), net.kept_state()
    start, losses = time.monotonic(), 0
    try:
        for step in range(options.steps):
            spent = 0.0 if options.seconds is None else (time.monotonic() - start) / options.seconds
            done = max(step / options.steps, spent)
            if done >= 1:
                break
            loss = student.loss(next(batches))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step(options.learning_rate * 0.5 * (1 + math.cos(math.pi * done)))
            if done >= (losses + 1) / JUDGEMENTS:
                losses = int(done * JUDGEMENTS)
                best, kept = _better(student.loss_on(judges, options.batch), best, net, kept)
            if watch is not None:
                watch(Progress(step + 1, done, loss.item()))
        _, kept = _better(student.loss_on(judges, options.batch), best, net, kept)
    except KeyboardInterrupt:
        pass
    net.load_state_dict(kept)
    return net


def _better(loss: float, best: float, net: IntegerNetwork, kept: State) -> tuple[float, State]:
    return (loss, net.kept_state()) if loss < best else (best, kept)


def _split(samples: Samples, options: Distill) -> tuple[Samples, Samples]:
    """What is learned from, and every JUDGE-th sample, which judges; few samples do both."""
    count = len(next(iter(samples.values())))
    if count < FEW:
        return samples, samples
    judges = np.arange(count) % JUDGE == JUDGE - 1
    return {k: v[~judges] for k, v in samples.items()}, {k: v[judges] for k, v in samples.items()}


def _batches(samples: Samples, options: Distill) -> Iterator[Samples]:
    """Batches without end, each sample once in a round."""
    rng, count = np.random.default_rng(options.seed), len(next(iter(samples.values())))
    size, order = min(options.batch, count), np.zeros(0, np.int64)
    while True:
        if len(order) < size:
            order = rng.permutation(count)
        chosen, order = order[:size], order[size:]
        yield {name: np.ascontiguousarray(array[chosen]) for name, array in samples.items()}


class _Student:
    """The network beside its teacher."""

    def __init__(self, net: IntegerNetwork, teacher: Teacher, layers: float) -> None:
        self.net, self.teacher, self.weight = net, teacher, layers
        self.names = list(input_names(net.integers["main"]).values())
        self.first_of = _first_variables(net)

    def loss(self, feed: Samples) -> torch.Tensor:
        """Share of the energy that is wrong: of the outputs, and of the tensors between the layers in the mean."""
        values: dict[str, Any] = {}
        outputs = self.net.values_of([torch.from_numpy(feed[name]) for name in self.names], values)
        wanted, tensors = self.teacher(feed)
        outputs = outputs if isinstance(outputs, list) else [outputs]
        loss = sum((_error(a, b) for a, b in zip(outputs, wanted, strict=True)), torch.zeros(()))
        between = [_error(values[self.first_of[n]].real, t) for n, t in tensors.items() if n in self.first_of]
        return loss + self.weight * sum(between, torch.zeros(())) / max(len(between), 1)

    @torch.no_grad()
    def loss_on(self, samples: Samples, size: int) -> float:
        """The mean loss of batches of so many samples."""
        count = len(next(iter(samples.values())))
        parts = [{k: v[i : i + size] for k, v in samples.items()} for i in range(0, count, size)]
        return float(np.mean([self.loss(part).item() for part in parts]))


def _error(ours: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
    """Energy of the difference as a share of the wanted one's."""
    if not wanted.is_floating_point():
        return torch.zeros(())
    return ((ours - wanted) ** 2).mean() / ((wanted - wanted.mean()) ** 2).mean().clamp_min(1e-12)


def _first_variables(net: IntegerNetwork) -> dict[str, str]:
    """{tensor: the first variable that has its codes}."""
    found: dict[str, str] = {}
    for variable, tensor in net.tensor_of.items():
        found.setdefault(tensor, variable)
    return found


def stacked(feeds: Sequence[Samples]) -> dict[str, np.ndarray]:
    """Batches joined along their first axis."""
    return {name: np.concatenate([feed[name] for feed in feeds]) for name in feeds[0]}


__all__ = ["Distill", "Progress", "Teacher", "finetune", "stacked"]
