"""unify_scales: which tensors share a scale with a concat."""

from __future__ import annotations

import numpy as np
import pytest
import tvm

from tests.passes.stages import annotated
from tests.support.models.networks import at_stage, block
from tvmq.errors import StageError
from tvmq.graph.ledger import get_ledger
from tvmq.graph.view import View, op_name
from tvmq.passes.unify_scales import unify_scales

X = 'x: R.Tensor((1, 2, 4, 4), "float32")'
W = 'w: R.Tensor((2, 2, 3, 3), "float32")'
WEIGHT = np.ones((2, 2, 3, 3), np.float32)


def unified(body: str, channels: int = 4) -> tvm.IRModule:
    """Convolutions a, b of x, the body, and a pool: a concat at the end would stay float."""
    start = "a = R.nn.conv2d(x, w, padding=1)\nb = R.nn.conv2d(x, w, padding=1)\n"
    body += f"\nend = R.nn.max_pool2d({body.splitlines()[-1].split()[0]})"
    return unify_scales(annotated(block(f"{X}, {W}", start + body, f'(1, {channels}, 4, 4), "float32"', w=WEIGHT)))


def tensors(mod: tvm.IRModule) -> dict[str, str]:
    """{variable that is watched: name of its scale}."""
    calls = [value for _, value in View(mod).bindings if op_name(value) == "tvmq.simulated_quantize"]
    return {c.args[0].name: str(c.attrs.tensor) for c in calls if c.attrs.kind != "weight"}


def shared(mod: tvm.IRModule, concat: str) -> list[str]:
    return get_ledger(mod).layers[concat]["facts"]["shared"]


def test_parts_take_the_scale_of_the_concat() -> None:
    mod = unified("y = R.concat((a, b), axis=1)")
    assert tensors(mod) == {"x": "x", "a": "y", "b": "y"}
    assert shared(mod, "y") == []


def test_a_part_that_others_read_keeps_its_name() -> None:
    mod = unified("y = R.concat((a, b), axis=1)\nd = R.nn.conv2d(a, w, padding=1)\nz = R.concat((y, d), axis=1)", 6)
    assert tensors(mod) == {"x": "x", "a": "a", "b": "z", "d": "z"}
    assert (shared(mod, "y"), shared(mod, "z")) == (["a"], [])


def test_scales_reach_through_what_moves_codes() -> None:
    mod = unified("p = R.nn.max_pool2d(a)\nq = R.reshape(p, R.shape([1, 2, 4, 4]))\ny = R.concat((q, b), axis=1)")
    assert tensors(mod) == {"x": "x", "a": "y", "b": "y"}


def test_a_moved_part_that_others_read_is_shared() -> None:
    mod = unified(
        "p = R.nn.max_pool2d(a)\ny = R.concat((p, b), axis=1)\nd = R.nn.conv2d(p, w, padding=1)\nz = R.concat((y, d), axis=1)",
        6,
    )
    assert shared(mod, "y") == ["a"]


def test_concat_of_a_concat_is_one_set() -> None:
    mod = unified("y = R.concat((a, b), axis=1)\nc = R.nn.conv2d(x, w, padding=1)\nz = R.concat((y, c), axis=1)", 6)
    assert set(tensors(mod).values()) == {"x", "z"}


def test_one_tensor_twice() -> None:
    mod = unified("y = R.concat((a, a), axis=1)")
    assert tensors(mod) == {"x": "x", "a": "y"} and shared(mod, "y") == []


def test_a_part_that_a_table_reads_is_shared() -> None:
    body = "y = R.concat((a, b), axis=1)\no = R.nn.relu(a)\nz = R.concat((y, o), axis=1)"
    assert shared(unified(body, 6), "y") == ["a"]


def test_branches_of_one_tensor_share_it() -> None:
    """Both parts of a split that are joined again: nothing else reads the tensor."""
    mod = unified(
        "s = R.split(a, 2, axis=1)\nu = s[0]\nv = s[1]\ny = R.concat((v, u), axis=1)\nz = R.concat((y, b), axis=1)"
    )
    assert tensors(mod) == {"x": "x", "a": "z", "b": "z"}
    assert shared(mod, "y") == shared(mod, "z") == []


def test_other_stages_are_refused() -> None:
    mod = block(f"{X}, {W}", "c = R.nn.conv2d(x, w, padding=1)", w=WEIGHT)
    with pytest.raises(StageError, match="unify_scales: the module is 'prepared', this pass needs 'annotated'"):
        unify_scales(at_stage(mod, "prepared"))
