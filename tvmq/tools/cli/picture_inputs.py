"""Inputs of a saved model from pictures or arrays: what `quantize` keeps in the model of how it was prepared.

Tests: tests/tools/cli/test_picture_inputs.py
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tvmq.calibration.data.picture_preprocessing import PicturePreprocessing, entry_of
from tvmq.calibration.data.pictures import SUFFIXES, Folder, find_pictures, pillow, read_pictures
from tvmq.errors import DataError
from tvmq.tools.cli.console import notice, step
from tvmq.tools.cli.files import Arrays, check_arrays, read_arrays
from tvmq.tools.cli.measure import is_near_chance
from tvmq.tools.cli.metrics import class_labels, mean_metric, usual_metric

if TYPE_CHECKING:
    from tvmq.tools.cli.opening import QuantizationJob

MOST = 4096  # pictures of a folder
CHECKED = 64  # pictures that show whether folders are named as the classes


def keep_preprocessing(module: Any, job: QuantizationJob) -> Any:
    """The module, which keeps how its pictures were prepared and what its classes are called."""
    from tvmq.graph.ledger import get_ledger, with_ledger  # loads TVM

    if job.preprocessing is None:
        return module
    return with_ledger(
        module, replace(get_ledger(module), preprocessing=entry_of(job.preprocessing, class_names(job)))
    )


def class_names(job: QuantizationJob) -> tuple[str, ...]:
    """Names of the model's classes: those of the folders, where the float model finds pictures in them.

    () where folders are numbers, are more or fewer than the scores, or are in another order than the classes.
    """
    samples = job.samples
    if samples is None or not samples.classes or all(name.isdecimal() for name in samples.classes):
        return ()
    labels, exe = class_labels(samples), job.float_exe()
    shape = exe.output_info[0].shape
    if labels is None or usual_metric(labels, samples.classes, shape):
        return ()
    index = np.arange(min(CHECKED, len(samples)) // job.size * job.size)
    if not len(index):
        return ()
    rows = [exe.run(samples.feed(part))[0].reshape(job.size, -1) for part in index.reshape(-1, job.size)]
    accuracy = mean_metric("top1")(np.concatenate(rows), labels[index])
    return () if is_near_chance(accuracy, shape) else samples.classes


def is_of_pictures(path: Path) -> bool:
    """True for a folder, and for the name of a picture."""
    return path.is_dir() or path.suffix.lower() in SUFFIXES


def check_inputs(path: Path) -> None:
    """Check before the model is loaded that data can be read. raises DataError"""
    if not is_of_pictures(path):
        check_arrays(path)
        return
    if path.is_dir():
        find_pictures(path)
    elif not path.is_file():
        raise DataError(f"data: there is no file '{path}'; check the path")
    pillow()


def read_inputs(exe: Any, path: Path, *, most: int = MOST, quiet: bool = False) -> tuple[Arrays, list[str]]:
    """Inputs of a model from pictures, as the model keeps how they are prepared, or from arrays; names of the pictures.

    path    a picture, a folder of pictures, an .npz or an .npy
    most    pictures of a folder that are read
    raises  DataError for data that cannot be read, and for pictures where the model keeps no preprocessing
    """
    if not is_of_pictures(path):
        return read_arrays(path, [info.name for info in exe.input_info]), []
    preprocessing = exe.preprocessing
    if preprocessing is None:
        raise DataError(
            f"data: '{path}' {'holds pictures' if path.is_dir() else 'is a picture'}, and the model keeps no "
            "preprocessing of pictures; quantize it with --data FOLDER, or give an .npz (tvmq quantize --save-samples)"
        )
    pillow()
    folder = find_pictures(path) if path.is_dir() else Folder(path.parent, (path,))
    count = min(len(folder.paths), most)
    with step("read pictures", count, quiet=quiet) as advance:
        read = read_pictures(
            folder, preprocessing.frame, count=count, resize=preprocessing.resize, crop=preprocessing.crop,
            advance=advance,
        )  # fmt: skip
    if not quiet:
        _announce_pictures(preprocessing, folder, read.names, read.skipped)
    return {preprocessing.frame.input: preprocessing.normalize(read.array)}, read.names


def _announce_pictures(
    preprocessing: PicturePreprocessing, folder: Folder, names: list[str], skipped: list[str]
) -> None:
    notice(f"data: {len(names)} of {len(folder.paths)} pictures; {preprocessing}")
    for line in skipped[:3]:
        notice(f"skipped {line}")
