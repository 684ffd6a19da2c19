"""partition: what the ledger holds beside the decisions, which are in tests/passes/cases/partition."""

from __future__ import annotations

import numpy as np

import tvmq
from tests.passes.stages import partitioned
from tests.support.models.networks import Net, block
from tvmq.graph.ledger import get_ledger
from tvmq.options.config import QConfig
from tvmq.options.rules import Rule
from tvmq.passes.partition import integer_groups, partition
from tvmq.passes.prepare import prepare


def test_stage_options_and_work() -> None:
    """A dynamic dimension counts as one."""
    for batch in ("1", '"n"'):
        signature = f'x: R.Tensor(({batch}, 2, 4, 4), "float32"), w: R.Tensor((2, 2, 3, 3), "float32")'
        mod = block(signature, "c = R.nn.conv2d(x, w, padding=1)", w=np.ones((2, 2, 3, 3), "float32"))
        ledger = get_ledger(partitioned(mod))
        assert ledger.stage == "partitioned" and ledger.config == QConfig().to_dict()
        (group,) = integer_groups(ledger.layers)
        assert (group.root, group.inputs, group.macs) == ("c", ["x"], 2 * 4 * 4 * 2 * 9)


def test_a_float_group_keeps_all_its_names() -> None:
    net = Net((1, 3, 6, 6))
    prepared = prepare(*tvmq.from_onnx(net.model(net.op("Relu", net.conv("x", 3, 4)))))
    ledger = get_ledger(partition(prepared, QConfig(rules=[Rule("/conv_0", None)])))
    assert [entry["layers"] for entry in ledger.layers.values()] == [["/conv_0", "/relu_1"]]
