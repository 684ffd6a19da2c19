"""Heads of detectors that 8 bits break, and a value head: small networks by formula, one cause each.

    picture [1, 3, 64, 64] -> Conv 8x8, stride 4: means of the channels, the stem of all
    boxes_to_640     boxes up to 640 beside scores from 0 to 1 in one tensor, which is then transposed
    bins_of_sides    sides as means of a softmax over 16 bins, anchors, two centres and sizes (YOLOv8 and later)
    faint_scores     sigmoids whose highest is 0.2, most of them 10^-4
    pooled_silu      SiLU behind each convolution, three max pools in a row and all four concatenated (SPPF)
    one_to_one       rows of the highest scores by TopK, GatherElements and TopK again (YOLOv10, YOLO26)
    refined_queries  boxes that are refined through sigmoid and its inverse, as the decoder of DETR does
    value_head       positions of a game -> value behind tanh; no lost game among those that calibrate
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from harness.detector_networks import decode_rows, decode_yolo
from harness.square_detector import SIZE, draw_squares

from hard_networks.head_task import Decode, HeadTask, Network
from tvmq.quantization.meaning.boxes import Detections

CELLS, STRIDE = 16, 4
PLACES = CELLS * CELLS
BINS = 16
PICTURES = (64, 48)
Counts = tuple[int, int]


def stem(network: Network) -> str:
    """Means of red, green and twice blue around each place, [1, 4, 16, 16]."""
    means = np.zeros((4, 3, 8, 8), np.float32)
    for channel, source in enumerate((0, 1, 2, 2)):
        means[channel, source] = 1 / 64
    return network.add("Conv", "x", means, strides=[STRIDE, STRIDE], pads=[2, 2, 2, 2])


def mix(network: Network, x: str, rows: Sequence[Sequence[float]], bias: Sequence[float]) -> str:
    """A convolution of one place, a row of weights a channel of the result."""
    return network.add("Conv", x, np.float32(rows)[:, :, None, None], np.float32(bias))


def logits(network: Network, x: str, shift: float = 8.0) -> str:
    """Logits of red and green, [1, 2, 256]."""
    y = mix(network, x, [[16, -4, 0, 0], [-4, 16, 0, 0]], [-shift, -shift])
    return network.add("Reshape", y, np.array([1, 2, PLACES]))


def centres(scale: float = STRIDE) -> np.ndarray:
    """[1, 2, 256] x and y of the middles of places."""
    y, x = (one.ravel() + 0.5 for one in np.mgrid[:CELLS, :CELLS])
    return np.float32(np.stack([x, y])[None] * scale)


def sizes(network: Network, x: str, pixels: float = 1.0) -> str:
    """Width and height, 16 to 24 pixels of 64, [1, 2, 256]."""
    y = mix(network, x, [[0, 0, 8 * pixels, 0], [0, 0, 0, 8 * pixels]], [16 * pixels] * 2)
    return network.add("Reshape", y, np.array([1, 2, PLACES]))


def boxes_to_640() -> Network:
    """Coordinates of a picture ten times as large."""
    network = Network()
    x = stem(network)
    scores = network.add("Sigmoid", logits(network, x))
    rows = network.add("Concat", centres(10 * STRIDE), sizes(network, x, 10.0), scores, axis=1)
    rows = network.add("Transpose", rows, perm=[0, 2, 1])
    return network.end(network.add("Slice", rows, np.array([0]), np.array([PLACES]), np.array([1])))


def bins_of_sides() -> Network:
    """Logits of bin k: k d - k^2 / 2, whose softmax has the mean d."""
    network = Network()
    x, k = stem(network), np.arange(BINS)
    rows = [[0, 0, one, 0] for _ in range(4) for one in k]
    bins = mix(network, x, rows, np.tile(2 * k - k * k / 2, 4))
    bins = network.add("Reshape", bins, np.array([1, 4, BINS, PLACES]))
    bins = network.add("Softmax", network.add("Transpose", bins, perm=[0, 2, 1, 3]), axis=1)
    sides = network.add("Conv", bins, np.float32(k).reshape(1, BINS, 1, 1))
    low, high = network.split(network.add("Reshape", sides, np.array([1, 4, PLACES])), 2)
    low, high = network.add("Sub", centres(1.0), low), network.add("Add", centres(1.0), high)
    middle = network.add("Div", network.add("Add", low, high), np.float32(2))
    boxes = network.add("Concat", middle, network.add("Sub", high, low), axis=1)
    boxes = network.add("Mul", boxes, np.full((1, PLACES), STRIDE, np.float32))
    return network.end(network.add("Concat", boxes, network.add("Sigmoid", logits(network, x)), axis=1))


def faint_scores() -> Network:
    """Boxes as before, with scores near 0."""
    network = Network()
    x = stem(network)
    scores = network.add("Sigmoid", logits(network, x, shift=16.0))
    return network.end(network.add("Concat", centres(), sizes(network, x), scores, axis=1))


def pooled_silu() -> Network:
    """Means through two layers with SiLU, and their maxima over ever larger windows beside them."""
    network = Network()
    random = np.random.default_rng(0)
    x = network.silu(mix(network, stem(network), 6 * np.eye(4), [0.5] * 4))
    x = network.silu(mix(network, x, np.eye(4) + random.normal(0, 0.05, (4, 4)), [0.5] * 4))
    pools = [x]
    for _ in range(3):
        pools.append(network.add("MaxPool", pools[-1], kernel_shape=[5, 5], strides=[1, 1], pads=[2] * 4))
    y = network.add("Concat", *pools, axis=1)
    weights = np.concatenate([np.eye(4)] + [random.normal(0, 0.02, (4, 4)) for _ in range(3)], axis=1)
    y = network.silu(mix(network, y, weights, [0.0] * 4))
    scores = mix(network, y, [[3, -0.75, 0, 0], [-0.75, 3, 0, 0]], [-12.0, -12.0])
    scores = network.add("Sigmoid", network.add("Reshape", scores, np.array([1, 2, PLACES])))
    size = mix(network, y, [[0, 0, 1.5, 0], [0, 0, 0, 1.5]], [14.0] * 2)
    size = network.add("Reshape", size, np.array([1, 2, PLACES]))
    return network.end(network.add("Concat", centres(), size, scores, axis=1))


def one_to_one(count: int = 30) -> Network:
    """Rows x1, y1, x2, y2, score, class of the highest scores; one place an object, by a maximum over neighbours."""
    network = Network()
    x = stem(network)
    scores = network.add("Reshape", network.add("Sigmoid", logits(network, x)), np.array([1, 2, CELLS, CELLS]))
    high = network.add("MaxPool", scores, kernel_shape=[5, 5], strides=[1, 1], pads=[2] * 4)
    peak = network.add("Cast", network.add("GreaterOrEqual", scores, high), to=1)
    scores = network.add("Reshape", network.add("Mul", scores, peak), np.array([1, 2, PLACES]))
    scores = network.add("Transpose", scores, perm=[0, 2, 1])
    half = network.add("Mul", sizes(network, x), np.float32(0.5))
    ends = [network.add(name, centres(), half) for name in ("Sub", "Add")]
    boxes = network.add("Transpose", network.add("Concat", *ends, axis=1), perm=[0, 2, 1])
    best = network.add("ReduceMax", scores, axes=[2], keepdims=0)
    _, place = network.outputs("TopK", 2, best, np.array([count]), axis=1)
    place = network.add("Unsqueeze", place, np.array([2]))
    boxes = network.add("GatherElements", boxes, network.add("Tile", place, np.array([1, 1, 4])), axis=1)
    scores = network.add("GatherElements", scores, network.add("Tile", place, np.array([1, 1, 2])), axis=1)
    flat = network.add("Reshape", scores, np.array([1, 2 * count]))
    score, index = network.outputs("TopK", 2, flat, np.array([count]), axis=1)
    label = network.add("Unsqueeze", network.add("Mod", index, np.array(2)), np.array([2]))
    row = network.add("Unsqueeze", network.add("Div", index, np.array(2)), np.array([2]))
    boxes = network.add("GatherElements", boxes, network.add("Tile", row, np.array([1, 1, 4])), axis=1)
    score = network.add("Unsqueeze", score, np.array([2]))
    return network.end(network.add("Concat", boxes, score, network.add("Cast", label, to=1), axis=2))


def refined_queries() -> Network:
    """A query for each place, whose box moves twice by what it reads there: sigmoid(inverse sigmoid(box) + step)."""
    network = Network()
    x = stem(network)
    memory = network.add("Transpose", network.add("Reshape", x, np.array([1, 4, PLACES])), perm=[0, 2, 1])
    start = np.concatenate([centres(1 / CELLS), np.full((1, 2, PLACES), 0.2)], axis=1).transpose(0, 2, 1)
    boxes = np.float32(np.log(start / (1 - start)))
    steps = np.zeros((4, 4), np.float32)
    steps[2, 2] = steps[3, 3] = 0.5
    box = network.add("Sigmoid", boxes)
    for _ in range(2):
        step = network.add("MatMul", memory, steps)
        box = network.add("Sigmoid", network.add("Add", inverse_sigmoid(network, box), step))
    scores = network.add("Transpose", network.add("Sigmoid", logits(network, x)), perm=[0, 2, 1])
    box = network.add("Mul", box, np.float32(SIZE))
    return network.end(network.add("Transpose", network.add("Concat", box, scores, axis=2), perm=[0, 2, 1]))


def inverse_sigmoid(network: Network, x: str, least: float = 1e-5) -> str:
    """log(max(x, least) / max(1 - x, least)), as DETR writes it."""
    above = network.add("Max", network.add("Clip", x, np.float32(0), np.float32(1)), np.float32(least))
    below = network.add("Max", network.add("Sub", np.float32(1), x), np.float32(least))
    return network.add("Log", network.add("Div", above, below))


def value_head() -> Network:
    """Planes of both sides' stones [1, 2, 8, 8] -> value of the position, -1 to 1."""
    network = Network()
    random = np.random.default_rng(0)
    filters = random.normal(0, 0.2, (8, 2, 3, 3))
    filters[:, 0, 1, 1], filters[:, 1, 1, 1] = 1.0, -1.0
    x = network.add("Relu", network.add("Conv", "x", np.float32(filters), np.float32([0.5] * 8), pads=[1] * 4))
    x = network.add("Reshape", network.add("GlobalAveragePool", x), np.array([1, 8]))
    value = network.add("MatMul", x, np.full((8, 1), 0.6, np.float32))
    return network.end(network.add("Tanh", network.add("Add", value, np.float32([-3.6]))))


