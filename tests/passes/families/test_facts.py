"""Facts of groups: the ledger has them as plain data, and gives them back."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tvm import relax

from tests.support.models.networks import block
from tvmq.graph.view import View
from tvmq.passes import FAMILIES
from tvmq.passes.families.base import Facts, Group, OpenFacts, WeightFacts, family_named, family_of_call
from tvmq.passes.families.masks import Mask


@pytest.mark.parametrize("name", FAMILIES)
def test_facts_come_back_from_the_ledger(name: str) -> None:
    facts = family_named(name).facts_type()
    facts.low, facts.stream, facts.bits = -1.0, True, 12
    group = Group(name, "a", ["a", "b"], ["x"], facts=facts)
    assert Group.from_dict(json.loads(json.dumps(group.to_dict()))) == group


def test_an_infinite_bound_is_null() -> None:
    assert WeightFacts(0.0, bias=True).to_dict() == {"low": 0.0, "high": None, "bias": True}
    assert WeightFacts.from_dict({"low": None, "high": None, "bias": False}).high == np.inf


def test_masks_are_masks_again() -> None:
    facts = family_named("integer_softmax").facts_type(masks={"m": Mask("source", moves=["r"])})
    assert Group.from_dict(Group("integer_softmax", "s", ["s"], [], facts=facts).to_dict()).facts.masks == facts.masks


def test_another_package_may_say_facts_in_a_dictionary() -> None:
    group = Group("theirs", "a", ["a"], ["x"], facts={"low": 0.0, "taps": [1, 2]})
    assert isinstance(group.facts, OpenFacts) and group.facts.low == 0.0
    assert group.facts["taps"] == group.facts.get("taps") == [1, 2] and group.facts.get("more", 3) == 3
    assert Group.from_dict(group.to_dict()) == group
    assert not group.strategy.anchor and not group.joins


def test_facts_that_are_not_known_are_ignored() -> None:
    assert Facts.from_dict({"stream": True, "of_a_later_version": 1}) == Facts(stream=True)


def test_a_transposed_convolution_is_one_family() -> None:
    """By the names of operators reduce_range forgot transposed convolutions where scales are made at run time."""
    mod = block('x: R.Tensor((1, 2, 4, 4), "float32"), w: R.Tensor((2, 3, 2, 2), "float32")',
                "c = R.nn.conv2d_transpose(x, w)", '(1, 3, 5, 5), "float32"')  # fmt: skip
    call = View(mod).value["c"]
    assert isinstance(call, relax.Call) and family_of_call(call).sums_in_lanes((2, 3, 2, 2))
