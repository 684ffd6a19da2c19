"""names.txt lists every name of tvmq.relay; each one resolves, and any other is refused with advice."""

from __future__ import annotations

import inspect
from functools import reduce
from types import ModuleType

import pytest

from tests.support.project import ROOT
from tvmq import relay
from tvmq.errors import UnsupportedOpError
from tvmq.relay import advice, analysis, transform
from tvmq.relay.op import FUNCTIONS, annotation, image, nn, registry

NAMES = (ROOT / "tvmq/relay/names.txt").read_text().split()
LAYER_NAMES = [
    name for name in NAMES if name.partition(".")[0] in ("nn", "annotation", "image", "analysis", "transform")
]


def own_functions(module: ModuleType) -> set[str]:
    return {
        name
        for name, value in vars(module).items()
        if inspect.isfunction(value) and value.__module__ == module.__name__ and not name.startswith("_")
    }


def test_names_are_sorted_and_stand_once():
    assert NAMES == sorted(set(NAMES))


@pytest.mark.parametrize("module", [annotation, image, transform, analysis], ids=lambda m: m.__name__)
def test_all_functions_of_a_module_are_listed(module):
    place = module.__name__.rpartition(".")[2]
    helpers = {"as_expr"}
    assert {f"{place}.{name}" for name in own_functions(module) - helpers} <= set(NAMES)


def test_all_operator_functions_are_listed():
    assert {*FUNCTIONS, *(f"nn.{name}" for name in nn.__all__)} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_names_resolve(name):
    assert reduce(getattr, name.split("."), relay) is not None


@pytest.mark.parametrize("name, way", [
    ("scan", "MIGRATING.md"), ("topk", "relax.op.topk"), ("nn.bitserial_conv2d", "nbit_weight=4"),
    ("nn.contrib_conv2d_NCHWc", "without contrib_"), ("transform.PartitionGraph", "FuseOpsByPattern"), ("transform.AnnotateSpans", "have names"),
    ("analysis.detect_feature", "tvm.relax.analysis"), ("If", "relay.where"),
])  # fmt: skip
def test_other_names_tell_the_way(name, way):
    with pytest.raises(AttributeError, match=way):
        reduce(getattr, name.split("."), relay)


def test_unknown_operators_tell_the_way():
    with pytest.raises(UnsupportedOpError, match="relay, operator 'vision.nms' has no counterpart here; use tvm.relax"):
        relay.op.get("vision.nms")


def test_no_advice_stands_for_a_name_that_is_there():
    shadowed = [name for name in registry.names() if name in advice.ADVICE]
    assert not shadowed
