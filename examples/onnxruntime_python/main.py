"""main.py FOLDER PICTURES SCORES: ten scores for each picture, by a session of onnxruntime."""

import sys
from pathlib import Path

import numpy as np
import onnxruntime


def main(folder: str, pictures: str, scores: str) -> None:
    """Score all pictures of a file."""
    options = onnxruntime.SessionOptions()
    options.register_custom_ops_library(str(Path(folder, "libdigits.so")))
    session = onnxruntime.InferenceSession(Path(folder, "digits.onnx"), options, providers=["CPUExecutionProvider"])
    images = np.fromfile(pictures, np.float32).reshape(-1, 1, 1, 16, 16)
    results = [session.run(["scores"], {"image": image})[0] for image in images]
    np.concatenate(results).tofile(scores)


if __name__ == "__main__":
    main(*sys.argv[1:])
