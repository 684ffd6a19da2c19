"""A detector by formula: it finds the red and the green squares of a picture, and the more blue the larger the box.

    picture [1, 3, 64, 64] -> Conv 8x8, stride 4: means of the channels -> Conv 1x1 -> concat of boxes and scores,
    [1, 4 + 2, 256] as of a YOLO: centres and sizes in pixels beside scores from 0 to 1
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from onnx import helper, save

from harness.detector_networks import Detector, decode_yolo
from harness.model import onnx_model

SIZE, CELLS = 64, 16


def write_square_detector(path: Path) -> None:
    """Write the network."""
    means = np.zeros((4, 3, 8, 8), np.float32)
    for channel, source in enumerate((0, 1, 2, 2)):
        means[channel, source] = 1 / 64
    mixed = np.array([[16, -4, 0, 0], [-4, 16, 0, 0], [0, 0, 8, 0], [0, 0, 0, 8]], np.float32)
    y, x = (one.ravel() * 4 + 2 for one in np.mgrid[:CELLS, :CELLS])
    constants = {
        "means": means,
        "mixed": mixed[:, :, None, None],
        "bias": np.array([-8, -8, 16, 16], np.float32),
        "centres": np.stack([x, y])[None].astype(np.float32),
        "flat": np.array([1, 4, CELLS * CELLS]),
        "ends": np.array([2, 2]),
    }
    nodes = [
        helper.make_node("Conv", ["picture", "means"], ["filtered"], strides=[4, 4], pads=[2, 2, 2, 2]),
        helper.make_node("Conv", ["filtered", "mixed", "bias"], ["mixture"]),
        helper.make_node("Reshape", ["mixture", "flat"], ["places"]),
        helper.make_node("Split", ["places", "ends"], ["logits", "sizes"], axis=1),
        helper.make_node("Sigmoid", ["logits"], ["scores"]),
        helper.make_node("Concat", ["centres", "sizes"], ["boxes"], axis=1),
        helper.make_node("Concat", ["boxes", "scores"], ["y"], axis=1),
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    save(onnx_model(nodes, {"picture": [1, 3, SIZE, SIZE]}, constants), path)


def draw_squares(count: int, seed: int) -> np.ndarray:
    """[count, 3, 64, 64] pictures of three red or green squares on noise."""
    rng = np.random.default_rng(seed)
    pictures = rng.uniform(0, 0.2, (count, 3, SIZE, SIZE)).astype(np.float32)
    for picture in pictures:
        for _ in range(3):
            y, x = rng.integers(0, SIZE - 12, 2)
            picture[rng.integers(0, 2), y : y + 12, x : x + 12] = rng.uniform(0.8, 1)
            picture[2, y : y + 12, x : x + 12] = rng.uniform(0, 1)
    return pictures


def make_square_detector(folder: Path, counts: tuple[int, int]) -> Detector:
    """The network with its pictures, to calibrate with and to compare on."""
    path = folder / "squares.onnx"
    write_square_detector(path)
    calibration, tests = (draw_squares(count, seed) for seed, count in enumerate(counts))
    return Detector("squares", path, "picture", calibration, tests, decode_yolo)