def positions(counts: Counts) -> tuple[np.ndarray, np.ndarray]:
    """Boards [n, 2, 8, 8]: to calibrate with those that were won, to test with won and lost ones."""
    random = np.random.default_rng(5)

    def boards(count: int, least: float) -> np.ndarray:
        ahead = random.uniform(least, 0.9, (count, 1, 1))
        own, stones = random.random((count, 8, 8)) < 0.5 + ahead / 2, random.random((count, 8, 8)) < 0.7
        return np.stack([own & stones, ~own & stones], axis=1).astype(np.float32)

    return boards(counts[0] // 2, 0.2), boards(counts[1], -0.9)


def pictures(counts: Counts) -> tuple[np.ndarray, np.ndarray]:
    """Drawn squares, to calibrate with and to test with."""
    return draw_squares(counts[0], 0), draw_squares(counts[1], 1)


def decode_transposed(outputs: Sequence[np.ndarray]) -> list[Detections]:
    """[1, places, 4 + classes]."""
    return decode_yolo([outputs[0].transpose(0, 2, 1)])


def decode_faint(outputs: Sequence[np.ndarray]) -> list[Detections]:
    """Scores from 0.05 on."""
    return decode_yolo(outputs, 0.05)


Draw = Callable[[Counts], tuple[np.ndarray, np.ndarray]]
# name -> (network, inputs, decoder; None: numbers)
HEADS: dict[str, tuple[Callable[[], Network], Draw, Decode | None]] = {
    "boxes_to_640": (boxes_to_640, pictures, decode_transposed),
    "bins_of_sides": (bins_of_sides, pictures, decode_yolo),
    "faint_scores": (faint_scores, pictures, decode_faint),
    "pooled_silu": (pooled_silu, pictures, decode_yolo),
    "one_to_one": (one_to_one, pictures, decode_rows),
    "refined_queries": (refined_queries, pictures, decode_yolo),
    "value_head": (value_head, positions, None),
}


def head_task(name: str, *, quick: bool = False) -> Any:
    """The network with its data."""
    build, draw, decode = HEADS[name]
    data, tests = draw((16, 12) if quick else PICTURES)
    model = build().model(data.shape[1:])
    return HeadTask(name, model.SerializeToString(), data, tests, decode)
