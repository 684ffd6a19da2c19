"""Long dataflow blocks are cut before FuseOps, which recurses over their paths."""

from __future__ import annotations

import numpy as np
import pytest
from tvm import relax

import tvmq
from tests.models import Net
from tvmq.compile import vm_pipeline
from tvmq.compile.dataflow_blocks import cut_dataflow_blocks
from tvmq.compile.vm_pipeline import legalize

FEED = {"x": np.array([[0.5, -0.25, 1.5, 0.75]], np.float32)}


def network(length: int = 12) -> tuple[object, dict[str, np.ndarray]]:
    """A chain whose first value is read at its end again, two results, a view."""
    n = Net((1, 4))
    first = value = n.op("Sigmoid", "x")
    for number in range(length):
        value = n.op("Add", value, n.constant(np.float32(0.5))) if number % 3 else n.op("Sin", value)
    value = n.op("Reshape", value, n.constant(np.array([4, 1])))
    return tvmq.from_onnx(n.model(n.op("Add", value, first), first))


@pytest.mark.parametrize("most", [1, 2, 5])
def test_blocks_are_short_and_kept_apart(most: int) -> None:
    whole = legalize(network()[0])
    count = sum(len(block.bindings) for block in whole["main"].body.blocks)
    cut = cut_dataflow_blocks(whole, most)
    relax.analysis.check_well_formed(cut)
    blocks = cut["main"].body.blocks
    inside = [len(block.bindings) for block in blocks if isinstance(block, relax.DataflowBlock)]
    between = [len(block.bindings) for block in blocks if not isinstance(block, relax.DataflowBlock)]
    assert max(inside) == most and set(between) == {1}
    assert sum(inside) + sum(between) == count


def test_a_short_block_is_left_alone() -> None:
    whole = legalize(network()[0])
    assert cut_dataflow_blocks(whole) is whole


@pytest.mark.parametrize("most", [1, 4])
def test_results_are_the_same(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    mod, params = network()
    expected = tvmq.build(mod, params=params).run(FEED)
    monkeypatch.setattr(vm_pipeline, "cut_dataflow_blocks", lambda whole: cut_dataflow_blocks(whole, most))
    results = tvmq.build(mod, params=params).run(FEED)
    assert all(np.array_equal(result, wanted) for result, wanted in zip(results, expected, strict=True))
    quantized = tvmq.quantize(mod, params, [FEED])
    assert tvmq.verify(tvmq.build(quantized), [FEED]).exact
