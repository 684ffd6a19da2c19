"""The module of a saved file: bytes of anything else are refused in one sentence, with valid hashes too."""

from __future__ import annotations

import copy
import json
from typing import Any

import numpy as np
import pytest

import tvmq
from tests.support.models.networks import Net, feeds_of
from tvmq.base.tvm_internals import CONTAINERS
from tvmq.errors import ArtifactError, ModelError
from tvmq.graph.ledger import ATTRIBUTE as LEDGER
from tvmq.graph.ledger import get_ledger
from tvmq.graph.names import ATTRIBUTE, INPUTS, OUTPUTS, WEIGHTS
from tvmq.runtime.artifact.code_bytes import MODULE
from tvmq.runtime.artifact.module_bytes import module_from_bytes, module_to_bytes


@pytest.fixture(scope="module")
def qmod() -> Any:
    net = Net((1, 4))
    model = net.model(net.dense("x", 4, 3))
    with tvmq.qconfig(calibrate_mode="minmax", weight_rounding="nearest"):
        return tvmq.quantize(*tvmq.from_onnx(model), feeds_of(model, 2), guard=None)


@pytest.fixture(scope="module")
def blobs(qmod: Any) -> dict[str, bytes]:
    return module_to_bytes(qmod)


@pytest.mark.parametrize("content", [
    b"", b"null", b"[]", b"5", b"[" * 100_000, b'{"nodes": []}', b'{"nodes": 5}', b'{"nodes": [5], "root_index": 0}',
    b"\xff\xfe", b'{"root_index": 0, "nodes": [{"type": "ffi.String", "data": "x"}]}',
    b'{"root_index": 0, "nodes": [{"type": "nope\\u0000", "data": {}}]}', b'{"root_index": 7, "nodes": [{"type": "None"}]}',
], ids=lambda content: repr(content[:20]))  # fmt: skip
def test_what_is_no_module(blobs: dict[str, bytes], content: bytes) -> None:
    with pytest.raises(ArtifactError, match=r"^here: TVM cannot read 'module.json' \(.*\); save it again$") as caught:
        module_from_bytes("here", {**blobs, MODULE: content})
    assert "\n" not in str(caught.value)


def replaced(blobs: dict[str, bytes], old: str, new: str) -> dict[str, bytes]:
    """The module with other texts."""
    graph = json.loads(blobs[MODULE])
    nodes = [node for node in graph["nodes"] if node["type"] == "ffi.String" and node["data"] == old]
    assert nodes
    for node in nodes:
        node["data"] = new
    return {**blobs, MODULE: json.dumps(graph).encode()}


@pytest.mark.parametrize("name", ["", "main\0x", "\0", "Main"])
def test_a_module_without_main(blobs: dict[str, bytes], name: str) -> None:
    with pytest.raises(ArtifactError, match=r"'module.json' \(.*main.*\); save it again$"):
        module_from_bytes("here", replaced(blobs, "main", name))


def test_nodes_that_name_themselves_or_later_ones(blobs: dict[str, bytes]) -> None:
    """TVM would follow them until the stack is full, and the process dies."""
    graph = json.loads(blobs[MODULE])
    tried = 0
    for place, node in enumerate(graph["nodes"]):
        if node["type"] in CONTAINERS and node["data"]:
            changes = [(0, place), (-1, len(graph["nodes"]) - 1), (0, -1), (0, None), (0, 10**30)]
        elif isinstance(node.get("data"), dict) and "ty" in node["data"]:
            changes = [("ty", place), ("ty", len(graph["nodes"]) - 1), ("span", place)]
        else:
            continue
        for field, value in changes[tried % 3 :: 3]:
            before, node["data"][field] = node["data"][field], value
            with pytest.raises(ArtifactError, match=r"\(node \d+ names '.*', which is none before it\); save it again"):
                module_from_bytes("here", {**blobs, MODULE: json.dumps(graph).encode()})
            node["data"][field] = before
        tried += 1
    assert tried > 20


NO_JSON = ["{", "null", "5", '{"a": 5}', '{"a": [5]}', "[5]", "[" * 9999, "{}\0x"]
OTHER_LEDGERS = ['{"stage": "nope"}', '{"layers": 5}', '{"layers": {"a": 5}}', '{"layers": {"a": {"op": 5}}}', '{"notes": [5]}',
                 '{"layers": {"a": {"layers": [5]}}}', '{"codes": {"a": 5}}', '{"codes": {"a": ["x", 1]}}',
                 '{"config": []}', '{"backend": 5}']  # fmt: skip


@pytest.mark.parametrize("key, text", [
    *((key, text) for key in (ATTRIBUTE, INPUTS, OUTPUTS, WEIGHTS, LEDGER) for text in NO_JSON
      if not (key in (INPUTS, OUTPUTS, WEIGHTS) and text == '{"a": [5]}') and not (key != ATTRIBUTE and text == '{"a": 5}')),
    *((LEDGER, text) for text in OTHER_LEDGERS),
], ids=lambda value: value[:24])  # fmt: skip
def test_attributes_that_nobody_wrote_so(qmod: Any, key: str, text: str) -> None:
    """Forged attributes are refused in a file, and in a module that somebody made."""
    module = qmod.clone()
    module["main"] = qmod["main"].with_attr(key, text)
    with pytest.raises(ArtifactError, match=f"^here: TVM cannot read 'module.json' .*attribute '{key}' is damaged"):
        module_from_bytes("here", module_to_bytes(module))
    if key in (ATTRIBUTE, LEDGER):
        for look in (tvmq.explain, tvmq.draw, lambda module: tvmq.to_onnx(module, "never.onnx")):
            with pytest.raises(ModelError, match=f"^module: its attribute '{key}' is damaged, or was written by something"):
                look(module)


def test_names_with_null_bytes_and_escapes(qmod: Any, blobs: dict[str, bytes]) -> None:
    hostile = "a\0b\x1b[31m\n"
    ledger = copy.deepcopy(get_ledger(qmod))
    for entry in ledger.layers.values():
        entry.update(layers=[hostile], why=hostile)
    ledger.notes.append(hostile)
    variables = json.loads(str(qmod["main"].attrs[ATTRIBUTE]))
    module = qmod.clone()
    module["main"] = (
        qmod["main"].with_attr(LEDGER, json.dumps(vars(ledger)))
        .with_attr(ATTRIBUTE, json.dumps({variable: [hostile] for variable in variables}))
        .with_attr(INPUTS, json.dumps([hostile]))
    )  # fmt: skip
    module = module_from_bytes("here", module_to_bytes(module))
    texts = [tvmq.explain(module), tvmq.draw(module).svg, tvmq.script(module), tvmq.build(module)]
    for text in map(str, texts):
        assert not set("\0\x1b") & set(text)
    feed = {tvmq.build(module).input_info[0].name: np.zeros((1, 4), np.float32)}
    np.testing.assert_array_equal(tvmq.build(module).run(feed)[0], tvmq.reference.run(module, feed)[0])
