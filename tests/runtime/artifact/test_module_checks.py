"""Forged modules in saved files with valid hashes: each is refused in one sentence, before TVM reads out of bounds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import tvm_ffi

import tvmq
from tests.support.models.networks import Net, feeds_of
from tvmq.base.tvm_internals import ATTRIBUTES, required_fields
from tvmq.errors import ArtifactError
from tvmq.runtime.artifact.code_bytes import MODULE
from tvmq.runtime.artifact.module_bytes import module_from_bytes, module_to_bytes
from tvmq.runtime.artifact.module_checks import KINDS, NOT_IR, NULL, VALUES

Graph = dict[str, Any]


def made(*rules: tvmq.Rule) -> dict[str, bytes]:
    net = Net((1, 3, 5, 5))
    model = net.model(net.dense(net.op("Flatten", net.op("Relu", net.conv("x", 3, 4)), axis=1), 100, 3))
    with tvmq.qconfig(calibrate_mode="minmax", weight_rounding="nearest", rules=rules):
        return module_to_bytes(tvmq.quantize(*tvmq.from_onnx(model), feeds_of(model, 2), guard=None))


@pytest.fixture(scope="module")
def blobs() -> dict[str, bytes]:
    """A module in integers."""
    return made()


def refused(blobs: dict[str, bytes], graph: Graph, says: str) -> None:
    with pytest.raises(ArtifactError, match=r"^here: TVM cannot read 'module.json' \(.*\); save it again$") as caught:
        module_from_bytes("here", {**blobs, MODULE: json.dumps(graph).encode()})
    assert says in str(caught.value) and "\n" not in str(caught.value)


def changed(graph: Graph, place: int, data: Any, kind: str | None = None) -> Graph:
    """The graph with other data in one node, or another node."""
    nodes = list(graph["nodes"])
    nodes[place] = {"type": kind or nodes[place]["type"], "data": data}
    return {**graph, "nodes": nodes}


def test_nodes_that_are_no_part_of_a_module(blobs):
    """Whatever TVM has registered: functions, libraries, sessions, patterns, objects of its own tests."""
    graph = json.loads(blobs[MODULE])
    known = [str(key) for key in tvm_ffi.get_global_func("ffi.GetRegisteredTypeKeys")()]
    others = [key for key in known if key not in VALUES and (not key.startswith(KINDS) or key in NOT_IR)]
    assert {"ffi.Function", "ffi.Module", "ffi.Object", "ir.EnvFunc", "relax.vm.RNNState", "void*"} <= set(others)
    for number, kind in enumerate([*others, " ", "nope\0", "x" * 9999]):
        place = 1 + number * 37 % (len(graph["nodes"]) - 1)
        refused(blobs, changed(graph, place, [{}, [], "x", 0][number % 4], kind), "which is no part of a module")


def required_places(graph: Graph) -> Iterator[tuple[int, dict[str, Any], str, bool]]:
    for place, node in enumerate(graph["nodes"]):
        if isinstance(node.get("data"), dict) and node["type"].startswith(("ir.", "relax.")):
            for name, is_list in required_fields(node["type"]):
                if name in node["data"]:
                    yield place, node["data"], name, is_list


def test_what_a_node_must_have(blobs):
    """Null, or left out, or a list with a null in it; each at every node of a kind once."""
    graph, tried = json.loads(blobs[MODULE]), set()
    null = next(place for place, node in enumerate(graph["nodes"]) if node["type"] == NULL)
    for place, data, name, is_list in required_places(graph):
        kind = graph["nodes"][place]["type"]
        if (kind, name) in tried:
            continue
        tried.add((kind, name))
        refused(blobs, changed(graph, place, {**data, name: null}), f"a '{kind}', lacks its '{name}'")
        refused(blobs, changed(graph, place, {key: data[key] for key in data if key != name}), f"lacks its '{name}'")
        items = graph["nodes"][data[name]].get("data")
        if is_list and items:
            refused(blobs, changed(graph, data[name], [*items[:-1], null]), "lacks its")
    assert len(tried) > 20


def calls(graph: Graph) -> Iterator[tuple[int, dict[str, Any], str]]:
    for place, node in enumerate(graph["nodes"]):
        if node["type"] == "ir.Call":
            yield place, node["data"], graph["nodes"][node["data"]["op"]]["data"]


@pytest.mark.parametrize("is_float", [False, True])
def test_operators_without_their_attributes(blobs, is_float):
    """TVM's inference reads them where they should be, and the process dies; those of another operator too."""
    blobs = made(tvmq.Rule("*", None)) if is_float else blobs
    graph = json.loads(blobs[MODULE])
    null = next(place for place, node in enumerate(graph["nodes"]) if node["type"] == NULL)
    own = {operator: data["attrs"] for _, data, operator in calls(graph) if data["attrs"] != null}
    assert {"relax.matmul", "relax.nn.conv2d"} <= own.keys()
    for place, data, operator in calls(graph):
        if operator in own:
            others = [attrs for name, attrs in own.items() if attrs < place and name != operator]
            for attrs in (null, *others[:2]):
                refused(blobs, changed(graph, place, {**data, "attrs": attrs}), f"{operator} has not its attributes")


