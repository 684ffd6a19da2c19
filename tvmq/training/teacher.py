"""The float model as teacher: how far the network's outputs and tensors are from its own.

Tests: tests/training/test_network.py
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import torch
import tvm

from tvmq.calibration.dataset import Feed
from tvmq.codegen.compile.evaluators import evaluator
from tvmq.graph.names import input_names
from tvmq.graph.view import View
from tvmq.passes.calibrate.collect import watched_tensors
from tvmq.passes.calibrate.observed_model import drop_uncalibrated, return_intermediates
from tvmq.training.network import IntegerNetwork


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

    def __call__(self, feed: Feed) -> tuple[list[torch.Tensor], dict[str, torch.Tensor]]:
        """Outputs, and {tensor: its values}."""
        results = [torch.from_numpy(np.array(array)) for array in self.run(feed)]
        count = len(self.outputs)
        return results[:count], dict(zip(self.tensors, results[count:], strict=True))


class Student:
    """The network beside its teacher.

    layers  weight of the tensors between the layers beside that of the outputs
    """

    def __init__(self, net: IntegerNetwork, layers: float) -> None:
        self.net, self.teacher, self.layers = net, Teacher(net.annotated), layers
        self._inputs = list(input_names(net.integers["main"]).values())
        self._first: dict[str, str] = {}  # {tensor: the first variable that has its codes}
        for variable, tensor in net.tensor_of.items():
            self._first.setdefault(tensor, variable)

    def loss(self, feed: Feed) -> torch.Tensor:
        """Loss to minimize: the share of the energy that is wrong, of the outputs and of the tensors between."""
        last, between = self._pairs(feed)
        return _sum(map(_error, *last)) + self.layers * _sum(map(_error, *between)) / max(len(between[0]), 1)

    @torch.no_grad()
    def judge(self, feeds: Sequence[Feed], *, by_sample: bool) -> np.ndarray:
        """Errors of the outputs by sample or feed; of the tensors between where no output is of floats."""
        means = []
        for feed in feeds:
            last, between = self._pairs(feed)
            chosen = last if last[0] else between
            errors = [_errors(ours, wanted, by_sample=by_sample) for ours, wanted in zip(*chosen, strict=True)]
            means.append(np.mean(errors, axis=0))
        return np.concatenate(means)

    def _pairs(self, feed: Feed) -> tuple[_Pairs, _Pairs]:
        """Ours and the teacher's, of the outputs and of the tensors between."""
        values: dict[str, Any] = {}
        outputs = self.net.values_of([torch.from_numpy(feed[name]) for name in self._inputs], values)
        wanted, tensors = self.teacher(feed)
        outputs = outputs if isinstance(outputs, list) else [outputs]
        last = [(a, b) for a, b in zip(outputs, wanted, strict=True) if b.is_floating_point()]
        between = [(values[self._first[n]].real_values, t) for n, t in tensors.items() if n in self._first]
        return _columns(last), _columns(between)


_Pairs = tuple[list[torch.Tensor], list[torch.Tensor]]


def _columns(pairs: Sequence[tuple[torch.Tensor, torch.Tensor]]) -> _Pairs:
    return [ours for ours, _ in pairs], [wanted for _, wanted in pairs]


def _sum(errors: Iterable[torch.Tensor]) -> torch.Tensor:
    return sum(errors, torch.zeros(()))


class _Error(torch.autograd.Function):
    """Energy of the difference as a share of the wanted one's, in few passes over large tensors."""

    @staticmethod
    def forward(ctx: Any, ours: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
        difference = (ours - wanted).reshape(-1)
        ctx.shape, ctx.whole = ours.shape, difference.numel() * _energy(wanted)
        ctx.save_for_backward(difference)
        return torch.dot(difference, difference) / ctx.whole

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        (difference,) = ctx.saved_tensors
        return (difference * (2 * grad / ctx.whole)).reshape(ctx.shape), None


def _error(ours: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
    error: torch.Tensor = _Error.apply(ours, wanted)
    return error


def _errors(ours: torch.Tensor, wanted: torch.Tensor, *, by_sample: bool) -> np.ndarray:
    """Share of the energy that is wrong, for each sample or for the feed as a whole."""
    rows = (ours - wanted).reshape(len(wanted) if by_sample else 1, -1)
    return ((rows**2).mean(dim=1) / _energy(wanted)).numpy()


def _energy(wanted: torch.Tensor) -> torch.Tensor:
    return wanted.var(correction=0).clamp_min(1e-12)
