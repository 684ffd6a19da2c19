"""`tvmq.draw`: every layer is in the picture, after each stage; large networks are drawn small and quickly."""

from __future__ import annotations

import time
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

import tvmq
from tests.support.models.networks import Net, feeds_of
from tvmq.errors import ConfigError
from tvmq.options.config import QConfig
from tvmq.quantization.stages import DECISIONS, PREPARATION, StageContext, run_stages
from tvmq.tools.drawing.draw import BLOCKS, DETAILS
from tvmq.tools.drawing.network_cards import Card
from tvmq.tools.drawing.svg import titles_of


def texts(svg: str) -> str:
    return " ".join(ElementTree.fromstring(svg).itertext())


@pytest.fixture(scope="module")
def residual():
    net = Net((1, 3, 8, 8))
    y = net.op("Relu", net.conv("x", 3, 4))
    z = net.op("Add", y, net.conv(y, 4, 4))
    return net.model(net.op("MaxPool", z, kernel_shape=[2, 2], strides=[2, 2]))


@pytest.mark.slow
@pytest.mark.parametrize("detail", DETAILS)
def test_every_stage_is_drawn(residual, detail):
    mod, params = tvmq.from_onnx(residual)
    choices = StageContext(QConfig(), params=params)
    prepared = run_stages(mod, PREPARATION, choices)
    module = tvmq.quantize(mod, params, feeds_of(residual))
    for stage in ((mod, params), prepared, run_stages(prepared, DECISIONS, choices), module, tvmq.build(module)):
        drawing = tvmq.draw(stage, detail=detail)
        assert "conv2d" in texts(drawing.svg) and "http" not in drawing.svg.replace("http://www.w3.org", "")
    assert "int8" in texts(tvmq.draw(module).svg)


@pytest.mark.slow
def test_names_and_precision_are_told(residual):
    mod, params = tvmq.from_onnx(residual)
    module = tvmq.quantize(mod, params, feeds_of(residual), config=tvmq.qconfig(rules=[tvmq.Rule("/conv_2*", None)]))
    text = texts(tvmq.draw(module, detail="layers").svg)
    assert "/conv_2" in text and "float" in text and "int8" in text


def test_a_drawing_saves_and_shows_itself(residual, tmp_path):
    drawing = tvmq.draw(tvmq.from_onnx(residual))
    drawing.save(tmp_path / "net.svg")
    assert (tmp_path / "net.svg").read_text() == drawing.svg == drawing._repr_svg_()
    assert drawing.svg in drawing._repr_html_()


def test_names_with_signs_of_xml_are_escaped():
    net = Net((1, 4))
    model = net.model(net.op("Relu", "x"))
    model.graph.node[0].name = '<a & "b">'
    assert '<a & "b">' in texts(tvmq.draw(tvmq.from_onnx(model)).svg)


def test_a_thousand_operators_become_blocks_in_two_seconds():
    net = Net((1, 8))
    y = "x"
    for number in range(500):
        y = net.op("Add", net.op("Relu", y), net.constant(np.float32([number] * 8)))
    mod, params = tvmq.from_onnx(net.model(y))
    tvmq.draw((mod, params))  # imports
    start = time.process_time()
    drawing = tvmq.draw((mod, params))
    assert time.process_time() - start < 2.0
    assert drawing.detail == "blocks" and drawing.svg.count("<rect") < 6 * BLOCKS


def test_bad_input_gets_one_sentence(residual):
    mod, params = tvmq.from_onnx(residual)
    with pytest.raises(ConfigError, match="draw: detail must be one of auto, operators, layers, blocks. Got 'all'"):
        tvmq.draw((mod, params), detail="all")
    with pytest.raises(ConfigError, match="draw: columns must be at least 1, or None. Got 0"):
        tvmq.draw((mod, params), columns=0)


@pytest.mark.slow
def test_a_script_has_the_ledger_below(residual):
    mod, params = tvmq.from_onnx(residual)
    module = tvmq.quantize(mod, params, feeds_of(residual))
    text = tvmq.script(module)
    code, ledger = text.split("# stage realized")
    assert "def main" in code and "conv_0" in ledger and '\\"layers\\"' not in text
    assert tvmq.script(tvmq.build(module))


BOTTLENECK = "backbone.layer{}.{}.{{conv{}, bn{}, relu}}"


@pytest.mark.parametrize("names", [
    [BOTTLENECK.format(layer, block, conv, conv) for layer in (1, 2) for block in (0, 1) for conv in (1, 2)],
    [f"/model/encoder/layer.{i}/attention/self/query/MatMul" for i in range(12)],
    [f"/model/{'deep/' * 9}block_{i}/{'deep/' * 9}MatMul" for i in range(3)],
    ["a" * 40, "a" * 41, "a" * 42, "b" * 40],
    ["x" * 100, "x" * 49 + "y" + "x" * 50],
])  # fmt: skip
def test_names_that_differ_look_different(names):
    cards = [Card(name, (name,), "nn.conv2d") for name in names]
    titles = titles_of(cards)
    assert len(set(titles)) == len(names)
    assert all(len(title) <= len(name) for title, name in zip(titles, names, strict=True))


def test_cards_of_one_name_have_one_title_and_short_names_are_whole():
    cards = [Card(key, (name,), "nn.relu") for key, name in (("a", "r" * 50), ("b", "r" * 50), ("c", "stem"))]
    assert titles_of(cards) == ["r" * 14 + ".." + "r" * 14] * 2 + ["stem"]