def test_operators_that_need_attributes_and_do_not_name_them():
    """A fact of TVM: those of them that have none are recognized by their number."""
    import tvm
    from tvm import relax

    x = relax.Var("x", relax.TensorType((2, 3), "float32"))
    every = [relax.op.matmul(x, x), relax.op.argmax(x, 0), *(
        getattr(relax.op, name)(x) for name in ("max", "mean", "min", "prod", "std", "sum", "variance"))]  # fmt: skip
    for call in every:
        assert type(call.attrs).__tvm_ffi_type_info__.type_key == ATTRIBUTES[call.op.name]
        assert not tvm.ir.Op.get(call.op.name).attrs_type_key


FORGED = {"a size": (5, 7), "no size": (5, 0), "a negative size": (5, -1), "a huge size": (5, 2**40), "past int64": (5, 10**30)}


@pytest.mark.parametrize("name", FORGED)
def test_sizes_that_do_not_follow(blobs, name):
    graph, (old, new) = json.loads(blobs[MODULE]), FORGED[name]
    places = [place for place, node in enumerate(graph["nodes"]) if node == {"type": "int", "data": old}]
    assert places
    refused(blobs, changed(graph, places[0], new), "")


@pytest.mark.parametrize("old, new", [
    ("NCHW", "bool"), ("NCHW", "9" * 40), ("OIHW", "x"), ("OIHW", ""), ("float32", "nope"), ("uint8", "float32x4"), ("uint8", "handle"),
])  # fmt: skip
def test_texts_that_no_operator_takes(blobs, old, new):
    graph = json.loads(blobs[MODULE])
    places = [place for place, node in enumerate(graph["nodes"]) if node.get("data") == old]
    for place in places[:2]:
        refused(blobs, changed(graph, place, new), "")


def test_random_forgeries_are_read_or_refused(blobs):
    """References to other nodes: what is read can be explained and drawn."""
    graph, random, read = json.loads(blobs[MODULE]), np.random.default_rng(3), 0
    places = [place for place, node in enumerate(graph["nodes"]) if node["type"].startswith(("ffi.A", "ir.", "relax."))]
    for _ in range(150):
        place = int(random.choice(places))
        data = graph["nodes"][place].get("data")
        if not isinstance(data, dict | list) or not data:
            continue
        field = list(data)[int(random.integers(len(data)))] if isinstance(data, dict) else int(random.integers(len(data)))
        forged = data.copy()
        forged[field] = int(random.integers(place))
        content = json.dumps(changed(graph, place, forged)).encode()
        try:
            module = module_from_bytes("here", {**blobs, MODULE: content})
        except ArtifactError:
            continue
        read += 1
        assert tvmq.explain(module) and tvmq.draw(module).svg
    assert read < 60


def test_damaged_constants(blobs):
    """TVM's reader goes on without an end where sizes are wrong."""
    from tvmq.runtime.artifact.code_bytes import CONSTANTS

    data, random = blobs[CONSTANTS], np.random.default_rng(2)
    for number in range(120):
        place, value = int(random.integers(len(data))), bytes(random.integers(0, 256, 8, np.uint8))
        damage = [data[:place], data[:place] + value + data[place + 8 :], data[:place] + value[:3] + data[place:], data[place:]][number % 4]
        try:
            assert tvmq.explain(module_from_bytes("here", {**blobs, CONSTANTS: damage}))
        except ArtifactError as error:
            assert "save it again" in str(error)
