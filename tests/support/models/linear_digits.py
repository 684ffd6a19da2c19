"""A classifier of digits of one layer, by least squares: commands are what is tested, and it is built in no time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx

from tests.support.models.onnx_models import make_model


def linear_digits(example: Any) -> bytes:
    """The ONNX file of a model fitted to the test pictures of `load_demo()`: image [n, 1, 16, 16] -> scores [n, 10]."""
    flat = example.test.reshape(len(example.test), -1).astype(np.float64)
    wanted = 10 * np.eye(10)[example.labels]
    weight = np.linalg.solve(flat.T @ flat + 3 * np.eye(flat.shape[1]), flat.T @ wanted).astype(np.float32)
    nodes = [
        onnx.helper.make_node("Flatten", ["image"], ["flat"], name="flatten"),
        onnx.helper.make_node("MatMul", ["flat", "w"], ["scores"], name="head"),
    ]
    return make_model(nodes, {"image": ["n", 1, 16, 16]}, ["scores"], {"w": weight}, 17).SerializeToString()


def write_pictures(example: Any, folder: Path, names: list[str], count: int) -> None:
    """Write the first pictures as .png, each in the folder of its class; names: of the classes 0 to 9."""
    from PIL import Image

    for index, (picture, label) in enumerate(zip(example.test[:count, 0], example.labels[:count], strict=True)):
        path = folder / names[label] / f"{index}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(np.rint(picture * 255).astype(np.uint8)).save(path)
