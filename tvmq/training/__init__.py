"""Training on the deployed integers: a torch module whose forward pass is the integer module, bit for bit.

    net = tvmq.training.prepare(mod, params, dataset)         # a torch.nn.Module
    for x, y in loader:                                       # a loop of one's own
        loss = criterion(net(x), y); loss.backward(); optimizer.step(); optimizer.zero_grad()
    qmod = tvmq.training.convert(net)                         # the integer module: nothing is rounded anew

So the score of the last epoch is that of the executable. Needs torch: pip install "tvmq[torch]".
"""

from __future__ import annotations

try:
    import torch  # noqa: F401
except ImportError as error:
    raise ModuleNotFoundError(
        'tvmq.training needs torch; install it with pip install "tvmq[torch]"', name="torch"
    ) from error

from tvmq.training import quantized_layers as nn
from tvmq.training.accumulator_proof import LayerSums, prove_accumulators
from tvmq.training.accumulators import LANES, Accumulators
from tvmq.training.course import FinetuneProgress, FinetuneResult
from tvmq.training.distill import Distill, convert_with_note, finetune
from tvmq.training.fake_quantize import FakeQuantize
from tvmq.training.network import IntegerNetwork
from tvmq.training.prepare import convert, prepare

__all__ = [
    "LANES",
    "Accumulators",
    "Distill",
    "FakeQuantize",
    "FinetuneProgress",
    "FinetuneResult",
    "IntegerNetwork",
    "LayerSums",
    "convert",
    "convert_with_note",
    "finetune",
    "nn",
    "prepare",
    "prove_accumulators",
]
