"""Write what the examples run: the embedded network as a library, pictures, and the scores of the definition.

    python examples/make_library.py build/examples

Into the folder go digits.h, libdigits.so, libdigits.a, pictures.f32 and scores.f32: float32, one picture (16 x 16) or
ten scores after another.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import tvmq
from tvmq.demo import load_demo

PICTURES = 16


def main(folder: Path) -> None:
    """Quantize the network and write the files."""
    demo = load_demo()
    mod, params = tvmq.from_onnx(demo.model, shape={"image": (1, *demo.test.shape[1:])})
    calibration = [{"image": demo.calibration[i : i + 1]} for i in range(16)]
    module = tvmq.quantize(mod, params, calibration)
    tvmq.export_library(module, folder, name="digits", static=True)
    pictures = np.ascontiguousarray(demo.test[:PICTURES], "float32")
    scores = [tvmq.reference.run(module, {"image": picture[None]})[0] for picture in pictures]
    pictures.tofile(folder / "pictures.f32")
    np.concatenate(scores).tofile(folder / "scores.f32")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
