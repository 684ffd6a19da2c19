"""The guard judges outputs by what people read from them, and puts the head to float before the backbone."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest

import tvmq
from tests.support.models.networks import Net
from tvmq.codegen.compile.evaluators import evaluator
from tvmq.graph.ledger import get_ledger
from tvmq.quantization.guard.bound import Figure, Guard
from tvmq.quantization.guard.calibration_cache import Batch
from tvmq.quantization.guard.judge import Judge
from tvmq.quantization.guard.raising import Search
from tvmq.quantization.guard.regions import heads
from tvmq.quantization.guard.rehearsal import Precision
from tvmq.quantization.guard.report import little_left
from tvmq.quantization.guard.trials import Trial
from tvmq.quantization.meaning.agreement import OutputAgreement, bound_readings, measure_agreement
from tvmq.quantization.pipeline import prepare_model

PLACES = 64


def squares(*, rows: int = 0) -> onnx.ModelProto:
    """A detector by formula: red squares and green squares, boxes in pixels beside scores.

    rows  of the highest scores, as an end-to-end detector gives them; 0: a dense head [1, 6, places]
    """
    net = Net((1, 3, 64, 64))
    means, mixed = np.zeros((4, 3, 8, 8), np.float32), np.diag([16, 16, 1200, 1200]).astype(np.float32)
    for channel, source in enumerate((0, 1, 2, 2)):
        means[channel, source] = 1 / 64
    filtered = net.op("Conv", "x", net.constant(means), strides=[8, 8])
    bias = net.constant(np.array([-8, -8, 600, 600], np.float32))
    mixture = net.op("Conv", filtered, net.constant(mixed[:, :, None, None]), bias)
    logits, sizes = net.ops(
        "Split", net.op("Reshape", mixture, net.constant(np.array([1, 4, PLACES]))), net.constant(np.array([2, 2])),
        outputs=2, axis=1,
    )  # fmt: skip
    centres = np.stack([one.ravel() * 8 + 4 for one in np.mgrid[:8, :8][::-1]])[None] * 40
    head = net.op(
        "Concat", net.op("Concat", net.constant(centres.astype(np.float32)), sizes, axis=1),
        net.op("Sigmoid", logits), axis=1,
    )  # fmt: skip
    return net.model(_sort_rows(net, head, rows) if rows else head)


def _sort_rows(net: Net, head: str, rows: int) -> str:
    table = net.op("Transpose", head, perm=[0, 2, 1])
    boxes, scores = net.ops("Split", table, net.constant(np.array([4, 2])), outputs=2, axis=2)
    best = net.op("ReduceMax", scores, axes=[2], keepdims=0)
    values, places = net.ops("TopK", best, net.constant(np.array([rows])), outputs=2, axis=1)
    places = net.op("Unsqueeze", places, net.constant(np.array([2])))
    boxes = net.op("GatherElements", boxes, net.op("Expand", places, net.constant(np.array([1, rows, 4]))), axis=1)
    classes = net.op("GatherElements", scores, net.op("Expand", places, net.constant(np.array([1, rows, 2]))), axis=1)
    label = net.op("Cast", net.op("ArgMax", classes, axis=2, keepdims=1), to=1)
    return net.op("Concat", boxes, net.op("Unsqueeze", values, net.constant(np.array([2]))), label, axis=2)


def pictures(count: int, seed: int) -> list[dict[str, np.ndarray]]:
    """Pictures of three squares each."""
    rng = np.random.default_rng(seed)
    feeds = []
    for _ in range(count):
        picture = rng.uniform(0, 0.2, (1, 3, 64, 64)).astype(np.float32)
        for _ in range(3):
            y, x = rng.integers(0, 7, 2) * 8
            picture[0, rng.integers(0, 2), y : y + 8, x : x + 8] = rng.uniform(0.4, 0.9)
            picture[0, 2, y : y + 8, x : x + 8] = rng.uniform(0, 1)
        feeds.append({"x": picture})
    return feeds


def agreement(model: onnx.ModelProto, module: Any) -> OutputAgreement:
    """Agreement of the boxes of some other pictures with the float model's."""
    mod, params = tvmq.from_onnx(model)
    sides = [[exe.run(feed) for feed in pictures(8, 2)] for exe in (tvmq.build(mod, params=params), tvmq.build(module))]
    (known,) = measure_agreement(bound_readings(mod), *sides)
    return known


