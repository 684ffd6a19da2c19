"""`tvmq.explain`: table, summary, data, and the story of one layer."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from tvm import relax

import tvmq
from tests.support.models.built_modules import build_module
from tests.support.models.networks import Net, feeds_of
from tests.support.models.quantized_models import Maker
from tvmq.errors import ConfigError, StageError
from tvmq.graph.ledger import Ledger
from tvmq.graph.view import View
from tvmq.passes.partition import partition
from tvmq.passes.prepare import prepare
from tvmq.tools.analysis.explanation import Explanation
from tvmq.tools.analysis.layer_report import codes_text, find_layers
from tvmq.tools.analysis.work import float_macs

NUMBER = re.compile(r"(?<=scale )[0-9.e-]+|(?<=from )[0-9.e-]+|(?<=to )[0-9.e-]+|(?<=zero point )\d+|[0-9,]+(?= in)")


def mixed() -> tvmq.Executable:
    """A network with layers kept in float by a rule, weights of four bits, and an undefined operator."""
    n = Net((1, 3, 8, 8))
    y = n.op("Relu", n.conv("x", 3, 8))
    y = n.conv(n.op("Trilu", n.conv(y, 8, 8)), 8, 4, 1)
    model = n.model(n.dense(n.op("Flatten", n.op("GlobalAveragePool", y)), 4, 5))
    mod, params = tvmq.from_onnx(model)
    rules = [tvmq.Rule("/conv_2", None), tvmq.Rule("/conv_4", weights=tvmq.QuantSpec("int8", 4, symmetric=True))]
    with tvmq.qconfig(calibrate_mode="minmax", rules=rules):
        return tvmq.build(tvmq.quantize(mod, params, feeds_of(model), guard=None))


@pytest.fixture(scope="module")
def executable() -> tvmq.Executable:
    """Built once."""
    return mixed()


@pytest.mark.slow
def test_table(digits, golden):
    """Scales and zero points are left out: they may move."""
    golden(re.sub(r"\d\.\d\de-\d\d, +\d+", "#.##e-##, ###", str(tvmq.explain(digits.quantized))) + "\n")


@pytest.mark.slow
def test_table_has_scales_and_island_costs(executable):
    explanation = tvmq.explain(executable)
    heads = str(explanation).splitlines()[0]
    assert "scale, zero" in heads and "float ops + converted" in heads
    entries = explanation.ledger.layers.values()
    assert any("island" in entry for entry in entries)
    for row, entry in zip(explanation.rows(), entries, strict=True):
        output, island = entry.get("output"), entry.get("island")
        coded = isinstance(output, dict)
        assert row[-3] == (f"{output['scale']:.2e}, {output['zero_point']:>3}" if coded else "")
        assert row[-2] == (f"{island['float_operations']:,} + {island['converted']:,}" if island else "")


@pytest.mark.slow
def test_summary(digits, golden):
    golden(tvmq.explain(digits.quantized).summary() + "\n")


STORIES = ["/stem/conv", "/block3/depthwise/act/mul", "/block1/residual", "/head/dense"]


@pytest.mark.parametrize("layer", STORIES, ids=["conv", "table", "add", "head"])
def test_story(digits, golden, layer):
    """Numbers that calibration finds are left out: they may move."""
    golden(NUMBER.sub("#", str(tvmq.explain(digits.quantized, layer))) + "\n")


def test_table_of_an_executable_names_kernels(digits):
    explanation = tvmq.explain(digits.exe)
    rows = {row[0]: row for row in explanation.rows()}
    known = set(digits.exe.kernels.values())
    for row in rows.values():
        assert set(filter(None, row[4].split(" + "))) <= known
    products = [row for row in explanation.rows() if row[1] in ("conv2d", "dense")]
    families = ("conv2d", "depthwise", "matmul", "winograd")
    assert products and all(any(family in row[4] for family in families) for row in products)
    depthwise = rows["/block1/depthwise/{conv, norm, act}"][4]
    assert "depthwise" in depthwise or not any("depthwise" in kernel for kernel in known)
    assert explanation.to_dict()["kernels"]
    assert "kernel" in str(explanation).splitlines()[0].split()


def test_story_of_an_executable_names_the_kernel(digits):
    story = str(tvmq.explain(digits.exe, "/stem/conv"))
    kernel = digits.exe.kernels[next(iter(tvmq.explain(digits.exe, "/stem/conv").layers))]
    assert f"  kernel     {kernel}\n" in story


def test_story_says_what_the_module_holds(digits):
    """Scales, bounds and work are those of the module."""
    story = tvmq.explain(digits.quantized, "/stem/conv").to_dict()
    ((name, entry),) = story["layers"].items()
    image = digits.exe.input_info[0]
    assert entry["input"][0]["scale"] == pytest.approx(image.scale, rel=1e-7)
    assert entry["weight"]["shape"] == [16, 1, 3, 3] and entry["weight"]["scales"] == 16
    # nine products of at most 255 * 127 each, and a bias
    assert 255 * 127 < entry["accumulator"] < 2**24
    assert entry["macs"] == 16 * 16 * 16 * 9 == 36864
    assert name in digits.exe.ledger.layers


def test_all_work_of_the_embedded_network_is_in_int8(digits):
    explanation = tvmq.explain(digits.quantized)
    assert explanation.int8_share() == 1.0 and explanation.undefined == ()
    assert explanation.macs() == sum(e["macs"] for e in explanation.ledger.layers.values())
    assert "100.0% of multiply-accumulates" in explanation.summary()


@pytest.mark.slow
def test_share_counts_what_stays_float(executable):
    explanation = tvmq.explain(executable)
    first, second, third, head = 64 * 8 * 27, 64 * 8 * 72, 64 * 4 * 8, 4 * 5
    assert explanation.macs() == first + second + third + head
    assert explanation.int8_share() == pytest.approx(1 - second / explanation.macs())
    text = explanation.summary()
    assert "(1): rule '/conv_2'" in text
    assert "float operators without a definition of their own: " in text and "triu '/trilu_3'" in text


@pytest.mark.slow
def test_bits_of_a_rule_are_shown(executable):
    precision = {row[0]: row[2] for row in tvmq.explain(executable).rows()}
    assert precision["/conv_4"] == "int8 (w4)" and precision["/conv_2"] == "float"


def test_story_of_a_float_layer(executable):
    story = str(tvmq.explain(executable, "/conv_2"))
    assert "  precision  float, decided by: rule '/conv_2'\n" in story
    assert "  work       36,864 multiply-accumulates, " in story
    kernel = next(line for line in story.splitlines() if line.startswith("  kernel"))
    assert "generic" in kernel or "float" in kernel or "conv2d" in kernel


def test_data_are_plain(executable):
    data = tvmq.explain(executable).to_dict()
    assert json.loads(json.dumps(data)) == data
    assert data["stage"] == "realized" and 0 < data["int8_share"] < 1 and data["undefined_float_islands"]
    story = tvmq.explain(executable, "/conv_0").to_dict()
    assert json.loads(json.dumps(story)) == story and story["name"] == "/conv_0"


def test_a_layer_by_its_variable(digits):
    story = tvmq.explain(digits.quantized, "/pool1")
    (variable,) = story.layers
    assert str(tvmq.explain(digits.quantized, variable)) == str(story)


@pytest.mark.parametrize("name, hint", [
    ("/stem/cnv", "did you mean '/stem/conv'"), ("residual", "did you mean '/block1/residual' or '/block3/residual'?"),
    ("RESIDUAL", "'/block1/residual'"), ("qqqqqqqq", "explain(model) lists them"),
])  # fmt: skip
def test_unknown_layers(digits, name, hint):
    with pytest.raises(ConfigError) as caught:
        tvmq.explain(digits.quantized, name)
    text = str(caught.value)
    assert text.startswith("explain: none of ") and repr(name) in text
    for part in hint.replace("did you mean ", "").strip("?").split(" or "):
        assert part in text


def test_a_name_that_became_several_operators():
    entry = {"op": "conv2d", "precision": "int8", "why": "default"}
    names = {"a": ["/x"], "b": ["/x", "/y"], "c": ["/y"]}
    layers = {key: {**entry, "layers": sources} for key, sources in names.items()}
    assert list(find_layers("/x", layers)) == ["a", "b"]
    story = Explanation(Ledger(layers=layers)).layer("/x")
    assert str(story).count("operator") == 2 and "\n\n" in str(story)


def test_modules_without_decisions(digits):
    with pytest.raises(StageError, match="explain: the model is 'imported' and carries no decisions .* quantize it"):
        tvmq.explain(digits.mod)


def test_a_prepared_module_shows_its_operators(digits):
    prepared = prepare(digits.mod, digits.params)
    told = tvmq.explain(prepared)
    assert "/stem/conv" in str(told) and "not decided yet: partition decides" in str(told)
    assert told.macs() == tvmq.explain(partition(prepared)).macs() > 1_000_000
    assert "36,864" in str(told.layer("/stem/conv"))


@pytest.mark.parametrize("bits, text", [(8, "uint8, "), (4, "uint8 of 4 bits, ")])
def test_codes(bits, text):
    facts = {"dtype": "uint8", "bits": bits, "scale": 0.5, "zero_point": 7}
    assert codes_text(facts) == f"{text}scale 0.5, zero point 7"
    assert codes_text("float32, straight") == "float32, straight"


def test_long_cells_are_cut():
    entry = {"op": "conv2d", "precision": "int8", "why": "default", "layers": ["x" * 200]}
    first = str(Explanation(Ledger(layers={"x": entry}))).splitlines()[1]
    assert first.split()[0] == "x" * 57 + "..." and len(first) < 120


def test_without_products_all_are_in_int8():
    entry = {"op": "add", "precision": "int8", "why": "default", "layers": ["a"]}
    assert Explanation(Ledger(layers={"a": entry})).int8_share() == 1.0
    assert Explanation(Ledger(layers={})).int8_share() == 1.0


def test_many_undefined_operators_are_counted():
    text = Explanation(Ledger(), tuple(f"sin 's{i}'" for i in range(9))).summary()
    assert "sin 's4' and 4 more" in text and "s5" not in text


@pytest.mark.parametrize("mean", [0, 1])
def test_samples_that_are_proved_apart(mean):
    """A mean over the batch mixes samples, one over channels does not."""
    axes = [mean]

    def body(_builder: relax.BlockBuilder, x: relax.Var) -> relax.Expr:
        return relax.op.subtract(x, relax.op.mean(x, axis=axes, keepdims=True))

    explanation = tvmq.explain(prepare(build_module({"x": ("images", 4)}, body)))
    sentence = "samples of 'images' have the same results in any batch: no operator mixes them"
    assert (sentence in explanation.summary()) == (mean == 1)
    assert explanation.to_dict().get("batch") == ("images" if mean else None)


def test_multiply_accumulates_of_float_operators():
    n = Net((1, 4, 8, 8), (2, 6, 5))
    weight = np.zeros((6, 2, 3, 3), np.float32)
    grouped = n.op("Conv", "x", n.constant(weight), group=2, strides=[2, 2], pads=[1, 1, 1, 1])
    up = n.op("ConvTranspose", "x", n.constant(np.zeros((4, 3, 2, 2), np.float32)), strides=[2, 2])
    product = n.op("MatMul", "x1", n.constant(np.zeros((5, 7), np.float32)))
    mod, params = tvmq.from_onnx(n.model(grouped, up, product))
    from tvmq.passes.prepare import prepare

    macs = float_macs(View(prepare(mod, params)))
    assert sorted(macs.values()) == sorted([6 * 4 * 4 * 2 * 9, 4 * 8 * 8 * 3 * 4, 2 * 6 * 7 * 5])


@pytest.mark.slow
def test_it_says_why_a_kernel_was_chosen():
    """A 3 x 3 convolution says by how much Winograd is faster, or that it is not."""
    n = Net((1, 64, 16, 16))
    model = n.model(n.op("Relu", n.conv(n.op("Relu", n.conv("x", 64, 64)), 64, 4)))
    exe = tvmq.build(tvmq.quantize(*tvmq.from_onnx(model), feeds_of(model), guard=None), "llvm -mcpu=cascadelake")
    explanation = tvmq.explain(exe)
    notes = [text for texts in explanation.notes.values() for text in texts]
    assert len(notes) == len(exe.notes) == 2
    assert any("as fast as the direct kernel by the cost model" in note for note in notes)
    assert any("would not be faster" in note for note in notes)
    for layer in explanation.notes:
        (note,) = explanation.notes[layer]
        assert f"\n             {note}\n" in str(explanation.layer(layer))


def test_a_model_of_conversions_alone_has_no_layers() -> None:
    maker = Maker()
    module = tvmq.quantize(*tvmq.from_onnx(maker.model(maker.rounded(maker.input("x", (4,)), 0.1, 3), types=["float32"])))
    explanation = tvmq.explain(tvmq.build(module))
    assert explanation.ledger.layers == {} and "0 of 0 operators in int8" in str(explanation)
