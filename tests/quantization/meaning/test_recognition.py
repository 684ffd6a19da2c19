"""Kinds of outputs, by the structure of networks of each kind."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import tvmq
from tests.support.models.networks import Net
from tvmq.errors import ConfigError
from tvmq.graph.names import output_names
from tvmq.graph.view import View, sizes_of
from tvmq.quantization.meaning.recognition import KINDS, fit_readings, ordered_outputs, read_outputs


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def dense_head(net: Net) -> list[str]:
    """YOLO: boxes and scores [1, 4 + 3, 16]."""
    places = net.op("Reshape", net.conv(net.inputs[0], 3, 7), net.constant(ints(1, 7, 64)))
    boxes, logits = net.ops("Split", places, net.constant(ints(4, 3)), outputs=2, axis=1)
    return [net.op("Concat", boxes, net.op("Sigmoid", logits), axis=1)]


def transposed_head(net: Net) -> list[str]:
    return [net.op("Transpose", *dense_head(net), perm=[0, 2, 1])]


def scaled_head(net: Net) -> list[str]:
    """YOLOv5: for each scale columns concatenated, then the scales."""
    return [net.op("Concat", transposed_head(net)[0], transposed_head(net)[0], axis=1)]


def sorted_rows(net: Net) -> list[str]:
    """An end-to-end YOLO: rows of the highest scores."""
    head = transposed_head(net)[0]
    boxes, scores = net.ops("Split", head, net.constant(ints(4, 3)), outputs=2, axis=2)
    best = net.op("ReduceMax", scores, axes=[2], keepdims=0)
    values, places = net.ops("TopK", best, net.constant(ints(5)), outputs=2, axis=1)
    index = net.op("Expand", net.op("Unsqueeze", places, net.constant(ints(2))), net.constant(ints(1, 5, 4)))
    rows = net.op("GatherElements", boxes, index, axis=1)
    labels = net.op("Cast", net.op("Mod", places, net.constant(ints(3))), to=1)
    ends = [net.op("Unsqueeze", one, net.constant(ints(2))) for one in (values, labels)]
    return [net.op("Concat", rows, *ends, axis=2)]


def separate_rows(net: Net) -> list[str]:
    """Boxes, scores and classes of sorted rows in three outputs."""
    rows = net.ops("Split", sorted_rows(net)[0], net.constant(ints(4, 1, 1)), outputs=3, axis=2)
    return [rows[0], rows[1], net.op("Cast", net.op("Cast", rows[2], to=7), to=1)]


def highest_scores(net: Net) -> list[str]:
    """The seven best of twenty classes, as a classifier gives them: no row of a box."""
    return [net.ops("TopK", flat(net, 20), net.constant(ints(7)), outputs=2, axis=1)[0]]


def boxes_beside_scores(net: Net) -> list[str]:
    """SSD: boxes [1, 64, 4] and scores [1, 64, 3]."""
    head = net.op("Transpose", net.op("Reshape", net.conv(net.inputs[0], 3, 7), net.constant(ints(1, 7, 64))), perm=[0, 2, 1])
    boxes, logits = net.ops("Split", head, net.constant(ints(4, 3)), outputs=2, axis=2)
    return [net.op("Softmax", logits, axis=2), boxes]


def heat_map(net: Net) -> list[str]:
    return [net.conv(net.inputs[0], 3, 2), net.op("Sigmoid", net.conv(net.inputs[0], 3, 1)), net.conv(net.inputs[0], 3, 5)]


def flat(net: Net, size: int = 8) -> str:
    return net.dense(net.op("Flatten", net.inputs[0]), 192, size)


def embedding(net: Net) -> list[str]:
    vector = flat(net)
    return [net.op("Div", vector, net.op("ReduceL2", vector, axes=[1], keepdims=1))]


def strings(net: Net) -> list[str]:
    return [net.op("Softmax", net.op("Reshape", flat(net), net.constant(ints(1, 4, 2))), axis=2)]


NETWORKS: dict[str, tuple[Callable[[Net], list[str]], list[tuple[str, tuple[int, ...]]]]] = {
    "dense head": (dense_head, [("detections", (0,))]),
    "transposed head": (transposed_head, [("detections", (0,))]),
    "head of scales": (scaled_head, [("detections", (0,))]),
    "sorted rows": (sorted_rows, [("detections", (0,))]),
    "separate rows": (separate_rows, [("detections", (0, 1, 2))]),
    "highest scores": (highest_scores, []),
    "boxes beside scores": (boxes_beside_scores, [("detections", (1, 0))]),
    "heat map": (heat_map, [("heatmap", (1, 0, 2))]),
    "mask": (lambda net: [net.op("Sigmoid", net.conv(net.inputs[0], 3, 2))], [("mask", (0,))]),
    "classes": (lambda net: [net.op("Softmax", flat(net), axis=1)], [("classes", (0,))]),
    "sequence": (strings, [("sequence", (0,))]),
    "embedding": (embedding, [("embedding", (0,))]),
    "numbers": (lambda net: [flat(net), net.conv(net.inputs[0], 3, 5)], []),
}


def scale_maps(net: Net, *filters: int) -> list[list[str]]:
    """Maps of so many channels each, of 8 x 8 and of 4 x 4 places."""
    small = net.op("Relu", net.conv(net.inputs[0], 3, 3, strides=[2, 2]))
    return [[net.conv(x, 3, count) for count in filters] for x in (net.inputs[0], small)]


def to_rows(net: Net, x: str, columns: int) -> str:
    """[1, places, columns] of a map."""
    return net.op("Transpose", net.op("Reshape", x, net.constant(ints(1, columns, -1))), perm=[0, 2, 1])


def rows_of_scales(net: Net) -> list[str]:
    """PicoDet: scores of each scale, then logits of 8 bins a side."""
    (large, bins), (small, other) = scale_maps(net, 3, 32)
    scores = [to_rows(net, net.op("Sigmoid", x), 3) for x in (large, small)]
    return [*scores, *(to_rows(net, x, 32) for x in (bins, other))]


def maps_of_scales(net: Net) -> list[str]:
    """SCRFD: scores, boxes, landmarks of two anchors a place."""
    return [one for scale in scale_maps(net, 2, 8, 20) for one in scale]


def maps_of_anchors(net: Net) -> list[str]:
    """YOLO before its decoding, a map for each scale."""
    return [one for scale in scale_maps(net, 24) for one in scale]


def bins_beside_scores(net: Net) -> list[str]:
    """NanoDet-Plus: scores and bins of all scales in one output."""
    scales = [[net.op("Sigmoid", scores), bins] for scores, bins in scale_maps(net, 3, 32)]
    flat = [net.op("Reshape", net.op("Concat", *one, axis=1), net.constant(ints(1, 35, -1))) for one in scales]
    return [net.op("Transpose", net.op("Concat", *flat, axis=2), perm=[0, 2, 1])]


def landmarks_beside(net: Net) -> list[str]:
    """RetinaFace: boxes, scores and landmarks [1, 64, ..]."""
    boxes, logits, marks = scale_maps(net, 4, 2, 10)[0]
    return [to_rows(net, boxes, 4), net.op("Softmax", to_rows(net, logits, 2), axis=2), to_rows(net, marks, 10)]


def landmarks_within(net: Net) -> list[str]:
    """BlazeFace: 16 numbers of a box and six landmarks beside a score."""
    boxes, logits = scale_maps(net, 16, 1)[0]
    return [to_rows(net, boxes, 16), to_rows(net, logits, 1)]


# name -> (network, outputs of its reading, outputs of each scale)
SCALED: dict[str, tuple[Callable[[Net], list[str]], tuple[int, ...], tuple[tuple[int, ...], ...]]] = {
    "rows of scales": (rows_of_scales, (0, 2, 1, 3), ((0, 2), (1, 3))),
    "maps of scales": (maps_of_scales, (0, 1, 2, 3, 4, 5), ((0, 1, 2), (3, 4, 5))),
    "maps of anchors": (maps_of_anchors, (0, 1), ((0,), (1,))),
    "bins beside scores": (bins_beside_scores, (0,), ((0,),)),
    "landmarks beside": (landmarks_beside, (0, 1, 2), ()),
    "landmarks within": (landmarks_within, (0, 1), ()),
}


def module_of(make: Callable[[Net], list[str]]):
    net = Net((1, 3, 8, 8))
    return tvmq.from_onnx(net.model(*make(net)))[0]


@pytest.mark.parametrize("name", NETWORKS)
def test_kinds_by_structure(name):
    make, wanted = NETWORKS[name]
    assert [(one.kind, one.outputs) for one in read_outputs(module_of(make))] == wanted


@pytest.mark.parametrize("name", SCALED)
def test_heads_of_several_outputs(name):
    make, outputs, levels = SCALED[name]
    module = module_of(make)
    (reading,) = read_outputs(module)
    assert (reading.kind, reading.outputs) == ("detections", outputs)
    scales = reading.scales  # type: ignore[attr-defined]
    assert (scales.levels if scales else ()) == levels
    by_name = {output_names(module["main"], len(outputs))[-1]: "detections"}
    assert [one.outputs for one in read_outputs(module, by_name)] == [outputs]
    assert fit_readings([reading], [[np.zeros(size) for size in sizes_of_outputs(module)]]) == []


def sizes_of_outputs(module) -> list[tuple[int, ...]]:
    view = View(module)
    return [sizes_of(view.var[name]) for name in view.outputs]  # type: ignore[misc]


def test_columns_of_heads():
    (dense,), (turned,), (scaled,) = (read_outputs(module_of(one)) for one in (dense_head, transposed_head, scaled_head))
    assert [one.sizes for one in (dense, turned, scaled)] == [(4, 3)] * 3  # type: ignore[attr-defined]
    assert [one.channels for one in (dense, turned, scaled)] == [-2, -1, -1]  # type: ignore[attr-defined]


def test_outputs_behind_an_ordering():
    assert ordered_outputs(module_of(separate_rows)) == {0, 1, 2} and ordered_outputs(module_of(heat_map)) == set()


@pytest.mark.parametrize("kind", KINDS)
def test_the_user_knows_better(kind):
    module = module_of(lambda net: [net.conv(net.inputs[0], 3, 5)])
    name = next(iter(tvmq_outputs(module)))
    (reading,) = read_outputs(module, {name: kind})
    assert reading.kind == kind and reading.is_bound


def tvmq_outputs(module) -> list[str]:
    return output_names(module["main"], 1)


def test_the_user_names_one_output_of_several_that_belong_together():
    module = module_of(boxes_beside_scores)
    scores, boxes = output_names(module["main"], 2)
    assert [one.outputs for one in read_outputs(module, {boxes: "detections"})] == [(1, 0)]
    apart = read_outputs(module, {boxes: "numbers", scores: "classes"})
    assert [(one.kind, one.outputs) for one in apart] == [("numbers", (1,)), ("classes", (0,))]


def test_unknown_outputs_and_kinds_are_refused():
    module = module_of(dense_head)
    with pytest.raises(ConfigError, match="outputs: there is no output 'boxes'; the model has concat"):
        read_outputs(module, {"boxes": "detections"})
    with pytest.raises(ConfigError, match="is read as one of detections, heatmap, .* Got 'poses' instead"):
        read_outputs(module, {tvmq_outputs(module)[0]: "poses"})


def test_readings_that_do_not_fit_are_left_out():
    readings = read_outputs(module_of(dense_head))
    assert fit_readings(readings, [[np.zeros((1, 7, 64))]]) == []
