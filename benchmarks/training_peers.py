"""torchao's quantization-aware training beside benchmarks/training.py: its score in training and after conversion.

    python benchmarks/training_peers.py --zoo ../shared/zoo [--tasks digits,resnet8_cifar10] [--bits 8x8,4x8]
                                        [--steps 250] [--rates 1e-5,1e-4,1e-3] [--quick]

Peer      PT2E of torchao with the quantizer for x86 and its usual settings: `prepare_qat_pt2e`, training,
          `convert_pt2e`, compiled by inductor with frozen weights. Weights of 4 bits are its int8 ones, held to -8 .. 7
Training  the calibration samples of the task, without labels: the share of the energy of the float model's outputs
          that is wrong, Adam, batches of BATCH, a rate that falls to 0 as a cosine; observers rest in the last quarter.
          Of several rates the one with the best score in training counts
Columns   float      of the float model in points
          trained    of the network with its fake quantizers, as training leaves it
          converted  of the module that convert_pt2e gives, run operator by operator
          deployed   of that module compiled by inductor
          - trained  deployed less trained, in points
          differing  outputs of the compiled module that are not those of training, over all test samples
          largest    the largest such difference, as a share of the largest output
Needs     torch, torchao, onnx and a C++ compiler beside tvmq.
"""

from __future__ import annotations

import copy
import math
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import torch
import torch._inductor.config
from harness.command import Command, argument
from harness.report import columns
from harness.trainable_floats import as_torch
from harness.zoo import DIGITS, Feed, Scored, bit_differences, chosen_tasks
from torchao.quantization.pt2e import disable_observer, move_exported_model_to_eval
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_qat_pt2e
from torchao.quantization.pt2e.quantizer import x86_inductor_quantizer as x86

BATCH = 32
QUICK_STEPS = 4
RESTING = 0.75  # share of the steps after which observers rest


def quantizer(bits: str) -> Any:
    """Quantizer for x86 with weights of so many bits."""
    weight, activation = (int(part) for part in bits.split("x"))
    if activation != 8:
        raise SystemExit(f"training_peers: {bits}: activations are of 8 bits there")
    usual = x86.get_default_x86_inductor_quantization_config(is_qat=True)
    end = 2 ** (weight - 1)
    narrow = replace(usual.weight, quant_min=-end, quant_max=end - 1)
    made = x86.X86InductorQuantizer()
    made.set_global(replace(usual, weight=narrow))
    return made


def trained(floats: torch.nn.Module, samples: torch.Tensor, bits: str, steps: int, rate: float) -> torch.nn.Module:
    """The network with fake quantizers, observers at rest."""
    torch.manual_seed(0)
    exported = torch.export.export(copy.deepcopy(floats), (samples[:BATCH],), strict=True).module()
    net = prepare_qat_pt2e(exported, quantizer(bits))
    optimizer = torch.optim.Adam(net.parameters(), lr=rate)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 0.5 * (1 + math.cos(math.pi * step / steps)))
    order = np.random.default_rng(0)
    for step in range(steps):
        if step == int(RESTING * steps):
            net.apply(disable_observer)
        x = samples[order.permutation(len(samples))[:BATCH]]
        with torch.no_grad():
            wanted = floats(x)[0]
        loss = ((net(x)[0] - wanted) ** 2).mean() / ((wanted - wanted.mean()) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    net.apply(disable_observer)
    move_exported_model_to_eval(net)
    return net


def evaluate(task: Any, module: Any) -> Scored:
    """Score in points and all outputs, batches of BATCH; a last one that is not full is filled."""
    kept: list[np.ndarray] = []

    @torch.no_grad()
    def predict(feed: Feed) -> list[np.ndarray]:
        (values,) = feed.values()
        filled = np.concatenate([values, np.repeat(values[-1:], BATCH - len(values), 0)])
        kept.append(module(torch.from_numpy(filled))[0].numpy().copy())
        return [kept[-1][: len(values)]]

    score = task.evaluate(predict, BATCH)
    return Scored(100 * score, 100 * task.per_sample, [np.concatenate(kept)])


def measure(
    task: Any, floats: torch.nn.Module, samples: torch.Tensor, bits: str, steps: int, rates: list[float]
) -> Any:
    """Measure one row."""
    reference = evaluate(task, floats)
    networks = {rate: trained(floats, samples, bits, steps, rate) for rate in rates}
    scores = {rate: evaluate(task, net) for rate, net in networks.items()}
    rate = max(scores, key=lambda rate: scores[rate].score)
    in_training = scores[rate]
    converted = convert_pt2e(networks[rate])
    move_exported_model_to_eval(converted)
    step_by_step = evaluate(task, converted)
    torch._inductor.config.freezing = True
    deployed = evaluate(task, torch.compile(converted))
    ours, theirs = in_training.outputs[0], deployed.outputs[0]
    largest = float(np.abs(ours - theirs).max() / np.abs(ours).max())
    return {
        "task": task.name, "bits": bits, "float": reference.score, "trained": in_training.score,
        "converted": step_by_step.score, "deployed": deployed.score, "change": deployed.score - in_training.score,
        "differing": bit_differences(in_training, deployed), "outputs": ours.size, "largest": largest, "rate": rate,
    }  # fmt: skip


COLUMNS = columns(
    "task, bits {task} {bits} | float {float:.2f} | trained {trained:.2f} | converted {converted:.2f}",
    "deployed {deployed:.2f} | - trained {change:+.2f} | differing {differing} of {outputs} | largest {largest:.2%}",
    "rate {rate:g}",
)


def measure_all(options: Namespace) -> Iterator[dict[str, Any]]:
    """A row of each task and number of bits."""
    torch.set_num_threads(1)
    steps = QUICK_STEPS if options.quick else options.steps
    rates = [float(rate) for rate in options.rates.split(",")]
    for task, feeds in chosen_tasks(options):
        floats = as_torch(task.model_path)
        samples = torch.from_numpy(np.concatenate([next(iter(feed.values())) for feed in feeds]))
        for bits in options.bits.split(","):
            yield measure(task, floats, samples, bits, steps, rates)


main = Command(
    __doc__, COLUMNS, measure_all, tasks=(DIGITS, "resnet8_cifar10"), head=lambda _: [f"torch {torch.__version__}"],
    arguments=[
        argument("--bits", default="8x8,4x8", help="weights x activations, separated by commas"),
        argument("--steps", type=int, default=250, help="of training"),
        argument("--rates", default="1e-5,1e-4,1e-3", help="learning rates to try, separated by commas"),
    ],
)  # fmt: skip

if __name__ == "__main__":
    main()
