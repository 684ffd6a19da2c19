"""Preprocessing that a model keeps: there and back by JSON, and what is refused. Pictures: test_picture_inputs.py."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from tvmq.calibration.data.kept_preprocessing import entry_of, kept_preprocessing
from tvmq.calibration.data.normalization import NORMALIZATIONS
from tvmq.calibration.data.picture_preprocessing import PicturePreprocessing, normalize_pictures
from tvmq.calibration.data.pictures import Frame
from tvmq.errors import ArtifactError

IMAGENET = PicturePreprocessing(Frame("x", "NCHW", 3, 8, 6), "crop", 0.875, NORMALIZATIONS["imagenet"])


@pytest.mark.parametrize("name", NORMALIZATIONS)
@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
def test_there_and_back(name: str, layout: str) -> None:
    one = PicturePreprocessing(Frame("x", layout, 1 if name == "mnist" else 3, 8, 6), "pad", 1.0, NORMALIZATIONS[name])
    entry = json.loads(json.dumps(entry_of(one, ("cat", "dog"))))
    assert kept_preprocessing(entry) == one and entry["labels"] == ["cat", "dog"]
    assert kept_preprocessing({}) is None and "labels" not in entry_of(one)


@pytest.mark.parametrize(("place", "value"), [
    (("frame", "height"), 0), (("frame", "height"), 10**9), (("frame", "width"), None), (("frame", "channels"), 2),
    (("frame", "layout"), "CHW"), (("frame", "dtype"), "flat32"), (("frame", "input"), 3), (("resize",), "cut"),
    (("crop",), 0), (("crop",), "much"), (("normalization", "mean"), [1, 2]), (("normalization", "std"), 3),
    (("normalization", "color"), "cmyk"), (("normalization", "scale"), "1"), (("normalization",), {}), (("frame",), 1),
])  # fmt: skip
def test_damaged_entries(place: tuple[str, ...], value: Any) -> None:
    entry = json.loads(json.dumps(entry_of(IMAGENET)))
    fields = entry["picture"]
    for name in place[:-1]:
        fields = fields[name]
    fields[place[-1]] = value
    with pytest.raises(ArtifactError, match="preprocessing: what the model keeps of it is damaged; quantize the model"):
        kept_preprocessing(entry)


def test_layout_and_type() -> None:
    pixels = np.arange(2 * 8 * 6 * 3, dtype=np.uint8).reshape(2, 8, 6, 3)
    x = IMAGENET.normalize(pixels)
    assert x.shape == (2, 3, 8, 6) and x.dtype == np.float32 and x.flags.c_contiguous
    np.testing.assert_array_equal(x.transpose(0, 2, 3, 1), NORMALIZATIONS["imagenet"](pixels))
    codes = normalize_pictures(pixels, Frame("x", "NHWC", 3, 8, 6, "uint8"), NORMALIZATIONS["raw"])
    np.testing.assert_array_equal(codes, pixels)