@pytest.mark.slow
def test_scores_beside_large_boxes_hold_and_products_stay_in_8_bits():
    """A layer that joins boxes and scores decodes, and stays float with and without the guard."""
    model, data = squares(), pictures(8, 1)
    for guard in (None, "sqnr >= 20"):
        module = tvmq.quantize(*tvmq.from_onnx(model), data, guard=guard)
        assert agreement(model, module).worst >= 20
        assert tvmq.explain(module).int8_share() == 1.0
    name = model.graph.output[0].name
    raw = tvmq.quantize(*tvmq.from_onnx(model), data, guard=Guard(outputs={name: "numbers"}))
    assert not tvmq.explain(raw).ledger.notes  # their raw values say that all is well


def judge_of(model: onnx.ModelProto, guard: Guard | None = None, data: Any = None) -> Judge:
    mod, params = tvmq.from_onnx(model)
    prepared, _ = prepare_model(mod, params, None, tvmq.QConfig())
    batches = [Batch(feed, 1) for feed in (data or pictures(4, 1))]
    return Judge(prepared, prepared, batches, evaluator, guard or Guard())


def test_sorted_rows_are_judged_as_sets_and_need_no_evidence():
    judge = judge_of(squares(rows=10))
    assert [one.kind for one in judge.readings] == ["detections"] and judge.is_possible
    assert not judge.evidence and not judge._judged
    wanted = {id(batch.feed): results for batch, results in zip(judge._batches, judge._wanted, strict=True)}
    shuffled = judge.measure(lambda feed: [wanted[id(feed)][0][:, ::-1]])
    assert shuffled.sqnr == np.inf
    assert judge.measure(lambda feed: [wanted[id(feed)][0] * 0.9], roughly=True, least=30.0).sqnr < 30
    assert judge.noise(lambda feed: [wanted[id(feed)][0][:, ::-1]]) == 0.0
    assert judge.measure(lambda feed: [wanted[id(feed)][0][..., :5]]).sqnr == -np.inf


def test_without_a_detection_in_the_samples_what_the_ordering_reads_is_judged():
    dark = [{"x": np.zeros((1, 3, 64, 64), np.float32)}] * 2
    judge = judge_of(squares(rows=10), data=dark)
    assert judge.readings == [] and judge.evidence and judge.is_possible


def test_the_user_names_a_kind():
    model = squares()
    name = model.graph.output[0].name
    assert judge_of(model).readings and not judge_of(model)._judged
    judge = judge_of(model, Guard(outputs={name: "numbers"}))
    assert [one.kind for one in judge.readings] == ["numbers"]


def test_the_last_products_are_those_that_no_other_follows():
    net = Net((1, 3, 8, 8))
    body = net.conv("x", 3, 4)
    neck = net.op("Relu", net.conv(net.op("Relu", body), 4, 4))
    model = net.model(net.conv(neck, 4, 2), net.op("Sigmoid", net.conv(neck, 4, 1)))
    quantization = tvmq.quantization.pipeline.static_quantization(*tvmq.from_onnx(model), [{"x": np.ones((1, 3, 8, 8), np.float32)}])
    annotated = quantization.annotate_model()
    from tvmq.graph.view import View

    far = heads(get_ledger(annotated).layers, View(annotated))
    assert list(map(len, far)) == [2, 3, 4]


def test_less_than_half_of_the_work_in_8_bits_is_said_with_advice():
    before = Trial(Precision(), Figure(9.0))
    text = little_left(Search({}, before, before), Figure(24.0), Guard(), 0.3)
    assert text.startswith("quantize: only 30% of the multiply-accumulates are in 8 bits: all in 8 bits keep 9.0 dB of")
    assert "percentile" in text and "16 bits for the head" in text and "finetune" in text


def test_compare_reads_outputs_by_their_meaning():
    model = squares(rows=10)
    mod, params = tvmq.from_onnx(model)
    comparison = tvmq.compare((mod, params), (mod, params), pictures(2, 3))
    (one,) = comparison.read.values()
    assert one.box_f1 == 1.0 and "box F1 1.0000, boxes equal" in comparison.summary()
    assert next(iter(comparison.to_dict()["read"].values()))["box_f1"] == 1.0
