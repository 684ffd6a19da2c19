"""Results of a sample alone and in other surroundings: what keeps them equal, and which layer is named where they differ."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import tvmq
from tests.support.models.dynamic_models import WIDTH, WORDS, Nodes, encoder, texts
from tvmq.errors import ConfigError, DataError
from tvmq.tools.analysis.invariance import InvarianceCheck

LENGTHS = (5, 9, 20)


@pytest.fixture(scope="module")
def samples() -> list[dict[str, np.ndarray]]:
    return [texts(1, length, seed=length) for length in LENGTHS]


def build(model: onnx.ModelProto, data: Any = None, **options: Any) -> tvmq.Executable:
    """Quantized with options; in float without any."""
    mod, params = tvmq.from_onnx(model)
    if not options:
        return tvmq.build(mod, params=params)
    with tvmq.qconfig(**options):
        return tvmq.build(tvmq.quantize(mod, params, data, guard=None))


def words(mix: Any, **sizes: Any) -> onnx.ModelProto:
    """ids, mask [batch, length] -> mix(graph, embedded words [batch, length, WIDTH], mask [batch, length, 1])."""
    g = Nodes(0)
    x = g.add("Gather", g.weight(WORDS, WIDTH), "ids", axis=0)
    mask = g.add("Unsqueeze", g.add("Cast", "mask", to=TensorProto.FLOAT), g.constant(np.int64([2])))
    shape = [sizes.get("batch", "batch"), sizes.get("length", "length")]
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, shape) for name in ("ids", "mask")]
    return g.model(inputs, mix(g, x, mask))


def masked_sum(g: Any, x: str, mask: str) -> str:
    return str(g.add("ReduceSum", g.add("Mul", x, mask), g.constant(np.int64([1])), keepdims=0))


def plain_mean(g: Any, x: str, _mask: str) -> str:
    return str(g.add("ReduceMean", x, axes=[1], keepdims=0))


def difference_from_the_batch(g: Any, x: str, mask: str) -> str:
    y = masked_sum(g, x, mask)
    return str(g.add("Sub", y, g.add("ReduceMean", y, axes=[0], keepdims=1)))


def neighbours(g: Any, x: str, mask: str) -> str:
    y = g.add("Conv", g.add("Transpose", x, perm=[0, 2, 1]), g.weight(WIDTH, WIDTH, 3), pads=[1, 1])
    return masked_sum(g, g.add("Transpose", y, perm=[0, 2, 1]), mask)


def checks_of(result: tvmq.tools.analysis.invariance.Invariance) -> dict[str, InvarianceCheck]:
    return {check.what: check for check in result.checks}


@pytest.mark.slow
def test_attention_with_scales_made_at_run_time(samples):
    """The values that softmax weighs have a scale for each word: what padding holds reaches no other."""
    exe = build(encoder(), activations="dynamic")
    result = tvmq.check_invariance(exe, samples, runs=6)
    assert result.holds, str(result)
    assert [check.runs >= 6 and check.values > 0 for check in result.checks] == [True] * 4
    assert [check.proved for check in result.checks] == [True, False, True, True]
    assert result.checks[2].condition.startswith("attention scores are within 4096, here up to ")
    assert "yes, proved where attention scores are within 4096, here up to" in str(result.checks[3])
    assert tvmq.verify(exe, samples).exact


@pytest.mark.slow
@pytest.mark.parametrize("options", [{"activations": "static"}, {"activations": "dynamic"}])
def test_a_mask_that_is_gathered(samples, options):
    """Samples and positions are proved apart, and batches are right: exporters of transformers write masks so."""
    exe = build(encoder(gathered=True), samples, **options)
    result = tvmq.check_invariance(exe, samples, runs=6)
    assert result.holds and [check.proved for check in result.checks] == [True, False, True, True], str(result)
    assert result.checks[2].condition == ""
    assert "positions where 'mask' is 0, more of them on the right too, change no result: proved" in str(
        tvmq.explain(exe).summary()
    )
    plain = build(encoder(), samples, **options)
    feed = texts(3, 9)
    np.testing.assert_array_equal(exe.run(feed)[0], plain.run(feed)[0])


@pytest.mark.slow
@pytest.mark.parametrize(
    "options", [{"integer_softmax": False}, {"activations": None}, {"integer_softmax": True, "integer_layer_norm": True}]
)
def test_other_ways_to_compute(samples, options):
    result = tvmq.check_invariance(build(encoder(2), samples, **options), samples, runs=30)
    assert result.holds, str(result)


@pytest.mark.parametrize(
    ("mix", "what", "named"),
    [
        (plain_mean, "masked values", "mean"),
        (difference_from_the_batch, "batch and order", "mean"),
        (neighbours, "masked values", "nn.conv1d"),
    ],
)
def test_the_layer_that_mixes_is_named(samples, mix, what, named):
    result = tvmq.check_invariance(build(words(mix)), samples, runs=6)
    check = checks_of(result)[what]
    assert not result.holds and check.differing > 0 and not check.proved and not check.condition
    assert f"the first layer that differs is {named}" in check.note, check.note
    assert "invariant: no" in str(result) and f"{what}: no (" in str(result)


@pytest.mark.slow
def test_a_table_of_positions_moves_with_padding_on_the_left(samples):
    exe = build(encoder())
    assert tvmq.check_invariance(exe, samples, runs=3).holds
    check = checks_of(tvmq.check_invariance(exe, samples, runs=3, left=True))["padding on the left"]
    assert check.differing > 0 and "the first layer that differs is add" in check.note


def test_fixed_sizes(samples):
    """The mask tells positions apart, also where their number and that of samples are fixed."""
    padded = [{name: np.pad(array, [(0, 0), (0, 24 - array.shape[1])]) for name, array in x.items()} for x in samples]
    result = tvmq.check_invariance(build(words(masked_sum, batch=2, length=24)), padded, runs=4)
    checks = checks_of(result)
    assert result.holds and checks["masked values"].runs == 4 and checks["batch and order"].runs == 4
    assert checks["padding on the right"].note == "the length is fixed at 24"
    alone = tvmq.check_invariance(build(words(masked_sum, batch=1, length=24)), padded, runs=2)
    assert checks_of(alone)["batch and order"].note == "the batch is fixed at 1"
    full = [{**x, "mask": np.ones_like(x["mask"])} for x in padded]
    unmasked = tvmq.check_invariance(build(words(masked_sum, batch=1, length=24)), full, runs=2)
    assert checks_of(unmasked)["masked values"].note == "the samples mask none of their 24 positions"


def test_what_is_not_proved_is_named(samples):
    """The runs agree, and the layer without a rule is named; data whose masked positions come first have no proof."""
    check = checks_of(tvmq.check_invariance(build(words(masked_sum)), samples, runs=2))["masked values"]
    assert not check.differing and check.condition.endswith("depends on their number")
    assert f"masked values: yes, not proved: {check.condition} (" in str(check)

    def first_word(g: Any, x: str, mask: str) -> str:
        return str(g.add("Gather", x, g.constant(np.int64(0)), axis=1))

    turned = [{name: array[:, ::-1] for name, array in sample.items()} for sample in samples]
    for data, proved in ((samples, True), (turned, False)):
        result = tvmq.check_invariance(build(words(first_word)), data, runs=2)
        check = checks_of(result)["masked values"]
        if not check.differing:
            assert check.proved == proved
            comes = "come" if proved else "do not come"
            assert check.condition.startswith(f"own positions {comes} first")


def test_an_output_with_more_positions_than_the_input(samples):
    """Which of them belong to a sample is not known: no verdict, and none that is wrong."""

    def twice(g: Any, x: str, mask: str) -> str:
        return str(g.add("Concat", x, g.add("Mul", x, mask), axis=1))

    result = tvmq.check_invariance(build(words(twice)), samples[:1], runs=2)
    assert "has an axis of" in checks_of(result)["padding on the right"].note


def recurrent(inputs: tuple[Any, ...], *, turned: bool = False) -> onnx.ModelProto:
    """x of these sizes -> states of an LSTM [steps, batch, 8]; turned: x is [batch, steps, 4]."""
    g = Nodes(0)
    x = g.add("Transpose", "x", perm=[1, 0, 2]) if turned else "x"
    x = g.add("LSTM", x, g.weight(1, 32, 4), g.weight(1, 32, 8), hidden_size=8)
    given = helper.make_tensor_value_info("x", TensorProto.FLOAT, list(inputs))
    return g.model([given], g.add("Squeeze", x, g.constant(np.int64([1]))))


@pytest.mark.parametrize(
    ("sizes", "why"),
    [
        (("steps", "n", 4), "the inputs begin with steps, and the batch is n"),
        ((5, "n", 4), "the inputs begin with 5, and the batch is n"),
        (("steps", 3, 4), "the inputs begin with steps, which a recurrent layer counts as its steps"),
    ],
)
def test_steps_are_not_taken_for_samples(sizes, why):
    data = [{"x": np.random.default_rng(seed).standard_normal((5, 3, 4)).astype(np.float32)} for seed in range(2)]
    result = tvmq.check_invariance(build(recurrent(sizes)), data, runs=3)
    checks = checks_of(result)
    assert result.holds and result.samples == 2, str(result)
    assert checks["threads"].runs == 3 and checks["threads"].values > 0
    assert [checks[what].note for what in ("batch and order", "masked values", "padding on the right")] == [why] * 3


def test_samples_of_a_recurrent_model_of_one_step_are_told_apart():
    """A first axis of 1 may be the batch or the steps: its rows are samples either way."""
    data = {"x": np.random.default_rng(0).standard_normal((6, 1, 4)).astype(np.float32)}
    result = tvmq.check_invariance(build(recurrent((1, 1, 4))), data, samples=3, runs=2)
    assert result.holds and result.samples == 3, str(result)
    assert checks_of(result)["batch and order"].note == "the batch is fixed at 1"


def test_the_batch_on_another_axis_of_an_output():
    """Samples are found along the second axis; a model that mixes them there is seen to."""
    data = {"x": np.random.default_rng(0).standard_normal((4, 5, 4)).astype(np.float32)}
    model = recurrent(("n", 5, 4), turned=True)
    check = checks_of(tvmq.check_invariance(build(model), data, runs=4))["batch and order"]
    assert check.runs == 4 and check.values > 0 and not check.differing, str(check)
    last = model.graph.output[0].name
    model.graph.node.append(helper.make_node("ReduceMean", [last], ["mean"], axes=[1], keepdims=1))
    model.graph.node.append(helper.make_node("Sub", [last, "mean"], ["y"]))
    model.graph.output[0].name = "y"
    assert checks_of(tvmq.check_invariance(build(model), data, runs=4))["batch and order"].differing > 0


def test_several_inputs_that_may_be_the_mask(samples):
    model = words(masked_sum)
    twin = helper.make_tensor_value_info("mask_of_words", TensorProto.INT64, ["batch", "length"])
    model.graph.input.append(twin)
    exe, data = build(model), [{**sample, "mask_of_words": sample["mask"]} for sample in samples]
    with pytest.raises(ConfigError, match="mask, mask_of_words may be the mask; name one, mask='mask'"):
        tvmq.check_invariance(exe, data)
    assert tvmq.check_invariance(exe, data, mask="mask", runs=2).holds


def test_the_result_as_data(samples):
    result = tvmq.check_invariance(build(words(masked_sum)), samples, runs=2, samples=2)
    data = result.to_dict()
    assert data["invariant"] and data["samples"] == 2 and data["checks"][0]["what"] == "batch and order"
    assert str(result).startswith("invariant: yes (2 samples)\n  batch and order: yes, proved (")


def test_bad_arguments(samples):
    exe = build(words(masked_sum))
    with pytest.raises(ConfigError, match=r"mask='words' is no input \[batch, length\] of the model; it has ids, mask"):
        tvmq.check_invariance(exe, samples, mask="words")
    with pytest.raises(ConfigError, match=r"samples must be at least 1\. Got 0 instead"):
        tvmq.check_invariance(exe, samples, samples=0)
    with pytest.raises(DataError, match="gave 0 samples"):
        tvmq.check_invariance(exe, [])


def test_the_helper_for_tests(samples):
    tvmq.testing.assert_invariant(build(words(masked_sum)), samples, runs=2)
    with pytest.raises(AssertionError, match="masked values: no"):
        tvmq.testing.assert_invariant(build(words(plain_mean)), samples, runs=4)
