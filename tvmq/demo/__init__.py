"""The embedded example: a small trained network and pictures of handwritten digits.

Source    scikit-learn's copy (`load_digits`) of the test set of "Optical Recognition of Handwritten Digits",
          E. Alpaydin and C. Kaynak, UCI Machine Learning Repository, licence CC BY 4.0; enlarged, shifted and
          overlaid with noise by us
Network   trained by `tools/train_demo.py`; Apache-2.0 like the rest of tvmq

`README.md` in this folder says how the data were split, how well the network does, and how to train it again.
"""

from __future__ import annotations

import importlib.resources
import io
from dataclasses import dataclass

import numpy as np

from tvmq.errors import ArtifactError

__all__ = ["Demo", "load_demo"]


@dataclass(frozen=True, eq=False)
class Demo:
    """A float model with the data to quantize and to judge it.

    model           ONNX file; input `image` (batch, 1, 16, 16) float32 in 0..1, output `scores` (batch, 10)
    calibration     float32 (192, 1, 16, 16), in 0..1; no picture of them was trained on or is in `test`
    test            float32 (500, 1, 16, 16), in 0..1
    labels          int64 (500,), the digits that `test` shows
    """

    model: bytes
    calibration: np.ndarray
    test: np.ndarray
    labels: np.ndarray


def _read(name: str) -> bytes:
    """Contents of a file of this folder, wherever the package is installed."""
    try:
        return (importlib.resources.files(__name__) / name).read_bytes()
    except FileNotFoundError as error:
        raise ArtifactError(
            f"demo: '{name}' is missing from the installed package; install tvmq again, "
            "or make the file with tools/train_demo.py of its sources"
        ) from error


def _to_input(pictures: np.ndarray) -> np.ndarray:
    """Grey values 0..255 as the network takes them: float32 in 0..1."""
    return pictures.astype(np.float32) / np.float32(255.0)


def load_demo() -> Demo:
    """The embedded model and data.

    raises      ArtifactError if a file of the package is missing

    >>> load_demo().test.shape
    (500, 1, 16, 16)
    """
    with np.load(io.BytesIO(_read("digits.npz")), allow_pickle=False) as arrays:
        return Demo(
            model=_read("digits.onnx"),
            calibration=_to_input(arrays["calibration"]),
            test=_to_input(arrays["test"]),
            labels=arrays["labels"].astype(np.int64),
        )
