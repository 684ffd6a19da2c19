"""Inputs of a saved model from pictures, sounds, texts or arrays, by what `quantize` keeps of how they are prepared.

Tests: tests/tools/cli/test_picture_inputs.py
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tvmq.calibration.data.kept_preprocessing import KINDS, entry_of
from tvmq.calibration.data.picture_preprocessing import PicturePreprocessing
from tvmq.calibration.data.pictures import SUFFIXES, Folder, find_pictures, pillow, read_pictures
from tvmq.calibration.data.sounds import SoundPreprocessing, find_sounds, is_of_sounds, read_sounds
from tvmq.calibration.data.texts import SUFFIXES as TEXT_SUFFIXES
from tvmq.calibration.data.texts import TextPreprocessing, read_texts
from tvmq.errors import DataError
from tvmq.tools.cli.console import notice, step
from tvmq.tools.cli.files import Arrays, check_arrays, fixed_shapes, is_shared_by_all, read_arrays
from tvmq.tools.cli.measure import is_near_chance
from tvmq.tools.cli.metrics import class_labels, mean_metric, usual_metric
from tvmq.tools.doctor.label_order import find_other_numbers

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
    rows = [exe.run(samples.take(part))[0].reshape(job.size, -1) for part in index.reshape(-1, job.size)]
    scores = np.concatenate(rows)
    accuracy = mean_metric("top1")(scores, labels[index])
    is_other = is_near_chance(accuracy, shape) or find_other_numbers(scores, labels[index])
    return () if is_other else samples.classes


def is_of_pictures(path: Path) -> bool:
    """True for a folder, and for the name of a picture; a folder of sounds is one that a model of sounds reads."""
    return path.is_dir() or path.suffix.lower() in SUFFIXES


def is_to_prepare(path: Path) -> bool:
    """True for pictures, sounds and texts, which a model must say how to prepare; False for arrays."""
    return is_of_pictures(path) or is_of_sounds(path) or path.suffix.lower() in TEXT_SUFFIXES


def check_inputs(path: Path) -> None:
    """Check before the model is loaded that data can be read. raises DataError"""
    if not is_to_prepare(path):
        check_arrays(path)
    elif not path.exists():
        raise DataError(f"data: there is no file '{path}'; check the path")
    elif is_of_sounds(path):
        find_sounds(path)
    elif path.suffix.lower() in TEXT_SUFFIXES:
        read_texts(path)
    else:
        if path.is_dir():
            find_pictures(path)
        pillow()


def read_inputs(
    exe: Any, path: Path, *, most: int = MOST, tokenizer: Path | None = None, quiet: bool = False
) -> tuple[Arrays, list[str]]:
    """Inputs of a model from pictures, sounds or texts, as the model keeps how they are prepared, or from arrays; and
    names of the samples, of those that have some.

    path       a picture, a sound, a folder of either, a file of texts, an .npz or an .npy
    most       samples that are read
    tokenizer  of texts
    raises     DataError for data that cannot be read, and where the model keeps no preprocessing of their kind
    """
    if not is_to_prepare(path):
        is_shared = partial(is_shared_by_all, fixed_shapes(exe))
        return read_arrays(path, [info.name for info in exe.input_info], is_shared), []
    kept, kind = exe.preprocessing, _kind_of(path)
    if not isinstance(kept, KINDS[kind]):
        several = path.is_dir() or kind == "text"
        raise DataError(
            f"data: '{path}' {f'holds {kind}s' if several else f'is a {kind}'}, and the model keeps no preprocessing "
            f"of {kind}s; quantize it with --data {'texts.txt' if kind == 'text' else 'FOLDER'}, or give an .npz (tvmq "
            "quantize --save-samples)"
        )
    if isinstance(kept, TextPreprocessing):
        return _read_texts(exe, kept, path, most, tokenizer)
    if isinstance(kept, SoundPreprocessing):
        files = find_sounds(path)
        read, _ = read_sounds(files, kept.rank, kept.length, kept.input, count=most, rate=kept.rate)
        return {kept.input: kept.place(read.array)}, read.names
    return _read_pictures(kept, path, most, quiet=quiet)


def _kind_of(path: Path) -> str:
    """Kind of what a model must prepare."""
    return "sound" if is_of_sounds(path) else "text" if path.suffix.lower() in TEXT_SUFFIXES else "picture"


def _read_texts(
    exe: Any, kept: TextPreprocessing, path: Path, most: int, tokenizer: Path | None
) -> tuple[Arrays, list[str]]:
    if tokenizer is None:
        raise DataError(f"data: '{path}' holds texts; add --tokenizer tokenizer.json, the model's own")
    texts = read_texts(path)[0][:most]
    types = {info.name: info.dtype for info in exe.input_info}
    arrays = kept.with_tokenizer(tokenizer)(texts)
    return {name: array.astype(types[name]) for name, array in arrays.items()}, texts


def _read_pictures(
    preprocessing: PicturePreprocessing, path: Path, most: int, *, quiet: bool
) -> tuple[Arrays, list[str]]:
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
