"""Finetuning without labels: the integer network learns the tensors of the float model on the calibration data.

The loss is the share of each tensor's energy that the integers get wrong, of the outputs and of the tensors between the
layers alike. So no layer drifts away where few samples would let it (BRECQ, Li et al. 2021, and AdaRound, Nagel et al.
2020, do it block by block; here all layers learn at once, each seeing the errors of those before it).

Tests: tests/training/test_finetune.py
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
import tvm

from tvmq.calibration.dataset import Dataset
from tvmq.errors import ConfigError
from tvmq.graph.ledger import get_ledger, with_ledger
from tvmq.graph.symbolic import inputs_of
from tvmq.options.config import QConfig
from tvmq.quantization.static_quantization import StaticQuantization
from tvmq.training.accumulators import Accumulators
from tvmq.training.course import Course, FinetuneProgress, FinetuneResult, interrupts
from tvmq.training.network import IntegerNetwork
from tvmq.training.prepare import convert, network_of
from tvmq.training.samples import TrainingSamples


@dataclass(frozen=True)
class Distill:
    """How long and how fast the integer network learns from the float model; `tvmq.quantize(..., finetune=Distill())`.

    steps          of the optimizer; None: as many as `seconds` suffice for, or 1000 without these
    seconds        at most so long, None for no limit. The learning rate falls to 0 over what ends first
    batch          samples of one step
    learning_rate  in codes of a weight a step; units.py says what that means for biases and scales. None: three rates
                   are tried for a fifth of the training each, and the samples that judge choose one for the rest
    layers         weight of the tensors between the layers beside that of the outputs
    seed           of the order of the samples and of their mixtures. Equal seeds and steps give equal modules on one
                   machine with one number of threads (torch.set_num_threads): other threads add gradients in another
                   order
    accumulators   that sums have to stay in, as `prepare` takes them
    watch          called after each step
    keep           called with the network at each state that is kept, that of the start first
    raises         ConfigError for numbers that make no sense
    """

    steps: int | None = None
    seconds: float | None = None
    batch: int = 32
    learning_rate: float | None = None
    layers: float = 1.0
    seed: int = 0
    accumulators: int | Accumulators | None = None
    watch: Callable[[FinetuneProgress], None] | None = field(default=None, compare=False, repr=False)
    keep: Callable[[IntegerNetwork], None] | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        whole = {"steps": self.steps, "batch": self.batch}
        for name, value in whole.items():
            if value is not None and not (isinstance(value, int) and value >= 1):
                raise ConfigError(f"Distill: {name} must be an integer of at least 1. Got {value!r} instead")
        for name, number in {"seconds": self.seconds, "learning_rate": self.learning_rate}.items():
            if number is not None and not number > 0:
                raise ConfigError(f"Distill: {name} must be above 0. Got {number!r} instead")
        if not self.layers >= 0:
            raise ConfigError(f"Distill: layers must be at least 0. Got {self.layers!r} instead")

    def check_config(self, config: QConfig) -> None:
        """See tvmq.quantization.pipeline.Finetuning.

        raises  ConfigError for options under which there is nothing to train
        """
        if config.do_simulation:
            raise ConfigError("quantize: finetune= trains the integers themselves; leave do_simulation out")
        if config.activations != "static":
            raise ConfigError(
                f"quantize: finetune= learns calibrated scales, activations '{config.activations}' have none; use "
                "'static'"
            )

    def module(self, quantization: StaticQuantization) -> tvm.IRModule:
        """See tvmq.quantization.pipeline.Finetuning."""
        net = network_of(quantization, accumulators=self.accumulators)
        return convert_with_note(net, finetune(net, quantization.data, self))

    def repeatable_module(self, quantization: StaticQuantization) -> tvm.IRModule:
        """See tvmq.quantization.pipeline.Finetuning: by one thread of torch, whose sums have one order."""
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            return self.module(quantization)
        finally:
            torch.set_num_threads(threads)

    @property
    def identity(self) -> str:
        """See tvmq.quantization.pipeline.Finetuning: these options, and what computes gradients."""
        return f"{self!r}, torch {torch.__version__}, {torch.backends.cpu.get_cpu_capability()}"


def finetune(net: IntegerNetwork, dataset: Any, options: Distill | None = None) -> FinetuneResult:
    """Train a network in place on the float model's tensors until steps or seconds are used up.

    dataset  in any form that `tvmq.quantize` takes; it is kept in memory. One sample in six is not learned from but
             judges: the last state stays whose error of the outputs on them is not measurably above the least, or that
             of the start where none is better. Ctrl-C ends the training, and the best state so far stays
    returns  errors before and after
    raises   DataError for data that do not fit the model, ConfigError for accumulators that the network was not
             prepared for

    >>> import io, onnx, tvmq
    >>> from tvmq.demo import load_demo
    >>> from tvmq.training import prepare
    >>> demo = load_demo()
    >>> with tvmq.qconfig(nbit_weight=3, calibrate_mode="minmax", weight_rounding="nearest"):
    ...     net = prepare(*tvmq.from_onnx(onnx.load(io.BytesIO(demo.model))), [demo.calibration[:32]])
    >>> learned = finetune(net, [demo.calibration[:32]], Distill(steps=2))
    >>> learned.after <= learned.before
    True
    """
    options = options or Distill()
    if options.accumulators is not None and net.accumulators is None:
        raise ConfigError("finetune: the network has no accumulators to stay in; give accumulators= to prepare, too")
    data = dataset if isinstance(dataset, Dataset) else Dataset(dataset, inputs_of(net.integers))
    with interrupts() as seen:
        return Course(net, TrainingSamples.of(data), options).run(seen)


def convert_with_note(net: IntegerNetwork, learned: FinetuneResult) -> tvm.IRModule:
    """The integer module, whose ledger says what was learned."""
    module = convert(net)
    ledger = get_ledger(module)
    ledger.notes.append(learned.note())
    return with_ledger(module, ledger)
