"""Golden results in a file, a test that a model still gives them, equal bits, no tolerance; the metric of detectors.

    # once, where the model is made
    tvmq.testing.save_golden(exe, "golden.npz", samples)

    # in the tests of those who use it, on whatever CPU
    def test_model_gives_the_same_codes():
        tvmq.testing.assert_same_codes("model.tvmq", "golden.npz")

    # and that a text has the same embedding in any batch, however it is padded
    def test_an_embedding_is_that_of_its_text():
        tvmq.testing.assert_invariant("model.tvmq", "texts.npz", mask="attention_mask")

    # boxes of a detector, and how good they are
    boxes, scores, classes = tvmq.testing.decode_boxes(exe.run({"images": picture}))[0]
    assert tvmq.testing.mean_precision(outputs, labels) > 0.9

Tests: tests/tools/test_testing.py
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tvmq.base.text import printable
from tvmq.errors import DataError
from tvmq.runtime.executable import load
from tvmq.tools.analysis.invariance import check_invariance

INPUT, OUTPUT = "input/{}/{}", "output/{}/{}"  # number of the sample, name


def decode_boxes(outputs: Any, decode: Any = "yolo") -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Boxes of a detector's outputs: (corners [n, 4], scores [n], classes [n]) for each picture, the best first.

    outputs  of a run, or of several pictures joined
    decode   "yolo", "yolov5", "yolov8" (docs/detectors.md), or a function of the outputs
    raises   ConfigError for another name, and for outputs of another form

    >>> rows = np.zeros((1, 9, 6))
    >>> rows[0, 0] = [10, 20, 18, 36, 0.9, 3]
    >>> [(boxes.tolist(), classes.tolist()) for boxes, _, classes in decode_boxes([rows])]
    [([[10.0, 20.0, 18.0, 36.0]], [3])]
    """
    from tvmq.quantization.meaning.decoders import decode_detections  # loads TVM

    arrays = [outputs] if isinstance(outputs, np.ndarray) else list(outputs)
    return [(image.boxes, image.scores, image.labels) for image in decode_detections(arrays, decode)]


def mean_precision(outputs: Any, labels: Any, decode: Any = "yolo", overlap: float = 0.5) -> float:
    """Mean average precision of a detector, 0 to 1: what `metric="map50"` of the guard and of search is.

    outputs, decode  as in `decode_boxes`
    labels           rows of class, x1, y1, x2, y2 for each picture; or one array [pictures, most, 5] filled up with
                     rows of class -1
    overlap          IoU from which a box is right
    raises           DataError for labels of another form or number
    """
    from tvmq.quantization.meaning.mean_precision import MeanPrecision  # loads TVM

    return MeanPrecision(decode, (overlap,))(outputs, labels)


def save_golden(model: Any, path: str | os.PathLike[str], samples: Iterable[Mapping[str, Any]]) -> None:
    """Write inputs of a model, and what it computes of them, into an .npz.

    model    a tvmq.Executable, or the path of a saved one
    samples  {input name: array} each; a few are enough, real ones are best
    raises   DataError for no samples, and for those that do not fit the model
    """
    exe, arrays = _executable(model), {}
    for number, sample in enumerate(samples):
        for name, value in sample.items():
            arrays[INPUT.format(number, name)] = np.asarray(value)
        for info, result in zip(exe.output_info, exe.run(sample), strict=True):
            arrays[OUTPUT.format(number, info.name)] = result
    if not arrays:
        raise DataError("save_golden: there are no samples; give a few inputs of the model")
    partial = Path(f"{os.fspath(path)}.part")
    try:
        with partial.open("wb") as file:
            np.savez_compressed(file, **arrays)  # type: ignore[arg-type]  # its flag cannot be a name of ours
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def assert_same_codes(model: Any, path: str | os.PathLike[str]) -> None:
    """Assert that a model gives the results in a file of `save_golden`, bit for bit.

    model    a tvmq.Executable, or the path of a saved one
    raises   AssertionError that says how many values differ and where the first one is; DataError for another file
    """
    __tracebackhide__ = True  # pytest shows the line of the test
    exe = _executable(model)
    samples = _read(path)
    for number, (inputs, expected) in enumerate(samples):
        results = dict(zip((info.name for info in exe.output_info), exe.run(inputs), strict=True))
        if results.keys() != expected.keys():
            raise AssertionError(
                f"the model has the outputs {', '.join(results)}, '{path}' those of another one: {', '.join(expected)}"
            )
        for name, values in expected.items():
            difference = _first_difference(results[name], values)
            assert not difference, f"sample {number} of '{path}', output '{name}': {difference}"


def assert_invariant(model: Any, data: Any, *, mask: str | None = None, left: bool = False, runs: int = 20) -> None:
    """Assert that what a model gives for a sample depends on that sample alone: `tvmq.check_invariance`.

    model    a tvmq.Executable, or the path of a saved one
    raises   AssertionError that says in which surroundings it does not, and the first layer that differs
    """
    __tracebackhide__ = True  # pytest shows the line of the test
    result = check_invariance(_executable(model), data, mask=mask, left=left, runs=runs)
    assert result.holds, str(result)


def _executable(model: Any) -> Any:
    return load(os.fspath(model)) if isinstance(model, str | os.PathLike) else model


def _read(path: str | os.PathLike[str]) -> list[tuple[dict[str, np.ndarray], dict[str, np.ndarray]]]:
    """(inputs, results) of each sample."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise DataError(
            f"assert_same_codes: '{path}' cannot be read ({printable(str(error))}); save_golden writes such files"
        ) from error
    samples: dict[int, tuple[dict[str, np.ndarray], dict[str, np.ndarray]]] = {}
    for key, array in arrays.items():
        kind, _, rest = key.partition("/")
        number, _, name = rest.partition("/")
        if kind not in ("input", "output") or not number.isdecimal():
            raise DataError(
                f"assert_same_codes: '{path}' has an array '{printable(key)}'; save_golden writes such files"
            )
        samples.setdefault(int(number), ({}, {}))[kind == "output"][name] = array
    if not samples:
        raise DataError(f"assert_same_codes: '{path}' has no samples; save_golden writes such files")
    return [samples[number] for number in sorted(samples)]


def _first_difference(result: np.ndarray, expected: np.ndarray) -> str:
    """Sentence about values that are not equal; "" if all are."""
    if (result.shape, result.dtype) != (expected.shape, expected.dtype):
        return f"it is {result.dtype}{list(result.shape)}, golden is {expected.dtype}{list(expected.shape)}"
    bits = f"u{result.dtype.itemsize}"
    differing = np.flatnonzero(np.ascontiguousarray(result).view(bits) != np.ascontiguousarray(expected).view(bits))
    if not differing.size:
        return ""
    place = np.unravel_index(differing[0], result.shape)
    return (
        f"{differing.size} of {result.size} values differ, the first at {[int(index) for index in place]}: "
        f"{result[place]}, golden is {expected[place]}"
    )
