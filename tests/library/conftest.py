"""The embedded network as a library, made once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tvm

import tvmq
from tvmq.demo import load_demo
from tvmq.library.library_export import LibraryExport

PICTURES = 8


@dataclass(frozen=True)
class DigitsLibrary:
    """The network quantized and compiled, its library, pictures, and the codes of the definition for them."""

    module: Any
    exe: tvmq.Executable
    export: LibraryExport
    pictures: np.ndarray
    expected: Sequence[np.ndarray]


def quantize_digits(batch: int = 1) -> tvm.IRModule:
    """The embedded network for so many pictures at once, quantized the fast way."""
    demo = load_demo()
    mod, params = tvmq.from_onnx(demo.model, shape={"image": (batch, *demo.test.shape[1:])})
    fast = {"calibrate_mode": "minmax", "weight_rounding": "nearest", "bias_correction": False}
    with tvmq.qconfig(**fast, outlier_channels=False):
        batches = [{"image": demo.calibration[i : i + batch]} for i in range(0, max(16, batch), batch)]
        return tvmq.quantize(mod, params, batches, guard=None)


@pytest.fixture(scope="session")
def digits(tmp_path_factory: pytest.TempPathFactory) -> DigitsLibrary:
    """The embedded network."""
    demo, module = load_demo(), quantize_digits()
    exe = tvmq.build(module)
    export = tvmq.export_library(exe, tmp_path_factory.mktemp("library") / "digits", static=True)
    pictures = demo.test[:PICTURES]
    expected = [tvmq.reference.run(module, {"image": picture[None]})[0] for picture in pictures]
    return DigitsLibrary(module, exe, export, pictures, expected)


@pytest.fixture(scope="session")
def digits_folder(digits: DigitsLibrary) -> Path:
    """Folder of the library."""
    return digits.export.library.parent
